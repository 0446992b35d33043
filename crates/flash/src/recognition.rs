//! What is on a part: each format's crate recognises its own format, and reports it in one form.
//!
//! A crate's `recognise` looks for the records with which its format begins units, blocks or pages, whole and of any
//! version. It says nothing of whether the rest can be mounted: what a cut left of formatting is recognised, too.
//!
//! Invariant: recognising programs and erases nothing.

use core::fmt;

use crate::nor::{EraseUnit, Nor};

/// What a tenant of a part holds, by four letters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TenantKind(pub [u8; 4]);

impl TenantKind {
    /// An object heap.
    pub const HEAP: TenantKind = TenantKind(*b"heap");
    /// An ordered index.
    pub const INDEX: TenantKind = TenantKind(*b"indx");
    /// A block device on NAND.
    pub const DISK: TenantKind = TenantKind(*b"disk");
    /// A code image.
    pub const CODE: TenantKind = TenantKind(*b"code");
    /// An overlay for a NOR part whose words are programmed once or twice, with something else above it.
    pub const REMAP: TenantKind = TenantKind(*b"rmap");
    /// A label, which is no tenant.
    pub const LABEL: TenantKind = TenantKind(*b"labl");
}

impl fmt::Debug for TenantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for TenantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

/// Erase units or blocks, as the data on a part states them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedGeometry {
    /// How many there are.
    pub count: u16,
    /// Bytes of one; of a block, bytes of data.
    pub size_bytes: u32,
}

/// What a part holds, or a range of one.
///
/// ```
/// use norn_flash::{Recognised, StatedGeometry, TenantKind};
///
/// let heap = Recognised {
///     what: "an object heap",
///     kind: TenantKind::HEAP,
///     version: 2,
///     known_version: 1,
///     geometry: Some(StatedGeometry { count: 56, size_bytes: 8192 }),
/// };
/// let text = "an object heap on 56 units of 8192 bytes, in format version 2, newer than this program's (1)";
/// assert_eq!(heap.to_string(), text);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognised {
    /// The format in words, with an article.
    pub what: &'static str,
    /// The format by four letters, as labels have it.
    pub kind: TenantKind,
    /// The format's version.
    pub version: u32,
    /// The version that this program writes.
    pub known_version: u32,
    /// The geometry for which it was made, where the format says so.
    pub geometry: Option<StatedGeometry>,
}

impl fmt::Display for Recognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        if let Some(StatedGeometry { count, size_bytes }) = self.geometry {
            let pieces = match self.kind {
                TenantKind::LABEL => "units or blocks",
                TenantKind::DISK | TenantKind::CODE => "blocks",
                _ => "units",
            };
            write!(f, " on {count} {pieces} of {size_bytes} bytes")?;
        }
        let (version, known) = (self.version, self.known_version);
        match version.cmp(&known) {
            core::cmp::Ordering::Equal => Ok(()),
            core::cmp::Ordering::Less => {
                write!(f, ", in format version {version}, older than this program's ({known})")
            }
            core::cmp::Ordering::Greater => {
                write!(f, ", in format version {version}, newer than this program's ({known})")
            }
        }
    }
}

/// Bytes with which a format begins an erase unit, or the first page of a block, at most.
pub const FORMAT_HEAD_BYTES: usize = 8;

/// How the formats begin, and what they are. A longer beginning is before a shorter one that it begins with.
const FORMAT_HEADS: [(&[u8], &str); 9] = [
    (b"NORNLABL", "a label with a partition table"),
    (b"NORN", "an object heap"),
    (b"NLH1", "a log-structured heap"),
    (b"NFAT", "a sorted map"),
    (b"NLEA", "a sorted map of leaves"),
    (b"NREM", "an overlay for limited parts"),
    (b"NFT", "a block device on NAND"),
    (b"NPAG", "a code image"),
    (b"NSWI", "programs in two rooms"),
];

/// The format that begins an erase unit, or the first page of a block, with these bytes, in the words of its
/// [`Recognised::what`]. It looks at no more than that: for a program that says why it found nothing of its own, and
/// does not link the formats that it does not use. No other bytes are checked, so that it may be wrong.
pub fn format_of_head(head: &[u8; FORMAT_HEAD_BYTES]) -> Option<&'static str> {
    FORMAT_HEADS.iter().find(|(magic, _)| head.starts_with(magic)).map(|&(_, what)| what)
}

/// The first unit whose first `N` bytes are what `decode` looks for. Cost: a read for each unit up to that one.
///
/// # Errors
/// The device's.
pub fn find_unit_head<D: Nor, T, const N: usize>(
    device: &mut D,
    decode: impl Fn(&[u8; N]) -> Option<T>,
) -> Result<Option<T>, D::Error> {
    let part = device.part();
    if part.validate().is_err() || (part.unit_size_bytes as usize) < N {
        return Ok(None);
    }
    for unit in (0..part.unit_count).map(EraseUnit) {
        let mut head = [0; N];
        device.read(part.start_of(unit), &mut head)?;
        if let Some(found) = decode(&head) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
