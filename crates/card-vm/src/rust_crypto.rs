//! A card's algorithms by `card-crypto`, over RustCrypto.

use norn_card_crypto::{Aes, Curve, Des, Direction, Random, compress_sha1, compress_sha256, compress_sha512};

use crate::crypto::{BlockCipher, CipherMode, Crypto, Hash, NotComputed, Parameter};

/// Algorithms with random bytes of a source. RAM: that of the source; a signature takes some kilobytes of stack.
#[derive(Clone, Copy, Debug)]
pub struct RustCrypto<R>(pub R);

/// The curve of a number.
fn curve(number: u8) -> Option<Curve> {
    Some(match number {
        0 => Curve::P256,
        #[cfg(feature = "curves")]
        1 => Curve::P192,
        #[cfg(feature = "curves")]
        2 => Curve::P224,
        #[cfg(feature = "curves")]
        3 => Curve::P384,
        #[cfg(feature = "curves")]
        4 => Curve::P521,
        #[cfg(feature = "curves")]
        5 => Curve::BrainpoolP256,
        #[cfg(feature = "curves")]
        6 => Curve::Secp256k1,
        _ => return None,
    })
}

impl<R: Random> Crypto for RustCrypto<R> {
    const HAS_RSA: bool = cfg!(feature = "rsa");

    fn compress(&mut self, hash: Hash, state: &mut [u32; 8], block: &[u8; 64]) -> Result<(), NotComputed> {
        match hash {
            Hash::Sha1 => compress_sha1(state, block),
            Hash::Sha256 => compress_sha256(state, block),
        }
        Ok(())
    }

    fn compress_wide(&mut self, state: &mut [u64; 8], block: &[u8; 128]) -> Result<(), NotComputed> {
        compress_sha512(state, block);
        Ok(())
    }

    fn block(
        &mut self,
        cipher: BlockCipher,
        mode: CipherMode,
        key: &[u8],
        block: &mut [u8],
    ) -> Result<(), NotComputed> {
        let direction = if mode == CipherMode::Encrypt { Direction::Encrypt } else { Direction::Decrypt };
        let done = match cipher {
            BlockCipher::Aes => Aes::new(key).and_then(|key| key.apply(direction, block)),
            BlockCipher::Des => Des::new(key).and_then(|key| key.apply(direction, block)),
        };
        done.map_err(|_| NotComputed)
    }

    fn random(&mut self, bytes: &mut [u8]) -> Result<(), NotComputed> {
        self.0.fill(bytes).map_err(|_| NotComputed)
    }

    fn parameter(&self, number: u8, which: Parameter) -> Option<&'static [u8]> {
        Some(curve(number)?.parameter(match which {
            Parameter::Field => norn_card_crypto::Parameter::Field,
            Parameter::A => norn_card_crypto::Parameter::A,
            Parameter::B => norn_card_crypto::Parameter::B,
            Parameter::Generator => norn_card_crypto::Parameter::Generator,
            Parameter::Order => norn_card_crypto::Parameter::Order,
        }))
    }

    fn generate(&mut self, number: u8, secret: &mut [u8], point: &mut [u8]) -> Result<(), NotComputed> {
        let curve = curve(number).ok_or(NotComputed)?;
        curve.generate(&mut self.0, secret, point).map_err(|_| NotComputed)
    }

    fn sign(&mut self, number: u8, secret: &[u8], hash: &[u8], signature: &mut [u8]) -> Result<usize, NotComputed> {
        let curve = curve(number).ok_or(NotComputed)?;
        curve.sign(secret, hash, signature).map_err(|_| NotComputed)
    }

    fn verify(&mut self, number: u8, point: &[u8], hash: &[u8], signature: &[u8]) -> bool {
        curve(number).is_some_and(|curve| curve.verify(point, hash, signature))
    }

    fn agree(&mut self, number: u8, secret: &[u8], point: &[u8], product: &mut [u8]) -> Result<(), NotComputed> {
        let curve = curve(number).ok_or(NotComputed)?;
        curve.agree(secret, point, product).map_err(|_| NotComputed)
    }

    #[cfg(feature = "rsa")]
    fn raise(&mut self, key: crate::crypto::RsaKey<'_>, data: &[u8], out: &mut [u8]) -> Result<(), NotComputed> {
        let key = match key {
            crate::crypto::RsaKey::Plain { modulus, exponent } => norn_card_crypto::RsaKey::Plain { modulus, exponent },
            crate::crypto::RsaKey::Factors(factors) => norn_card_crypto::RsaKey::Factors(factors),
        };
        norn_card_crypto::raise(key, data, out).map_err(|_| NotComputed)
    }

    #[cfg(feature = "rsa")]
    fn generate_rsa(&mut self, exponent: &[u8], key: crate::crypto::NewRsaKey<'_>) -> Result<(), NotComputed> {
        let crate::crypto::NewRsaKey { modulus, exponent: private, factors } = key;
        let key = norn_card_crypto::NewRsaKey { modulus, exponent: private, factors };
        norn_card_crypto::generate_rsa(&mut self.0, exponent, key).map_err(|_| NotComputed)
    }
}
