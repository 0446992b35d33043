//! A heap whose unit table is in memory that its caller lends, of a length that is known at run time, does on flash
//! what a heap does that holds it itself, operation by operation. Too little memory is refused before anything is
//! programmed.

use norn_conformance::seeds;
use norn_flash::{Address, Nor, NorPart};
use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{Config, Heap, HeapIn, Layout, MountError, Ref, UnitRow, UnitRows};

/// Erase units and bytes of each.
const GEOMETRIES: [(u16, u32); 4] = [(8, 512), (12, 2048), (56, 8192), (200, 1024)];

fn device((units, unit_bytes): (u16, u32)) -> NorSim {
    NorSim::new(catalogue::test_part(units, unit_bytes))
}

fn rows_for(part: &NorPart) -> Vec<UnitRow> {
    vec![UnitRow::UNUSED; UnitRow::count_for(part)]
}

/// Creates, changes and deletes objects until units were reclaimed many times; returns what lives.
fn work<M: UnitRows>(heap: &mut HeapIn<NorSim, M>, mut random: fastrand::Rng) -> Vec<Ref> {
    let mut objects = Vec::new();
    let unit_count = u64::from(heap.device().part().unit_count);
    while heap.device().counters().erases < 4 * unit_count {
        match random.u8(..10) {
            0 if objects.len() < 5 => objects.push(heap.create(Layout::uniform(10, 4)).unwrap()),
            1 if objects.len() > 2 => heap.delete(objects.swap_remove(random.usize(..objects.len()))).unwrap(),
            2 => {
                heap.begin().unwrap();
                objects.iter().for_each(|&object| heap.put_field(object, 1, &random.u32(..).to_le_bytes()).unwrap());
                if random.bool() { heap.commit().unwrap() } else { heap.abort().unwrap() }
            }
            _ if objects.is_empty() => {}
            _ => {
                let object = objects[random.usize(..objects.len())];
                heap.put_field(object, random.usize(..10), &random.u32(..).to_le_bytes()).unwrap();
            }
        }
    }
    objects
}

fn cells(device: &NorSim) -> Vec<u8> {
    let part = device.part();
    device.peek(Address(0), part.unit_count as usize * part.unit_size_bytes as usize)
}

#[test]
fn lent_memory_changes_nothing_on_flash() {
    for run in seeds(0..3, "-p norn-object-heap --test suite lent_memory::") {
        for geometry in GEOMETRIES {
            let mut own: Heap<_, 256> = Heap::format(device(geometry), Config::default()).unwrap();
            let mut rows = rows_for(&device(geometry).part());
            let mut lent = HeapIn::format_in(device(geometry), &mut rows[..], Config::default()).unwrap();
            let objects = work(&mut own, run.random());
            assert_eq!(work(&mut lent, run.random()), objects, "{geometry:?}, replay: {}", run.replay());
            let (own, lent) = (own.into_device(), lent.into_device());
            assert_eq!(lent.counters(), own.counters(), "{geometry:?}, replay: {}", run.replay());
            assert!(cells(&lent) == cells(&own), "{geometry:?}, replay: {}", run.replay());

            // The rows still hold the heap of before: a mount overwrites them.
            rows.extend([UnitRow::UNUSED; 3]);
            let mut lent = HeapIn::mount_in(lent, rows).unwrap();
            let mut own: Heap<_, 256> = Heap::mount(own).unwrap();
            for &object in &objects {
                let (mut expected, mut found) = ([0; 4], [0; 4]);
                for field in 0..10 {
                    own.get_field(object, field, &mut expected).unwrap();
                    lent.get_field(object, field, &mut found).unwrap();
                    assert_eq!(found, expected, "{geometry:?}, {object:?}, replay: {}", run.replay());
                }
            }
            assert_eq!(lent.device().counters(), own.device().counters(), "{geometry:?}, replay: {}", run.replay());
        }
    }
}

#[test]
fn too_few_rows_are_refused_with_both_numbers() {
    for geometry in GEOMETRIES {
        let mut part = device(geometry);
        let mut rows = rows_for(&part.part());
        rows.pop();
        let (needed, given) = (u32::from(geometry.0), u32::from(geometry.0) - 1);
        let refusal = || Err(MountError::TooSmall { what: "rows of the unit table", needed, given });
        for few in [&mut rows[..], &mut []] {
            let given = few.len();
            let Err(error) = HeapIn::format_in(&mut part, &mut *few, Config::default()) else {
                panic!("{given} rows for {needed} units");
            };
            assert_eq!(error.to_string(), format!("{needed} rows of the unit table needed, {given} given"));
        }
        assert_eq!(HeapIn::mount_in(&mut part, &mut rows[..]).map(|_| ()), refusal());
        assert_eq!(part.operations(), 0, "a part that does not fit the memory was used");

        // A program with too little memory for the heap on the part does not change it.
        let heap = HeapIn::format_in(part, rows_for(&device(geometry).part()), Config::default()).unwrap();
        let mut part = heap.into_device();
        let (before, operations) = (cells(&part), part.operations());
        assert_eq!(HeapIn::mount_in(&mut part, rows).map(|_| ()), refusal());
        assert!(cells(&part) == before && part.operations() == operations);
    }
}
