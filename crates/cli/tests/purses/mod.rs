//! Images of heaps that were used: with the purses of an example.

use std::path::PathBuf;

use norn_desk::{Desk, example};
use norn_flash_sim::PartSpec;
use norn_purse::{Job, run};

/// Makes an image with purses on a part, tinystore's if none is named, with power cuts of a seed and a mean distance.
pub fn make_purses(desk: &Desk, image: &str, part: Option<PartSpec>, cuts: Option<(u64, u32)>) {
    let script = PathBuf::from(example("purse-short.txt"));
    assert!(run(&Job { image: desk.path(image), script, part, cuts }).unwrap().is_clean());
}
