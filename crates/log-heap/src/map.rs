//! The map: from owners to their sectors, a radix tree of nodes with sixteen children.
//!
//! A node is a sector: a header, sixteen entries, and spare places for changes of them, one change a place. The last
//! change of an entry counts. When the spares are used up, the node is written anew, and its parent changed in the
//! same way, up to the root, which the log names. What a node leads to was complete before.
//!
//! ```text
//!      log: Root            level 2                                   level 1: leaves
//!        │      ┌────────┬────────────────┬──────────────────┐      ┌────────┬──────────┬──────────────────────┐
//!        └─────▶│ header │ e0 e1 … e15    │ 3→a │ 7→b │ erased │─────▶│ header │ e0 … e15 │ 5→none │ erased      │
//!               └────────┴────────────────┴──────────────────┘      └────────┴──────────┴──────────────────────┘
//! ```
//!
//! While a mount settles, entries on the path to the owner in doubt are those that the log has written down.

use norn_flash::Nor;
use norn_heap::{Listener, Ref, StoreError};

use crate::format::{
    CHECK_BYTES, Change, Class, Crc, DIGIT_SHIFT, DIRECTORY, ENTRY_BYTES, Entry, FANOUT, GRANULE_BYTES_MAX, Granule,
    HEADER_BYTES, Header, LEVELS_MAX, NEVER, Owner, Place, SectorKind, Stream,
};
use crate::log::{Doubt, Intent};
use crate::medium::Medium;
use crate::space::Space;
use crate::units::UnitRows;

/// Bytes of a node's header, entries and check, rounded up to the largest granule.
const NODE_BYTES: usize =
    ((HEADER_BYTES + FANOUT * ENTRY_BYTES + CHECK_BYTES) as usize).div_ceil(GRANULE_BYTES_MAX) * GRANULE_BYTES_MAX;

/// What a node leads to, changes included, and its used spares.
pub(crate) struct Node {
    pub(crate) entries: [Entry; FANOUT as usize],
    pub(crate) used: u32,
    /// Whether a further change can be programmed.
    pub(crate) has_room: bool,
}

/// Slots of a map by the level of its root.
pub(crate) const SLOTS_BY_TOP: [u32; LEVELS_MAX + 1] = [0, 1 << 4, 1 << 8, 1 << 12, 1 << 16];

const EMPTY: [Entry; FANOUT as usize] = [Entry::Nowhere(NEVER); FANOUT as usize];

/// The generation of the next object in a slot whose last one had this.
pub(crate) const fn next_generation(last: u16) -> u16 {
    if last >= NEVER - 1 { 1 } else { last + 1 }
}

/// Whether the last spare place of a node may be torn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spares {
    Settled,
    InDoubt,
}

/// Whether something of the map is an owner, or above it up to a level.
fn is_on_path(owner: Owner, top: u8, other: Owner) -> bool {
    (owner.level..=top).contains(&other.level) && owner.ancestor(other.level) == other
}

/// Puts the check of a sector into its last bytes; `crc` is that of what is before these.
pub(crate) fn put_check(bytes: &mut [u8], mut crc: Crc) {
    let (rest, check) = bytes.split_at_mut(bytes.len() - CHECK_BYTES as usize);
    crc.add(rest);
    check.copy_from_slice(&crc.value().to_le_bytes());
}

/// The map, above the space.
#[derive(Clone, Debug)]
pub(crate) struct Map<D, M, L> {
    pub(crate) space: Space<D, M>,
    /// Hears what pointers show no longer.
    pub(crate) listener: L,
    /// Level of the root; 0 while there is none.
    top: u8,
}

impl<D: Nor, M: UnitRows, L: Listener> Map<D, M, L> {
    pub(crate) const fn new(medium: Medium<D>, rows: M, listener: L) -> Self {
        Map { space: Space::new(medium, rows), listener, top: 0 }
    }

    pub(crate) fn medium(&mut self) -> &mut Medium<D> {
        &mut self.space.log.units.medium
    }

    /// The level of the root; 0 while there is none.
    pub(crate) const fn top(&self) -> u8 {
        self.top
    }

    /// Reads the level of the root, which a mount has found.
    pub(crate) fn find_top(&mut self) -> Result<(), StoreError<D::Error>> {
        self.top = match self.space.log.root() {
            Entry::At(root) => {
                let header = self.header(root)?;
                let is_root = header.kind == SectorKind::Node && header.index == 0;
                if !is_root || !(1..=LEVELS_MAX as u16).contains(&header.generation) {
                    return Err(self.medium().corrupted(root, "a root that is no map node"));
                }
                header.generation as u8
            }
            Entry::Nowhere(_) => 0,
        };
        self.space.has_large_map = usize::from(self.top) == LEVELS_MAX;
        Ok(())
    }

    /// The header of a sector that the map leads to, which with error detection is checked as far as its tail.
    ///
    /// Reads two words; with error detection also the whole sector but its tail.
    pub(crate) fn header(&mut self, sector: Granule) -> Result<Header, StoreError<D::Error>> {
        let geometry = self.space.log.units.geometry();
        let bytes = self.medium().read_header(sector)?;
        let Some(header) = Header::decode(&bytes).filter(|header| header.is_possible(&geometry)) else {
            return Err(self.medium().corrupted(sector, "a broken header"));
        };
        if geometry.detects() && !self.medium().agrees(sector, &bytes, header.bare_granules(&geometry))? {
            return Err(self.medium().corrupted(sector, "a sector that differs from its check"));
        }
        Ok(header)
    }

    /// The header of a sector that the map leads to, of which nothing else is to be used.
    pub(crate) fn stated_header(&mut self, sector: Granule) -> Result<Header, StoreError<D::Error>> {
        let header = self.find_header(sector)?;
        header.ok_or_else(|| self.medium().corrupted(sector, "a broken header"))
    }

    /// The header of a sector, if there is one. With error detection one of which a bit is wrong is read as it was, so
    /// that the sector has a length: it can be passed over and moved. What is in it stays damaged.
    ///
    /// Reads two words; of a sector with a broken header all of it, as often as a bit may be the wrong one.
    pub(crate) fn find_header(&mut self, sector: Granule) -> Result<Option<Header>, StoreError<D::Error>> {
        let geometry = self.space.log.units.geometry();
        let mut bytes = self.medium().read_header(sector)?;
        let header = Header::decode(&bytes).filter(|header| header.is_possible(&geometry));
        if header.is_some() || !geometry.detects() {
            return Ok(header);
        }
        let left = geometry.unit_granules - sector.0 % geometry.unit_granules;
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let header = Header::decode(&bytes).filter(|header| header.is_possible(&geometry));
            if let Some(header) = header.filter(|header| header.granules(&geometry) <= left)
                && self.medium().agrees(sector, &bytes, header.bare_granules(&geometry))?
            {
                return Ok(Some(header));
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        Ok(None)
    }

    /// Checks a node, with error detection.
    fn expect_node(&mut self, at: Granule, owner: Owner) -> Result<(), StoreError<D::Error>> {
        if self.space.log.units.geometry().detects() {
            let header = self.header(at)?;
            if header.kind != SectorKind::Node || header.owner() != owner {
                return Err(self.medium().corrupted(at, "a node of another owner"));
            }
        }
        Ok(())
    }

    /// Checks that a spare place which does not read as whole is one that a cut may have torn: the last one of a node
    /// on the path that is in doubt.
    fn expect_torn(&mut self, at: Granule, number: u32, spares: Spares) -> Result<(), StoreError<D::Error>> {
        if !self.space.log.units.geometry().detects() {
            return Ok(());
        }
        let (first, count) = self.spares(at);
        let is_last = number + 1 >= count;
        let next = first.offset(number + 1);
        if spares == Spares::Settled || !is_last && self.medium().read_place(next)? != Place::Erased {
            return Err(self.medium().corrupted(first.offset(number), "a damaged change of a map node"));
        }
        Ok(())
    }

    /// Checks that what a node says of a child is on the part.
    fn expect_inside(&mut self, node: Granule, entry: Entry) -> Result<Entry, StoreError<D::Error>> {
        match entry {
            Entry::At(at) if !self.medium().geometry().contains(at) => {
                Err(self.medium().corrupted(node, "a map node that leads outside of the part"))
            }
            entry => Ok(entry),
        }
    }

    /// Whether a cut may have torn the last spare place of a node.
    fn spares_of(&self, node: Owner) -> Spares {
        match self.space.log.doubt() {
            Some(doubt) if is_on_path(doubt.intent.owner(), doubt.top, node) => Spares::InDoubt,
            _ => Spares::Settled,
        }
    }

    /// Whether the tree is high enough for an owner.
    fn covers(&self, owner: Owner) -> bool {
        owner.level <= self.top && owner.ancestor(self.top).index == 0
    }

    /// Where an owner is.
    ///
    /// Reads, on each level: a word, and the node's used spares and one more.
    pub(crate) fn lookup(&mut self, owner: Owner) -> Result<Entry, StoreError<D::Error>> {
        if self.top == 0 || !self.covers(owner) {
            return Ok(Entry::Nowhere(NEVER));
        }
        let mut entry = self.space.log.root();
        for level in (owner.level..self.top).rev() {
            let Entry::At(node) = entry else { return Ok(Entry::Nowhere(NEVER)) };
            entry = self.child(node, owner.ancestor(level))?;
        }
        Ok(entry)
    }

    /// The first slot from `from` on that leads to a sector.
    ///
    /// Cost: a look-up for each slot up to it, where those below one entry that leads nowhere count as one.
    pub(crate) fn next_slot(&mut self, from: u32) -> Result<Option<u16>, StoreError<D::Error>> {
        let mut slot = from;
        while slot < SLOTS_BY_TOP[usize::from(self.top)] {
            let empty = self.empty_from(slot)?;
            if empty == 0 {
                return Ok(Some(slot as u16));
            }
            slot += empty;
        }
        Ok(None)
    }

    /// The first slot from `from` on that leads nowhere, and the generation of what was there last.
    ///
    /// Cost: a look-up; for each sixteen slots after it the look-up of their leaf, and all of that.
    pub(crate) fn free_slot(&mut self, from: u16) -> Result<Option<(u16, u16)>, StoreError<D::Error>> {
        if let Entry::Nowhere(last) = self.lookup(Owner::object(from))? {
            return Ok(Some((from, last)));
        }
        let mut slot = u32::from(from) + 1;
        while slot < Ref::SLOTS {
            let leaf = Owner::object(slot as u16).ancestor(1);
            let Entry::At(node) = self.lookup(leaf)? else { return Ok(Some((slot as u16, NEVER))) };
            for entry in &self.node(node, leaf)?.entries[(slot % FANOUT) as usize..] {
                if let Entry::Nowhere(last) = *entry {
                    return Ok(Some((slot as u16, last)));
                }
                slot += 1;
            }
        }
        Ok(None)
    }

    /// Slots from this one on that are known to lead nowhere; 0 if it leads to a sector.
    fn empty_from(&mut self, slot: u32) -> Result<u32, StoreError<D::Error>> {
        for level in (0..self.top).rev() {
            let span = 1 << (4 * u32::from(level));
            let owner = Owner { level, index: (slot / span) as u16 };
            if slot.is_multiple_of(span) && !matches!(self.lookup(owner)?, Entry::At(_)) {
                return Ok(span);
            }
        }
        Ok(0)
    }

    /// The entry of a node for one of its children.
    fn child(&mut self, node: Granule, child: Owner) -> Result<Entry, StoreError<D::Error>> {
        match self.in_doubt(child) {
            Some(entry) => Ok(entry),
            None => self.entry(node, child, self.spares_of(child.ancestor(child.level + 1))),
        }
    }

    /// What a node says of one of its children.
    ///
    /// Reads a word, and the used spares and one more; with error detection the whole node before.
    fn entry(&mut self, node: Granule, child: Owner, spares: Spares) -> Result<Entry, StoreError<D::Error>> {
        self.expect_node(node, child.ancestor(child.level + 1))?;
        let digit = u32::from(child.index) % FANOUT;
        let mut bytes = [0; 4];
        self.medium().read(node, HEADER_BYTES + digit * ENTRY_BYTES, &mut bytes[..ENTRY_BYTES as usize])?;
        let mut bits = u32::from_le_bytes(bytes);
        let (first, spares_count) = self.spares(node);
        for number in 0..spares_count {
            match self.medium().read_place(first.offset(number))? {
                Place::Whole(content) if content >> DIGIT_SHIFT == digit => bits = content,
                Place::Whole(_) => {}
                Place::Erased => break,
                Place::Broken => {
                    self.expect_torn(node, number, spares)?;
                    break;
                }
            }
        }
        self.expect_inside(node, Entry::from_bits(bits))
    }

    /// What the log says of an owner on the path that is in doubt.
    fn in_doubt(&self, child: Owner) -> Option<Entry> {
        let doubt = self.space.log.doubt()?;
        let owner = doubt.intent.owner();
        is_on_path(owner, doubt.top, child).then(|| doubt.path[usize::from(child.level)])
    }

    /// The first of a node's spare places, and their number.
    fn spares(&self, node: Granule) -> (Granule, u32) {
        let geometry = self.space.log.units.geometry();
        let spares = u32::from(geometry.spares());
        (node.offset(geometry.node_granules() - spares), spares)
    }

    /// All of a node.
    pub(crate) fn node(&mut self, node: Granule, owner: Owner) -> Result<Node, StoreError<D::Error>> {
        self.expect_node(node, owner)?;
        let mut read = Node { entries: EMPTY, used: 0, has_room: true };
        let mut bytes = [0; (FANOUT * ENTRY_BYTES) as usize];
        self.medium().read(node, HEADER_BYTES, &mut bytes)?;
        for (entry, bytes) in read.entries.iter_mut().zip(bytes.chunks_exact(ENTRY_BYTES as usize)) {
            *entry = Entry::from_bits(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]));
        }
        let (first, spares) = self.spares(node);
        while read.used < spares {
            match self.medium().read_place(first.offset(read.used))? {
                Place::Whole(content) => {
                    let change = Change::from_content(content);
                    read.entries[change.digit as usize] = change.entry;
                }
                Place::Erased => break,
                Place::Broken => {
                    self.expect_torn(node, read.used, self.spares_of(owner))?;
                    read.has_room = false;
                    break;
                }
            }
            read.used += 1;
        }
        read.has_room &= read.used < spares;
        for entry in read.entries {
            self.expect_inside(node, entry)?;
        }
        for digit in 0..FANOUT as u16 {
            let child = Owner { level: owner.level - 1, index: owner.index << 4 | digit };
            if let Some(entry) = self.in_doubt(child) {
                read.entries[usize::from(digit)] = entry;
            }
        }
        Ok(read)
    }

    /// Leads the map to the sector of an owner, which is complete, or to none.
    ///
    /// Programs a place; or once in nine times a node, and a place of its parent.
    pub(crate) fn set(&mut self, owner: Owner, entry: Entry) -> Result<(), StoreError<D::Error>> {
        self.grow(owner)?;
        let (mut owner, mut entry) = (owner, entry);
        // Nodes that are replaced stay live until the map leads to the new ones: their unit must not be used before.
        let mut replaced = [None; LEVELS_MAX];
        while owner.level < self.top {
            let parent = owner.ancestor(owner.level + 1);
            let digit = u32::from(owner.index) % FANOUT;
            let mut entries = EMPTY;
            if let Entry::At(at) = self.lookup(parent)? {
                let node = self.node(at, parent)?;
                if owner.level == 0 {
                    self.led_away(node.entries[digit as usize], entry)?;
                }
                if node.has_room {
                    self.program_change(at, node.used, Change { digit, entry })?;
                    self.remove_nodes(replaced);
                    return Ok(());
                }
                replaced[usize::from(owner.level)] = Some(at);
                entries = node.entries;
            }
            entries[digit as usize] = entry;
            (owner, entry) = (parent, Entry::At(self.write_node(parent, &entries, Stream::Map)?));
        }
        self.space.log.set_root(entry)?;
        self.remove_nodes(replaced);
        Ok(())
    }

    /// Tells the listener that what is in an object's sector changes, or that the sector is given up.
    pub(crate) fn invalidate(&mut self, header: &Header) {
        if L::LISTENS && header.generation != DIRECTORY {
            self.listener.invalidated(Ref::new(header.index, header.generation));
        }
    }

    /// Tells the listener of a sector that the map leads to no longer.
    ///
    /// Reads its header, where anybody listens.
    pub(crate) fn led_away(&mut self, before: Entry, now: Entry) -> Result<(), StoreError<D::Error>> {
        let Entry::At(sector) = before else { return Ok(()) };
        if !L::LISTENS || before == now {
            return Ok(());
        }
        match self.find_header(sector) {
            Ok(Some(header)) => self.invalidate(&header),
            // Nobody knows whose it was.
            Ok(None) | Err(StoreError::Corrupted) => self.listener.all_invalidated(),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Makes the tree high enough for an owner; each new root is complete by itself.
    fn grow(&mut self, owner: Owner) -> Result<(), StoreError<D::Error>> {
        while self.top == 0 || !self.covers(owner) {
            let mut entries = EMPTY;
            entries[0] = self.space.log.root();
            let root = self.write_node(Owner { level: self.top + 1, index: 0 }, &entries, Stream::Map)?;
            self.space.log.set_root(Entry::At(root))?;
            self.top += 1;
            self.space.has_large_map = usize::from(self.top) == LEVELS_MAX;
        }
        Ok(())
    }

    fn program_change(&mut self, node: Granule, number: u32, change: Change) -> Result<(), StoreError<D::Error>> {
        let (first, _) = self.spares(node);
        let place = Place::encode(self.space.log.units.geometry().granule_bytes, change.to_content(), &[]);
        self.medium().program_place(first.offset(number), &place)
    }

    pub(crate) fn remove_nodes<const N: usize>(&mut self, nodes: [Option<Granule>; N]) {
        let granules = self.space.log.units.geometry().node_granules();
        for node in nodes.into_iter().flatten() {
            self.space.log.units.remove_live(node, granules);
        }
    }

    /// Writes a node to which nothing leads yet.
    pub(crate) fn write_node(
        &mut self,
        owner: Owner,
        entries: &[Entry; FANOUT as usize],
        stream: Stream,
    ) -> Result<Granule, StoreError<D::Error>> {
        let geometry = self.space.log.units.geometry();
        let node = self.space.allocate(stream, geometry.node_granules())?;
        let (level, tail) = (u16::from(owner.level), geometry.spares());
        let (index, generation) = (owner.index, level);
        let header =
            Header { kind: SectorKind::Node, class: Class::Object, index, generation, count: 0, width: 0, tail };
        let mut bytes = [0xFF; NODE_BYTES];
        bytes[..HEADER_BYTES as usize].copy_from_slice(&header.encode());
        for (bytes, entry) in bytes[HEADER_BYTES as usize..].chunks_exact_mut(ENTRY_BYTES as usize).zip(entries) {
            bytes.copy_from_slice(&entry.to_bits().to_le_bytes()[..ENTRY_BYTES as usize]);
        }
        let bare = (geometry.node_granules() - u32::from(geometry.spares())) * geometry.granule_bytes;
        if geometry.detects() {
            put_check(&mut bytes[..bare as usize], Crc::new());
        }
        self.medium().program(node, &bytes[..bare as usize])?;
        Ok(node)
    }
}

/// Settling after an unclean stop.
impl<D: Nor, M: UnitRows, L: Listener> Map<D, M, L> {
    /// The path to the owner of the log's last intent, as it reads now; `None` where the tree does not reach it.
    pub(crate) fn doubt_of(&mut self, intent: Intent) -> Result<Option<Doubt>, StoreError<D::Error>> {
        let owner = intent.owner();
        if self.top == 0 || !self.covers(owner) {
            return Ok(None);
        }
        let mut path = [Entry::Nowhere(NEVER); LEVELS_MAX + 1];
        path[usize::from(self.top)] = self.space.log.root();
        for level in (owner.level..self.top).rev() {
            if let Entry::At(node) = path[usize::from(level) + 1] {
                path[usize::from(level)] = self.entry(node, owner.ancestor(level), Spares::InDoubt)?;
            }
        }
        Ok(Some(Doubt { intent, path, top: self.top }))
    }
}
