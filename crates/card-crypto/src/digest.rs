//! SHA-1 and SHA-256 (FIPS 180-4).

use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::error::CryptoError;

/// Which hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigestKind {
    /// 20 bytes. Collisions are known: for formats that ask for it only.
    Sha1,
    /// 32 bytes.
    Sha256,
}

impl DigestKind {
    /// Bytes of the hash.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// A hash that is being computed.
#[derive(Clone)]
pub struct Digest(State);

#[derive(Clone)]
enum State {
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Digest {
    /// Begins.
    #[must_use]
    pub fn new(kind: DigestKind) -> Self {
        Digest(match kind {
            DigestKind::Sha1 => State::Sha1(Sha1::new()),
            DigestKind::Sha256 => State::Sha256(Sha256::new()),
        })
    }

    /// Takes more data.
    pub fn update(&mut self, data: &[u8]) {
        match &mut self.0 {
            State::Sha1(state) => state.update(data),
            State::Sha256(state) => state.update(data),
        }
    }

    /// Writes the hash to the start of `out`, answers its length and begins again.
    ///
    /// # Errors
    ///
    /// [`CryptoError::OutputLength`]; nothing is lost then.
    pub fn finish(&mut self, out: &mut [u8]) -> Result<usize, CryptoError> {
        fn put(hash: &[u8], out: &mut [u8]) -> usize {
            out[..hash.len()].copy_from_slice(hash);
            hash.len()
        }
        let bytes = match self.0 {
            State::Sha1(_) => DigestKind::Sha1.bytes(),
            State::Sha256(_) => DigestKind::Sha256.bytes(),
        };
        if out.len() < bytes {
            return Err(CryptoError::OutputLength);
        }
        Ok(match &mut self.0 {
            State::Sha1(state) => put(&state.finalize_reset(), out),
            State::Sha256(state) => put(&state.finalize_reset(), out),
        })
    }
}

/// Takes a block into an intermediate hash, of which SHA-1 has the first five words.
pub fn compress(kind: DigestKind, state: &mut [u32; 8], block: &[u8; 64]) {
    match kind {
        DigestKind::Sha1 => {
            if let Some(words) = state.first_chunk_mut() {
                sha1::block_api::compress(words, core::slice::from_ref(block));
            }
        }
        DigestKind::Sha256 => sha2::block_api::compress256(state, core::slice::from_ref(block)),
    }
}
