//! Named roots: how a program finds its objects after a reboot.
//!
//! A root is a sector with a reference and a name, in a tree of its own. There are few of them, so that a name is found
//! by looking through all: cheaper to keep than an order by name, and a program looks up a root once.

use norn_flash::Nor;
use norn_heap::{AccessError, Listener, NAME_BYTES_MAX, Ref};
use norn_nor_store::{Features, UnitRows};

use crate::heap::HeapIn;
use crate::root::Root;

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// Names `reference`, or removes the name. Part of the open transaction, if there is one. A name is 1 to 32 bytes.
    ///
    /// Cost: the reads of [`root`](Self::root); at most 20 words programmed, unless a tree node is copied.
    ///
    /// # Errors
    /// `NameLength`, `Stale`; the store's.
    pub fn set_root(&mut self, name: &[u8], reference: Option<Ref>) -> Result<(), AccessError<D::Error>> {
        let found = self.find_root(name)?;
        if let Some(reference) = reference {
            self.look_up(reference)?;
        }
        let set = self.checked().write_root(name, found.map(|root| root.key), reference);
        self.settle(set)
    }

    /// What `name` names; the reference is stale if that was deleted since.
    ///
    /// Cost: at most 30 reads for each root, up to the one wanted.
    ///
    /// # Errors
    /// `NameLength`; the store's.
    pub fn root(&mut self, name: &[u8]) -> Result<Option<Ref>, AccessError<D::Error>> {
        Ok(self.find_root(name)?.map(|root| root.reference))
    }

    /// Calls `visit` with every root's name and reference. Cost: at most 30 reads for each.
    ///
    /// # Errors
    /// The store's.
    pub fn visit_roots(&mut self, mut visit: impl FnMut(&[u8], Ref)) -> Result<(), AccessError<D::Error>> {
        self.expect_access()?;
        let mut from = 0;
        while let Some(root) = self.checked().next_root(from)? {
            visit(&root.name[..root.len], root.reference);
            from = root.key + 1;
        }
        Ok(())
    }

    fn find_root(&mut self, name: &[u8]) -> Result<Option<Root>, AccessError<D::Error>> {
        self.expect_access()?;
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            return Err(AccessError::NameLength(name.len()));
        }
        let mut from = 0;
        while let Some(root) = self.checked().next_root(from)? {
            if &root.name[..root.len] == name {
                return Ok(Some(root));
            }
            from = root.key + 1;
        }
        Ok(None)
    }
}
