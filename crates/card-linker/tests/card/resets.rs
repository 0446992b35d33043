//! What ciphers and signatures were initialised with, after a reset, a deselection, and a power cut, as the classes'
//! specification says: the state after `init`, with an initial vector of 0; without a value once the event clears a
//! transient key. A cut `init` leaves the state before or the one after it.

use std::fmt::Debug;

use norn_card_vm::Card;
use norn_flash_sim::Tear;

use crate::every_algorithm::hex;
use crate::given::{
    CIPHER, DECRYPT, ENCRYPT, FINISH, GIVEN, INIT, MAKE, SET_KEY, SIGN, SIGNATURE, UPDATE, VERIFY, card_with_given,
    command, key, order,
};
use crate::published_rsa::{ENCRYPTED, PLAIN};
use crate::{PIN, PURSE, TestCard, aid, cut_after, linked, mounted, select, send, status, unmounted};

/// Types of a key of AES, of `KeyBuilder`.
const CLEARED_BY_RESET: u8 = 13;
const CLEARED_BY_DESELECTION: u8 = 14;
const KEPT: u8 = 15;

const KEY: [u8; 16] = [0x2B; 16];
const OTHER: [u8; 16] = [0x7E; 16];
const VECTOR: [u8; 16] = [0xA5; 16];
const DATA: [u8; 32] = [0x6B; 32];

/// `UNINITIALIZED_KEY` and `INVALID_INIT`.
const NO_KEY: u16 = 0x6A02;
const NO_INIT: u16 = 0x6A04;

/// AES: CBC, with a counter, CBC-MAC and CMAC, by kind and algorithm; whether they have an initial vector.
const OBJECTS: [(u8, u8, bool); 4] =
    [(CIPHER, 13, true), (CIPHER, 0xF0, true), (SIGNATURE, 18, true), (SIGNATURE, 49, false)];

/// Something that happens to a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Reset,
    PowerCut,
    Deselection,
}

/// After it, the applet is selected again.
fn happens(event: Event, mut card: TestCard) -> TestCard {
    match event {
        Event::Reset => card.reset().unwrap(),
        Event::PowerCut => card = after_power(card),
        Event::Deselection => assert_eq!(status(&mut card, &select(&PURSE)), 0x9000),
    }
    assert_eq!(status(&mut card, &select(&GIVEN)), 0x9000);
    card
}

fn after_power(card: TestCard) -> TestCard {
    let (mut device, nand) = unmounted(card);
    device.power_on();
    mounted(device, nand)
}

/// A card with all of the objects, initialised by a key of a type, each with half of its data.
fn card_in_between(kind: u8) -> TestCard {
    let mut card = card_with_given();
    card.install_package(&linked().purse.image).unwrap();
    card.install_applet(aid(&PURSE), aid(&PURSE), &PIN).unwrap();
    key(&mut card, 0, (kind, 128), &[&KEY]);
    for (slot, (kind, algorithm, has_vector)) in (0..).zip(OBJECTS) {
        order(&mut card, [MAKE, slot, kind], &[algorithm, 0]).unwrap();
        assert_eq!(order(&mut card, [FINISH, slot, 0], &DATA), Err(NO_INIT), "{algorithm}");
        let vector: &[u8] = if has_vector { &VECTOR } else { &[] };
        let mode = if kind == CIPHER { ENCRYPT } else { SIGN };
        order(&mut card, [INIT, slot, mode], &[&[0], vector].concat()).unwrap();
        order(&mut card, [UPDATE, slot, 0], &DATA[..20]).unwrap();
    }
    card
}

/// What each object gives for data, once it was initialised without a vector.
fn fresh_answers() -> Vec<Vec<u8>> {
    let mut card = card_with_given();
    key(&mut card, 0, (KEPT, 128), &[&KEY]);
    let fresh = |(kind, algorithm, _)| {
        order(&mut card, [MAKE, 0, kind], &[algorithm, 0]).unwrap();
        order(&mut card, [INIT, 0, if kind == CIPHER { ENCRYPT } else { SIGN }], &[0]).unwrap();
        order(&mut card, [FINISH, 0, 0], &DATA).unwrap()
    };
    OBJECTS.map(fresh).to_vec()
}

#[test]
fn objects_are_as_after_init_or_without_a_key() {
    let fresh = fresh_answers();
    for kind in [CLEARED_BY_RESET, CLEARED_BY_DESELECTION, KEPT] {
        for event in [Event::Reset, Event::PowerCut, Event::Deselection] {
            let mut card = happens(event, card_in_between(kind));
            let is_cleared = match kind {
                CLEARED_BY_RESET => event != Event::Deselection,
                CLEARED_BY_DESELECTION => true,
                _ => false,
            };
            if event == Event::Deselection && !is_cleared {
                // Deselection changes nothing: the rest of the data is taken, after what the vector chains to.
                for (slot, (_, algorithm, has_vector)) in (0..).zip(OBJECTS) {
                    let answer = order(&mut card, [FINISH, slot, 0], &DATA[20..]).unwrap();
                    assert_eq!(answer != fresh[usize::from(slot)], has_vector, "key {kind}, {algorithm}");
                }
                continue;
            }
            for slot in 0..4 {
                let context = format!("key {kind}, {event:?}, slot {slot}");
                let answer = order(&mut card, [FINISH, slot, 0], &DATA);
                match is_cleared {
                    true => assert_eq!(answer, Err(NO_KEY), "{context}"),
                    false => assert_eq!(answer.as_ref(), Ok(&fresh[usize::from(slot)]), "{context}"),
                }
            }
            if is_cleared {
                // The same object of a key, with its value again.
                order(&mut card, [SET_KEY, 0, 0], &KEY).unwrap();
                for (slot, (kind, ..)) in (0..).zip(OBJECTS) {
                    let mode = if kind == CIPHER { ENCRYPT } else { SIGN };
                    order(&mut card, [INIT, slot, mode], &[0]).unwrap();
                    let answer = order(&mut card, [FINISH, slot, 0], &DATA).unwrap();
                    assert_eq!(answer, fresh[usize::from(slot)], "key {kind}, {event:?}, slot {slot}");
                }
            }
        }
    }
}

/// Cuts the power at each operation of a command, and says what each card is like afterwards.
fn cut_everywhere<A: Debug>(
    prepared: impl Fn() -> TestCard,
    command: &[u8],
    mut state: impl FnMut(&mut TestCard) -> A,
) -> Vec<A> {
    let mut states = Vec::new();
    for tear in [Tear::Nothing, Tear::Complete] {
        for operation in 0.. {
            let mut card = prepared();
            cut_after(&mut card, operation, tear);
            let is_done = send(&mut card, command).is_ok();
            let mut card = happens(Event::PowerCut, card);
            states.push(state(&mut card));
            if is_done {
                break;
            }
        }
    }
    states
}

#[test]
fn an_update_that_the_power_cuts_leaves_what_init_left() {
    let fresh = fresh_answers();
    // The result goes to flash.
    let update = command([UPDATE, 0, 1], &DATA);
    let states = cut_everywhere(|| card_in_between(KEPT), &update, |card| order(card, [FINISH, 0, 0], &DATA).unwrap());
    assert!(states.len() > 4, "{} states", states.len());
    assert!(states.iter().all(|state| *state == fresh[0]), "{states:02x?}");
}

/// A card whose cipher in slot 0 decrypts by one key; another key is there.
fn card_that_decrypts() -> TestCard {
    let mut card = card_with_given();
    key(&mut card, 0, (KEPT, 128), &[&KEY]);
    key(&mut card, 1, (KEPT, 128), &[&OTHER]);
    order(&mut card, [MAKE, 0, CIPHER], &[14, 0]).unwrap();
    order(&mut card, [INIT, 0, DECRYPT], &[0]).unwrap();
    card
}

#[test]
fn a_cipher_that_the_power_cuts_off_init_has_key_and_mode_of_one() {
    let answer = |card: &mut TestCard| order(card, [FINISH, 0, 0], &DATA).unwrap();
    let before = answer(&mut card_that_decrypts());
    let mut card = card_that_decrypts();
    order(&mut card, [INIT, 0, ENCRYPT], &[1]).unwrap();
    let after = answer(&mut card);
    let states = cut_everywhere(card_that_decrypts, &command([INIT, 0, ENCRYPT], &[1]), answer);
    assert!(states.contains(&before) && states.contains(&after));
    assert!(states.iter().all(|state| [&before, &after].contains(&state)), "a key with another's mode");
}

/// A card whose HMAC, or whose CMAC, in slot 0 signs by one key.
fn card_that_signs(algorithm: u8) -> TestCard {
    let mut card = card_with_given();
    let (kind, bits) = if algorithm == 49 { (KEPT, 128) } else { (21, 64) };
    key(&mut card, 0, (kind, bits), &[&KEY]);
    key(&mut card, 1, (kind, bits), &[&OTHER]);
    order(&mut card, [MAKE, 0, SIGNATURE], &[algorithm, 0]).unwrap();
    order(&mut card, [INIT, 0, SIGN], &[0]).unwrap();
    card
}

#[test]
fn a_code_that_the_power_cuts_off_init_has_key_and_mode_of_one() {
    // To sign is refused by `INVALID_INIT` in the other mode.
    let answer = |card: &mut TestCard| order(card, [FINISH, 0, 0], &DATA);
    for algorithm in [25, 49] {
        let before = answer(&mut card_that_signs(algorithm));
        let init = command([INIT, 0, VERIFY], &[1]);
        for state in cut_everywhere(|| card_that_signs(algorithm), &init, answer) {
            assert!(state == before || state == Err(NO_INIT), "{algorithm}: a key with another's mode");
        }
    }
}

/// A card whose cipher of RSA in slot 0 decrypts by the private key in slot 0; that in slot 1 is free.
fn card_that_decrypts_by_rsa() -> TestCard {
    let mut card = card_with_given();
    let [modulus, exponent] = PLAIN.map(hex);
    key(&mut card, 0, (5, 2048), &[&modulus, &exponent]);
    key(&mut card, 1, (4, 2048), &[&modulus, &[1, 0, 1]]);
    for slot in 0..2 {
        order(&mut card, [MAKE, slot, CIPHER], &[10, 0]).unwrap();
    }
    order(&mut card, [INIT, 0, DECRYPT], &[0]).unwrap();
    card
}

fn in_two(card: &mut TestCard, slot: u8, data: &[u8]) -> Result<Vec<u8>, u16> {
    let (first, rest) = data.split_at(data.len() / 2);
    order(card, [UPDATE, slot, 0], first)?;
    order(card, [FINISH, slot, 0], rest)
}

#[test]
fn rsa_that_the_power_cuts_off_init_encrypts_or_decrypts() {
    let (_, message, encrypted) = ENCRYPTED[0];
    let (message, encrypted) = (hex(message.unwrap()), hex(encrypted));
    let states = cut_everywhere(card_that_decrypts_by_rsa, &command([INIT, 0, ENCRYPT], &[1]), |card| {
        if in_two(card, 0, &encrypted) == Ok(message.clone()) {
            return DECRYPT;
        }
        let sent = in_two(card, 0, b"secret").unwrap();
        order(card, [INIT, 1, DECRYPT], &[0]).unwrap();
        // Refused if it was padded for a private key, which adds nothing random.
        assert_eq!(in_two(card, 1, &sent), Ok(b"secret".to_vec()));
        ENCRYPT
    });
    assert!(states.contains(&DECRYPT) && states.contains(&ENCRYPT));
}
