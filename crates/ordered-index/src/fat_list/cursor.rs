//! Steps of cursors: the next entry, forwards and backwards.

use core::ops::Bound;

use norn_flash::Nor;

use crate::error::Outcome;
use crate::fat_list::layout::Cell;
use crate::fat_list::search::{Limit, Node, SkipList};
use crate::fat_list::widths::{EntryOf, Widths};
use crate::index::Hint;

impl<D: Nor, W: Widths> SkipList<D, W> {
    /// The object in which a cursor continues: where the step before ended, or where `limit` leads.
    fn resume(&mut self, hint: &Hint, limit: Limit<'_, W::Key>) -> Outcome<Node<W::Key>, D> {
        if let Some(cell) = hint.0.map(Cell::from_u32)
            && let Some(node) = self.node(cell)?
        {
            return Ok(node);
        }
        self.descend(limit)
    }

    pub fn step_forwards(&mut self, bound: Bound<&W::Key>, hint: &mut Hint) -> Outcome<Option<EntryOf<W>>, D> {
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
                    return Ok(Some(self.cells().entry(node.cell, slot)?));
                }
            }
            match self.successor(&node, 0)? {
                Some(next) => node = next,
                None => return Ok(None),
            }
        }
    }

    pub fn step_backwards(&mut self, bound: Bound<&W::Key>, hint: &mut Hint) -> Outcome<Option<EntryOf<W>>, D> {
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
                return Ok(Some(self.cells().entry(node.cell, slot)?));
            }
            node = self.descend(Limit::Below(&low))?;
        }
        Ok(None)
    }

    /// The slot whose key `is_better` than that of those before it.
    fn best(&mut self, cell: Cell, is_better: impl Fn(&W::Key, Option<&W::Key>) -> bool) -> Outcome<Option<u8>, D> {
        let survey = self.cells().survey(cell)?;
        let mut best: Option<(u8, W::Key)> = None;
        for slot in survey.slots() {
            let key = self.cells().key_at(cell, slot)?;
            if is_better(&key, best.as_ref().map(|(_, key)| key)) {
                best = Some((slot, key));
            }
        }
        Ok(best.map(|(slot, _)| slot))
    }
}
