//! A range of addresses, as `--region START..END` has it.

use std::fmt;
use std::str::FromStr;

use norn_flash::EraseUnit;

/// Addresses from `start` to `end`, which is exclusive. Not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Region {
    /// The first.
    pub start: u64,
    /// The one after the last.
    pub end: u64,
}

impl Region {
    /// Bytes in it.
    pub fn len(self) -> u64 {
        self.end - self.start
    }

    /// Whether all of `other` is in it.
    pub fn contains(self, other: Region) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Its erase units: the first, and the one after the last; none if it does not start and end with one.
    pub fn units(self, unit_bytes: u32) -> Option<(EraseUnit, EraseUnit)> {
        let unit = |address: u64| {
            let whole = address.is_multiple_of(unit_bytes.into());
            whole.then(|| u16::try_from(address / u64::from(unit_bytes)).ok()).flatten().map(EraseUnit)
        };
        Some((unit(self.start)?, unit(self.end)?))
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}..{:#x}", self.start, self.end)
    }
}

impl FromStr for Region {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once("..").and_then(|(start, end)| Some((address(start)?, address(end)?)));
        match parsed {
            Some((start, end)) if start < end => Ok(Region { start, end }),
            Some(_) => Err(format!("{text} is empty: START has to be less than END")),
            None => Err(format!("{text} is not a region: write START..END, such as 0x8000..0x10000 or 32K..64K")),
        }
    }
}

/// An address: decimal, hexadecimal after 0x, or with K or M after it.
pub fn address(text: &str) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(&digits.replace('_', ""), 16).ok();
    }
    let (number, shift) = match text.char_indices().next_back()? {
        (at, 'K' | 'k') => (&text[..at], 10),
        (at, 'M' | 'm') => (&text[..at], 20),
        _ => (text, 0),
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_read_as_they_are_printed() {
        for (text, start, end) in
            [("0x8000..0x10000", 0x8000, 0x1_0000), ("32K..1M", 32 << 10, 1 << 20), ("0..0x1_000", 0, 4096)]
        {
            let region: Region = text.parse().unwrap();
            assert_eq!(region, Region { start, end });
            assert_eq!(region.to_string().parse(), Ok(region));
        }
        for text in ["", "..", "5", "0x8000..0x8000", "2..1", "0xG..0xH", "1..99999999999999999M"] {
            assert!(text.parse::<Region>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_whole_units_are_units() {
        let region = Region { start: 4096, end: 12_288 };
        assert_eq!(region.units(2048), Some((EraseUnit(2), EraseUnit(6))));
        assert_eq!(region.units(8192), None);
        assert_eq!(Region { start: 0, end: 1 << 40 }.units(2048), None);
    }
}
