//! RSA on keys that are arrays of the API's classes.
//!
//! ```text
//! a public key, and a private one    the modulus │ the exponent, as many bytes │ flags of the class's
//! a private key by its factors       p │ q │ d mod p - 1 │ d mod q - 1 │ 1/q mod p, half as many each │ flags
//! ```

use norn_card_package::native_number;

use super::{Natives, Step, numbers};
use crate::code::Code;
use crate::crypto::{Crypto, MODULUS_MAX, NewRsaKey, RsaKey};
use crate::end::{Exception, Native, Trap};
use crate::heap::PersistentHeap;

numbers! {
    HAS_RSA = "javacard/security/Algorithms" "hasRsa" "()Z";
    RAISE = "javacard/security/Algorithms" "raise" "(Z[BS[BSS[BS)Z";
    GENERATE_RSA = "javacard/security/Algorithms" "generateRsa" "(Z[B[BS)Z";
}

/// Bytes of the numbers of prime factors.
const FACTORS_MAX: usize = MODULUS_MAX / 2 * 5;
/// The public exponent where none is given.
const EXPONENT: [u8; 3] = [1, 0, 1];

impl<H: PersistentHeap, C: Code, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize>
    Natives<'_, '_, H, C, K, PACKAGES, TRANSIENT>
{
    pub(super) fn of_rsa(&mut self, number: u16, all: [i32; 9]) -> Step<Option<Native>, H, C> {
        let value = match number {
            HAS_RSA => K::HAS_RSA,
            RAISE if K::HAS_RSA => self.raise(all)?,
            GENERATE_RSA if K::HAS_RSA => self.generate_rsa(all)?,
            RAISE | GENERATE_RSA => false,
            _ => return Ok(None),
        };
        Ok(Some(Native::Returns(i32::from(value))))
    }

    /// Bytes of a modulus.
    fn modulus_bytes(&mut self, bytes: i32) -> Step<usize, H, C> {
        match usize::try_from(bytes) {
            Ok(bytes) if bytes <= MODULUS_MAX && bytes % 2 == 0 => Ok(bytes),
            _ => Err(Trap::Exception(Exception::Bounds)),
        }
    }

    #[inline(never)]
    fn raise(&mut self, [is_factors, key, bytes, from, from_at, length, to, to_at, _]: [i32; 9]) -> Step<bool, H, C> {
        let bytes = self.modulus_bytes(bytes)?;
        let (mut numbers, mut data, mut out) = ([0; FACTORS_MAX], [0; MODULUS_MAX], [0; MODULUS_MAX]);
        let key_bytes = if is_factors == 0 { 2 * bytes } else { bytes / 2 * 5 };
        let place = self.bytes(key, 0, key_bytes as i32)?;
        self.read(place, &mut numbers[..key_bytes])?;
        let from = self.bytes(from, from_at, length)?;
        let to = self.bytes(to, to_at, bytes as i32)?;
        if usize::from(from.count) != bytes {
            return Ok(false);
        }
        self.read(from, &mut data[..bytes])?;
        let key = match is_factors {
            0 => RsaKey::Plain { modulus: &numbers[..bytes], exponent: &numbers[bytes..2 * bytes] },
            _ => RsaKey::Factors(&numbers[..key_bytes]),
        };
        let raised = self.session.crypto.raise(key, &data[..bytes], &mut out[..bytes]);
        if raised.is_ok() {
            self.write(to, &out[..bytes])?;
        }
        Ok(raised.is_ok())
    }

    #[inline(never)]
    fn generate_rsa(&mut self, [is_factors, public, private, bytes, ..]: [i32; 9]) -> Step<bool, H, C> {
        let bytes = self.modulus_bytes(bytes)?;
        let (mut modulus, mut exponent) = ([0; MODULUS_MAX], [0; MODULUS_MAX]);
        let (mut factors, mut given) = ([0; FACTORS_MAX], [0; MODULUS_MAX]);
        let (modulus, exponent) = (&mut modulus[..bytes], &mut exponent[..bytes]);
        let (factors, given) = (&mut factors[..bytes / 2 * 5], &mut given[..bytes]);
        let public_modulus = self.bytes(public, 0, bytes as i32)?;
        let public_exponent = self.bytes(public, bytes as i32, bytes as i32)?;
        self.read(public_exponent, given)?;
        if given.iter().all(|byte| *byte == 0) {
            let start = bytes.saturating_sub(EXPONENT.len());
            given[start..].copy_from_slice(&EXPONENT);
        }
        let new = NewRsaKey { modulus: &mut *modulus, exponent: &mut *exponent, factors: &mut *factors };
        if self.session.crypto.generate_rsa(given, new).is_err() {
            return Ok(false);
        }
        self.write(public_modulus, modulus)?;
        self.write(public_exponent, given)?;
        if is_factors == 0 {
            let place = self.bytes(private, 0, bytes as i32)?;
            self.write(place, modulus)?;
            let place = self.bytes(private, bytes as i32, bytes as i32)?;
            self.write(place, exponent)?;
        } else {
            let place = self.bytes(private, 0, factors.len() as i32)?;
            self.write(place, factors)?;
        }
        Ok(true)
    }
}
