//! PINs of all kinds: no abort and no sequence of changes within a transaction gives back a try that was taken.

use std::sync::OnceLock;

use norn_card_linker::{LinkedPackage, link};
use norn_card_vm::Card;

use crate::javac::sources;
use crate::{TestCard, aid, config, linked, mounted, new_card, read, select, send, status, unmounted};

const PINS: [u8; 7] = [0xF0, 0, 0, 0, 0x30, 0, 1];
const OWNER_PIN: u8 = 1;
const X: u8 = 2;
const PREDECREMENT: u8 = 3;

fn package() -> &'static LinkedPackage {
    static PACKAGE: OnceLock<LinkedPackage> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let linked = linked();
        let texts = [("pins/Pins.java", include_str!("../programs/card/pins/Pins.java"))];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let exports = std::slice::from_ref(&linked.api.exports);
        link(&read(&classes), exports, &config(&PINS[..6], &[(&PINS, "pins/Pins")]))
            .unwrap_or_else(|error| panic!("{error}"))
    })
}

fn card_with_pin(kind: u8) -> TestCard {
    let mut card = new_card();
    card.install_package(&package().image).unwrap();
    card.install_applet(aid(&PINS), aid(&PINS), &[]).unwrap();
    assert_eq!(status(&mut card, &select(&PINS)), 0x9000);
    assert_eq!(status(&mut card, &[0x80, 1, kind, 0]), 0x9000);
    card
}

fn check(card: &mut TestCard, value: [u8; 4]) -> u16 {
    status(card, &[&[0x80, 2, 0, 0, 4], &value[..]].concat())
}

/// Tries that are left, whether the PIN is validated, and the limit.
fn state(card: &mut TestCard) -> Vec<u8> {
    send(card, &[0x80, 7, 0, 0, 3]).unwrap().0
}

const FIRST: [u8; 4] = [1, 2, 3, 4];
const SECOND: [u8; 4] = [5, 6, 7, 8];

#[test]
fn a_value_that_is_undone_gives_no_try_back() {
    for kind in [OWNER_PIN, X, PREDECREMENT] {
        for updates in 1..=5 {
            let mut card = card_with_pin(kind);
            assert_eq!(check(&mut card, SECOND), 0x63C2);
            assert_eq!(status(&mut card, &[0x80, 3, updates, 1]), 0x9000);
            assert_eq!(state(&mut card)[0], 2, "kind {kind}, {updates} values");
            assert_eq!(check(&mut card, SECOND), 0x63C1);
            assert_eq!(check(&mut card, FIRST), 0x9000);
            assert_eq!(status(&mut card, &[0x80, 3, updates, 0]), 0x9000);
            assert_eq!(check(&mut card, FIRST), 0x63C2);
            assert_eq!(check(&mut card, SECOND), 0x9000);
        }
    }
}

#[test]
fn limits_change_with_the_transaction() {
    let mut card = card_with_pin(X);
    assert_eq!(state(&mut card), [3, 0, 3]);
    assert_eq!(status(&mut card, &[0x80, 4, 9, 1]), 0x9000);
    assert_eq!(state(&mut card), [3, 0, 3]);
    assert_eq!(status(&mut card, &[0x80, 4, 9, 0]), 0x9000);
    assert_eq!(state(&mut card), [3, 0, 9], "no try is given");
    assert_eq!(status(&mut card, &[0x80, 5, 8, 1]), 0x9000);
    assert_eq!(state(&mut card), [3, 0, 9]);
    assert_eq!(status(&mut card, &[0x80, 5, 8, 0]), 0x9000);
    assert_eq!(state(&mut card), [8, 0, 9]);
    assert_eq!(status(&mut card, &[0x80, 4, 2, 0]), 0x9000);
    assert_eq!(state(&mut card), [2, 0, 2]);
    for wrong in [&[0x80, 4, 0, 0], &[0x80, 5, 3, 0], &[0x80, 5, 0xFF, 0]] {
        assert_eq!(status(&mut card, wrong), 0x6A01);
    }
    assert_eq!(status(&mut card, &[0x80, 5, 0, 0]), 0x9000);
    assert_eq!(check(&mut card, FIRST), 0x63C0);
    assert_eq!(status(&mut card, &[0x80, 1, 4, 0]), 0x6A01, "no such kind");
}

#[test]
fn a_try_is_taken_ahead_of_its_check() {
    let mut card = card_with_pin(PREDECREMENT);
    for left in [2, 1, 0] {
        assert_eq!(send(&mut card, &[0x80, 6, 0, 0, 1]).unwrap(), (vec![left], 0x9000));
        assert_eq!(check(&mut card, SECOND), 0x63C0 | u16::from(left));
    }
    assert_eq!(check(&mut card, FIRST), 0x63C0);
    assert_eq!(status(&mut card, &[0x80, 5, 1, 0]), 0x9000);
    assert_eq!(send(&mut card, &[0x80, 6, 0, 0, 1]).unwrap(), (vec![0], 0x9000));
    // The last try is taken: the value that it is for counts.
    assert_eq!(check(&mut card, FIRST), 0x9000);
    assert_eq!(state(&mut card), [3, 1, 3]);
    // A try that was taken ahead is gone with the power, and so is what it was for.
    assert_eq!(send(&mut card, &[0x80, 6, 0, 0, 1]).unwrap(), (vec![2], 0x9000));
    card.reset().unwrap();
    assert_eq!(status(&mut card, &select(&PINS)), 0x9000);
    assert_eq!(check(&mut card, SECOND), 0x63C1);
}

#[test]
fn the_time_of_a_wrong_value_says_nothing_of_the_length() {
    let (device, nand) = unmounted(card_with_pin(OWNER_PIN));
    let reads_for = |bytes: u8| {
        let mut card = mounted(device.clone(), nand.clone());
        assert_eq!(status(&mut card, &select(&PINS)), 0x9000);
        let before = reads(&mut card);
        let wrong = [&[0x80, 2, 0, 0, bytes][..], &[9; 8][..usize::from(bytes)]].concat();
        assert_eq!(status(&mut card, &wrong), 0x63C2);
        reads(&mut card) - before
    };
    // Words of the value are read, as many as are compared; the length of the PIN, which is 4, is no exception.
    let counts: Vec<u64> = (1..=8).map(reads_for).collect();
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(most - least <= 2, "{counts:?}");
}

#[test]
fn a_value_is_right_at_its_own_length_alone() {
    let mut card = card_with_pin(OWNER_PIN);
    let value = [1, 2, 3, 4, 5, 6, 7, 8];
    let command =
        |instruction, bytes: u8| [&[0x80, instruction, 0, 0, bytes][..], &value[..usize::from(bytes)]].concat();
    // What is left of the longer value does not count.
    for length in [8, 5, 1] {
        assert_eq!(status(&mut card, &command(12, length)), 0x9000);
        for bytes in 1..=8 {
            let expected = if bytes == length { 0x9000 } else { 0x63C2 };
            assert_eq!(status(&mut card, &command(2, bytes)), expected, "{bytes} bytes of {length}");
            assert_eq!(status(&mut card, &command(2, length)), 0x9000, "{length}");
        }
    }
}

/// Reads of the part so far.
fn reads(card: &mut TestCard) -> u64 {
    card.heap().heap().device_mut().device_mut().0.borrow().counters().reads()
}

#[test]
fn the_rest_of_the_framework_answers() {
    let mut card = card_with_pin(OWNER_PIN);
    assert_eq!(send(&mut card, &select(&PINS)).unwrap(), (vec![1], 0x9000), "selected again");
    card.reset().unwrap();
    assert_eq!(send(&mut card, &select(&PINS)).unwrap(), (vec![0], 0x9000));
    let mut free = |kind| {
        let (data, status) = send(&mut card, &[0x80, 9, kind, 0, 4]).unwrap();
        assert_eq!(status, 0x9000);
        u32::from_be_bytes(data.try_into().unwrap())
    };
    let (flash, ram) = (free(0), free(1));
    assert!(flash > 32_767 && flash < 65_536 && ram > 3_000 && ram < 4_096, "{flash} and {ram}");
    for value in [7, 0x80] {
        let (data, status) = send(&mut card, &[0x80, 10, value, 0, 5]).unwrap();
        assert_eq!((data, status), (vec![70, 0, value, value, 0], 0x9000));
    }
    assert_eq!(send(&mut card, &[0x80, 11, 0, 0, 5]).unwrap(), (vec![7, 0x80, 0x01, 0xFE, 0xDB], 0x9000));
}
