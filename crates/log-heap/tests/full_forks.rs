//! Proves that a full part mounts wherever the power fails in a transaction, above all in the calls that find no room:
//! each transaction is run once whole, and then again from the same state with cuts at many of its operations.

use norn_conformance::{Run, seeds};
use norn_flash::{MountError, Nor, Reprogramming};
use norn_flash_sim::{NorSim, SimError, Tear, catalogue};
use norn_log_heap::{AccessError, CreateError, Layout, LogHeapIn, Ref, StoreError, UnitRow};

const REPLAY: &str = "-p norn-log-heap --test suite full_forks::";
const CUTS_OF_A_TRANSACTION: usize = 12;
/// Of the operations of a transaction, those of its last calls, in which most cuts are.
const LAST_OPERATIONS: u64 = 400;
/// About as many objects are on a part at most: each is read after each cut.
const OBJECTS_MAX: usize = 6_000;
/// Deletions in a row that give room.
const BYTES_THAT_GIVE_ROOM: u64 = 4;

type Heap = LogHeapIn<NorSim, Vec<UnitRow>>;
type Contents = Vec<(Ref, Option<[u8; 4]>)>;

/// A geometry, of small and large units, words, and parts.
fn part(random: &mut fastrand::Rng) -> NorSim {
    let word = [4, 4, 8, 8, 16, 32][random.usize(..6)];
    let granules = [64, 64, 96, 128, 256, 512][random.usize(..6)];
    let units = if granules < 128 { random.u16(12..64) } else { random.u16(12..34) };
    let reprogramming = if random.bool() { Reprogramming::Once } else { Reprogramming::Times(2) };
    NorSim::new(catalogue::limited_test_part(units, granules * u32::from(word), word, reprogramming))
}

fn fill(random: &mut fastrand::Rng) -> Option<(Heap, Vec<Ref>)> {
    let sim = part(random);
    let part = sim.part();
    let rows = vec![UnitRow::UNUSED; usize::from(part.unit_count)];
    let mut heap = Heap::format_in(sim, rows).ok()?;
    let most = random.usize(2..24).max(part.size_bytes() as usize / OBJECTS_MAX / 2);
    let mut objects = Vec::new();
    while let Ok(object) = heap.create(Layout::uniform(random.usize(1..most), 4)) {
        objects.push(object);
    }
    (objects.len() > 8).then_some((heap, objects))
}

fn contents(heap: &mut Heap, objects: &[Ref], run: &Run) -> Contents {
    let read = |&object: &Ref| {
        let mut value = [0; 4];
        match heap.get_field(object, 0, &mut value) {
            Ok(()) => (object, Some(value)),
            Err(AccessError::Stale(_)) => (object, None),
            Err(error) => panic!("{error}; replay: {}", run.replay()),
        }
    };
    objects.iter().map(read).collect()
}

fn is_full(error: &AccessError<SimError>) -> bool {
    matches!(error, AccessError::Store(StoreError::Full))
}

/// Changes in an open transaction until a few of them found no room, or the power fails. Returns how many did.
fn change(heap: &mut Heap, objects: &[Ref], random: &mut fastrand::Rng) -> u32 {
    let mut order = objects.to_vec();
    random.shuffle(&mut order);
    let (deletions, most) = (random.u8(1..10), random.u32(1..4));
    let mut refused = 0;
    for object in order {
        let changed = match random.u8(..10) {
            n if n < deletions => heap.delete(object),
            9 => heap.create(Layout::uniform(random.usize(1..8), 4)).map(|_| ()).map_err(|error| match error {
                CreateError::Store(error) => AccessError::Store(error),
                _ => AccessError::Store(StoreError::Full),
            }),
            _ => heap.put_field(object, 0, &random.u32(..).to_le_bytes()),
        };
        refused += u32::from(changed.is_err_and(|error| is_full(&error)));
        if refused >= most || !heap.device().is_powered() {
            break;
        }
    }
    refused
}

/// Mounts, cut again up to so many times.
fn mount(heap: &mut Heap, mut cuts: u32, random: &mut fastrand::Rng) -> Result<(), MountError<SimError>> {
    loop {
        heap.device_mut().power_on();
        if cuts > 0 {
            heap.device_mut().cut_power_after(random.u64(..60), Tear::draw(random));
        }
        let mounted = heap.remount();
        if heap.device().is_powered() {
            heap.device_mut().power_on();
            return mounted;
        }
        cuts -= 1;
    }
}

/// Deletes until there is room again.
fn expect_room_after_deletions(heap: &mut Heap, objects: &[Ref], run: &Run) {
    let before = heap.live_bytes();
    let unit = u64::from(heap.device().part().unit_size_bytes);
    for &object in objects {
        match heap.delete(object) {
            Ok(()) => {}
            Err(AccessError::Stale(_)) => continue,
            Err(error) => panic!("a deletion: {error}; replay: {}", run.replay()),
        }
        if heap.create(Layout::uniform(1, 4)).is_ok() {
            return;
        }
        let deleted = before.saturating_sub(heap.live_bytes());
        assert!(deleted <= BYTES_THAT_GIVE_ROOM * unit, "no room after {deleted} bytes; replay: {}", run.replay());
    }
}

/// Returns how many calls found no room, and how many cuts there were.
fn fork(run: &Run, transactions: usize) -> (u32, u32) {
    let mut random = run.random();
    let Some((mut heap, objects)) = fill(&mut random) else { return (0, 0) };
    let (mut refused, mut cuts) = (0, 0);
    for transaction in 0..transactions {
        let expected = contents(&mut heap, &objects, run);
        let before = heap.clone();
        let (seed, start) = (random.u64(..), heap.device().operations());
        heap.begin().unwrap();
        refused += change(&mut heap, &objects, &mut fastrand::Rng::with_seed(seed));
        let operations = heap.device().operations() - start;
        heap.abort().unwrap_or_else(|error| panic!("abort: {error}; replay: {}", run.replay()));
        assert!(contents(&mut heap, &objects, run) == expected, "undone; replay: {}", run.replay());
        let mut next = None;
        for cut in 0..CUTS_OF_A_TRANSACTION {
            let first = if cut % 4 == 0 { 0 } else { operations.saturating_sub(LAST_OPERATIONS) };
            let at = random.u64(first..operations + 1);
            let mut fork = before.clone();
            fork.device_mut().cut_power_after(at, Tear::draw(&mut random));
            fork.begin().unwrap();
            change(&mut fork, &objects, &mut fastrand::Rng::with_seed(seed));
            if fork.device().is_powered() {
                let _ = fork.abort();
            }
            let again = random.u32(..6);
            cuts += 1 + again;
            mount(&mut fork, again, &mut random).unwrap_or_else(|error| {
                panic!(
                    "a mount after {again} cuts: {error}; transaction {transaction}, cut {cut} at {at}; replay: {}",
                    run.replay()
                )
            });
            assert!(contents(&mut fork, &objects, run) == expected, "after a cut; replay: {}", run.replay());
            if random.u8(..4) == 0 {
                expect_room_after_deletions(&mut fork.clone(), &objects, run);
            }
            next = Some(fork);
        }
        heap = next.filter(|_| random.u8(..4) > 0).unwrap_or(heap);
    }
    (refused, cuts)
}

#[test]
fn a_cut_in_a_transaction_on_a_full_part_leaves_room_to_undo_it() {
    let (mut refused, mut cuts, mut runs) = (0, 0, 0);
    // In the last of them no unit is free, and the notes have to go along.
    for run in seeds(0..20, REPLAY).chain(seeds(233..234, REPLAY)) {
        let found = fork(&run, 4);
        (refused, cuts, runs) = (refused + found.0, cuts + found.1, runs + 1);
    }
    println!("{refused} calls found no room, {cuts} cuts");
    assert!(refused > runs && cuts > 50 * runs, "{refused} calls found no room, {cuts} cuts, in {runs} programs");
}

#[test]
#[ignore = "takes minutes"]
fn many_cuts_in_transactions_on_full_parts_leave_room_to_undo_them() {
    let (mut refused, mut cuts, mut failed) = (0, 0, Vec::new());
    for run in seeds(100..700, REPLAY) {
        match std::panic::catch_unwind(|| fork(&run, 8)) {
            Ok(found) => (refused, cuts) = (refused + found.0, cuts + found.1),
            Err(_) => failed.push(run.seed),
        }
    }
    println!("{refused} calls found no room, {cuts} cuts");
    assert!(failed.is_empty(), "seeds {failed:?}");
}
