//! AES-128 and AES-256 (FIPS 197) in ECB, CBC, CTR (SP 800-38A) and CMAC (SP 800-38B).

use aes::cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit, StreamCipher,
};
use aes::{Aes128, Aes256};
use cmac::{Cmac, Mac as _};
use ctr::Ctr128BE;

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

/// The blocks of some data.
fn blocks(data: &mut [u8]) -> Result<&mut [[u8; BLOCK]], CryptoError> {
    match data.as_chunks_mut() {
        (blocks, []) => Ok(blocks),
        _ => Err(CryptoError::BlockLength),
    }
}

/// One of two, by the length of the key.
macro_rules! by_length {
    ($key:expr, $make:ident, $short:ty, $long:ty) => {
        match $key.len() {
            16 => Ok($make::Short(<$short>::new_from_slice($key).map_err(|_| CryptoError::KeyLength)?)),
            32 => Ok($make::Long(<$long>::new_from_slice($key).map_err(|_| CryptoError::KeyLength)?)),
            _ => Err(CryptoError::KeyLength),
        }
    };
}

/// A key, and blocks each for itself: ECB.
#[derive(Clone)]
pub struct Aes(Key);

#[derive(Clone)]
enum Key {
    Short(Aes128),
    Long(Aes256),
}

impl Aes {
    /// Takes a key of 16 or 32 bytes.
    ///
    /// # Errors
    ///
    /// [`CryptoError::KeyLength`].
    pub fn new(key: &[u8]) -> Result<Self, CryptoError> {
        by_length!(key, Key, Aes128, Aes256).map(Aes)
    }

    /// Turns each block of the data into its cipher text, or back.
    ///
    /// # Errors
    ///
    /// [`CryptoError::BlockLength`]; the data are as before then.
    pub fn apply(&self, direction: Direction, data: &mut [u8]) -> Result<(), CryptoError> {
        for block in blocks(data)? {
            match (&self.0, direction) {
                (Key::Short(key), Direction::Encrypt) => key.encrypt_block(block.into()),
                (Key::Short(key), Direction::Decrypt) => key.decrypt_block(block.into()),
                (Key::Long(key), Direction::Encrypt) => key.encrypt_block(block.into()),
                (Key::Long(key), Direction::Decrypt) => key.decrypt_block(block.into()),
            }
        }
        Ok(())
    }
}

/// CBC: a key, and the block before.
pub struct Cbc(Chain);

enum Chain {
    EncryptShort(cbc::Encryptor<Aes128>),
    EncryptLong(cbc::Encryptor<Aes256>),
    DecryptShort(cbc::Decryptor<Aes128>),
    DecryptLong(cbc::Decryptor<Aes256>),
}

impl Cbc {
    /// Begins with a key of 16 or 32 bytes and an initial vector.
    ///
    /// # Errors
    ///
    /// [`CryptoError::KeyLength`].
    pub fn new(direction: Direction, key: &[u8], vector: &[u8; BLOCK]) -> Result<Self, CryptoError> {
        fn made<T: KeyIvInit>(key: &[u8], vector: &[u8], wrap: fn(T) -> Chain) -> Result<Cbc, CryptoError> {
            T::new_from_slices(key, vector).map(|chain| Cbc(wrap(chain))).map_err(|_| CryptoError::KeyLength)
        }
        match (direction, key.len()) {
            (Direction::Encrypt, 16) => made(key, vector, Chain::EncryptShort),
            (Direction::Encrypt, _) => made(key, vector, Chain::EncryptLong),
            (Direction::Decrypt, 16) => made(key, vector, Chain::DecryptShort),
            (Direction::Decrypt, _) => made(key, vector, Chain::DecryptLong),
        }
    }

    /// Goes on with whole blocks, in place.
    ///
    /// # Errors
    ///
    /// [`CryptoError::BlockLength`]; the data and the chain are as before then.
    pub fn apply(&mut self, data: &mut [u8]) -> Result<(), CryptoError> {
        for block in blocks(data)? {
            match &mut self.0 {
                Chain::EncryptShort(chain) => chain.encrypt_block(block.into()),
                Chain::EncryptLong(chain) => chain.encrypt_block(block.into()),
                Chain::DecryptShort(chain) => chain.decrypt_block(block.into()),
                Chain::DecryptLong(chain) => chain.decrypt_block(block.into()),
            }
        }
        Ok(())
    }
}

/// CTR: a key, and a counter of 128 bits, the most significant byte first. Both directions are the same.
pub struct Ctr(Stream);

enum Stream {
    Short(Ctr128BE<Aes128>),
    Long(Ctr128BE<Aes256>),
}

impl Ctr {
    /// Begins with a key of 16 or 32 bytes and the first counter.
    ///
    /// # Errors
    ///
    /// [`CryptoError::KeyLength`].
    pub fn new(key: &[u8], counter: &[u8; BLOCK]) -> Result<Self, CryptoError> {
        let refused = |_| CryptoError::KeyLength;
        Ok(Ctr(match key.len() {
            16 => Stream::Short(KeyIvInit::new_from_slices(key, counter).map_err(refused)?),
            _ => Stream::Long(KeyIvInit::new_from_slices(key, counter).map_err(refused)?),
        }))
    }

    /// Goes on with any number of bytes, in place.
    pub fn apply(&mut self, data: &mut [u8]) {
        match &mut self.0 {
            Stream::Short(stream) => stream.apply_keystream(data),
            Stream::Long(stream) => stream.apply_keystream(data),
        }
    }
}

/// CMAC: 16 bytes that prove data and key.
#[derive(Clone)]
pub struct Mac(Tag);

#[derive(Clone)]
enum Tag {
    Short(Cmac<Aes128>),
    Long(Cmac<Aes256>),
}

impl Mac {
    /// Begins with a key of 16 or 32 bytes.
    ///
    /// # Errors
    ///
    /// [`CryptoError::KeyLength`].
    pub fn new(key: &[u8]) -> Result<Self, CryptoError> {
        by_length!(key, Tag, Cmac<Aes128>, Cmac<Aes256>).map(Mac)
    }

    /// Takes more data.
    pub fn update(&mut self, data: &[u8]) {
        match &mut self.0 {
            Tag::Short(mac) => mac.update(data),
            Tag::Long(mac) => mac.update(data),
        }
    }

    /// Answers the code.
    #[must_use]
    pub fn finish(self) -> [u8; BLOCK] {
        match self.0 {
            Tag::Short(mac) => mac.finalize().into_bytes().into(),
            Tag::Long(mac) => mac.finalize().into_bytes().into(),
        }
    }

    /// Whether the code is this one, all of it; in a time that does not depend on where they differ.
    #[must_use]
    pub fn verify(self, code: &[u8]) -> bool {
        match self.0 {
            Tag::Short(mac) => mac.verify_slice(code).is_ok(),
            Tag::Long(mac) => mac.verify_slice(code).is_ok(),
        }
    }
}
