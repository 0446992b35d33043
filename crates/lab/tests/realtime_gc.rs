//! The guarantee: whatever task set is admitted, at 50 to 75% use, with bad blocks, a downloader and the wear leveler, no write waits for a
//! token, no job is late, and every recycling of a collector yields α pages or more. The device asserts its token invariant after every
//! operation, and the checker walks it at the end.

use norn_lab::realtime_gc::run_random_set;

/// Runs so many sets from `first` on.
fn sets(first: u64, count: u64, seconds: u64) {
    let (mut asked, mut admitted, mut recycled, mut writes, mut sets, mut changes, mut tight) = (0, 0, 0, 0, 0, 0, 0);
    for seed in first..first + count {
        let outcome = run_random_set(seed, seconds);
        let replay = format!("norn_lab::realtime_gc::run_random_set({seed}, {seconds}): {outcome:?}");
        assert_eq!((outcome.token_waits, outcome.misses), (0, 0), "{replay}");
        assert!(outcome.recycled == 0 || outcome.yield_min >= outcome.alpha, "{replay}");
        asked += outcome.asked;
        admitted += outcome.admitted;
        recycled += outcome.recycled;
        writes += outcome.writes;
        changes += outcome.changes;
        sets += u32::from(outcome.admitted > 0);
        tight += u32::from(outcome.recycled > 0 && outcome.yield_min == outcome.alpha);
    }
    eprintln!(
        "{sets} of {count} sets admitted, {admitted} of {asked} tasks, {changes} left; {writes} pages written, {recycled} blocks \
         recycled; in {tight} sets a recycling yielded exactly alpha"
    );
    assert!(u64::from(sets) > count / 3 && asked > admitted && recycled > 0 && writes > 0, "the sets are worth something");
}

#[test]
fn every_admitted_set_keeps_its_deadlines() {
    sets(1, 60, 10);
}

#[test]
#[ignore = "minutes"]
fn thousands_of_sets() {
    sets(10_000, 3_000, 12);
}
