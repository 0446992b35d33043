//! Changes of the list's structure that leave its contents as they are.
//!
//! Replacing an object A (and B after it) by L (and R after that):
//! 1. make sure that each pointer that has to be set has room, and that there are free cells;
//! 2. write and seal R, then L, whose header names A, and B or R: from here on the change is made;
//! 3. on each level, let the last object before A point to the first of L and R that is linked there, or to what
//!    followed A and B;
//! 4. mark A and B dead; settle R, then L.
//!
//! Taking D out: mark it doomed (from here on the change is made), let the last object before it lead to what follows
//! it on each level, mark it dead. `ring.rs` takes the first objects out together.
//!
//! | what a cut leaves | cause | recovery |
//! |---|---|---|
//! | a cell that is not sealed | during 2 | mark it dead |
//! | R sealed, not settled, and no L | between R and L | mark R dead |
//! | L sealed, not settled | during 3 or 4 | do 3 and 4 again |
//! | D doomed | while taking D out | take D out again |
//! | keys of a left neighbour beyond its range | while shifting, before D was doomed | clear their bits |
//!
//! Invariants: step 3 asks flash what is to be done, so that doing it twice does no harm; low keys of objects never
//! change, and L has A's, so that searches for the objects before A do not reach objects that are half replaced.

use norn_flash::Nor;

use crate::error::Outcome;
use crate::fat_list::format::{Column, Flag, Kind, Stamp};
use crate::fat_list::ground::cells::draft::Draft;
use crate::fat_list::ground::cells::{Cells, Links};
use crate::fat_list::ground::medium::Medium;
use crate::fat_list::layout::{Cell, Layout};
use crate::fat_list::search::{Node, Path, SkipList};
use crate::fat_list::widths::Widths;

/// An object that is about to be replaced, and what follows it.
#[derive(Clone, Copy)]
pub(crate) struct Old<K> {
    pub node: Node<K>,
    /// The object after it, if it is replaced, too.
    pub merged: Option<Node<K>>,
}

/// The right half of a split.
pub(crate) struct Right<K> {
    pub cell: Cell,
    pub level: u8,
    pub low: K,
}

/// Objects that take the place of others.
#[derive(Clone, Debug)]
pub(crate) struct Replacements<D, W: Widths> {
    pub list: SkipList<D, W>,
}

impl<D: Nor, W: Widths> Replacements<D, W> {
    pub fn new(medium: Medium<D>, layout: Layout, widths: W) -> Self {
        Replacements { list: SkipList::new(medium, layout, widths) }
    }

    fn layout(&self) -> &Layout {
        self.list.layout()
    }

    fn cells(&mut self) -> &mut Cells<D, W> {
        self.list.cells()
    }

    /// Where the pointer of `level` from `old`, or from the object before it, leads.
    pub fn continuation(&mut self, old: Option<&Old<W::Key>>, path: &Path, level: u8) -> Outcome<Column, D> {
        let merged = old.and_then(|old| old.merged).filter(|node| node.level >= level);
        let node = merged.or_else(|| old.map(|old| old.node).filter(|node| node.level >= level));
        match node {
            Some(node) => self.cells().pointer(node.cell, node.kind(), level),
            None => {
                let before = path[usize::from(level)];
                let kind = self.cells().stamp_regardless(before)?.kind;
                self.cells().pointer(before, kind, level)
            }
        }
    }

    /// Step 2 for L, and 3 and 4: L takes the level and the low key of `old`.
    pub fn write_left(
        &mut self,
        old: Old<W::Key>,
        path: &Path,
        cell: Cell,
        right: Option<&Right<W::Key>>,
    ) -> Outcome<(), D> {
        let Old { node, merged } = old;
        let kind = match (node.low, merged) {
            (None, _) => Kind::Head,
            (_, Some(_)) => Kind::Merged,
            _ => Kind::Object,
        };
        let stamp = Stamp { level: node.level, kind, settled: false, doomed: false };
        let partner = merged.map(|node| node.cell).or(right.map(|right| right.cell));
        let mut draft =
            self.cells().draft(cell, stamp, node.low.as_ref(), Links { replaces: Some(node.cell), partner })?;
        self.draft_left_pointers(&mut draft, &old, path, right)?;
        if kind != Kind::Head {
            self.cells().draft_slots(&mut draft, node.cell, |key| right.is_none_or(|right| *key < right.low))?;
        }
        if let Some(merged) = merged {
            self.cells().draft_slots(&mut draft, merged.cell, |_| true)?;
        }
        self.cells().seal(draft)?;
        self.finish(cell)
    }

    fn draft_left_pointers(
        &mut self,
        draft: &mut Draft<W>,
        old: &Old<W::Key>,
        path: &Path,
        right: Option<&Right<W::Key>>,
    ) -> Outcome<(), D> {
        for level in 0..=draft.level {
            let column = match right {
                Some(right) if level <= right.level => self.layout().column_of(right.cell),
                _ if draft.kind == Kind::Head && self.list.successor(&old.node, level)?.is_none() => {
                    self.layout().column_of(draft.cell)
                }
                _ => self.continuation(Some(old), path, level)?,
            };
            self.cells().draft_pointer(draft, level, column)?;
        }
        Ok(())
    }

    /// Steps 3 and 4 for the object in `left`, as its header says.
    pub fn finish(&mut self, left: Cell) -> Outcome<(), D> {
        let links = self.cells().links(left)?;
        let stamp = self.cells().stamp_regardless(left)?;
        let is_merge = stamp.kind == Kind::Merged;
        let right = links.partner.filter(|_| !is_merge);
        let merged = links.partner.filter(|_| is_merge);
        let low = if stamp.kind == Kind::Head { None } else { Some(self.cells().low(left)?) };
        let path = self.list.path_before(low.as_ref())?;
        for level in 0..self.layout().settings.levels {
            let before = path[usize::from(level)];
            if Some(before) == links.replaces {
                continue; // The old head, on a level without objects.
            }
            let mut column = None;
            for (cell, is_new) in [(Some(left), true), (right, true), (merged, false), (links.replaces, false)] {
                let Some(cell) = cell else { continue };
                let found = self.cells().stamp_regardless(cell)?;
                if found.level >= level {
                    column = Some(if is_new {
                        self.layout().column_of(cell)
                    } else {
                        self.cells().pointer(cell, found.kind, level)?
                    });
                    break;
                }
            }
            let Some(column) = column else { break };
            self.link_before(before, level, column)?;
        }
        for old in [links.replaces, merged].into_iter().flatten() {
            self.cells().set_flag(old, Flag::Dead)?;
        }
        if stamp.kind == Kind::Head {
            self.list.set_head(left);
        }
        for new in [right, Some(left)].into_iter().flatten() {
            self.cells().set_flag(new, Flag::Settled)?;
        }
        Ok(())
    }

    pub fn take_out(&mut self, cell: Cell) -> Outcome<(), D> {
        self.cells().set_flag(cell, Flag::Doomed)?;
        self.finish_taking_out(cell)
    }

    /// Lets every object before the doomed one in `cell` lead to what follows it, and marks it dead.
    pub fn finish_taking_out(&mut self, cell: Cell) -> Outcome<(), D> {
        let Some(Node { low: Some(low), level, .. }) = self.list.node(cell)? else {
            return Err(self.cells().damage(cell, 0, "a doomed cell that is not an object"));
        };
        let path = self.list.path_before(Some(&low))?;
        for level in 0..=level {
            let column = self.cells().pointer(cell, Kind::Object, level)?;
            self.link_before(path[usize::from(level)], level, column)?;
        }
        self.cells().set_flag(cell, Flag::Dead)
    }

    /// Lets `before` lead to `column`, if it does not yet.
    pub fn link_before(&mut self, before: Cell, level: u8, column: Column) -> Outcome<(), D> {
        let kind = self.cells().stamp_regardless(before)?.kind;
        if self.cells().pointer(before, kind, level)? == column {
            return Ok(());
        }
        self.cells().set_pointer(before, kind, level, column)
    }
}
