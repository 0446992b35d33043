//! Geometry: lengths and addresses that follow from the part.

use norn_flash::{Address, EraseUnit, NorPart, Reprogramming};

use crate::config::StoreConfig;
use crate::detection::ErrorDetection;
use crate::error::MountError;
use crate::format::{DESCRIPTOR_BYTES, ENTRY_BYTES, HEADER_BYTES, SECTOR_GRANULES_MAX, SectorPtr};

/// Smallest erase unit that can hold a log head, its reserve and some entries.
const UNIT_BYTES_MIN: u32 = 512;
/// Largest erase unit whose sectors a descriptor can address.
const UNIT_BYTES_MAX: u32 = 1 << 20;
/// Erase units are a multiple of this, the largest program unit.
const UNIT_BYTES_STEP: u32 = 32;
/// Tree nodes for which there is always room: two paths through a tree of the largest height.
pub(crate) const NODES_RESERVED: u32 = 10;
/// Tree nodes for which data units must have room beyond the reserve, at least.
const NODES_MIN: u32 = 2;
/// Offsets that a descriptor can hold.
const GRANULES_MAX: u32 = 1 << 14;

/// Lengths that follow from the part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub part: NorPart,
    /// Unit of a sector's offset and size in bytes: 4, or more where units exceed 64 KB or program units 4 bytes.
    /// Sectors share no program unit.
    pub granule_bytes: u32,
    granule_log2: u32,
    /// Granules of an erase unit.
    pub unit_granules: u32,
    /// Entries of a log unit.
    pub log_entries: u16,
}

impl Geometry {
    /// That of a part that has not been looked at.
    pub fn unknown(part: NorPart) -> Self {
        Geometry { part, granule_bytes: 4, granule_log2: 2, unit_granules: GRANULES_MAX, log_entries: 0 }
    }

    pub fn of<E>(part: NorPart, table: usize) -> Result<Self, MountError<E>> {
        part.validate().map_err(MountError::Part)?;
        if usize::from(part.unit_count) > table {
            return Err(MountError::TooSmall {
                what: "rows of the unit table",
                needed: u32::from(part.unit_count),
                given: table as u32,
            });
        }
        if part.unit_count > SectorPtr::UNIT_MAX {
            return Err(MountError::Unsuitable("more than 4094 erase units"));
        }
        if part.unit_count < 5 {
            return Err(MountError::Unsuitable("fewer than 5 erase units"));
        }
        if !(UNIT_BYTES_MIN..=UNIT_BYTES_MAX).contains(&part.unit_size_bytes) {
            return Err(MountError::Unsuitable("erase units under 512 bytes or over 1 MB"));
        }
        if part.reprogramming != Reprogramming::Unlimited {
            let why = "words can be programmed a limited number of times between erases: wrap the device in \
                       norn-nor-remap's Remap";
            return Err(MountError::Unsuitable(why));
        }
        if !part.unit_size_bytes.is_multiple_of(UNIT_BYTES_STEP) {
            return Err(MountError::Unsuitable("erase units that are not a multiple of 32 bytes"));
        }
        let addressable = part.unit_size_bytes.div_ceil(GRANULES_MAX).next_power_of_two();
        let granule_bytes = addressable.max(4).max(u32::from(part.program_unit_bytes));
        Ok(Geometry {
            part,
            granule_bytes,
            granule_log2: granule_bytes.trailing_zeros(),
            unit_granules: part.unit_size_bytes / granule_bytes,
            log_entries: ((part.unit_size_bytes - HEADER_BYTES) / 8) as u16,
        })
    }

    /// Whether the part has room besides the log and the units that must stay free for the reserve, and for something
    /// to keep.
    pub fn suits(&self, config: &StoreConfig) -> Result<(), &'static str> {
        let data_units = u32::from(self.part.unit_count).saturating_sub(1 + u32::from(config.log_units));
        let node = self.node_granules(config.error_detection);
        let room = data_units * (self.body_granules() - (node - 1));
        if room >= (NODES_RESERVED + NODES_MIN) * node {
            return Ok(());
        }
        Err("beside its log the part has no room for twelve tree nodes: take fewer log units or a larger part")
    }

    /// Granules that a tree node takes, its descriptor included.
    pub fn node_granules(&self, detection: ErrorDetection) -> u32 {
        self.granules(detection.node_bytes()) + 1
    }

    /// Granules that `bytes` bytes take. A function of its own because many callers need it.
    #[inline(never)]
    pub fn granules(&self, bytes: u32) -> u32 {
        (bytes >> self.granule_log2) + u32::from(bytes & (self.granule_bytes - 1) != 0)
    }

    /// Granules that the header and `descriptors` descriptors take at the low end of a unit.
    pub fn low_granules(&self, descriptors: u32) -> u32 {
        self.granules(HEADER_BYTES + descriptors * DESCRIPTOR_BYTES)
    }

    /// Granules of an erase unit after its header.
    pub fn body_granules(&self) -> u32 {
        self.unit_granules - self.low_granules(0)
    }

    /// Largest sector, in bytes.
    pub fn sector_bytes_max(&self) -> u32 {
        let unit = self.unit_granules - self.low_granules(1);
        unit.min(SECTOR_GRANULES_MAX) * self.granule_bytes
    }

    /// Where entry `index` of a log unit is.
    pub fn entry_address(&self, unit: EraseUnit, index: u16) -> Address {
        self.part.start_of(unit).offset(HEADER_BYTES + u32::from(index) * ENTRY_BYTES)
    }

    pub fn descriptor_address(&self, unit: EraseUnit, index: u16) -> Address {
        self.part.start_of(unit).offset(HEADER_BYTES + u32::from(index) * DESCRIPTOR_BYTES)
    }
}
