//! Keys under power cuts: one is set, or drawn, whole or not at all, and a pair is of one drawing. Once a key was
//! cleared, overwritten or deleted, the part has no byte of it, also where the power was cut meanwhile.

use std::sync::OnceLock;

use norn_card_linker::{LinkedPackage, link};
use norn_card_vm::Card;
use norn_conformance::{Run, seeds};
use norn_flash::{Address, Nor};
use norn_flash_sim::{NandSim, NorSim, Tear};

use crate::javac::sources;
use crate::{TestCard, aid, config, cut_after, linked, mounted, new_card, read, select, send, status, unmounted};

const KEYS: [u8; 7] = [0xF0, 0, 0, 0, 0x33, 0, 1];

/// Kinds of keys, as the applet numbers them.
const AES: u8 = 0;
const DES: u8 = 1;
const HMAC: u8 = 2;
const CURVE: u8 = 3;
const PLAIN: u8 = 4;
const FACTORS: u8 = 5;

fn package() -> &'static LinkedPackage {
    static PACKAGE: OnceLock<LinkedPackage> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let linked = linked();
        let texts = [("keys/Keys.java", include_str!("../programs/card/keys/Keys.java"))];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let exports = std::slice::from_ref(&linked.api.exports);
        link(&read(&classes), exports, &config(&KEYS[..6], &[(&KEYS, "keys/Keys")]))
            .unwrap_or_else(|error| panic!("{error}"))
    })
}

fn card_with_keys() -> TestCard {
    let mut card = new_card();
    card.install_package(&package().image).unwrap();
    card.install_applet(aid(&KEYS), aid(&KEYS), &[]).unwrap();
    assert_eq!(status(&mut card, &select(&KEYS)), 0x9000);
    card
}

/// Something that is done to a key.
#[derive(Clone, Debug)]
enum Step {
    /// A key, a part of it, and what that becomes.
    Set(u8, u8, Vec<u8>),
    Draw(u8),
    Clear(u8),
    GiveUp(u8),
    DeleteApplet,
}

impl Step {
    /// Does it; false where the power fails.
    fn does(&self, card: &mut TestCard) -> bool {
        let command = match self {
            Step::Set(which, part, value) => [&[0x80, 1, *which, *part, value.len() as u8][..], value, &[0]].concat(),
            Step::Draw(which) => vec![0x80, 2, *which, 0, 0],
            Step::Clear(which) => vec![0x80, 3, *which, 0, 0],
            Step::GiveUp(which) => vec![0x80, 4, *which, 0, 0],
            Step::DeleteApplet => return card.reset().is_ok() && card.delete(aid(&KEYS)).is_ok(),
        };
        match send(card, &command) {
            Ok((_, status)) => {
                assert_eq!(status, 0x9000, "{self:?}");
                true
            }
            Err(_) => false,
        }
    }
}

/// What the applet says of a key: whether it is set, whether its public key is, whether a signature verifies.
fn state(card: &mut TestCard, which: u8) -> Vec<u8> {
    let (answer, status) = send(card, &[0x80, 5, which, 0, 0]).unwrap();
    assert_eq!(status, 0x9000);
    answer
}

fn value(card: &mut TestCard, which: u8, part: u8) -> Option<Vec<u8>> {
    match send(card, &[0x80, 6, which, part, 0]).unwrap() {
        (value, 0x9000) => Some(value),
        // UNINITIALIZED_KEY.
        (_, 0x6A02) => None,
        (_, status) => panic!("{status:04x}"),
    }
}

/// Numbers of a key that nobody else may know.
fn secrets(card: &mut TestCard, which: u8) -> Vec<Vec<u8>> {
    if state(card, which).is_empty() {
        return Vec::new();
    }
    let parts: &[u8] = match which {
        PLAIN => &[1],
        FACTORS => &[0, 1, 2],
        _ => &[0],
    };
    parts.iter().filter_map(|part| value(card, which, *part)).collect()
}

/// How many pieces of secrets a part has somewhere.
fn found(device: &mut NorSim, secrets: &[Vec<u8>]) -> usize {
    const PIECE: usize = 6;
    let mut bytes = vec![0; device.part().size_bytes() as usize];
    device.read(Address(0), &mut bytes).unwrap();
    let there: std::collections::HashSet<&[u8]> = bytes.windows(PIECE).collect();
    secrets.iter().flat_map(|secret| secret.windows(PIECE)).filter(|piece| there.contains(piece)).count()
}

fn found_on(card: &mut TestCard, secrets: &[Vec<u8>]) -> usize {
    let mut device = card.heap().heap().device_mut().device_mut().0.borrow().clone();
    found(&mut device, secrets)
}

fn drawn(random: &mut fastrand::Rng, bytes: usize) -> Vec<u8> {
    // Not 0 at its start, as a number without zeros before it.
    (0..bytes).map(|_| random.u8(1..)).collect()
}

/// Steps that give a key a value.
fn setting(which: u8, random: &mut fastrand::Rng) -> Vec<Step> {
    match which {
        AES | DES => vec![Step::Set(which, 0, drawn(random, 16))],
        HMAC => vec![Step::Set(which, 0, drawn(random, 40))],
        CURVE | PLAIN => vec![Step::Draw(which)],
        _ => vec![Step::Draw(which), Step::Set(FACTORS, 1, drawn(random, 64))],
    }
}

/// Gives a key a value; of what it was before, and what it is meanwhile, nothing is left.
fn set(card: &mut TestCard, which: u8, random: &mut fastrand::Rng, secret: &mut Vec<Vec<u8>>) {
    for step in setting(which, random) {
        assert!(step.does(card));
        let now = secrets(card, which);
        assert_eq!(found_on(card, &gone(secret, &now)), 0, "{which}: overwritten by {step:?}");
        assert!(found_on(card, &now) > 0, "{which}: a search that finds the key itself");
        *secret = now;
    }
}

/// What was, and is no more.
fn gone(before: &[Vec<u8>], now: &[Vec<u8>]) -> Vec<Vec<u8>> {
    before.iter().filter(|secret| !now.contains(secret)).cloned().collect()
}

#[test]
fn nothing_is_left_of_keys_that_are_no_more() {
    let mut random = seeds(0..1, "-p norn-card-linker --test card nothing_is_left_of_keys").next().unwrap().random();
    for which in [AES, DES, HMAC, CURVE, PLAIN, FACTORS] {
        let mut card = card_with_keys();
        let mut old: Vec<Vec<u8>> = Vec::new();
        // Twice, so that the second overwrites the first.
        for _ in 0..2 {
            set(&mut card, which, &mut random, &mut old);
        }
        assert!(Step::Clear(which).does(&mut card));
        assert_eq!(found_on(&mut card, &old), 0, "{which}: cleared");
        assert_eq!(state(&mut card, which)[0], 0);
        let mut now = Vec::new();
        set(&mut card, which, &mut random, &mut now);
        assert_eq!(send(&mut card, &[0x80, 7, which, 0, 0]).unwrap().1, 0x9000);
        assert_eq!(secrets(&mut card, which), now, "{which}: a clearing that was undone");
        assert!(found_on(&mut card, &now) > 0);
        assert!(Step::GiveUp(which).does(&mut card));
        assert_eq!(found_on(&mut card, &now), 0, "{which}: given up");
    }
    let mut card = card_with_keys();
    let mut all = Vec::new();
    for which in [AES, HMAC, CURVE, FACTORS] {
        setting(which, &mut random).iter().for_each(|step| assert!(step.does(&mut card)));
        all.extend(secrets(&mut card, which));
    }
    assert!(found_on(&mut card, &all) > 100);
    assert!(Step::DeleteApplet.does(&mut card));
    assert_eq!(found_on(&mut card, &all), 0, "the applet is deleted");
}

/// Cuts the power at operations of a step on a card where a key has a value; how many cuts there were.
fn cut_step(start: &(NorSim, NandSim), which: u8, step: &Step, every: u64, run: &Run) -> u64 {
    let mut random = run.random();
    let (device, nand) = start;
    let mut card = selected(device.clone(), nand.clone());
    let before = (state(&mut card, which), secrets(&mut card, which));
    let mut operation = random.u64(0..every);
    let mut cuts = 0;
    loop {
        let mut card = selected(device.clone(), nand.clone());
        cut_after(&mut card, operation, Tear::draw(&mut random));
        let done = step.does(&mut card);
        let (mut device, nand) = unmounted(card);
        assert_eq!(device.refusals(), 0);
        if done {
            return cuts;
        }
        cuts += 1;
        device.power_on();
        let context = format!("{step:?} cut at {operation}, {}", run.replay());
        operation += every;
        let mut card = mounted(device, nand);
        if status(&mut card, &select(&KEYS)) != 0x9000 {
            assert!(matches!(step, Step::DeleteApplet), "{context}: no applet");
            assert_eq!(found_on(&mut card, &before.1), 0, "{context}: something is left of a deleted applet");
            continue;
        }
        let after = (state(&mut card, which), secrets(&mut card, which));
        match step {
            // As before, or of one drawing.
            Step::Draw(_) => assert!(after.0 == [1, 1, 1] || after == before, "{context}: {:?}", after.0),
            Step::Set(.., value) => {
                assert!(after == before || after.1.contains(value), "{context}: neither the old nor the new");
            }
            Step::Clear(_) => assert!(after == before || after.0[0] == 0, "{context}: {:?}", after.0),
            Step::GiveUp(_) => {
                assert!(after == before || after.0.is_empty(), "{context}");
                // Where nothing refers to the key any more, and the power went before it was deleted: once more.
                assert!(!after.0.is_empty() || step.does(&mut card));
            }
            Step::DeleteApplet => assert!(after == before, "{context}"),
        }
        assert_eq!(
            found_on(&mut card, &gone(&before.1, &after.1)),
            0,
            "{context}: something is left of what was there"
        );
    }
}

fn selected(device: NorSim, nand: NandSim) -> TestCard {
    let mut card = mounted(device, nand);
    assert_eq!(status(&mut card, &select(&KEYS)), 0x9000);
    card
}

/// Cuts the power in what is done to keys, at one in `every` operations where one key is set in a moment, and in more
/// where that takes longer.
fn cut_keys(run: &Run, every: u64) -> u64 {
    let mut random = run.random();
    let mut cuts = 0;
    for (which, longer) in [(AES, 1), (HMAC, 3), (CURVE, 3), (PLAIN, 23), (FACTORS, 29)] {
        let mut card = card_with_keys();
        let first = setting(which, &mut random);
        let empty = unmounted(card);
        cuts += cut_step(&empty, which, &first[0], every * longer, run);
        card = selected(empty.0, empty.1);
        first.iter().for_each(|step| assert!(step.does(&mut card)));
        let full = unmounted(card);
        let again = setting(which, &mut random).swap_remove(0);
        let steps = [(again, longer), (Step::Clear(which), 7), (Step::GiveUp(which), 19), (Step::DeleteApplet, 31)];
        for (step, longer) in steps {
            cuts += cut_step(&full, which, &step, every * longer, run);
        }
    }
    cuts
}

#[test]
fn keys_are_whole_or_not_there_after_power_cuts() {
    let run = seeds(0..1, "-p norn-card-linker --test card keys_are_whole_or_not_there_after_power").next().unwrap();
    let cuts = cut_keys(&run, 2);
    println!("{cuts} cuts");
    assert!(cuts > 150, "{cuts} cuts");
}

#[test]
#[ignore = "minutes"]
fn keys_are_whole_or_not_there_after_many_power_cuts() {
    for run in seeds(1..5, "-p norn-card-linker --test card keys_are_whole_or_not_there_after_many -- --ignored") {
        println!("{} cuts", cut_keys(&run, 1));
    }
}
