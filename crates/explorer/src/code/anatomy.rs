//! Headers of code images and records of the switch in pieces, each with the line of `docs/format/code-image.md` that
//! describes it.

use norn_flash::Address;

use crate::anatomy::{Piece, hexadecimal};

/// Bytes of a header, and of a record.
pub const HEAD_BYTES: usize = 64;

/// What the first bytes of a page say that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// The header of an image.
    Header,
    /// A record of the switch.
    Record,
}

impl Head {
    /// Of the cells of a page.
    pub fn of(cells: &[u8]) -> Option<Head> {
        match cells.get(..4) {
            Some(b"NPAG") => Some(Head::Header),
            Some(b"NSWI") => Some(Head::Record),
            _ => None,
        }
    }

    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Head::Header => "header of an image",
            Head::Record => "record of the switch",
        }
    }
}

/// A number of a head.
pub fn number(cells: &[u8], at: usize, bytes: usize) -> u32 {
    let found = cells.get(at..at + bytes).unwrap_or_default();
    found.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// The pieces of a head at an address. `block_at` is the address of a block.
pub fn pieces(head: Head, start: Address, cells: &[u8], block_at: impl Fn(u32) -> Option<Address>) -> Vec<Piece> {
    let piece =
        |at: u32, bytes: u32, name: &str, value: String, line| Piece::new((start.offset(at), bytes), name, value, line);
    let plain = |at: u32, bytes: u32, name: &str, line| {
        piece(at, bytes, name, number(cells, at as usize, bytes as usize).to_string(), line)
    };
    let block = |at: u32, name: &str, line| {
        let to = block_at(number(cells, at as usize, 2));
        Piece { to, ..plain(at, 2, name, line) }
    };
    let bytes = |at: usize, count: usize| hexadecimal(cells.get(at..at + count).unwrap_or_default());
    match head {
        Head::Header => {
            let version = [(40, 2), (42, 2), (44, 4)].map(|(at, bytes)| number(cells, at, bytes).to_string()).join(".");
            vec![
                piece(0, 4, "format", "NPAG".to_owned(), "3:0"),
                plain(4, 1, "version of the format", "3:4"),
                plain(5, 1, "bytes of a code", "3:5"),
                plain(6, 2, "bytes of a cache page", "3:6"),
                plain(8, 4, "bytes of the image", "3:8"),
                block(12, "first block of the room", "3:12"),
                plain(14, 2, "bad blocks", "3:14"),
                piece(16, 16, "their numbers", bytes(16, 16), "3:16"),
                plain(32, 4, "generation", "3:32"),
                piece(36, 4, "CRC-32C of the image", format!("{:#010x}", number(cells, 36, 4)), "3:36"),
                piece(40, 8, "version of the program", version, "3:40"),
                block(48, "the header's own block", "3:48"),
                piece(60, 4, "CRC-32C", "of bytes 0..60".to_owned(), "3:60"),
            ]
        }
        Head::Record => {
            let room = ["A", "B", "none"].get(number(cells, 5, 1) as usize).copied().unwrap_or("unknown");
            let trial = ["no", "yes"].get(number(cells, 6, 1) as usize).copied().unwrap_or("unknown");
            let program = |at: u32, name: &str, line| {
                let value = match number(cells, at as usize, 4) {
                    0 => "none".to_owned(),
                    u32::MAX => "the newest".to_owned(),
                    name => format!("{name:#010x}"),
                };
                piece(at, 4, name, value, line)
            };
            vec![
                piece(0, 4, "format", "NSWI".to_owned(), "4:0"),
                plain(4, 1, "version of the format", "4:4"),
                piece(5, 1, "room whose program runs", room.to_owned(), "4:5"),
                piece(6, 1, "on trial", trial.to_owned(), "4:6"),
                plain(7, 1, "boots left of the trial", "4:7"),
                plain(8, 4, "sequence number", "4:8"),
                block(12, "room A: first block", "4:12"),
                plain(14, 2, "room A: blocks", "4:12"),
                block(16, "room B: first block", "4:16"),
                plain(18, 2, "room B: blocks", "4:16"),
                program(20, "program of room A", "4:20"),
                program(24, "program of room B", "4:24"),
                piece(60, 4, "CRC-32C", "of bytes 0..60".to_owned(), "4:60"),
            ]
        }
    }
}
