//! What a program does with a heap that may be damaged, by the trait of the heaps.

use norn_heap::{AccessError, Elements, Info, Kind, Layout, ObjectHeap, Ref};

use crate::heap_image::Choices;
use crate::within::expect_within;

/// Reads everything, changes some of it, in a transaction or without one, and creates and deletes.
pub(crate) fn use_it<H: ObjectHeap>(heap: &mut H, choices: &mut Choices<'_>) {
    let in_transaction = choices.byte().is_multiple_of(2) && heap.begin().is_ok();
    let references = references(heap);
    for &reference in &references {
        let info = heap.info(reference);
        expect_within(&info);
        if let Ok(info) = info {
            use_object(heap, reference, &info, choices);
        }
    }
    expect_within(&heap.visit_roots(|_, _| {}));
    for &reference in &references {
        if choices.byte() % 4 != 1 {
            continue;
        }
        expect_within(&heap.set_root(&[choices.byte() % 8], Some(reference)));
        expect_within(&heap.delete(reference));
    }
    expect_within(&heap.create(Layout::uniform(4, 4)));
    expect_within(&heap.create_array(9, 2, &[1; 3]));
    if in_transaction {
        let ended = if choices.byte().is_multiple_of(2) { heap.commit() } else { heap.abort() };
        expect_within(&ended);
    }
}

/// References of what is there, as far as a damaged heap lists it.
fn references<H: ObjectHeap>(heap: &mut H) -> Vec<Ref> {
    let (mut references, mut after) = (Vec::new(), None);
    loop {
        let next = heap.next_object(after);
        expect_within(&next);
        let Ok(Some(reference)) = next else { return references };
        assert!(after.is_none_or(|after: Ref| reference.slot() > after.slot()), "an enumeration goes round");
        references.push(reference);
        after = Some(reference);
    }
}

fn use_object<H: ObjectHeap>(heap: &mut H, reference: Ref, info: &Info, choices: &mut Choices<'_>) {
    expect_within(&heap.read_header(reference, &mut [0; 300]));
    expect_within(&heap.write_header(reference, &[3; 40][..usize::from(choices.byte() % 40)]));
    for index in 0..info.count.min(300) {
        let width = heap.width(reference, index);
        expect_within(&width);
        let Ok(width) = width else { continue };
        let mut value = vec![0; width];
        let read = match info.kind {
            Kind::Object => heap.get_field(reference, index, &mut value),
            Kind::Array => heap.array_load(reference, index, &mut value),
        };
        expect_within(&read);
        if choices.byte() % 4 == 1 {
            value.fill(choices.byte());
            expect_within(&match info.kind {
                Kind::Object => heap.put_field(reference, index, &value),
                Kind::Array => heap.array_store(reference, index, &value),
            });
        }
    }
    if info.kind == Kind::Array && info.count > 0 {
        expect_within(&use_range(heap, reference, info, choices));
    }
}

/// Reads, fills, copies and compares ranges of an array.
fn use_range<H: ObjectHeap>(
    heap: &mut H,
    array: Ref,
    info: &Info,
    choices: &mut Choices<'_>,
) -> Result<(), AccessError<H::DeviceError>> {
    let first = choices.below(info.count as u32) as usize;
    let range = Elements { array, first, count: usize::from(choices.byte()).min(info.count - first) };
    let width = info.data_bytes as usize / info.count;
    heap.array_read(array, first, &mut vec![0; width.min(255) * range.count])?;
    heap.array_fill_non_atomic(range, &vec![choices.byte(); width.min(255)])?;
    heap.array_copy(range, (array, first / 2))?;
    heap.array_compare(range, (array, 0)).map(|_| ())
}
