//! A program on an ordered index: it puts keys, removes some, and reads ranges.

use std::ops::Bound;

use super::list::{Index, ListWidths};
use crate::anatomy::hexadecimal;
use crate::objects::words;

/// Keys that are drawn are below this number, or after one that is there.
const KEYS: u32 = 4096;
/// How far after it at most.
const STEP: u32 = 16;
/// Longest value that is drawn, where values vary.
const VALUE_BYTES: usize = 24;

/// A call of the program.
#[derive(Clone, Debug)]
pub enum Call {
    /// A key gets a value.
    Put(Vec<u8>, Vec<u8>),
    /// A key is removed.
    Remove(Vec<u8>),
    /// So many entries are read, from a key on.
    Range(Vec<u8>, usize),
    /// The list is stopped, which makes the next mount fast.
    Stop,
}

/// The next call: most of them put a new key or a new value.
pub fn draw<W: ListWidths>(index: &Index<W>, random: &mut fastrand::Rng) -> Call {
    // What is looked up for a draw is the program's own knowledge: a copy reads it.
    let mut copy = index.clone();
    let drawn = key_of(random.u32(..KEYS), index.widths.key_bytes());
    let there = entry_from(&mut copy, &drawn).or_else(|| entry_from(&mut copy, &vec![0; drawn.len()]));
    let mut value = |copy: &Index<W>| {
        let longest = copy.widths.value_bytes();
        let length = if W::VARIES { random.usize(..=longest.min(VALUE_BYTES)) } else { longest };
        (0..length).map(|_| random.u8(..)).collect()
    };
    let value = value(&copy);
    match (random.u8(..20), there) {
        (0..6, _) | (_, None) => Call::Put(drawn, value),
        (6..12, Some(key)) => Call::Put(after(&key, random.u32(1..=STEP)), value),
        (12..15, Some(key)) => Call::Put(key, value),
        (15..18, Some(key)) => Call::Remove(key),
        (18, Some(key)) => Call::Range(key, random.usize(1..9)),
        (_, Some(_)) => Call::Stop,
    }
}

/// A number as a key: big-endian, so that keys sort as numbers.
fn key_of(number: u32, key_bytes: usize) -> Vec<u8> {
    let digits = number.to_be_bytes();
    let mut key = vec![0; key_bytes.saturating_sub(digits.len())];
    key.extend_from_slice(&digits[digits.len().saturating_sub(key_bytes)..]);
    key
}

/// A key that is larger by some; the last key of all is followed by the first.
fn after(key: &[u8], by: u32) -> Vec<u8> {
    let (mut key, mut carry) = (key.to_vec(), by);
    for byte in key.iter_mut().rev() {
        let sum = u32::from(*byte) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    key
}

/// The least key from one on.
fn entry_from<W: ListWidths>(index: &mut Index<W>, key: &[u8]) -> Option<Vec<u8>> {
    let mut range = index.list.range(Bound::Included(key), Bound::Unbounded).ok()?;
    Some(range.next_entry().ok()??.0.as_ref().to_vec())
}

/// Makes a call. Returns it in words.
///
/// # Errors
/// The list's, in words.
pub fn make<W: ListWidths>(index: &mut Index<W>, call: &Call) -> Result<String, String> {
    match call {
        Call::Put(key, value) => {
            W::put(&mut index.list, key, value).map_err(words)?;
            Ok(format!("put key {}, value {}", hexadecimal(key), hexadecimal(value)))
        }
        Call::Remove(key) => {
            index.list.remove(key).map_err(words)?;
            Ok(format!("remove key {}", hexadecimal(key)))
        }
        Call::Range(from, count) => {
            let range = index.list.range(Bound::Included(from), Bound::Unbounded).map_err(words)?;
            let keys = range.take(*count).map(|entry| entry.map(|(key, _)| hexadecimal(key.as_ref())));
            let keys = keys.collect::<Result<Vec<_>, _>>().map_err(words)?;
            Ok(format!(
                "read {} from key {} on, to {}",
                if keys.len() == 1 { "1 entry".to_owned() } else { format!("{} entries", keys.len()) },
                hexadecimal(from),
                keys.last().map_or("", |key| key)
            ))
        }
        Call::Stop => index.list.stop().map(|()| "stop the list".to_owned()).map_err(words),
    }
}
