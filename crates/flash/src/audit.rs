//! What checkers report: something on a part that must not be there, and where.

use core::fmt;

use crate::nor::Address;

/// Something on the part that no sequence of operations and power cuts leaves there, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation<P = Address> {
    /// Where.
    pub address: P,
    /// What is wrong there.
    pub what: &'static str,
}

impl<P: fmt::Display> fmt::Display for Violation<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.what, self.address)
    }
}

/// Takes what a checker finds.
pub trait Auditor<P = Address> {
    /// Takes a violation.
    fn violation(&mut self, violation: Violation<P>);

    /// Takes what reads as it should, but may be a sign of damage: a power cut can leave it, too. Nothing is done by
    /// default.
    fn notice(&mut self, _: Violation<P>) {}
}

/// Remembers what a walk has reached, since checkers do not allocate.
pub trait Marks<K> {
    /// Marks `key` as reached; returns whether it was before.
    fn mark(&mut self, key: K) -> bool;

    /// Whether `key` was marked.
    fn is_marked(&self, key: K) -> bool;
}

/// Everything that a checker found, and the marks that it requested.
#[cfg(feature = "alloc")]
#[derive(Clone, Debug)]
pub struct Collected<K = (), P = Address> {
    marked: alloc::collections::BTreeSet<K>,
    /// What is wrong, and where.
    pub violations: alloc::vec::Vec<Violation<P>>,
    /// What reads as it should, but may be a sign of damage.
    pub notices: alloc::vec::Vec<Violation<P>>,
}

#[cfg(feature = "alloc")]
impl<K, P> Default for Collected<K, P> {
    fn default() -> Self {
        Collected { marked: Default::default(), violations: Default::default(), notices: Default::default() }
    }
}

#[cfg(feature = "alloc")]
impl<K, P> Auditor<P> for Collected<K, P> {
    fn violation(&mut self, violation: Violation<P>) {
        self.violations.push(violation);
    }

    fn notice(&mut self, notice: Violation<P>) {
        self.notices.push(notice);
    }
}

#[cfg(feature = "alloc")]
impl<K: Ord, P> Marks<K> for Collected<K, P> {
    fn mark(&mut self, key: K) -> bool {
        !self.marked.insert(key)
    }

    fn is_marked(&self, key: K) -> bool {
        self.marked.contains(&key)
    }
}
