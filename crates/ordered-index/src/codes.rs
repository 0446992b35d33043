//! The codes that distinguish a whole record from a torn one, and the identity with which every index begins its
//! blocks.
//!
//! ```text
//! identity │ magic 4 │ version 1 │ facts 23 │ zeros 2 │ CRC 2 │
//! ```
//!
//! Invariant: a record with a count of its zeros is whole if and only if no bit of it is missing, whatever a cut left
//! of it: what is missing of the record makes the count too great, and what is missing of the count makes it greater
//! still.

use crc::{CRC_16_IBM_SDLC, Crc};

/// Bytes of a block's identity.
pub const IDENTITY_BYTES: usize = 32;
/// Where its codes are.
const CODES_OFFSET: usize = 28;

const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_IBM_SDLC);

/// The CRC of some parts as if they were one.
pub fn crc16(parts: &[&[u8]]) -> u16 {
    let mut digest = CRC.digest();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize()
}

/// The bits of `bytes` that are 0.
pub fn zeros(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| byte.count_zeros()).sum()
}

/// The codes of some parts: zeros, then CRC.
pub fn codes(parts: &[&[u8]]) -> [u8; 4] {
    let count = parts.iter().map(|part| zeros(part)).sum::<u32>() as u16;
    let ([a, b], [c, d]) = (count.to_le_bytes(), crc16(parts).to_le_bytes());
    [a, b, c, d]
}

/// The number of two bytes at `at`.
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The number of four bytes at `at`.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

/// An identity whose facts `write` puts in their places.
pub fn encode_identity(magic: [u8; 4], version: u8, write: impl FnOnce(&mut [u8])) -> [u8; IDENTITY_BYTES] {
    let mut bytes = [0xFF; IDENTITY_BYTES];
    bytes[..4].copy_from_slice(&magic);
    bytes[4] = version;
    write(&mut bytes[..CODES_OFFSET]);
    let codes = codes(&[&bytes[..CODES_OFFSET]]);
    bytes[CODES_OFFSET..].copy_from_slice(&codes);
    bytes
}

/// Whether these bytes are a whole identity of `magic`; if they are, whether the version is `version`, else which it
/// is.
pub fn check_identity(bytes: &[u8; IDENTITY_BYTES], magic: [u8; 4], version: u8) -> Option<Result<(), u8>> {
    if bytes[..4] != magic || bytes[CODES_OFFSET..] != codes(&[&bytes[..CODES_OFFSET]]) {
        return None;
    }
    Some(if bytes[4] == version { Ok(()) } else { Err(bytes[4]) })
}
