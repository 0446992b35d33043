//! Thousandths of a sensor's unit, as text.

use std::fmt;

/// Thousandths with their point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Milli(pub i32);

impl Milli {
    /// A number rounded to thousandths, if it is within what a log takes.
    pub fn of(value: f64) -> Option<Milli> {
        let milli = (value * 1e3).round();
        let is_within = milli.is_finite() && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&milli);
        is_within.then_some(Milli(milli as i32))
    }
}

impl fmt::Display for Milli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.0.unsigned_abs() / 1000, self.0.unsigned_abs() % 1000);
        f.pad(&format!("{sign}{whole}.{rest:03}"))
    }
}
