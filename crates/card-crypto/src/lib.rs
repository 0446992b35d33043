//! Algorithms of a smart card over RustCrypto, without `std` and without allocation.
//!
//! [`Digest`] is SHA-1 and SHA-256. [`Aes`], [`Cbc`], [`Ctr`] and [`Mac`] are AES-128 and AES-256, in ECB, CBC, CTR and
//! CMAC. [`KeyP256`] and [`PointP256`] are ECDSA and ECDH over P-256. [`Random`] is where random bytes come from:
//! [`Deterministic`] for tests, [`System`] with the feature `system`.
//!
//! What processes data takes them in pieces, and pads nothing: a card's API has its own paddings. Keys are cleared from
//! memory when they are dropped; compiled code may leave copies on the stack.
//!
//! ```
//! use norn_card_crypto::{Deterministic, Digest, DigestKind, KeyP256};
//!
//! let key = KeyP256::generate(&mut Deterministic::new(7)).unwrap();
//! let mut digest = Digest::new(DigestKind::Sha256);
//! digest.update(b"a message");
//! let mut hash = [0; 32];
//! digest.finish(&mut hash).unwrap();
//! let mut signature = [0; 72];
//! let length = key.sign(&hash, &mut signature).unwrap();
//! assert!(key.public().verify(&hash, &signature[..length]));
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod aes;
mod digest;
mod error;
mod p256;
mod random;

pub use aes::{Aes, Cbc, Ctr, Direction, Mac};
pub use digest::{Digest, DigestKind, compress};
pub use error::CryptoError;
pub use p256::{KeyP256, PointP256};
#[cfg(feature = "system")]
pub use random::System;
pub use random::{Deterministic, Random};
