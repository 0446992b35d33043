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

/// A block cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockCipher {
    /// Blocks of 16 bytes, keys of 16, 24 or 32.
    Aes,
    /// Blocks of 8 bytes, keys of 8; of 16 or 24 for DES three times.
    Des,
}

impl BlockCipher {
    /// Bytes of a block.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        match self {
            BlockCipher::Aes => 16,
            BlockCipher::Des => 8,
        }
    }
}

/// Which way a block cipher goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CipherMode {
    /// Plain text comes.
    Encrypt,
    /// Cipher text comes.
    Decrypt,
}

/// Curves that there may be.
pub const CURVES_MAX: u8 = 15;

/// A number that describes a curve y² = x³ + ax + b over a prime field, with cofactor 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// The field's prime; its bytes are those of every number of the field.
    Field,
    /// a.
    A,
    /// b.
    B,
    /// The base point, uncompressed.
    Generator,
    /// Its order.
    Order,
}

/// Bytes of a modulus of RSA at most.
pub const MODULUS_MAX: usize = 512;

/// What a number is raised by; numbers have the bytes of the modulus.
#[derive(Clone, Copy, Debug)]
pub enum RsaKey<'a> {
    /// Modulus and exponent, public or private.
    Plain {
        /// The modulus.
        modulus: &'a [u8],
        /// The exponent.
        exponent: &'a [u8],
    },
    /// The numbers of the prime factors, half as many bytes each: p, q, d mod p - 1, d mod q - 1, 1/q mod p.
    Factors(&'a [u8]),
}

/// Where a new key goes, as [`RsaKey`] has it.
#[derive(Debug)]
pub struct NewRsaKey<'a> {
    /// The modulus, whose bytes say how long the key is.
    pub modulus: &'a mut [u8],
    /// The private exponent.
    pub exponent: &'a mut [u8],
    /// The numbers of the prime factors.
    pub factors: &'a mut [u8],
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
    ///
    /// # Errors
    ///
    /// Where it is not there.
    fn compress(&mut self, hash: Hash, state: &mut [u32; 8], block: &[u8; 64]) -> Result<(), NotComputed>;

    /// Takes a block into the state of SHA-512.
    ///
    /// # Errors
    ///
    /// Where it is not there.
    fn compress_wide(&mut self, state: &mut [u64; 8], block: &[u8; 128]) -> Result<(), NotComputed>;

    /// Encrypts or decrypts a block.
    ///
    /// # Errors
    ///
    /// A key or a block of other bytes than the cipher has, or a cipher that is not there.
    fn block(&mut self, cipher: BlockCipher, mode: CipherMode, key: &[u8], block: &mut [u8])
    -> Result<(), NotComputed>;

    /// Fills with random bytes.
    ///
    /// # Errors
    ///
    /// Where there are none.
    fn random(&mut self, bytes: &mut [u8]) -> Result<(), NotComputed>;

    /// A number that describes a curve; none for a curve that is not there. The first curve is P-256; the others have
    /// the numbers that the implementation gives them, below [`CURVES_MAX`].
    fn parameter(&self, curve: u8, which: Parameter) -> Option<&'static [u8]>;

    /// Draws a secret of the bytes of the curve's field, and its uncompressed point.
    ///
    /// # Errors
    ///
    /// As [`Crypto::random`], and other bytes than the curve has.
    fn generate(&mut self, curve: u8, secret: &mut [u8], point: &mut [u8]) -> Result<(), NotComputed>;

    /// Signs a hash by ECDSA; returns the bytes of the DER sequence.
    ///
    /// # Errors
    ///
    /// A secret that is none of the curve.
    fn sign(&mut self, curve: u8, secret: &[u8], hash: &[u8], signature: &mut [u8]) -> Result<usize, NotComputed>;

    /// Whether a DER sequence signs a hash.
    fn verify(&mut self, curve: u8, point: &[u8], hash: &[u8], signature: &[u8]) -> bool;

    /// Whether there is RSA. Where not, its code is left out of the program.
    const HAS_RSA: bool = false;

    /// Raises a number below the modulus; `out` has as many bytes.
    ///
    /// # Errors
    ///
    /// A number that is not below the modulus, a key that is none, or no RSA.
    fn raise(&mut self, key: RsaKey<'_>, data: &[u8], out: &mut [u8]) -> Result<(), NotComputed> {
        let _ = (key, data, out);
        Err(NotComputed)
    }

    /// Draws a key with a public exponent.
    ///
    /// # Errors
    ///
    /// As [`Crypto::random`], a length or an exponent that is none, or no RSA.
    fn generate_rsa(&mut self, exponent: &[u8], key: NewRsaKey<'_>) -> Result<(), NotComputed> {
        let _ = (exponent, key);
        Err(NotComputed)
    }

    /// The product of a secret and another's public key, an uncompressed point.
    ///
    /// # Errors
    ///
    /// A secret or a point that is none of the curve.
    fn agree(&mut self, curve: u8, secret: &[u8], point: &[u8], product: &mut [u8]) -> Result<(), NotComputed>;
}

/// A card without cryptography.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCrypto;

impl Crypto for NoCrypto {
    const COMPUTES: bool = false;

    fn compress(&mut self, _: Hash, _: &mut [u32; 8], _: &[u8; 64]) -> Result<(), NotComputed> {
        Err(NotComputed)
    }

    fn compress_wide(&mut self, _: &mut [u64; 8], _: &[u8; 128]) -> Result<(), NotComputed> {
        Err(NotComputed)
    }

    fn block(&mut self, _: BlockCipher, _: CipherMode, _: &[u8], _: &mut [u8]) -> Result<(), NotComputed> {
        Err(NotComputed)
    }

    fn random(&mut self, _: &mut [u8]) -> Result<(), NotComputed> {
        Err(NotComputed)
    }

    fn parameter(&self, _: u8, _: Parameter) -> Option<&'static [u8]> {
        None
    }

    fn generate(&mut self, _: u8, _: &mut [u8], _: &mut [u8]) -> Result<(), NotComputed> {
        Err(NotComputed)
    }

    fn sign(&mut self, _: u8, _: &[u8], _: &[u8], _: &mut [u8]) -> Result<usize, NotComputed> {
        Err(NotComputed)
    }

    fn verify(&mut self, _: u8, _: &[u8], _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn agree(&mut self, _: u8, _: &[u8], _: &[u8], _: &mut [u8]) -> Result<(), NotComputed> {
        Err(NotComputed)
    }
}
