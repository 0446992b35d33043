//! Every bit on flash: unit heads, sector headers and places; what log records say is in `log_record`.
//!
//! A *granule* is the part's program unit, or four bytes where that is smaller. Everything is whole granules, and each
//! granule is programmed once between two erases of its unit.
//!
//! ```text
//! unit head, 24 bytes      magic 4 │ geometry 4 │ sequence 4 │ erases 4 │ stream 1, detection 1, ones 2 │ CRC-32 4
//! sector header, 8 bytes   slot 2 │ generation 2 │ count 1 │ width 1 │ class 2 bits, tail 6 │ kind 2 bits, zeros 6
//!   of a map node          index  │ level        │ 0       │ 0       │ spares │ kind 3
//!   of a directory of roots  slot │ 0, else as an object of kind 2
//! after it, kind 1         widths, a byte for each field
//!           kind 2         header's length 1 │ width of all fields 1, or 0 │ then widths, a byte each │ header
//! with error detection     the last 4 bytes before the tail or the spares: CRC-32 of all bytes before them
//! place of 4 bytes         zeros 5 bits │ content 27 bits
//! place of 8, 16, 32       zeros 1 │ content 27 bits, ones 5 bits │ bytes to the granule's end
//! content of a delta       kind 3 bits │ field 8 │ first two bytes of the value
//! content of a delta's rest  kind 3 bits │ three bytes of the value
//! content of a void        kind 3 bits │ place 8 │ 0
//! content of a map change  digit 4 │ entry 23
//! content of a log record  kind 3 │ argument 24
//! page of marks, 32 bytes  number 2 │ its complement 2 │ marks of 2 bits, 27 │ zeros 1
//! ```
//!
//! A place that makes something visible holds the number of zeros in its data, a Berger code: a torn program leaves
//! ones where zeros were to be, which lowers the true count and raises the stored one, so that no torn place is valid.

pub(crate) use crate::geometry::{CHECK_BYTES, NOWHERE};
pub use crate::geometry::{ENTRY_BYTES, ErrorDetection, FANOUT, Geometry, Granule, HEADER_BYTES, UNIT_HEAD_BYTES};
pub use crate::shape::{Class, SplitShape};

/// Where the widths of a [`SectorKind::Headed`] begin, after its header's length and the width of its fields.
pub const HEADED_AT: u32 = HEADER_BYTES + 2;
/// The generation of a directory of roots, which no reference has.
pub const DIRECTORY: u16 = 0;
/// Bytes of the largest granule.
pub const GRANULE_BYTES_MAX: usize = 32;
/// Places of the longest tail.
pub const TAIL_PLACES_MAX: u8 = 32;
/// Levels of the largest map: its leaves are level 1, objects level 0.
pub const LEVELS_MAX: usize = 4;

/// Bytes of a page of marks, which is whole granules.
pub(crate) const MARK_PAGE_BYTES: usize = 32;
/// Bytes of the marks in it.
pub(crate) const MARK_BYTES: usize = MARK_PAGE_BYTES - 5;

const MAGIC: u32 = u32::from_le_bytes(*b"NLH1");
const CONTENT_BITS: u32 = 27;
const CONTENT_MASK: u32 = (1 << CONTENT_BITS) - 1;
pub(crate) const ENTRY_MASK: u32 = (1 << 23) - 1;
/// Where a map entry leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// To a sector.
    At(Granule),
    /// Nowhere: this is the generation of what was deleted, or [`NEVER`].
    Nowhere(u16),
}

/// The generation of an entry that was never used.
pub const NEVER: u16 = 0xFFFF;

impl Entry {
    pub(crate) fn to_bits(self) -> u32 {
        match self {
            Entry::At(granule) => granule.0,
            Entry::Nowhere(generation) => NOWHERE | u32::from(generation),
        }
    }

    pub(crate) fn from_bits(bits: u32) -> Entry {
        let bits = bits & ENTRY_MASK;
        if bits < NOWHERE { Entry::At(Granule(bits)) } else { Entry::Nowhere(bits as u16) }
    }
}

/// What a unit is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stream {
    /// Objects that are created or updated.
    Updated = 0,
    /// Objects that reclamation moved.
    Moved = 1,
    /// Map nodes.
    Map = 2,
    /// The log.
    Log = 3,
}

/// The head of a unit in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitHead {
    /// Number of units opened before, over the life of the image.
    pub sequence: u32,
    /// Erases that the unit has sustained.
    pub erases: u32,
    /// What it is used for.
    pub stream: Stream,
    /// Whether the image's sectors have a check.
    pub detection: ErrorDetection,
}

impl UnitHead {
    pub(crate) fn encode(&self, geometry: &Geometry) -> [u8; GRANULE_BYTES_MAX] {
        let mut bytes = [0xFF; GRANULE_BYTES_MAX];
        let uses = u32::from_le_bytes([self.stream as u8, self.detection as u8, 0xFF, 0xFF]);
        let words = [MAGIC, geometry.signature(), self.sequence, self.erases, uses];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let check = crc32(&bytes[..20]);
        bytes[20..24].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// The head in `bytes`, if they hold one of an image of this geometry. With error detection a head of which one bit
    /// is wrong is read as it was: nothing else says so surely which log is the newest.
    pub(crate) fn decode(bytes: &[u8; UNIT_HEAD_BYTES as usize], geometry: &Geometry) -> Option<UnitHead> {
        let wrong = (word_at(bytes, 0) ^ MAGIC).count_ones() + (word_at(bytes, 4) ^ geometry.signature()).count_ones();
        match UnitHead::decode_whole(bytes, geometry) {
            None if wrong <= 1 => UnitHead::decode_corrected(*bytes, geometry),
            head => head,
        }
    }

    fn decode_whole(bytes: &[u8; UNIT_HEAD_BYTES as usize], geometry: &Geometry) -> Option<UnitHead> {
        let [.., stream, detection, _, _] = bytes[..20] else { return None };
        let is_whole = word_at(bytes, 0) == MAGIC
            && word_at(bytes, 4) == geometry.signature()
            && word_at(bytes, 20) == crc32(&bytes[..20]);
        if !is_whole {
            return None;
        }
        let stream = match stream {
            0 => Stream::Updated,
            1 => Stream::Moved,
            2 => Stream::Map,
            3 => Stream::Log,
            _ => return None,
        };
        let detection = match detection {
            0xFF => ErrorDetection::Off,
            0xFE => ErrorDetection::On,
            _ => return None,
        };
        Some(UnitHead { sequence: word_at(bytes, 8), erases: word_at(bytes, 12), stream, detection })
    }

    /// The head with error detection that these bytes are but for one bit.
    fn decode_corrected(mut bytes: [u8; UNIT_HEAD_BYTES as usize], geometry: &Geometry) -> Option<UnitHead> {
        for bit in 0..8 * UNIT_HEAD_BYTES as usize {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let head = UnitHead::decode_whole(&bytes, geometry);
            if head.is_some_and(|head| head.detection == ErrorDetection::On) {
                return head;
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        None
    }
}

fn word_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.add(bytes);
    crc.value()
}

/// The CRC-32 of Ethernet, bit by bit: a table would take a kilobyte of code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crc(u32);

impl Crc {
    pub(crate) const fn new() -> Crc {
        Crc(u32::MAX)
    }

    /// Adds the bytes that follow.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 ^= u32::from(byte);
            for _ in 0..8 {
                self.0 = self.0 >> 1 ^ if self.0 & 1 == 1 { 0xEDB8_8320 } else { 0 };
            }
        }
    }

    pub(crate) const fn value(self) -> u32 {
        !self.0
    }
}

/// What a sector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectorKind {
    /// An object whose fields have one width.
    Uniform,
    /// An object whose fields have widths of their own, which precede its data.
    Various,
    /// An object with a header; its fields have one width or widths of their own.
    Headed,
    /// A map node.
    Node,
}

/// The first bytes of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the sector is.
    pub kind: SectorKind,
    /// What it is to a client; of a map node, [`Class::Object`].
    pub class: Class,
    /// The object's slot, or the node's index on its level.
    pub index: u16,
    /// The object's generation, or the node's level.
    pub generation: u16,
    /// Number of fields.
    pub count: u8,
    /// Width of each field in bytes; for [`SectorKind::Various`] and [`SectorKind::Headed`] the sector's granules
    /// without its tail.
    pub width: u8,
    /// Places of the tail, or spare places.
    pub tail: u8,
}

impl Header {
    /// Granules of the sector without its tail.
    pub const fn bare_granules(&self, geometry: &Geometry) -> u32 {
        match self.kind {
            SectorKind::Uniform => geometry.sector_granules(HEADER_BYTES + self.count as u32 * self.width as u32),
            SectorKind::Various | SectorKind::Headed => self.width as u32,
            SectorKind::Node => geometry.sector_granules(HEADER_BYTES + FANOUT * ENTRY_BYTES),
        }
    }

    /// Whether a sector with this header can have been written to a part of this geometry.
    pub fn is_possible(&self, geometry: &Geometry) -> bool {
        let contents = match self.kind {
            SectorKind::Node => {
                let is_bare = self.count == 0 && self.width == 0 && self.class == Class::Object;
                return is_bare && self.tail == geometry.spares();
            }
            SectorKind::Uniform => self.width > 0,
            SectorKind::Various => {
                geometry.sector_granules(HEADER_BYTES + 2 * u32::from(self.count)) <= u32::from(self.width)
            }
            SectorKind::Headed => geometry.sector_granules(HEADED_AT + u32::from(self.count)) <= u32::from(self.width),
        };
        contents && self.count > 0 && self.tail <= TAIL_PLACES_MAX && self.granules(geometry) <= geometry.room()
    }

    /// Granules of the sector.
    pub const fn granules(&self, geometry: &Geometry) -> u32 {
        self.bare_granules(geometry) + self.tail as u32
    }

    /// What the map calls the sector's owner.
    pub const fn owner(&self) -> Owner {
        match self.kind {
            SectorKind::Node => Owner { level: self.generation as u8, index: self.index },
            _ => Owner::object(self.index),
        }
    }

    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES as usize] {
        let [slot_low, slot_high] = self.index.to_le_bytes();
        let [low, high] = self.generation.to_le_bytes();
        let kind = match self.kind {
            SectorKind::Uniform => 0,
            SectorKind::Various => 1,
            SectorKind::Headed => 2,
            SectorKind::Node => 3,
        };
        let tail = self.tail | (self.class as u8) << 6;
        let mut bytes = [slot_low, slot_high, low, high, self.count, self.width, tail, kind << 6];
        bytes[7] |= header_zeros(&bytes);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES as usize]) -> Option<Header> {
        if bytes[7] & 0x3F != header_zeros(bytes) {
            return None;
        }
        let kind = match bytes[7] >> 6 {
            0 => SectorKind::Uniform,
            1 => SectorKind::Various,
            2 => SectorKind::Headed,
            _ => SectorKind::Node,
        };
        let number = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let (count, width, tail) = (bytes[4], bytes[5], bytes[6] & 0x3F);
        let class = match bytes[6] >> 6 {
            0 => Class::Object,
            1 => Class::Array,
            2 => Class::Split,
            _ => Class::Section,
        };
        Some(Header { kind, class, index: number(0), generation: number(2), count, width, tail })
    }
}

fn header_zeros(bytes: &[u8; HEADER_BYTES as usize]) -> u8 {
    let zeros: u32 = bytes[..7].iter().map(|byte| byte.count_zeros()).sum();
    (zeros + (bytes[7] >> 6 | 0xFC).count_zeros()) as u8
}

/// What a granule in a tail, among a node's spares or in the log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// All ones: not yet programmed, once what was in doubt at the mount has been settled.
    Erased,
    /// What was programmed: 27 bits. Bytes may follow them.
    Whole(u32),
    /// A torn program, or damage.
    Broken,
}

impl Place {
    /// A granule that holds `content` and `bytes`, as far as a granule of its size has room for them.
    pub(crate) fn encode(granule_bytes: u32, content: u32, bytes: &[u8]) -> [u8; GRANULE_BYTES_MAX] {
        debug_assert!(content <= CONTENT_MASK, "27 bits");
        let mut granule = [0xFF; GRANULE_BYTES_MAX];
        if granule_bytes == 4 {
            let zeros = CONTENT_BITS - content.count_ones();
            granule[..4].copy_from_slice(&(content << 5 | zeros).to_le_bytes());
            return granule;
        }
        granule[1..5].copy_from_slice(&(content | !CONTENT_MASK).to_le_bytes());
        granule[5..5 + bytes.len()].copy_from_slice(bytes);
        granule[0] = zeros(&granule[1..granule_bytes as usize]);
        granule
    }

    /// What the granule `bytes` holds.
    pub(crate) fn decode(bytes: &[u8]) -> Place {
        match *bytes {
            [a, b, c, d] => Place::decode_word(u32::from_le_bytes([a, b, c, d])),
            _ if bytes.iter().all(|&byte| byte == 0xFF) => Place::Erased,
            [check, a, b, c, d, ..] if check == zeros(&bytes[1..]) => {
                Place::Whole(u32::from_le_bytes([a, b, c, d]) & CONTENT_MASK)
            }
            _ => Place::Broken,
        }
    }

    /// What a granule of four bytes holds.
    pub(crate) const fn decode_word(word: u32) -> Place {
        let content = word >> 5;
        match word & 0x1F {
            _ if word == u32::MAX => Place::Erased,
            zeros if zeros == CONTENT_BITS - content.count_ones() => Place::Whole(content),
            _ => Place::Broken,
        }
    }
}

fn zeros(bytes: &[u8]) -> u8 {
    bytes.iter().map(|byte| byte.count_zeros()).sum::<u32>() as u8
}

/// Where the child is in the content of a change; below is the entry.
pub(crate) const DIGIT_SHIFT: u32 = 23;

/// A change of a map node's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Which of the node's children.
    pub digit: u32,
    /// Where it is now.
    pub entry: Entry,
}

impl Change {
    pub(crate) fn to_content(self) -> u32 {
        self.digit << DIGIT_SHIFT | self.entry.to_bits()
    }

    pub(crate) fn from_content(content: u32) -> Change {
        Change { digit: content >> DIGIT_SHIFT, entry: Entry::from_bits(content) }
    }
}

/// One granule of a delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeltaPart {
    /// The field, and the first bytes of its new value.
    First(u8),
    /// Further bytes of the value.
    Next,
    /// As the first, of a delta that repeats the last one: the place before it does not count, whatever it holds.
    Seal(u8),
    /// What begins in this place or after it, and before the void, does not count.
    Void(u8),
}

const FIRST: u32 = 1;
const NEXT: u32 = 2;
const SEAL: u32 = 3;
const VOID: u32 = 4;

impl DeltaPart {
    /// A granule of a delta with these bytes of the value, which fit.
    pub(crate) fn encode(self, granule_bytes: u32, value: &[u8]) -> [u8; GRANULE_BYTES_MAX] {
        let mut bytes = [0xFF; GRANULE_BYTES_MAX];
        bytes[..value.len()].copy_from_slice(value);
        let (kind, in_content) = match self {
            DeltaPart::First(field) => (FIRST << 24 | u32::from(field) << 16, 2),
            DeltaPart::Next => (NEXT << 24, 3),
            DeltaPart::Seal(field) => (SEAL << 24 | u32::from(field) << 16, 2),
            DeltaPart::Void(place) => (VOID << 24 | u32::from(place) << 16, 2),
        };
        let mut low = [0; 4];
        low[..in_content].copy_from_slice(&bytes[..in_content]);
        let rest = &bytes[in_content..value.len().max(in_content)];
        Place::encode(granule_bytes, kind | u32::from_le_bytes(low), rest)
    }

    /// What the content of a place is.
    pub(crate) const fn decode(content: u32) -> Option<DeltaPart> {
        Some(match content >> 24 {
            FIRST => DeltaPart::First((content >> 16) as u8),
            NEXT => DeltaPart::Next,
            SEAL => DeltaPart::Seal((content >> 16) as u8),
            VOID => DeltaPart::Void((content >> 16) as u8),
            _ => return None,
        })
    }

    /// Copies the bytes of a value that a granule with this content holds, as many as `value` has room for.
    pub(crate) fn copy_value(self, content: u32, granule: &[u8], value: &mut [u8]) {
        let in_content = if self == DeltaPart::Next { 3 } else { 2 };
        let (first, rest) = value.split_at_mut(value.len().min(in_content));
        first.copy_from_slice(&content.to_le_bytes()[..first.len()]);
        if !rest.is_empty() {
            rest.copy_from_slice(&granule[5..5 + rest.len()]);
        }
    }
}

/// Something that the map leads to: an object (level 0) or a map node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// 0 for an object, 1 for a leaf.
    pub level: u8,
    /// The object's slot, or the node's index on its level.
    pub index: u16,
}

impl Owner {
    /// The object in `slot`.
    pub const fn object(slot: u16) -> Owner {
        Owner { level: 0, index: slot }
    }

    /// Whether it is below a node.
    pub(crate) fn is_below(self, node: Owner) -> bool {
        self.level < node.level && self.ancestor(node.level) == node
    }

    /// The node above it.
    pub(crate) const fn parent(self) -> Owner {
        self.ancestor(self.level + 1)
    }

    /// Its ancestor on `level`.
    pub const fn ancestor(self, level: u8) -> Owner {
        Owner { level, index: (self.index as u32 >> (4 * (level - self.level) as u32)) as u16 }
    }
}

/// Marks that a collection has no room for in RAM. No other session reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MarkPage {
    /// Which of the pages.
    pub(crate) page: u16,
    /// Two bits for each slot.
    pub(crate) bits: [u8; MARK_BYTES],
}

impl MarkPage {
    pub(crate) fn encode(&self) -> [u8; MARK_PAGE_BYTES] {
        let mut bytes = [0; MARK_PAGE_BYTES];
        bytes[..2].copy_from_slice(&self.page.to_le_bytes());
        bytes[2..4].copy_from_slice(&(!self.page).to_le_bytes());
        bytes[4..4 + MARK_BYTES].copy_from_slice(&self.bits);
        bytes[4 + MARK_BYTES] = zeros(&self.bits);
        bytes
    }

    /// The number that the first bytes of a page hold.
    pub(crate) fn decode_number(bytes: [u8; 4]) -> Option<u16> {
        let [a, b, c, d] = bytes;
        let (page, check) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        (page == !check).then_some(page)
    }

    pub(crate) fn decode(bytes: &[u8; MARK_PAGE_BYTES]) -> Option<MarkPage> {
        let page = MarkPage::decode_number([bytes[0], bytes[1], bytes[2], bytes[3]])?;
        let mut bits = [0; MARK_BYTES];
        bits.copy_from_slice(&bytes[4..4 + MARK_BYTES]);
        (bytes[4 + MARK_BYTES] == zeros(&bits)).then_some(MarkPage { page, bits })
    }
}

#[cfg(test)]
mod tests;
