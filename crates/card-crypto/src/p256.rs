//! ECDSA and ECDH over P-256 (FIPS 186-5, SP 800-56A).

use p256::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
use p256::ecdsa::{DerSignature, Signature, SigningKey, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey, ecdh};

use crate::error::CryptoError;
use crate::random::Random;

/// How often a random number is drawn that is no private key: one in 2³² is none.
const DRAWS: usize = 8;

/// A private key.
#[derive(Clone)]
pub struct KeyP256(SecretKey);

/// A public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointP256(PublicKey);

impl KeyP256 {
    /// Takes a key of 32 bytes, the most significant first.
    ///
    /// # Errors
    ///
    /// [`CryptoError::KeyLength`], [`CryptoError::NotOnCurve`].
    pub fn new(bytes: &[u8]) -> Result<Self, CryptoError> {
        if bytes.len() != 32 {
            return Err(CryptoError::KeyLength);
        }
        SecretKey::from_slice(bytes).map(KeyP256).map_err(|_| CryptoError::NotOnCurve)
    }

    /// Draws a key.
    ///
    /// # Errors
    ///
    /// [`CryptoError::NoRandom`].
    pub fn generate(random: &mut impl Random) -> Result<Self, CryptoError> {
        for _ in 0..DRAWS {
            let mut bytes = [0; 32];
            random.fill(&mut bytes)?;
            if let Ok(key) = Self::new(&bytes) {
                return Ok(key);
            }
        }
        Err(CryptoError::NoRandom)
    }

    /// The 32 bytes, for a card's own keeping.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes().into()
    }

    /// The public key.
    #[must_use]
    pub fn public(&self) -> PointP256 {
        PointP256(self.0.public_key())
    }

    /// Signs a hash of 16 to 64 bytes: writes a DER sequence of r and s, 8 to 72 bytes, and answers its length. The
    /// nonce is that of RFC 6979, so that a bad source of random bytes gives no key away.
    ///
    /// # Errors
    ///
    /// [`CryptoError::HashLength`]; [`CryptoError::OutputLength`] for less than the signature's bytes.
    pub fn sign(&self, hash: &[u8], out: &mut [u8]) -> Result<usize, CryptoError> {
        if !(16..=64).contains(&hash.len()) {
            return Err(CryptoError::HashLength);
        }
        let signature: DerSignature =
            SigningKey::from(&self.0).sign_prehash(hash).map_err(|_| CryptoError::HashLength)?;
        let bytes = signature.as_bytes();
        out.get_mut(..bytes.len()).ok_or(CryptoError::OutputLength)?.copy_from_slice(bytes);
        Ok(bytes.len())
    }

    /// The secret that this key and another's public key share: the X coordinate of their product.
    #[must_use]
    pub fn agree(&self, other: &PointP256) -> [u8; 32] {
        (*ecdh::diffie_hellman(self.0.to_nonzero_scalar(), other.0.as_affine()).raw_secret_bytes()).into()
    }
}

impl PointP256 {
    /// Takes an uncompressed point, 65 bytes that begin with 04.
    ///
    /// # Errors
    ///
    /// [`CryptoError::KeyLength`], [`CryptoError::NotOnCurve`].
    pub fn new(bytes: &[u8]) -> Result<Self, CryptoError> {
        if bytes.len() != 65 || bytes[0] != 4 {
            return Err(CryptoError::KeyLength);
        }
        PublicKey::from_sec1_bytes(bytes).map(PointP256).map_err(|_| CryptoError::NotOnCurve)
    }

    /// The uncompressed point.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 65] {
        let mut bytes = [0; 65];
        bytes.copy_from_slice(self.0.to_sec1_point(false).as_bytes());
        bytes
    }

    /// Whether a DER sequence of r and s signs a hash.
    #[must_use]
    pub fn verify(&self, hash: &[u8], signature: &[u8]) -> bool {
        Signature::from_der(signature)
            .is_ok_and(|signature| VerifyingKey::from(&self.0).verify_prehash(hash, &signature).is_ok())
    }
}
