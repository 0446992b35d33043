//! Thousandths of a sensor's unit, as text.

use std::fmt;

/// Thousandths with their point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Milli(pub i32);

impl fmt::Display for Milli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.0.unsigned_abs() / 1000, self.0.unsigned_abs() % 1000);
        f.pad(&format!("{sign}{whole}.{rest:03}"))
    }
}
