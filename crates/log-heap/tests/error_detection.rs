//! With error detection a flipped bit is an error that names its place, or changes nothing: never a wrong value. And
//! nothing that a cut leaves behind is taken for a flipped bit.

use crate::model;

use std::collections::BTreeSet;

use model::cuts::{Draw, cut_calls_of};
use model::{
    Call, Harsh, Model, TestHeap, change, draw, draw_in_transaction, draw_put, format_detecting, mount, parts,
    parts_of_large_units, perform, refuse,
};
use norn_conformance::{Sweep, seeds};
use norn_flash::{Address, EraseUnit, MountError};
use norn_flash_sim::NorSim;
use norn_log_heap::format::{DIRECTORY, Geometry, SectorKind, Stream};
use norn_log_heap::{AccessError, ErrorDetection, Layout, LogHeapIn, Ref, StoreError, UnitRow, inspection};

const REPLAY: &str = "-p norn-log-heap --test suite error_detection::";

/// What became of images with a flipped bit.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    refused: u32,
    noticed: u32,
    harmless: u32,
}

fn is_noticed<T>(heap: &TestHeap, result: Result<T, AccessError<norn_flash_sim::SimError>>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(AccessError::Store(StoreError::Corrupted)) => {
            let place = heap.corruption().expect("a place").address;
            assert!(place.0 < heap.device().0.spec().part.size_bytes());
            None
        }
        Err(error) => panic!("an error that names no place: {error}"),
    }
}

/// Reads everything. Returns whether all of it was right; else the rest of it was noticed.
fn reads_right(heap: &mut TestHeap, model: &Model) -> bool {
    objects_read_right(heap, model) & lists_right(heap, model)
}

/// The same of the objects alone.
fn objects_read_right(heap: &mut TestHeap, model: &Model) -> bool {
    let mut is_right = true;
    for (&reference, object) in &model.objects {
        for (index, field) in object.fields.iter().enumerate() {
            let mut value = vec![0; field.len()];
            let read = match object.is_array {
                true => heap.array_load(reference, index, &mut value),
                false => heap.get_field(reference, index, &mut value),
            };
            match is_noticed(heap, read) {
                Some(()) => assert_eq!(value, *field, "field {index} of {reference}"),
                None => is_right = false,
            }
        }
        let mut header = [0; 255];
        let read = heap.read_header(reference, &mut header);
        match is_noticed(heap, read) {
            Some(length) => assert_eq!(&header[..length], object.header, "the header of {reference}"),
            None => is_right = false,
        }
    }
    is_right
}

/// The same of the list of objects and the roots.
fn lists_right(heap: &mut TestHeap, model: &Model) -> bool {
    let (mut found, mut after) = (BTreeSet::new(), None);
    loop {
        let next = heap.next_object(after);
        match is_noticed(heap, next) {
            Some(Some(reference)) => {
                found.insert(reference);
                after = Some(reference);
            }
            Some(None) => break,
            None => return false,
        }
    }
    assert!(found.iter().eq(model.objects.keys()), "other objects");
    for (name, &reference) in &model.roots {
        let root = heap.root(name);
        match is_noticed(heap, root) {
            Some(root) => assert_eq!(root, Some(reference)),
            None => return false,
        }
    }
    true
}

/// Sets fields and empties units, so that what is damaged is moved. What is refused changes nothing.
fn work(heap: &mut TestHeap, model: &mut Model, random: &mut fastrand::Rng) {
    for _ in 0..40 {
        let (reference, index) = {
            let references: Vec<&Ref> =
                model.objects.iter().filter(|(_, object)| !object.is_array).map(|o| o.0).collect();
            let Some(&&reference) = random.choice(&references) else { return };
            (reference, random.usize(..model.objects[&reference].fields.len()))
        };
        let field = &mut model.objects.get_mut(&reference).unwrap().fields[index];
        let value: Vec<u8> = field.iter().map(|_| random.u8(..)).collect();
        let put = heap.put_field(reference, index, &value);
        if is_noticed(heap, put).is_some() {
            *field = value;
        }
        let _ = heap.reclaim_step(1);
    }
}

/// A heap after so many random calls, which rests, and what it holds.
fn worked(spec: norn_flash_sim::PartSpec, calls: u64, draw: Draw, random: &mut fastrand::Rng) -> (NorSim, Model) {
    let (mut heap, mut model) = (format_detecting(spec), Model::default());
    for _ in 0..calls {
        let call = draw(&model, 10, random);
        match perform(&mut heap, &call) {
            Ok(created) => change(&mut model, &call, created),
            Err(_) => refuse(&mut heap, &mut model, &call),
        }
    }
    if model.before.is_some() {
        heap.commit().unwrap();
        model.before = None;
    }
    heap.rest().unwrap();
    (heap.into_device().0, model)
}

/// Flips a bit, and reads everything.
fn flip(image: &NorSim, model: &Model, bit: u32, tally: &mut Tally) -> Option<TestHeap> {
    let mut device = image.clone();
    let address = Address(bit / 8);
    let flipped = device.peek(address, 1)[0] ^ 1 << (bit % 8);
    device.poke(address, &[flipped]);
    let rows = vec![UnitRow::UNUSED; usize::from(device.spec().part.unit_count)];
    let mut heap = match LogHeapIn::mount_in(Harsh(device), rows) {
        Ok(heap) => heap,
        Err(MountError::Corrupted(_)) => {
            tally.refused += 1;
            return None;
        }
        Err(error) => panic!("bit {bit}: {error}"),
    };
    match reads_right(&mut heap, model) {
        true => tally.harmless += 1,
        false => tally.noticed += 1,
    }
    Some(heap)
}

/// Flips every `stride`th bit of images; then heaps go on, and are mounted again.
fn flip_bits(stride: u32, draw: Draw, runs: std::ops::Range<u64>) {
    let mut all = Tally::default();
    for run in seeds(runs, REPLAY) {
        let mut random = run.random();
        let parts = parts(12);
        let spec = parts[run.seed as usize % parts.len()].clone();
        let (image, model) = worked(spec, 120, draw, &mut random);
        let (bits, mut tally) = (8 * image.spec().part.size_bytes(), Tally::default());
        let first = random.u32(..stride);
        for bit in (first..bits).step_by(stride as usize) {
            let Some(mut heap) = flip(&image, &model, bit, &mut tally) else { continue };
            if random.u8(..4) == 0 {
                let mut model = model.clone();
                work(&mut heap, &mut model, &mut random);
                reads_right(&mut heap, &model);
                let _ = heap.rest();
                if let Err(error) = heap.remount() {
                    assert!(matches!(error, MountError::Corrupted(_)), "bit {bit}: {error}");
                    continue;
                }
                reads_right(&mut heap, &model);
            }
        }
        println!("seed {}: {tally:?}", run.seed);
        all.noticed += tally.noticed;
        all.refused += tally.refused;
    }
    assert!(all.noticed > 20 && all.refused > 20, "{all:?}");
}

#[test]
fn no_flipped_bit_is_a_wrong_value() {
    flip_bits(701, draw, 0..6);
    flip_bits(701, draw_in_transaction, 6..12);
}

#[test]
#[ignore = "every bit of twelve images: a quarter of an hour"]
fn no_bit_of_an_image_is_a_wrong_value() {
    flip_bits(1, draw, 20..26);
    flip_bits(1, draw_in_transaction, 26..32);
}

/// Where the bits of objects are: of what the map leads to, or led to before.
fn object_bits(image: &NorSim) -> Vec<u32> {
    let part = image.spec().part;
    let geometry = Geometry::of(&part).unwrap().with_detection(ErrorDetection::On);
    let (granule, mut bits) = (geometry.granule_bytes, Vec::new());
    for unit in (0..part.unit_count).map(EraseUnit) {
        let start = geometry.start(unit);
        let head = image.peek(Address(start.0 * granule), 24).try_into().unwrap();
        let stream = inspection::decode_unit_head(&head, &geometry).map(|head| head.stream);
        if !matches!(stream, Some(Stream::Updated | Stream::Moved)) {
            continue;
        }
        let mut at = start.offset(geometry.head());
        while at.offset(8).0 < start.offset(geometry.unit_granules).0 {
            let bytes = image.peek(Address(at.0 * granule), 8).try_into().unwrap();
            let Some(header) = inspection::decode_header(&bytes, &geometry) else { break };
            let end = at.offset(header.granules(&geometry));
            if header.kind != SectorKind::Node && header.generation != DIRECTORY {
                bits.extend(at.0 * granule * 8..end.0 * granule * 8);
            }
            at = end;
        }
    }
    bits
}

/// A heap with a transaction open, and what it held before.
fn interrupted(spec: norn_flash_sim::PartSpec, random: &mut fastrand::Rng) -> (NorSim, Model) {
    let (mut heap, mut model) = (format_detecting(spec), Model::default());
    for number in 0..60 {
        let call = if number == 40 { Call::Begin } else { draw(&model, 5, random) };
        if let Ok(created) = perform(&mut heap, &call) {
            change(&mut model, &call, created);
        }
    }
    (heap.into_device().0, model.committed())
}

/// A mount that has to undo a transaction meets a damaged object, an array that may have to be taken away among them.
/// One object is lost, or nothing, and the mount says which. Once no object of the heap could be read any more.
#[test]
fn a_damaged_object_hinders_no_mount() {
    let (mut lost, mut said) = (0, 0);
    for run in seeds(60..66, REPLAY) {
        let mut random = run.random();
        let parts = parts(14);
        let (image, model) = interrupted(parts[run.seed as usize % parts.len()].clone(), &mut random);
        for bit in object_bits(&image).into_iter().skip(random.usize(..41)).step_by(41) {
            let mut device = image.clone();
            let address = Address(bit / 8);
            let flipped = device.peek(address, 1)[0] ^ 1 << (bit % 8);
            device.poke(address, &[flipped]);
            let mut heap = mount(Harsh(device), &|| format!("bit {bit}; replay: {}", run.replay()));
            said += u32::from(heap.corruption().is_some());
            let mut damaged = 0;
            for (&reference, object) in &model.objects {
                let only = Model { objects: [(reference, object.clone())].into(), ..Model::default() };
                damaged += u32::from(!objects_read_right(&mut heap, &only));
            }
            assert!(damaged <= 1, "bit {bit}: {damaged} objects; replay: {}", run.replay());
            lost += damaged;
        }
    }
    assert!(lost > 20 && said > 20, "{lost} objects lost, {said} said");
}

/// A value that takes several places finds each of them erased, or goes elsewhere: the flipped bit fails no call. The
/// heap once looked at the first place only, and the part refused the program.
#[test]
fn a_flipped_bit_where_nothing_is_yet_fails_no_call() {
    const WIDTH: usize = 30;
    for spec in parts(12) {
        let mut heap = format_detecting(spec);
        let object = heap.create(Layout::uniform(3, WIDTH as u8)).unwrap();
        (0..9).for_each(|round| heap.put_field(object, 0, &[round; WIDTH]).unwrap());
        heap.rest().unwrap();
        let image = heap.into_device().0;
        let granule = image.spec().part.program_unit_bytes.max(4);
        for at in (0..image.spec().part.size_bytes()).step_by(usize::from(granule)).map(Address) {
            if image.peek(at, granule.into()).iter().any(|&byte| byte != 0xFF) {
                continue;
            }
            let mut device = image.clone();
            device.poke(at, &[0xF7]);
            let rows = vec![UnitRow::UNUSED; usize::from(image.spec().part.unit_count)];
            // Among the places of a map node it counts as damage.
            let Ok(mut heap) = LogHeapIn::mount_in(Harsh(device), rows) else { continue };
            let mut value = [0; WIDTH];
            for round in 20..23 {
                let put = heap.put_field(object, 1, &[round; WIDTH]);
                let read = is_noticed(&heap, put).map(|()| heap.get_field(object, 1, &mut value));
                if read.and_then(|read| is_noticed(&heap, read)).is_some() {
                    assert_eq!(value, [round; WIDTH], "a bit at {at}");
                }
            }
        }
    }
}

/// What cuts leave is settled as without error detection, and never an error.
#[test]
fn what_cuts_leave_is_not_taken_for_damage() {
    for run in seeds(40..46, REPLAY) {
        let draw = [draw, draw_in_transaction, draw_put][run.seed as usize % 3];
        let parts = parts(16);
        let heap = format_detecting(parts[run.seed as usize % parts.len()].clone());
        let skipped = [0, 300][run.seed as usize / 3 % 2];
        let sweep = Sweep { stride: 5, second_period: 9, second_cuts: 2, ..Sweep::default() };
        let tally = cut_calls_of(heap, &run, skipped + 30, skipped, draw, sweep);
        println!("seed {}: {tally:?}", run.seed);
        assert!(tally.points > 0);
    }
}

/// A format says whether flipped bits are noticed, also over a heap that did otherwise.
#[test]
fn a_format_chooses() {
    for spec in parts(16).into_iter().chain(parts_of_large_units(12)) {
        let mut heap = format_detecting(spec);
        for detection in [ErrorDetection::Off, ErrorDetection::On, ErrorDetection::On, ErrorDetection::Off] {
            let object = heap.create(Layout::uniform(9, 3)).unwrap();
            heap.put_field(object, 4, b"abc").unwrap();
            let rows = vec![UnitRow::UNUSED; usize::from(heap.device().0.spec().part.unit_count)];
            heap = LogHeapIn::format_with_in(heap.into_device(), rows, detection).unwrap();
            assert_eq!(heap.next_object(None).unwrap(), None);
            heap = mount(heap.into_device(), &|| "after a format".to_owned());
            assert_eq!(heap.error_detection(), detection);
        }
    }
}
