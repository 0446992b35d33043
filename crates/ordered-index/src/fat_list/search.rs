//! Following soft pointers: finding the object of a key, predecessors, successors, and steps of cursors.
//!
//! Dereferencing a soft pointer probes the cells of one number in all blocks of a turnstile (the paper's Figures 7, 8
//! and 12). Of what is found there, the *target object* is the live object on the level whose low key is the least above
//! the current one's: between an object and its successor there is no other object of the level. The others are its
//! *buddy objects*. A search may go on to any object that lies before the key. The low key never changes; it takes the
//! place of the paper's min-max area.
//!
//! Invariants: a search moves to higher low keys only, so that it ends on any flash content; a pointer leads to something beyond the
//! current object, or to the head, or the list is damaged.

use core::ops::Bound;

use norn_flash::Nor;

use crate::fat_list::format::{Kind, LEVELS_MAX};
use crate::fat_list::layout::Cell;
use crate::fat_list::list::{FatList, Outcome};
use crate::index::{Entry, Hint};

/// An object that a search has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node<const K: usize> {
    pub cell: Cell,
    pub level: u8,
    /// Below its low key an object has nothing; the head has none, and is below all keys.
    pub low: Option<[u8; K]>,
}

impl<const K: usize> Node<K> {
    pub fn kind(&self) -> Kind {
        if self.low.is_none() { Kind::Head } else { Kind::Object }
    }
}

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit<'a, const K: usize> {
    /// To the last object whose low key is below this key.
    Below(&'a [u8; K]),
    /// To the last one whose low key is this key or below.
    AtMost(&'a [u8; K]),
    /// To the last one.
    End,
}

impl<const K: usize> Limit<'_, K> {
    fn admits(&self, low: &[u8; K]) -> bool {
        match self {
            Limit::Below(key) => low < key,
            Limit::AtMost(key) => low <= key,
            Limit::End => true,
        }
    }
}

/// The last object before a limit on each level.
pub(crate) type Path = [Cell; LEVELS_MAX];

impl<D: Nor, const K: usize, const V: usize> FatList<D, K, V> {
    pub(crate) fn head_node(&self) -> Node<K> {
        Node { cell: self.head, level: self.layout.settings.levels - 1, low: None }
    }

    /// The live object in a cell.
    pub(crate) fn node(&mut self, cell: Cell) -> Outcome<Option<Node<K>>, D> {
        let Some(stamp) = self.live(cell)? else {
            return Ok(None);
        };
        let low = if stamp.kind == Kind::Head { None } else { Some(self.low(cell)?) };
        Ok(Some(Node { cell, level: stamp.level, low }))
    }

    /// The last object before `limit`.
    pub(crate) fn descend(&mut self, limit: Limit<'_, K>) -> Outcome<Node<K>, D> {
        let mut path = [self.head; LEVELS_MAX];
        self.trace(limit, &mut path)
    }

    /// The same; `path` takes the last object before `limit` on each level.
    pub(crate) fn trace(&mut self, limit: Limit<'_, K>, path: &mut Path) -> Outcome<Node<K>, D> {
        let mut node = self.head_node();
        for level in (0..self.layout.settings.levels).rev() {
            while let Some(next) = self.skip(&node, level, limit)? {
                node = next;
            }
            path[usize::from(level)] = node.cell;
        }
        Ok(node)
    }

    /// Moves on from `node`, to the first object found that lies before `limit` (Figure 8).
    fn skip(&mut self, node: &Node<K>, level: u8, limit: Limit<'_, K>) -> Outcome<Option<Node<K>>, D> {
        let column = self.pointer(node.cell, node.kind(), level)?;
        self.probes.pointers = self.probes.pointers.wrapping_add(1);
        let mut leads_on = false;
        for unit in self.layout.units_of(column.turnstile) {
            match self.probe(Cell { unit, index: column.index }, node, level)? {
                Probe::Ahead(next) if next.low.is_some_and(|low| limit.admits(&low)) => {
                    self.probes.successful = self.probes.successful.wrapping_add(1);
                    return Ok(Some(next));
                }
                Probe::Ahead(_) => {
                    self.probes.over = self.probes.over.wrapping_add(1);
                    leads_on = true;
                }
                Probe::Head => leads_on = true,
                Probe::Useless => {}
            }
        }
        match leads_on {
            true => Ok(None),
            false => Err(self.leads_nowhere(node)),
        }
    }

    fn leads_nowhere(&self, node: &Node<K>) -> crate::error::IndexError<D::Error> {
        self.damage(node.cell, self.layout.pool_offset, "a pointer that leads nowhere")
    }

    /// Looks at one cell that a pointer of `node` may mean (Figure 12).
    fn probe(&mut self, cell: Cell, node: &Node<K>, level: u8) -> Outcome<Probe<K>, D> {
        let Some(stamp) = self.live(cell)? else {
            self.probes.null = self.probes.null.wrapping_add(1);
            return Ok(Probe::Useless);
        };
        if stamp.kind == Kind::Head {
            return Ok(Probe::Head);
        }
        if stamp.level < level {
            self.probes.low = self.probes.low.wrapping_add(1);
            return Ok(Probe::Useless);
        }
        let low = Some(self.low(cell)?);
        if low <= node.low {
            self.probes.back = self.probes.back.wrapping_add(1);
            return Ok(Probe::Useless);
        }
        Ok(Probe::Ahead(Node { cell, level: stamp.level, low }))
    }

    /// The next object on `level`; `None` behind the last one.
    pub(crate) fn successor(&mut self, node: &Node<K>, level: u8) -> Outcome<Option<Node<K>>, D> {
        let column = self.pointer(node.cell, node.kind(), level)?;
        let (mut nearest, mut is_end) = (None::<Node<K>>, false);
        for unit in self.layout.units_of(column.turnstile) {
            match self.probe(Cell { unit, index: column.index }, node, level)? {
                Probe::Ahead(next) if nearest.is_none_or(|nearest| next.low < nearest.low) => nearest = Some(next),
                Probe::Head => is_end = true,
                Probe::Ahead(_) | Probe::Useless => {}
            }
        }
        match nearest {
            None if !is_end => Err(self.leads_nowhere(node)),
            nearest => Ok(nearest),
        }
    }

    /// From any object to the head: to the right and to higher levels, and from the last object on one step further. `None` if damage
    /// or a cut leaves no way.
    ///
    /// Cost: as many objects as the levels' pointers skip, each with a probe of its column.
    pub(crate) fn climb(&mut self, start: Node<K>) -> Outcome<Option<Cell>, D> {
        let mut node = start;
        loop {
            let level = node.level;
            let column = self.pointer(node.cell, node.kind(), level)?;
            let (mut next, mut head) = (None, None);
            for unit in self.layout.units_of(column.turnstile) {
                let cell = Cell { unit, index: column.index };
                match self.probe(cell, &node, level)? {
                    Probe::Ahead(found) => {
                        next = Some(found);
                        break;
                    }
                    Probe::Head => head = Some(cell),
                    Probe::Useless => {}
                }
            }
            match next {
                Some(found) => node = found,
                None => return Ok(head),
            }
        }
    }

    // Steps of cursors.

    /// The object in which a cursor goes on: where the step before ended, or where `limit` leads.
    fn resume(&mut self, hint: &Hint, limit: Limit<'_, K>) -> Outcome<Node<K>, D> {
        if let Some(cell) = hint.0.map(Cell::from_u32)
            && let Some(node) = self.node(cell)?
        {
            return Ok(node);
        }
        self.descend(limit)
    }

    pub(crate) fn step_forwards(&mut self, bound: Bound<&[u8; K]>, hint: &mut Hint) -> Outcome<Option<Entry<K, V>>, D> {
        let mut node = match bound {
            Bound::Unbounded => self.head_node(),
            Bound::Included(key) | Bound::Excluded(key) => self.resume(hint, Limit::AtMost(key))?,
        };
        loop {
            if node.low.is_some() {
                let best = self.best(node.cell, |key, best| {
                    let is_above = match bound {
                        Bound::Included(start) => key >= start,
                        Bound::Excluded(start) => key > start,
                        Bound::Unbounded => true,
                    };
                    is_above && best.is_none_or(|best| key < best)
                })?;
                if let Some(slot) = best {
                    *hint = Hint(Some(node.cell.to_u32()));
                    return Ok(Some(self.entry(node.cell, slot)?));
                }
            }
            match self.successor(&node, 0)? {
                Some(next) => node = next,
                None => return Ok(None),
            }
        }
    }

    pub(crate) fn step_backwards(
        &mut self,
        bound: Bound<&[u8; K]>,
        hint: &mut Hint,
    ) -> Outcome<Option<Entry<K, V>>, D> {
        let mut node = match bound {
            Bound::Unbounded => self.descend(Limit::End)?,
            Bound::Included(key) | Bound::Excluded(key) => self.resume(hint, Limit::AtMost(key))?,
        };
        while let Some(low) = node.low {
            let best = self.best(node.cell, |key, best| {
                let is_below = match bound {
                    Bound::Included(end) => key <= end,
                    Bound::Excluded(end) => key < end,
                    Bound::Unbounded => true,
                };
                is_below && best.is_none_or(|best| key > best)
            })?;
            if let Some(slot) = best {
                *hint = Hint(Some(node.cell.to_u32()));
                return Ok(Some(self.entry(node.cell, slot)?));
            }
            node = self.descend(Limit::Below(&low))?;
        }
        Ok(None)
    }

    /// The slot whose key `is_better` than that of those before it.
    fn best(&mut self, cell: Cell, is_better: impl Fn(&[u8; K], Option<&[u8; K]>) -> bool) -> Outcome<Option<u8>, D> {
        let survey = self.survey(cell)?;
        let mut best: Option<(u8, [u8; K])> = None;
        for slot in survey.slots() {
            let key = self.key_at(cell, slot)?;
            if is_better(&key, best.as_ref().map(|(_, key)| key)) {
                best = Some((slot, key));
            }
        }
        Ok(best.map(|(slot, _)| slot))
    }
}

/// What a cell that a pointer may mean turns out to be.
enum Probe<const K: usize> {
    /// An object of the level beyond the current one.
    Ahead(Node<K>),
    /// The head: behind the last object.
    Head,
    /// Nothing of the three.
    Useless,
}
