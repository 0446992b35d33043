//! What an area of a unit says, in pieces: each with the line of `docs/format/nor-store.md`, or of
//! `docs/format/object-heap.md`, that describes it.
//!
//! A record does not say which object it is of. Its object is found by following the links of all object descriptors on
//! the part, those no longer in use included.

use norn_flash::{Address, EraseUnit};
use norn_nor_store::format::{Entry, Link, NODE_SLOTS, NODE_SPARES, TREE_WORD_BYTES, TreeWord};
use norn_nor_store::inspection::{DescriptorSays, Purpose, RawUnit};
use norn_nor_store::{Delta, ErrorDetection, SectorPtr};
use norn_object_heap::Ref;
use norn_object_heap::format::{Shape, VALID_FLAGS_OFFSET, data_offset};

use super::entry_text::{entry_text, identity_text};
use super::unit::{DESCRIPTOR, ENTRY, LEAF, NODE, OPAQUE, RECORD};
use crate::anatomy::{Area, Found, HEAD, Piece, UNKNOWN, hexadecimal};
use crate::content::Cells;

/// Most records that a look follows.
const RECORDS_MAX: usize = 255;

/// What an area says.
pub fn found(cells: Cells<'_>, area: &Area) -> Found {
    let from = (area.at.0 - cells.start().0) as usize;
    let bytes = cells.bytes.get(from..from + area.bytes as usize).unwrap_or_default();
    let look = Look { cells, start: area.at, bytes };
    let mut found = Found::of(area);
    found.pieces = match area.kind {
        HEAD => look.head(),
        ENTRY => vec![look.entry()],
        DESCRIPTOR => vec![look.piece((0, 4), "descriptor", area.text.clone(), "4:0..14")],
        NODE => look.node(),
        // Codes of error detection are between the pieces of these, which are not taken apart.
        LEAF | RECORD | OPAQUE if look.has_error_detection() => Vec::new(),
        LEAF => look.leaf(&mut found),
        RECORD => look.record(&mut found),
        OPAQUE => look.opaque(),
        UNKNOWN if area.bytes == 8 => vec![look.piece((0, 8), "entry", "torn or void", "3:A place is **erased**")],
        _ => Vec::new(),
    };
    found
}

#[derive(Clone, Copy)]
struct Look<'c> {
    cells: Cells<'c>,
    start: Address,
    bytes: &'c [u8],
}

/// What the descriptor of an object says of its records.
struct ObjectLook {
    reference: Option<Ref>,
    first: Link,
    header: Link,
    shape: Shape,
}

impl ObjectLook {
    fn of(bytes: &[u8]) -> Option<ObjectLook> {
        let first = Link::decode(word(bytes, 4)?);
        let shape = Shape::decode(*bytes.get(12..)?.first_chunk()?)?;
        let reference = Ref::from_bits(word(bytes, 0)?);
        matches!(first, Link::To(_)).then_some(ObjectLook {
            reference,
            first,
            header: Link::decode(word(bytes, 8)?),
            shape,
        })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

impl<'c> Look<'c> {
    fn piece(
        &self,
        (at, bytes): (u32, u32),
        name: impl Into<String>,
        value: impl ToString,
        line: &'static str,
    ) -> Piece {
        Piece::new((self.start.offset(at), bytes), name, value, line)
    }

    fn hex(&self, at: u32, bytes: u32) -> String {
        hexadecimal(self.bytes.get(at as usize..(at + bytes) as usize).unwrap_or_default())
    }

    fn word(&self, at: u32) -> u32 {
        word(self.bytes, at as usize).unwrap_or(u32::MAX)
    }

    fn head(&self) -> Vec<Piece> {
        let unit = RawUnit::new(self.cells.part(), self.cells.unit, self.bytes);
        let identity = unit.identity().map_or("none whole".to_owned(), |identity| identity_text(&identity));
        let erases = unit.identity().map_or(String::new(), |identity| identity.erase_count.to_string());
        let assignment = match unit.assignment() {
            Some(entry) => entry_text(&entry).to_string(),
            None if unit.purpose() == Purpose::Free => "erased: a free unit".to_owned(),
            None => "none whole".to_owned(),
        };
        vec![
            self.piece((0, 4), "magic", "NORN", "2:0..4"),
            self.piece((4, 4), "version, size, units", identity, "2:4"),
            self.piece((8, 4), "erase count", erases, "2:8..12"),
            self.piece((12, 2), "shortfall", self.hex(12, 2), "2:12..14"),
            self.piece((14, 1), "zeros", self.bytes.get(14).copied().unwrap_or_default(), "2:14"),
            self.piece((15, 1), "CRC-8", self.hex(15, 1), "2:15"),
            self.piece((16, 8), "assignment", assignment, "2:One record in the form of a log entry"),
        ]
    }

    fn entry(&self) -> Piece {
        let entry = self.bytes.first_chunk().and_then(|bytes| Entry::decode(*bytes));
        let (text, line, to) = match entry {
            Some(entry) => (entry_text(&entry).to_string(), line_of(&entry), pointer_of(&entry)),
            None => ("torn or void".to_owned(), "3:A place is **erased**", None),
        };
        Piece { to: to.and_then(|to| self.place_of(to)), ..self.piece((0, 8), "entry", text, line) }
    }

    fn node(&self) -> Vec<Piece> {
        let step = self.bytes.len() as u32 / (NODE_SLOTS + NODE_SPARES);
        // With error detection each word is there twice.
        let step = if step >= 2 * TREE_WORD_BYTES { 2 * TREE_WORD_BYTES } else { TREE_WORD_BYTES };
        (0..NODE_SLOTS + NODE_SPARES)
            .map(|number| {
                let word = TreeWord(self.word(number * step));
                let name = match number.checked_sub(NODE_SLOTS) {
                    None => format!("slot {number}"),
                    Some(spare) => format!("spare {spare}"),
                };
                let child = word.pointer().map_or("nothing".to_owned(), |child| child.to_string());
                let says = format!("child {} is {child}", word.index());
                let (value, to) = match () {
                    () if word.is_erased() => ("erased".to_owned(), None),
                    () if !word.stands() => ("void: its transaction was aborted".to_owned(), None),
                    () if word.is_open() => (format!("{says}, open"), word.pointer()),
                    () => (says, word.pointer()),
                };
                let to = to.and_then(|to| self.place_of(to));
                Piece { to, ..self.piece((number * step, step), name, value, "6:0..24") }
            })
            .collect()
    }

    fn link(&self, at: u32, name: &str, line: &'static str) -> Piece {
        let (text, to) = match Link::decode(self.word(at)) {
            Link::Erased => ("erased".to_owned(), None),
            Link::Void => ("torn or void".to_owned(), None),
            Link::To(to) => (to.to_string(), self.place_of(to)),
        };
        Piece { to, ..self.piece((at, 4), name, text, line) }
    }

    fn leaf(&self, found: &mut Found) -> Vec<Piece> {
        let Some(object) = ObjectLook::of(self.bytes) else { return self.name(found) };
        let reference = object.reference.map_or("none".to_owned(), |reference| reference.to_string());
        found.title = format!("descriptor of {reference}");
        found.object = object.reference.map(|reference| reference.to_string());
        let (shape, end) = (&object.shape, self.bytes.len() as u32);
        let width = shape.width().map_or("various".to_owned(), |width| width.to_string());
        let form = format!("{:?}, {:?}", shape.form.kind(), shape.form.representation()).to_lowercase();
        let mut pieces = vec![
            self.piece((0, 4), "reference", reference, "object-heap/3:0..4"),
            self.link(4, "link to the first record", "object-heap/3:4..8"),
            self.link(8, "link to the header", "object-heap/3:8..12"),
            self.piece((12, 1), "form", form, "object-heap/3:12"),
            self.piece((13, 1), "width", width, "object-heap/3:13"),
            self.piece((14, 2), "fields", shape.count, "object-heap/3:14..16"),
        ];
        if end > 16 && shape.form.has_flags() {
            pieces.push(self.piece(
                (16, end - 16),
                "initialization flags",
                self.hex(16, end - 16),
                "object-heap/3:16..",
            ));
        }
        pieces
    }

    fn name(&self, found: &mut Found) -> Vec<Piece> {
        let length = u32::from(self.bytes.get(4).copied().unwrap_or_default());
        let Some(name) = self.bytes.get(5..5 + length as usize).filter(|_| (1..=32).contains(&length)) else {
            return Vec::new();
        };
        let name = name.escape_ascii().to_string();
        let reference = Ref::from_bits(self.word(0));
        found.title = format!("name {name}");
        vec![
            self.piece(
                (0, 4),
                "reference",
                reference.map_or("none".to_owned(), |reference| reference.to_string()),
                "object-heap/6:0..4",
            ),
            self.piece((4, 1), "length", length, "object-heap/6:4"),
            self.piece((5, length), "name", name, "object-heap/6:5.."),
        ]
    }

    fn record(&self, found: &mut Found) -> Vec<Piece> {
        let mut pieces = vec![self.link(0, "link to the next record", "object-heap/5:0..4")];
        let Some(object) = self.object_of() else { return pieces };
        let (shape, count) = (&object.shape, u32::from(object.shape.count));
        found.object = object.reference.map(|reference| reference.to_string());
        found.title = format!("record of {}", found.object.clone().unwrap_or_default());
        let flags = (VALID_FLAGS_OFFSET, count.div_ceil(8));
        pieces.push(self.piece(flags, "valid flags", self.hex(flags.0, flags.1), "object-heap/5:4..4+"));
        let mut at = data_offset(shape.count, ErrorDetection::Off);
        for field in 0..count {
            let width = match shape.width() {
                Some(width) => u32::from(width),
                None => self.width_of(&object, field),
            };
            if at + width > self.bytes.len() as u32 || width == 0 {
                break;
            }
            let is_valid = self.bytes[(VALID_FLAGS_OFFSET + field / 8) as usize] >> (field % 8) & 1 == 1;
            let mut value = self.hex(at, width);
            if !is_valid {
                value += ", superseded";
            }
            pieces.push(self.piece((at, width), format!("slot of field {field}"), value, "object-heap/5:*d*.."));
            at += width;
        }
        pieces
    }

    /// The width of a field of an object whose fields differ, which its header says.
    fn width_of(&self, object: &ObjectLook, field: u32) -> u32 {
        let Link::To(header) = object.header else { return 0 };
        let place = self.place_of(header);
        place.map_or(0, |place| u32::from(self.cells.whole.peek(place.offset(4 + field), 1)[0]))
    }

    fn opaque(&self) -> Vec<Piece> {
        let lengths = (self.word(0) & 0xFFFF, self.word(0) >> 16);
        let is_header = self.bytes.len() as u32 >= 4 + lengths.0;
        match (Link::decode(self.word(0)), is_header) {
            (Link::Void, true) => vec![
                self.piece((0, 2), "length of the header", lengths.0, "object-heap/4:0..2"),
                self.piece((2, 2), "bytes of all fields", lengths.1, "object-heap/4:2..4"),
                self.piece(
                    (4, self.bytes.len() as u32 - 4),
                    "widths, if they differ, and header",
                    self.hex(4, self.bytes.len() as u32 - 4),
                    "object-heap/4:4+*w*..",
                ),
            ],
            _ => self.deltas(),
        }
    }

    fn deltas(&self) -> Vec<Piece> {
        let mut pieces = vec![self.link(0, "link", "5:0..24")];
        let mut at = 4;
        while let Some(delta) = word(self.bytes, at as usize).and_then(|word| Delta::decode(word, at)) {
            let (from, end) = (delta.value_at(), delta.end());
            let state = match () {
                () if !delta.stands() => ", void",
                () if delta.is_open() => ", open",
                () => "",
            };
            let value = match from > at {
                true => self.hex(from, end.saturating_sub(from)),
                false => self.hex(at, 2),
            };
            pieces.push(self.piece(
                (at, end - at),
                format!("delta of field {}", delta.index()),
                value + state,
                "14:0..16",
            ));
            at = end;
        }
        if let Some(rest) = self.bytes.get(at as usize..).filter(|rest| rest.iter().any(|&byte| byte != 0xFF)) {
            pieces.push(self.piece((at, rest.len() as u32), "delta", "torn", "14:So bits 24 and 25"));
        }
        pieces
    }

    /// Whether the image has error detection, as a log unit says.
    fn has_error_detection(&self) -> bool {
        let (part, whole) = (*self.cells.part(), self.cells.whole);
        (0..part.unit_count).map(EraseUnit).any(|unit| {
            let head = whole.peek(part.start_of(unit), 24);
            if !matches!(RawUnit::new(&part, unit, head).purpose(), Purpose::Log(_)) {
                return false;
            }
            let log = RawUnit::new(&part, unit, whole.peek(part.start_of(unit), part.unit_size_bytes as usize));
            let is_said = |entry| matches!(entry, Some(Entry::Setting { key: 0, value }) if value >> 24 & 1 == 1);
            log.log().any(|place| is_said(place.entry))
        })
    }

    fn units(&self) -> impl Iterator<Item = RawUnit<Vec<u8>>> {
        let (part, whole) = (*self.cells.part(), self.cells.whole);
        (0..part.unit_count).map(EraseUnit).filter_map(move |unit| {
            let head = whole.peek(part.start_of(unit), 24);
            let is_data = matches!(RawUnit::new(&part, unit, head).purpose(), Purpose::Data(_));
            is_data.then(|| RawUnit::new(&part, unit, whole.peek(part.start_of(unit), part.unit_size_bytes as usize)))
        })
    }

    /// Where a sector is.
    fn place_of(&self, pointer: SectorPtr) -> Option<Address> {
        let unit = self.units().find(|unit| unit.purpose() == Purpose::Data(pointer.unit()))?;
        let place = unit.descriptors().find(|place| place.number == u32::from(pointer.sector()))?;
        match place.says {
            DescriptorSays::Sector(sector) if sector.offset < unit.size_bytes() => {
                Some(unit.start().offset(sector.offset))
            }
            _ => None,
        }
    }

    /// The object in whose list this record is.
    fn object_of(&self) -> Option<ObjectLook> {
        for unit in self.units() {
            for place in unit.descriptors() {
                let DescriptorSays::Sector(sector) = place.says else { continue };
                if sector.kind != norn_nor_store::SectorKind::Leaf {
                    continue;
                }
                let bytes = self.cells.whole.peek(unit.start().offset(sector.offset), 16);
                if let Some(object) = ObjectLook::of(&bytes).filter(|object| self.is_in_list(object)) {
                    return Some(object);
                }
            }
        }
        None
    }

    fn is_in_list(&self, object: &ObjectLook) -> bool {
        let mut link = object.first;
        for _ in 0..RECORDS_MAX {
            let Link::To(record) = link else { return false };
            let Some(place) = self.place_of(record) else { return false };
            if place == self.start {
                return true;
            }
            link = word(&self.cells.whole.peek(place, 4), 0).map_or(Link::Erased, Link::decode);
        }
        false
    }
}

/// The line of an entry's kind.
fn line_of(entry: &Entry) -> &'static str {
    match entry {
        Entry::ReleaseTree { .. } => "3:0",
        Entry::Ready => "3:1",
        Entry::Root { .. } => "3:2",
        Entry::Setting { .. } => "3:3",
        Entry::Chain { .. } => "3:4",
        Entry::Erase { .. } => "3:5",
        Entry::Move { .. } => "3:6",
        Entry::New { .. } => "3:7",
        Entry::Swap { .. } => "3:8",
        Entry::Release { .. } => "3:9",
        Entry::Link { .. } => "3:10",
        Entry::Commit { .. } => "3:11",
        Entry::Abort { .. } => "3:12",
        Entry::LogUnit { .. } => "3:13",
        Entry::DataUnit { .. } => "3:14",
        Entry::Serial { .. } => "3:15",
    }
}

/// The sector that an entry is about.
fn pointer_of(entry: &Entry) -> Option<SectorPtr> {
    match *entry {
        Entry::Root { node, .. } => node,
        Entry::New { a, .. } | Entry::Release { a, .. } => Some(a),
        Entry::Swap { node, .. } | Entry::ReleaseTree { node, .. } => Some(node),
        Entry::Link { new, .. } => Some(new),
        _ => None,
    }
}
