//! Damage anywhere on the part gives an error or a result: no panic, no call without end, and nothing that the device
//! is asked for outside of the part.
//!
//! What is damaged may be lost: without error detection nothing notices a value that changed.

use crate::model;

use model::{Harsh, Model, TestHeap, change, draw, format, parts, perform, refuse};
use norn_conformance::seeds;
use norn_flash::{Address, Collected, MountError, Nor};
use norn_log_heap::{Elements, Kind, Layout, LogHeapIn, Ref, UnitRow, Violation};

const REPLAY: &str = "-p norn-log-heap --test suite damaged_images::";

/// Reads and changes what a damaged heap says that it holds; errors are as good as results.
fn use_it(heap: &mut TestHeap, random: &mut fastrand::Rng) {
    let _ = heap.audit(&mut Collected::default());
    let (mut references, mut after): (Vec<Ref>, Option<Ref>) = (Vec::new(), None);
    while let Ok(Some(reference)) = heap.next_object(after) {
        references.push(reference);
        after = Some(reference);
    }
    for _ in 0..60 {
        let Some(&reference) = random.choice(&references) else { break };
        let Ok(info) = heap.info(reference) else { continue };
        let index = random.usize(..info.count);
        if info.kind == Kind::Array {
            let mut bytes = vec![0; (info.data_bytes as usize / info.count).min(700)];
            let _ = heap.array_load(reference, index, &mut bytes);
            let _ = heap.array_store(reference, index, &bytes);
            let some = Elements { array: reference, first: index, count: random.usize(..9) };
            let _ = heap.array_fill_non_atomic(some, &bytes);
            let _ = heap.array_copy(some, (reference, random.usize(..info.count)));
            let _ = heap.array_compare(some, (reference, 0));
            let _ = heap.array_read(reference, 0, &mut vec![0; bytes.len() * info.count.min(300)]);
            continue;
        }
        let Ok(width) = heap.field_width(reference, index) else { continue };
        let _ = heap.get_field(reference, index, &mut vec![0; width]);
        let _ = heap.put_field(reference, index, &vec![7; width]);
        let _ = heap.write_header(reference, &vec![3; random.usize(..40)]);
        let _ = heap.set_root(&[random.u8(..), 1], Some(reference));
        let _ = heap.visit_roots(|_, _| {});
        let _ = heap.create(Layout::uniform(3, 2));
    }
    references.iter().take(5).for_each(|&reference| drop(heap.delete(reference)));
}

/// A program formats what is not formatted: a heap whose only log is damaged must not pass for that.
#[test]
fn a_heap_whose_log_is_damaged_is_not_called_unformatted() {
    let mut refused = 0;
    for spec in parts(16) {
        let mut heap = format(spec);
        let object = heap.create(Layout::uniform(3, 2)).unwrap();
        heap.set_root(b"serial", Some(object)).unwrap();
        heap.rest().unwrap();
        let device = heap.into_device();
        let part = device.0.part();
        for address in (0..part.size_bytes()).map(Address).filter(|&at| device.0.peek(at, 1) != [0xFF]) {
            for bit in 0..8 {
                let mut damaged = device.clone();
                let byte = damaged.0.peek(address, 1)[0];
                damaged.0.poke(address, &[byte ^ 1 << bit]);
                let mounted = LogHeapIn::mount_in(damaged, vec![UnitRow::UNUSED; 16]).map(|_| ());
                refused += u32::from(mounted.is_err());
                assert_ne!(mounted, Err(MountError::NotFormatted), "bit {bit} at {address:?}");
            }
        }
    }
    assert!(refused > 100, "{refused} were refused");
}

#[test]
fn damage_is_an_error_or_a_result() {
    let mut mounted = 0;
    for run in seeds(0..30, REPLAY) {
        let mut random = run.random();
        let parts = parts(16);
        let spec = parts[run.seed as usize % parts.len()].clone();
        let (mut heap, mut model) = (format(spec), Model::default());
        for _ in 0..400 {
            let call = draw(&model, 12, &mut random);
            match perform(&mut heap, &call) {
                Ok(created) => change(&mut model, &call, created),
                Err(_) => refuse(&mut heap, &mut model, &call),
            }
        }
        let image = heap.into_device().0;
        let size = image.spec().part.size_bytes();
        for _ in 0..60 {
            let mut device = image.clone();
            for _ in 0..random.usize(1..40) {
                let address = Address(random.u32(..size));
                let damaged = device.peek(address, 1)[0] ^ 1 << random.u8(..8);
                device.poke(address, &[[damaged, 0x00, 0xFF, random.u8(..)][random.usize(..4)]]);
            }
            let rows = vec![UnitRow::UNUSED; usize::from(device.spec().part.unit_count)];
            match LogHeapIn::mount_in(Harsh(device), rows) {
                Ok(mut heap) => {
                    mounted += 1;
                    use_it(&mut heap, &mut random);
                }
                Err(MountError::Corrupted(Violation { address, .. })) => assert!(address.0 < size),
                Err(error) => assert!(!matches!(error, MountError::Device(_)), "{error}"),
            }
        }
    }
    assert!(mounted > 500, "{mounted} of 1800 damaged images were mounted");
}
