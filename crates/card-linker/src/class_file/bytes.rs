//! Big-endian numbers from a slice, each checked against its end.

/// A position in bytes of a class file.
#[derive(Clone)]
pub(super) struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..count));
        let taken = taken.ok_or_else(|| format!("{count} bytes are missing at the end of an attribute"))?;
        self.at += count;
        Ok(taken)
    }

    pub(super) fn u8(&mut self) -> Result<u8, String> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, String> {
        let taken = self.take(2)?;
        Ok(u16::from_be_bytes([taken[0], taken[1]]))
    }

    pub(super) fn i32(&mut self) -> Result<i32, String> {
        let taken = self.take(4)?;
        Ok(i32::from_be_bytes([taken[0], taken[1], taken[2], taken[3]]))
    }

    /// That nothing is left.
    pub(super) fn end(&self) -> Result<(), String> {
        let left = self.bytes.len() - self.at;
        if left == 0 { Ok(()) } else { Err(format!("{left} bytes follow the end of an attribute")) }
    }
}
