//! DES and DES three times (FIPS 46-3, SP 800-67), for formats that ask for it.

use des::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use des::{Des as Single, TdesEde2, TdesEde3};

use crate::aes::Direction;
use crate::error::CryptoError;

const BLOCK: usize = 8;

/// A key, and blocks each for itself: ECB. Parities of keys are not looked at.
#[derive(Clone)]
pub struct Des(Key);

#[derive(Clone)]
enum Key {
    Single(Single),
    Two(TdesEde2),
    Three(TdesEde3),
}

impl Des {
    /// Takes a key of 8, 16 or 24 bytes.
    ///
    /// # Errors
    ///
    /// [`CryptoError::KeyLength`].
    pub fn new(key: &[u8]) -> Result<Self, CryptoError> {
        let refused = |_| CryptoError::KeyLength;
        Ok(Des(match key.len() {
            8 => Key::Single(Single::new_from_slice(key).map_err(refused)?),
            16 => Key::Two(TdesEde2::new_from_slice(key).map_err(refused)?),
            _ => Key::Three(TdesEde3::new_from_slice(key).map_err(refused)?),
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
                (Key::Single(key), Direction::Encrypt) => key.encrypt_block(block.into()),
                (Key::Single(key), Direction::Decrypt) => key.decrypt_block(block.into()),
                (Key::Two(key), Direction::Encrypt) => key.encrypt_block(block.into()),
                (Key::Two(key), Direction::Decrypt) => key.decrypt_block(block.into()),
                (Key::Three(key), Direction::Encrypt) => key.encrypt_block(block.into()),
                (Key::Three(key), Direction::Decrypt) => key.decrypt_block(block.into()),
            }
        }
        Ok(())
    }
}
