//! An image of any contents gives an error or a part: never a panic, and never a loop without end.

use crate::model;

use model::{Pair, TestRemap, parts, perform};
use norn_conformance::from_environment;
use norn_flash::{Address, EraseUnit, Nor};
use norn_flash_sim::NorSim;
use norn_nor_remap::format::{Header, Role, STATE_BYTES, State, encode_record};
use norn_nor_remap::{RemapConfig, RemapMountError};

/// Overwrites something: bytes anywhere, or a record that is whole and says something else.
fn damage(device: &mut NorSim, random: &mut fastrand::Rng) {
    let part = device.part();
    let unit = EraseUnit(random.u16(0..part.unit_count));
    let start = part.start_of(unit);
    match random.u8(0..6) {
        0 => {
            let bytes: Vec<u8> = (0..random.usize(1..64)).map(|_| random.u8(..)).collect();
            let at = random.usize(0..part.size_bytes() as usize - bytes.len());
            device.poke(Address(at as u32), &bytes);
        }
        1 => device.poke(start, &vec![random.choice([0, 0xFF, 0x55]).unwrap(); part.unit_size_bytes as usize]),
        2 => {
            let bytes = device.peek(start, 32).try_into().unwrap();
            if let Some(mut header) = Header::decode(&bytes) {
                match random.u8(0..7) {
                    0 => header.role = Role::Home(random.u16(..)),
                    1 => header.role = Role::Formatting,
                    2 => header.generation = random.u32(..),
                    3 => header.spare = EraseUnit(random.u16(0..2 * part.unit_count)),
                    4 => header.spare_units = random.u16(0..2 * part.unit_count),
                    5 => header.version = random.u8(1..3),
                    _ => header.role = Role::Home(random.u16(0..part.unit_count)),
                }
                device.poke(start, &header.encode());
            }
        }
        3 => {
            let state = State::Ready(EraseUnit(random.u16(0..2 * part.unit_count)), random.u32(0..1 << 24));
            let stride = usize::from(part.program_unit_bytes).max(STATE_BYTES);
            device.poke(start.offset((32 + random.usize(1..7) * stride) as u32), &state.encode());
        }
        4 => {
            // Copies one unit over another.
            let other = part.start_of(EraseUnit(random.u16(0..part.unit_count)));
            let bytes = device.peek(other, part.unit_size_bytes as usize);
            device.poke(start, &bytes);
        }
        _ => {
            let cell = usize::from(part.program_unit_bytes).max(4);
            let (group, len) = if cell <= 8 { (4, 8) } else { (cell / 2, cell) };
            let mut record = vec![0; len];
            encode_record(random.u16(..), &vec![random.u8(..); group], &mut record);
            for at in (part.unit_size_bytes as usize / 2..part.unit_size_bytes as usize - len).step_by(len) {
                device.poke(start.offset(at as u32), &record);
            }
        }
    }
}

#[test]
fn damage_gives_an_error_or_a_part() {
    let (mut mounted, mut refused) = (0, 0);
    for seed in from_environment("NORN_SEED").map_or(0..3000, |seed| seed..seed + 1) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pair = Pair::new(parts()[seed as usize % 6].clone(), 1 + seed as u16 % 2);
        for _ in 0..random.usize(0..60) {
            let op = pair.draw(&mut random);
            pair.step(&op, &String::new);
        }
        let mut device = pair.remap.into_device();
        (0..random.usize(1..4)).for_each(|_| damage(&mut device, &mut random));
        let reformatted = device.clone();
        match TestRemap::mount(device) {
            Ok(mut remap) => {
                mounted += 1;
                let mut bytes = vec![0; remap.part().size_bytes() as usize];
                remap.read(Address(0), &mut bytes).unwrap();
                let mut damaged = Pair { remap, bytes };
                for _ in 0..40 {
                    let op = damaged.draw(&mut random);
                    if perform(&mut damaged.remap, &op).is_ok() {
                        damaged.bytes = damaged.after(&op);
                    }
                }
                damaged.remap.audit(&mut norn_flash::Collected::<()>::default()).unwrap();
            }
            Err(error) => {
                refused += 1;
                assert!(!matches!(error, RemapMountError::Device(_)), "seed {seed}: {error}");
            }
        }
        let remap = TestRemap::format(reformatted, RemapConfig { spare_units: 1 }).unwrap();
        let mut fresh = Pair { bytes: vec![0xFF; remap.part().size_bytes() as usize], remap };
        model::check(&mut fresh.remap, &fresh.bytes, &|| format!("formatted over damage, seed {seed}"));
    }
    println!("{mounted} mounted, {refused} refused");
    assert!(mounted > 100 && refused > 100);
}
