//! Images in rooms behind one cache: each is read as it was written, whatever the others do, and a power cut leaves the
//! one that is written whole or absent, and all others as they were.

use fastrand::Rng;
use norn_code_pager::policy::{Clock, Lru};
use norn_code_pager::{CodeAddress, Counts, Crc32c, ImageError, Options, ReadError, Shelf, Uncoded};
use norn_conformance::seeds;
use norn_flash::Nand;
use norn_flash_sim::{NandSim, Tear, nand_catalogue};

const ROOMS: usize = 5;

type Coded = Shelf<NandSim, Clock<6>, ROOMS, 6, 64, Crc32c, Counts>;

fn part(bad_blocks: u16, seed: u64) -> NandSim {
    let mut part = NandSim::new(nand_catalogue::test_part(41, 4, 512));
    part.mark_random_bad(bad_blocks, seed);
    part
}

fn mount(part: NandSim) -> Coded {
    Shelf::mount(part, Options::default(), Counts::default()).unwrap()
}

/// All bytes of the image in a room; none where there is none.
fn contents(shelf: &mut Coded, room: usize) -> Option<Vec<u8>> {
    let size = shelf.size_bytes(room)?;
    let mut bytes = Vec::new();
    while (bytes.len() as u32) < size {
        let found = shelf.view(room, CodeAddress(bytes.len() as u32)).unwrap();
        assert!(!found.is_empty());
        bytes.extend_from_slice(found);
    }
    assert_eq!(bytes.len() as u32, size);
    Some(bytes)
}

fn image(random: &mut Rng) -> Vec<u8> {
    let size = random.usize(1..6_000);
    std::iter::repeat_with(|| random.u8(..)).take(size).collect()
}

#[test]
fn every_image_is_read_as_it_was_written() {
    let mut hits = 0;
    for run in seeds(0..30, "-p norn-code-pager --test suite shelf::every_image") {
        let mut random = run.random();
        let mut shelf = mount(part(random.u16(0..4), run.seed));
        let mut model: [Option<Vec<u8>>; ROOMS] = [const { None }; ROOMS];
        for _ in 0..30 {
            let room = random.usize(0..ROOMS);
            match random.u8(0..6) {
                0 => {
                    let bytes = image(&mut random);
                    // A room of eight blocks has seven of four pages for code, less the bad ones.
                    match shelf.write::<512>(room, &bytes) {
                        Ok(()) => model[room] = Some(bytes),
                        Err(ImageError::TooLarge { .. }) => model[room] = None,
                        Err(error) => panic!("{error:?}, {}", run.replay()),
                    }
                }
                1 => {
                    shelf.clear(room).unwrap();
                    model[room] = None;
                }
                2 => shelf = mount(shelf.into_parts().0),
                _ => {
                    // Single reads, so that the rooms take turns in the cache.
                    for _ in 0..40 {
                        let room = random.usize(0..ROOMS);
                        let Some(bytes) = &model[room] else { continue };
                        let at = random.usize(0..bytes.len());
                        let found = shelf.view(room, CodeAddress(at as u32)).unwrap();
                        assert_eq!(found, &bytes[at..at + found.len()], "{}", run.replay());
                    }
                }
            }
            for (room, image) in model.iter().enumerate() {
                assert_eq!(contents(&mut shelf, room), *image, "{}", run.replay());
                assert_eq!(shelf.verify(room).is_ok(), image.is_some(), "{}", run.replay());
            }
            assert_eq!(shelf.device().refusals(), 0);
        }
        hits += shelf.observer().hits;
    }
    assert!(hits > 100, "{hits} hits");
}

#[test]
fn a_power_cut_leaves_an_image_whole_or_absent() {
    let mut cuts = 0;
    for run in seeds(0..6, "-p norn-code-pager --test suite shelf::a_power_cut") {
        let mut random = run.random();
        let mut shelf = mount(part(random.u16(0..3), run.seed));
        let others: Vec<Vec<u8>> = (0..3).map(|_| image(&mut random)).collect();
        for (room, bytes) in others.iter().enumerate() {
            shelf.write::<512>(room, bytes).unwrap();
        }
        let (start, _) = shelf.into_parts();
        let written = image(&mut random);
        for operation in 0.. {
            let mut shelf = mount(start.clone());
            shelf.with_device(|part| part.cut_power_after(operation, Tear::draw(&mut random)));
            let is_written = shelf.write::<512>(3, &written).is_ok() && shelf.clear(1).is_ok();
            let (mut part, _) = shelf.into_parts();
            assert_eq!(part.refusals(), 0);
            if is_written {
                assert!(operation > 5, "{operation} operations");
                break;
            }
            cuts += 1;
            part.power_on();
            let mut found = mount(part);
            assert_eq!(contents(&mut found, 0).as_ref(), Some(&others[0]), "{}", run.replay());
            assert_eq!(contents(&mut found, 2).as_ref(), Some(&others[2]), "{}", run.replay());
            for (room, bytes) in [(1, &others[1]), (3, &written)] {
                if found.size_bytes(room).is_some() && found.verify(room).is_ok() {
                    assert_eq!(contents(&mut found, room).as_ref(), Some(bytes), "{}", run.replay());
                }
                // It goes on, whatever is left there.
                found.clear(room).unwrap();
                found.write::<512>(room, &others[0]).unwrap();
                assert_eq!(contents(&mut found, room).as_ref(), Some(&others[0]), "{}", run.replay());
            }
        }
    }
    assert!(cuts > 100, "{cuts} cuts");
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut shelf = mount(part(0, 0));
    assert_eq!((shelf.room_blocks(), shelf.size_bytes(0), shelf.size_bytes(ROOMS)), (8, None, None));
    let most = 7 * 4 * 7 * 64;
    shelf.write::<512>(0, &vec![1; most]).unwrap();
    assert!(matches!(shelf.write::<512>(1, &vec![1; most + 1]), Err(ImageError::TooLarge { .. })));
    assert!(matches!(shelf.write::<256>(1, &[1]), Err(ImageError::TooSmall { .. })));
    assert!(matches!(shelf.view(1, CodeAddress(0)), Err(ReadError::OutOfImage { .. })));
    assert!(matches!(shelf.view(ROOMS, CodeAddress(0)), Err(ReadError::OutOfImage { .. })));
    assert!(matches!(shelf.view(0, CodeAddress(most as u32)), Err(ReadError::OutOfImage { .. })));
    let few = NandSim::new(nand_catalogue::test_part(10, 4, 512));
    let refused = Shelf::<_, Lru<4>, ROOMS, 4, 64, Uncoded>::mount(few, Options::default(), ());
    assert!(matches!(refused, Err(ImageError::TooSmall { needed: 11, given: 10, .. })));
    // Images of other cache pages are no images of this shelf.
    let (device, _) = shelf.into_parts();
    assert_eq!(device.part().block_count, 41);
    let other: Shelf<_, Lru<4>, ROOMS, 4, 32, Crc32c> = Shelf::mount(device, Options::default(), ()).unwrap();
    assert_eq!(other.size_bytes(0), None);
}
