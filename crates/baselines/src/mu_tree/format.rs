//! Every bit that a µ-tree puts on flash.
//!
//! ```text
//! block  │ identity (a page) │ page │ page │ …
//! page   │ sequence 4 │ height 1 │ flags 1 │ zeros 2 │ CRC 2 │ void 2 │ leaf: ½ │ level 1: ¼ │ level 2: ⅛ │ … │ root │
//! node   │ count 1 │ key, value │ key, value │ …        above the leaves a value is the number of the child's page, 4
//! ```
//!
//! A node at level *i* has 2⁻⁽ⁱ⁺¹⁾ of the page, and the root as much as the level below it (Figure 13). So the place of
//! a node that is not the root depends on its level alone.
//!
//! Invariants: a page is whole if and only if its count of zeros and its CRC are right; its sequence number is
//! programmed first and alone, so that a page whose number is erased is erased.

use norn_ordered_index::codes::{check_identity, codes, encode_identity, u16_at, u32_at};

pub use norn_ordered_index::codes::IDENTITY_BYTES;

/// The version of the format that this describes.
pub const FORMAT_VERSION: u8 = 1;
/// What a block's identity begins with.
pub const MAGIC: [u8; 4] = *b"NMUT";
/// Bytes of a page's header.
pub const HEADER_BYTES: usize = 12;
/// Most levels of a tree.
pub const HEIGHT_MAX: u8 = 8;
/// Bytes of the number of a page.
pub const PAGE_NUMBER_BYTES: usize = 4;
/// Flag: the page has a root.
pub const ROOT: u8 = 1;
/// Flag: a node in the page may be under another page's node.
pub const SCATTERED: u8 = 2;

/// Where a node is in a page: offset and bytes.
pub fn node_range(page_bytes: usize, level: u8, height: u8) -> (usize, usize) {
    let payload = page_bytes - HEADER_BYTES;
    let len = |level: u8| (payload >> (level + 1)) & !3;
    let start = HEADER_BYTES + (0..level).map(len).sum::<usize>();
    if level + 1 == height { (start, payload >> (height - 1) & !3) } else { (start, len(level)) }
}

/// Bytes of an entry at a level.
pub fn entry_bytes(level: u8, key_bytes: usize, value_bytes: usize) -> usize {
    key_bytes + if level == 0 { value_bytes } else { PAGE_NUMBER_BYTES }
}

/// Entries that a node takes. A root takes no more than can be split in two when the tree grows.
pub fn capacity(page_bytes: usize, level: u8, height: u8, key_bytes: usize, value_bytes: usize) -> usize {
    let fitting = |height: u8| {
        let (_, len) = node_range(page_bytes, level, height);
        (len.saturating_sub(1) / entry_bytes(level, key_bytes, value_bytes)).min(254)
    };
    let own = fitting(height);
    match level + 1 == height && height < HEIGHT_MAX {
        true if fitting(height + 1) >= 2 => own.min(2 * fitting(height + 1) - 1),
        _ => own,
    }
}

/// The codes of a page, over all of it but themselves: its zeros, and its CRC.
pub fn page_codes(page: &[u8]) -> [u8; 4] {
    codes(&[&page[..6], &page[10..]])
}

/// What a block says when it is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Bytes of a key.
    pub key_bytes: u8,
    /// Bytes of a value.
    pub value_bytes: u8,
    /// Bytes of a page.
    pub page_bytes: u16,
    /// Erase units of the part.
    pub unit_count: u16,
    /// Bytes of an erase unit.
    pub unit_size_bytes: u32,
    /// Erases that the block has sustained.
    pub erase_count: u32,
    /// Blocks, from the first on, that had been begun with this one; the others are as formatting left them.
    pub taken: u16,
}

impl Identity {
    /// The bytes on flash.
    pub fn encode(&self) -> [u8; IDENTITY_BYTES] {
        encode_identity(MAGIC, FORMAT_VERSION, |bytes| {
            (bytes[5], bytes[6]) = (self.key_bytes, self.value_bytes);
            bytes[8..10].copy_from_slice(&self.page_bytes.to_le_bytes());
            bytes[10..12].copy_from_slice(&self.unit_count.to_le_bytes());
            bytes[12..16].copy_from_slice(&self.unit_size_bytes.to_le_bytes());
            bytes[16..20].copy_from_slice(&self.erase_count.to_le_bytes());
            bytes[20..22].copy_from_slice(&self.taken.to_le_bytes());
        })
    }

    /// What the bytes say, if they are whole: the version if it is another one, else the rest.
    pub fn decode(bytes: &[u8; IDENTITY_BYTES]) -> Option<Result<Identity, u8>> {
        let identity = check_identity(bytes, MAGIC, FORMAT_VERSION)?;
        Some(identity.map(|()| Identity {
            key_bytes: bytes[5],
            value_bytes: bytes[6],
            page_bytes: u16_at(bytes, 8),
            unit_count: u16_at(bytes, 10),
            unit_size_bytes: u32_at(bytes, 12),
            erase_count: u32_at(bytes, 16),
            taken: u16_at(bytes, 20),
        }))
    }
}
