//! A log-structured heap in areas and pieces, decoded from the cells; each piece with the line of
//! `docs/format/log-heap.md` that describes it.

use norn_flash::{Address, EraseUnit, NorPart};
use norn_heap::Ref;
use norn_log_heap::format::{
    Class, DIRECTORY, ENTRY_BYTES, Entry, FANOUT, Geometry, Granule, HEADED_AT, HEADER_BYTES, Header, Owner,
    SectorKind, Stream, UNIT_HEAD_BYTES, UnitHead,
};
use norn_log_heap::inspection::{LogPlace, NodePlace, TailPlace, decode_entry, decode_unit_head, sectors};

use crate::anatomy::{Area, ERASED, FREE, Found, HEAD, Kind, Piece, State, UNKNOWN, hexadecimal};

const OBJECT: Kind = Kind::new(b'o', "object", "object");
const ARRAY: Kind = Kind::new(b'a', "array", "array");
const ROOTS: Kind = Kind::new(b'r', "roots", "roots");
const NODE: Kind = Kind::new(b'm', "map", "map node");
const RECORD: Kind = Kind::new(b'l', "log", "record of the log");
const CHANGES: Kind = Kind::new(b'c', "changes", "changes in a tail");
/// Kinds of areas.
pub const KINDS: &[Kind] = &[HEAD, OBJECT, ARRAY, ROOTS, NODE, RECORD, CHANGES, FREE, UNKNOWN, ERASED];

/// Whether an area is the sector of something.
pub fn is_sector(kind: Kind) -> bool {
    [OBJECT, ARRAY, ROOTS, NODE].contains(&kind)
}

/// The bytes of one erase unit.
pub struct Unit<'c> {
    cells: &'c [u8],
    unit: EraseUnit,
    geometry: Geometry,
    head: Option<UnitHead>,
}

impl<'c> Unit<'c> {
    /// A unit of a part, with its cells; `None` of a part that can have no such heap.
    pub fn new(part: &NorPart, unit: EraseUnit, cells: &'c [u8]) -> Option<Unit<'c>> {
        let geometry = Geometry::of(part).ok()?;
        let head = cells.first_chunk().and_then(|bytes| decode_unit_head(bytes, &geometry));
        let geometry = head.map_or(geometry, |head| geometry.with_detection(head.detection));
        Some(Unit { cells, unit, geometry, head })
    }

    /// Its head, if that is whole.
    pub fn head(&self) -> Option<UnitHead> {
        self.head
    }

    /// The sectors in it.
    pub fn sectors(&self) -> impl Iterator<Item = (Granule, Header)> + use<'c> {
        sectors(self.cells, self.unit, &self.geometry)
    }

    fn address(&self, granule: Granule) -> Address {
        Address(granule.0 * self.geometry.granule_bytes)
    }

    fn start(&self) -> Granule {
        self.geometry.start(self.unit)
    }

    /// The bytes of granules of this unit.
    fn granules(&self, from: Granule, count: u32) -> &'c [u8] {
        let bytes = self.geometry.granule_bytes;
        let at = (from.0 - self.start().0) * bytes;
        let end = (at + count * bytes).min(self.cells.len() as u32);
        &self.cells[(at.min(end)) as usize..end as usize]
    }

    fn area(&self, (from, count): (Granule, u32), (kind, state): (Kind, State), text: String) -> Area {
        Area { at: self.address(from), bytes: count * self.geometry.granule_bytes, kind, state, text }
    }

    /// Everything in the unit, without gaps. `is_live` says of a sector whether the map leads to it.
    pub fn areas(&self, mut is_live: impl FnMut(Owner, Granule) -> bool) -> Vec<Area> {
        let mut areas = Vec::new();
        let mut next = self.start();
        if let Some(head) = self.head {
            let text = format!("head: {}, sequence number {}", head.stream, head.sequence);
            areas.push(self.area((next, self.geometry.head()), (HEAD, State::Live), text));
            next = next.offset(self.geometry.head());
            if head.stream == Stream::Log {
                next = self.add_records(next, &mut areas);
            }
        }
        for (at, header) in self.sectors() {
            self.add_rest((next, at), &mut areas);
            let state = if is_live(header.owner(), at) { State::Live } else { State::Obsolete };
            self.add_sector((at, &header), state, &mut areas);
            next = at.offset(header.granules(&self.geometry));
        }
        self.add_rest((next, self.start().offset(self.geometry.unit_granules)), &mut areas);
        areas
    }

    /// The records of a log, a place each, up to the first that is erased.
    fn add_records(&self, from: Granule, areas: &mut Vec<Area>) -> Granule {
        let mut at = from;
        while at.0 < self.start().0 + self.geometry.unit_granules {
            let (kind, text) = match LogPlace::decode(self.granules(at, 1)) {
                LogPlace::Erased => break,
                LogPlace::Broken => (UNKNOWN, "no whole record".to_owned()),
                LogPlace::Record(record) => (RECORD, format!("record: {record}")),
            };
            areas.push(self.area((at, 1), (kind, State::Live), text));
            at = at.offset(1);
        }
        at
    }

    fn add_sector(&self, (at, header): (Granule, &Header), state: State, areas: &mut Vec<Area>) {
        let kind = match (header.kind, header.class) {
            (SectorKind::Node, _) => NODE,
            (_, Class::Object) if header.generation == DIRECTORY => ROOTS,
            (_, Class::Object) => OBJECT,
            _ => ARRAY,
        };
        let bare = header.bare_granules(&self.geometry);
        areas.push(self.area((at, bare), (kind, state), header.to_string()));
        let kind_of = |number: u32| {
            let place = self.granules(at.offset(bare + number), 1);
            match header.kind {
                SectorKind::Node => match NodePlace::decode(place) {
                    NodePlace::Erased => FREE,
                    NodePlace::Broken => UNKNOWN,
                    NodePlace::Change(..) => CHANGES,
                },
                _ => match TailPlace::decode(place) {
                    TailPlace::Erased => FREE,
                    TailPlace::Broken => UNKNOWN,
                    _ => CHANGES,
                },
            }
        };
        let kinds: Vec<Kind> = (0..u32::from(header.tail)).map(kind_of).collect();
        let mut from = 0;
        for same in kinds.chunk_by(|one, next| one == next) {
            let what = match same[0] {
                FREE => "free places",
                UNKNOWN => "torn places",
                _ => "changes",
            };
            let (count, text) = (same.len() as u32, format!("{what} of {header}: {}", same.len()));
            areas.push(self.area((at.offset(bare + from), count), (same[0], state), text));
            from += count;
        }
    }

    /// What is between two granules and no sector: programmed up to some place, erased from there.
    fn add_rest(&self, (from, to): (Granule, Granule), areas: &mut Vec<Area>) {
        let granule = self.geometry.granule_bytes as usize;
        let places = self.granules(from, to.0.saturating_sub(from.0)).chunks(granule);
        let count = places.len() as u32;
        let used = places.rev().skip_while(|place| place.iter().all(|&byte| byte == 0xFF)).count() as u32;
        if used > 0 {
            let text = "no whole head or sector".to_owned();
            areas.push(self.area((from, used), (UNKNOWN, State::Obsolete), text));
        }
        if count > used {
            areas.push(self.area((from.offset(used), count - used), (ERASED, State::Live), "erased".to_owned()));
        }
    }

    /// What is at an address of this unit.
    pub fn at(&self, address: Address) -> Found {
        let granule = Granule(address.0 / self.geometry.granule_bytes);
        let is_in = |from: Granule, count: u32| (from.0..from.0 + count).contains(&granule.0);
        if let Some(head) = self.head.filter(|_| is_in(self.start(), self.geometry.head())) {
            return self.found((self.start(), self.geometry.head()), "the unit's head", self.head_pieces(&head));
        }
        if let Some((at, header)) = self.sectors().find(|(at, header)| is_in(*at, header.granules(&self.geometry))) {
            let found = self.found((at, header.granules(&self.geometry)), header.to_string(), self.pieces(at, &header));
            let object = is_object(&header).then(|| Ref::new(header.index, header.generation).to_string());
            return Found { object, ..found };
        }
        let place = self.granules(granule, 1);
        if self.head.is_some_and(|head| head.stream == Stream::Log) {
            return self.found((granule, 1), "a place of the log", vec![self.record_piece(granule, place)]);
        }
        let areas = self.areas(|_, _| true);
        let area = areas.into_iter().find(|area| (area.at.0..area.at.0 + area.bytes).contains(&address.0));
        match area {
            Some(area) => Found::of(&area),
            None => self.found((granule, 1), "nothing", Vec::new()),
        }
    }

    fn found(&self, (at, count): (Granule, u32), title: impl Into<String>, pieces: Vec<Piece>) -> Found {
        let bytes = count * self.geometry.granule_bytes;
        Found { title: title.into(), at: self.address(at), bytes, object: None, pieces }
    }

    fn head_pieces(&self, head: &UnitHead) -> Vec<Piece> {
        let start = self.address(self.start());
        let piece = |at, bytes, name, value: String, line| Piece::new((start.offset(at), bytes), name, value, line);
        let Geometry { granule_bytes, unit_granules, unit_count, .. } = self.geometry;
        let detection = if self.geometry.detects() { "with error detection" } else { "without error detection" };
        vec![
            piece(0, 4, "format and version", "NLH1".to_owned(), "1:0..4"),
            piece(
                4,
                4,
                "geometry",
                format!("{unit_count} units of {unit_granules} granules of {granule_bytes} bytes"),
                "1:4..8",
            ),
            piece(8, 4, "sequence", head.sequence.to_string(), "1:8..12"),
            piece(12, 4, "erases", head.erases.to_string(), "1:12..16"),
            piece(16, 1, "stream", head.stream.to_string(), "1:16"),
            piece(17, 1, "error detection", detection.to_owned(), "1:17"),
            piece(20, UNIT_HEAD_BYTES - 20, "CRC-32", "of bytes 0..20".to_owned(), "1:20..24"),
        ]
    }

    fn record_piece(&self, at: Granule, place: &[u8]) -> Piece {
        let (value, line) = match LogPlace::decode(place) {
            LogPlace::Erased => ("erased".to_owned(), "4:A place is one granule"),
            LogPlace::Broken => ("torn or damaged".to_owned(), "4:A place whose number of zeros"),
            LogPlace::Record(record) => (record.to_string(), "4:**In the log**"),
        };
        let to = value.split_once("0x").and_then(|(_, digits)| u32::from_str_radix(digits, 16).ok()).map(Address);
        Piece { to, ..Piece::new((self.address(at), place.len() as u32), "record", value, line) }
    }

    /// A sector in pieces: its header, what is after it, and its places.
    fn pieces(&self, at: Granule, header: &Header) -> Vec<Piece> {
        let start = self.address(at);
        let piece =
            |at, bytes, name: &str, value: String, line| Piece::new((start.offset(at), bytes), name, value, line);
        let is_node = header.kind == SectorKind::Node;
        let (index, generation) = if is_node { ("index", "level") } else { ("slot", "generation") };
        let (kind, class) = (format!("{:?}", header.kind).to_lowercase(), format!("{:?}", header.class).to_lowercase());
        let zeros = "the check of the header".to_owned();
        let mut pieces = vec![
            piece(0, 2, index, header.index.to_string(), "2:0..16"),
            piece(2, 2, generation, header.generation.to_string(), "2:16..32"),
            piece(4, 1, "fields", header.count.to_string(), "2:32..40"),
            piece(5, 1, "width, or granules", header.width.to_string(), "2:40..48"),
            piece(6, 1, "places, class", format!("{}, {class}", header.tail), "2:48..54"),
            piece(7, 1, "zeros, kind", format!("{zeros}, {kind}"), "2:56..62"),
        ];
        let bare = header.bare_granules(&self.geometry);
        let bytes = self.granules(at, bare);
        match is_node {
            true => self.add_entries(start, bytes, &mut pieces),
            false => self.add_values((start, bytes), header, &mut pieces),
        }
        if self.geometry.detects() {
            let end = bytes.len() as u32 - self.geometry.check_bytes();
            let check = "of all bytes of the sector before".to_owned();
            pieces.push(piece(end, self.geometry.check_bytes(), "CRC-32", check, "2:With error detection"));
        }
        for number in 0..u32::from(header.tail) {
            let granule = at.offset(bare + number);
            pieces.push(self.place_piece((granule, number), self.granules(granule, 1), header));
        }
        pieces
    }

    fn add_entries(&self, start: Address, bytes: &[u8], pieces: &mut Vec<Piece>) {
        let entries = bytes[HEADER_BYTES as usize..].chunks_exact(ENTRY_BYTES as usize).take(FANOUT as usize);
        for (number, entry) in (0..).zip(entries) {
            let entry = decode_entry([entry[0], entry[1], entry[2]]);
            let place = (start.offset(HEADER_BYTES + number * ENTRY_BYTES), ENTRY_BYTES);
            let (value, to) = self.entry_text(entry);
            pieces.push(Piece { to, ..Piece::new(place, format!("entry {number}"), value, "3:0 to 0x7EFFFF") });
        }
    }

    fn entry_text(&self, entry: Entry) -> (String, Option<Address>) {
        match entry {
            Entry::At(granule) => {
                let to = self.address(granule);
                (format!("{to}"), self.geometry.contains(granule).then_some(to))
            }
            Entry::Nowhere(u16::MAX) => ("nowhere".to_owned(), None),
            Entry::Nowhere(generation) => (format!("nowhere, generation {generation}"), None),
        }
    }

    fn add_values(&self, (start, bytes): (Address, &[u8]), header: &Header, pieces: &mut Vec<Piece>) {
        let byte = |at: u32| u32::from(bytes.get(at as usize).copied().unwrap_or_default());
        let mut piece = |at: u32, length: u32, name: String, line| {
            let value = bytes.get(at as usize..(at + length) as usize).unwrap_or_default();
            if length > 0 {
                pieces.push(Piece::new((start.offset(at), length), name, hexadecimal(value), line));
            }
        };
        const LINE: &str = "2:After it, without a gap";
        let count = u32::from(header.count);
        let (widths_at, same, header_bytes) = match header.kind {
            SectorKind::Headed => {
                piece(HEADER_BYTES, 1, "length of the header".to_owned(), LINE);
                piece(HEADER_BYTES + 1, 1, "width of all fields".to_owned(), LINE);
                (HEADED_AT, byte(HEADER_BYTES + 1), byte(HEADER_BYTES))
            }
            SectorKind::Various => (HEADER_BYTES, 0, 0),
            _ => (HEADER_BYTES, u32::from(header.width), 0),
        };
        let table = if same == 0 { count } else { 0 };
        piece(widths_at, table, "widths".to_owned(), LINE);
        let is_directory = header.generation == DIRECTORY && header.class == Class::Object;
        let line = if is_directory { "2:A directory of roots" } else { LINE };
        piece(widths_at + table, header_bytes, if is_directory { "roots" } else { "header" }.to_owned(), line);
        let mut at = widths_at + table + header_bytes;
        for field in 0..count {
            let width = if same == 0 { byte(widths_at + field) } else { same };
            piece(at, width, format!("field {field}"), LINE);
            at += width;
        }
    }

    fn place_piece(&self, (at, number): (Granule, u32), place: &[u8], header: &Header) -> Piece {
        let extent = (self.address(at), place.len() as u32);
        let name = format!("place {number}");
        if header.kind == SectorKind::Node {
            return match NodePlace::decode(place) {
                NodePlace::Erased => Piece::new(extent, name, "erased", "4:**In a node**"),
                NodePlace::Broken => Piece::new(extent, name, "torn or damaged", "4:A place whose number of zeros"),
                NodePlace::Change(digit, entry) => {
                    let (value, to) = self.entry_text(entry);
                    let value = format!("entry {digit}: {value}");
                    Piece { to, ..Piece::new(extent, name, value, "4:**In a node**") }
                }
            };
        }
        let (value, line) = match TailPlace::decode(place) {
            TailPlace::Erased => ("erased".to_owned(), "4:A place is one granule"),
            TailPlace::Broken => ("torn or damaged".to_owned(), "4:A place whose number of zeros"),
            TailPlace::First(field) => (format!("delta of field {field}"), "4:**In a tail**"),
            TailPlace::Next => ("the delta goes on".to_owned(), "4:**In a tail**"),
            TailPlace::Seal(field) => (format!("seal of field {field}"), "4:A *seal*"),
            TailPlace::Void(from) => (format!("void from place {from} on"), "4:A *seal*"),
        };
        Piece::new(extent, name, value, line)
    }
}

fn is_object(header: &Header) -> bool {
    let has_reference = header.class != Class::Section && header.generation != DIRECTORY;
    header.kind != SectorKind::Node && has_reference
}
