//! Damaged images of heaps on EEPROM, and what a program does with them.

use std::sync::LazyLock;

use norn_baselines::EepromHeap;
use norn_flash::{Address, Collected};
use norn_flash_sim::{EepromSim, catalogue};
use norn_heap::Layout;

use crate::heap_calls::use_it;
use crate::heap_image::Choices;
use crate::within::expect_within;

const SIZE_BYTES: u32 = 2048;
const LOG_BYTES: u32 = 256;

/// Heaps of words of 1, 2 and 4 bytes, each without a transaction and in one.
static IMAGES: LazyLock<Vec<EepromSim>> = LazyLock::new(|| {
    let mut images = Vec::new();
    for word_bytes in [1, 2, 4] {
        let part = catalogue::eeprom_test_part(SIZE_BYTES, word_bytes);
        let mut heap = EepromHeap::format(EepromSim::new(part), LOG_BYTES).expect("suitable");
        for count in 1..8 {
            let object = heap.create(Layout::uniform(count, 2).with_header(&[1; 7][..count % 7])).expect("room");
            heap.set_root(&[b'a' + count as u8 % 3], Some(object)).expect("room");
            let short_lived = heap.create(Layout::uniform(count, 3)).expect("room");
            heap.delete(short_lived).expect("it is there");
        }
        let array = heap.create_array(30, 2, &[3; 5]).expect("room");
        heap.array_store(array, 7, &[7; 2]).expect("it is there");
        images.push(heap.device().clone());
        heap.begin().expect("none is open");
        heap.array_store(array, 8, &[8; 2]).expect("room");
        heap.delete(array).expect("it is there");
        images.push(heap.into_device());
    }
    images
});

fn damage(device: &mut EepromSim, choices: &mut Choices<'_>) {
    let at = choices.below(SIZE_BYTES);
    if choices.byte().is_multiple_of(4) {
        let from = choices.below(SIZE_BYTES);
        let len = choices.below(32).min(SIZE_BYTES - at).min(SIZE_BYTES - from);
        let bytes = device.peek(Address(from), len as usize);
        device.poke(Address(at), &bytes);
    } else {
        device.poke(Address(at), &[choices.byte()]);
    }
}

/// Damages an image as `bytes` say, and uses it if it mounts.
///
/// # Panics
/// If the heap panics, loops, or reaches outside the part.
pub fn try_damaged(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let mut device = IMAGES[usize::from(choices.byte()) % IMAGES.len()].clone();
    for _ in 0..choices.byte() % 8 {
        damage(&mut device, &mut choices);
    }
    let mounted = EepromHeap::mount(device);
    expect_within(&mounted);
    let Ok(mut heap) = mounted else { return };
    expect_within(&heap.audit(&mut Collected::<()>::default()));
    use_it(&mut heap, &mut choices);
}
