//! What a virtual machine asks of cryptography. The API's classes keep keys and states in arrays, so that nothing of it
//! is kept here between calls.

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// 20 bytes, of a state of five words.
    Sha1,
    /// 32 bytes, of a state of eight words.
    Sha256,
}

/// Which way a block cipher goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CipherMode {
    /// Plain text comes.
    Encrypt,
    /// Cipher text comes.
    Decrypt,
}

/// Something that is not computed: a key is none, or there are no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotComputed;

/// Algorithms. Numbers have the most significant byte first.
pub trait Crypto {
    /// Whether there are any. Where not, what asks for them throws `NO_SUCH_ALGORITHM`, and their code is left out of
    /// the program.
    const COMPUTES: bool = true;

    /// Takes a block into the state of a hash.
    fn compress(&mut self, hash: Hash, state: &mut [u32; 8], block: &[u8; 64]);

    /// Encrypts or decrypts a block by AES.
    ///
    /// # Errors
    ///
    /// A key that has not 16, 24 or 32 bytes, or of a length that is not there.
    fn aes(&mut self, mode: CipherMode, key: &[u8], block: &mut [u8; 16]) -> Result<(), NotComputed>;

    /// Fills with random bytes.
    ///
    /// # Errors
    ///
    /// Where there are none.
    fn random(&mut self, bytes: &mut [u8]) -> Result<(), NotComputed>;

    /// Draws a key of P-256, and its public key, uncompressed.
    ///
    /// # Errors
    ///
    /// As [`Crypto::random`].
    fn generate(&mut self) -> Result<([u8; 32], [u8; 65]), NotComputed>;

    /// Signs a hash by ECDSA over P-256; returns the bytes of the DER sequence.
    ///
    /// # Errors
    ///
    /// A key that is none of the curve.
    fn sign(&mut self, secret: &[u8], hash: &[u8], signature: &mut [u8; 72]) -> Result<usize, NotComputed>;

    /// Whether a DER sequence signs a hash.
    fn verify(&mut self, point: &[u8], hash: &[u8], signature: &[u8]) -> bool;

    /// The X coordinate of the product of a key and another's public key.
    ///
    /// # Errors
    ///
    /// A key or a point that is none of the curve.
    fn agree(&mut self, secret: &[u8], point: &[u8]) -> Result<[u8; 32], NotComputed>;
}

/// A card without cryptography.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCrypto;

impl Crypto for NoCrypto {
    const COMPUTES: bool = false;

    fn compress(&mut self, _: Hash, _: &mut [u32; 8], _: &[u8; 64]) {}

    fn aes(&mut self, _: CipherMode, _: &[u8], _: &mut [u8; 16]) -> Result<(), NotComputed> {
        Err(NotComputed)
    }

    fn random(&mut self, _: &mut [u8]) -> Result<(), NotComputed> {
        Err(NotComputed)
    }

    fn generate(&mut self) -> Result<([u8; 32], [u8; 65]), NotComputed> {
        Err(NotComputed)
    }

    fn sign(&mut self, _: &[u8], _: &[u8], _: &mut [u8; 72]) -> Result<usize, NotComputed> {
        Err(NotComputed)
    }

    fn verify(&mut self, _: &[u8], _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn agree(&mut self, _: &[u8], _: &[u8]) -> Result<[u8; 32], NotComputed> {
        Err(NotComputed)
    }
}
