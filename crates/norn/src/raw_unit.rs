//! An erase unit as its bytes say, read past the heap: for what the heap does not tell.
//!
//! Nothing here is trusted: a unit of any contents is read to an end.

use norn_flash::{Address, EraseUnit};
use norn_flash_sim::NorSim;
use norn_nor_store::format::{
    ASSIGNMENT_OFFSET, DESCRIPTOR_BYTES, Descriptor, ENTRY_BYTES, Entry, HEADER_BYTES, IDENTITY_BYTES, Identity,
};

/// A physical unit of a device.
pub struct RawUnit<'a> {
    device: &'a NorSim,
    unit: EraseUnit,
}

/// What a place in a log unit holds.
pub enum LogSlot {
    /// An entry.
    Entry(Entry),
    /// Bytes that are no entry: a power cut hit it.
    Torn([u8; ENTRY_BYTES as usize]),
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

impl<'a> RawUnit<'a> {
    /// A unit of the device's part.
    pub fn new(device: &'a NorSim, unit: EraseUnit) -> Self {
        RawUnit { device, unit }
    }

    /// Its number.
    pub fn unit(&self) -> EraseUnit {
        self.unit
    }

    /// Where it starts.
    pub fn start(&self) -> Address {
        self.device.spec().part.start_of(self.unit)
    }

    /// What it says of itself, if that is whole.
    pub fn identity(&self) -> Option<Identity> {
        Identity::decode(&self.bytes::<IDENTITY_BYTES>(0))
    }

    /// What it serves for, if that is whole.
    pub fn assignment(&self) -> Option<Entry> {
        Entry::decode(self.bytes(ASSIGNMENT_OFFSET))
    }

    /// The log in it: every entry up to the first that is erased.
    pub fn log(&self) -> impl Iterator<Item = LogSlot> {
        let slots = (HEADER_BYTES..self.size_bytes()).step_by(ENTRY_BYTES as usize).map(|offset| self.bytes(offset));
        slots.take_while(|bytes| *bytes != [0xFF; ENTRY_BYTES as usize]).map(|bytes| match Entry::decode(bytes) {
            Some(entry) => LogSlot::Entry(entry),
            None => LogSlot::Torn(bytes),
        })
    }

    /// The sectors in it, if it holds data.
    pub fn sectors(&self) -> Sectors {
        let sparse = match self.assignment() {
            Some(Entry::DataUnit { descriptors, .. }) => usize::from(descriptors),
            _ => 0,
        };
        let mut sectors = Sectors::default();
        let mut lowest = self.size_bytes();
        for index in 0.. {
            let offset = HEADER_BYTES + index as u32 * DESCRIPTOR_BYTES;
            if offset + DESCRIPTOR_BYTES > lowest {
                break;
            }
            match Descriptor::decode(u32::from_le_bytes(self.bytes(offset))) {
                Descriptor::Erased if index >= sparse => break,
                Descriptor::Erased | Descriptor::Void => {}
                Descriptor::Sector { offset, granules, live, .. } => {
                    lowest = lowest.min(u32::from(offset) * self.granule_bytes());
                    let bytes = u32::from(granules) * self.granule_bytes();
                    match live {
                        true => (sectors.live, sectors.live_bytes) = (sectors.live + 1, sectors.live_bytes + bytes),
                        false => sectors.obsolete_bytes += bytes,
                    }
                }
            }
        }
        sectors
    }

    /// The unit in which descriptors give offsets and sizes: an offset of 14 bits reaches over the whole erase unit.
    fn granule_bytes(&self) -> u32 {
        (self.size_bytes() >> 14).max(4)
    }

    fn size_bytes(&self) -> u32 {
        self.device.spec().part.unit_size_bytes
    }

    fn bytes<const LENGTH: usize>(&self, offset: u32) -> [u8; LENGTH] {
        let bytes = self.device.peek(self.start().offset(offset), LENGTH);
        bytes.try_into().expect("as many bytes as were asked for")
    }
}
