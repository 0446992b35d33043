//! ECDSA and ECDH over prime curves (FIPS 186-5, SP 800-56A, RFC 5639, SEC 2).
//!
//! Numbers have the most significant byte first. A secret has as many bytes as the curve's field, a point one more than
//! twice as many: 04, X, Y.

use core::ops::Add;

use ecdsa::der::{MaxOverhead, MaxSize};
use ecdsa::elliptic_curve::Group as _;
use ecdsa::elliptic_curve::array::ArraySize;
use ecdsa::elliptic_curve::group::Curve as _;
use ecdsa::elliptic_curve::sec1::{FromSec1Point, ModulusSize, ToSec1Point};
use ecdsa::elliptic_curve::{
    AffinePoint, CurveArithmetic, FieldBytes, FieldBytesSize, NonZeroScalar, ProjectivePoint, PublicKey,
};
use ecdsa::hazmat::{sign_prehashed_rfc6979, verify_prehashed};
use ecdsa::{EcdsaCurve, Signature};
use sha2::Sha256;

use crate::error::CryptoError;
use crate::parameters;
use crate::random::Random;

/// Bytes of the largest field.
pub const FIELD_MAX: usize = 66;
/// Bytes of a point of it.
pub const POINT_MAX: usize = 1 + 2 * FIELD_MAX;
/// Bytes of a signature over it, as a DER sequence.
pub const SIGNATURE_MAX: usize = 139;

const HASH_MAX: usize = 64;

/// How often a random number is drawn that is no private key: of most curves one in 2³² is none, of P-521 every other
/// number of its bits.
const DRAWS: usize = 64;

/// A curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// NIST's P-256, secp256r1.
    P256,
    /// NIST's P-192, secp192r1.
    #[cfg(feature = "curves")]
    P192,
    /// NIST's P-224, secp224r1.
    #[cfg(feature = "curves")]
    P224,
    /// NIST's P-384, secp384r1.
    #[cfg(feature = "curves")]
    P384,
    /// NIST's P-521, secp521r1.
    #[cfg(feature = "curves")]
    P521,
    /// Brainpool's P256r1.
    #[cfg(feature = "curves")]
    BrainpoolP256,
    /// secp256k1.
    #[cfg(feature = "curves")]
    Secp256k1,
}

/// A number that describes a curve y² = x³ + ax + b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// The field's prime.
    Field,
    /// a.
    A,
    /// b.
    B,
    /// The base point, uncompressed.
    Generator,
    /// Its order. The cofactor is 1.
    Order,
}

type Secret<C> = NonZeroScalar<C>;

/// A curve of RustCrypto's, and what a generic call of it needs.
trait Arithmetic: EcdsaCurve + CurveArithmetic {
    fn public(secret: &[u8], point: &mut [u8]) -> Result<(), CryptoError>;
    fn sign(secret: &[u8], hash: &[u8], out: &mut [u8]) -> Result<usize, CryptoError>;
    fn verify(point: &[u8], hash: &[u8], signature: &[u8]) -> bool;
    fn agree(secret: &[u8], point: &[u8], product: &mut [u8]) -> Result<(), CryptoError>;
}

fn secret_of<C: CurveArithmetic>(bytes: &[u8]) -> Result<Secret<C>, CryptoError> {
    let bytes = FieldBytes::<C>::try_from(bytes).map_err(|_| CryptoError::KeyLength)?;
    Secret::<C>::from_repr(bytes).into_option().ok_or(CryptoError::NotOnCurve)
}

fn write_point<C: CurveArithmetic>(found: &AffinePoint<C>, to: &mut [u8])
where
    AffinePoint<C>: ToSec1Point<C>,
    FieldBytesSize<C>: ModulusSize,
{
    to.copy_from_slice(found.to_sec1_point(false).as_bytes());
}

fn read_point<C: CurveArithmetic>(bytes: &[u8]) -> Result<ProjectivePoint<C>, CryptoError>
where
    AffinePoint<C>: FromSec1Point<C> + ToSec1Point<C>,
    FieldBytesSize<C>: ModulusSize,
{
    let point = PublicKey::<C>::from_sec1_bytes(bytes).map_err(|_| CryptoError::NotOnCurve)?;
    Ok(point.to_projective())
}

impl<C> Arithmetic for C
where
    C: EcdsaCurve + CurveArithmetic,
    AffinePoint<C>: FromSec1Point<C> + ToSec1Point<C>,
    FieldBytesSize<C>: ModulusSize,
    MaxSize<C>: ArraySize,
    <FieldBytesSize<C> as Add>::Output: Add<MaxOverhead> + ArraySize,
{
    fn public(secret: &[u8], point: &mut [u8]) -> Result<(), CryptoError> {
        let secret = secret_of::<C>(secret)?;
        write_point::<C>(&ProjectivePoint::<C>::mul_by_generator(&secret).to_affine(), point);
        Ok(())
    }

    fn sign(secret: &[u8], hash: &[u8], out: &mut [u8]) -> Result<usize, CryptoError> {
        let (signature, _) = sign_prehashed_rfc6979::<C, Sha256>(&secret_of::<C>(secret)?, hash, &[]);
        let signature = signature.to_der();
        let bytes = signature.as_bytes();
        out.get_mut(..bytes.len()).ok_or(CryptoError::OutputLength)?.copy_from_slice(bytes);
        Ok(bytes.len())
    }

    fn verify(point: &[u8], hash: &[u8], signature: &[u8]) -> bool {
        let (Ok(point), Ok(signature)) = (read_point::<C>(point), Signature::<C>::from_der(signature)) else {
            return false;
        };
        // RustCrypto holds large values of s for no signatures of some curves; cards make and take them.
        let signature = if C::NORMALIZE_S { signature.normalize_s() } else { signature };
        verify_prehashed(&point, hash, &signature).is_ok()
    }

    fn agree(secret: &[u8], point: &[u8], product: &mut [u8]) -> Result<(), CryptoError> {
        let secret = secret_of::<C>(secret)?;
        write_point::<C>(&(read_point::<C>(point)? * *secret).to_affine(), product);
        Ok(())
    }
}

/// A call for whichever curve it is.
macro_rules! of_curve {
    ($curve:expr, $call:ident($($argument:expr),*)) => {
        match $curve {
            Curve::P256 => <::p256::NistP256 as Arithmetic>::$call($($argument),*),
            #[cfg(feature = "curves")]
            Curve::P192 => <::p192::NistP192 as Arithmetic>::$call($($argument),*),
            #[cfg(feature = "curves")]
            Curve::P224 => <::p224::NistP224 as Arithmetic>::$call($($argument),*),
            #[cfg(feature = "curves")]
            Curve::P384 => <::p384::NistP384 as Arithmetic>::$call($($argument),*),
            #[cfg(feature = "curves")]
            Curve::P521 => <::p521::NistP521 as Arithmetic>::$call($($argument),*),
            #[cfg(feature = "curves")]
            Curve::BrainpoolP256 => <::bp256::r1::BrainpoolP256r1 as Arithmetic>::$call($($argument),*),
            #[cfg(feature = "curves")]
            Curve::Secp256k1 => <::k256::Secp256k1 as Arithmetic>::$call($($argument),*),
        }
    };
}

impl Curve {
    /// Bytes of a number of the field.
    #[must_use]
    pub const fn field_bytes(self) -> usize {
        self.parameter(Parameter::Field).len()
    }

    /// Bytes of an uncompressed point.
    #[must_use]
    pub const fn point_bytes(self) -> usize {
        1 + 2 * self.field_bytes()
    }

    /// A number that describes the curve.
    #[must_use]
    pub const fn parameter(self, which: Parameter) -> &'static [u8] {
        let all = match self {
            Curve::P256 => &parameters::P256,
            #[cfg(feature = "curves")]
            Curve::P192 => &parameters::P192,
            #[cfg(feature = "curves")]
            Curve::P224 => &parameters::P224,
            #[cfg(feature = "curves")]
            Curve::P384 => &parameters::P384,
            #[cfg(feature = "curves")]
            Curve::P521 => &parameters::P521,
            #[cfg(feature = "curves")]
            Curve::BrainpoolP256 => &parameters::BRAINPOOL_P256,
            #[cfg(feature = "curves")]
            Curve::Secp256k1 => &parameters::SECP256K1,
        };
        all[which as usize]
    }

    /// Draws a key: a secret of the field's bytes, and its point.
    ///
    /// # Errors
    ///
    /// [`CryptoError::NoRandom`]; [`CryptoError::OutputLength`].
    pub fn generate(self, random: &mut impl Random, secret: &mut [u8], point: &mut [u8]) -> Result<(), CryptoError> {
        if secret.len() != self.field_bytes() || point.len() != self.point_bytes() {
            return Err(CryptoError::OutputLength);
        }
        let unused = self.parameter(Parameter::Order).first().map_or(0, |byte| byte.leading_zeros());
        for _ in 0..DRAWS {
            random.fill(secret)?;
            if let Some(first) = secret.first_mut() {
                *first &= u8::MAX.checked_shr(unused).unwrap_or(0);
            }
            if of_curve!(self, public(secret, point)).is_ok() {
                return Ok(());
            }
        }
        secret.fill(0);
        Err(CryptoError::NoRandom)
    }

    /// The point of a secret.
    ///
    /// # Errors
    ///
    /// [`CryptoError::NotOnCurve`]; [`CryptoError::OutputLength`].
    pub fn public(self, secret: &[u8], point: &mut [u8]) -> Result<(), CryptoError> {
        if point.len() != self.point_bytes() {
            return Err(CryptoError::OutputLength);
        }
        of_curve!(self, public(secret, point))
    }

    /// Signs a hash of at most 64 bytes: writes a DER sequence of r and s, and answers its length. The nonce is that of
    /// RFC 6979, so that a bad source of random bytes gives no key away.
    ///
    /// # Errors
    ///
    /// [`CryptoError::NotOnCurve`], [`CryptoError::HashLength`]; [`CryptoError::OutputLength`] for less than the
    /// signature's bytes.
    pub fn sign(self, secret: &[u8], hash: &[u8], out: &mut [u8]) -> Result<usize, CryptoError> {
        if hash.is_empty() || hash.len() > HASH_MAX {
            return Err(CryptoError::HashLength);
        }
        of_curve!(self, sign(secret, hash, out))
    }

    /// Whether a DER sequence of r and s signs a hash.
    #[must_use]
    pub fn verify(self, point: &[u8], hash: &[u8], signature: &[u8]) -> bool {
        self.is_point(point) && of_curve!(self, verify(point, hash, signature))
    }

    /// The product of a secret and a point, uncompressed.
    ///
    /// # Errors
    ///
    /// [`CryptoError::NotOnCurve`]; [`CryptoError::OutputLength`].
    pub fn agree(self, secret: &[u8], point: &[u8], product: &mut [u8]) -> Result<(), CryptoError> {
        if product.len() != self.point_bytes() {
            return Err(CryptoError::OutputLength);
        }
        if !self.is_point(point) {
            return Err(CryptoError::NotOnCurve);
        }
        of_curve!(self, agree(secret, point, product))
    }

    fn is_point(self, point: &[u8]) -> bool {
        point.len() == self.point_bytes() && point.first() == Some(&4)
    }
}
