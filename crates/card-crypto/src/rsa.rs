//! RSA (RFC 8017, 5.1 and 5.2): the operations on numbers, which a card's API pads for.
//!
//! Numbers have the most significant byte first, and as many bytes as the modulus; those of the prime factors half as
//! many. They are allocated while they are computed with, and cleared then.

use ::rsa::rand_core::{TryCryptoRng, TryRng};
use ::rsa::traits::{PrivateKeyParts, PublicKeyParts};
use ::rsa::{BoxedUint, PrivateKey};
use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{ConcatenatingMul, NonZero, Odd, Resize};

use crate::error::CryptoError;
use crate::random::Random;

/// Bytes of a modulus: 1,024 to 4,096 bits.
pub const MODULUS_MAX: usize = 512;
const MODULUS_MIN: usize = 128;

/// What a number is raised by.
#[derive(Clone, Copy, Debug)]
pub enum RsaKey<'a> {
    /// Modulus and exponent.
    Plain {
        /// The modulus.
        modulus: &'a [u8],
        /// The exponent, public or private.
        exponent: &'a [u8],
    },
    /// The private key by its prime factors: p, q, d mod p - 1, d mod q - 1, 1/q mod p, one after the other.
    Factors(&'a [u8]),
}

fn number(bytes: &[u8]) -> Result<BoxedUint, CryptoError> {
    BoxedUint::from_be_slice(bytes, bytes.len() as u32 * 8).map_err(|_| CryptoError::KeyLength)
}

fn odd(bytes: &[u8]) -> Result<Odd<BoxedUint>, CryptoError> {
    Odd::new(number(bytes)?).into_option().ok_or(CryptoError::KeyLength)
}

/// A number below a modulus, raised.
fn power(data: BoxedUint, modulus: &Odd<BoxedUint>, exponent: &BoxedUint) -> BoxedUint {
    let parameters = BoxedMontyParams::new(modulus.clone());
    BoxedMontyForm::new(data, &parameters).pow(exponent).retrieve()
}

/// Raises a number to the power of a key. `data` and `out` have as many bytes as the modulus.
///
/// # Errors
///
/// [`CryptoError::KeyLength`] for a key that is none; [`CryptoError::OutOfRange`] for a number that is not below the
/// modulus; [`CryptoError::OutputLength`].
pub fn raise(key: RsaKey<'_>, data: &[u8], out: &mut [u8]) -> Result<(), CryptoError> {
    let result = match key {
        RsaKey::Plain { modulus, exponent } => {
            check(modulus.len(), data, out)?;
            let modulus = odd(modulus)?;
            let data = number(data)?;
            if data >= *modulus.as_ref() {
                return Err(CryptoError::OutOfRange);
            }
            power(data, &modulus, &number(exponent)?)
        }
        RsaKey::Factors(parts) => {
            let half = parts.len() / 5;
            check(2 * half, data, out)?;
            let part = |place: usize| parts.get(place * half..(place + 1) * half).ok_or(CryptoError::KeyLength);
            let (p, q) = (odd(part(0)?)?, odd(part(1)?)?);
            let data = number(data)?;
            if data >= p.as_ref().concatenating_mul(q.as_ref()) {
                return Err(CryptoError::OutOfRange);
            }
            let by = |prime: &Odd<BoxedUint>, exponent: &[u8]| {
                let below = data.rem(&prime.as_nz_ref().clone()).resize(half as u32 * 8);
                Ok::<_, CryptoError>(power(below, prime, &number(exponent)?))
            };
            let (of_p, of_q) = (by(&p, part(2)?)?, by(&q, part(3)?)?);
            let modulus: NonZero<BoxedUint> = p.as_nz_ref().clone();
            let difference = of_p.sub_mod(&of_q.rem(&modulus).resize(half as u32 * 8), &modulus);
            let height = difference.mul_mod(&number(part(4)?)?, &modulus);
            let wide = height.concatenating_mul(q.as_ref());
            wide.wrapping_add(of_q.resize(wide.bits_precision()))
        }
    };
    let bytes = result.to_be_bytes();
    let start = bytes.len().checked_sub(out.len()).ok_or(CryptoError::OutputLength)?;
    out.copy_from_slice(&bytes[start..]);
    Ok(())
}

fn check(modulus: usize, data: &[u8], out: &[u8]) -> Result<(), CryptoError> {
    if !(MODULUS_MIN..=MODULUS_MAX).contains(&modulus) {
        return Err(CryptoError::KeyLength);
    }
    if data.len() != modulus || out.len() != modulus {
        return Err(CryptoError::OutputLength);
    }
    Ok(())
}

/// Where a key that is drawn goes.
#[derive(Debug)]
pub struct NewRsaKey<'a> {
    /// The modulus, whose bytes say how long the key is.
    pub modulus: &'a mut [u8],
    /// The private exponent, as many bytes.
    pub exponent: &'a mut [u8],
    /// The numbers of the prime factors, as [`RsaKey::Factors`] has them.
    pub factors: &'a mut [u8],
}

/// Random numbers for the search of primes.
struct Source<'a, R>(&'a mut R);

impl<R: Random> TryRng for Source<'_, R> {
    type Error = CryptoError;

    fn try_next_u32(&mut self) -> Result<u32, CryptoError> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, CryptoError> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), CryptoError> {
        self.0.fill(bytes)
    }
}

impl<R: Random> TryCryptoRng for Source<'_, R> {}

/// Draws a key with a public exponent.
///
/// # Errors
///
/// [`CryptoError::KeyLength`] for a length that is none; [`CryptoError::NoRandom`], also for an exponent that no key
/// has; [`CryptoError::OutputLength`].
pub fn generate(random: &mut impl Random, exponent: &[u8], key: NewRsaKey<'_>) -> Result<(), CryptoError> {
    let bytes = key.modulus.len();
    check(bytes, key.modulus, key.exponent)?;
    if key.factors.len() != bytes / 2 * 5 || !bytes.is_multiple_of(2) {
        return Err(CryptoError::OutputLength);
    }
    let drawn = PrivateKey::new_with_exp(&mut Source(random), bytes * 8, number(exponent)?);
    let drawn = drawn.map_err(|_| CryptoError::NoRandom)?;
    let [p, q] = drawn.primes() else { return Err(CryptoError::KeyLength) };
    let one = BoxedUint::one_with_precision(p.as_ref().bits_precision());
    let below = |prime: &Odd<BoxedUint>| {
        let less = NonZero::new(prime.as_ref().wrapping_sub(&one)).into_option();
        less.map(|less| drawn.d().rem(&less)).ok_or(CryptoError::KeyLength)
    };
    let inverse = q.as_ref().rem(&p.as_nz_ref().clone()).invert_odd_mod(p).into_option();
    let inverse = inverse.ok_or(CryptoError::KeyLength)?;
    write(drawn.n().as_ref(), key.modulus)?;
    write(drawn.d(), key.exponent)?;
    let half = bytes / 2;
    let parts = [p.as_ref().clone(), q.as_ref().clone(), below(p)?, below(q)?, inverse];
    for (part, place) in parts.iter().zip(key.factors.chunks_mut(half)) {
        write(part, place)?;
    }
    Ok(())
}

/// A number, with zeros before it.
fn write(number: &BoxedUint, to: &mut [u8]) -> Result<(), CryptoError> {
    let bytes = number.to_be_bytes();
    to.fill(0);
    match bytes.len().checked_sub(to.len()) {
        Some(more) if bytes[..more].iter().all(|byte| *byte == 0) => to.copy_from_slice(&bytes[more..]),
        Some(_) => return Err(CryptoError::OutputLength),
        None => {
            let start = to.len() - bytes.len();
            to[start..].copy_from_slice(&bytes);
        }
    }
    Ok(())
}
