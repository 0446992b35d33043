//! Damaged images of parts below a `Remap`, and what a program does with them.

use std::sync::LazyLock;

use norn_flash::{Address, Collected, EraseUnit, Nor, Reprogramming};
use norn_flash_sim::{NorSim, catalogue};
use norn_nor_remap::{Remap, RemapConfig, RemapMountError};

type SimRemap = Remap<NorSim, 16>;

/// Parts of every kind with some history.
static IMAGES: LazyLock<[NorSim; 5]> = LazyLock::new(|| {
    [
        (8, Reprogramming::Once),
        (16, Reprogramming::Once),
        (32, Reprogramming::Once),
        (4, Reprogramming::Times(2)),
        (1, Reprogramming::Unlimited),
    ]
    .map(|(program_unit_bytes, reprogramming)| {
        let part = catalogue::limited_test_part(6, 2048, program_unit_bytes, reprogramming);
        let mut remap = SimRemap::format(NorSim::new(part), RemapConfig { spare_units: 2 }).expect("suitable");
        use_it(&mut remap);
        remap.into_device()
    })
});

/// Erases each unit, and programs some words again and again.
fn use_it(remap: &mut SimRemap) {
    let part = remap.part();
    for unit in (0..part.unit_count).map(EraseUnit) {
        let _ = remap.erase(unit);
        for bits in 1..30 {
            let mut word = [0xFF; 32];
            word[..4].copy_from_slice(&(u32::MAX << bits).to_le_bytes());
            let bytes = &word[..usize::from(part.program_unit_bytes)];
            let _ = remap.program(part.start_of(unit).offset(64 * (bits % 3)), bytes);
        }
    }
}

/// Damages an image as `bytes` say, and uses it if it mounts.
///
/// # Panics
/// If the layer panics, loops, or reaches outside the part.
pub fn try_damaged(bytes: &[u8]) {
    let Some((&variant, damage)) = bytes.split_first() else {
        return;
    };
    let mut device = IMAGES[usize::from(variant) % IMAGES.len()].clone();
    let size = device.part().size_bytes();
    for change in damage.chunks_exact(3) {
        let at = u32::from(u16::from_le_bytes([change[0], change[1]])) % size;
        device.poke(Address(at), &change[2..]);
    }
    match SimRemap::mount(device) {
        Ok(mut remap) => {
            let mut all = vec![0; remap.part().size_bytes() as usize];
            remap.read(Address(0), &mut all).expect("the part is there");
            remap.audit(&mut Collected::<()>::default()).expect("the part is there");
            use_it(&mut remap);
        }
        Err(error) => assert!(!matches!(error, RemapMountError::Device(_)), "{error}"),
    }
}
