//! RSA, drawn, signed and decrypted by an applet, with another implementation at the other side.

use norn_card_crypto::{Deterministic, Random};
use rsa::rand_core::{TryCryptoRng, TryRng};
use rsa::signature::Verifier;
use rsa::{BoxedUint, Oaep, Pkcs1v15Encrypt, PublicKey, pkcs1v15, pss};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use crate::every_algorithm::{ask, card_with_algorithms, command};
use crate::status;

/// Random numbers of a seed.
struct Source(Deterministic);

impl TryRng for Source {
    type Error = norn_card_crypto::CryptoError;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.0.fill(bytes)
    }
}

impl TryCryptoRng for Source {}

/// Verifies a signature with a kind of signature and a hash.
macro_rules! verifies {
    ($kind:ident, $hash:ty, $key:expr, $data:expr, $signature:expr) => {
        $kind::VerifyingKey::<$hash>::new($key.clone())
            .verify($data, &$kind::Signature::try_from($signature).unwrap())
            .is_ok()
    };
}

/// `KeyPair`'s names.
const PLAIN: u8 = 1;
const BY_FACTORS: u8 = 2;

#[test]
fn rsa_signs_and_decrypts_as_another_implementation_does() {
    let mut card = card_with_algorithms();
    let mut random = Source(Deterministic::new(5));
    for (kind, bits) in [(PLAIN, 1024_u16), (BY_FACTORS, 1024), (BY_FACTORS, 1536)] {
        let modulus = ask(&mut card, 16, [kind, (bits / 64) as u8], &[]);
        assert_eq!(modulus.len(), usize::from(bits / 8));
        let number = BoxedUint::from_be_slice(&modulus, bits.into()).unwrap();
        let key = PublicKey::new(number, BoxedUint::from(65_537_u32)).unwrap();
        let data = b"pay 5";
        let mut signed = |algorithm: u8| ask(&mut card, 17, [algorithm, 0], data);
        assert!(verifies!(pkcs1v15, Sha1, key, data, &signed(10)[..]));
        assert!(verifies!(pkcs1v15, Sha224, key, data, &signed(39)[..]));
        assert!(verifies!(pkcs1v15, Sha256, key, data, &signed(40)[..]));
        assert!(verifies!(pkcs1v15, Sha384, key, data, &signed(41)[..]));
        assert!(verifies!(pkcs1v15, Sha512, key, data, &signed(42)[..]));
        assert!(verifies!(pss, Sha1, key, data, &signed(21)[..]));
        assert!(verifies!(pss, Sha224, key, data, &signed(43)[..]));
        assert!(verifies!(pss, Sha256, key, data, &signed(44)[..]));
        assert!(verifies!(pss, Sha384, key, data, &signed(45)[..]));
        assert_ne!(signed(44), signed(44), "salted");
        assert_eq!(signed(40), signed(40));
        // What the other side encrypts, by paddings of PKCS#1.
        for length in [0, 1, 20, 62] {
            let data = vec![length as u8; length];
            let encrypted = key.encrypt(&mut random, Pkcs1v15Encrypt, &data).unwrap();
            assert_eq!(ask(&mut card, 18, [0, 7], &encrypted), data);
            let encrypted = key.encrypt(&mut random, Oaep::<Sha1>::new(), &data).unwrap();
            assert_eq!(ask(&mut card, 18, [0, 9], &encrypted), data);
            let encrypted = key.encrypt(&mut random, Oaep::<Sha256>::new(), &data).unwrap();
            assert_eq!(ask(&mut card, 18, [0, 14], &encrypted), data);
            // A bit of the padding, and all of the ciphertext is another's.
            let mut wrong = encrypted.clone();
            wrong[40] ^= 1;
            assert_eq!(status(&mut card, &command(18, [0, 14], &wrong)), 0x6A05);
            assert_eq!(status(&mut card, &command(18, [0, 14], &encrypted[1..])), 0x6A05);
        }
        // There and back by the card itself: every padding, by either key first.
        for (padding, length) in [(1, usize::from(bits / 8)), (7, 30), (7, 0), (9, 30), (13, 20), (14, 62), (15, 10)] {
            let data = vec![0x33; length];
            assert_eq!(ask(&mut card, 19, [0, padding], &data).len(), modulus.len());
        }
        for (padding, length) in [(1, usize::from(bits / 8)), (7, 30)] {
            let data = vec![0x33; length];
            assert_eq!(ask(&mut card, 19, [1, padding], &data).len(), modulus.len());
        }
        // Too long for its padding, and no number below the modulus.
        assert_eq!(status(&mut card, &command(19, [0, 7], &vec![1; usize::from(bits / 8) - 10])), 0x6A05);
        assert_eq!(status(&mut card, &command(19, [0, 14], &vec![1; usize::from(bits / 8) - 65])), 0x6A05);
        assert_eq!(status(&mut card, &command(19, [0, 1], &vec![0xFF; usize::from(bits / 8)])), 0x6A05);
    }
    // PSS of a hash for which a modulus of 1,024 bits is too short.
    ask(&mut card, 16, [PLAIN, 16], &[]);
    assert_eq!(status(&mut card, &command(17, [46, 0], b"pay 5")), 0x6A01);
    for bits in [512_u16, 960] {
        assert_eq!(status(&mut card, &command(16, [PLAIN, (bits / 64) as u8], &[])), 0x6A03);
    }
}
