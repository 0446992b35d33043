//! What a board does with its store when it starts.

use norn_embedded::flash::Nor;

use crate::store::{Settings, Store, StoreError};

/// What a start found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The boots, this one included.
    pub boots: u32,
    /// The settings with which it runs.
    pub settings: Settings,
}

/// Opens the store and counts the boot. Every tenth boot makes the display brighter, for want of a user who does.
///
/// # Errors
/// The store's.
pub fn start<D: Nor>(part: D) -> Result<Start, StoreError<D::Error>> {
    let mut store = Store::open(part)?;
    let boots = store.count_boot()?;
    let mut settings = store.settings()?;
    if boots.is_multiple_of(10) {
        settings.brightness_percent = settings.brightness_percent.saturating_add(5).min(100);
        store.set(&settings)?;
    }
    Ok(Start { boots, settings })
}
