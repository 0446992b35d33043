//! Proves that a transaction which finds no room is undone as a whole on a full part: ranges over several sections of
//! arrays, with mounts in between, so that logs are full while the transaction is undone.

use norn_conformance::seeds;
use norn_flash_sim::{NorSim, catalogue};
use norn_log_heap::{AccessError, Elements, Layout, LogHeap, Ref, StoreError};

const REPLAY: &str = "-p norn-log-heap --test full_transactions";
const ARRAYS: usize = 4;

struct Full {
    heap: LogHeap<NorSim, 32>,
    arrays: [(Ref, usize); ARRAYS],
    objects: Vec<Ref>,
}

/// A part with arrays of some sections, filled up with objects.
fn full(random: &mut fastrand::Rng) -> Full {
    let mut heap = LogHeap::format(NorSim::new(catalogue::test_part(32, 2048))).unwrap();
    let arrays = [(); ARRAYS].map(|()| {
        let count = random.usize(300..900);
        (heap.create_array(count, 4, b"").unwrap(), count)
    });
    let mut objects = Vec::new();
    while let Ok(object) = heap.create(Layout::uniform(random.usize(1..9), 4)) {
        objects.push(object);
    }
    for _ in 0..random.usize(..12) {
        heap.delete(objects.pop().unwrap()).unwrap();
    }
    Full { heap, arrays, objects }
}

impl Full {
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
    fn change(
        &mut self,
        random: &mut fastrand::Rng,
        changes: usize,
    ) -> Result<(), AccessError<norn_flash_sim::SimError>> {
        for _ in 0..changes {
            let (array, count) = self.arrays[random.usize(..ARRAYS)];
            match random.u8(..12) {
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
}

#[test]
fn what_finds_no_room_is_undone_as_a_whole() {
    let mut refused = 0;
    for run in seeds(0..15, REPLAY) {
        let mut random = run.random();
        let mut full = full(&mut random);
        for _ in 0..20 {
            let before = full.contents();
            full.heap.begin().unwrap();
            let changes = if random.bool() { 3_000 } else { random.usize(..60) };
            match full.change(&mut random, changes) {
                Ok(()) => {}
                Err(AccessError::Store(StoreError::Full)) => refused += 1,
                Err(error) => panic!("{error}; replay: {}", run.replay()),
            }
            full.heap.abort().unwrap();
            assert!(full.contents() == before, "undone in part; replay: {}", run.replay());
            if random.u8(..3) == 0 {
                full.heap.remount().unwrap();
                assert!(full.contents() == before, "after a mount; replay: {}", run.replay());
            }
        }
    }
    assert!(refused > 40, "{refused} were refused");
}
