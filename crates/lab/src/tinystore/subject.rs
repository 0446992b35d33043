//! The heap under measurement, and what its simulated part has counted.

use norn_baselines::EepromHeap;
use norn_flash::Nor;
use norn_flash_sim::{Counters, EepromSim, NorSim, PartSpec, catalogue};
use norn_nor_remap::Remap;
use norn_object_heap::{Config, Heap, InitializationFlags, ObjectHeap, Ref};
use serde::{Deserialize, Serialize};

/// Erase units that a measured heap has room for.
const UNITS: usize = 256;

/// The heap on flash, on any device of which the simulated part can be seen.
pub type FlashHeap<D = NorSim, const MOST_UNITS: usize = UNITS> = Heap<D, MOST_UNITS>;
/// The heap on EEPROM.
pub type EepromSubject = EepromHeap<EepromSim>;

/// Which of the two heaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Medium {
    /// NOR flash.
    Flash,
    /// EEPROM, with a commit log as large as an erase unit.
    Eeprom,
}

/// Whether objects have initialization flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flags {
    /// They have.
    On,
    /// They have not.
    Off,
}

/// How lists of records grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Structure {
    /// By records with a slot for each field, as published.
    Published,
    /// By delta records where few fields change.
    DeltaRecords,
}

impl Structure {
    /// Both.
    pub const BOTH: [Structure; 2] = [Structure::Published, Structure::DeltaRecords];

    /// TinyStore's configuration with it.
    pub fn config(self) -> Config {
        match self {
            Structure::Published => Config::tinystore_2006(),
            Structure::DeltaRecords => Config::default(),
        }
    }

    /// What a legend calls it.
    pub fn name(self) -> &'static str {
        match self {
            Structure::Published => "as published",
            Structure::DeltaRecords => "delta records",
        }
    }
}

impl From<Flags> for InitializationFlags {
    fn from(flags: Flags) -> Self {
        match flags {
            Flags::On => InitializationFlags::On,
            Flags::Off => InitializationFlags::Off,
        }
    }
}

/// A device of which the simulated part can be seen.
pub trait Simulated: Nor {
    /// The part.
    fn sim(&self) -> &NorSim;
}

impl Simulated for NorSim {
    fn sim(&self) -> &NorSim {
        self
    }
}

impl Simulated for Remap<NorSim, UNITS> {
    fn sim(&self) -> &NorSim {
        self.device()
    }
}

/// A heap whose part counts.
pub trait Subject: ObjectHeap {
    /// What it is on.
    const MEDIUM: Medium;

    /// What the part has done, and for how long.
    fn totals(&self) -> (Counters, u64);
    /// Erases of the most worn unit, or writes of the most written byte.
    fn most_worn(&self) -> u32;
    /// Erases of a unit, or writes of a byte, on average.
    fn mean_worn(&self) -> f64;
    /// Leaves the wear of creating objects out of account, where it would weigh when lifetimes are scaled: on EEPROM
    /// the allocator's log is at one place. On flash creation takes about one erase a unit, and stays.
    fn forget_wear(&mut self);
    /// Records of an object's lists; `None` where the heap cannot say.
    fn records(&mut self, object: Ref) -> Option<usize>;
}

impl<D: Simulated, const MOST_UNITS: usize> Subject for FlashHeap<D, MOST_UNITS> {
    const MEDIUM: Medium = Medium::Flash;

    fn totals(&self) -> (Counters, u64) {
        (self.device().sim().counters(), self.device().sim().elapsed_ns())
    }

    fn most_worn(&self) -> u32 {
        self.device().sim().erase_counts().max().unwrap_or(0)
    }

    fn mean_worn(&self) -> f64 {
        let erases = self.device().sim().erase_counts();
        let units = erases.len() as f64;
        erases.map(f64::from).sum::<f64>() / units
    }

    fn forget_wear(&mut self) {}

    fn records(&mut self, object: Ref) -> Option<usize> {
        Some(self.list_info(object).ok()?.records)
    }
}

impl Subject for EepromSubject {
    const MEDIUM: Medium = Medium::Eeprom;

    fn totals(&self) -> (Counters, u64) {
        (self.device().counters(), self.device().elapsed_ns())
    }

    fn most_worn(&self) -> u32 {
        self.device().most_writes()
    }

    fn mean_worn(&self) -> f64 {
        self.device().wear().mean
    }

    fn forget_wear(&mut self) {
        self.device_mut().forget_wear();
    }

    /// Each object is one.
    fn records(&mut self, _: Ref) -> Option<usize> {
        Some(1)
    }
}

/// A fresh heap on a part like `spec` that never wears out.
pub fn flash(spec: PartSpec, config: Config) -> FlashHeap {
    flash_of(spec, config)
}

/// [`flash`] for parts of any number of units.
pub fn flash_of<const MOST_UNITS: usize>(spec: PartSpec, config: Config) -> FlashHeap<NorSim, MOST_UNITS> {
    let mut part = NorSim::new(spec);
    part.set_endurance(None);
    Heap::format(part, config).expect("the part is suitable")
}

/// TinyStore's configuration with other lists and flags.
pub fn configuration(list_length_max: u8, flags: Flags) -> Config {
    Config { list_length_max, initialization_flags: flags.into(), ..Config::tinystore_2006() }
}

/// A fresh heap on the paper's EEPROM with a commit log of the given length; the part never wears out.
pub fn eeprom(log_bytes: u32) -> EepromSubject {
    let mut part = EepromSim::new(catalogue::tinystore_eeprom());
    part.set_endurance(None);
    EepromHeap::format(part, log_bytes).expect("the part is suitable")
}
