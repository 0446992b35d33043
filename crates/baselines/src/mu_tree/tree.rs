//! What the tree's clients call.
//!
//! A change of a leaf:
//! 1. descend from the root to the leaf, noting the entry that was followed in each node;
//! 2. write every node of the path into a new page, the leaf changed and each child's number renewed;
//! 3. a node that is full is split: left halves go into a page before that one, which has no root.
//!
//! A leaf that would have no entries is left out; the path that is written then is the one to its neighbour, so that
//! every page has a leaf.

use core::ops::Bound;

use norn_flash::{Nor, Violation};
use norn_ordered_index::{Direction, Entry, Hint, IndexError, IndexStats, OrderedIndex, Reclaimed};

use super::format::{HEIGHT_MAX, ROOT, SCATTERED, capacity, entry_bytes};
use super::leaf::{Leaf, Logged};
use super::nodes::{MuTree, Outcome};

/// A node on the way from the root, and the entry that was followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    pub page: u32,
    pub count: u8,
    pub index: u8,
}

/// The steps of a path, by level.
pub(crate) type Path = [Step; HEIGHT_MAX as usize];

/// What happens to an entry of a node that is rewritten.
enum Change<'a> {
    /// The value of the entry at the step's index becomes this.
    Value(&'a [u8]),
    /// This entry goes to this place.
    Insert(usize, &'a [u8], &'a [u8]),
    /// The child of the entry was split: numbers of the halves, and the right one's first key.
    Split(u32, &'a [u8], u32),
    /// The entry goes.
    Remove,
}

/// A page that is being put together.
pub(crate) struct Page<const PAGE: usize> {
    pub bytes: [u8; PAGE],
}

/// Room for a node with one entry too many.
const SLACK: usize = 136;

/// A node that may have one entry too many.
struct Work<const PAGE: usize> {
    bytes: [u8; PAGE],
    slack: [u8; SLACK],
    len: usize,
}

impl<const PAGE: usize> Work<PAGE> {
    fn at(&mut self, at: usize) -> &mut u8 {
        if at < PAGE { &mut self.bytes[at] } else { &mut self.slack[at - PAGE] }
    }

    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let len = self.len;
            *self.at(len) = byte;
            self.len += 1;
        }
    }
}

impl<D: Nor, const K: usize, const V: usize, const PAGE: usize, const LOG: usize> MuTree<D, K, V, PAGE, LOG> {
    /// From the root to the leaf of `key`. In the leaf the index is that of the last key up to `key`, or 0.
    pub(crate) fn descend(&mut self, key: &[u8; K]) -> Outcome<(Path, Leaf<PAGE>), D> {
        let mut path = Path::default();
        let leaf = self.descend_from(&mut path, self.height - 1, self.root, Some(key))?;
        Ok((path, leaf))
    }

    /// Fills the steps from `top` down, to the leaf of `key` or to the first leaf.
    fn descend_from(&mut self, path: &mut Path, top: u8, page: u32, key: Option<&[u8; K]>) -> Outcome<Leaf<PAGE>, D> {
        self.trace(path, top, page, key)?;
        let leaf = self.open(path[0].page)?;
        let index = match key {
            Some(key) => self.rank_in(&leaf, key)?.saturating_sub(1),
            None => 0,
        };
        path[0] = Step { page: leaf.page, count: leaf.count, index };
        Ok(leaf)
    }

    /// The same without opening the leaf, of whose step only the page is filled in.
    pub(crate) fn trace(&mut self, path: &mut Path, top: u8, page: u32, key: Option<&[u8; K]>) -> Outcome<(), D> {
        let mut page = page;
        for level in (1..=top).rev() {
            let count = self.count(page, level)?;
            if count == 0 {
                return Err(self.damage(page, "a node without entries"));
            }
            let index = match key {
                Some(key) => self.rank(page, level, count, key)?.saturating_sub(1),
                None => 0,
            };
            path[usize::from(level)] = Step { page, count, index };
            page = self.child(page, level, index)?;
        }
        path[0] = Step { page, count: 0, index: 0 };
        Ok(())
    }

    fn find(&mut self, key: &[u8; K]) -> Outcome<(Path, Leaf<PAGE>, bool), D> {
        let (path, leaf) = self.descend(key)?;
        let is_there = leaf.count > 0 && self.entry_in(&leaf, path[0].index)?.0 == *key;
        Ok((path, leaf, is_there))
    }

    // Writing paths.

    /// The node of a step with `change` made, which may have one entry too many.
    fn changed(
        &mut self,
        step: &Step,
        level: u8,
        leaf: &Leaf<PAGE>,
        change: &Change<'_>,
        work: &mut Work<PAGE>,
    ) -> Outcome<usize, D> {
        let mut count = 0;
        let entry = entry_bytes(level, K, V);
        for index in 0..=step.count {
            if let Change::Insert(at, key, value) = change
                && *at == usize::from(index)
            {
                work.push(key);
                work.push(value);
                count += 1;
            }
            if index == step.count || (index == step.index && matches!(change, Change::Remove)) {
                continue;
            }
            let mut bytes = [0; SLACK];
            if level == 0 {
                let (key, value) = self.entry_in(leaf, index)?;
                bytes[..K].copy_from_slice(&key);
                bytes[K..entry].copy_from_slice(&value);
            } else {
                let at = self.page_address(step.page).offset(self.entry_offset(level, index));
                self.medium.read(at, &mut bytes[..entry])?;
            }
            if index == step.index {
                match change {
                    Change::Value(value) => bytes[K..entry].copy_from_slice(value),
                    Change::Split(left, ..) => bytes[K..entry].copy_from_slice(&left.to_le_bytes()),
                    Change::Insert(..) | Change::Remove => {}
                }
            }
            work.push(&bytes[..entry]);
            count += 1;
            if let (true, Change::Split(_, key, right)) = (index == step.index, change) {
                work.push(key);
                work.push(&right.to_le_bytes());
                count += 1;
            }
        }
        Ok(count)
    }

    /// Rewrites the path with `change` in its leaf.
    fn write_path(&mut self, path: &Path, leaf: &Leaf<PAGE>, change: Change<'_>) -> Outcome<(), D> {
        let is_full = |level: u8, count: u8| usize::from(count) >= capacity(Self::BODY, level, self.height, K, V);
        let splits = match change {
            Change::Insert(..) => {
                (0..self.height).take_while(|&at| is_full(at, path[usize::from(at)].count)).count() as u8
            }
            _ => 0,
        };
        let height = self.height + u8::from(splits == self.height);
        if height > HEIGHT_MAX || capacity(Self::BODY, height - 1, height, K, V) < 2 {
            return Err(IndexError::Full);
        }
        let mut left = (splits > 0).then(Page::<PAGE>::new);
        let mut page = Page::<PAGE>::new();
        let (left_number, number) = (self.next, self.next + u32::from(splits > 0));
        let number_bytes = number.to_le_bytes();
        let mut right_key = [0; K];
        for level in 0..self.height {
            let mut work = Work { bytes: [0; PAGE], slack: [0; SLACK], len: 0 };
            let step = path[usize::from(level)];
            let count = match level {
                0 => self.changed(&step, 0, leaf, &change, &mut work)?,
                _ if level <= splits => {
                    self.changed(&step, level, leaf, &Change::Split(left_number, &right_key, number), &mut work)?
                }
                _ => self.changed(&step, level, leaf, &Change::Value(&number_bytes), &mut work)?,
            };
            let entry = entry_bytes(level, K, V);
            let mut border = 0;
            if let (true, Some(left)) = (level < splits, left.as_mut()) {
                // Keys in ascending order leave full nodes.
                let is_last = usize::from(step.index) + 2 >= usize::from(step.count);
                let most = capacity(Self::BODY, level, height, K, V);
                border = if is_last { most.min(count - 1) } else { count.div_ceil(2) };
                left.put(Self::offset(level, height), 0..border, entry, &mut work);
                (0..K).for_each(|at| right_key[at] = *work.at(border * entry + at));
            }
            page.put(Self::offset(level, height), border..count, entry, &mut work);
        }
        if height > self.height {
            self.put_root(&mut page, path, height, (left_number, number), &right_key)?;
        }
        let flags = if splits > 1 { SCATTERED } else { 0 };
        if let Some(left) = left {
            self.write_page(left, height, flags)?;
        }
        self.write_page(page, height, flags | ROOT)?;
        (self.root, self.height) = (number, height);
        Ok(())
    }

    /// Puts a root with two children on top of the halves of the old one.
    fn put_root(
        &mut self,
        page: &mut Page<PAGE>,
        path: &Path,
        height: u8,
        (left, right): (u32, u32),
        right_key: &[u8; K],
    ) -> Outcome<(), D> {
        let old = path[usize::from(self.height - 1)];
        let first = self.key(old.page, self.height - 1, 0)?;
        let mut work = Work { bytes: [0; PAGE], slack: [0; SLACK], len: 0 };
        for (key, number) in [(&first, left), (right_key, right)] {
            work.push(key);
            work.push(&number.to_le_bytes());
        }
        page.put(Self::offset(height - 1, height), 0..2, entry_bytes(height - 1, K, V), &mut work);
        Ok(())
    }

    /// Rewrites the path to `key` unchanged, so that all of its nodes move.
    pub(crate) fn move_path(&mut self, key: &[u8; K]) -> Outcome<(), D> {
        let (path, leaf) = self.descend(key)?;
        if leaf.count == 0 {
            return self.write_empty();
        }
        let (_, value) = self.entry_in(&leaf, path[0].index)?;
        self.write_path(&path, &leaf, Change::Value(&value))
    }

    /// Leaves the leaf of `path` out, whose last entry goes.
    fn leave_out(&mut self, path: &mut Path) -> Outcome<(), D> {
        let Some(level) = (1..self.height).find(|&level| path[usize::from(level)].count > 1) else {
            // The last key of all: what remains is an empty leaf.
            return self.write_empty();
        };
        let step = path[usize::from(level)];
        let gone = step.index;
        let neighbour = if gone > 0 { gone - 1 } else { 1 };
        let child = self.child(step.page, level, neighbour)?;
        let leaf = self.descend_from(path, level - 1, child, None)?;
        let mut page = Page::<PAGE>::new();
        let number = self.next.to_le_bytes();
        for at in 0..self.height {
            let mut work = Work { bytes: [0; PAGE], slack: [0; SLACK], len: 0 };
            let step = path[usize::from(at)];
            let mut count = match at {
                0 => {
                    let (_, value) = self.entry_in(&leaf, step.index)?;
                    self.changed(&step, 0, &leaf, &Change::Value(&value), &mut work)?
                }
                _ if at == level => {
                    let step = Step { index: neighbour, ..step };
                    self.changed(&step, at, &leaf, &Change::Value(&number), &mut work)?
                }
                _ => self.changed(&step, at, &leaf, &Change::Value(&number), &mut work)?,
            };
            let entry = entry_bytes(at, K, V);
            if at == level {
                let gone = usize::from(gone) * entry;
                for byte in gone..work.len - entry {
                    *work.at(byte) = *work.at(byte + entry);
                }
                count -= 1;
            }
            page.put(Self::offset(at, self.height), 0..count, entry, &mut work);
        }
        let number = self.next;
        self.write_page(page, self.height, ROOT)?;
        self.root = number;
        Ok(())
    }

    /// Writes a tree without keys: an empty leaf.
    pub(crate) fn write_empty(&mut self) -> Outcome<(), D> {
        let mut page = Page::<PAGE>::new();
        let mut work = Work { bytes: [0; PAGE], slack: [0; SLACK], len: 0 };
        page.put(Self::offset(0, 1), 0..0, 1, &mut work);
        let number = self.next;
        self.write_page(page, 1, ROOT)?;
        (self.root, self.height) = (number, 1);
        Ok(())
    }

    /// The last entry below the end of the leaf before that of `path`, or the first one of the leaf after it.
    fn next_leaf(&mut self, path: &mut Path, direction: Direction) -> Outcome<Option<Leaf<PAGE>>, D> {
        let turn = (1..self.height).find(|&level| {
            let step = path[usize::from(level)];
            match direction {
                Direction::Forwards => step.index + 1 < step.count,
                Direction::Backwards => step.index > 0,
            }
        });
        let Some(level) = turn else { return Ok(None) };
        let step = &mut path[usize::from(level)];
        match direction {
            Direction::Forwards => step.index += 1,
            Direction::Backwards => step.index -= 1,
        }
        let step = *step;
        let child = self.child(step.page, level, step.index)?;
        Ok(Some(match direction {
            Direction::Forwards => self.descend_from(path, level - 1, child, None)?,
            Direction::Backwards => self.descend_from(path, level - 1, child, Some(&[0xFF; K]))?,
        }))
    }

    /// Counts the keys below each leaf, and the leaves.
    pub(crate) fn tally(&mut self) -> Outcome<(u32, u32), D> {
        let mut path = Path::default();
        self.descend_from(&mut path, self.height - 1, self.root, None)?;
        let (mut keys, mut leaves) = (u32::from(path[0].count), 1);
        while self.next_leaf(&mut path, Direction::Forwards)?.is_some() {
            keys += u32::from(path[0].count);
            leaves += 1;
            if leaves > self.page_count() {
                return Err(self.damage(self.root, "more leaves than pages"));
            }
        }
        Ok((keys, leaves))
    }
}

impl<const PAGE: usize> Page<PAGE> {
    fn new() -> Self {
        Page { bytes: [0xFF; PAGE] }
    }

    /// Puts entries of `work` into the node that begins at `offset`.
    fn put(&mut self, offset: usize, entries: core::ops::Range<usize>, entry: usize, work: &mut Work<PAGE>) {
        self.bytes[offset] = entries.len() as u8;
        for (to, from) in (offset + 1..).zip(entries.start * entry..entries.end * entry) {
            self.bytes[to] = *work.at(from);
        }
    }
}

impl<D: Nor, const K: usize, const V: usize, const PAGE: usize, const LOG: usize> OrderedIndex<K, V>
    for MuTree<D, K, V, PAGE, LOG>
{
    type Device = D;

    fn insert(&mut self, key: &[u8; K], value: &[u8; V]) -> Outcome<(), D> {
        if LOG > 0 {
            let (_, leaf, is_there) = self.find(key)?;
            let has_room = usize::from(leaf.count) < capacity(Self::BODY, 0, self.height, K, V);
            if !is_there && has_room && self.log(&leaf, Logged::Put, key, value)? {
                return Ok(());
            }
        }
        self.make_room(2)?;
        let (path, leaf, is_there) = self.find(key)?;
        if is_there {
            return Err(IndexError::KeyExists);
        }
        let at = self.rank_in(&leaf, key)?;
        self.write_path(&path, &leaf, Change::Insert(usize::from(at), key, value))
    }

    fn update(&mut self, key: &[u8; K], value: &[u8; V]) -> Outcome<(), D> {
        if LOG > 0 {
            let (_, leaf, is_there) = self.find(key)?;
            if is_there && self.log(&leaf, Logged::Put, key, value)? {
                return Ok(());
            }
        }
        self.make_room(1)?;
        match self.find(key)? {
            (path, leaf, true) => self.write_path(&path, &leaf, Change::Value(value)),
            (_, _, false) => Err(IndexError::KeyAbsent),
        }
    }

    fn get(&mut self, key: &[u8; K]) -> Outcome<Option<[u8; V]>, D> {
        let mut path = Path::default();
        self.trace(&mut path, self.height - 1, self.root, Some(key))?;
        self.look_up(path[0].page, key)
    }

    fn remove(&mut self, key: &[u8; K]) -> Outcome<(), D> {
        if LOG > 0 {
            let (_, leaf, is_there) = self.find(key)?;
            if is_there && leaf.count > 1 && self.log(&leaf, Logged::Remove, key, &[0; V])? {
                return Ok(());
            }
        }
        self.make_room(1)?;
        match self.find(key)? {
            (_, _, false) => Err(IndexError::KeyAbsent),
            (mut path, _, true) if path[0].count == 1 => self.leave_out(&mut path),
            (path, leaf, true) => self.write_path(&path, &leaf, Change::Remove),
        }
    }

    fn neighbour(
        &mut self,
        bound: Bound<&[u8; K]>,
        direction: Direction,
        _: &mut Hint,
    ) -> Outcome<Option<Entry<K, V>>, D> {
        let outermost = if direction == Direction::Forwards { [0; K] } else { [0xFF; K] };
        let (Bound::Included(key) | Bound::Excluded(key)) = bound else {
            return self.neighbour(Bound::Included(&outermost), direction, &mut Hint::default());
        };
        let (mut path, leaf) = self.descend(key)?;
        let Step { count, index, .. } = path[0];
        if count == 0 {
            return Ok(None);
        }
        let (found, value) = self.entry_in(&leaf, index)?;
        let is_met = found == *key && matches!(bound, Bound::Included(_));
        let within = match direction {
            Direction::Forwards if is_met || found > *key => return Ok(Some((found, value))),
            Direction::Backwards if is_met || found < *key => return Ok(Some((found, value))),
            Direction::Forwards => Some(index + 1).filter(|&index| index < count),
            Direction::Backwards => index.checked_sub(1),
        };
        if let Some(index) = within {
            return self.entry_in(&leaf, index).map(Some);
        }
        match self.next_leaf(&mut path, direction)? {
            Some(leaf) if leaf.count > 0 => {
                let index = if direction == Direction::Forwards { 0 } else { leaf.count - 1 };
                self.entry_in(&leaf, index).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn len(&mut self) -> Outcome<u32, D> {
        Ok(self.tally()?.0)
    }

    fn stats(&mut self) -> Outcome<IndexStats, D> {
        self.survey()
    }

    fn reclaim_step(&mut self) -> Outcome<Reclaimed, D> {
        self.reclaim_ahead()
    }

    fn corruption(&self) -> Option<Violation> {
        self.medium.corruption()
    }
}
