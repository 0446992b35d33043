//! Algorithms of a smart card over RustCrypto, without `std` and without allocation.
//!
//! SHA-1, SHA-256 and SHA-512 a block at a time; [`Aes`] and [`Des`] on blocks; ECDSA and ECDH over a [`Curve`]: P-256,
//! and others with the feature `curves`; [`CompactP256`] is P-256 in a fraction of the code. [`Random`] is where random
//! bytes come from: [`Deterministic`] for tests, [`System`] with the feature `system`.
//!
//! What chains blocks, pads data and keeps keys is a card's API's. Keys are cleared from memory when they are dropped;
//! compiled code may leave copies on the stack.
//!
//! ```
//! use norn_card_crypto::{Curve, Deterministic};
//!
//! let (mut secret, mut point, mut signature) = ([0; 32], [0; 65], [0; 72]);
//! Curve::P256.generate(&mut Deterministic::new(7), &mut secret, &mut point).unwrap();
//! let length = Curve::P256.sign(&secret, &[3; 32], &mut signature).unwrap();
//! assert!(Curve::P256.verify(&point, &[3; 32], &signature[..length]));
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod aes;
mod compact;
mod curves;
mod des;
mod digest;
mod error;
mod parameters;
mod random;
#[cfg(feature = "rsa")]
mod rsa;

pub use aes::{Aes, Direction};
pub use compact::CompactP256;
pub use curves::{Curve, FIELD_MAX, POINT_MAX, Parameter, SIGNATURE_MAX};
pub use des::Des;
pub use digest::{compress_sha1, compress_sha256, compress_sha512};
pub use error::CryptoError;
#[cfg(feature = "system")]
pub use random::System;
pub use random::{Deterministic, Random};
#[cfg(feature = "rsa")]
pub use rsa::{MODULUS_MAX, NewRsaKey, RsaKey, generate as generate_rsa, raise};
