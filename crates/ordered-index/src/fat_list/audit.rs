//! The checker: walks a list and reports every invariant that does not hold.
//!
//! Between two operations:
//! - blocks and cells are as [their checker](crate::fat_list::ground::audit) says;
//! - each level's pointers lead through every object that is linked on it, in ascending order, and back to the head;
//! - an object's keys are in its range;
//! - if their number is known, there are as many.

use norn_flash::{Auditor, Nor};

use crate::error::Outcome;
use crate::fat_list::ground::audit::check;
use crate::fat_list::list::FatListOf;
use crate::fat_list::search::{Node, SkipList};
use crate::fat_list::widths::Widths;

impl<D: Nor, W: Widths> FatListOf<D, W> {
    /// Reports every invariant that does not hold. Cost: reads all that is in use, and each level's list.
    ///
    /// # Errors
    /// `Corrupted` where the walk cannot continue, and the device's.
    pub fn audit(&mut self, auditor: &mut impl Auditor) -> Outcome<(), D> {
        let list = self.skip_list();
        let hooked = list.turnstiles.audit(list.head(), auditor)?;
        for level in 0..list.layout().settings.levels {
            list.audit_level(level, hooked[usize::from(level)], auditor)?;
        }
        let (head, known) = (list.head(), list.known_keys()?);
        let (address, counted) = (list.layout().cell(head), self.count_each_key()?);
        check((known.is_none_or(|known| known == counted), "a wrong number of keys"), address, auditor);
        Ok(())
    }
}

impl<D: Nor, W: Widths> SkipList<D, W> {
    /// Walks one level's list, on which `hooked` objects should be.
    fn audit_level(&mut self, level: u8, hooked: u32, auditor: &mut impl Auditor) -> Outcome<(), D> {
        let (mut node, mut count) = (self.head_node(), 0);
        while let Some(next) = self.successor(&node, level)? {
            count += 1;
            if level == 0 {
                self.audit_range(&node, next.low, auditor)?;
            }
            node = next;
        }
        if level == 0 {
            self.audit_range(&node, None, auditor)?;
        }
        let address = self.layout().cell(node.cell);
        check((count == hooked, "a level's list without an object that hooks on the level"), address, auditor);
        let column = self.cells().pointer(node.cell, node.kind(), level)?;
        let leads_back = column == self.layout().column_of(self.head());
        check((leads_back, "a level whose last object does not lead to the head"), address, auditor);
        Ok(())
    }

    fn audit_range(&mut self, node: &Node<W::Key>, end: Option<W::Key>, auditor: &mut impl Auditor) -> Outcome<(), D> {
        if node.low.is_none() {
            return Ok(());
        }
        for slot in self.cells().survey(node.cell)?.slots() {
            let key = Some(self.cells().key_at(node.cell, slot)?);
            let is_within = key >= node.low && (end.is_none() || key < end);
            let address = self.cells().slot_address(node.cell, slot)?;
            check((is_within, "a key outside its object's range"), address, auditor);
        }
        Ok(())
    }
}
