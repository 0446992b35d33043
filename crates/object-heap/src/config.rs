//! The configuration that an image remembers.

use norn_nor_store::{DeltaRecords, ErrorDetection, StoreConfig};

/// Whether objects have initialization flags: a bit a field that spares programming default values when an object is
/// created, at the price of the flags' space in each object descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitializationFlags {
    /// A field's default value (zeros) is not programmed until an update.
    On,
    /// Default values are programmed at creation.
    Off,
}

/// What an image is formatted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Most records of an object's list, at least 1. Longer lists make updates cheaper and objects larger.
    pub list_length_max: u8,
    /// Whether objects have initialization flags.
    pub initialization_flags: InitializationFlags,
    /// Most elements of an array that is kept like an object, and of a section of a longer one; at least 1.
    pub array_threshold: u8,
    /// Most erase units that the log may take while a transaction is open, 2 to 8. One unit of *n* bytes holds *n*/8
    /// entries; an updated object takes three to five.
    pub log_units: u8,
    /// Wear levelling: reclaim a random unit once per N reclamations on average, so that static data moves; 0 is off.
    pub wear_period: u16,
    /// Whether flipped bits are noticed: [`Corrupted`](crate::StoreError::Corrupted) instead of a wrong value. Costs a
    /// byte a field and record, a word a field update, and reads; and there are no delta records.
    pub error_detection: ErrorDetection,
    /// Whether lists of records may grow by delta records. With error detection they never do.
    pub delta_records: DeltaRecords,
}

impl Config {
    /// The configuration of TinyStore's evaluation (section 6.2): lists of at most 2 records, initialization flags on,
    /// arrays of more than 255 elements split, no error detection, no delta records. The structure is the published one
    /// but for its trees, which find a node by a key's digits instead of comparing keys.
    pub const fn tinystore_2006() -> Config {
        Config {
            list_length_max: 2,
            initialization_flags: InitializationFlags::On,
            array_threshold: 255,
            log_units: 2,
            wear_period: 64,
            error_detection: ErrorDetection::Off,
            delta_records: DeltaRecords::Off,
        }
    }

    /// The same, as it takes effect.
    pub(crate) fn consistent(self) -> Config {
        match self.error_detection {
            ErrorDetection::On => Config { delta_records: DeltaRecords::Off, ..self },
            ErrorDetection::Off => self,
        }
    }

    pub(crate) fn settings(&self) -> StoreConfig {
        let flags = match self.initialization_flags {
            InitializationFlags::On => 1,
            InitializationFlags::Off => 0,
        };
        StoreConfig {
            log_units: self.log_units,
            wear_period: self.wear_period,
            error_detection: self.error_detection,
            delta_records: self.delta_records,
            client: [u32::from(self.list_length_max) | flags << 8 | u32::from(self.array_threshold) << 9, 0],
        }
    }

    /// The configuration that `settings` hold, or `None` if a newer version wrote them.
    pub(crate) fn from_settings(settings: &StoreConfig) -> Option<Config> {
        let [word, reserved] = settings.client;
        if word >> 17 != 0 || word & 0xFF == 0 || word >> 9 & 0xFF == 0 || reserved != 0 {
            return None;
        }
        Some(Config {
            list_length_max: word as u8,
            initialization_flags: if word >> 8 & 1 == 1 { InitializationFlags::On } else { InitializationFlags::Off },
            array_threshold: (word >> 9) as u8,
            log_units: settings.log_units,
            wear_period: settings.wear_period,
            error_detection: settings.error_detection,
            delta_records: settings.delta_records,
        })
    }
}

impl Default for Config {
    /// The configuration of TinyStore's evaluation, but with delta records.
    fn default() -> Self {
        Config { delta_records: DeltaRecords::On, ..Config::tinystore_2006() }
    }
}
