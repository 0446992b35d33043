//! What the suites report: of each rule, whether the device keeps it.

use core::fmt;

/// What became of a rule. `P` is a place on the part, `E` an error of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<P, E> {
    /// The device keeps it, as far as was tried.
    Kept,
    /// It does not.
    Broken {
        /// Where that shows first.
        place: P,
        /// The byte that was to be there, or what else the rule compares.
        expected: u32,
        /// What is there.
        found: u32,
    },
    /// A call that the contract allows failed.
    Failed {
        /// Where it was to do something.
        place: P,
        /// What it returned.
        error: E,
    },
    /// It was not tried, for this reason.
    NotTried(&'static str),
}

impl<P: fmt::Display, E: fmt::Debug> fmt::Display for Outcome<P, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Kept => f.write_str("kept"),
            Outcome::Broken { place, expected, found } => {
                write!(f, "BROKEN at {place}: {found:#04x} instead of {expected:#04x}")
            }
            Outcome::Failed { place, error } => write!(f, "FAILED at {place}: {error:?}"),
            Outcome::NotTried(reason) => write!(f, "not tried: {reason}"),
        }
    }
}

/// A rule, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding<R, P, E> {
    /// The rule.
    pub rule: R,
    /// What became of it.
    pub outcome: Outcome<P, E>,
}

impl<R: fmt::Display, P: fmt::Display, E: fmt::Debug> fmt::Display for Finding<R, P, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.outcome)
    }
}

/// How many rules had which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleCounts {
    /// Kept.
    pub kept: u8,
    /// Broken, or a call failed.
    pub broken: u8,
    /// Not tried.
    pub not_tried: u8,
}

impl RuleCounts {
    /// Whether every rule that was tried is kept.
    pub const fn all_kept(&self) -> bool {
        self.broken == 0
    }

    pub(crate) fn count<P, E>(&mut self, outcome: &Outcome<P, E>) {
        *match outcome {
            Outcome::Kept => &mut self.kept,
            Outcome::Broken { .. } | Outcome::Failed { .. } => &mut self.broken,
            Outcome::NotTried(_) => &mut self.not_tried,
        } += 1;
    }
}

/// What the contract leaves open, and a good driver does nevertheless: it refuses calls that no client of Norn makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defences {
    /// Make such calls, and expect that they are refused. A driver that checks nothing may program elsewhere, or stop
    /// the processor.
    Try,
    /// Make none.
    Leave,
}

/// The buffer has fewer bytes than are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferTooSmall {
    /// The bytes that it has to have.
    pub needed: usize,
}

impl fmt::Display for BufferTooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the buffer has to have {} bytes", self.needed)
    }
}

impl core::error::Error for BufferTooSmall {}
