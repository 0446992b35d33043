//! The store: its state in RAM, the geometry it derives from the part, and what its client may ask of it as a whole.
//!
//! Invariant: everything here can be rebuilt from flash by mounting; nothing in RAM is the only copy of anything committed.
//! Marks of units are in RAM alone: they concern a running program.

use core::marker::PhantomData;

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming, Violation};

use crate::delta::DeltaRecords;
use crate::detection::ErrorDetection;
use crate::error::{MountError, StoreError};
use crate::features::{AllFeatures, Features};
use crate::format::{DESCRIPTOR_BYTES, HEADER_BYTES, SectorPtr};
use crate::log::{LOG_UNITS_MAX, Log};
use crate::medium::Medium;
use crate::sector::{Census, Filling};
use crate::tree::{TREES, TreeRoots};
use crate::units::{Role, UnitTable};

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

/// Serial numbers go round after so many: they fit 24 bits and make whole rounds of 16 bits without a zero.
pub(crate) const SERIALS: u32 = 256 * 0xFFFF;

/// What an image remembers from its formatting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Most erase units that the log may take while one transaction is open, 2 to 8. Each holds about an eighth of its bytes
    /// in entries.
    pub log_units: u8,
    /// Every how many reclamations one of a random unit follows, for the sake of wear; 0 for never.
    pub wear_period: u16,
    /// Whether flipped bits are noticed.
    pub error_detection: ErrorDetection,
    /// Whether chains may end in delta sectors.
    pub delta_records: DeltaRecords,
    /// Two words for the client.
    pub client: [u32; 2],
}

impl Default for Settings {
    /// Two log units, and nothing beside.
    fn default() -> Self {
        Settings {
            log_units: 2,
            wear_period: 0,
            error_detection: ErrorDetection::Off,
            delta_records: DeltaRecords::Off,
            client: [0; 2],
        }
    }
}

impl Settings {
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

    /// What these settings need that a program has no code for.
    pub(crate) fn lacks<F: Features>(&self) -> Option<&'static str> {
        match self {
            Settings { error_detection: ErrorDetection::On, .. } if !F::ERROR_DETECTION => Some("error detection"),
            Settings { delta_records: DeltaRecords::On, .. } if !F::DELTA_RECORDS => Some("delta records"),
            _ => None,
        }
    }

    /// Whether a store can work by these settings, or why not.
    pub(crate) fn validate(&self) -> Result<(), &'static str> {
        match self.log_units {
            2..=LOG_UNITS_MAX => Ok(()),
            _ => Err("the log takes 2 to 8 units"),
        }
    }
}

/// Lengths that follow from the part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    pub part: NorPart,
    /// Unit of a sector's offset and size in bytes: 4, or more where units exceed 64 KB or program units 4 bytes. Sectors
    /// share no program unit.
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
                what: "places in the table of erase units",
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
            let why = "words can be programmed a limited number of times between erases: wrap the device in norn-nor-remap's Remap";
            return Err(MountError::Unsuitable(why));
        }
        if !part.unit_size_bytes.is_multiple_of(UNIT_BYTES_STEP) {
            return Err(MountError::Unsuitable("erase units that are no multiple of 32 bytes"));
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

    /// Whether beside the log and the units that must stay free the part has room for the reserve, and for something to keep.
    pub fn suits(&self, settings: &Settings) -> Result<(), &'static str> {
        let data_units = u32::from(self.part.unit_count).saturating_sub(1 + u32::from(settings.log_units));
        let node = self.node_granules(settings.error_detection);
        let room = data_units * (self.unit_granules - self.low_granules(0) - (node - 1));
        if room >= (NODES_RESERVED + NODES_MIN) * node {
            return Ok(());
        }
        Err("beside its log the part has no room for twelve tree nodes: take fewer log units or a larger part")
    }

    /// Granules that a tree node takes, its descriptor included.
    pub fn node_granules(&self, detection: ErrorDetection) -> u32 {
        self.granules(detection.node_bytes()) + 1
    }

    /// Granules that so many bytes take. A function of its own: everybody asks.
    #[inline(never)]
    pub fn granules(&self, bytes: u32) -> u32 {
        (bytes >> self.granule_log2) + u32::from(bytes & (self.granule_bytes - 1) != 0)
    }

    /// Granules that the header and `descriptors` descriptors take at the low end of a unit.
    pub fn low_granules(&self, descriptors: u32) -> u32 {
        self.granules(HEADER_BYTES + descriptors * DESCRIPTOR_BYTES)
    }

    pub fn descriptor_address(&self, unit: EraseUnit, index: u16) -> Address {
        self.part.start_of(unit).offset(HEADER_BYTES + u32::from(index) * DESCRIPTOR_BYTES)
    }
}

/// Sectors, a log and versioned trees on one NOR part of at most `UNITS` erase units.
///
/// Every change belongs to a transaction: it is open from the first change to the next [`commit`](Store::commit) or
/// [`abort`](Store::abort), and what it changed is whole or absent after a power cut.
///
/// `F` is what the program has [code](Features) for; images that need more are refused.
///
/// RAM: eight bytes for each of `UNITS`, and about 200 bytes.
#[derive(Clone, Debug)]
pub struct Store<D: Nor, const UNITS: usize, F = AllFeatures> {
    pub(crate) medium: Medium<D>,
    pub(crate) geometry: Geometry,
    pub(crate) units: UnitTable<UNITS>,
    pub(crate) log: Log,
    pub(crate) trees: [TreeRoots; TREES],
    pub(crate) filling: Option<Filling>,
    pub(crate) census: Census,
    pub(crate) corruption: Option<Violation>,
    pub(crate) settings: Settings,
    pub(crate) serial: u32,
    pub(crate) random: u32,
    pub(crate) code: PhantomData<F>,
}

impl<D: Nor, const UNITS: usize, F: Features> Store<D, UNITS, F> {
    /// The device.
    pub fn device(&self) -> &D {
        self.medium.device()
    }

    /// The device, for what does not change the part's contents.
    pub fn device_mut(&mut self) -> &mut D {
        self.medium.device_mut()
    }

    /// Gives the device back. An open transaction is undone at the next mount.
    pub fn into_device(self) -> D {
        self.medium.into_device()
    }

    /// What the image remembers from its formatting.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Whether the device has failed: every call says `Halted` until it is mounted again.
    pub fn is_halted(&self) -> bool {
        self.medium.is_halted()
    }

    /// Refuses calls that could answer from RAM alone, when the device has failed or was never mounted.
    pub(crate) fn expect_answering(&self) -> Result<(), StoreError<D::Error>> {
        if self.medium.is_halted() { Err(StoreError::Halted) } else { Ok(()) }
    }

    /// Lets every call say `Halted`, as after a failure of the device.
    pub fn halt(&mut self) {
        self.medium.halt();
    }

    /// How many objects were ever created, by the client's count, modulo 256 × 65,535.
    pub fn serial(&self) -> u32 {
        self.serial
    }

    /// What [`advance_serial`](Self::advance_serial) would make of it.
    pub fn next_serial(&self) -> u32 {
        if self.serial + 1 == SERIALS { 0 } else { self.serial + 1 }
    }

    /// Counts one more created object; durable with the next commit or abort. At most once for each entry of the open
    /// transaction, and after that entry: as many are passed over when the transaction is undone after a reboot.
    pub fn advance_serial(&mut self) {
        debug_assert!(self.log.open);
        self.serial = self.next_serial();
    }

    /// Largest sector that can be allocated, in bytes. A function of its own: everybody asks.
    #[inline(never)]
    pub fn sector_bytes_max(&self) -> u32 {
        let unit = self.geometry.unit_granules - self.geometry.low_granules(1);
        unit.min(crate::format::SECTOR_GRANULES_MAX) * self.geometry.granule_bytes
    }

    /// Bytes that live sectors and all descriptors take. Cost: RAM only.
    pub fn used_bytes(&self) -> u64 {
        let live = |unit: EraseUnit| {
            let body = self.geometry.unit_granules - self.geometry.low_granules(0);
            body.saturating_sub(self.units.gap_granules(unit) + self.units.obsolete_granules(unit))
        };
        self.units.data().map(|unit| u64::from(live(unit) * self.geometry.granule_bytes)).sum()
    }

    /// Bytes that allocations may still take at most, in how many pieces ever. Cost: RAM only.
    pub fn room_bytes(&self) -> u64 {
        u64::from(self.room_granules()) * u64::from(self.geometry.granule_bytes)
    }

    /// How many sixteenths of the part that is, rounded down, but at most `most`. Cost: RAM only.
    pub fn room_sixteenths(&self, most: u32) -> u32 {
        let (room, part) =
            (self.room_granules(), self.geometry.unit_granules * u32::from(self.geometry.part.unit_count));
        (1..=most).take_while(|sixteenths| 16 * room >= sixteenths * part).count() as u32
    }

    fn room_granules(&self) -> u32 {
        let body = self.geometry.unit_granules - self.geometry.low_granules(0);
        let spare_units = self.units.available().saturating_sub(self.free_floor());
        let room = |unit| self.units.gap_granules(unit) + self.units.obsolete_granules(unit);
        spare_units * body + self.units.data().map(room).sum::<u32>()
    }

    /// Bytes that can be allocated before a unit has to be reclaimed, in how many pieces ever. Cost: RAM only.
    pub fn ready_bytes(&self) -> u64 {
        let body = self.geometry.unit_granules - self.geometry.low_granules(0);
        let spare_units = self.units.available().saturating_sub(self.free_floor());
        let gaps: u32 = self.units.data().map(|unit| self.units.gap_granules(unit)).sum();
        u64::from(spare_units * body + gaps) * u64::from(self.geometry.granule_bytes)
    }

    /// The role of a physical unit.
    pub fn role(&self, unit: EraseUnit) -> Role {
        self.units.role(unit)
    }

    /// Units that must stay free: one to reclaim into, and those that the log may still take.
    #[inline(never)]
    pub(crate) fn free_floor(&self) -> u32 {
        1 + (u32::from(self.settings.log_units)).saturating_sub(self.log.length())
    }

    /// What the last call that said `Corrupted` came upon.
    pub fn corruption(&self) -> Option<Violation> {
        self.corruption
    }

    /// Says `Corrupted`, and remembers what is wrong at `address`.
    ///
    /// # Errors
    /// Always.
    pub fn corrupted<T>(&mut self, address: Address, what: &'static str) -> Result<T, StoreError<D::Error>> {
        self.note_corruption(address, what);
        Err(StoreError::Corrupted)
    }

    /// A function of its own, which is not repeated for each type of result.
    #[inline(never)]
    fn note_corruption(&mut self, address: Address, what: &'static str) {
        self.corruption = Some(Violation { address, what });
    }

    /// The next of a seeded sequence of numbers (a 32-bit xorshift).
    pub(crate) fn next_random(&mut self) -> u32 {
        let mut x = self.random.max(1);
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.random = x;
        x
    }
}
