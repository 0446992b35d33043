//! How much a dump shows.

use norn_flash::EraseUnit;

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A row for each unit, and the log.
    Units,
    /// One unit in full.
    Unit(EraseUnit),
}
