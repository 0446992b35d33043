//! A hash that is being computed, as the array of the API's class has it.

use crate::crypto::{Crypto, Hash, NotComputed};

const COUNT_AT: usize = 1;
const HASH_AT: usize = 9;
/// Bytes of the largest state, that of SHA-512.
const STATE_MAX: usize = HASH_AT + 64 + 128;

/// A hash function.
#[derive(Clone, Copy)]
pub(super) struct HashKind {
    /// What takes a block; none for SHA-512, whose words have 64 bits.
    compressed: Option<Hash>,
    /// Bytes of the hash.
    length: u8,
    /// The words that the intermediate hash starts with, as of 64 bits.
    start: [u64; 8],
}

/// Two words of 32 bits each.
const fn pairs(words: [u32; 8]) -> [u64; 8] {
    let mut pairs = [0; 8];
    let mut at = 0;
    while at < 4 {
        pairs[at] = (words[2 * at] as u64) << 32 | words[2 * at + 1] as u64;
        at += 1;
    }
    pairs
}

const SHA1: HashKind = HashKind {
    compressed: Some(Hash::Sha1),
    length: 20,
    start: pairs([0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0, 0, 0, 0]),
};
const SHA224: HashKind = HashKind {
    compressed: Some(Hash::Sha256),
    length: 28,
    start: pairs([
        0xC105_9ED8,
        0x367C_D507,
        0x3070_DD17,
        0xF70E_5939,
        0xFFC0_0B31,
        0x6858_1511,
        0x64F9_8FA7,
        0xBEFA_4FA4,
    ]),
};
const SHA256: HashKind = HashKind {
    compressed: Some(Hash::Sha256),
    length: 32,
    start: pairs([
        0x6A09_E667,
        0xBB67_AE85,
        0x3C6E_F372,
        0xA54F_F53A,
        0x510E_527F,
        0x9B05_688C,
        0x1F83_D9AB,
        0x5BE0_CD19,
    ]),
};
const SHA384: HashKind = HashKind {
    compressed: None,
    length: 48,
    start: [
        0xCBBB_9D5D_C105_9ED8,
        0x629A_292A_367C_D507,
        0x9159_015A_3070_DD17,
        0x152F_ECD8_F70E_5939,
        0x6733_2667_FFC0_0B31,
        0x8EB4_4A87_6858_1511,
        0xDB0C_2E0D_64F9_8FA7,
        0x47B5_481D_BEFA_4FA4,
    ],
};
const SHA512: HashKind = HashKind {
    compressed: None,
    length: 64,
    start: [
        0x6A09_E667_F3BC_C908,
        0xBB67_AE85_84CA_A73B,
        0x3C6E_F372_FE94_F82B,
        0xA54F_F53A_5F1D_36F1,
        0x510E_527F_ADE6_82D1,
        0x9B05_688C_2B3E_6C1F,
        0x1F83_D9AB_FB41_BD6B,
        0x5BE0_CD19_137E_2179,
    ],
};

/// The hash function of a constant of `MessageDigest`.
pub(super) fn kind_of(algorithm: i32) -> Option<HashKind> {
    Some(match algorithm {
        1 => SHA1,
        4 => SHA256,
        5 => SHA384,
        6 => SHA512,
        7 => SHA224,
        _ => return None,
    })
}

/// A hash's state.
pub(super) struct HashState {
    kind: HashKind,
    bytes: [u8; STATE_MAX],
}

impl HashState {
    pub fn new(kind: HashKind) -> HashState {
        HashState { kind, bytes: [0; STATE_MAX] }
    }

    /// Bytes of a block.
    fn block(&self) -> usize {
        if self.kind.compressed.is_some() { 64 } else { 128 }
    }

    /// Where a block that is not whole starts, after the intermediate hash.
    fn block_at(&self) -> usize {
        HASH_AT + self.block() / 2
    }

    fn end(&self) -> usize {
        self.block_at() + self.block()
    }

    /// Bytes of the hash.
    pub fn length(&self) -> u8 {
        self.kind.length
    }

    /// All of it, as an array keeps it.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.end()).unwrap_or(&[])
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let end = self.end();
        self.bytes.get_mut(..end).unwrap_or(&mut [])
    }

    /// The hash, once it is finished.
    pub fn hash(&self) -> &[u8] {
        self.bytes.get(HASH_AT..HASH_AT + usize::from(self.kind.length)).unwrap_or(&[])
    }

    pub fn clear(&mut self) {
        self.bytes.fill(0);
    }

    fn count(&self) -> u64 {
        let count = self.bytes.get(COUNT_AT..).and_then(<[u8]>::first_chunk);
        count.map_or(0, |count| u64::from_be_bytes(*count))
    }

    fn words(&self) -> [u64; 8] {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(self.bytes[HASH_AT..].as_chunks().0) {
            *word = u64::from_be_bytes(*bytes);
        }
        words
    }

    fn set_words(&mut self, words: &[u64; 8]) {
        let end = self.block_at();
        for (word, bytes) in words.iter().zip(self.bytes[HASH_AT..end].as_chunks_mut().0) {
            *bytes = word.to_be_bytes();
        }
    }

    fn begin(&mut self) {
        if self.bytes[0] == 0 {
            self.bytes[0] = 1;
            self.set_words(&{ self.kind.start });
        }
    }

    /// Takes bytes, whose count the state has from then on.
    pub fn take(&mut self, crypto: &mut impl Crypto, data: &[u8]) -> Result<(), NotComputed> {
        self.begin();
        let block = self.block() as u64;
        for byte in data {
            let count = self.count();
            let place = (count % block) as usize;
            let at = self.block_at() + place;
            self.bytes[at] = *byte;
            self.bytes[COUNT_AT..HASH_AT].copy_from_slice(&(count + 1).to_be_bytes());
            if place as u64 == block - 1 {
                self.compress(crypto)?;
            }
        }
        Ok(())
    }

    fn compress(&mut self, crypto: &mut impl Crypto) -> Result<(), NotComputed> {
        let mut words = self.words();
        let block = &self.bytes[self.block_at()..];
        match self.kind.compressed {
            Some(hash) => {
                let mut halves = [0; 8];
                for (pair, word) in halves.as_chunks_mut().0.iter_mut().zip(words) {
                    *pair = [(word >> 32) as u32, word as u32];
                }
                if let Some(block) = block.first_chunk() {
                    crypto.compress(hash, &mut halves, block)?;
                }
                words = pairs(halves);
            }
            None => {
                if let Some(block) = block.first_chunk() {
                    crypto.compress_wide(&mut words, block)?;
                }
            }
        }
        self.set_words(&words);
        Ok(())
    }

    /// Pads, and leaves the hash where the intermediate one was.
    pub fn finish(&mut self, crypto: &mut impl Crypto) -> Result<(), NotComputed> {
        self.begin();
        let bits = self.count().wrapping_mul(8).to_be_bytes();
        let block = self.block() as u64;
        self.take(crypto, &[0x80])?;
        // The length takes an eighth of a block; the upper half of SHA-512's is 0.
        while self.count() % block != block - block / 8 {
            self.take(crypto, &[0])?;
        }
        if block == 128 {
            self.take(crypto, &[0; 8])?;
        }
        self.take(crypto, &bits)
    }
}
