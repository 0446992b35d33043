//! An erase unit decoded from its bytes without the store, for tools on a host: for data that the store does not
//! return, and for images that cannot be mounted.
//!
//! Nothing here is trusted: a unit of any contents is read to an end.

use core::ops::Deref;

use norn_flash::{Address, EraseUnit, NorPart, UnitBytes};

use crate::format::{
    ASSIGNMENT_OFFSET, DESCRIPTOR_BYTES, Descriptor, ENTRY_BYTES, Entry, HEADER_BYTES, IDENTITY_BYTES, Identity,
    LogicalUnit, SectorKind, SectorPtr,
};

/// Bytes of an entry, for arrays.
pub const ENTRY_LENGTH: usize = ENTRY_BYTES as usize;
const ERASED_ENTRY: [u8; ENTRY_LENGTH] = [0xFF; ENTRY_LENGTH];

/// A physical unit of a part, with its bytes.
#[derive(Clone, Debug)]
pub struct RawUnit<C>(UnitBytes<C>);

impl<C> Deref for RawUnit<C> {
    type Target = UnitBytes<C>;

    fn deref(&self) -> &UnitBytes<C> {
        &self.0
    }
}

/// What a unit's header says that it serves for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It was never formatted, or is being erased: its state is not known.
    NoIdentity,
    /// Nothing: it has an identity only.
    Free,
    /// The log, with this sequence number.
    Log(u32),
    /// Sectors, as this logical unit.
    Data(LogicalUnit),
    /// Scratch bits.
    Scratch,
    /// Its assignment is none whole.
    Torn,
}

impl Purpose {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::NoIdentity => "no identity",
            Purpose::Free => "free",
            Purpose::Log(_) => "log",
            Purpose::Data(_) => "data",
            Purpose::Scratch => "scratch",
            Purpose::Torn => "torn",
        }
    }
}

/// A place of a log unit up to the log's end.
pub struct LogPlace {
    /// Where it is.
    pub address: Address,
    /// What is there.
    pub bytes: [u8; ENTRY_LENGTH],
    /// What that says; `None` for bytes that are no entry, since a power cut hit them.
    pub entry: Option<Entry>,
}

/// A descriptor of a data unit.
pub struct DescriptorPlace {
    /// Number of its sector in the unit.
    pub number: u32,
    /// Where the descriptor is.
    pub address: Address,
    /// What it says.
    pub says: DescriptorSays,
}

/// What a descriptor says.
pub enum DescriptorSays {
    /// No sector has the number.
    Erased,
    /// The descriptor is torn.
    Void,
    /// There is a sector.
    Sector(RawSector),
}

/// A sector as its descriptor says.
#[derive(Clone, Copy)]
pub struct RawSector {
    /// What it holds.
    pub kind: SectorKind,
    /// Distance from the unit's start in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Whether it is in use.
    pub state: SectorState,
}

/// Whether a sector is in use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SectorState {
    /// It is.
    Live,
    /// It was freed.
    Obsolete,
}

/// What a data unit's descriptors add up to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sectors {
    /// Sectors in use.
    pub live: u32,
    /// Their bytes.
    pub live_bytes: u32,
    /// Bytes of sectors that were freed.
    pub obsolete_bytes: u32,
}

impl<C: AsRef<[u8]>> RawUnit<C> {
    /// A unit of a part, with its bytes from the first one on.
    pub fn new(part: &NorPart, unit: EraseUnit, cells: C) -> Self {
        RawUnit(UnitBytes::new(part, unit, cells))
    }

    /// The bytes that should be an identity.
    pub fn identity_bytes(&self) -> [u8; IDENTITY_BYTES] {
        self.array(0)
    }

    /// What it says of itself, if that is whole.
    pub fn identity(&self) -> Option<Identity> {
        Identity::decode(&self.identity_bytes())
    }

    /// The bytes that should be an assignment.
    pub fn assignment_bytes(&self) -> [u8; ENTRY_LENGTH] {
        self.array(ASSIGNMENT_OFFSET)
    }

    /// What it serves for, if that is whole.
    pub fn assignment(&self) -> Option<Entry> {
        Entry::decode(self.assignment_bytes())
    }

    /// What the header as a whole comes to.
    pub fn purpose(&self) -> Purpose {
        match (self.identity(), self.assignment()) {
            (None, _) => Purpose::NoIdentity,
            (_, Some(Entry::LogUnit { sequence })) => Purpose::Log(sequence),
            (_, Some(Entry::DataUnit { logical: LogicalUnit(0), .. })) => Purpose::Scratch,
            (_, Some(Entry::DataUnit { logical, .. })) => Purpose::Data(logical),
            _ if self.assignment_bytes() == ERASED_ENTRY => Purpose::Free,
            _ => Purpose::Torn,
        }
    }

    /// Where the first byte of the body is that is not erased.
    pub fn first_programmed(&self) -> Option<Address> {
        let body = self.bytes().as_ref().get(HEADER_BYTES as usize..)?;
        let found = body.iter().position(|&byte| byte != 0xFF)?;
        Some(self.start().offset(HEADER_BYTES + found as u32))
    }

    /// The log in it: every place up to the first that is erased.
    pub fn log(&self) -> impl Iterator<Item = LogPlace> + use<'_, C> {
        let end = self.size_bytes() - (self.size_bytes() - HEADER_BYTES) % ENTRY_BYTES;
        let places = (HEADER_BYTES..end).step_by(ENTRY_LENGTH).map(|offset| (offset, self.array(offset)));
        places.take_while(|(_, bytes)| *bytes != ERASED_ENTRY).map(|(offset, bytes)| LogPlace {
            address: self.start().offset(offset),
            bytes,
            entry: Entry::decode(bytes),
        })
    }

    /// The descriptors in it, if it holds data, up to the end of their array.
    pub fn descriptors(&self) -> impl Iterator<Item = DescriptorPlace> + use<'_, C> {
        let sparse = match self.assignment() {
            Some(Entry::DataUnit { descriptors, .. }) => u32::from(descriptors),
            _ => 0,
        };
        let mut lowest = self.size_bytes();
        (0..=u32::from(SectorPtr::SECTOR_MAX)).map_while(move |number| {
            let offset = HEADER_BYTES + number * DESCRIPTOR_BYTES;
            if offset + DESCRIPTOR_BYTES > lowest {
                return None;
            }
            let says = self.descriptor(offset);
            match &says {
                DescriptorSays::Erased if number >= sparse => return None,
                DescriptorSays::Sector(sector) => lowest = lowest.min(sector.offset),
                DescriptorSays::Erased | DescriptorSays::Void => {}
            }
            Some(DescriptorPlace { number, address: self.start().offset(offset), says })
        })
    }

    /// The sums over its descriptors.
    pub fn sectors(&self) -> Sectors {
        let mut sums = Sectors::default();
        for place in self.descriptors() {
            match place.says {
                DescriptorSays::Sector(RawSector { state: SectorState::Live, bytes, .. }) => {
                    (sums.live, sums.live_bytes) = (sums.live + 1, sums.live_bytes + bytes);
                }
                DescriptorSays::Sector(RawSector { bytes, .. }) => sums.obsolete_bytes += bytes,
                DescriptorSays::Erased | DescriptorSays::Void => {}
            }
        }
        sums
    }

    fn descriptor(&self, offset: u32) -> DescriptorSays {
        match Descriptor::decode(u32::from_le_bytes(self.array(offset))) {
            Descriptor::Erased => DescriptorSays::Erased,
            Descriptor::Void => DescriptorSays::Void,
            Descriptor::Sector { offset, granules, kind, live } => DescriptorSays::Sector(RawSector {
                kind,
                offset: u32::from(offset) * self.granule_bytes(),
                bytes: u32::from(granules) * self.granule_bytes(),
                state: if live { SectorState::Live } else { SectorState::Obsolete },
            }),
        }
    }

    /// The unit in which descriptors give offsets and sizes: an offset of 14 bits reaches over the whole erase unit.
    fn granule_bytes(&self) -> u32 {
        let addressable = self.size_bytes().div_ceil(1 << 14).next_power_of_two();
        addressable.max(4).max(u32::from(self.part().program_unit_bytes))
    }
}
