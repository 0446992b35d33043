//! The guarantee: whatever task set is admitted, at 50 to 75% use, with bad blocks, a downloader and the wear leveler,
//! no write waits for a token, no job is late, and every recycling of a collector yields α pages or more. The device
//! asserts its token invariant after every operation, and the checker walks it at the end. After it, the bars: the
//! paper's own set, wear and throughput.

use std::time::{Duration, Instant};

use norn_lab::realtime_gc::{Collector, Pattern, Setting, run_random_set, run_setting};

/// Sums over sets.
#[derive(Debug, Default)]
struct Sums {
    sets: u64,
    admitted_sets: u64,
    asked: u32,
    admitted: u32,
    changes: u32,
    writes: u64,
    recycled: u64,
    /// Sets in which a recycling yielded just α pages.
    tight: u32,
}

/// Runs the given number of sets from `first` on, or as many as there is time for.
fn sets(first: u64, count: u64, seconds: u64, time: Duration) {
    let (start, mut sums) = (Instant::now(), Sums::default());
    for seed in first..first + count {
        let outcome = run_random_set(seed, seconds);
        let replay = format!("norn_lab::realtime_gc::run_random_set({seed}, {seconds}): {outcome:?}");
        assert_eq!((outcome.token_waits, outcome.misses), (0, 0), "{replay}");
        assert!(outcome.recycled == 0 || outcome.yield_min >= outcome.alpha, "{replay}");
        sums.sets += 1;
        sums.admitted_sets += u64::from(outcome.admitted > 0);
        sums.asked += outcome.asked;
        sums.admitted += outcome.admitted;
        sums.changes += outcome.changes;
        sums.writes += outcome.writes;
        sums.recycled += outcome.recycled;
        sums.tight += u32::from(outcome.recycled > 0 && outcome.yield_min == outcome.alpha);
        if sums.sets.is_multiple_of(250) {
            eprintln!("{:.0?}: {sums:?}", start.elapsed());
        }
        if start.elapsed() > time {
            eprintln!("no time for more than {} of {count} sets", sums.sets);
            break;
        }
    }
    eprintln!("{:.0?}: {sums:?}", start.elapsed());
    let worth =
        sums.admitted_sets > sums.sets / 3 && sums.asked > sums.admitted && sums.recycled > 0 && sums.writes > 0;
    assert!(worth, "the sets are worth something: {sums:?}");
}

#[test]
fn every_admitted_set_keeps_its_deadlines() {
    sets(1, 60, 10, Duration::MAX);
}

#[test]
#[ignore = "minutes, at most fifteen"]
fn thousands_of_sets() {
    sets(10_000, 5_000, 12, Duration::from_secs(15 * 60));
}

const SEED: u64 = 2006;

#[test]
fn the_papers_set_is_never_late_and_the_baseline_blocks_for_seconds() {
    let ours = run_setting(&Setting::paper(Collector::RealTime, 1200, SEED)).unwrap();
    assert_eq!((ours.t1_pages, ours.t2_pages), (120_000, 30_000));
    assert_eq!((ours.token_waits, ours.misses, ours.system_misses), (0, 0, 0));
    // An erase may be under way when T1 is released, and its writes may find the journal of the checkpoint full.
    assert!(ours.t1_response_us <= 6230 + 1881 + 919, "c_T1 + t_e + t_w: {}", ours.t1_response_us);
    assert!(ours.t1_response_us > 6230 + 1000, "operations do block T1: {}", ours.t1_response_us);
    assert!(ours.yield_min >= ours.alpha_used, "{} of {}", ours.yield_min, ours.alpha_used);
    let baseline = run_setting(&Setting::paper(Collector::CostBenefit, 1200, SEED)).unwrap();
    assert!(baseline.blocking_ms_max > 10_000.0, "{} ms", baseline.blocking_ms_max);
}

#[test]
fn the_wear_leveler_levels() {
    // The paper's downloader works continuously. In 20 minutes the leveler has been at each cold block once.
    let setting = |collector| Setting { download_us: 1, ..Setting::paper(collector, 2400, SEED) };
    let deviation = |collector| run_setting(&setting(collector)).unwrap().deviation;
    let (with, without) = (deviation(Collector::RealTime), deviation(Collector::RealTimeUnleveled));
    assert!(with <= without / 5.0, "{with} with the leveler, {without} without");
}

#[test]
fn throughput_is_near_a_device_without_guarantees() {
    for pattern in [Pattern::Trace, Pattern::Sequential, Pattern::Random] {
        for use_percent in [50, 65] {
            let written = |collector| {
                let paper = Setting::paper(collector, 60, SEED);
                let setting = Setting { use_percent, pattern, cold_percent: 50.0, download_us: 1, ..paper };
                run_setting(&setting).unwrap().kb_per_s
            };
            let (ours, greedy) = (written(Collector::RealTime), written(Collector::Greedy));
            assert!(ours >= 0.9 * greedy, "{pattern:?} at {use_percent}%: {ours} of {greedy} KB/s");
        }
    }
}
