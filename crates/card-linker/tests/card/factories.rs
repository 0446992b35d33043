//! Every number that a factory of the API may be asked for, on a card with all algorithms and on one with those in
//! little code: it gives what works, or refuses at once.

use std::sync::OnceLock;

use norn_card_crypto::Deterministic;
use norn_card_linker::{LinkedPackage, link};
use norn_card_vm::{AppletCard, Card, Crypto, Journaled, NoCrypto, RustCrypto, SmallCrypto};
use norn_code_pager::Options;
use norn_flash::NorPartition;
use norn_flash_sim::{NandSim, NorSim, catalogue, nand_catalogue};
use norn_object_heap::Config;

use crate::javac::sources;
use crate::{Device, Flash, Packages, UNITS, aid, config, linked, parts, read, select, send, status};

type CardOf<K> = AppletCard<Journaled<Flash, NorPartition<Device>>, Packages, K, 8, 4096, 256>;

const FACTORIES: [u8; 7] = [0xF0, 0, 0, 0, 0x35, 0, 1];

/// Factories, as the applet numbers them.
const DIGEST: u8 = 1;
const INITIALIZED_DIGEST: u8 = 2;
const SIGNATURE: u8 = 3;
const SIGNATURE_OF_PARTS: u8 = 4;
const CIPHER: u8 = 5;
const CIPHER_OF_PARTS: u8 = 6;
const AGREEMENT: u8 = 7;
const CHECKSUM: u8 = 8;
const RANDOM: u8 = 9;
const KEY: u8 = 10;
const PAIR: u8 = 11;

fn package() -> &'static LinkedPackage {
    static PACKAGE: OnceLock<LinkedPackage> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let linked = linked();
        let texts = [("factories/Factories.java", include_str!("../programs/card/factories/Factories.java"))];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let exports = std::slice::from_ref(&linked.api.exports);
        link(&read(&classes), exports, &config(&FACTORIES[..6], &[(&FACTORIES, "factories/Factories")]))
            .unwrap_or_else(|error| panic!("{error}"))
    })
}

fn card_of<K: Crypto>(crypto: K) -> CardOf<K> {
    let [heap, journal] = parts(NorSim::new(catalogue::test_part(UNITS + 1, 4096)));
    let heap = Journaled::mount(Flash::format(heap, Config::default()).unwrap(), journal).unwrap();
    let nand = NandSim::new(nand_catalogue::test_part(64, 16, 512));
    let packages = Packages::mount(nand, Options::default(), ()).unwrap();
    let mut card = CardOf::mount(heap, packages, crypto, 200_000).unwrap();
    card.install_package(&linked().api.image).unwrap();
    card.install_package(&package().image).unwrap();
    card.install_applet(aid(&FACTORIES), aid(&FACTORIES), &[]).unwrap();
    assert_eq!(status(&mut card, &select(&FACTORIES)), 0x9000);
    card
}

/// Whether a factory gives something; what it gives works, and what it refuses it has not.
fn gives<K: Crypto>(card: &mut CardOf<K>, factory: u8, data: [u8; 3]) -> bool {
    let (_, status) = send(card, &[&[0x80, factory, 0, 0, 3], &data[..]].concat()).unwrap();
    assert!(matches!(status, 0x9000 | 0x6A03), "factory {factory}, {data:?}: {status:04X}");
    status == 0x9000
}

/// What a factory gives, of all numbers.
fn given<K: Crypto>(card: &mut CardOf<K>, factory: u8) -> Vec<i8> {
    // -128 is no name of the specification's, but what ciphers raise numbers by.
    (i8::MIN + 1..=i8::MAX).filter(|number| gives(card, factory, [*number as u8, 0, 0])).collect()
}

/// Names of several parts, up to some number each; the third counts from 0.
fn of_parts<K: Crypto>(card: &mut CardOf<K>, factory: u8, [first, second, third]: [u8; 3]) -> Vec<[u8; 3]> {
    let pairs = (0..first).flat_map(|one| (0..second).map(move |other| [one, other]));
    let numbers = pairs.flat_map(|[one, other]| (0..third).map(move |last| [one, other, last]));
    numbers.filter(|number| gives(card, factory, *number)).collect()
}

/// Of keys their types, of pairs their algorithms, and of each the bits.
fn keys<K: Crypto>(card: &mut CardOf<K>, factory: u8, lengths: &[u16]) -> Vec<(u8, Vec<u16>)> {
    let mut found = Vec::new();
    for kind in 0..40_u8 {
        let mut has = |bits: &u16| gives(card, factory, [kind, bits.to_be_bytes()[0], bits.to_be_bytes()[1]]);
        let bits: Vec<u16> = lengths.iter().copied().filter(|bits| has(bits)).collect();
        if !bits.is_empty() {
            found.push((kind, bits));
        }
    }
    found
}

/// `of_parts` of a signature: hash, ciphers and paddings.
fn names(hash: u8, ciphers: &[(u8, &[u8])]) -> Vec<[u8; 3]> {
    ciphers.iter().flat_map(|(cipher, paddings)| paddings.iter().map(|padding| [hash, *cipher, *padding])).collect()
}

/// Every length of a key in `KeyBuilder`.
const LENGTHS: [u16; 24] = [
    64, 112, 113, 128, 131, 160, 163, 192, 193, 224, 256, 384, 512, 521, 736, 768, 896, 1024, 1280, 1536, 1984, 2048,
    3072, 4096,
];
const OF_AES: [u16; 3] = [128, 192, 256];
const OF_DES: [u16; 3] = [64, 128, 192];
const OF_CURVES: [u16; 5] = [192, 224, 256, 384, 521];
const OF_RSA: [u16; 7] = [1024, 1280, 1536, 1984, 2048, 3072, 4096];

/// `of_parts` of a cipher of blocks.
const OF_BLOCKS: [u8; 4] = [1, 2, 3, 6];

fn of_ciphers(ciphers: &[(u8, &[u8])]) -> Vec<[u8; 3]> {
    ciphers.iter().flat_map(|(cipher, paddings)| paddings.iter().map(|padding| [*cipher, *padding, 0])).collect()
}

#[test]
fn what_all_algorithms_name_works_or_is_refused() {
    let mut card = card_of(RustCrypto(Deterministic::new(5)));
    for factory in [DIGEST, INITIALIZED_DIGEST] {
        assert_eq!(given(&mut card, factory), [1, 4, 5, 6, 7]);
    }
    let signatures: Vec<i8> =
        (1..=8).chain([10]).chain(17..=21).chain(24..=27).chain([33, 34]).chain(37..=49).collect();
    assert_eq!(given(&mut card, SIGNATURE), signatures);
    let mut parts = names(0, &[(1, &[1, 2, 3, 4, 5, 6]), (2, &[1, 2, 3, 4, 5, 6]), (6, &[1]), (10, &[0, 1, 3])]);
    for hash in [1, 4, 5, 6] {
        parts.extend(names(hash, &[(3, &[7, 8]), (5, &[0]), (7, &[0])]));
    }
    parts.extend(names(7, &[(3, &[7, 8]), (5, &[0])]));
    assert_eq!(of_parts(&mut card, SIGNATURE_OF_PARTS, [12, 11, 21]), parts);
    let ciphers: Vec<i8> = [-16].into_iter().chain(1..=8).chain([10]).chain(12..=15).chain(18..=27).collect();
    assert_eq!(given(&mut card, CIPHER), ciphers);
    let parts = of_ciphers(&[
        (1, &OF_BLOCKS),
        (2, &OF_BLOCKS),
        (3, &OF_BLOCKS),
        (4, &OF_BLOCKS),
        (7, &[1, 7, 9, 13, 14, 15, 16]),
    ]);
    assert_eq!(of_parts(&mut card, CIPHER_OF_PARTS, [9, 21, 1]), parts);
    assert_eq!(given(&mut card, AGREEMENT), [1, 2, 3, 4, 6]);
    assert_eq!(given(&mut card, CHECKSUM), [1, 2]);
    assert_eq!(given(&mut card, RANDOM), [1, 2, 5, 6]);
    let mut expected = Vec::new();
    for (kinds, bits) in [
        (1..=3, &OF_DES[..]),
        (4..=6, &OF_RSA),
        (11..=12, &OF_CURVES),
        (13..=15, &OF_AES),
        (19..=21, &[64, 128]),
        (22..=25, &OF_RSA),
        (30..=31, &OF_CURVES),
    ] {
        expected.extend(kinds.map(|kind| (kind, bits.to_vec())));
    }
    assert_eq!(keys(&mut card, KEY, &LENGTHS), expected);
    // Longer keys of RSA take their time, and are drawn elsewhere.
    let pairs = [(1, vec![1024]), (2, vec![1024]), (5, OF_CURVES.to_vec())];
    assert_eq!(keys(&mut card, PAIR, &LENGTHS[..18]), pairs);
}

#[test]
fn what_little_code_has_works_and_the_rest_is_refused() {
    let mut card = card_of(SmallCrypto(Deterministic::new(5)));
    for factory in [DIGEST, INITIALIZED_DIGEST] {
        assert_eq!(given(&mut card, factory), [4, 7]);
    }
    assert_eq!(given(&mut card, SIGNATURE), [18, 25, 33, 37, 49]);
    let parts = [names(0, &[(6, &[1]), (10, &[0, 1, 3])]), names(4, &[(5, &[0]), (7, &[0])]), names(7, &[(5, &[0])])];
    assert_eq!(of_parts(&mut card, SIGNATURE_OF_PARTS, [12, 11, 21]), parts.concat());
    let ciphers: Vec<i8> = [-16, 13, 14].into_iter().chain(18..=27).collect();
    assert_eq!(given(&mut card, CIPHER), ciphers);
    let parts = of_ciphers(&[(1, &OF_BLOCKS), (2, &OF_BLOCKS)]);
    assert_eq!(of_parts(&mut card, CIPHER_OF_PARTS, [9, 21, 1]), parts);
    assert_eq!(given(&mut card, AGREEMENT), [3, 4, 6]);
    assert_eq!(given(&mut card, CHECKSUM), [1, 2]);
    assert_eq!(given(&mut card, RANDOM), [1, 2, 5, 6]);
    let mut expected = Vec::new();
    for (kinds, bits) in [(11..=12, &[256][..]), (13..=15, &OF_AES), (19..=21, &[64]), (30..=31, &[256])] {
        expected.extend(kinds.map(|kind| (kind, bits.to_vec())));
    }
    assert_eq!(keys(&mut card, KEY, &LENGTHS), expected);
    assert_eq!(keys(&mut card, PAIR, &LENGTHS), [(5, vec![256])]);
}

#[test]
fn without_algorithms_all_but_checksums_is_refused() {
    let mut card = card_of(NoCrypto);
    for factory in [DIGEST, INITIALIZED_DIGEST, SIGNATURE, CIPHER, AGREEMENT, RANDOM] {
        assert_eq!(given(&mut card, factory), [], "{factory}");
    }
    assert_eq!(given(&mut card, CHECKSUM), [1, 2]);
    for factory in [KEY, PAIR] {
        assert_eq!(keys(&mut card, factory, &LENGTHS), [], "{factory}");
    }
}
