//! What a mounted map knows: the device, which leaf is the newest, which unit the next one takes, and where the last
//! call worked.
//!
//! Invariants: the unit of the next leaf holds nothing that counts, and is the only one that may be half erased; all
//! state can be rebuilt from flash.

use norn_flash::{EraseUnit, Nor};

use super::flash::Flash;
use super::format::{Facts, Kind};
use super::layout::Layout;

/// A leaf that counts, and for which keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf<const K: usize> {
    pub unit: EraseUnit,
    pub sequence: u32,
    /// The least key for which it counts.
    pub low: [u8; K],
    /// The least key beyond: that of the next leaf.
    pub high: Option<[u8; K]>,
}

/// How the places of a leaf are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Records, from the first place on.
    pub written: u16,
    /// Those of them that ascend.
    pub ascending: u16,
    /// Floors, from the last place on.
    pub floors: u16,
    /// Whether a cut has left something after the records, or may have: the leaf takes none further.
    pub is_closed: bool,
}

impl Shape {
    /// What a further record changes.
    pub fn add(&mut self, kind: Kind, ascends: bool) {
        match kind {
            Kind::Floor => self.floors += 1,
            _ => self.written += 1,
        }
        self.ascending += u16::from(ascends);
    }
}

/// All leaves of a map.
#[derive(Clone, Debug)]
pub(super) struct Leaves<D, const K: usize, const V: usize> {
    pub flash: Flash<D>,
    pub layout: Layout,
    /// The number of the newest leaf, and its unit.
    pub newest: (u32, EraseUnit),
    /// Leaves with lower numbers may end in a program that was cut: nothing is programmed after it.
    pub session: u32,
    /// The unit of the next leaf.
    pub next: EraseUnit,
    pub next_erases: u32,
    /// Whether it was erased in this session.
    pub next_is_erased: bool,
    /// Keys below this one do not count.
    pub floor: Option<[u8; K]>,
    /// Leaves that count.
    pub count: u16,
    /// The leaf where the last call worked.
    pub entered: Option<(Leaf<K>, Shape)>,
}

impl<D: Nor, const K: usize, const V: usize> Leaves<D, K, V> {
    pub fn new(flash: Flash<D>, layout: Layout) -> Self {
        Leaves {
            flash,
            layout,
            newest: (0, EraseUnit(0)),
            session: 0,
            next: EraseUnit(0),
            next_erases: 0,
            next_is_erased: false,
            floor: None,
            count: 0,
            entered: None,
        }
    }

    pub fn facts(&self) -> &Facts {
        &self.layout.facts
    }

    /// `key`, or the floor if that is above it.
    pub fn above_floor(&self, key: [u8; K]) -> [u8; K] {
        self.floor.map_or(key, |floor| floor.max(key))
    }

    /// Whether a further leaf can be written without one that it replaces.
    pub fn can_grow(&self) -> bool {
        self.count + 1 < self.layout.facts.unit_count
    }

    /// Whether something was programmed into the leaf's unit in this session only.
    pub fn is_of_session(&self, leaf: &Leaf<K>) -> bool {
        leaf.sequence >= self.session
    }
}
