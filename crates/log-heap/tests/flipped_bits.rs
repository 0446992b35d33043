//! What becomes of images of which bits have flipped, where nothing promises that they are noticed: any bit without
//! error detection, and any two with it. No call panics, goes on for ever, or asks the device for what is outside of
//! the part; what is read may be wrong, and how often is counted.

use crate::model;

use std::collections::BTreeSet;

use model::{Harsh, Model, TestHeap, change, draw, format, format_detecting, parts, perform, refuse};
use norn_conformance::seeds;
use norn_flash::Address;
use norn_flash_sim::NorSim;
use norn_log_heap::{AccessError, LogHeapIn, Ref, StoreError, UnitRow};

const REPLAY: &str = "-p norn-log-heap --test suite flipped_bits::";

/// What became of images.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// The mount said that there is damage.
    refused: u32,
    /// A call did, and nothing that was read was wrong.
    noticed: u32,
    /// Something that was read was wrong, or not there.
    wrong: u32,
    /// Everything was as it was.
    right: u32,
}

impl Tally {
    /// Of a thousand images that differ, how many read wrong.
    fn wrong_of_thousand(&self) -> f64 {
        1000.0 * f64::from(self.wrong) / f64::from((self.wrong + self.noticed + self.refused).max(1))
    }
}

/// What reads of a heap showed.
#[derive(Default)]
struct Reads {
    noticed: bool,
    wrong: bool,
}

impl Reads {
    fn add<T>(&mut self, read: Result<T, AccessError<norn_flash_sim::SimError>>, is_right: impl FnOnce(T) -> bool) {
        match read {
            Ok(value) => self.wrong |= !is_right(value),
            Err(AccessError::Store(StoreError::Corrupted)) => self.noticed = true,
            Err(AccessError::Store(error)) => panic!("{error}"),
            Err(_) => self.wrong = true,
        }
    }
}

fn read_all(heap: &mut TestHeap, model: &Model) -> Reads {
    let mut reads = Reads::default();
    for (&reference, object) in &model.objects {
        for (index, field) in object.fields.iter().enumerate() {
            let mut value = vec![0; field.len()];
            let read = match object.is_array {
                true => heap.array_load(reference, index, &mut value),
                false => heap.get_field(reference, index, &mut value),
            };
            reads.add(read, |()| value == *field);
        }
        let mut header = [0; 255];
        let read = heap.read_header(reference, &mut header);
        reads.add(read, |length| header[..length] == object.header);
    }
    for (name, &reference) in &model.roots {
        reads.add(heap.root(name), |root| root == Some(reference));
    }
    let mut found = BTreeSet::new();
    let mut after = None;
    while let Ok(Some(reference)) = heap.next_object(after) {
        found.insert(reference);
        after = Some(reference);
    }
    let listed = heap.next_object(after);
    reads.add(listed, |_| found.iter().eq(model.objects.keys()));
    reads
}

/// Mounts an image with these bits flipped, and reads everything.
fn flip(image: &NorSim, model: &Model, bits: &[u32], tally: &mut Tally) -> Option<TestHeap> {
    let mut device = image.clone();
    for bit in bits {
        let address = Address(bit / 8);
        let flipped = device.peek(address, 1)[0] ^ 1 << (bit % 8);
        device.poke(address, &[flipped]);
    }
    let rows = vec![UnitRow::UNUSED; usize::from(device.spec().part.unit_count)];
    let Ok(mut heap) = LogHeapIn::mount_in(Harsh(device), rows) else {
        tally.refused += 1;
        return None;
    };
    match read_all(&mut heap, model) {
        Reads { wrong: true, .. } => tally.wrong += 1,
        Reads { noticed: true, .. } => tally.noticed += 1,
        _ => tally.right += 1,
    }
    Some(heap)
}

/// A heap after random calls, which rests, and what it holds.
fn worked(mut heap: TestHeap, random: &mut fastrand::Rng) -> (NorSim, Model) {
    let mut model = Model::default();
    for _ in 0..120 {
        let call = draw(&model, 10, random);
        match perform(&mut heap, &call) {
            Ok(created) => change(&mut model, &call, created),
            Err(_) => refuse(&mut heap, &mut model, &call),
        }
    }
    heap.rest().unwrap();
    (heap.into_device().0, model)
}

/// Changes and deletes; errors are as good as results.
fn use_it(heap: &mut TestHeap, model: &Model, random: &mut fastrand::Rng) {
    let references: Vec<Ref> = model.objects.keys().copied().collect();
    for _ in 0..20 {
        let Some(&reference) = random.choice(&references) else { return };
        let field = &model.objects[&reference].fields[0];
        let _ = heap.put_field(reference, 0, field);
        let _ = heap.array_store(reference, 0, field);
        let _ = heap.write_header(reference, &field[..1]);
        let _ = heap.reclaim_step(1);
    }
    references.iter().for_each(|&reference| drop(heap.delete(reference)));
    let _ = heap.remount();
}

/// Flips every `stride`th bit without error detection.
fn flip_undetected(stride: u32, runs: std::ops::Range<u64>) {
    let mut all = Tally::default();
    for run in seeds(runs, REPLAY) {
        let (mut random, mut tally) = (run.random(), Tally::default());
        let parts = parts(12);
        let (image, model) = worked(format(parts[run.seed as usize % parts.len()].clone()), &mut random);
        for bit in (random.u32(..stride)..8 * image.spec().part.size_bytes()).step_by(stride as usize) {
            if let Some(mut heap) = flip(&image, &model, &[bit], &mut tally)
                && random.u8(..4) == 0
            {
                use_it(&mut heap, &model, &mut random);
            }
        }
        println!("seed {}: {tally:?}", run.seed);
        all = sum(all, tally);
    }
    println!("without error detection: {all:?}, of a thousand that differ {:.1} read wrong", all.wrong_of_thousand());
    assert!(all.wrong > 0 && all.refused > 0 && all.right > all.wrong, "{all:?}");
}

fn sum(a: Tally, b: Tally) -> Tally {
    Tally {
        refused: a.refused + b.refused,
        noticed: a.noticed + b.noticed,
        wrong: a.wrong + b.wrong,
        right: a.right + b.right,
    }
}

/// How far from each other two bits may be.
#[derive(Clone, Copy, Debug)]
enum Apart {
    /// In the same four bytes: in what checks itself by a count of zeros.
    Word,
    /// In the same 64 bytes: mostly in one sector.
    Near,
    Anywhere,
}

/// Flips so many pairs of bits of each image with error detection.
fn flip_pairs(pairs: u32, runs: std::ops::Range<u64>) {
    for apart in [Apart::Word, Apart::Near, Apart::Anywhere] {
        let mut all = Tally::default();
        for run in seeds(runs.clone(), REPLAY) {
            let mut random = run.random();
            let parts = parts(12);
            let heap = format_detecting(parts[run.seed as usize % parts.len()].clone());
            let (image, model) = worked(heap, &mut random);
            let bits = 8 * image.spec().part.size_bytes();
            for _ in 0..pairs {
                let window = match apart {
                    Apart::Word => 32,
                    Apart::Near => 512,
                    Apart::Anywhere => bits,
                };
                let start = random.u32(..bits / window) * window;
                let first = random.u32(..window);
                let second = (first + random.u32(1..window)) % window;
                if let Some(mut heap) = flip(&image, &model, &[start + first, start + second], &mut all)
                    && random.u8(..4) == 0
                {
                    use_it(&mut heap, &model, &mut random);
                }
            }
        }
        println!("two bits, {apart:?}: {all:?}, of a thousand that differ {:.1} read wrong", all.wrong_of_thousand());
        assert!(all.wrong_of_thousand() < 100.0 && all.noticed > 0 && all.refused > 0, "{apart:?}: {all:?}");
    }
}

#[test]
fn flipped_bits_are_errors_or_results() {
    flip_undetected(2003, 0..6);
    flip_pairs(50, 6..12);
}

#[test]
#[ignore = "every bit of three images: minutes"]
fn every_flipped_bit_is_an_error_or_a_result() {
    // Granules of 4 and 8 bytes; every seventh bit of those of 16 and 32, which are larger images.
    flip_undetected(1, 24..27);
    flip_undetected(7, 27..30);
}

#[test]
#[ignore = "18,000 pairs of bits: minutes"]
fn many_pairs_of_flipped_bits_are_errors_or_results() {
    flip_pairs(1000, 30..36);
}
