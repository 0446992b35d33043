//! The one export: a store under a lock, and what handshakes say of it without waiting for the lock.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

use crate::store::BlockStore;

/// A store, as all conversations share it.
#[derive(Debug)]
pub struct Export<S> {
    pub(crate) size_bytes: u64,
    pub(crate) preferred_bytes: u32,
    store: Mutex<S>,
}

impl<S: BlockStore> Export<S> {
    /// Exports a store.
    pub fn new(store: S) -> Self {
        let (size_bytes, preferred_bytes) = (store.size_bytes(), store.preferred_bytes());
        Export { size_bytes, preferred_bytes, store: Mutex::new(store) }
    }

    /// Gives the store back.
    pub fn into_store(self) -> S {
        self.store.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the store.
    pub(crate) fn store(&self) -> LockResult<MutexGuard<'_, S>> {
        self.store.lock()
    }
}
