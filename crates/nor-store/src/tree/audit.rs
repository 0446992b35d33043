//! The checker of trees: the invariants of nodes, under a sentence each.

use norn_flash::{Auditor, Marks, Nor, Violation};

use super::Trees;
use crate::error::StoreError;
use crate::features::Features;
use crate::format::{NODE_SLOTS, NODE_SPARES, SectorKind, SectorPtr};
use crate::ground::table::UnitRows;
use crate::roots::{HEIGHT_MAX, TreeRoot};

impl<D: Nor, M: UnitRows, F: Features> Trees<D, M, F> {
    /// Checks a tree's nodes and marks them. What the tree holds is for the client, who knows its form. Cost: up to 18
    /// times 24 words read for each node.
    ///
    /// # Errors
    /// The device's.
    pub fn audit(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        root: TreeRoot,
    ) -> Result<(), StoreError<D::Error>> {
        // The path from the root down: a node and the digit to look at next, for each level.
        let mut path = [(None, 0); HEIGHT_MAX as usize];
        let mut level = root.height;
        if let Some(node) = root.node
            && self.audit_node(auditor, node)?
        {
            level -= 1;
            path[usize::from(level)] = (Some(node), 0);
        }
        while level < root.height {
            let (node, digit) = path[usize::from(level)];
            let Some(node) = node.filter(|_| digit < NODE_SLOTS) else {
                level += 1;
                continue;
            };
            path[usize::from(level)].1 += 1;
            let child = self.standing_child(node, digit)?;
            let Some(child) = child else {
                continue;
            };
            if level > 0 && self.audit_node(auditor, child)? {
                level -= 1;
                path[usize::from(level)] = (Some(child), 0);
            }
        }
        Ok(())
    }

    fn audit_node(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        node: SectorPtr,
    ) -> Result<bool, StoreError<D::Error>> {
        if !self.sectors().audit_sector(auditor, node, SectorKind::Node)? {
            return Ok(false);
        }
        let sector = self.sectors().get(node)?;
        let (mut children, mut spare_ended) = (0u32, false);
        for position in 0..NODE_SLOTS + NODE_SPARES {
            let address = self.versions.tree_word_address(&sector, position);
            let Some(word) = self.versions.find_tree_word(&sector, position)? else {
                auditor.violation(Violation { address, what: "a damaged tree word" });
                continue;
            };
            let is_spare = position >= NODE_SLOTS;
            let mut expect = |holds: bool, what| {
                if !holds {
                    auditor.violation(Violation { address, what });
                }
            };
            expect(!spare_ended || word.is_erased(), "a spare pointer used out of order");
            expect(!(word.stands() && word.is_open()), "an open word outside a transaction");
            expect(!word.stands() || is_spare || word.index() == position, "a slot with another slot's index");
            spare_ended |= is_spare && word.is_erased();
            if word.stands() {
                let bit = 1 << word.index();
                children = if word.pointer().is_some() { children | bit } else { children & !bit };
            }
        }
        if children == 0 {
            self.sectors().report(auditor, node, "a tree node without children");
        }
        Ok(true)
    }
}
