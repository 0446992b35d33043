//! A package image with a sound frame around arbitrary bytes: refused by the checker, or installed and run unharmed.

use norn_card_package::{Aid, check};
use norn_card_vm::{AppletCard, Card, Journaled, NandPackages, NoCrypto};
use norn_code_pager::Options;
use norn_code_pager::policy::Clock;
use norn_flash_sim::{NandSim, NorSim, catalogue, nand_catalogue};
use norn_object_heap::{Config, Heap};

/// Bytecodes that a call may take.
const BYTECODES: u32 = 2_000;

/// Checks an image, and uses it as a card's only package: the last bytes are also sent as a command.
///
/// # Panics
/// If the card panics, or answers less than a status word.
pub fn try_package(bytes: &[u8]) {
    let image = framed(bytes);
    let bytes = &image[..];
    let Ok(package) = check(&mut &*bytes) else { return };
    let heap = Heap::<_, 64>::format(NorSim::new(catalogue::test_part(16, 4096)), Config::default()).unwrap();
    let heap = Journaled::mount(heap, NorSim::new(catalogue::test_part(1, 4096))).unwrap();
    let nand = NandSim::new(nand_catalogue::test_part(64, 16, 512));
    let packages = NandPackages::<_, Clock<16>, 2, 16, 64, 512>::mount(nand, Options::default(), ()).unwrap();
    let mut card = AppletCard::<_, _, _, 2, 256, 128>::mount(heap, packages, NoCrypto, BYTECODES).unwrap();
    if card.install_package(bytes).is_err() {
        return;
    }
    for number in 0..package.applets {
        let Ok(applet) = package.applet(&mut &*bytes, number) else { continue };
        let _ = card.install_applet(applet.aid, applet.aid, &[1, 2, 3]);
        say(&mut card, &select(applet.aid));
        say(&mut card, &bytes[bytes.len().saturating_sub(20)..]);
        say(&mut card, &[0x80, 1, 0, 0, 2, 1, 2, 0]);
    }
    let _ = card.delete(package.aid);
    card.reset().unwrap();
}

/// The bytes with an image's first ones, its length and the zeros of its header, which no search would find.
fn framed(bytes: &[u8]) -> Vec<u8> {
    let mut image = bytes.to_vec();
    let length = (image.len() as u32).to_le_bytes();
    if let Some(header) = image.first_chunk_mut::<64>() {
        header[..4].copy_from_slice(b"NCP1");
        header[4..7].copy_from_slice(&length[..3]);
        header[7] &= 1;
        header[10] = 5;
        header[16..27].fill(0);
        header[47..].fill(0);
    }
    image
}

fn select(aid: Aid) -> Vec<u8> {
    [&[0, 0xA4, 4, 0, aid.as_bytes().len() as u8], aid.as_bytes()].concat()
}

fn say<C: Card>(card: &mut C, command: &[u8]) {
    let mut response = [0; 300];
    if let Ok(length) = card.process(command, &mut response) {
        assert!(length >= 2);
    }
}
