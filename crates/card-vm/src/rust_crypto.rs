//! A card's algorithms by `card-crypto`, over RustCrypto.

use norn_card_crypto::{Aes, DigestKind, Direction, KeyP256, PointP256, Random, compress};

use crate::crypto::{CipherMode, Crypto, Hash, NotComputed};

/// Algorithms with random bytes of a source. RAM: that of the source; a signature takes some kilobytes of stack.
#[derive(Clone, Copy, Debug)]
pub struct RustCrypto<R>(pub R);

impl<R: Random> Crypto for RustCrypto<R> {
    fn compress(&mut self, hash: Hash, state: &mut [u32; 8], block: &[u8; 64]) {
        let kind = if hash == Hash::Sha1 { DigestKind::Sha1 } else { DigestKind::Sha256 };
        compress(kind, state, block);
    }

    fn aes(&mut self, mode: CipherMode, key: &[u8], block: &mut [u8; 16]) -> Result<(), NotComputed> {
        let direction = if mode == CipherMode::Encrypt { Direction::Encrypt } else { Direction::Decrypt };
        let aes = Aes::new(key).map_err(|_| NotComputed)?;
        aes.apply(direction, block).map_err(|_| NotComputed)
    }

    fn random(&mut self, bytes: &mut [u8]) -> Result<(), NotComputed> {
        self.0.fill(bytes).map_err(|_| NotComputed)
    }

    fn generate(&mut self) -> Result<([u8; 32], [u8; 65]), NotComputed> {
        let key = KeyP256::generate(&mut self.0).map_err(|_| NotComputed)?;
        Ok((key.to_bytes(), key.public().to_bytes()))
    }

    fn sign(&mut self, secret: &[u8], hash: &[u8], signature: &mut [u8; 72]) -> Result<usize, NotComputed> {
        let key = KeyP256::new(secret).map_err(|_| NotComputed)?;
        key.sign(hash, signature).map_err(|_| NotComputed)
    }

    fn verify(&mut self, point: &[u8], hash: &[u8], signature: &[u8]) -> bool {
        PointP256::new(point).is_ok_and(|point| point.verify(hash, signature))
    }

    fn agree(&mut self, secret: &[u8], point: &[u8]) -> Result<[u8; 32], NotComputed> {
        let key = KeyP256::new(secret).map_err(|_| NotComputed)?;
        let point = PointP256::new(point).map_err(|_| NotComputed)?;
        Ok(key.agree(&point))
    }
}
