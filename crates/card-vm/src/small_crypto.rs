//! A card's algorithms in little code: P-256, AES and SHA-256, for firmware on Cortex-M.

use norn_card_crypto::{Aes, CompactP256, Direction, Random, compress_sha256};

use crate::crypto::{BlockCipher, CipherMode, Crypto, Hash, NotComputed, Parameter};

/// P-256, AES, SHA-224 and SHA-256, with random bytes of a source: on a chip, of its generator. Factories of the API
/// throw `NO_SUCH_ALGORITHM` for every other algorithm: SHA-1 and with it hashed ECDH, SHA-384, SHA-512, DES, RSA, and
/// other curves. RAM: that of the source.
#[derive(Clone, Copy, Debug)]
pub struct SmallCrypto<R>(pub R);

/// Refuses all but P-256, the first curve.
fn expect_first(curve: u8) -> Result<(), NotComputed> {
    if curve == 0 { Ok(()) } else { Err(NotComputed) }
}

impl<R: Random> Crypto for SmallCrypto<R> {
    fn compress(&mut self, hash: Hash, state: &mut [u32; 8], block: &[u8; 64]) -> Result<(), NotComputed> {
        match hash {
            Hash::Sha1 => Err(NotComputed),
            Hash::Sha256 => {
                compress_sha256(state, block);
                Ok(())
            }
        }
    }

    fn compress_wide(&mut self, _: &mut [u64; 8], _: &[u8; 128]) -> Result<(), NotComputed> {
        Err(NotComputed)
    }

    fn block(
        &mut self,
        cipher: BlockCipher,
        mode: CipherMode,
        key: &[u8],
        block: &mut [u8],
    ) -> Result<(), NotComputed> {
        if cipher != BlockCipher::Aes {
            return Err(NotComputed);
        }
        let direction = if mode == CipherMode::Encrypt { Direction::Encrypt } else { Direction::Decrypt };
        Aes::new(key).and_then(|key| key.apply(direction, block)).map_err(|_| NotComputed)
    }

    fn random(&mut self, bytes: &mut [u8]) -> Result<(), NotComputed> {
        self.0.fill(bytes).map_err(|_| NotComputed)
    }

    fn parameter(&self, curve: u8, which: Parameter) -> Option<&'static [u8]> {
        expect_first(curve).ok()?;
        Some(CompactP256::parameter(match which {
            Parameter::Field => norn_card_crypto::Parameter::Field,
            Parameter::A => norn_card_crypto::Parameter::A,
            Parameter::B => norn_card_crypto::Parameter::B,
            Parameter::Generator => norn_card_crypto::Parameter::Generator,
            Parameter::Order => norn_card_crypto::Parameter::Order,
        }))
    }

    fn generate(&mut self, curve: u8, secret: &mut [u8], point: &mut [u8]) -> Result<(), NotComputed> {
        expect_first(curve)?;
        CompactP256::generate(&mut self.0, secret, point).map_err(|_| NotComputed)
    }

    fn sign(&mut self, curve: u8, secret: &[u8], hash: &[u8], signature: &mut [u8]) -> Result<usize, NotComputed> {
        expect_first(curve)?;
        CompactP256::sign(secret, hash, signature).map_err(|_| NotComputed)
    }

    fn verify(&mut self, curve: u8, point: &[u8], hash: &[u8], signature: &[u8]) -> bool {
        expect_first(curve).is_ok() && CompactP256::verify(point, hash, signature)
    }

    fn agree(&mut self, curve: u8, secret: &[u8], point: &[u8], product: &mut [u8]) -> Result<(), NotComputed> {
        expect_first(curve)?;
        CompactP256::agree(secret, point, product).map_err(|_| NotComputed)
    }
}
