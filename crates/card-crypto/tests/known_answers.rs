//! Each algorithm gives the published answers, whole and in pieces, and refuses what it cannot take.

use norn_card_crypto::{
    Aes, CryptoError, Curve, Des, Deterministic, Direction, Parameter, Random, SIGNATURE_MAX, compress_sha1,
    compress_sha256, compress_sha512,
};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|digit| !digit.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// FIPS 180-4, the examples: a padded block, and for SHA-512 two.
#[test]
fn hashes() {
    let padded = |message: &[u8], block: usize| {
        let mut data = message.to_vec();
        data.push(0x80);
        while data.len() % block != block - block / 8 {
            data.push(0);
        }
        data.resize(data.len() + block / 8 - 8, 0);
        data.extend_from_slice(&(message.len() as u64 * 8).to_be_bytes());
        data
    };
    let block: [u8; 64] = padded(b"abc", 64).try_into().unwrap();
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0, 7, 8, 9];
    compress_sha1(&mut state, &block);
    assert_eq!(state[..5], [0xa999_3e36, 0x4706_816a, 0xba3e_2571, 0x7850_c26c, 0x9cd0_d89d]);
    assert_eq!(state[5..], [7, 8, 9]);
    let mut state =
        [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
    compress_sha256(&mut state, &block);
    let words =
        [0xba78_16bf, 0x8f01_cfea, 0x4141_40de, 0x5dae_2223, 0xb003_61a3, 0x9617_7a9c, 0xb410_ff61, 0xf200_15ad];
    assert_eq!(state, words);
    let mut state = [
        0x6a09_e667_f3bc_c908,
        0xbb67_ae85_84ca_a73b,
        0x3c6e_f372_fe94_f82b,
        0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1,
        0x9b05_688c_2b3e_6c1f,
        0x1f83_d9ab_fb41_bd6b,
        0x5be0_cd19_137e_2179,
    ];
    let message =
        b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst\
                    nopqrstu";
    for block in padded(message, 128).chunks_exact(128) {
        compress_sha512(&mut state, block.try_into().unwrap());
    }
    assert_eq!(state[0], 0x8e95_9b75_dae3_13da);
    assert_eq!(state[7], 0x5e96_e55b_874b_e909);
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

/// SP 800-20, the variable plain text test's first; SP 800-67, B.1 with the second block.
#[test]
fn des() {
    let known = [
        ("0101010101010101", "8000000000000000", "95f8a5e5dd31d900"),
        ("0123456789abcdef23456789abcdef01456789abcdef0123", "5468652071756663", "a826fd8ce53b855f"),
        ("0123456789abcdef23456789abcdef01456789abcdef0123", "6b2062726f776e20", "cce21c8112256fe6"),
    ];
    for (key, plain, cipher) in known {
        let des = Des::new(&hex(key)).unwrap();
        let mut data = hex(plain);
        des.apply(Direction::Encrypt, &mut data).unwrap();
        assert_eq!(data, hex(cipher), "{key}");
        des.apply(Direction::Decrypt, &mut data).unwrap();
        assert_eq!(data, hex(plain));
        assert_eq!(des.apply(Direction::Encrypt, &mut data[..7]), Err(CryptoError::BlockLength));
    }
    // Two keys are three of which the last is the first; one is three times the same.
    let (short, long) = ("0123456789abcdeffedcba9876543210", "0123456789abcdeffedcba98765432100123456789abcdef");
    let mut data = [[7; 8]; 2];
    for (key, data) in [short, long].iter().zip(&mut data) {
        Des::new(&hex(key)).unwrap().apply(Direction::Encrypt, data).unwrap();
    }
    assert_eq!(data[0], data[1]);
}

#[test]
fn keys_of_other_lengths_are_refused() {
    for length in 0..=64 {
        let key = vec![7; length];
        assert_eq!(Aes::new(&key).is_ok(), [16, 24, 32].contains(&length), "{length}");
        assert_eq!(Des::new(&key).is_ok(), [8, 16, 24].contains(&length), "{length}");
        let signed = Curve::P256.sign(&key, &[1; 32], &mut [0; 72]);
        assert_eq!(signed.is_ok(), length == 32, "{length}");
    }
}

fn point(x: &str, y: &str) -> Vec<u8> {
    [vec![4], hex(x), hex(y)].concat()
}

/// SHA-256 of "sample".
const SAMPLE: &str = "af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf";

/// RFC 6979, A.2.5, with SHA-256 and the message "sample".
#[test]
fn ecdsa() {
    let secret = hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721");
    let point = point(
        "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6",
        "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299",
    );
    let mut public = [0; 65];
    Curve::P256.public(&secret, &mut public).unwrap();
    assert_eq!(public[..], point);
    let (hash, mut signature) = (hex(SAMPLE), [0; 72]);
    assert_eq!(Curve::P256.sign(&secret, &hash, &mut signature), Ok(72));
    let known = hex("3046
        022100EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716
        022100F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8");
    assert_eq!(signature[..], known);
    assert!(Curve::P256.verify(&point, &hash, &signature));
    for bit in 0..known.len() * 8 {
        let mut other = known.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert!(!Curve::P256.verify(&point, &hash, &other), "bit {bit}");
    }
    assert!(!Curve::P256.verify(&point, &[0; 32], &signature) && !Curve::P256.verify(&point, &hash, &signature[..71]));
    assert_eq!(Curve::P256.sign(&secret, &hash, &mut signature[..71]), Err(CryptoError::OutputLength));
    assert_eq!(Curve::P256.sign(&secret, &[0; 65], &mut signature), Err(CryptoError::HashLength));
    assert_eq!(Curve::P256.sign(&secret, &[], &mut signature), Err(CryptoError::HashLength));
    assert!(Curve::P256.sign(&secret, &[1; 20], &mut signature).is_ok(), "SHA-1's length");
}

/// RFC 6979, A.2.3 to A.2.7, with SHA-256: other implementations verify these, and so must we.
#[cfg(feature = "curves")]
#[test]
fn ecdsa_over_other_curves() {
    let der = |r: &str, s: &str| {
        let number = |digits: &str| {
            let mut bytes = hex(digits);
            while bytes.len() > 1 && bytes[0] == 0 {
                bytes.remove(0);
            }
            if bytes[0] >= 0x80 {
                bytes.insert(0, 0);
            }
            [vec![2, bytes.len() as u8], bytes].concat()
        };
        let body = [number(r), number(s)].concat();
        let head = if body.len() < 128 { vec![0x30, body.len() as u8] } else { vec![0x30, 0x81, body.len() as u8] };
        [head, body].concat()
    };
    let known = [
        (
            Curve::P192,
            "6FAB034934E4C0FC9AE67F5B5659A9D7D1FEFD187EE09FD4",
            "4B0B8CE98A92866A2820E20AA6B75B56382E0F9BFD5ECB55",
            "CCDB006926EA9565CBADC840829D8C384E06DE1F1E381B85",
        ),
        (
            Curve::P224,
            "F220266E1105BFE3083E03EC7A3A654651F45E37167E88600BF257C1",
            "61AA3DA010E8E8406C656BC477A7A7189895E7E840CDFE8FF42307BA",
            "BC814050DAB5D23770879494F9E0A680DC1AF7161991BDE692B10101",
        ),
        (
            Curve::P384,
            "6B9D3DAD2E1B8C1C05B19875B6659F4DE23C3B667BF297BA9AA47740787137D896D5724E4C70A825F872C9EA60D2EDF5",
            "21B13D1E013C7FA1392D03C5F99AF8B30C570C6F98D4EA8E354B63A21D3DAA33BDE1E888E63355D92FA2B3C36D8FB2CD",
            "F3AA443FB107745BF4BD77CB3891674632068A10CA67E3D45DB2266FA7D1FEEBEFDC63ECCD1AC42EC0CB8668A4FA0AB0",
        ),
        (
            Curve::P521,
            "00FAD06DAA62BA3B25D2FB40133DA757205DE67F5BB0018FEE8C86E1B68C7E75CAA896EB32F1F47C70855836A6D16FCC1466F6D8FB\
             EC67DB89EC0C08B0E996B83538",
            "01511BB4D675114FE266FC4372B87682BAECC01D3CC62CF2303C92B3526012659D16876E25C7C1E57648F23B73564D67F61C6F14D5\
             27D54972810421E7D87589E1A7",
            "004A171143A83163D6DF460AAF61522695F207A58B95C0644D87E52AA1A347916E4F7A72930B1BC06DBE22CE3F58264AFD23704CBB\
             63B29B931F7DE6C9D949A7ECFC",
        ),
    ];
    for (curve, secret, r, s) in known {
        let mut point = vec![0; curve.point_bytes()];
        curve.public(&hex(secret), &mut point).unwrap();
        assert!(curve.verify(&point, &hex(SAMPLE), &der(r, s)), "{curve:?}");
        assert!(!curve.verify(&point, &hex(SAMPLE), &der(s, r)), "{curve:?}");
    }
}

/// Signatures of project Wycheproof's `ecdsa_brainpoolP256r1_sha256` and `ecdsa_secp256k1_sha256`, each the third: of
/// "123400" with SHA-256.
#[cfg(feature = "curves")]
#[test]
fn ecdsa_over_curves_without_a_published_nonce() {
    use sha2::Digest;

    let known = [
        (
            Curve::BrainpoolP256,
            "2676bd1e3fd83f3328d1af941442c036760f09587729419053083eb61d1ed22c",
            "2cf769688a5ffd67da1899d243e66bcabe21f9e78335263bf5308b8e41a71b39",
            "30450220351e727003896ec02949a3cf752223bcc6c2b611b30391edd60dc0c83dc9c98f022100924ad9dc00364d4aa2091416d1\
             73862f9b02965ff176e880ea62a673e16db98e",
        ),
        (
            Curve::Secp256k1,
            "782c8ed17e3b2a783b5464f33b09652a71c678e05ec51e84e2bcfc663a3de963",
            "af9acb4280b8c7f7c42f4ef9aba6245ec1ec1712fd38a0fa96418d8cd6aa6152",
            "3045022100d035ee1f17fdb0b2681b163e33c359932659990af77dca632012b30b27a057b302201939d9f3b2858bc13e3474cb50\
             e6a82be44faa71940f876c1cba4c3e989202b6",
        ),
    ];
    let hash = sha2::Sha256::digest(b"123400");
    for (curve, x, y, signature) in known {
        let signature = hex(signature);
        assert!(curve.verify(&point(x, y), &hash, &signature), "{curve:?}");
        let mut wrong = signature;
        *wrong.last_mut().unwrap() ^= 1;
        assert!(!curve.verify(&point(x, y), &hash, &wrong), "{curve:?}");
    }
}

/// Of each other curve a secret, another's point, and the X coordinate of their product: the NIST's first vectors of
/// ECC CDH; RFC 7027, A.1, both ways; the first of project Wycheproof's `ecdh_secp256k1`.
#[cfg(feature = "curves")]
#[test]
fn ecdh_over_other_curves() {
    let of_brainpool = "89AFC39D41D3B327814B80940B042590F96556EC91E6AE7939BCE31F3A18BF2B";
    let known = [
        (
            Curve::P192,
            "f17d3fea367b74d340851ca4270dcb24c271f445bed9d527",
            "42ea6dd9969dd2a61fea1aac7f8e98edcc896c6e55857cc0",
            "dfbe5d7c61fac88b11811bde328e8a0d12bf01a9d204b523",
            "803d8ab2e5b6e6fca715737c3a82f7ce3c783124f6d51cd0",
        ),
        (
            Curve::P224,
            "8346a60fc6f293ca5a0d2af68ba71d1dd389e5e40837942df3e43cbd",
            "af33cd0629bc7e996320a3f40368f74de8704fa37b8fab69abaae280",
            "882092ccbba7930f419a8a4f9bb16978bbc3838729992559a6f2e2d7",
            "7d96f9a3bd3c05cf5cc37feb8b9d5209d5c2597464dec3e9983743e8",
        ),
        (
            Curve::P384,
            "3cc3122a68f0d95027ad38c067916ba0eb8c38894d22e1b15618b6818a661774ad463b205da88cf699ab4d43c9cf98a1",
            "a7c76b970c3b5fe8b05d2838ae04ab47697b9eaf52e764592efda27fe7513272734466b400091adbf2d68c58e0c50066",
            "ac68f19f2e1cb879aed43a9969b91a0839c4c38a49749b661efedf243451915ed0905a32b060992b468c64766fc8437a",
            "5f9d29dc5e31a163060356213669c8ce132e22f57c9a04f40ba7fcead493b457e5621e766c40a2e3d4d6a04b25e533f1",
        ),
        (
            Curve::P521,
            "017eecc07ab4b329068fba65e56a1f8890aa935e57134ae0ffcce802735151f4eac6564f6ee9974c5e6887a1fefee5743ae2241bfe\
             b95d5ce31ddcb6f9edb4d6fc47",
            "00685a48e86c79f0f0875f7bc18d25eb5fc8c0b07e5da4f4370f3a9490340854334b1e1b87fa395464c60626124a4e70d0f785601d\
             37c09870ebf176666877a2046d",
            "01ba52c56fc8776d9e8f5db4f0cc27636d0b741bbe05400697942e80b739884a83bde99e0f6716939e632bc8986fa18dccd443a348\
             b6c3e522497955a4f3c302f676",
            "005fc70477c3e63bc3954bd0df3ea0d1f41ee21746ed95fc5e1fdf90930d5e136672d72cc770742d1711c3c3a4c334a0ad9759436a\
             4d3c5bf6e74b9578fac148c831",
        ),
        (
            Curve::BrainpoolP256,
            "81DB1EE100150FF2EA338D708271BE38300CB54241D79950F77B063039804F1D",
            "8D2D688C6CF93E1160AD04CC4429117DC2C41825E1E9FCA0ADDD34E6F1B39F7B",
            "990C57520812BE512641E47034832106BC7D3E8DD0E4C7F1136D7006547CEC6A",
            of_brainpool,
        ),
        (
            Curve::BrainpoolP256,
            "55E40BC41E37E3E2AD25C3C6654511FFA8474A91A0032087593852D3E7D76BD3",
            "44106E913F92BC02A1705D9953A8414DB95E1AAA49E81D9E85F929A8E3100BE5",
            "8AB4846F11CACCB73CE49CBDD120F5A900A69FD32C272223F789EF10EB089BDC",
            of_brainpool,
        ),
        (
            Curve::Secp256k1,
            "f4b7ff7cccc98813a69fae3df222bfe3f4e28f764bf91b4a10d8096ce446b254",
            "d8096af8a11e0b80037e1ee68246b5dcbb0aeb1cf1244fd767db80f3fa27da2b",
            "396812ea1686e7472e9692eaf3e958e50e9500d3b4c77243db1f2acd67ba9cc4",
            "544dfae22af6af939042b1d85b71a1e49e9a5614123c4d6ad0c8af65baf87d65",
        ),
    ];
    for (curve, secret, x, y, product) in known {
        let mut answer = vec![0; curve.point_bytes()];
        curve.agree(&hex(secret), &point(x, y), &mut answer).unwrap();
        assert_eq!(answer[1..=curve.field_bytes()], hex(product), "{curve:?}");
    }
}

#[test]
fn every_curve_draws_keys_signs_and_agrees() {
    let curves = [
        Curve::P256,
        #[cfg(feature = "curves")]
        Curve::P192,
        #[cfg(feature = "curves")]
        Curve::P224,
        #[cfg(feature = "curves")]
        Curve::P384,
        #[cfg(feature = "curves")]
        Curve::P521,
        #[cfg(feature = "curves")]
        Curve::BrainpoolP256,
        #[cfg(feature = "curves")]
        Curve::Secp256k1,
    ];
    for curve in curves {
        let draw = |seed| {
            let (mut secret, mut point) = (vec![0; curve.field_bytes()], vec![0; curve.point_bytes()]);
            curve.generate(&mut Deterministic::new(seed), &mut secret, &mut point).unwrap();
            (secret, point)
        };
        assert_eq!(draw(1), draw(1));
        // The base point is that of 1: parameters and arithmetic are of one curve. The order is that of no secret.
        let mut one = vec![0; curve.field_bytes()];
        *one.last_mut().unwrap() = 1;
        let mut generator = vec![0; curve.point_bytes()];
        curve.public(&one, &mut generator).unwrap();
        assert_eq!(generator, curve.parameter(Parameter::Generator), "{curve:?}");
        let mut order = curve.parameter(Parameter::Order).to_vec();
        assert!(curve.public(&order, &mut generator).is_err(), "{curve:?}");
        *order.last_mut().unwrap() -= 1;
        assert!(curve.public(&order, &mut generator).is_ok(), "{curve:?}");
        // Its negative has the same X.
        let field = curve.field_bytes();
        assert_eq!(generator[..=field], curve.parameter(Parameter::Generator)[..=field], "{curve:?}");
        for seed in 0..20 {
            let ((secret, point), (other, other_point)) = (draw(seed), draw(seed + 100));
            let products = [(&secret, &other_point), (&other, &point)].map(|(secret, point)| {
                let mut product = vec![0; curve.point_bytes()];
                curve.agree(secret, point, &mut product).unwrap();
                product
            });
            assert_eq!(products[0], products[1], "{curve:?}");
            for bytes in [20, 28, 32, 48, 64] {
                let (hash, mut signature) = (vec![seed as u8 ^ 0xA5; bytes], [0; SIGNATURE_MAX]);
                let length = curve.sign(&secret, &hash, &mut signature).unwrap();
                assert!(curve.verify(&point, &hash, &signature[..length]), "{curve:?}");
                assert!(!curve.verify(&other_point, &hash, &signature[..length]), "{curve:?}");
            }
        }
    }
}

/// The NIST's vectors of ECC CDH, P-256, the first.
#[test]
fn ecdh() {
    let secret = hex("7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534");
    let other = point(
        "700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287",
        "db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac",
    );
    let mut product = [0; 65];
    Curve::P256.agree(&secret, &other, &mut product).unwrap();
    assert_eq!(product[1..33], hex("46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b"));
    for (at, value) in [(64, other[64] ^ 1), (0, 2), (0, 0)] {
        let mut wrong = other.clone();
        wrong[at] = value;
        assert_eq!(Curve::P256.agree(&secret, &wrong, &mut product), Err(CryptoError::NotOnCurve), "byte {at}");
    }
    assert_eq!(Curve::P256.agree(&secret, &other[..64], &mut product), Err(CryptoError::NotOnCurve));
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
    let (mut secret, mut point) = ([0; 32], [0; 65]);
    Curve::P256.generate(&mut Stubborn { draws: 0, key_at: 3 }, &mut secret, &mut point).unwrap();
    assert_eq!(secret, [1; 32]);
    let never = Curve::P256.generate(&mut Stubborn { draws: 0, key_at: 999 }, &mut secret, &mut point);
    assert_eq!((never, secret), (Err(CryptoError::NoRandom), [0; 32]));
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

/// A key of OpenSSL's.
#[cfg(feature = "rsa")]
mod rsa {
    use norn_card_crypto::{CryptoError, Deterministic, NewRsaKey, RsaKey, generate_rsa, raise};

    use super::hex;

    const MODULUS: &str = "fad621806cd6760ec2c4e4187bf651b98577b0283a390098e7c0a5306cd93c2f2980f757c26c2dc3a3bb3234c088\
                           6fd7b56bc9c51a73999fb2afee82090335853a2915ad0d6c8f18447b64b00fcfb1b8ae1cee65d5a67d16128ab74d\
                           a2a21b9b215b0c090e3ee59eda18ea514be02e8e2331c64d7d1bad22eda672ad3ee68041";
    const EXPONENT: &str = "7f9fedc1cb1ebf48b95eb673a2b6ec54098da14a867d34499839139374fe7eb9bc534b0612fd39b7be19e3eca53\
                            d863269b36320ef597c039e46178380146ae8d194cdfc6b29d8f312c8f5458cadfe4464534cc5c1f99c385f8f0a\
                            654533d368432586e6e411af20baff70935314554f1f653b5836800241846cc8ffa090a231";
    const P: &str = "feceda8f48a9ec0524a66e43440403dceb4849cbd9eb80fcd4bc71cbe24dc046c59e486cf30125a886c2e8259f29d0f1d3\
                     efd14f877578cd04cf61acd12fa3c5";
    const Q: &str = "fc02855ca31002130abc00d2e79b3a5f9372d93e90565b52083ee1f7d4d9a933284b15f414b9f79e9a84ca24b4d086e741\
                     ff0736ed2a02aac103fbadb967264d";
    const DP: &str = "076c1517b96121bbe09e6c75cf2462cc6b9a167436abd27d0ae1565b3f034ec780f82459f0162777aa3d412fdf5c03771\
                      7da537982939c6a346aaa08b3ab3495";
    const DQ: &str = "28db3bc5ce05ed602af059edd770ba20fea5b304ca9fc5846223d7bcb73c668b0db046a9e0a659b7d3f34d56701e1290f\
                      18928214687f610bae42b6c79cf784d";
    const PQ: &str = "31cff1d666944abcb60839d114f3501c634c584843c2c282a885b9a0ff496c314479b66cc8e116cfe3dea62ca2c7b3dd5\
                      b0fe640f7f620c33c10eed274384d99";
    const SIGNED: &str = "accf389e3e5a286f158d45e9a85c603e8890c680cf570833a373c663841ee3bac7b6f24156b0ebce9c84159f08160\
                          2b161976e71a9419e7166d40d396b814c3c14993de088ce28a4ae7a27b2bad929a7f1716ee144bc53a301cc2755de\
                          e3249254e554f95e2cdbb94cd0d4788ef34ced23f7c70c234ae75291dcff26f7d056ce";
    const DATA: &str = "0b30557a9fc4e90e33587da2c7ec11365b80a5caef14395e83a8cdf2173c6186abd0f51a3f6489aed3f81d42678cb1d\
                        6fb20456a8fb4d9fe23486d92b7dc01264b7095badf04294e7398bde2072c51769bc0e50a2f54799ec3e80d32577ca1\
                        c6eb10355a7fa4c9ee13385d82a7ccf1163b6085aacff4193e6388add2f71c4166";

    #[test]
    fn numbers_are_raised_as_openssl_does() {
        let (modulus, data) = (hex(MODULUS), hex(DATA));
        let factors = [P, Q, DP, DQ, PQ].map(hex).concat();
        let private = RsaKey::Plain { modulus: &modulus, exponent: &hex(EXPONENT) };
        for key in [private, RsaKey::Factors(&factors)] {
            let mut out = vec![0; 128];
            raise(key, &data, &mut out).unwrap();
            assert_eq!(out, hex(SIGNED), "{key:?}");
            assert_eq!(raise(key, &modulus, &mut out), Err(CryptoError::OutOfRange));
            assert_eq!(raise(key, &data[1..], &mut out), Err(CryptoError::OutputLength));
        }
        let mut out = vec![0; 128];
        raise(RsaKey::Plain { modulus: &modulus, exponent: &[1, 0, 1] }, &hex(SIGNED), &mut out).unwrap();
        assert_eq!(out, data);
        let even = RsaKey::Plain { modulus: &[2; 128], exponent: &[3] };
        assert_eq!(raise(even, &[1; 128], &mut out), Err(CryptoError::KeyLength));
    }

    #[test]
    fn drawn_keys_are_keys_both_ways() {
        for (seed, bytes) in [(1, 128), (2, 128), (3, 192)] {
            let (mut modulus, mut exponent, mut factors) = (vec![0; bytes], vec![0; bytes], vec![0; bytes / 2 * 5]);
            let new = NewRsaKey { modulus: &mut modulus, exponent: &mut exponent, factors: &mut factors };
            generate_rsa(&mut Deterministic::new(seed), &[1, 0, 1], new).unwrap();
            assert!(modulus[0] >= 0x80, "all of its bits");
            let mut data = vec![0x5A; bytes];
            data[0] = 0;
            let mut raised = [vec![0; bytes], vec![0; bytes]];
            raise(RsaKey::Plain { modulus: &modulus, exponent: &exponent }, &data, &mut raised[0]).unwrap();
            raise(RsaKey::Factors(&factors), &data, &mut raised[1]).unwrap();
            assert_eq!(raised[0], raised[1]);
            let mut back = vec![0; bytes];
            raise(RsaKey::Plain { modulus: &modulus, exponent: &[1, 0, 1] }, &raised[0], &mut back).unwrap();
            assert_eq!(back, data);
        }
    }
}
