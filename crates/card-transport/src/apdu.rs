//! The cases of a command APDU: which lengths it has, and where.
//!
//! ```text
//! case  1    header
//!       2S   header │ Le                          Le: one byte, 00 is 256
//!       3S   header │ Lc │ data                   Lc: one byte, not 00
//!       4S   header │ Lc │ data │ Le
//!       2E   header │ 00 │ Le Le                  0000 is 65536
//!       3E   header │ 00 │ Lc Lc │ data           not 0000
//!       4E   header │ 00 │ Lc Lc │ data │ Le Le
//! ```

use thiserror::Error;

/// Bytes of the longest short APDU.
pub const SHORT_MAX: usize = 4 + 1 + 255 + 1;

/// Bytes of the longest extended APDU.
pub const EXTENDED_MAX: usize = 4 + 3 + 65_535 + 2;

/// A command, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// CLA, INS, P1, P2.
    pub header: [u8; 4],
    /// The data; empty in cases 1 and 2.
    pub data: &'a [u8],
    /// How many bytes of answer are expected at most, 1 to 65,536; none in cases 1 and 3.
    pub expected: Option<u32>,
    /// Whether its lengths are in the extended form.
    pub extended: bool,
}

/// Bytes that are no command, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// There are fewer bytes than the lengths say.
    #[error("the APDU ends after {0} bytes, before its lengths say so")]
    Short(usize),
    /// There are more bytes than the lengths say.
    #[error("the APDU has {0} bytes, more than its lengths say")]
    Long(usize),
    /// The extended length of the data is zero.
    #[error("the APDU announces data of no bytes")]
    Empty,
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
}

/// An Le of one byte, where 00 is 256.
pub(crate) fn short_expected(le: u8) -> u32 {
    if le == 0 { 256 } else { u32::from(le) }
}

/// An Le of two bytes, where 0000 is 65,536.
fn extended_expected(le: usize) -> u32 {
    if le == 0 { 65_536 } else { le as u32 }
}

impl<'a> Command<'a> {
    /// Takes a command apart.
    ///
    /// # Errors
    ///
    /// [`Malformed`], where the bytes are of no case.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let Some((header, rest)) = bytes.split_first_chunk::<4>() else {
            return Err(Malformed::Short(bytes.len()));
        };
        let command = Command { header: *header, data: &[], expected: None, extended: false };
        match *rest {
            [] => Ok(command),
            [le] => Ok(Command { expected: Some(short_expected(le)), ..command }),
            [0, _] => Err(Malformed::Short(bytes.len())),
            [0, ..] => command.parse_extended(rest, bytes.len()),
            [lc, ref after @ ..] => command.with_data(after, lc.into(), bytes.len()),
        }
    }

    fn parse_extended(self, rest: &'a [u8], total: usize) -> Result<Self, Malformed> {
        let command = Command { extended: true, ..self };
        let (length, after) = (u16_at(rest, 1), &rest[3..]);
        match (length, after.is_empty()) {
            (_, true) => Ok(Command { expected: Some(extended_expected(length)), ..command }),
            (0, false) => Err(Malformed::Empty),
            _ => command.with_data(after, length, total),
        }
    }

    /// `after` is what follows Lc: data, and an Le in the command's form.
    fn with_data(self, after: &'a [u8], length: usize, total: usize) -> Result<Self, Malformed> {
        let Some((data, le)) = after.split_at_checked(length) else {
            return Err(Malformed::Short(total));
        };
        let expected = match *le {
            [] => None,
            [le] if !self.extended => Some(short_expected(le)),
            [_] => return Err(Malformed::Short(total)),
            [_, _] if self.extended => Some(extended_expected(u16_at(le, 0))),
            _ => return Err(Malformed::Long(total)),
        };
        Ok(Command { data, expected, ..self })
    }
}
