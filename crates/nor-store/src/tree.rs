//! Pruned versioned trees: maps from small numbers to sectors, with one committed version and at most one open one.
//!
//! All keys of the heap are dense numbers (references, section numbers), so that a node is found by the key's digits: a
//! node is an array of 16 slots, and a tree of height *h* holds keys below 16^*h*. Compared with nodes that store and
//! compare keys this saves the keys, splits and merges, and gives every path the same length.
//!
//! A node is 16 slots and 8 spare pointers. A word says "child *i* is *p*"; the last standing word for *i* counts. To
//! change a child in the open version:
//! 1. if its slot is erased, fill the slot; else fill the next erased spare;
//! 2. if the spares are used up, write a copy of the node with the change in it, and change the node's parent (or the
//!    root) to the copy in the same way.
//!
//! Each word is filled *open*, after a `Swap` entry that names the node and what the change replaces. A commit clears
//! the word's commit bit and frees what was replaced; an abort clears its abort bit. A node left without children is
//! pruned.
//!
//! Invariants: spares are used in order; outside a transaction no standing word is open; every child of a node of level
//! *l*>0 is a node of level *l*−1; no node is empty.

mod audit;

use norn_flash::Nor;

use crate::entry::Entry;
use crate::error::StoreError;
use crate::features::Features;
use crate::format::{ERASED_WORD, Link, NODE_SLOTS, NODE_SPARES, SectorKind, SectorPtr, TREE_WORD_BYTES, TreeWord};
use crate::ground::sector::{Sector, Sectors};
use crate::ground::space::{Room, SectorSpec};
use crate::ground::table::UnitRows;
use crate::roots::{HEIGHT_MAX, TreeId, TreeRoot};
use crate::versions::Versions;

/// Sectors of a chain at most: a section descriptor and a list of records.
const CHAIN_MAX: usize = 256;

/// What a tree holds for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeHit {
    /// The sector.
    pub pointer: SectorPtr,
    /// Whether the open transaction put it there.
    pub open: bool,
}

/// The nodes from a leaf (first) to the root, as far as they exist, with the child that each has for the key.
#[derive(Clone, Copy, Default)]
struct Path {
    nodes: [Option<SectorPtr>; HEIGHT_MAX as usize],
}

/// The words of a node's children, erased where there is none.
type NodeWords = [u32; NODE_SLOTS as usize];
const NO_CHILDREN: NodeWords = [ERASED_WORD; NODE_SLOTS as usize];

fn digit(key: u32, level: u8) -> u32 {
    key >> (4 * u32::from(level)) & (NODE_SLOTS - 1)
}

/// The trees: the store's own, and those of a client's.
#[derive(Clone, Debug)]
pub struct Trees<D: Nor, M: UnitRows, F> {
    pub(crate) versions: Versions<D, M, F>,
}

impl<D: Nor, M: UnitRows, F: Features> Trees<D, M, F> {
    pub(crate) fn unused(device: D, rows: M) -> Self {
        Trees { versions: Versions::unused(device, rows) }
    }

    fn sectors(&mut self) -> &mut Sectors<D, M, F> {
        &mut self.versions.space.sectors
    }

    /// What a tree holds for `key` in the open version. Cost: for each of the tree's levels 3 words and the spares in
    /// use.
    ///
    /// # Errors
    /// The device's, and `Corrupted`.
    pub fn get(&mut self, root: TreeRoot, key: u32) -> Result<Option<TreeHit>, StoreError<D::Error>> {
        self.sectors().log.units.medium.expect_answering()?;
        let (Some(mut pointer), true) = (root.node, root.holds(key)) else {
            return Ok(None);
        };
        let mut open = false;
        for level in (0..root.height).rev() {
            match self.child(pointer, digit(key, level))? {
                Some(found) => TreeHit { pointer, open } = found,
                None => return Ok(None),
            }
        }
        Ok(Some(TreeHit { pointer, open }))
    }

    /// Makes one of the store's own trees hold `target` (or nothing) for `key`, as [`set`](Self::set) does, at its
    /// cost.
    ///
    /// # Errors
    /// As `set`.
    pub fn put(
        &mut self,
        tree: TreeId,
        key: u32,
        target: Option<SectorPtr>,
        room: Room,
    ) -> Result<(), StoreError<D::Error>> {
        let open = self.sectors().log.root(tree);
        let root = self.set(open, key, target, room)?;
        if root != open {
            self.sectors().log.set_root(tree, root);
            self.sectors().log.open();
        }
        Ok(())
    }

    /// Makes a tree hold `target` (or nothing) for `key` in the open version. The sector held before is freed by the
    /// commit. Returns the tree's root in the open version: where it is another one, the caller has to keep it, in the
    /// same transaction.
    ///
    /// Cost: 3 words programmed and 1 at the commit; once every nine changes of a node a copy of it, about 25 words.
    ///
    /// # Errors
    /// `Full` when a copied node finds no room; the caller then aborts.
    ///
    /// # Panics
    /// If the key is not below 16⁵.
    pub fn set(
        &mut self,
        root: TreeRoot,
        key: u32,
        target: Option<SectorPtr>,
        room: Room,
    ) -> Result<TreeRoot, StoreError<D::Error>> {
        assert!(key >> (4 * u32::from(HEIGHT_MAX)) == 0, "key {key} exceeds the tree");
        let root = if target.is_some() { self.grow(root, key, room)? } else { root };
        if !root.holds(key) {
            return Ok(root);
        }
        let (path, mut replaced) = self.descend(root, key)?;
        if target.is_none() && replaced.is_none() {
            return Ok(root);
        }
        let mut child = target;
        for level in 0..root.height {
            let index = digit(key, level);
            let Some(node) = path.nodes[usize::from(level)] else {
                child = Some(self.write_node(None, index, child, None, room)?);
                replaced = None;
                continue;
            };
            if child.is_none() && !self.has_other_children(node, index)? {
                self.release_replaced(replaced)?;
            } else if self.fill_word(node, index, child, replaced)? {
                return Ok(root);
            } else {
                child = Some(self.write_node(Some(node), index, child, replaced, room)?);
            }
            replaced = Some(node);
        }
        self.release_replaced(replaced)?;
        Ok(match child {
            Some(_) => TreeRoot { node: child, height: root.height },
            None => TreeRoot::default(),
        })
    }

    /// The smallest key from `from` on that a tree holds in the open version, with its sector.
    ///
    /// Cost: as a look-up, and up to 24 words for each node that is passed.
    ///
    /// # Errors
    /// The device's, and `Corrupted`.
    pub fn next(&mut self, root: TreeRoot, from: u32) -> Result<Option<(u32, SectorPtr)>, StoreError<D::Error>> {
        self.sectors().log.units.medium.expect_answering()?;
        let (mut key, mut words) = (from, NO_CHILDREN);
        while root.height > 0 && root.holds(key) {
            let (path, _) = self.descend(root, key)?;
            // The lowest node that exists on the key's path: every key below it that is missing can be skipped at once.
            let Some(level) = (0..root.height).find(|&level| path.nodes[usize::from(level)].is_some()) else {
                return Ok(None);
            };
            let Some(node) = path.nodes[usize::from(level)] else {
                return Ok(None);
            };
            self.node_words(node, &mut words)?;
            let shift = 4 * u32::from(level);
            let start = digit(key, level);
            let next = (start..NODE_SLOTS).find(|&index| words[index as usize] != ERASED_WORD);
            let base = key >> shift & !(NODE_SLOTS - 1);
            match (next, level) {
                (Some(index), 0) => {
                    let Some(pointer) = TreeWord(words[index as usize]).pointer() else {
                        return Ok(None);
                    };
                    return Ok(Some((base | index, pointer)));
                }
                (Some(index), _) if index == start => {
                    return self.damaged_node(node, "a node that is not there");
                }
                (Some(index), _) => key = (base | index) << shift,
                (None, _) => key = (base + NODE_SLOTS) << shift,
            }
        }
        Ok(None)
    }

    /// The largest key that a tree holds in the open version. Cost: up to 26 words for each level.
    ///
    /// # Errors
    /// The device's, and `Corrupted`.
    pub fn last(&mut self, root: TreeRoot) -> Result<Option<u32>, StoreError<D::Error>> {
        self.sectors().log.units.medium.expect_answering()?;
        let (mut key, mut at, mut words) = (0, root.node, NO_CHILDREN);
        for _ in 0..root.height {
            let Some(node) = at else {
                return Ok(None);
            };
            self.node_words(node, &mut words)?;
            let Some(last) = (0..NODE_SLOTS).rev().find(|&index| words[index as usize] != ERASED_WORD) else {
                return self.damaged_node(node, "a tree node without children");
            };
            key = key << 4 | last;
            at = TreeWord(words[last as usize]).pointer();
        }
        Ok(at.map(|_| key))
    }

    /// The smallest key from `from` on, below 16⁵, that a tree does not hold in the open version.
    ///
    /// Cost: as [`next`](Self::next).
    ///
    /// # Errors
    /// The device's, and `Corrupted`.
    pub fn vacant(&mut self, root: TreeRoot, from: u32) -> Result<Option<u32>, StoreError<D::Error>> {
        self.sectors().log.units.medium.expect_answering()?;
        let (mut key, mut words) = (from, NO_CHILDREN);
        while key >> (4 * u32::from(HEIGHT_MAX)) == 0 {
            if !root.holds(key) {
                return Ok(Some(key));
            }
            let (path, _) = self.descend(root, key)?;
            let Some(leaf) = path.nodes[0] else {
                return Ok(Some(key));
            };
            self.node_words(leaf, &mut words)?;
            for index in digit(key, 0)..NODE_SLOTS {
                if words[index as usize] == ERASED_WORD {
                    return Ok(Some(key & !(NODE_SLOTS - 1) | index));
                }
            }
            key = (key | (NODE_SLOTS - 1)) + 1;
        }
        Ok(None)
    }

    /// Raises a tree's root until it holds `key`.
    fn grow(&mut self, mut root: TreeRoot, key: u32, room: Room) -> Result<TreeRoot, StoreError<D::Error>> {
        while root.height == 0 || !root.holds(key) {
            if root.node.is_some() {
                root.node = Some(self.write_node(None, 0, root.node, None, room)?);
            }
            root.height += 1;
        }
        Ok(root)
    }

    /// The nodes on the path to `key`, and what the tree holds for it.
    fn descend(&mut self, root: TreeRoot, key: u32) -> Result<(Path, Option<SectorPtr>), StoreError<D::Error>> {
        let mut path = Path::default();
        let mut at = root.node;
        for level in (0..root.height).rev() {
            path.nodes[usize::from(level)] = at;
            at = match at {
                Some(node) => self.child(node, digit(key, level))?.map(|found| found.pointer),
                None => None,
            };
        }
        Ok((path, at))
    }

    fn node(&mut self, pointer: SectorPtr) -> Result<Sector, StoreError<D::Error>> {
        let sector = self.sectors().get(pointer)?;
        if sector.kind != SectorKind::Node || sector.bytes < self.sectors().detection().node_bytes() {
            return self.sectors().corrupted(sector.address, "a sector that is not a tree node");
        }
        Ok(sector)
    }

    fn damaged_node<T>(&mut self, node: SectorPtr, what: &'static str) -> Result<T, StoreError<D::Error>> {
        let address = self.sectors().place_of(node);
        self.sectors().corrupted(address, what)
    }

    /// Child `index` of a node in the open version. Cost: 2 words and the spares in use.
    fn child(&mut self, pointer: SectorPtr, index: u32) -> Result<Option<TreeHit>, StoreError<D::Error>> {
        let node = self.node(pointer)?;
        let mut word = self.versions.tree_word(&node, index)?;
        for position in NODE_SLOTS..NODE_SLOTS + NODE_SPARES {
            if word.is_erased() {
                break; // Spares are for children whose slot is used.
            }
            let spare = self.versions.tree_word(&node, position)?;
            if spare.is_erased() {
                break;
            }
            if spare.stands() && spare.index() == index {
                word = spare;
            }
        }
        if !word.stands() {
            return Ok(None);
        }
        self.versions.expect_closed(pointer, word)?;
        Ok(word.pointer().map(|pointer| TreeHit { pointer, open: word.is_open() }))
    }

    /// The open version of a node's children: one word each, erased where there is none.
    fn node_words(&mut self, pointer: SectorPtr, words: &mut NodeWords) -> Result<(), StoreError<D::Error>> {
        let node = self.node(pointer)?;
        words.fill(ERASED_WORD);
        for position in 0..NODE_SLOTS + NODE_SPARES {
            let word = self.versions.tree_word(&node, position)?;
            if position >= NODE_SLOTS && word.is_erased() {
                break;
            }
            if word.stands() {
                self.versions.expect_closed(pointer, word)?;
                words[word.index() as usize] = word.0;
            }
        }
        for word in words {
            if TreeWord(*word).pointer().is_none() {
                *word = ERASED_WORD;
            }
        }
        Ok(())
    }

    fn has_other_children(&mut self, node: SectorPtr, index: u32) -> Result<bool, StoreError<D::Error>> {
        let mut words = NO_CHILDREN;
        self.node_words(node, &mut words)?;
        Ok((0..NODE_SLOTS).any(|other| other != index && words[other as usize] != ERASED_WORD))
    }

    /// Fills the slot or the next spare of a node; `false` when there is none.
    fn fill_word(
        &mut self,
        pointer: SectorPtr,
        index: u32,
        child: Option<SectorPtr>,
        replaced: Option<SectorPtr>,
    ) -> Result<bool, StoreError<D::Error>> {
        let node = self.node(pointer)?;
        let mut position = index;
        if !self.versions.tree_word(&node, index)?.is_erased() {
            position = NODE_SLOTS;
            while position < NODE_SLOTS + NODE_SPARES && !self.versions.tree_word(&node, position)?.is_erased() {
                position += 1;
            }
        }
        if position == NODE_SLOTS + NODE_SPARES {
            return Ok(false);
        }
        self.versions.announce(pointer, replaced)?;
        // The log may have taken a unit, but no sector moved: the node is where it was.
        self.versions.program_tree_word(&node, position, TreeWord::open(index, child).0)?;
        Ok(true)
    }

    /// Writes a new node with the children of `source`, if any, of which child `index` is changed in the open version.
    fn write_node(
        &mut self,
        source: Option<SectorPtr>,
        index: u32,
        child: Option<SectorPtr>,
        replaced: Option<SectorPtr>,
        room: Room,
    ) -> Result<SectorPtr, StoreError<D::Error>> {
        let spec = SectorSpec { bytes: self.sectors().detection().node_bytes(), kind: SectorKind::Node };
        let pointer = self.versions.space.allocate(spec, room)?;
        self.versions.announce(pointer, replaced)?;
        self.fill_node(pointer, source, index, child)?;
        Ok(pointer)
    }

    /// A function of its own, so that the words are not on the stack while room is made.
    #[inline(never)]
    fn fill_node(
        &mut self,
        pointer: SectorPtr,
        source: Option<SectorPtr>,
        index: u32,
        child: Option<SectorPtr>,
    ) -> Result<(), StoreError<D::Error>> {
        let mut words = NO_CHILDREN;
        if let Some(source) = source {
            self.node_words(source, &mut words)?;
        }
        words[index as usize] = match child {
            Some(_) => TreeWord::open(index, child).0,
            None => ERASED_WORD,
        };
        let word_bytes = self.sectors().detection().tree_word_bytes() as usize;
        let mut buffer = [0xFF; 2 * TREE_WORD_BYTES as usize * NODE_SLOTS as usize];
        let bytes = &mut buffer[..word_bytes * NODE_SLOTS as usize];
        for (place, word) in bytes.chunks_exact_mut(word_bytes).zip(words) {
            for copy in place.chunks_exact_mut(TREE_WORD_BYTES as usize) {
                copy.copy_from_slice(&word.to_le_bytes());
            }
        }
        let node = self.node(pointer)?;
        self.sectors().program_new(&node, 0, bytes)
    }

    fn release_replaced(&mut self, replaced: Option<SectorPtr>) -> Result<(), StoreError<D::Error>> {
        match replaced {
            Some(pointer) => self.versions.space.release(pointer, None),
            None => Ok(()),
        }
    }

    /// Frees a tree of a client's when the open transaction commits: its nodes, and the chain of sectors that each leaf
    /// heads, the sectors of a chain being linked by their first word. Cost: 2 words programmed, and 1 a sector at the
    /// commit.
    ///
    /// # Errors
    /// The device's, and `TransactionTooLarge`.
    pub fn release(&mut self, root: TreeRoot) -> Result<(), StoreError<D::Error>> {
        match root.node {
            Some(node) => self.sectors().log.append(Entry::ReleaseTree { node, height: root.height }),
            None => Ok(()),
        }
    }

    /// Frees a tree, or a chain where the height is 0. A sector that is free already is passed through all the same, so
    /// that a cut walk can be repeated: freeing leaves the bytes as they are.
    pub(crate) fn free(&mut self, node: SectorPtr, height: u8) -> Result<(), StoreError<D::Error>> {
        // The path from the root down: a node and the digit to look at next, for each level.
        let mut path = [(node, NODE_SLOTS); HEIGHT_MAX as usize + 1];
        let height = usize::from(height.min(HEIGHT_MAX));
        let Some(mut level) = height.checked_sub(1) else {
            return self.free_chain(node);
        };
        path[level] = (node, 0);
        while level < height {
            let (node, digit) = path[level];
            if digit == NODE_SLOTS {
                self.sectors().free(node)?;
                level += 1;
                continue;
            }
            path[level].1 += 1;
            match self.standing_child(node, digit)? {
                Some(child) if level > 0 => {
                    level -= 1;
                    path[level] = (child, 0);
                }
                Some(leaf) => self.free_chain(leaf)?,
                None => {}
            }
        }
        Ok(())
    }

    fn free_chain(&mut self, head: SectorPtr) -> Result<(), StoreError<D::Error>> {
        let mut next = Some(head);
        for _ in 0..CHAIN_MAX {
            let Some(pointer) = next else {
                break;
            };
            next = match self.sectors().find(pointer)? {
                // What hangs on a damaged link is not freed; the checker reports it.
                Some(sector) => match Link::decode(self.sectors().link_word(&sector)?) {
                    Link::To(behind) => Some(behind),
                    Link::Erased | Link::Void => None,
                },
                None => None,
            };
            self.sectors().free(pointer)?;
        }
        Ok(())
    }

    /// Child `index` of a node, be it live or free.
    #[inline(never)]
    pub(crate) fn standing_child(
        &mut self,
        node: SectorPtr,
        index: u32,
    ) -> Result<Option<SectorPtr>, StoreError<D::Error>> {
        let node_bytes = self.sectors().detection().node_bytes();
        let Some(sector) = self.sectors().find(node)?.filter(|sector| sector.bytes >= node_bytes) else {
            return Ok(None);
        };
        let mut child = None;
        for position in 0..NODE_SLOTS + NODE_SPARES {
            let Some(word) = self.versions.find_tree_word(&sector, position)? else {
                continue; // What is damaged is not freed; the checker reports it.
            };
            if position >= NODE_SLOTS && word.is_erased() {
                break;
            }
            if word.stands() && word.index() == index {
                child = word.pointer();
            }
        }
        Ok(child)
    }
}
