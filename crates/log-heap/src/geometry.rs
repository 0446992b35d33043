//! The part in granules, and lengths that follow from it.

use norn_flash::{EraseUnit, NorPart};

/// Bytes of a unit's head.
pub const UNIT_HEAD_BYTES: u32 = 24;
/// Bytes of a sector's header.
pub const HEADER_BYTES: u32 = 8;
/// Bytes of the check of a sector, where flipped bits are noticed.
pub(crate) const CHECK_BYTES: u32 = 4;
/// Children of a map node.
pub const FANOUT: u32 = 16;
/// Bytes of an entry in a map node.
pub const ENTRY_BYTES: u32 = 3;
/// Entries from here on lead nowhere, and hold a generation.
pub(crate) const NOWHERE: u32 = 0x7F_0000;

/// A granule of the part, counted from its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Granule(pub u32);

impl Granule {
    /// The granule `count` further on.
    pub const fn offset(self, count: u32) -> Granule {
        Granule(self.0 + count)
    }
}

/// Whether flipped bits are noticed. It is chosen when a part is formatted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ErrorDetection {
    /// The heap trusts the part's bits. What a power cut tears is noticed all the same.
    #[default]
    Off = 0xFF,
    /// A flipped bit of what is read is an error.
    On = 0xFE,
}

/// The part in granules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a granule.
    pub granule_bytes: u32,
    /// Granules of an erase unit.
    pub unit_granules: u32,
    /// Erase units.
    pub unit_count: u16,
    /// Whether sectors have a check.
    pub detection: ErrorDetection,
}

/// A unit that holds fewer map nodes needs a larger reserve.
const NODES_OF_UNIT: u32 = 6;

impl Geometry {
    /// Fewest units: the log's three, one for what open ones have left, and a reserve within a transaction, eight.
    pub const UNITS_MIN: u16 = 12;

    /// The geometry of `part`, without error detection.
    ///
    /// # Errors
    /// What about the part is out of bounds.
    pub fn of(part: &NorPart) -> Result<Geometry, &'static str> {
        let granule_bytes = u32::from(part.program_unit_bytes).max(4);
        if !part.unit_size_bytes.is_multiple_of(granule_bytes) {
            return Err("erase units that are no whole granules");
        }
        let unit_granules = part.unit_size_bytes / granule_bytes;
        let geometry =
            Geometry { granule_bytes, unit_granules, unit_count: part.unit_count, detection: ErrorDetection::Off };
        if part.unit_count < Geometry::UNITS_MIN {
            return Err("fewer than 12 erase units");
        }
        if !(64..=0xFFFF).contains(&unit_granules) || geometry.room() < 3 * geometry.node_granules() {
            return Err("erase units of too few or too many granules");
        }
        if u32::from(part.unit_count) * unit_granules > NOWHERE {
            return Err("more than 8,323,072 granules");
        }
        Ok(geometry)
    }

    /// Granules that `bytes` take.
    #[inline(never)]
    pub const fn granules(&self, bytes: u32) -> u32 {
        (bytes + self.granule_bytes - 1) >> self.granule_bytes.trailing_zeros()
    }

    /// The same with this error detection.
    pub const fn with_detection(self, detection: ErrorDetection) -> Geometry {
        Geometry { detection, ..self }
    }

    /// Whether flipped bits are noticed.
    pub const fn detects(&self) -> bool {
        matches!(self.detection, ErrorDetection::On)
    }

    /// Bytes of a sector's check.
    pub const fn check_bytes(&self) -> u32 {
        if self.detects() { CHECK_BYTES } else { 0 }
    }

    /// Granules of a sector of so many bytes, without its tail and with its check.
    pub const fn sector_granules(&self, bytes: u32) -> u32 {
        self.granules(bytes + self.check_bytes())
    }

    /// Granules of a unit's head.
    pub const fn head(&self) -> u32 {
        self.granules(UNIT_HEAD_BYTES)
    }

    /// Granules of a unit after its head.
    #[inline(never)]
    pub const fn room(&self) -> u32 {
        self.unit_granules - self.head()
    }

    /// The first granule of `unit`.
    pub const fn start(&self, unit: EraseUnit) -> Granule {
        Granule(unit.0 as u32 * self.unit_granules)
    }

    /// The unit that contains `granule`.
    #[inline(never)]
    pub const fn unit_of(&self, granule: Granule) -> EraseUnit {
        EraseUnit((granule.0 / self.unit_granules) as u16)
    }

    /// Bytes of the part.
    pub const fn size_bytes(&self) -> u32 {
        self.unit_count as u32 * self.unit_granules * self.granule_bytes
    }

    /// Whether the part has such a granule.
    pub const fn contains(&self, granule: Granule) -> bool {
        granule.0 < self.unit_count as u32 * self.unit_granules
    }

    /// Where sectors begin in a unit of the log that has some: behind a third of it, for records.
    pub const fn log_sectors(&self) -> u32 {
        self.head() + self.room() / 3
    }

    /// Units that are kept free for reclamation: for what it moves, and for the map nodes that this changes, which in
    /// small units may be many. Where there are few units, mounts that are cut again and again use up more of them.
    pub const fn reserve(&self) -> u32 {
        let holds_few_nodes = self.room() < NODES_OF_UNIT * self.node_granules();
        match self.unit_count / 4 {
            _ if self.is_roomy() => 2,
            quarter @ 8.. if holds_few_nodes => quarter as u32,
            6.. if holds_few_nodes => 8,
            _ => 4,
        }
    }

    /// Whether what a call writes is small beside a unit, and a unit beside the part.
    pub const fn is_roomy(&self) -> bool {
        self.has_large_units() && self.unit_count >= 32
    }

    /// Whether what a call writes is small beside a unit.
    pub const fn has_large_units(&self) -> bool {
        self.unit_granules >= 512
    }

    /// Spare places of a map node: fewer where a place is large.
    pub const fn spares(&self) -> u8 {
        if self.granule_bytes < 32 { 8 } else { 4 }
    }

    /// Granules of a map node.
    pub const fn node_granules(&self) -> u32 {
        self.sector_granules(HEADER_BYTES + FANOUT * ENTRY_BYTES) + self.spares() as u32
    }

    /// Bytes of a value in the first place of a delta.
    pub const fn first_value_bytes(&self) -> u32 {
        if self.granule_bytes == 4 { 2 } else { self.granule_bytes - 3 }
    }

    /// Bytes of a value in each further place of a delta.
    pub const fn next_value_bytes(&self) -> u32 {
        self.first_value_bytes() + 1
    }

    /// Places of a delta of `width` bytes.
    pub const fn delta_places(&self, width: u32) -> u32 {
        // Most fields take one: no division.
        match width.saturating_sub(self.first_value_bytes()) {
            0 => 1,
            more => 1 + more.div_ceil(self.next_value_bytes()),
        }
    }

    pub(crate) fn signature(&self) -> u32 {
        self.granule_bytes.trailing_zeros() << 28 ^ self.unit_granules << 12 ^ u32::from(self.unit_count)
    }
}
