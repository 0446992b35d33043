//! Pointers into a mapped part show what copies do; parts that are not mapped say so.

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{AccessError, Config, ErrorDetection, Heap, InitializationFlags, Layout, Ref};

const UNIT_BYTES: usize = 1024;

/// A mapped part in RAM.
struct Mapped(Vec<u8>);

impl Nor for Mapped {
    type Error = String;

    fn part(&self) -> NorPart {
        NorPart {
            unit_count: (self.0.len() / UNIT_BYTES) as u16,
            unit_size_bytes: UNIT_BYTES as u32,
            program_unit_bytes: 1,
            reprogramming: Reprogramming::Unlimited,
            mapped: true,
            endurance_erases: None,
        }
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), String> {
        buffer.copy_from_slice(&self.0[address.0 as usize..address.0 as usize + buffer.len()]);
        Ok(())
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), String> {
        let cells = &mut self.0[address.0 as usize..address.0 as usize + bytes.len()];
        for (cell, byte) in cells.iter_mut().zip(bytes) {
            if *cell & byte != *byte {
                return Err(format!("bits set at {address}"));
            }
            *cell = *byte;
        }
        Ok(())
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), String> {
        let start = usize::from(unit.0) * UNIT_BYTES;
        self.0[start..start + UNIT_BYTES].fill(0xFF);
        Ok(())
    }

    fn mapped(&self) -> Option<&[u8]> {
        Some(&self.0)
    }
}

type MappedHeap = Heap<Mapped, 32>;

fn compare_array(heap: &mut MappedHeap, array: Ref, count: usize, width: usize) {
    let mut whole = vec![0; count * width];
    heap.array_read(array, 0, &mut whole).unwrap();
    let (mut index, mut runs) = (0, 0);
    while index < count {
        let bytes = heap.array_bytes(array, index).unwrap();
        assert!(!bytes.is_empty() && bytes.len().is_multiple_of(width));
        assert_eq!(bytes, &whole[index * width..index * width + bytes.len()], "from element {index}");
        (index, runs) = (index + bytes.len() / width, runs + 1);
    }
    assert!(runs <= count);
}

#[test]
fn pointers_show_the_current_values_through_updates_and_reclamations() {
    let (on, off) = (InitializationFlags::On, InitializationFlags::Off);
    for (seed, flags, error_detection) in
        [(1, on, ErrorDetection::Off), (2, off, ErrorDetection::Off), (3, on, ErrorDetection::On)]
    {
        let config = Config {
            array_threshold: 20,
            list_length_max: 3,
            initialization_flags: flags,
            error_detection,
            ..Config::default()
        };
        let mut heap = MappedHeap::format(Mapped(vec![0; 24 * UNIT_BYTES]), config).unwrap();
        let mut random = fastrand::Rng::with_seed(seed);
        let widths = [4, 2, 1, 8];
        let object = heap.create(Layout::fields(&widths)).unwrap();
        let array = heap.create_array(90, 3, &[]).unwrap();
        for _ in 0..3000 {
            let field = random.usize(..4);
            let value: Vec<u8> = (0..widths[field]).map(|_| random.u8(..)).collect();
            heap.put_field(object, field, &value).unwrap();
            assert_eq!(heap.field_bytes(object, field).unwrap(), value);
            let index = random.usize(..90);
            heap.array_store(array, index, &value.repeat(3)[..3]).unwrap();
            assert_eq!(heap.array_bytes(array, index).unwrap()[..3], value.repeat(3)[..3]);
            if random.u8(..) < 10 {
                compare_array(&mut heap, array, 90, 3);
            }
        }
    }
}

#[test]
fn a_fresh_array_is_one_run_and_a_section_at_most() {
    let mut heap = MappedHeap::format(Mapped(vec![0; 24 * UNIT_BYTES]), Config::default()).unwrap();
    let array = heap.create_array(600, 2, &[]).unwrap();
    assert_eq!(heap.array_bytes(array, 0).unwrap(), [0; 254], "defaults, as many as there are zeros to show");
    let to = norn_object_heap::Elements { array, first: 0, count: 600 };
    heap.array_fill_non_atomic(to, &[1, 2]).unwrap();
    let run = heap.array_bytes(array, 10).unwrap().len() / 2;
    assert!(run > 150, "{run} elements in a row of a section");
}

#[test]
fn wrong_pointers() {
    let mut heap = MappedHeap::format(Mapped(vec![0; 24 * UNIT_BYTES]), Config::default()).unwrap();
    let object = heap.create(Layout::uniform(2, 4)).unwrap();
    let beyond = AccessError::OutOfRange { count: 2 };
    assert_eq!(heap.field_bytes(object, 2), Err(beyond));
    assert_eq!(heap.array_bytes(object, 0), Err(AccessError::WrongKind(object)));
    heap.delete(object).unwrap();
    assert_eq!(heap.field_bytes(object, 0), Err(AccessError::Stale(object)));

    let mut heap: Heap<_, 64> = Heap::format(NorSim::new(catalogue::tinystore()), Config::default()).unwrap();
    let object = heap.create(Layout::uniform(2, 4)).unwrap();
    assert_eq!(heap.field_bytes(object, 0), Err(AccessError::NotMapped));
}
