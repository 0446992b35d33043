//! What an algorithm refuses.

use core::fmt;

/// What an algorithm refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CryptoError {
    /// A key has another length than its algorithm takes.
    KeyLength,
    /// Data are no whole blocks.
    BlockLength,
    /// The place for the result is too short.
    OutputLength,
    /// A private key is 0 or not below the order of the curve, or a point is not on it.
    NotOnCurve,
    /// A hash to sign has no bytes, or more than 64.
    HashLength,
    /// A number is not below the modulus.
    OutOfRange,
    /// There are no random bytes.
    NoRandom,
}

impl fmt::Display for CryptoError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::KeyLength => "the key has another length than its algorithm takes",
            Self::BlockLength => "the data are no whole blocks",
            Self::OutputLength => "the place for the result is too short",
            Self::NotOnCurve => "the key is not one of the curve",
            Self::HashLength => "the hash has no bytes, or more than 64",
            Self::OutOfRange => "the number is not below the modulus",
            Self::NoRandom => "there are no random bytes",
        })
    }
}

impl core::error::Error for CryptoError {}
