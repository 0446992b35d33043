//! Orders of whole functions, which a linker can carry out: the one that costs least on the traces it is made from.
//!
//! 1. Calls between functions are counted over all traces.
//! 2. Call affinity, Pettis and Hansen's order of procedures, and ext-TSP each propose an order.
//! 3. Each order, and the linker's own, is replayed under LRU through the cache that the device has. The order with the
//!    fewest loads wins, so that no order that is worse on these traces is ever proposed.
//!
//! What wins here need not win on other inputs: measure on a trace that is not among them.

use std::collections::BTreeSet;

use norn_flash::NandPart;

use super::layout::{Layout, Placed};
use super::model::{LruModel, ShapeError};
use super::order::{call_affinity, ext_tsp, pettis_hansen};
use super::profile::{BlockNumber, Profile};
use super::trace::Trace;

/// Bytes to whose multiples compilers align functions on x86-64.
const FUNCTION_ALIGNMENT: u32 = 16;

/// The cache for which functions are ordered.
#[derive(Clone, Copy, Debug)]
pub struct Cache<'a> {
    /// Frames.
    pub frames: u32,
    /// Bytes of a cache page.
    pub page: u32,
    /// The part with the code.
    pub part: &'a NandPart,
}

/// An order of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionOrder {
    /// Which method proposed it; `original` if none was better than the linker's own.
    pub method: &'static str,
    /// Starts of the executed functions, in the new order.
    pub starts: Vec<u32>,
    /// Loads of the traces in the linker's order.
    pub loads_before: u64,
    /// Loads of the traces in this order, of which the linker may differ by a little: its alignment is not known.
    pub loads_after: u64,
}

/// The best order of the functions that start at `starts`, for these traces. Cost: four replays of them.
///
/// # Errors
/// If the traces cannot be replayed through such a cache.
pub fn order_functions(
    starts: &BTreeSet<u32>,
    traces: &[Trace],
    code_bytes: u32,
    cache: Cache,
) -> Result<FunctionOrder, ShapeError> {
    let runs: Vec<_> = traces.iter().map(|trace| &trace.runs[..]).collect();
    let profile = Profile::of_functions(starts, &runs, code_bytes);
    let loads_before = loads(traces.iter().cloned(), code_bytes, cache)?;
    let original: Vec<BlockNumber> =
        (0..).zip(&profile.blocks).filter(|(_, block)| block.entered > 0).map(|(number, _)| number).collect();
    let mut best = ("original", original, loads_before);
    for (method, chains) in [
        ("call affinity", call_affinity(&profile)),
        ("Pettis-Hansen", pettis_hansen(&profile)),
        ("ext-TSP", ext_tsp(&profile)),
    ] {
        let order: Vec<BlockNumber> = chains.into_iter().flatten().collect();
        let layout = Layout::new(&profile, &aligned(&profile, &order));
        let moved = traces
            .iter()
            .map(|trace| Trace { runs: layout.translate(&trace.runs).collect(), code_bytes: layout.code_bytes });
        let loads = loads(moved, layout.code_bytes, cache)?;
        if loads < best.2 {
            best = (method, order, loads);
        }
    }
    let (method, order, loads_after) = best;
    let starts = order.iter().map(|&block| profile.blocks[block as usize].start).collect();
    Ok(FunctionOrder { method, starts, loads_before, loads_after })
}

/// Functions in this order, and those never executed after them, each on a border.
fn aligned(profile: &Profile, order: &[BlockNumber]) -> Vec<Placed> {
    let executed: BTreeSet<BlockNumber> = order.iter().copied().collect();
    let rest = (0..profile.blocks.len() as u32).filter(|block| !executed.contains(block));
    let all = order.iter().copied().chain(rest);
    all.flat_map(|block| [Placed::Align(FUNCTION_ALIGNMENT), Placed::Block(block)]).collect()
}

fn loads(traces: impl Iterator<Item = Trace>, code_bytes: u32, cache: Cache) -> Result<u64, ShapeError> {
    let mut loads = 0;
    for trace in traces {
        let mut model = LruModel::new(cache.frames, cache.page, cache.part, code_bytes)?;
        model.replay(&trace.runs);
        loads += model.counts().loads;
    }
    Ok(loads)
}

#[cfg(test)]
mod tests {
    use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b};

    use super::*;
    use crate::paging::trace::Run;

    /// Two functions of 64 bytes far apart call each other, with a cache of one page: each call loads a page of the
    /// part, until they share one.
    #[test]
    fn functions_that_call_each_other_come_to_share_a_page() {
        let starts: BTreeSet<u32> = (0..64).map(|number| number * 64).collect();
        let run = |address| Run { address, bytes: 32, instructions: 8 };
        let runs = (0..100).flat_map(|_| [run(0), run(40 * 64)]).collect();
        let traces = [Trace::new(runs).unwrap()];
        let spec = k9f1208q0b(Bus::Mhz33Bits8);
        let cache = Cache { frames: 1, page: 64, part: &spec.part };
        let order = order_functions(&starts, &traces, 4096, cache).unwrap();
        assert_eq!(order.loads_before, 200);
        assert!(order.loads_after < 110 && order.method != "original", "{order:?}");
        let mut moved = order.starts.clone();
        moved.sort_unstable();
        assert_eq!(moved, [0, 40 * 64], "no function is moved that was not executed");
    }
}
