//! Replays a trace under LRU in a cache of 2 KB by numbers alone, for counting instructions: `valgrind --tool=callgrind
//! --toggle-collect='*LruModel*replay*' target/release/examples/paging_model TRACE`.

use std::path::PathBuf;

use norn_lab::paging::model::{LruCounts, LruModel};
use norn_lab::paging::source::made_up;
use norn_lab::paging::trace::Trace;

fn main() {
    let trace = match std::env::args().nth(1) {
        Some(path) => Trace::read(&PathBuf::from(path)).unwrap_or_else(|error| panic!("{error}")),
        None => made_up(2010, 1_000_000),
    };
    let mut model = LruModel::new(32, 64, 512, trace.code_bytes);
    model.replay(&trace.runs);
    let LruCounts { hits, misses, loads, skipped } = model.counts();
    println!("{} requests, {misses} misses, {loads} loads, {skipped} cache pages passed over", hits + misses);
}
