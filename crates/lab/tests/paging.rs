//! The replays of the demand-paging paper: the part that only counts keeps to the simulated one, the pager's counts to
//! those of a model, a layout moves bytes and loses none. Traces that the project does not bring along are taken from
//! the directory that NORN_TRACES names; they give the figures of their model.

use std::collections::BTreeMap;
use std::path::Path;

use norn_code_pager::policy::{Greedy, Lru, Policy, S3Fifo};
use norn_code_pager::{Bypass, Counts, ImageWriter, Options, Pager, Passing, ReadAhead, Room, Uncoded};
use norn_flash::{Block, ColumnAccess};
use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b, mt29f2g08};
use norn_flash_sim::{NandSim, NandSpec};
use norn_lab::paging::device::CountingNand;
use norn_lab::paging::layout::{JUMP_BYTES, Layout, Placed};
use norn_lab::paging::model::LruModel;
use norn_lab::paging::order::{blocks_in_functions, call_affinity, ext_tsp, pettis_hansen, placed, procedures};
use norn_lab::paging::pages::{Room as PageRoom, by_misses};
use norn_lab::paging::profile::Profile;
use norn_lab::paging::replay::{Replay, pager, replay, replay_bytes, requests};
use norn_lab::paging::sharing::{Counts as SharingCounts, SizedCache, in_turns, on_one_part};
use norn_lab::paging::source::made_up;
use norn_lab::paging::trace::{Run, Trace};

/// Replays a trace through a pager over a part with cells, and over one that only counts.
fn counts_as_simulated<P: Policy + Default>(spec: &NandSpec, trace: &Trace, options: Options) {
    let code: Vec<u8> = (0..trace.code_bytes).map(|at| (at % 251) as u8).collect();
    let mut sim = NandSim::new(spec.clone());
    let room = Room { start: Block(0), blocks: 40 };
    ImageWriter::<64, 2048>::new().write(&mut sim, room, trace.code_bytes, &mut &code[..]).unwrap();
    let mut real: Pager<_, P, 32, 64, Uncoded, _> =
        Pager::open_with(sim, Block(0), options, Counts::default()).unwrap();
    let before = (real.device().counters(), real.device().elapsed_ns());
    let mut buffer = vec![0; usize::from(u16::MAX)];
    for run in &trace.runs {
        let bytes = &mut buffer[..usize::from(run.bytes)];
        real.read(norn_code_pager::CodeAddress(run.address), bytes).unwrap();
        assert_eq!(bytes, &code[run.address as usize..run.end() as usize]);
    }
    let mut counting: Replay<P, 32, 64> =
        pager(spec, trace.code_bytes, P::default(), options, Counts::default()).unwrap();
    replay_bytes(&mut counting, trace.runs.iter().copied());
    let (sim, counts) = real.into_parts();
    let (device, counted) = counting.into_parts();
    assert_eq!(counts, counted, "{options:?}");
    let CountingNand { loads, fetched_bytes, skipped_bytes, .. } = device;
    let cost = sim.counters() - before.0;
    assert_eq!(
        (loads, fetched_bytes, skipped_bytes),
        (cost.loads, cost.fetched_bytes, cost.skipped_bytes),
        "{options:?}"
    );
    assert_eq!(device.elapsed_ns(&spec.timings), sim.elapsed_ns() - before.1, "{options:?}");
}

#[test]
fn the_part_that_counts_keeps_to_the_simulated_one() {
    let trace = made_up(3, 4000);
    let greedy =
        Options { read_ahead: ReadAhead::Always(2), passing: Passing::FillRemembered, bypass: Bypass::Unremembered };
    let mut anywhere = mt29f2g08(Bus::Mhz33Bits8);
    anywhere.part.columns = ColumnAccess::Anywhere;
    for spec in [k9f1208q0b(Bus::Mhz33Bits8), mt29f2g08(Bus::Mhz54Bits16), anywhere] {
        for options in [Options::default(), greedy] {
            counts_as_simulated::<Lru<32>>(&spec, &trace, options);
            counts_as_simulated::<S3Fifo<32>>(&spec, &trace, options);
            counts_as_simulated::<Greedy<32>>(&spec, &trace, options);
        }
    }
}

fn counts_as_modelled<const FRAMES: usize, const PAGE: usize>(spec: &NandSpec, trace: &Trace) {
    let lru = Lru::<FRAMES>::default();
    let made = pager::<_, FRAMES, PAGE, _>(spec, trace.code_bytes, lru, Options::default(), Counts::default());
    let mut pager = made.unwrap();
    replay(&mut pager, &requests::<PAGE>(trace.runs.iter().copied()));
    let (device, counts) = pager.into_parts();
    let mut model = LruModel::new(FRAMES as u32, PAGE as u32, &spec.part, trace.code_bytes).unwrap();
    model.replay(&trace.runs);
    let (model, bytes) = (model.counts(), PAGE as u64);
    let modelled = (model.hits, model.misses * bytes, model.loads, model.skipped * bytes);
    assert_eq!(modelled, (counts.hits, device.fetched_bytes, device.loads, device.skipped_bytes), "{FRAMES} of {PAGE}");
}

#[test]
fn the_pager_counts_what_the_model_says() {
    let trace = made_up(4, 30_000);
    for spec in [k9f1208q0b(Bus::Mhz33Bits8), mt29f2g08(Bus::Mhz33Bits8)] {
        counts_as_modelled::<1, 64>(&spec, &trace);
        counts_as_modelled::<2, 32>(&spec, &trace);
        counts_as_modelled::<8, 256>(&spec, &trace);
        counts_as_modelled::<32, 64>(&spec, &trace);
        counts_as_modelled::<64, 32>(&spec, &trace);
        counts_as_modelled::<4, 512>(&spec, &trace);
    }
}

/// A cache of one size costs what the model says; of two, with all code of one of them, too.
#[test]
fn a_cache_of_two_sizes_counts_what_the_model_says_of_one() {
    let (trace, part) = (made_up(4, 10_000), k9f1208q0b(Bus::Mhz33Bits8).part);
    for page_bytes in [16, 64, 512] {
        let mut model = LruModel::new(2048 / page_bytes, page_bytes, &part, trace.code_bytes).unwrap();
        model.replay(&trace.runs);
        let (model, bytes) = (model.counts(), u64::from(page_bytes));
        let modelled = SharingCounts {
            misses: model.misses,
            loads: model.loads,
            fetched_bytes: model.misses * bytes,
            skipped_bytes: model.skipped * bytes,
        };
        let mut small = SizedCache::new((page_bytes, 2048), (32, 0));
        let mut large = SizedCache::new((32, 1024), (page_bytes, 2048));
        for run in &trace.runs {
            small.execute(run, |_| false);
            large.execute(run, |_| true);
        }
        assert_eq!((small.counts, large.counts), (modelled, modelled), "pages of {page_bytes}");
    }
}

#[test]
fn pages_of_two_sizes_share_the_register() {
    let mut cache = SizedCache::new((32, 32), (256, 256));
    let run = |address, bytes| Run { address, bytes, instructions: 1 };
    let is_large = |page| page == 0;
    cache.execute(&run(500, 20), is_large); // Bytes 256 to 511 of the first page, 0 to 31 of the second.
    assert_eq!(cache.counts, SharingCounts { misses: 2, loads: 2, fetched_bytes: 288, skipped_bytes: 256 });
    cache.execute(&run(576, 8), is_large); // The second page is in the register, 32 bytes are passed over.
    assert_eq!(cache.counts, SharingCounts { misses: 3, loads: 2, fetched_bytes: 320, skipped_bytes: 288 });
    cache.execute(&run(300, 8), is_large); // Its large page was not evicted by small ones.
    assert_eq!(cache.counts.misses, 3);
    cache.execute(&run(512, 8), is_large); // Before the position: the page is loaded again.
    assert_eq!(cache.counts, SharingCounts { misses: 4, loads: 3, fetched_bytes: 352, skipped_bytes: 288 });
}

#[test]
fn programs_take_turns_until_the_shortest_ends() {
    let run = |address| Run { address, bytes: 4, instructions: 1 };
    let mut programs = [vec![run(0), run(8), run(16)], vec![run(600), run(4), run(604), run(0)]];
    on_one_part(&mut programs);
    let programs = [&*programs[0], &*programs[1]];
    let addresses = |turn_runs| in_turns(&programs, turn_runs).iter().map(|run| run.address).collect::<Vec<_>>();
    assert_eq!(addresses(1), [0, 1112, 8, 516, 16, 1116]);
    assert_eq!(addresses(2), [0, 8, 1112, 516, 16, 1116]);
    assert_eq!(addresses(0), [0, 8, 16, 1112, 516, 1116]);
}

#[test]
fn caches_that_cannot_be_are_refused() {
    let part = k9f1208q0b(Bus::Mhz33Bits8).part;
    let model = |frames, page, code| LruModel::new(frames, page, &part, code).map(|_| ()).unwrap_err().to_string();
    assert_eq!(model(0, 64, 1000), "a cache of 0 frames: 1 to 1048576 are possible");
    assert_eq!(
        model(8, 96, 1000),
        "cache pages of 96 bytes do not divide the part's pages of 512, as powers of two do"
    );
    assert!(model(8, 0, 1000).contains("of 0 bytes") && model(8, 1024, 1000).contains("of 1024 bytes"));
    assert_eq!(model(8, 64, 1 << 27), "code of 134217728 bytes does not fit the part's 67108864");

    let made = |error: Result<_, String>| error.map(|_: Replay<Lru<8>, 8, 96>| ()).unwrap_err();
    let spec = k9f1208q0b(Bus::Mhz33Bits8);
    let options = Options::default();
    let refused = made(pager(&spec, 1000, Lru::default(), options, Counts::default()));
    assert_eq!(refused, "cache pages of 96 bytes do not divide the part's pages of 512");
    let large = |code| {
        pager::<_, 8, 64, _>(&spec, code, Lru::<8>::default(), options, Counts::default()).map(|_| ()).unwrap_err()
    };
    assert_eq!(large(0), "an image of no bytes");
    assert_eq!(large(65_536 * 64), "an image of 4194304 bytes has more than 65,535 cache pages of 64 bytes");
    let small = NandSpec { part: norn_flash::NandPart { block_count: 3, ..spec.part }, ..spec.clone() };
    let refused =
        pager::<_, 8, 64, _>(&small, 40_000, Lru::<8>::default(), options, Counts::default()).map(|_| ()).unwrap_err();
    assert_eq!(refused, "an image of 40000 bytes does not fit 3 blocks, 0 of them bad");
}

/// Where each byte of the original code went, from the runs of one byte that a layout gives.
fn places(layout: &Layout, code_bytes: u32) -> BTreeMap<u32, u32> {
    let place = |address| {
        let run = [Run { address, bytes: 1, instructions: 1 }];
        let moved: Vec<Run> = layout.translate(&run).collect();
        assert_eq!((moved.len(), moved[0].bytes), (1, 1));
        (moved[0].address, address)
    };
    (0..code_bytes).map(place).collect()
}

/// A trace whose runs continue through blocks that others start or end at, as those of a processor do: every other pair
/// of runs that touch is one.
fn joined(trace: &Trace) -> Trace {
    let mut runs: Vec<Run> = Vec::new();
    for (number, run) in trace.runs.iter().enumerate() {
        match runs.last_mut().filter(|last| last.end() == run.address && number % 2 == 0) {
            Some(last) => last.bytes += run.bytes,
            None => runs.push(*run),
        }
    }
    Trace::new(runs).unwrap()
}

/// Every third block on a border, so that some have just no room left for a jump before it.
fn aligned(order: &[Placed]) -> Vec<Placed> {
    let with_border = |(number, placed): (usize, &Placed)| match number % 3 {
        0 => vec![Placed::Align(if number % 2 == 0 { 8 } else { 64 }), *placed],
        _ => vec![*placed],
    };
    order.iter().enumerate().flat_map(with_border).collect()
}

#[test]
fn blocks_behind_a_border_start_on_it() {
    let trace = joined(&made_up(5, 3000));
    let profile = Profile::of(&trace.runs, trace.code_bytes);
    let order = aligned(&placed(&profile, &ext_tsp(&profile)));
    let layout = Layout::new(&profile, &order);
    let mut borders = 0;
    for pair in order.windows(2) {
        if let [Placed::Align(bytes), Placed::Block(block)] = *pair {
            let start = profile.blocks[block as usize].start;
            let moved = layout.translate(&[Run { address: start, bytes: 1, instructions: 1 }]).next().unwrap().address;
            assert_eq!(moved % bytes, 0, "block {block}");
            borders += 1;
        }
    }
    assert!(borders > 50, "{borders}");
}

#[test]
fn a_layout_moves_bytes_and_loses_none() {
    let trace = joined(&made_up(5, 3000));
    let profile = Profile::of(&trace.runs, trace.code_bytes);
    let by_affinity = placed(&profile, &pettis_hansen(&profile));
    // What is executed comes last, so that the code ends in a jump.
    let backwards: Vec<Placed> = by_affinity.iter().rev().copied().collect();
    let orders = [
        placed(&profile, &call_affinity(&profile)),
        placed(&profile, &ext_tsp(&profile)),
        placed(&profile, &procedures(&profile)),
        placed(&profile, &blocks_in_functions(&profile)),
        by_misses(&profile, &trace.runs, PageRoom { page: 512, cache: 1536 }),
        aligned(&by_affinity),
        backwards,
        by_affinity,
    ];
    let mut jumps = 0;
    for order in orders {
        let layout = Layout::new(&profile, &order);
        let original = places(&layout, trace.code_bytes);
        assert_eq!(original.len() as u32, trace.code_bytes, "no two bytes share a place");
        for run in &trace.runs {
            let moved: Vec<Run> = layout.translate(std::slice::from_ref(run)).collect();
            let mut executed = Vec::new();
            for (number, piece) in (1..).zip(&moved) {
                // Each piece but the last ends in a jump, which was none of the original's bytes.
                let jump = if number < moved.len() { u32::from(JUMP_BYTES) } else { 0 };
                jumps += u32::from(jump > 0);
                executed.extend((piece.address..piece.end() - jump).map(|at| original[&at]));
                assert!((piece.end() - jump..piece.end()).all(|at| !original.contains_key(&at)), "a jump over code");
                assert!(piece.end() <= layout.code_bytes);
            }
            assert_eq!(executed, (run.address..run.end()).collect::<Vec<u32>>());
        }
    }
    assert!(jumps > 100, "{jumps} jumps");
}

/// Functions keep their blocks together, whichever order they are in.
#[test]
fn blocks_stay_with_their_functions() {
    let trace = joined(&made_up(5, 3000));
    let profile = Profile::of(&trace.runs, trace.code_bytes);
    for chains in [procedures(&profile), blocks_in_functions(&profile)] {
        let mut functions: Vec<u32> =
            chains.iter().flatten().map(|&block| profile.blocks[block as usize].function).collect();
        functions.dedup();
        let rows = functions.len();
        functions.sort_unstable();
        functions.dedup();
        assert!(functions.len() > 20 && functions.len() == rows, "{} functions in {rows} rows", functions.len());
    }
}

/// Two inputs of which neither executes all of a program give a profile of both.
#[test]
fn a_profile_of_several_inputs_has_the_blocks_of_each() {
    let run = |address| Run { address, bytes: 16, instructions: 4 };
    let (one, other) = ([run(0), run(64)], [run(0), run(128), run(64)]);
    let profile = Profile::of_traces(&[&one, &other], 256);
    let entered = |address| profile.blocks.iter().find(|block| block.start == address).map(|block| block.entered);
    assert_eq!([entered(0), entered(64), entered(128)], [Some(2), Some(2), Some(1)]);
    let between = |from: u32, to: u32| {
        let block = |at| profile.blocks.iter().position(|block| block.start == at).unwrap() as u32;
        profile.edges.get(&(block(from), block(to))).map_or(0, |edge| edge.jumped + edge.called)
    };
    assert_eq!((between(0, 64), between(0, 128), between(64, 0)), (1, 1, 0), "no edge from one input to the next");
}

#[test]
#[ignore = "needs traces that the project does not bring along: NORN_TRACES=DIR, with lout-small.runs.zst and \
            mad-small.runs.zst"]
fn the_traces_of_mibench_give_the_figures_of_their_model() {
    let directory = std::env::var_os("NORN_TRACES");
    let directory = directory.expect("set NORN_TRACES to a directory with lout-small.runs.zst and mad-small.runs.zst");
    for (program, bar) in [("lout", 2.84), ("mad", 11.70)] {
        let trace = Trace::read(&Path::new(&directory).join(format!("{program}-small.runs.zst"))).unwrap();
        let mut model = LruModel::new(32, 64, &k9f1208q0b(Bus::Mhz33Bits8).part, trace.code_bytes).unwrap();
        model.replay(&trace.runs);
        let model = model.counts();
        let bytes = trace.executed_bytes();
        let elapsed_ns = 40 * bytes + 15_000 * model.loads + 50 * 64 * (model.misses + model.skipped);
        let bandwidth = bytes as f64 / (elapsed_ns as f64 / 1e9) / f64::from(1 << 20);
        assert!((bandwidth / bar - 1.0).abs() < 0.02, "{program}: {bandwidth} MiB/s, not {bar}");
    }
}
