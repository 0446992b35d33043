//! The tests of `transactions.rs` on parts whose words may be programmed as often as one likes.

#[expect(clippy::duplicate_mod, reason = "the same tests on other parts")]
#[path = "transactions.rs"]
mod transactions;

use norn_flash_sim::{PartSpec, catalogue};

/// A part of this geometry.
pub fn part(units: u16, unit_bytes: u32) -> PartSpec {
    catalogue::test_part(units, unit_bytes)
}
