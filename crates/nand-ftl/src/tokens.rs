//! Counters of tokens: a token is good for programming one page.
//!
//! Invariant: ρ = ρ_free + Σρ_T + Σρ_G + ρ_nr + ρ_reserve + ρ_journal ≤ Φ; no counter is ever negative.

/// Tokens that belong to no task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// ρ_free: for tasks to come.
    pub free: u32,
    /// ρ_nr: of tasks without deadlines.
    pub background: u32,
    /// For blocks that fail, and for collections after power cuts.
    pub reserve: u32,
    /// For the page of the checkpoint that has the journal at hand; 1 if a task without deadlines added to it.
    pub journal: u32,
}

/// Tokens of a task and its collector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskTokens {
    /// ρ_T.
    pub task: u32,
    /// ρ_G.
    pub collector: u32,
}

/// Takes tokens from a counter.
///
/// # Panics
/// If there are fewer tokens: the invariant was broken before.
pub(crate) fn take(counter: &mut u32, count: u32) {
    *counter = counter.checked_sub(count).expect("no counter of tokens is ever negative");
}

impl Pool {
    /// Takes as many of `wanted` as there are: from the reserve, then of those for tasks to come. Says how many it did
    /// not get.
    pub(crate) fn cover(&mut self, wanted: u32) -> u32 {
        let from_reserve = wanted.min(self.reserve);
        take(&mut self.reserve, from_reserve);
        let from_free = (wanted - from_reserve).min(self.free);
        take(&mut self.free, from_free);
        wanted - from_reserve - from_free
    }
}
