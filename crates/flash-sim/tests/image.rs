//! An image file holds what the part holds, outlives it, and is refused with a reason when it is not whole.

use std::{fs, thread};

use norn_flash::{Address, EraseUnit, Nor};
use norn_flash_sim::{ImageBytes, ImageError, NorSim, SimError, Tear, catalogue};

#[test]
fn a_part_goes_on_where_it_stopped() {
    let dir = tempfile::tempdir().unwrap();
    for spec in [catalogue::test_part(4, 512), catalogue::nrf52840()] {
        let path = dir.path().join(&spec.name);
        let mut sim = NorSim::create_image(&path, spec.clone()).unwrap();
        sim.program(Address(0), &[1, 2, 3, 4]).unwrap();
        sim.program(Address(0), &[0, 2, 3, 4]).unwrap();
        sim.erase(EraseUnit(1)).unwrap();
        sim.program(Address(spec.part.unit_size_bytes * 2), &[0; 64]).unwrap();
        sim.cut_power_after(0, Tear::Unstable(3));
        sim.erase(EraseUnit(2)).unwrap_err();
        let size = spec.part.size_bytes() as usize;
        let before = (sim.peek(Address(0), size), sim.counters(), sim.elapsed_ns(), sim.operations());
        let erases: Vec<u32> = sim.erase_counts().collect();
        drop(sim);

        let mut sim = NorSim::open_image(&path).unwrap();
        assert_eq!((sim.peek(Address(0), size), sim.counters(), sim.elapsed_ns(), sim.operations()), before);
        assert_eq!((sim.spec(), sim.erase_counts().collect::<Vec<_>>()), (&spec, erases));
        let torn = sim.program(Address(spec.part.unit_size_bytes * 2), &[1; 4]);
        assert!(matches!(torn, Err(SimError::TornErase { .. })));
        let third = sim.program(Address(0), &[0, 0, 3, 4]);
        assert_eq!(third.is_err(), spec.name == "nrf52840", "budgets outlive the process");
        sim.erase(EraseUnit(2)).unwrap();
        drop(sim);
        let sim = NorSim::open_image(&path).unwrap();
        assert_eq!(sim.peek(Address(spec.part.unit_size_bytes * 2), 64), [0xFF; 64]);
    }
}

/// A command that opened a file to change it, and refused what is in it, changed its counters once.
#[test]
fn what_only_reads_leaves_the_file_as_it_is_and_counts_with_a_change() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.img");
    drop(NorSim::create_image(&path, catalogue::test_part(4, 512)).unwrap());
    let before = fs::read(&path).unwrap();
    let mut sim = NorSim::open_image(&path).unwrap();
    sim.read(Address(0), &mut [0; 64]).unwrap();
    drop(sim);
    assert!(fs::read(&path).unwrap() == before, "reads are written to the file");
    let mut sim = NorSim::open_image(&path).unwrap();
    sim.read(Address(0), &mut [0; 64]).unwrap();
    sim.program(Address(0), &[1]).unwrap();
    sim.read(Address(0), &mut [0; 64]).unwrap();
    let counters = sim.counters();
    drop(sim);
    assert_eq!(NorSim::open_image(&path).unwrap().counters(), counters);
}

/// Whoever looks at the path while an image is made there sees no file, or all of it; so does one who looks after a
/// process was killed.
#[test]
fn an_image_appears_when_it_is_complete() {
    let dir = tempfile::tempdir().unwrap();
    let spec = catalogue::nrf52840();
    drop(NorSim::create_image(&dir.path().join("other"), spec.clone()).unwrap());
    let whole = fs::read(dir.path().join("other")).unwrap();
    for number in 0..20 {
        let path = dir.path().join(format!("part{number}"));
        let maker = {
            let (path, spec) = (path.clone(), spec.clone());
            thread::spawn(move || drop(NorSim::create_image(&path, spec).unwrap()))
        };
        let found = loop {
            match fs::read(&path) {
                Ok(bytes) => break bytes,
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound),
            }
        };
        assert!(found == whole, "{} bytes of image {number} are there, not {}", found.len(), whole.len());
        maker.join().unwrap();
    }
    let left = fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 21, "nothing is left beside the images");
    let again = NorSim::create_image(&dir.path().join("other"), spec).unwrap_err();
    assert!(matches!(again, ImageError::Exists { .. }), "{again}");
}

#[test]
fn an_image_that_is_not_whole_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.img");
    drop(NorSim::create_image(&path, catalogue::test_part(4, 512)).unwrap());
    let good = fs::read(&path).unwrap();
    let open_with = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        NorSim::open_image(&path).unwrap_err().to_string()
    };
    assert!(open_with(b"").contains("the file is empty"));
    assert!(open_with(b"\x7fELF and so on").contains("first bytes are not NORNSIM"));
    assert!(open_with(b"NORNNAND").ends_with("an image of a simulated NAND part, not of a NOR part"));
    assert!(open_with(&good[..100]).contains("its 100 bytes are less than an image's header"));
    assert!(open_with(&good[..good.len() - 1]).contains("truncated or extended"));
    assert!(open_with(&[&good[..], &[0]].concat()).contains("truncated or extended"));
    let damaged = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    assert!(open_with(&damaged(9)).contains("newer"));
    assert!(open_with(&damaged(68)).contains("header is damaged"));
    fs::write(&path, &good).unwrap();
    NorSim::open_image(&path).unwrap();
}

#[test]
fn neither_a_second_process_nor_a_second_creation_gets_at_an_image() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part.img");
    let first = NorSim::create_image(&path, catalogue::test_part(4, 512)).unwrap();
    assert!(matches!(NorSim::open_image(&path), Err(ImageError::Locked { .. })));
    assert!(matches!(NorSim::create_image(&path, catalogue::test_part(4, 512)), Err(ImageError::Exists { .. })));
    drop(first);
    NorSim::open_image(&path).unwrap();
    let missing = NorSim::open_image(&dir.path().join("none")).unwrap_err();
    assert!(missing.to_string().contains("none"));
}

#[test]
fn an_image_that_is_read_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("part");
    let mut sim = NorSim::create_image(&path, catalogue::nrf52840()).unwrap();
    sim.program(Address(8), &[1, 2, 3, 4]).unwrap();
    assert!(matches!(NorSim::read_image(&path), Err(ImageError::Locked { .. })));
    drop(sim);
    let before = fs::read(&path).unwrap();
    let mut first = NorSim::read_image(&path).unwrap();
    let second = NorSim::read_image(&path).unwrap();
    first.erase(EraseUnit(0)).unwrap();
    assert_eq!((first.peek(Address(8), 2), second.peek(Address(8), 2)), (vec![0xFF, 0xFF], vec![1, 2]));
    drop((first, second));
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn the_bytes_of_an_image_are_those_of_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let mut part = NorSim::new(catalogue::stm32l4());
    part.program(Address(4096), &[1; 8]).unwrap();
    part.cut_power_after(0, Tear::Unstable(3));
    part.erase(EraseUnit(2)).unwrap_err();
    part.save_image(&directory.path().join("saved.img")).unwrap();
    let bytes = part.image_bytes();
    let file = Vec::from(&bytes);
    assert_eq!(file, std::fs::read(directory.path().join("saved.img")).unwrap());
    let again = NorSim::from_image_bytes(bytes.clone()).unwrap();
    assert_eq!((again.image_bytes(), again.operations()), (bytes, 2));
    let why = NorSim::from_image_bytes(file[..file.len() - 1].into()).unwrap_err().to_string();
    assert!(why.starts_with("the image: "), "{why}");
    assert!(NorSim::from_image_bytes(ImageBytes::default()).is_err());
}
