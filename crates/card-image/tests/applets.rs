//! The example applets on a card, from the jars that `tools/card-jars` makes: points for debits through a shared
//! object, and a tag that a phone reads and writes, with a power cut at each operation of an update.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use norn_card_crypto::Curve;
use norn_card_image::{CardFailure, CardImage, Wanted, aid_of};
use norn_flash_sim::{Tear, catalogue, nand_catalogue};
use sha2::{Digest, Sha256};

fn jars() -> &'static Path {
    static JARS: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = JARS.get_or_init(|| {
        let jars = tempfile::tempdir().unwrap();
        let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/card-jars");
        assert!(Command::new(tool).arg(jars.path()).status().unwrap().success());
        jars
    });
    made.path()
}

/// A card with packages, in a directory.
fn card(directory: &Path, applets: &[&str]) -> CardImage {
    let path: PathBuf = directory.join("card");
    let (mut card, _) =
        CardImage::create(&path, &catalogue::tinystore(), &nand_catalogue::k9f2808(), &jars().join("card-api.jar"))
            .unwrap();
    for name in applets {
        card.install(&jars().join(format!("{name}.jar")), &Wanted::default()).unwrap();
    }
    card
}

fn install(card: &mut CardImage, applet: &str, parameters: &[u8]) {
    let applet = aid_of(applet).unwrap();
    card.install_applet(applet, applet, parameters).unwrap();
}

/// Data and status word of a command, whose bytes are hexadecimal.
fn send(card: &mut CardImage, command: &str) -> Result<(Vec<u8>, u16), CardFailure> {
    let digits: String = command.split_whitespace().collect();
    let bytes: Vec<u8> =
        (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..][..2], 16).unwrap()).collect();
    let mut response = [0; 300];
    let length = card.send(&bytes, &mut response)?;
    let (data, status) = response[..length].split_last_chunk::<2>().unwrap();
    Ok((data.to_vec(), u16::from_be_bytes(*status)))
}

/// The data of a command that has to succeed.
fn ask(card: &mut CardImage, command: &str) -> Vec<u8> {
    let (data, status) = send(card, command).unwrap();
    assert_eq!(status, 0x9000, "{command}");
    data
}

const PURSE: &str = "00A4040006 F00000000201";
const LOYALTY: &str = "00A4040006 F00000000301";
const TAG: &str = "00A4040007 D2760000850101";
const POINTS: &str = "8010000002";
const MESSAGE: &str = "00A4000C02 E104";

fn pay(card: &mut CardImage) {
    for command in [PURSE, "8020000004 01020304", "8030000002 0064", "8040000002 0001"] {
        ask(card, command);
    }
}

#[test]
fn debits_become_points() {
    let directory = tempfile::tempdir().unwrap();
    let card = &mut card(directory.path(), &["purse", "loyalty"]);
    install(card, "F00000000201", &[1, 2, 3, 4]);
    install(card, "F00000000301", &[0xF0, 0, 0, 0, 2, 1]);
    ask(card, LOYALTY);
    assert_eq!(ask(card, POINTS), [0, 0]);
    for _ in 0..3 {
        pay(card);
    }
    ask(card, LOYALTY);
    assert_eq!(ask(card, POINTS), [0, 3]);
    assert_eq!(ask(card, POINTS), [0, 3], "each debit counts once");
    ask(card, "8020000002 0002");
    assert_eq!(send(card, "8020000002 0002").unwrap().1, 0x6985);
    assert_eq!(ask(card, POINTS), [0, 1]);
    // A purse that is gone; then a new one, whose debits count from 0.
    card.delete(aid_of("F00000000201").unwrap()).unwrap();
    assert_eq!(send(card, POINTS).unwrap().1, 0x6985);
    install(card, "F00000000201", &[1, 2, 3, 4]);
    ask(card, LOYALTY);
    assert_eq!(ask(card, POINTS), [0, 1]);
    pay(card);
    ask(card, LOYALTY);
    assert_eq!(ask(card, POINTS), [0, 2]);
    assert_eq!(card.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_tag_is_read_and_written() {
    let directory = tempfile::tempdir().unwrap();
    let card = &mut card(directory.path(), &["tag"]);
    install(card, "D2760000850101", &[0xD1, 0x01, 0x01, 0x55, 0x00]);
    ask(card, TAG);
    assert_eq!(send(card, "00B000000F").unwrap().1, 0x6985, "nothing is selected");
    ask(card, "00A4000C02 E103");
    let container = [0, 15, 0x20, 0, 0xFF, 0, 0xF0, 4, 6, 0xE1, 4, 1, 0, 0, 0];
    assert_eq!(ask(card, "00B000000F"), container);
    assert_eq!(send(card, "00D6000001 00").unwrap().1, 0x6982);
    assert_eq!(send(card, "00A4000C02 E105").unwrap().1, 0x6A82);
    ask(card, MESSAGE);
    assert_eq!(ask(card, "00B0000007"), [0, 5, 0xD1, 1, 1, 0x55, 0]);
    ask(card, "00D6000204 AABBCCDD");
    assert_eq!(ask(card, "00B0000106"), [5, 0xAA, 0xBB, 0xCC, 0xDD, 0]);
    assert_eq!(ask(card, "00B0 00F0 00").len(), 16, "up to the end of the file");
    for beyond in ["00B0010101", "00D600FF02 0000", "00B0800001"] {
        assert_eq!(send(card, beyond).unwrap().1, 0x6B00, "{beyond}");
    }
}

#[test]
fn an_update_of_a_tag_is_whole_or_undone() {
    let directory = tempfile::tempdir().unwrap();
    let card = &mut card(directory.path(), &["tag"]);
    install(card, "D2760000850101", &[]);
    let (mut cuts, mut undone) = (0, 0);
    let texts = ["00D6000008 0006111111111111", "00D6000008 0006222222222222"];
    let contents = |text: &str| u8::from_str_radix(&text[15..17], 16).unwrap();
    for (text, before) in [(texts[0], 0), (texts[1], contents(texts[0]))] {
        for operation in 0.. {
            ask(card, TAG);
            ask(card, MESSAGE);
            card.cut_power_after(operation, Tear::Subset(operation));
            let end = send(card, text);
            let is_over = end.is_ok();
            // A cut that has not come does not come.
            card.cut_power_after(u64::MAX, Tear::Nothing);
            card.reset().unwrap();
            ask(card, TAG);
            ask(card, MESSAGE);
            let found = ask(card, "00B0000207");
            assert!(found[..6].iter().all(|byte| *byte == found[0]), "{operation}: {found:02X?}");
            assert!([before, contents(text)].contains(&found[0]), "{operation}: {found:02X?}");
            if is_over {
                assert_eq!(found[0], contents(text));
                break;
            }
            cuts += 1;
            undone += usize::from(found[0] == before);
            // Back to what was before, for the next cut.
            let back = format!("00D6000008 0006{}", format!("{before:02X}").repeat(6));
            ask(card, &back);
        }
    }
    assert_eq!(card.check().unwrap(), Vec::<String>::new());
    println!("{cuts} cuts, {undone} undone");
    assert!(cuts > 5 && undone > 0 && undone <= cuts, "{cuts} cuts, {undone} undone");
}

const SIGNER: &str = "00A4040006 F00000000401";

#[test]
fn a_signer_signs_with_a_key_that_stays_on_the_card() {
    let directory = tempfile::tempdir().unwrap();
    let mut card = card(directory.path(), &["signer"]);
    install(&mut card, "F00000000401", &[1, 2, 3, 4]);
    ask(&mut card, SIGNER);
    assert_eq!(send(&mut card, "8040000000").unwrap().1, 0x6982, "a key without the PIN");
    ask(&mut card, "8020000004 01020304");
    ask(&mut card, "8040000000");
    let key = ask(&mut card, "8050000000");
    let hash = Sha256::digest(b"pay 5");
    let signature = ask(&mut card, "8060000005 7061792035 00");
    assert!(Curve::P256.verify(&key, &hash, &signature), "as another implementation sees it");
    // The key outlives the power, the PIN does not.
    card.reset().unwrap();
    ask(&mut card, SIGNER);
    assert_eq!(send(&mut card, "8060000005 7061792035 00").unwrap().1, 0x6982);
    ask(&mut card, "8020000004 01020304");
    assert!(Curve::P256.verify(&key, &hash, &ask(&mut card, "8060000005 7061792035 00")));
    // A cut while another key is drawn leaves one key or the other, and both halves of it.
    let before = ask(&mut card, "8050000000");
    let mut random = fastrand::Rng::with_seed(7);
    for operation in 0.. {
        card.cut_power_after(operation, Tear::draw(&mut random));
        let drawn = send(&mut card, "8040000000");
        card.cut_power_after(u64::MAX, Tear::Nothing);
        if drawn.is_ok() {
            assert!(operation > 10, "{operation} cuts");
            break;
        }
        card.reset().unwrap();
        ask(&mut card, SIGNER);
        ask(&mut card, "8020000004 01020304");
        let (point, status) = send(&mut card, "8050000000").unwrap();
        if status == 0x9000 {
            let signature = ask(&mut card, "8060000005 7061792035 00");
            assert!(Curve::P256.verify(&point, &hash, &signature), "cut {operation}");
        }
    }
    assert_ne!(ask(&mut card, "8050000000"), before);
}
