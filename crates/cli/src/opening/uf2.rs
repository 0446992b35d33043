//! UF2: blocks of 512 bytes, each with its address, which boot loaders on USB take.
//!
//! ```text
//! 0  magic 8 · flags 4 · address 4 · bytes 4 · number 4 · blocks 4 · family 4
//! 32 the bytes, up to 476                                      508 magic 4
//! ```
//!
//! Values are little-endian. Blocks that are not for the main flash count for nothing. Those of each family are
//! numbered from 0 on, and all of them say how many they are.

use std::collections::{BTreeMap, BTreeSet};

use super::piece::Piece;

const BLOCK_BYTES: usize = 512;
const PAYLOAD_OFFSET: usize = 32;
const PAYLOAD_BYTES_MAX: usize = 476;
/// Bytes that are written to a block: those that every boot loader takes.
const PAYLOAD_BYTES: usize = 256;
const START: [u8; 8] = *b"UF2\nWQ]\x9E";
const END: [u8; 4] = [0x30, 0x6F, 0xB1, 0x0A];
/// Flag of a block that is not for the main flash.
const NOT_MAIN_FLASH: u32 = 1;
/// Flag of a block that names a family of chips.
const HAS_FAMILY: u32 = 0x2000;
/// The family of a block that Raspberry Pi's tools put before others for a boot loader with a fault. It stands alone,
/// and says that it is the first of two.
const ABSOLUTE: u32 = 0xE48B_FF57;

/// Whether the first bytes of a file are those of a block.
pub fn is_uf2(file: &[u8]) -> bool {
    file.starts_with(&START)
}

/// The bytes of all blocks.
///
/// # Errors
/// Names the block that is none, that says another number of blocks than the one before it, or is missing.
pub fn decode(file: &[u8]) -> Result<Vec<Piece>, String> {
    if !file.len().is_multiple_of(BLOCK_BYTES) {
        return Err(format!("{} bytes are not whole blocks of {BLOCK_BYTES}", file.len()));
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut families: BTreeMap<Option<u32>, (u32, BTreeSet<u32>)> = BTreeMap::new();
    for (number, block) in file.chunks_exact(BLOCK_BYTES).enumerate() {
        let word = |at: usize| u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
        let (flags, start, length) = (word(8), u64::from(word(12)), word(16) as usize);
        if !block.starts_with(&START) || !block.ends_with(&END) || length > PAYLOAD_BYTES_MAX {
            return Err(format!("block {number} is damaged"));
        }
        let family = (flags & HAS_FAMILY != 0).then(|| word(28));
        let (blocks, numbers) = families.entry(family).or_insert_with(|| (word(24), BTreeSet::new()));
        if *blocks != word(24) {
            return Err(format!("block {number} says that it is one of {}, others say {blocks}", word(24)));
        }
        numbers.insert(word(20));
        if flags & NOT_MAIN_FLASH == 0 {
            let bytes = &block[PAYLOAD_OFFSET..PAYLOAD_OFFSET + length];
            match pieces.last_mut() {
                Some(last) if last.start + last.bytes.len() as u64 == start => last.bytes.extend_from_slice(bytes),
                _ => pieces.push(Piece { start, bytes: bytes.to_vec() }),
            }
        }
    }
    families.remove(&Some(ABSOLUTE));
    for (blocks, numbers) in families.into_values() {
        if let Some(missing) = (0..blocks).find(|number| !numbers.contains(number)) {
            return Err(format!("block {missing} of {blocks} is missing"));
        }
    }
    Ok(pieces)
}

/// Bytes as blocks, for a family of chips or any.
pub fn encode(start: u32, bytes: &[u8], family: Option<u32>) -> Vec<u8> {
    let blocks = bytes.len().div_ceil(PAYLOAD_BYTES) as u32;
    let mut file = Vec::with_capacity(blocks as usize * BLOCK_BYTES);
    for (number, payload) in (0..blocks).zip(bytes.chunks(PAYLOAD_BYTES)) {
        let flags = if family.is_some() { HAS_FAMILY } else { 0 };
        let address = start + number * PAYLOAD_BYTES as u32;
        file.extend(START);
        for word in [flags, address, payload.len() as u32, number, blocks, family.unwrap_or(0)] {
            file.extend(word.to_le_bytes());
        }
        file.extend(payload);
        file.resize(file.len().next_multiple_of(BLOCK_BYTES) - END.len(), 0);
        file.extend(END);
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let bytes: Vec<u8> = (0..1000_u32).map(|at| (at * 7) as u8).collect();
        let file = encode(0x1000_0000, &bytes, Some(0xE48B_FF56));
        assert_eq!(file.len(), 4 * BLOCK_BYTES);
        assert_eq!(decode(&file), Ok(vec![Piece { start: 0x1000_0000, bytes }]));
        assert_eq!(
            file[8..32],
            [&[0, 0x20, 0, 0, 0, 0, 0, 0x10, 0, 1, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0][..], &[0x56, 0xFF, 0x8B, 0xE4]]
                .concat()
        );
    }

    #[test]
    fn damaged_blocks_are_named() {
        let mut file = encode(0, &[1; 600], None);
        file[2 * BLOCK_BYTES - 1] ^= 1;
        assert_eq!(decode(&file).unwrap_err(), "block 1 is damaged");
        assert!(decode(&file[..700]).unwrap_err().contains("not whole blocks"));
    }

    #[test]
    fn missing_blocks_are_named() {
        let file = encode(0, &[1; 1000], Some(7));
        for missing in 0..4 {
            let rest = [&file[..missing * BLOCK_BYTES], &file[(missing + 1) * BLOCK_BYTES..]].concat();
            assert_eq!(decode(&rest).unwrap_err(), format!("block {missing} of 4 is missing"));
        }
        let mut twice = file.clone();
        twice.rotate_left(BLOCK_BYTES);
        twice.extend_from_slice(&file[..BLOCK_BYTES]);
        assert!(decode(&twice).is_ok(), "blocks may come in any order, and again");
        let mut other = file.clone();
        other[BLOCK_BYTES + 24] = 3;
        assert_eq!(decode(&other).unwrap_err(), "block 1 says that it is one of 3, others say 4");
        let two = [file, encode(4096, &[2; 300], Some(8))].concat();
        assert!(decode(&two).is_ok(), "each family has numbers of its own");
        let alone = encode(0x10FF_FF00, &[0xEF; 512], Some(ABSOLUTE));
        assert!(decode(&alone[..BLOCK_BYTES]).is_ok(), "a block that is to stand alone");
    }

    #[test]
    fn blocks_for_other_memories_are_left_out() {
        let mut file = encode(0, &[1; 300], None);
        file[8] |= NOT_MAIN_FLASH as u8;
        assert_eq!(decode(&file), Ok(vec![Piece { start: 256, bytes: vec![1; 44] }]));
    }
}
