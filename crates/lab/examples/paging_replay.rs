//! Replays a trace under LRU in a cache of 2 KB, for counting instructions: `valgrind --tool=callgrind
//! --toggle-collect='*paging::replay::replay*' target/release/examples/paging_replay TRACE`.

use std::path::PathBuf;

use norn_code_pager::policy::Lru;
use norn_code_pager::{Counts, Options};
use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b};
use norn_lab::paging::replay::{Replay, pager, replay, requests};
use norn_lab::paging::source::made_up;
use norn_lab::paging::trace::Trace;

fn main() {
    let trace = match std::env::args().nth(1) {
        Some(path) => Trace::read(&PathBuf::from(path)).unwrap_or_else(|error| panic!("{error}")),
        None => made_up(2010, 1_000_000),
    };
    let spec = k9f1208q0b(Bus::Mhz33Bits8);
    let made = pager(&spec, trace.code_bytes, Lru::<32>::default(), Options::default(), Counts::default());
    let mut pager: Replay<_, 32, 64> = made.unwrap_or_else(|error| panic!("{error}"));
    replay(&mut pager, &requests::<64>(trace.runs.iter().copied()));
    let counts = pager.observer();
    println!("{} requests, {} hits, {} comparisons", counts.look_ups(), counts.hits, counts.comparisons);
}
