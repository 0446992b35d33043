//! Which unit is opened, where many are free: what that costs does not grow with the part, and wear stays level.

use std::collections::VecDeque;

use norn_flash::{Address, EraseUnit, Nor, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_log_heap::format::{Geometry, Stream, UNIT_HEAD_BYTES};
use norn_log_heap::inspection::decode_unit_head;
use norn_log_heap::{Layout, LogHeapIn, Ref, UnitRow};

type Heap = LogHeapIn<NorSim, Vec<UnitRow>>;

/// Bytes of an erase unit.
const UNIT_BYTES: u32 = 2048;

fn heap_of(units: u16) -> Heap {
    let part = NorSim::new(catalogue::limited_test_part(units, UNIT_BYTES, 4, Reprogramming::Once));
    Heap::format_in(part, vec![UnitRow::UNUSED; units.into()]).unwrap()
}

fn create_filled(heap: &mut Heap) -> Ref {
    let object = heap.create(Layout::uniform(50, 4)).unwrap();
    heap.put_fields(object, 0, &[0x5A; 200]).unwrap();
    object
}

/// Words that are read while a quarter of a part's units is filled.
fn words_read_filling(units: u16) -> u64 {
    let mut heap = heap_of(units);
    let before = heap.device().counters();
    for _ in 0..u32::from(units) / 4 * UNIT_BYTES / 500 {
        create_filled(&mut heap);
    }
    (heap.device().counters() - before).reads()
}

#[test]
fn filling_a_part_four_times_as_large_reads_four_times_as_many_words() {
    let (small, large) = (words_read_filling(250), words_read_filling(1000));
    println!("words read: {small} on 250 units, {large} on 1000");
    assert!(large < 5 * small, "{small} words read on 250 units, {large} on 1000");
}

/// How often the units were erased, fewest first, after objects went in and out, the oldest first, until it was so
/// often on average.
fn erases_of(heap: &mut Heap, live: usize, mean: u64) -> Vec<u32> {
    let mut objects: VecDeque<Ref> = VecDeque::new();
    let most = mean * heap.device().erase_counts().len() as u64;
    while heap.device().counters().erases < most {
        objects.push_back(create_filled(heap));
        if objects.len() > live {
            let oldest = objects.pop_front().unwrap();
            heap.delete(oldest).unwrap();
        }
    }
    let mut erases: Vec<u32> = heap.device().erase_counts().collect();
    erases.sort_unstable();
    erases
}

/// That all but a tenth of the units, which may hold what does not change, are within three erases of the most worn.
fn expect_level(erases: &[u32]) {
    let (low, most) = (erases[erases.len() / 10], erases[erases.len() - 1]);
    assert!(most - low <= 3, "erases of units: {erases:?}");
}

#[test]
fn wear_is_level_where_most_units_are_free() {
    expect_level(&erases_of(&mut heap_of(128), 40, 25));
}

/// Units that held what did not change for long are behind when they become free, and are opened before the others.
#[test]
fn units_that_become_free_late_catch_up() {
    let mut heap = heap_of(128);
    let unchanged: Vec<Ref> = (0..300).map(|_| create_filled(&mut heap)).collect();
    let apart = erases_of(&mut heap, 40, 8);
    assert!(apart[127] - apart[25] > 6, "too few units were behind: {apart:?}");
    for object in unchanged {
        heap.delete(object).unwrap();
    }
    expect_level(&erases_of(&mut heap, 40, 16));
}

/// A cut may leave no record of how often a unit was erased. It is taken to be as worn as the others on average.
#[test]
fn a_unit_whose_head_is_lost_counts_as_the_mean() {
    let mut heap = heap_of(64);
    erases_of(&mut heap, 20, 12);
    let mut part = heap.into_device();
    let geometry = Geometry::of(&part.part()).unwrap();
    let head = |part: &NorSim, unit: u16| {
        let bytes = part.peek(Address(u32::from(unit) * UNIT_BYTES), UNIT_HEAD_BYTES as usize);
        decode_unit_head(&bytes.try_into().unwrap(), &geometry)
    };
    heap = Heap::mount_in(part.clone(), vec![UnitRow::UNUSED; 64]).unwrap();
    let is_free = |&unit: &u16| {
        heap.live_bytes_in(EraseUnit(unit)) == 0 && head(&part, unit).is_some_and(|head| head.stream != Stream::Log)
    };
    let unit = (0..64).rev().find(is_free).expect("a free unit");
    part.erase(EraseUnit(unit)).unwrap();

    heap = Heap::mount_in(part, vec![UnitRow::UNUSED; 64]).unwrap();
    let opened = loop {
        let object = create_filled(&mut heap);
        heap.delete(object).unwrap();
        if let Some(head) = head(heap.device(), unit) {
            break head;
        }
    };
    assert!((11..=14).contains(&opened.erases), "{} erases, 12 on average", opened.erases);
}
