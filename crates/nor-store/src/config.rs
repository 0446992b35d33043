//! The configuration that an image remembers.

use crate::detection::ErrorDetection;
use crate::features::Features;

/// Most units that the log may take.
pub(crate) const LOG_UNITS_MAX: u8 = 8;

/// Whether chains may end in delta sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaRecords {
    /// Lists of records grow by delta records, which hold new values of single fields in the order in which they were
    /// set: updates of few fields take less, and a transaction changes objects in place. With error detection it is as
    /// if they were off.
    On,
    /// Every record has a slot for each field, and a transaction makes a new representation of each object that it
    /// changes: TinyStore's structure.
    Off,
}

/// What an image is formatted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreConfig {
    /// Most erase units that the log may take while one transaction is open, 2 to 8. Each holds about an eighth of its
    /// bytes in entries.
    pub log_units: u8,
    /// Wear levelling: on average, one of this many reclamations is of a random unit; 0 turns it off.
    pub wear_period: u16,
    /// Whether flipped bits are noticed.
    pub error_detection: ErrorDetection,
    /// Whether chains may end in delta sectors.
    pub delta_records: DeltaRecords,
    /// Two words for the client.
    pub client: [u32; 2],
}

impl Default for StoreConfig {
    /// Two log units, and no other features.
    fn default() -> Self {
        StoreConfig {
            log_units: 2,
            wear_period: 0,
            error_detection: ErrorDetection::Off,
            delta_records: DeltaRecords::Off,
            client: [0; 2],
        }
    }
}

impl StoreConfig {
    /// How many values it is, as the log has them.
    pub(crate) const KEYS: u8 = 3;

    pub(crate) fn get(&self, key: u8) -> u32 {
        match key {
            0 => {
                let (detection, deltas) = (self.error_detection.is_on(), self.delta_records == DeltaRecords::On);
                let flags = u32::from(detection) | u32::from(deltas) << 1;
                u32::from(self.log_units) | u32::from(self.wear_period) << 8 | flags << 24
            }
            key => self.client[usize::from(key) - 1],
        }
    }

    /// Takes a value from flash; `None` for one that this version does not know.
    pub(crate) fn set(&mut self, key: u8, value: u32) -> Option<()> {
        if key == 0 {
            (self.log_units, self.wear_period) = (value as u8, (value >> 8) as u16);
            self.error_detection = if value >> 24 & 1 == 1 { ErrorDetection::On } else { ErrorDetection::Off };
            self.delta_records = if value >> 25 & 1 == 1 { DeltaRecords::On } else { DeltaRecords::Off };
            if value >> 26 != 0 {
                return None;
            }
            return self.validate().ok();
        }
        *self.client.get_mut(usize::from(key) - 1)? = value;
        Some(())
    }

    /// What it needs that a program has no code for.
    pub(crate) fn lacks<F: Features>(&self) -> Option<&'static str> {
        match self {
            StoreConfig { error_detection: ErrorDetection::On, .. } if !F::ERROR_DETECTION => Some("error detection"),
            StoreConfig { delta_records: DeltaRecords::On, .. } if !F::DELTA_RECORDS => Some("delta records"),
            _ => None,
        }
    }

    /// Whether a store can work by it, or why not.
    pub(crate) fn validate(&self) -> Result<(), &'static str> {
        match self.log_units {
            2..=LOG_UNITS_MAX => Ok(()),
            _ => Err("the log takes 2 to 8 units"),
        }
    }
}
