//! A leaf with the changes that its page's log holds.
//!
//! A record of the log is a key, a value and a code over both and the kind of the change; the newest one of a key
//! counts. Without a log a leaf is read in place.
//!
//! Invariants: a leaf with its log has no more entries than a leaf takes, and is empty only where the tree is; records
//! are written in order, and one that is not whole is passed over.

use norn_flash::{Address, Nor};

use super::format::{entry_bytes, node_range};
use super::nodes::{MuTree, Outcome};
use norn_ordered_index::Entry;
use norn_ordered_index::codes::{crc16, zeros};

/// Room for a record.
const RECORD_BYTES_MAX: usize = 136;

/// The kind of a change in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logged {
    Put = 0,
    Remove = 1,
}

/// A leaf: its entries are read from flash, or with those of the log put in their places.
pub(crate) struct Leaf<const PAGE: usize> {
    pub page: u32,
    pub count: u8,
    /// Records of the log that have been written.
    pub logged: u8,
    merged: Option<[u8; PAGE]>,
}

/// What a record of the log holds.
enum Record<const K: usize, const V: usize> {
    Erased,
    Torn,
    Whole(Logged, [u8; K], [u8; V]),
}

fn code(kind: Logged, data: &[u8]) -> u16 {
    zeros(data) as u16 | crc16(&[&[kind as u8], data]) << 11
}

impl<D: Nor, const K: usize, const V: usize, const PAGE: usize, const LOG: usize> MuTree<D, K, V, PAGE, LOG> {
    fn record_bytes(&self) -> usize {
        (K + V + 2).next_multiple_of(usize::from(self.medium.part().program_unit_bytes).max(2))
    }

    pub(crate) fn records(&self) -> u8 {
        (LOG / self.record_bytes()).min(255) as u8
    }

    fn record_address(&self, page: u32, record: u8) -> Address {
        self.page_address(page).offset((Self::BODY + usize::from(record) * self.record_bytes()) as u32)
    }

    fn record(&mut self, page: u32, record: u8) -> Outcome<Record<K, V>, D> {
        let mut bytes = [0; RECORD_BYTES_MAX];
        let bytes = &mut bytes[..K + V + 2];
        self.medium.read(self.record_address(page, record), bytes)?;
        if bytes.iter().all(|&byte| byte == 0xFF) {
            return Ok(Record::Erased);
        }
        let (data, found) = bytes.split_at(K + V);
        let (mut key, mut value) = ([0; K], [0; V]);
        key.copy_from_slice(&data[..K]);
        value.copy_from_slice(&data[K..]);
        for kind in [Logged::Put, Logged::Remove] {
            if found == code(kind, data).to_le_bytes() {
                return Ok(Record::Whole(kind, key, value));
            }
        }
        Ok(Record::Torn)
    }

    /// Writes a change into the log of a leaf, if it has room.
    pub(crate) fn log(&mut self, leaf: &Leaf<PAGE>, kind: Logged, key: &[u8; K], value: &[u8; V]) -> Outcome<bool, D> {
        if leaf.logged >= self.records() {
            return Ok(false);
        }
        let mut bytes = [0xFF; RECORD_BYTES_MAX];
        bytes[..K].copy_from_slice(key);
        bytes[K..K + V].copy_from_slice(value);
        let code = code(kind, &bytes[..K + V]);
        bytes[K + V..K + V + 2].copy_from_slice(&code.to_le_bytes());
        let len = self.record_bytes();
        self.medium.program(self.record_address(leaf.page, leaf.logged), &bytes[..len])?;
        Ok(true)
    }

    /// Records of a log that have been written.
    fn logged(&mut self, page: u32) -> Outcome<u8, D> {
        let (mut written, mut erased) = (0, self.records());
        while written < erased {
            let middle = written + (erased - written) / 2;
            match self.record(page, middle)? {
                Record::Erased => erased = middle,
                Record::Torn | Record::Whole(..) => written = middle + 1,
            }
        }
        Ok(written)
    }

    /// Opens the leaf in `page`.
    pub(crate) fn open(&mut self, page: u32) -> Outcome<Leaf<PAGE>, D> {
        let count = self.count(page, 0)?;
        let mut leaf = Leaf { page, count, logged: 0, merged: None };
        if LOG == 0 {
            return Ok(leaf);
        }
        let (offset, _) = node_range(Self::BODY, 0, self.height);
        let len = usize::from(count) * entry_bytes(0, K, V);
        let mut bytes = [0; PAGE];
        self.medium.read(self.page_address(page).offset(offset as u32 + 1), &mut bytes[..len])?;
        leaf.logged = self.logged(page)?;
        for record in 0..leaf.logged {
            if let Record::Whole(kind, key, value) = self.record(page, record)? {
                leaf.count = self.merge(&mut bytes, leaf.count, page, kind, &(key, value))?;
            }
        }
        leaf.merged = Some(bytes);
        Ok(leaf)
    }

    /// Makes a change in sorted entries; how many there are then.
    fn merge(
        &mut self,
        bytes: &mut [u8; PAGE],
        count: u8,
        page: u32,
        kind: Logged,
        entry: &Entry<K, V>,
    ) -> Outcome<u8, D> {
        let (key, value) = entry;
        let (size, used) = (K + V, usize::from(count) * (K + V));
        let at = bytes[..used].chunks(size).take_while(|other| other[..K] < key[..]).count() * size;
        let is_there = at < used && bytes[at..at + K] == key[..];
        match (kind, is_there) {
            (Logged::Put, false) if used + size > PAGE || count == u8::MAX => {
                return Err(self.damage(page, "a log with more keys than its leaf takes"));
            }
            (Logged::Put, false) => bytes.copy_within(at..used, at + size),
            (Logged::Remove, true) => {
                bytes.copy_within(at + size..used, at);
                return Ok(count - 1);
            }
            (Logged::Remove, false) => return Ok(count),
            (Logged::Put, true) => {}
        }
        bytes[at..at + K].copy_from_slice(key);
        bytes[at + K..at + size].copy_from_slice(value);
        Ok(count + u8::from(!is_there))
    }

    /// The entry of an open leaf.
    pub(crate) fn entry_in(&mut self, leaf: &Leaf<PAGE>, index: u8) -> Outcome<Entry<K, V>, D> {
        let (mut key, mut value) = ([0; K], [0; V]);
        match &leaf.merged {
            Some(bytes) => {
                let at = usize::from(index) * (K + V);
                key.copy_from_slice(&bytes[at..at + K]);
                value.copy_from_slice(&bytes[at + K..at + K + V]);
            }
            None => {
                let at = self.page_address(leaf.page).offset(self.entry_offset(0, index));
                self.medium.read(at, &mut key)?;
                self.medium.read(at.offset(K as u32), &mut value)?;
            }
        }
        Ok((key, value))
    }

    /// The entries of an open leaf whose keys are at most `key`.
    pub(crate) fn rank_in(&mut self, leaf: &Leaf<PAGE>, key: &[u8; K]) -> Outcome<u8, D> {
        match &leaf.merged {
            Some(bytes) => {
                let entries = bytes.chunks(K + V).take(usize::from(leaf.count));
                Ok(entries.take_while(|entry| entry[..K] <= key[..]).count() as u8)
            }
            None => self.rank(leaf.page, 0, leaf.count, key),
        }
    }

    /// The value of `key` in the leaf in `page`: the newest record of it, or its entry.
    pub(crate) fn look_up(&mut self, page: u32, key: &[u8; K]) -> Outcome<Option<[u8; V]>, D> {
        let logged = if LOG == 0 { 0 } else { self.logged(page)? };
        for record in (0..logged).rev() {
            let mut found = [0; K];
            self.medium.read(self.record_address(page, record), &mut found)?;
            if found != *key {
                continue;
            }
            match self.record(page, record)? {
                Record::Whole(Logged::Put, _, value) => return Ok(Some(value)),
                Record::Whole(Logged::Remove, ..) => return Ok(None),
                Record::Torn | Record::Erased => {}
            }
        }
        let count = self.count(page, 0)?;
        let Some(index) = self.rank(page, 0, count, key)?.checked_sub(1) else {
            return Ok(None);
        };
        let base = Leaf { page, count, logged: 0, merged: None };
        let (found, value) = self.entry_in(&base, index)?;
        Ok((found == *key).then_some(value))
    }
}
