//! AES-128, AES-192 and AES-256 (FIPS 197).

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};

use crate::error::CryptoError;

const BLOCK: usize = 16;

/// Encryption or decryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From plain text.
    Encrypt,
    /// To plain text.
    Decrypt,
}

/// A key, and blocks each for itself: ECB.
#[derive(Clone)]
pub struct Aes(Key);

#[derive(Clone)]
enum Key {
    Short(Aes128),
    Middle(Aes192),
    Long(Aes256),
}

impl Aes {
    /// Takes a key of 16, 24 or 32 bytes.
    ///
    /// # Errors
    ///
    /// [`CryptoError::KeyLength`].
    pub fn new(key: &[u8]) -> Result<Self, CryptoError> {
        let refused = |_| CryptoError::KeyLength;
        Ok(Aes(match key.len() {
            16 => Key::Short(Aes128::new_from_slice(key).map_err(refused)?),
            24 => Key::Middle(Aes192::new_from_slice(key).map_err(refused)?),
            _ => Key::Long(Aes256::new_from_slice(key).map_err(refused)?),
        }))
    }

    /// Turns each block of the data into its cipher text, or back.
    ///
    /// # Errors
    ///
    /// [`CryptoError::BlockLength`]; the data are as before then.
    pub fn apply(&self, direction: Direction, data: &mut [u8]) -> Result<(), CryptoError> {
        let (blocks, []) = data.as_chunks_mut::<BLOCK>() else { return Err(CryptoError::BlockLength) };
        for block in blocks {
            match (&self.0, direction) {
                (Key::Short(key), Direction::Encrypt) => key.encrypt_block(block.into()),
                (Key::Short(key), Direction::Decrypt) => key.decrypt_block(block.into()),
                (Key::Middle(key), Direction::Encrypt) => key.encrypt_block(block.into()),
                (Key::Middle(key), Direction::Decrypt) => key.decrypt_block(block.into()),
                (Key::Long(key), Direction::Encrypt) => key.encrypt_block(block.into()),
                (Key::Long(key), Direction::Decrypt) => key.decrypt_block(block.into()),
            }
        }
        Ok(())
    }
}
