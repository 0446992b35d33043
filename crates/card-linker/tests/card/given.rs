//! Keys and algorithms that an applet keeps, set and used by commands: published answers of RSA, and what checksums
//! start with.

use std::sync::OnceLock;

use norn_card_linker::{LinkedPackage, link};
use norn_card_vm::Card;

use crate::every_algorithm::hex;
use crate::javac::sources;
use crate::published_rsa::{ENCRYPTED, PADDED, PLAIN, SIGNED};
use crate::{TestCard, aid, config, linked, new_card, read, select, send, status};

pub const GIVEN: [u8; 7] = [0xF0, 0, 0, 0, 0x34, 0, 1];

/// Types of keys, of `KeyBuilder`.
const RSA_PUBLIC: u8 = 4;
const RSA_PRIVATE: u8 = 5;
const RSA_FACTORS: u8 = 6;
const EC_PRIVATE: u8 = 12;

/// Kinds of objects, as the applet numbers them.
pub const DIGEST: u8 = 0;
pub const SIGNATURE: u8 = 1;
pub const CIPHER: u8 = 2;
pub const CHECKSUM: u8 = 3;
const PADDED_CIPHER: u8 = 4;

/// Modes, of `Signature`; of `Cipher` the second one encrypts.
pub const SIGN: u8 = 1;
pub const VERIFY: u8 = 2;
pub const DECRYPT: u8 = 1;
pub const ENCRYPT: u8 = 2;

pub const MAKE_KEY: u8 = 1;
pub const SET_KEY: u8 = 2;
pub const MAKE: u8 = 3;
pub const INIT: u8 = 4;
pub const UPDATE: u8 = 5;
pub const FINISH: u8 = 6;
const VERIFIES: u8 = 7;
const FILL_ROOM: u8 = 8;
const SIGN_HASH: u8 = 9;

pub fn package() -> &'static LinkedPackage {
    static PACKAGE: OnceLock<LinkedPackage> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let linked = linked();
        let texts = [("given/Given.java", include_str!("../programs/card/given/Given.java"))];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let exports = std::slice::from_ref(&linked.api.exports);
        link(&read(&classes), exports, &config(&GIVEN[..6], &[(&GIVEN, "given/Given")]))
            .unwrap_or_else(|error| panic!("{error}"))
    })
}

pub fn card_with_given() -> TestCard {
    let mut card = new_card();
    card.install_package(&package().image).unwrap();
    card.install_applet(aid(&GIVEN), aid(&GIVEN), &[]).unwrap();
    assert_eq!(status(&mut card, &select(&GIVEN)), 0x9000);
    card
}

/// The command for an instruction, its parameters and data.
pub fn command([instruction, first, second]: [u8; 3], data: &[u8]) -> Vec<u8> {
    match data.len() {
        0 => vec![0x80, instruction, first, second, 0],
        length => [&[0x80, instruction, first, second, length as u8][..], data, &[0]].concat(),
    }
}

/// The answer to a command, or what it was refused with.
pub fn order(card: &mut TestCard, head: [u8; 3], data: &[u8]) -> Result<Vec<u8>, u16> {
    match send(card, &command(head, data)).unwrap() {
        (answer, 0x9000) => Ok(answer),
        (_, status) => Err(status),
    }
}

/// Makes a key of a type in a slot, with values for its parts.
pub fn key(card: &mut TestCard, slot: u8, (kind, bits): (u8, usize), parts: &[&[u8]]) {
    order(card, [MAKE_KEY, slot, kind], &(bits as u16).to_be_bytes()).unwrap();
    for (part, value) in (0..).zip(parts) {
        if value.len() == 256 {
            fill_room(card, value);
            order(card, [SET_KEY, slot, part], &[]).unwrap();
        } else {
            order(card, [SET_KEY, slot, part], value).unwrap();
        }
    }
}

fn fill_room(card: &mut TestCard, bytes: &[u8]) {
    for (place, piece) in (0..).zip(bytes.chunks(128)) {
        order(card, [FILL_ROOM, place, 0], piece).unwrap();
    }
}

/// Whether the object in a slot verifies a signature; its key is in slot 1.
fn verifies(card: &mut TestCard, message: &[u8], signature: &[u8]) -> bool {
    order(card, [INIT, 0, VERIFY], &[1]).unwrap();
    verifies_by(card, (0, 0), message, signature)
}

/// Whether an object that is initialised verifies a signature of its data and these; something is added to the
/// instruction.
pub fn verifies_by(card: &mut TestCard, (slot, added): (u8, u8), message: &[u8], signature: &[u8]) -> bool {
    fill_room(card, signature);
    order(card, [VERIFIES | added, slot, signature.len() as u8], message).unwrap() == [1]
}

const EXPONENT: [u8; 3] = [1, 0, 1];

#[test]
fn rsa_signs_as_published() {
    let mut card = card_with_given();
    for (algorithm, texts) in SIGNED {
        let [modulus, exponent, message, signature] = texts.map(hex);
        let bits = modulus.len() * 8;
        key(&mut card, 0, (RSA_PRIVATE, bits), &[&modulus, &exponent]);
        key(&mut card, 1, (RSA_PUBLIC, bits), &[&modulus, &EXPONENT]);
        order(&mut card, [MAKE, 0, SIGNATURE], &[algorithm, 0]).unwrap();
        order(&mut card, [INIT, 0, SIGN], &[0]).unwrap();
        assert_eq!(order(&mut card, [FINISH, 0, 0], &message).unwrap(), signature, "{algorithm}");
        assert!(verifies(&mut card, &message, &signature), "{algorithm}");
        assert!(!verifies(&mut card, &message[1..], &signature), "{algorithm}");
    }
}

#[test]
fn rsa_verifies_pss_and_decrypts_oaep_as_published() {
    let mut card = card_with_given();
    for padded in PADDED {
        let modulus = hex(padded.modulus);
        let factors = padded.factors.map(hex);
        key(&mut card, 0, (RSA_FACTORS, 2048), &factors.each_ref().map(Vec::as_slice));
        key(&mut card, 1, (RSA_PUBLIC, 2048), &[&modulus, &EXPONENT]);
        order(&mut card, [MAKE, 0, SIGNATURE], &[padded.algorithm, 0]).unwrap();
        let [message, signature] = padded.signed.map(hex);
        assert!(verifies(&mut card, &message, &signature), "{}", padded.algorithm);
        for byte in [0, 100, 255] {
            let mut wrong = signature.clone();
            wrong[byte] ^= 1;
            assert!(!verifies(&mut card, &message, &wrong), "{}, byte {byte}", padded.algorithm);
        }
        // The card's own, of the same key.
        order(&mut card, [INIT, 0, SIGN], &[0]).unwrap();
        let own = order(&mut card, [FINISH, 0, 0], &message).unwrap();
        assert!(own != signature && verifies(&mut card, &message, &own), "{}", padded.algorithm);
        let [message, encrypted] = padded.encrypted.map(hex);
        order(&mut card, [MAKE, 1, PADDED_CIPHER], &[7, padded.padding]).unwrap();
        assert_eq!(decrypted(&mut card, &encrypted), Ok(message), "{}", padded.padding);
        let mut wrong = encrypted;
        wrong[9] ^= 1;
        assert_eq!(decrypted(&mut card, &wrong), Err(0x6A05), "{}", padded.padding);
    }
}

/// What the cipher in slot 1 makes of data in two pieces, by the key in slot 0.
fn decrypted(card: &mut TestCard, data: &[u8]) -> Result<Vec<u8>, u16> {
    order(card, [INIT, 1, DECRYPT], &[0])?;
    let (first, rest) = data.split_at(data.len() / 2);
    assert_eq!(order(card, [UPDATE, 1, 0], first)?, []);
    order(card, [FINISH, 1, 0], rest)
}

#[test]
fn rsa_decrypts_and_refuses_paddings_as_published() {
    let mut card = card_with_given();
    let [modulus, exponent] = PLAIN.map(hex);
    key(&mut card, 0, (RSA_PRIVATE, 2048), &[&modulus, &exponent]);
    order(&mut card, [MAKE, 1, CIPHER], &[10, 0]).unwrap();
    for (number, message, encrypted) in ENCRYPTED {
        let expected = message.map(hex).ok_or(0x6A05);
        assert_eq!(decrypted(&mut card, &hex(encrypted)), expected, "{number}");
    }
}

#[test]
fn checksums_start_with_what_they_are_given() {
    let mut card = card_with_given();
    // CRC-16/GENIBUS and CRC-32/ISO-HDLC, whose registers start with ones; the API's start with 0 again after a result.
    for (algorithm, ones, of_ones, of_zeros) in
        [(1, &[0xFF; 2][..], "D64E", "CE3C"), (2, &[0xFF; 4], "CBF43926", "D202D277")]
    {
        order(&mut card, [MAKE, 0, CHECKSUM], &[algorithm, 0]).unwrap();
        for (start, code) in [(Some(ones), of_ones), (None, of_zeros), (None, of_zeros)] {
            if let Some(ones) = start {
                order(&mut card, [INIT, 0, 0], &[&[0][..], ones].concat()).unwrap();
            }
            order(&mut card, [UPDATE, 0, 0], b"1234").unwrap();
            assert_eq!(order(&mut card, [FINISH, 0, 0], b"56789").unwrap(), hex(code), "{algorithm}");
        }
        assert_eq!(order(&mut card, [INIT, 0, 0], &[0, 1, 2, 3]), Err(0x6A01), "{algorithm}");
    }
}

/// An object for signatures that signs verifies nothing, and the other way round; a hash has its length, and a secret
/// number has one.
#[test]
fn what_signatures_are_not_for_is_refused() {
    let (no_init, illegal_use, illegal_value) = (0x6A04, 0x6A05, 0x6A01);
    let mut card = card_with_given();
    let [modulus, exponent] = PLAIN.map(hex);
    key(&mut card, 0, (RSA_PRIVATE, 2048), &[&modulus, &exponent]);
    key(&mut card, 1, (RSA_PUBLIC, 2048), &[&modulus, &EXPONENT]);
    order(&mut card, [MAKE, 0, SIGNATURE], &[10, 0]).unwrap();
    order(&mut card, [INIT, 0, SIGN], &[0]).unwrap();
    assert_eq!(order(&mut card, [VERIFIES, 0, 0], b"text"), Err(no_init));
    assert_eq!(order(&mut card, [SIGN_HASH, 0, 0], &[7; 20]).map(|signature| signature.len()), Ok(256));
    for length in [1, 19, 21] {
        assert_eq!(order(&mut card, [SIGN_HASH, 0, 0], &vec![7; length]), Err(illegal_use), "{length}");
    }
    order(&mut card, [INIT, 0, VERIFY], &[1]).unwrap();
    assert_eq!(order(&mut card, [FINISH, 0, 0], b"text"), Err(no_init));
    assert_eq!(order(&mut card, [SIGN_HASH, 0, 0], &[7; 20]), Err(no_init));

    key(&mut card, 2, (EC_PRIVATE, 256), &[]);
    assert_eq!(order(&mut card, [SET_KEY, 2, 1], &[1]), Err(illegal_value));
    order(&mut card, [SET_KEY, 2, 0], &[1]).unwrap();
}
