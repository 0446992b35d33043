//! Every algorithm of the API, made by an applet for what it is asked: published answers, and those of other
//! implementations.

use std::sync::OnceLock;

use norn_card_crypto::{Curve, Deterministic, Parameter};
use norn_card_linker::{LinkedPackage, link};
use norn_card_vm::Card;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use crate::javac::sources;
use crate::{TestCard, aid, config, linked, new_card, read, select, send, status};

const ALGORITHMS: [u8; 6] = [0xF0, 0, 0, 0, 8, 1];
const DIGEST: u8 = 1;
const CODE_OF_AES: u8 = 2;
const CODE_OF_DES: u8 = 3;
const CODE_OF_HMAC: u8 = 4;
const CIPHER_OF_AES: u8 = 5;
const CIPHER_OF_DES: u8 = 6;
const CHECKSUM: u8 = 7;

pub fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|digit| !digit.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The applet that makes algorithms, linked once for all tests.
fn algorithms() -> &'static LinkedPackage {
    static PACKAGE: OnceLock<LinkedPackage> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let linked = linked();
        let texts = [("algorithms/Algorithms.java", include_str!("../programs/card/algorithms/Algorithms.java"))];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let package = config(&ALGORITHMS[..5], &[(&ALGORITHMS, "algorithms/Algorithms")]);
        let package = link(&read(&classes), std::slice::from_ref(&linked.api.exports), &package);
        package.unwrap_or_else(|error| panic!("{error}"))
    })
}

pub fn card_with_algorithms() -> TestCard {
    let mut card = new_card();
    card.install_package(&algorithms().image).unwrap();
    card.install_applet(aid(&ALGORITHMS), aid(&ALGORITHMS), &[]).unwrap();
    assert_eq!(status(&mut card, &select(&ALGORITHMS)), 0x9000);
    card
}

pub fn command(instruction: u8, parameters: [u8; 2], data: &[u8]) -> Vec<u8> {
    let [first, second] = parameters;
    match data.len() {
        0 => vec![0x80, instruction, first, second, 0],
        length => [&[0x80, instruction, first, second, length as u8][..], data, &[0]].concat(),
    }
}

pub fn ask(card: &mut TestCard, instruction: u8, parameters: [u8; 2], data: &[u8]) -> Vec<u8> {
    let (answer, status) = send(card, &command(instruction, parameters, data)).unwrap();
    assert_eq!(status, 0x9000, "{instruction} {parameters:?}: {status:04X}");
    answer
}

/// What an algorithm makes of data, by a key and an initial vector; cut in two in several ways.
fn computed(
    card: &mut TestCard,
    (instruction, algorithm): (u8, u8),
    key: &[u8],
    vector: &[u8],
    data: &[u8],
) -> Vec<u8> {
    let given = [&[key.len() as u8][..], key, &[vector.len() as u8], vector, data].concat();
    let mut answers = [0, data.len() / 2, data.len()].map(|at| ask(card, instruction, [algorithm, at as u8], &given));
    let answer = std::mem::take(&mut answers[0]);
    assert!(answers[1..].iter().all(|other| *other == answer), "{instruction} {algorithm}");
    answer
}

fn refused(card: &mut TestCard, (instruction, algorithm): (u8, u8), key: &[u8], data: &[u8]) -> u16 {
    let given = [&[key.len() as u8][..], key, &[0], data].concat();
    status(card, &command(instruction, [algorithm, 0], &given))
}

#[test]
fn hashes_of_every_length() {
    let mut card = card_with_algorithms();
    type Hashes = fn(&[u8]) -> Vec<u8>;
    let known: [(u8, Hashes); 5] = [
        (1, |data| Sha1::digest(data).to_vec()),
        (7, |data| Sha224::digest(data).to_vec()),
        (4, |data| Sha256::digest(data).to_vec()),
        (5, |data| Sha384::digest(data).to_vec()),
        (6, |data| Sha512::digest(data).to_vec()),
    ];
    for (algorithm, hash) in known {
        for length in (0..20).chain(50..72).chain(100..150).chain(190..200) {
            let data: Vec<u8> = (0..length).map(|byte: u8| byte.wrapping_mul(7)).collect();
            assert_eq!(computed(&mut card, (DIGEST, algorithm), &[], &[], &data), hash(&data), "{algorithm} {length}");
        }
    }
    // FIPS 180-4's example.
    let abc = "23097D223405D8228642A477BDA255B32AADBCE4BDA0B3F7E36C9DA7";
    assert_eq!(computed(&mut card, (DIGEST, 7), &[], &[], b"abc"), hex(abc));
    for algorithm in [0, 2, 3, 8, 11, 99] {
        assert_eq!(refused(&mut card, (DIGEST, algorithm), &[], b"abc"), 0x6A03, "{algorithm}");
    }
}

const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                     30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
const AES_128: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const AES_192: &str = "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b";
const AES_256: &str = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";
const DES: &str = "0123456789abcdef23456789abcdef01456789abcdef0123";

#[test]
fn ciphers_give_the_published_answers() {
    let mut card = card_with_algorithms();
    let vector: Vec<u8> = (0..16).collect();
    let counter: Vec<u8> = (0xF0..=0xFF).collect();
    // SP 800-38A, F.2 and F.5: algorithm, key, initial vector, cipher text.
    let known = [
        (
            13,
            AES_128,
            &vector,
            "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2\
                                73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
        ),
        (
            18,
            AES_192,
            &vector,
            "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a\
                                571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
        ),
        (
            20,
            AES_256,
            &vector,
            "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d\
                                39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
        ),
        (
            0xF0,
            AES_128,
            &counter,
            "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff\
                                   5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
        ),
        (
            0xF0,
            AES_192,
            &counter,
            "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94\
                                   1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050",
        ),
    ];
    for (algorithm, key, vector, cipher) in known {
        let data = hex(PLAIN);
        assert_eq!(computed(&mut card, (CIPHER_OF_AES, algorithm), &hex(key), vector, &data), hex(cipher));
    }
    // A counter serves any number of bytes.
    let answer = computed(&mut card, (CIPHER_OF_AES, 0xF0), &hex(AES_128), &counter, &hex(PLAIN)[..21]);
    assert_eq!(answer, hex("874d6191b620e3261bef6864990db6ce9806f66b79"));
    // By OpenSSL: PKCS#5 with AES, and DES three times and once.
    let answer = computed(&mut card, (CIPHER_OF_AES, 24), &hex(AES_128), &vector, &hex(PLAIN)[..21]);
    assert_eq!(answer, hex("7649abac8119b246cee98e9b12e9197d40053932ebc80b58118369062552a01d"));
    let (vector, data) = (&vector[..8], &hex(PLAIN)[..24]);
    let known = [
        (1, 24, vector, 24, "df4fb48a5c3414fa340a1553efae84317b4c6aab8845fb92"),
        (4, 24, vector, 24, "df4fb48a5c3414fa340a1553efae84317b4c6aab8845fb926b757849337944d1"),
        (7, 24, &[], 20, "714772f339841d34267fcc4bd2949cc3efdee6b617139a45"),
        (5, 16, &[], 24, "06ede3d82884090aff322c19f0518486730576972a666e58"),
        (1, 8, &[0; 8], 24, "7277a00dc1c1c36ba710311ea2d46eb09aa4930f3ecc5950"),
    ];
    for (algorithm, key, vector, length, cipher) in known {
        let answer = computed(&mut card, (CIPHER_OF_DES, algorithm), &hex(DES)[..key], vector, &data[..length]);
        assert_eq!(answer, hex(cipher), "{algorithm}");
    }
    // Every padding takes every length, and the applet brings the data back.
    for (instruction, key, algorithms) in
        [(CIPHER_OF_AES, AES_256, [22, 23, 24, 25, 26, 27]), (CIPHER_OF_DES, DES, [2, 3, 4, 6, 7, 8])]
    {
        let block = if instruction == CIPHER_OF_AES { 16 } else { 8 };
        for (algorithm, place) in algorithms.into_iter().zip([0, 1, 2].into_iter().cycle()) {
            for length in 0..40 {
                let data = vec![length as u8 | 0x40; length];
                let answer = computed(&mut card, (instruction, algorithm), &hex(key), &[], &data);
                let padded = if place == 0 { length.next_multiple_of(block) } else { (length / block + 1) * block };
                assert_eq!(answer.len(), padded, "{algorithm}: {length}");
            }
        }
    }
    // Keys of other lengths, ciphers of other keys, data that are no blocks.
    assert_eq!(refused(&mut card, (CIPHER_OF_AES, 20), &hex(AES_128), &[0; 16]), 0x6A01);
    assert_eq!(refused(&mut card, (CIPHER_OF_AES, 1), &hex(AES_128), &[0; 16]), 0x6A01);
    assert_eq!(refused(&mut card, (CIPHER_OF_AES, 13), &[0; 20], &[0; 16]), 0x6A03);
    assert_eq!(refused(&mut card, (CIPHER_OF_AES, 13), &hex(AES_128), &[0; 15]), 0x6A05);
    assert_eq!(refused(&mut card, (CIPHER_OF_AES, 16), &hex(AES_128), &[0; 16]), 0x6A03);
}

#[test]
fn codes_give_the_published_answers() {
    let mut card = card_with_algorithms();
    // SP 800-38B, D.1 to D.3.
    let known = [
        (AES_128, 0, "bb1d6929e95937287fa37d129b756746"),
        (AES_128, 16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (AES_128, 40, "dfa66747de9ae63030ca32611497c827"),
        (AES_128, 64, "51f0bebf7e3b9d92fc49741779363cfe"),
        (AES_192, 0, "d17ddf46adaacde531cac483de7a9367"),
        (AES_192, 40, "8a1de5be2eb31aad089a82e6ee908b0e"),
        (AES_256, 16, "28a7023f452e8f82bd4bf28d8c37c35c"),
        (AES_256, 40, "aaf3d8f1de5640c232f5b169b9c911e6"),
        (AES_256, 64, "e1992190549f6ed5696a2c056c315410"),
    ];
    for (key, length, code) in known {
        let data = &hex(PLAIN)[..length];
        assert_eq!(computed(&mut card, (CODE_OF_AES, 49), &hex(key), &[], data), hex(code), "{length}");
    }
    // CBC's last block.
    let vector: Vec<u8> = (0..16).collect();
    let last = computed(&mut card, (CODE_OF_AES, 18), &hex(AES_128), &vector, &hex(PLAIN));
    assert_eq!(last, hex("3ff1caa1681fac09120eca307586e1a7"));
    let data = &hex(PLAIN)[..24];
    assert_eq!(computed(&mut card, (CODE_OF_DES, 2), &hex(DES), &vector[..8], data), hex("7b4c6aab8845fb92"));
    assert_eq!(computed(&mut card, (CODE_OF_DES, 1), &hex(DES), &vector[..8], data), hex("7b4c6aab"));
    assert_eq!(computed(&mut card, (CODE_OF_DES, 8), &hex(DES), &vector[..8], data), hex("6b757849337944d1"));
    assert_eq!(refused(&mut card, (CODE_OF_DES, 2), &hex(DES), &data[..23]), 0x6A05);
    // ICAO 9303-11, D.3: the retail MAC of a passport's basic access control.
    let key = hex("7962D9ECE03D1ACD4C76089DCE131543");
    let data = hex("72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2");
    assert_eq!(computed(&mut card, (CODE_OF_DES, 20), &key, &[], &data), hex("5F1448EEA8AD90A7"));
    assert_eq!(computed(&mut card, (CODE_OF_DES, 19), &key, &[], &data), hex("5F1448EE"));
    assert_eq!(refused(&mut card, (CODE_OF_DES, 20), &key[..8], &data), 0x6A01, "one key of DES");
    // RFC 2202 and RFC 4231, test cases 1 and 2.
    let known = [
        (24, "b617318655057264e28bc0b6fb378c8ef146be00", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (
            25,
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (
            26,
            "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6",
            "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
        ),
        (
            27,
            "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4\
             be9d914eeb61f1702e696c203a126854",
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fd\
             caeab1a34d4a6b4b636e070a38bce737",
        ),
    ];
    for (algorithm, one, other) in known {
        assert_eq!(computed(&mut card, (CODE_OF_HMAC, algorithm), &[0x0B; 20], &[], b"Hi There"), hex(one));
        let data = b"what do ya want for nothing?";
        assert_eq!(computed(&mut card, (CODE_OF_HMAC, algorithm), b"Jefe", &[], data), hex(other));
    }
    assert_eq!(refused(&mut card, (CODE_OF_HMAC, 25), &[7; 65], b"a key beyond a block"), 0x6A01);
    // Codes that start with 0: that of CRC-16/XMODEM is 31C3, which the API inverts.
    assert_eq!(computed(&mut card, (CHECKSUM, 1), &[], &[], b"123456789"), hex("CE3C"));
    assert_eq!(computed(&mut card, (CHECKSUM, 2), &[], &[], b"123456789"), hex("D202D277"));
}

#[test]
fn every_curve_signs_and_agrees() {
    let mut card = card_with_algorithms();
    // Bits of the field, and whether its prime has to be given: three curves have 256.
    let curves = [
        (Curve::P192, 192_u16, false),
        (Curve::P224, 224, false),
        (Curve::P256, 256, false),
        (Curve::P384, 384, false),
        (Curve::P521, 521, false),
        (Curve::P256, 256, true),
        (Curve::BrainpoolP256, 256, true),
        (Curve::Secp256k1, 256, true),
    ];
    for (curve, bits, is_given) in curves {
        let field = if is_given { curve.parameter(Parameter::Field) } else { &[] };
        let point = ask(&mut card, 8, bits.to_be_bytes(), field);
        assert_eq!((point.len(), point[0]), (curve.point_bytes(), 4), "{curve:?}");
        let secret = ask(&mut card, 11, [0, 0], &[]);
        let mut public = vec![0; curve.point_bytes()];
        curve.public(&secret, &mut public).unwrap();
        assert_eq!(public, point, "{curve:?}");
        let parameters = [Parameter::Field, Parameter::A, Parameter::B, Parameter::Generator, Parameter::Order];
        for (which, parameter) in (0..).zip(parameters) {
            assert_eq!(ask(&mut card, 12, [which, 0], &[]), curve.parameter(parameter), "{curve:?}");
        }
        let data = b"pay 5";
        let hashes = [
            (17, Sha1::digest(data).to_vec()),
            (37, Sha224::digest(data).to_vec()),
            (33, Sha256::digest(data).to_vec()),
            (34, Sha384::digest(data).to_vec()),
            (38, Sha512::digest(data).to_vec()),
        ];
        for (algorithm, hash) in hashes {
            let signature = ask(&mut card, 9, [algorithm, 0], data);
            assert!(curve.verify(&point, &hash, &signature), "{curve:?}, {algorithm}");
        }
        // The same secret on both sides: hashed, plain, and the whole point.
        let (mut own, mut other) = (vec![0; curve.field_bytes()], vec![0; curve.point_bytes()]);
        curve.generate(&mut Deterministic::new(99), &mut own, &mut other).unwrap();
        let mut product = vec![0; curve.point_bytes()];
        curve.agree(&own, &point, &mut product).unwrap();
        let x = &product[1..=curve.field_bytes()];
        for (algorithm, secret) in
            [(3, x.to_vec()), (4, x.to_vec()), (1, Sha1::digest(x).to_vec()), (6, product.clone())]
        {
            assert_eq!(ask(&mut card, 10, [algorithm, 0], &other), secret, "{curve:?}");
        }
        other[curve.field_bytes()] ^= 1;
        assert_eq!(status(&mut card, &command(10, [3, 0], &other)), 0x6A01, "{curve:?}: no point of it");
    }
    for bits in [112_u16, 128, 160, 163, 255, 320] {
        assert_eq!(status(&mut card, &command(8, bits.to_be_bytes(), &[])), 0x6A03, "{bits}");
    }
    // Parameters of two curves are none.
    let mixed = [Curve::Secp256k1.parameter(Parameter::Field), Curve::P256.parameter(Parameter::Generator)].concat();
    assert_eq!(status(&mut card, &command(13, 256_u16.to_be_bytes(), &mixed)), 0x6A01);
    let right =
        [Curve::Secp256k1.parameter(Parameter::Field), Curve::Secp256k1.parameter(Parameter::Generator)].concat();
    assert_eq!(status(&mut card, &command(13, 256_u16.to_be_bytes(), &right)), 0x9000);
}

#[test]
fn what_is_in_ram_stays_when_arrays_before_it_are_deleted() {
    let mut card = card_with_algorithms();
    for round in 0..40 {
        let data: Vec<u8> = (0..50 + round % 7).map(|byte| byte ^ round).collect();
        ask(&mut card, DIGEST, [6, 0], &[0, 0, round]);
        ask(&mut card, 14, [0, 0], &data);
        // The hash before is garbage, and so are the arrays of these.
        for algorithm in [1, 4] {
            ask(&mut card, DIGEST, [algorithm, 0], &[0, 0, round]);
        }
        ask(&mut card, CODE_OF_HMAC, [25, 0], &[1, 7, 0, round]);
        assert_eq!(ask(&mut card, 15, [0, 0], &[]), data, "round {round}");
    }
}
