//! Where random bytes come from.

use sha2::{Digest, Sha256};

use crate::error::CryptoError;

/// A source of random bytes.
pub trait Random {
    /// Fills `bytes`.
    ///
    /// # Errors
    ///
    /// [`CryptoError::NoRandom`]: none of the bytes may be used then.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), CryptoError>;
}

/// Bytes that follow from a seed, for tests: SHA-256 of seed and a counter, eight bytes each, the least significant
/// first. Nothing is secret about them.
#[derive(Clone, Debug)]
pub struct Deterministic {
    seed: u64,
    count: u64,
}

impl Deterministic {
    /// Begins with a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Deterministic { seed, count: 0 }
    }
}

impl Random for Deterministic {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), CryptoError> {
        for piece in bytes.chunks_mut(32) {
            let hash = Sha256::new().chain_update(self.seed.to_le_bytes()).chain_update(self.count.to_le_bytes());
            piece.copy_from_slice(&hash.finalize()[..piece.len()]);
            self.count += 1;
        }
        Ok(())
    }
}

/// Bytes of the operating system, which are fit for keys.
#[cfg(feature = "system")]
#[derive(Clone, Copy, Debug)]
pub struct System;

#[cfg(feature = "system")]
impl Random for System {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), CryptoError> {
        getrandom::fill(bytes).map_err(|_| CryptoError::NoRandom)
    }
}
