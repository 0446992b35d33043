//! Each algorithm gives the published answers, whole and in pieces, and refuses what it cannot take.

use norn_card_crypto::{
    Aes, Cbc, CryptoError, Ctr, Deterministic, Digest, DigestKind, Direction, KeyP256, Mac, PointP256, Random,
};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|digit| !digit.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// The ways to cut data in two at multiples of `step`.
fn cuts(data: &[u8], step: usize) -> impl Iterator<Item = (&[u8], &[u8])> {
    (0..=data.len()).step_by(step).map(|at| data.split_at(at))
}

/// FIPS 180-4, the examples.
#[test]
fn hashes() {
    let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    let known: [(DigestKind, &[u8], &str); 4] = [
        (DigestKind::Sha1, b"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (DigestKind::Sha1, two_blocks, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        (DigestKind::Sha256, b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (DigestKind::Sha256, two_blocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ];
    for (kind, message, hash) in known {
        let mut digest = Digest::new(kind);
        for (one, other) in cuts(message, 1) {
            digest.update(one);
            digest.update(other);
            assert_eq!(digest.finish(&mut vec![0; kind.bytes() - 1]), Err(CryptoError::OutputLength));
            let mut out = [0; 40];
            assert_eq!(digest.finish(&mut out), Ok(kind.bytes()), "the next message begins with nothing of the last");
            assert_eq!(out[..kind.bytes()], hex(hash));
        }
    }
}

const SHORT: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const LONG: &str = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4";
const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                     30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

/// SP 800-38A, F.1.
#[test]
fn aes_in_ecb() {
    let known = [
        (
            SHORT,
            "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf\
             43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4",
        ),
        (
            LONG,
            "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870\
             b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
        ),
    ];
    for (key, cipher) in known {
        let aes = Aes::new(&hex(key)).unwrap();
        let mut data = hex(PLAIN);
        aes.apply(Direction::Encrypt, &mut data).unwrap();
        assert_eq!(data, hex(cipher));
        aes.apply(Direction::Decrypt, &mut data).unwrap();
        assert_eq!(data, hex(PLAIN));
        assert_eq!(aes.apply(Direction::Encrypt, &mut data[..17]), Err(CryptoError::BlockLength));
        assert_eq!(data, hex(PLAIN));
    }
}

/// SP 800-38A, F.2.
#[test]
fn aes_in_cbc() {
    let vector: [u8; 16] = std::array::from_fn(|at| at as u8);
    let known = [
        (
            SHORT,
            "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2\
             73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
        ),
        (
            LONG,
            "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d\
             39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
        ),
    ];
    for (key, cipher) in known {
        let (key, cipher, plain) = (hex(key), hex(cipher), hex(PLAIN));
        for at in (0..=64).step_by(16) {
            for (direction, from, to) in [(Direction::Encrypt, &plain, &cipher), (Direction::Decrypt, &cipher, &plain)]
            {
                let mut cbc = Cbc::new(direction, &key, &vector).unwrap();
                let mut data = from.clone();
                cbc.apply(&mut data[..at]).unwrap();
                assert_eq!(cbc.apply(&mut [0; 15]), Err(CryptoError::BlockLength));
                cbc.apply(&mut data[at..]).unwrap();
                assert_eq!(data, *to);
            }
        }
    }
}

/// SP 800-38A, F.5.
#[test]
fn aes_in_ctr() {
    let counter: [u8; 16] = std::array::from_fn(|at| 0xF0 + at as u8);
    let known = [
        (
            SHORT,
            "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff\
             5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
        ),
        (
            LONG,
            "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5\
             2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
        ),
    ];
    for (key, cipher) in known {
        for at in 0..=64 {
            let mut ctr = Ctr::new(&hex(key), &counter).unwrap();
            let mut data = hex(PLAIN);
            ctr.apply(&mut data[..at]);
            ctr.apply(&mut data[at..]);
            assert_eq!(data, hex(cipher));
        }
    }
}

/// SP 800-38B, D.1 and D.3.
#[test]
fn aes_in_cmac() {
    let known = [
        (SHORT, 0, "bb1d6929e95937287fa37d129b756746"),
        (SHORT, 16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (SHORT, 40, "dfa66747de9ae63030ca32611497c827"),
        (SHORT, 64, "51f0bebf7e3b9d92fc49741779363cfe"),
        (LONG, 0, "028962f61b7bf89efc6b551f4667d983"),
        (LONG, 16, "28a7023f452e8f82bd4bf28d8c37c35c"),
        (LONG, 40, "aaf3d8f1de5640c232f5b169b9c911e6"),
        (LONG, 64, "e1992190549f6ed5696a2c056c315410"),
    ];
    for (key, length, code) in known {
        let (plain, code) = (hex(PLAIN), hex(code));
        for (one, other) in cuts(&plain[..length], 1) {
            let mut mac = Mac::new(&hex(key)).unwrap();
            mac.update(one);
            mac.update(other);
            assert!(mac.clone().verify(&code) && !mac.clone().verify(&code[..15]) && !mac.clone().verify(&[0; 16]));
            assert_eq!(mac.finish()[..], code);
        }
    }
}

#[test]
fn keys_of_other_lengths_are_refused() {
    for length in (0..=64).filter(|length| ![16, 32].contains(length)) {
        let key = vec![7; length];
        assert!(Aes::new(&key).is_err() && Ctr::new(&key, &[0; 16]).is_err() && Mac::new(&key).is_err(), "{length}");
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            assert!(Cbc::new(direction, &key, &[0; 16]).is_err(), "{length}");
        }
        assert!(KeyP256::new(&key).is_err(), "{length}");
    }
}

fn point(x: &str, y: &str) -> Vec<u8> {
    [vec![4], hex(x), hex(y)].concat()
}

/// RFC 6979, A.2.5, with SHA-256 and the message "sample".
#[test]
fn ecdsa() {
    let key = KeyP256::new(&hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721")).unwrap();
    let public = point(
        "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6",
        "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299",
    );
    assert_eq!(key.public().to_bytes()[..], public);
    let mut hash = [0; 32];
    let mut digest = Digest::new(DigestKind::Sha256);
    digest.update(b"sample");
    digest.finish(&mut hash).unwrap();
    let mut signature = [0; 72];
    assert_eq!(key.sign(&hash, &mut signature), Ok(72));
    let known = hex("3046
        022100EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716
        022100F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8");
    assert_eq!(signature[..], known);
    let public = PointP256::new(&public).unwrap();
    assert!(public.verify(&hash, &signature));
    for bit in 0..known.len() * 8 {
        let mut other = known.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert!(!public.verify(&hash, &other), "bit {bit}");
    }
    assert!(!public.verify(&[0; 32], &signature) && !public.verify(&hash, &signature[..71]));
    assert_eq!(key.sign(&hash, &mut signature[..71]), Err(CryptoError::OutputLength));
    assert_eq!(key.sign(&[0; 65], &mut signature), Err(CryptoError::HashLength));
    assert_eq!(key.sign(&[0; 15], &mut signature), Err(CryptoError::HashLength));
    assert!(key.sign(&[1; 20], &mut signature).is_ok(), "SHA-1's length");
}

/// The NIST's vectors of ECC CDH, P-256, the first.
#[test]
fn ecdh() {
    let key = KeyP256::new(&hex("7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534")).unwrap();
    let other = point(
        "700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287",
        "db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac",
    );
    let shared = key.agree(&PointP256::new(&other).unwrap());
    assert_eq!(shared[..], hex("46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b"));
    for (at, value) in [(64, other[64] ^ 1), (0, 2), (0, 0)] {
        let mut wrong = other.clone();
        wrong[at] = value;
        assert!(PointP256::new(&wrong).is_err(), "byte {at}");
    }
    assert!(PointP256::new(&other[..64]).is_err());
}

#[test]
fn private_keys_are_between_zero_and_the_order() {
    let mut order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
    assert_eq!(KeyP256::new(&order).err(), Some(CryptoError::NotOnCurve));
    assert_eq!(KeyP256::new(&[0; 32]).err(), Some(CryptoError::NotOnCurve));
    order[31] -= 1;
    assert_eq!(KeyP256::new(&order).unwrap().to_bytes()[..], order);
}

/// Draws what is no key before one that is, or forever.
struct Stubborn {
    draws: usize,
    key_at: usize,
}

impl Random for Stubborn {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), CryptoError> {
        bytes.fill(if self.draws == self.key_at { 1 } else { 0xFF });
        self.draws += 1;
        Ok(())
    }
}

#[test]
fn keys_are_drawn_until_one_is_a_key_and_not_forever() {
    let drawn = KeyP256::generate(&mut Stubborn { draws: 0, key_at: 3 }).unwrap();
    assert_eq!(drawn.to_bytes(), [1; 32]);
    assert_eq!(KeyP256::generate(&mut Stubborn { draws: 0, key_at: 99 }).err(), Some(CryptoError::NoRandom));
    let draw = |seed| KeyP256::generate(&mut Deterministic::new(seed)).unwrap();
    assert_eq!(draw(1).to_bytes(), draw(1).to_bytes());
    assert_ne!(draw(1).to_bytes(), draw(2).to_bytes());
    let (one, other) = (draw(1), draw(2));
    assert_eq!(one.agree(&other.public()), other.agree(&one.public()));
}

#[test]
fn a_seed_gives_the_same_bytes_again_and_no_piece_twice() {
    let mut random = Deterministic::new(7);
    let mut pieces: Vec<[u8; 32]> = Vec::new();
    for _ in 0..100 {
        let mut piece = [0; 32];
        random.fill(&mut piece).unwrap();
        assert!(!pieces.contains(&piece));
        pieces.push(piece);
    }
    let mut whole = vec![0; 3200];
    Deterministic::new(7).fill(&mut whole).unwrap();
    assert_eq!(whole, pieces.concat());
}

#[cfg(feature = "system")]
#[test]
fn the_system_has_random_bytes() {
    let (mut one, mut other) = ([0; 32], [0; 32]);
    norn_card_crypto::System.fill(&mut one).unwrap();
    norn_card_crypto::System.fill(&mut other).unwrap();
    assert_ne!(one, other);
}
