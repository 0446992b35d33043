//! Proves that a full part stays usable: transactions over several sections of arrays that find no room are undone as a
//! whole, a cut at any operation leaves the one or the other and a part that mounts, and what is deleted gives room.

use norn_conformance::{Run, seeds};
use norn_flash::Reprogramming;
use norn_flash_sim::{NorSim, PartSpec, SimError, Tear, catalogue};
use norn_log_heap::{AccessError, Elements, Layout, LogHeapIn, MountError, Ref, StoreError, TransactionError, UnitRow};

const REPLAY: &str = "-p norn-log-heap --test suite full_transactions::";
const ARRAYS: usize = 4;
/// Bytes of what is deleted on a full part before there is room: two units.
const DELETED_BYTES: u64 = 2 * 2048;

type Heap = LogHeapIn<NorSim, Vec<UnitRow>>;
type Failure = AccessError<SimError>;

struct Full<'a> {
    heap: Heap,
    arrays: [(Ref, usize); ARRAYS],
    objects: Vec<Ref>,
    run: &'a Run,
    step: usize,
}

/// What a session of a transaction came to.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Undone,
    Committed,
    /// It can be undone once there is room.
    Open,
    /// The power failed, in the commit or before.
    Cut {
        in_commit: bool,
    },
}

fn large_units(units: u16) -> PartSpec {
    catalogue::test_part(units, 2048)
}

fn written_once(units: u16) -> PartSpec {
    catalogue::limited_test_part(units, 2048, 8, Reprogramming::Once)
}

impl<'a> Full<'a> {
    /// A part with arrays of some sections, filled up with objects.
    fn fill(spec: PartSpec, run: &'a Run, random: &mut fastrand::Rng) -> Full<'a> {
        let rows = vec![UnitRow::UNUSED; usize::from(spec.part.unit_count)];
        let most = match spec.part.size_bytes() {
            ..20_480 => 100,
            20_480..40_960 => 300,
            _ => 900,
        };
        let mut heap = Heap::format_in(NorSim::new(spec), rows).unwrap();
        let arrays = [(); ARRAYS].map(|()| {
            let count = random.usize(most / 3..most);
            (heap.create_array(count, 4, b"").unwrap(), count)
        });
        let mut objects = Vec::new();
        while let Ok(object) = heap.create(Layout::uniform(random.usize(1..9), 4)) {
            objects.push(object);
        }
        for _ in 0..random.usize(..12) {
            heap.delete(objects.pop().unwrap()).unwrap();
        }
        Full { heap, arrays, objects, run, step: 0 }
    }

    fn replay(&self) -> String {
        format!("step {}; replay: {}", self.step, self.run.replay())
    }

    fn contents(&mut self) -> Vec<Vec<u8>> {
        let mut contents = Vec::new();
        for (array, count) in self.arrays {
            let mut bytes = vec![0; 4 * count];
            self.heap.array_read(array, 0, &mut bytes).unwrap();
            contents.push(bytes);
        }
        for &object in &self.objects {
            let mut value = [0; 4];
            self.heap.get_field(object, 0, &mut value).unwrap();
            contents.push(value.to_vec());
        }
        contents
    }

    /// Changes of a transaction, until one finds no room or there were so many.
    fn change(&mut self, random: &mut fastrand::Rng, changes: usize) -> Result<(), Failure> {
        for _ in 0..changes {
            let (array, count) = self.arrays[random.usize(..ARRAYS)];
            // Short transactions change arrays only.
            match random.u8(..if changes < 60 { 2 } else { 12 }) {
                0 => {
                    let values: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(4 * count).collect();
                    self.heap.array_write(array, 0, &values)?;
                }
                1 => {
                    let value = random.u32(..).to_le_bytes();
                    self.heap.array_fill_non_atomic(Elements { array, first: 0, count }, &value)?;
                }
                _ => {
                    let object = self.objects[random.usize(..self.objects.len())];
                    self.heap.put_field(object, 0, &random.u32(..).to_le_bytes())?;
                }
            }
        }
        Ok(())
    }

    /// A transaction that is committed if everything finds room, mostly. What it would have left is in `changed`.
    fn transaction(&mut self, random: &mut fastrand::Rng, changed: &mut Vec<Vec<u8>>) -> (Outcome, bool) {
        let changes = if random.u8(..3) == 0 { 3_000 } else { random.usize(..60) };
        self.heap.begin().unwrap();
        let (made, is_kept) = (self.change(random, changes), random.u8(..3) > 0);
        let is_full = matches!(made, Err(AccessError::Store(StoreError::Full)));
        let (ended, in_commit) = match made {
            Ok(()) if is_kept => {
                *changed = if self.heap.device().is_powered() { self.contents() } else { changed.clone() };
                (self.heap.commit(), true)
            }
            Err(error) if !is_full && self.heap.device().is_powered() => panic!("{error}; {}", self.replay()),
            _ => (self.abort(), false),
        };
        let outcome = match ended {
            _ if !self.heap.device().is_powered() => Outcome::Cut { in_commit },
            Ok(()) if in_commit => Outcome::Committed,
            Ok(()) => Outcome::Undone,
            Err(TransactionError::Store(StoreError::Full)) => Outcome::Open,
            Err(error) => panic!("{error} at the end; {}", self.replay()),
        };
        (outcome, is_full)
    }

    /// What finds no room to be undone does so when it is tried again.
    fn abort(&mut self) -> Result<(), TransactionError<SimError>> {
        for _ in 0..8 {
            match self.heap.abort() {
                Err(TransactionError::Store(StoreError::Full)) => {}
                ended => return ended,
            }
        }
        self.heap.abort()
    }

    /// Mounts after a cut, which is cut up to three times. Returns whether there is room to undo what was open.
    fn mount(&mut self, random: &mut fastrand::Rng) -> bool {
        for _ in 0..3 {
            self.heap.device_mut().power_on();
            if random.u8(..3) == 0 {
                self.heap.device_mut().cut_power_after(random.u64(..30), Tear::draw(random));
            }
            let mounted = self.heap.remount();
            if self.heap.device().is_powered() {
                return self.is_mounted(mounted);
            }
        }
        self.heap.device_mut().power_on();
        let mounted = self.heap.remount();
        self.is_mounted(mounted)
    }

    fn is_mounted(&mut self, mounted: Result<(), MountError<SimError>>) -> bool {
        self.heap.device_mut().power_on();
        match mounted {
            Ok(()) => true,
            Err(MountError::Unsuitable(_)) => false,
            Err(error) => panic!("{error} at the mount; {}", self.replay()),
        }
    }

    /// What is deleted gives room, soon enough.
    fn delete_until_there_is_room(&mut self) {
        let before = self.heap.live_bytes();
        loop {
            // Arrays take all but a few places of some parts.
            let Some(object) = self.objects.pop() else { return };
            self.heap.delete(object).unwrap_or_else(|error| panic!("{error} when deleting; {}", self.replay()));
            let deleted = before.saturating_sub(self.heap.live_bytes());
            match self.heap.create(Layout::uniform(3, 4)) {
                Ok(object) => return self.objects.push(object),
                Err(error) if deleted > DELETED_BYTES => {
                    panic!("{error} after {deleted} of {before} bytes were deleted; {}", self.replay())
                }
                Err(_) => {}
            }
        }
    }
}

#[test]
fn what_finds_no_room_is_undone_as_a_whole() {
    let mut refused = 0;
    for run in seeds(0..15, REPLAY) {
        let mut random = run.random();
        let mut full = Full::fill(large_units(32), &run, &mut random);
        for step in 0..20 {
            full.step = step;
            let mut expected = full.contents();
            let mut changed = Vec::new();
            let (outcome, is_full) = full.transaction(&mut random, &mut changed);
            refused += u32::from(is_full);
            if outcome == Outcome::Committed {
                expected = changed;
            }
            assert!(full.contents() == expected, "{outcome:?}; {}", full.replay());
            if random.u8(..3) == 0 {
                full.heap.remount().unwrap();
                assert!(full.contents() == expected, "after a mount; {}", full.replay());
            }
        }
        full.delete_until_there_is_room();
    }
    assert!(refused > 40, "{refused} were refused");
}

/// Returns how often the power failed; `None` if a transaction found no room to be undone.
fn cut_full_parts(run: &Run, steps: usize) -> Option<usize> {
    let mut random = run.random();
    let units = if random.bool() { 32 } else { random.u16(12..32) };
    let spec = if random.bool() { large_units(units) } else { written_once(units) };
    let mut full = Full::fill(spec, run, &mut random);
    let mut cuts = 0;
    for step in 0..steps {
        full.step = step;
        let expected = full.contents();
        let mut changed = expected.clone();
        if random.u8(..4) == 0 {
            let tear = Tear::draw(&mut random);
            full.heap.device_mut().cut_power_after(random.u64(..200), tear);
        }
        let (outcome, _) = full.transaction(&mut random, &mut changed);
        if matches!(outcome, Outcome::Cut { .. }) || random.u8(..6) == 0 {
            cuts += usize::from(outcome != Outcome::Undone);
            if !full.mount(&mut random) {
                return None;
            }
        }
        full.heap.device_mut().power_on();
        let found = full.contents();
        let is_right = match outcome {
            Outcome::Undone => found == expected,
            Outcome::Open => return None,
            Outcome::Committed => found == changed,
            Outcome::Cut { in_commit } => found == expected || in_commit && found == changed,
        };
        assert!(is_right, "{outcome:?}; {}", full.replay());
    }
    full.delete_until_there_is_room();
    Some(cuts)
}

#[test]
fn cuts_on_full_parts_leave_them_usable() {
    let cut = |run: Run| cut_full_parts(&run, 25).unwrap_or_else(|| panic!("no room to undo; {}", run.replay()));
    let cuts: usize = seeds(0..12, REPLAY).map(cut).sum();
    assert!(cuts > 20, "{cuts} cuts");
}

/// In the first of these programs reclamation of a full part is cut twice in a row, and the mount finds no free unit.
/// It settles in the unit of the next log, and the sectors there go on being moved. In the second an abort has nowhere
/// to move to but that unit, and the notes go along.
#[test]
fn a_mount_settles_where_no_unit_is_free() {
    for run in seeds(325..326, REPLAY).chain(seeds(584..585, REPLAY)) {
        assert!(cut_full_parts(&run, 40).is_some(), "{}", run.replay());
    }
}

/// Full parts whose units hold four to six map nodes take updates after any number of cuts in a row, mounts too.
#[test]
fn cuts_on_full_parts_of_small_units_leave_them_usable() {
    for run in seeds(0..12, REPLAY) {
        let mut random = run.random();
        let granule = if random.bool() { 8 } else { 4 };
        let spec = catalogue::limited_test_part(random.u16(24..65), 512, granule, Reprogramming::Once);
        let mut full = Full::fill(spec, &run, &mut random);
        for step in 0..200 {
            full.step = step;
            full.heap.device_mut().cut_power_after(random.u64(..80), Tear::draw(&mut random));
            while full.heap.device().is_powered() {
                let object = full.objects[random.usize(..full.objects.len())];
                let updated = full.heap.put_field(object, 0, &random.u32(..).to_le_bytes());
                assert!(!matches!(updated, Err(AccessError::Store(StoreError::Full))), "{}", full.replay());
            }
            assert!(full.mount(&mut random), "{}", full.replay());
        }
        full.delete_until_there_is_room();
    }
}

/// Each such call reclaimed units, in vain.
#[test]
fn what_was_refused_is_refused_again_without_an_erase() {
    for spec in [large_units(32), written_once(32)] {
        let rows = vec![UnitRow::UNUSED; 32];
        let mut heap = Heap::format_in(NorSim::new(spec), rows).unwrap();
        let layout = Layout::uniform(10, 4);
        let objects: Vec<Ref> = std::iter::from_fn(|| heap.create(layout).ok()).collect();
        let before = heap.device().counters();
        assert!(heap.create(layout).is_err() && heap.create_array(1_000, 4, b"").is_err());
        let after = heap.device().counters();
        assert_eq!((after.erases, after.programs()), (before.erases, before.programs()));
        let has_room = objects[..85].iter().any(|&object| {
            heap.delete(object).unwrap();
            heap.create(layout).is_ok()
        });
        assert!(has_room, "two units of {} objects are deleted", objects.len());
    }
}

#[test]
#[ignore = "takes minutes"]
fn many_cuts_on_full_parts_leave_them_usable() {
    let (mut runs, mut cuts, mut open) = (0, 0, 0);
    for run in seeds(100..600, REPLAY) {
        runs += 1;
        match cut_full_parts(&run, 40) {
            Some(found) => cuts += found,
            // What docs/guide/limits.md tells of.
            None => open += 1,
        }
    }
    println!("{runs} programs, {cuts} cuts, {open} without room to undo");
    assert!(open <= runs / 100 && cuts > runs, "{open} of {runs}, {cuts} cuts");
}

/// On a part full of objects of 8 bytes, moving took more than it freed: updates found no room, and no deletion did.
#[test]
fn parts_full_of_small_objects_take_updates_and_deletions() {
    for (spec, fields) in
        [large_units(32), written_once(128)].into_iter().flat_map(|spec| [(spec.clone(), 1), (spec, 2)])
    {
        let rows = vec![UnitRow::UNUSED; usize::from(spec.part.unit_count)];
        let mut heap = Heap::format_in(NorSim::new(spec), rows).unwrap();
        let mut objects = Vec::new();
        while let Ok(object) = heap.create(Layout::uniform(fields, 4)) {
            objects.push(object);
        }
        let mut random = fastrand::Rng::with_seed(12_345);
        for update in 0..5_000 {
            let object = objects[random.usize(..objects.len())];
            let updated = heap.put_field(object, 0, &random.u32(..).to_le_bytes());
            updated.unwrap_or_else(|error| panic!("update {update} of {} objects: {error}", objects.len()));
        }
        for object in objects {
            heap.delete(object).unwrap();
        }
    }
}
