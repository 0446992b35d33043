//! What is said where the command is built without the feature `plots`.

use crate::log::picture::form::{Kind, Size};
use crate::log::plot::Plot;

/// Says what is missing.
pub fn draw(_: &Plot, _: Kind, _: Size) -> Result<Vec<u8>, String> {
    Err("pictures take a norn that is built with the feature plots: \
         `cargo build --release -p norn-cli --features plots`"
        .to_owned())
}
