//! The API's algorithms, through an applet.

use norn_card_linker::link;
use norn_card_vm::Card;

use crate::javac::sources;
use crate::{TestCard, aid, config, linked, mounted, new_card, read, select, send, status, unmounted};

const VAULT: [u8; 7] = [0xF0, 0, 0, 0, 5, 0, 1];

/// Bytes from hexadecimal digits.
fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|digit| !digit.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn card_with_vault() -> TestCard {
    let linked = linked();
    let texts = [("vault/Vault.java", include_str!("../programs/card/vault/Vault.java"))];
    let (_, classes) = sources(&texts, &[&linked.lang, &linked.main]);
    let vault = config(&VAULT[..6], &[(&VAULT, "vault/Vault")]);
    let vault = link(&read(&classes), std::slice::from_ref(&linked.api.exports), &vault);
    let mut card = new_card();
    card.install_package(&vault.unwrap_or_else(|error| panic!("{error}")).image).unwrap();
    card.install_applet(aid(&VAULT), aid(&VAULT), &[]).unwrap();
    assert_eq!(status(&mut card, &select(&VAULT)), 0x9000);
    card
}

/// What the vault computes of data.
fn computed(card: &mut TestCard, instruction: u8, data: &[u8]) -> Vec<u8> {
    let command = match data.len() {
        0 => vec![0x80, instruction, 0, 0, 0],
        length => [&[0x80, instruction, 0, 0, length as u8][..], data, &[0]].concat(),
    };
    let (answer, status) = send(card, &command).unwrap();
    assert_eq!(status, 0x9000, "{instruction}");
    answer
}

#[test]
fn algorithms_give_the_published_answers() {
    let mut card = card_with_vault();
    // FIPS 180-4's examples: one block, and two.
    let two = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    assert_eq!(computed(&mut card, 1, b"abc"), hex("A9993E364706816ABA3E25717850C26C9CD0D89D"));
    assert_eq!(computed(&mut card, 1, two), hex("84983E441C3BD26EBAAE4AA1F95129E5E54670F1"));
    let abc = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
    assert_eq!(computed(&mut card, 2, b"abc"), hex(abc));
    let of_two = "248D6A61D20638B8E5C026930C3E6039A33CE45964FF2167F6ECEDD419DB06C1";
    assert_eq!(computed(&mut card, 2, two), hex(of_two));
    // FIPS 197, C.1; and the way back.
    let (key, plain) = ("000102030405060708090A0B0C0D0E0F", "00112233445566778899AABBCCDDEEFF");
    let encrypted = "69C4E0D86A7B0430D8CDB78070B4C55A";
    assert_eq!(computed(&mut card, 3, &hex(&format!("{key}{plain}"))), hex(&format!("{encrypted}{plain}")));
    // SP 800-38A, F.2.1: two blocks of CBC.
    let given = "2B7E151628AED2A6ABF7158809CF4F3C 000102030405060708090A0B0C0D0E0F \
                 6BC1BEE22E409F96E93D7E117393172A AE2D8A571E03AC9C9EB76FAC45AF8E51";
    let chained = "7649ABAC8119B246CEE98E9B12E9197D 5086CB9B507219EE95DB113A917678B2";
    assert_eq!(computed(&mut card, 4, &hex(given)), hex(chained));
    // Padded data of any length comes back, in two pieces each way, and takes whole blocks.
    for length in 0..64 {
        let data: Vec<u8> = (0..length).map(|byte| byte * 3).collect();
        let answer = computed(&mut card, 10, &data);
        assert_eq!((answer[0], &answer[1..]), ((length / 16 + 1) * 16, &data[..]), "{length}");
    }
    // Keys that are drawn: a signature holds for its data alone, and both sides share a secret.
    for data in [&b"1"[..], b"pay 5", &[7; 200]] {
        assert_eq!(computed(&mut card, 5, data), [1, 0]);
    }
    let secrets = computed(&mut card, 6, &[]);
    assert_eq!(secrets[..32], secrets[32..]);
    assert_ne!(computed(&mut card, 6, &[]), secrets);
    let (one, other) = (computed(&mut card, 7, &[]), computed(&mut card, 7, &[]));
    assert!(one.len() == 100 && one != other);
    assert_eq!(computed(&mut card, 9, &[]), [0, 3]);
    // Keys are on flash: a reset keeps them, and so does a new mount.
    let point = computed(&mut card, 8, &[]);
    assert_eq!((point.len(), point[0]), (65, 4));
    let (device, nand) = unmounted(card);
    let mut card = mounted(device, nand);
    assert_eq!(status(&mut card, &select(&VAULT)), 0x9000);
    assert_eq!(computed(&mut card, 8, &[]), point);
}
