//! What every simulated part keeps besides its cells: what it has done, how long that took, and when its power goes.
//!
//! `Counts` is what the kind of part counts, `Place` where an operation hits it, `Shape` how a cut tears one.
//!
//! Invariants: counters and time do not change while they are frozen, the number of operations does not; from a cut on,
//! the power is off until [`power_on`](Instrument::power_on).

use crate::tear::Tear;

/// Counters, time and power of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instrument<Counts, Place, Shape = Tear> {
    state: State<Counts>,
    frozen: bool,
    refusals: u64,
    /// The planned cut: the number of the operation that it hits, and how that is torn.
    cut: Option<(u64, Shape)>,
    off: bool,
    torn: Option<(Place, Shape)>,
}

/// What outlives the process in an image file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State<Counts> {
    pub counters: Counts,
    pub elapsed_ns: u64,
    pub operations: u64,
}

impl<Counts: Copy + Default, Place: Copy, Shape: Copy> Instrument<Counts, Place, Shape> {
    /// The instrument of a part that has done nothing yet, or of one in an image file; its power is on.
    pub fn new(state: State<Counts>) -> Self {
        Instrument { state, frozen: false, refusals: 0, cut: None, off: false, torn: None }
    }

    pub fn state(&self) -> State<Counts> {
        self.state
    }

    pub fn freeze(&mut self) {
        self.frozen = true;
    }

    pub fn thaw(&mut self) {
        self.frozen = false;
    }

    pub fn refusals(&self) -> u64 {
        self.refusals
    }

    /// Counts a call that the contract does not allow.
    pub fn refuse(&mut self) {
        self.refusals += 1;
    }

    pub fn is_off(&self) -> bool {
        self.off
    }

    /// Where the last loss of power hit, and how.
    pub fn torn(&self) -> Option<(Place, Shape)> {
        self.torn
    }

    /// Returns where the current loss of power hits, and how.
    pub fn tear(&mut self, place: Place, shape: Shape) {
        self.torn = Some((place, shape));
    }

    /// Plans a loss of power: `operations` more go through, the next one is torn.
    pub fn cut_power_after(&mut self, operations: u64, shape: Shape) {
        self.cut = Some((self.state.operations.saturating_add(operations), shape));
    }

    /// Turns the power on again, and drops a planned cut.
    pub fn power_on(&mut self) {
        (self.cut, self.off) = (None, false);
    }

    /// Counts what `work` counts, which returns the time that it takes in nanoseconds.
    #[inline]
    pub fn count(&mut self, work: impl FnOnce(&mut Counts) -> u64) {
        if !self.frozen {
            self.state.elapsed_ns += work(&mut self.state.counters);
        }
    }

    /// Counts `operations` further operations that a cut may hit. If the planned one is among them, the power is off
    /// from then on; says how many operations come before it, and how it tears.
    pub fn advance(&mut self, operations: u64) -> Option<(u64, Shape)> {
        let before = self.state.operations;
        self.state.operations += operations;
        let (at, shape) = self.cut.filter(|&(at, _)| at < self.state.operations)?;
        self.state.operations = at + 1;
        (self.cut, self.off) = (None, true);
        Some((at - before, shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_hits_the_planned_operation_and_the_power_stays_off() {
        let mut instrument: Instrument<u64, ()> = Instrument::new(State::default());
        instrument.cut_power_after(5, Tear::Nothing);
        assert_eq!(instrument.advance(5), None);
        assert_eq!((instrument.advance(4), instrument.is_off()), (Some((0, Tear::Nothing)), true));
        assert_eq!(instrument.state().operations, 6, "those behind the cut did not happen");
        instrument.power_on();
        assert_eq!((instrument.advance(9), instrument.is_off()), (None, false));
        instrument.cut_power_after(2, Tear::Complete);
        assert_eq!(instrument.advance(3), Some((2, Tear::Complete)));
    }

    #[test]
    fn frozen_counters_and_time_stand_still() {
        let mut instrument: Instrument<u64, ()> = Instrument::new(State::default());
        let count = |counters: &mut u64| {
            *counters += 1;
            70
        };
        instrument.count(count);
        instrument.freeze();
        instrument.count(count);
        instrument.advance(1);
        instrument.thaw();
        instrument.count(count);
        assert_eq!(instrument.state(), State { counters: 2, elapsed_ns: 140, operations: 1 });
    }
}
