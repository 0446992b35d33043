//! A NOR part as it is shown: its cells, and what a mount makes of them.
//!
//! Invariant: `cells` are never changed by a look. A mount works on a copy; [`mounted`](Chip::mounted) takes it over.

use norn_flash::{Address, EraseUnit, NorPart};
use norn_flash_sim::{NorSim, SimError};
use norn_heap::{Kind as ObjectKind, Ref};
use norn_log_heap::{LogHeapIn, UnitRow};
use serde_json::{Value, json};

use crate::anatomy::{Area, Kind, State, hexadecimal, strip};
use crate::log_heap::Unit;
use crate::traced::{Act, Operation, Traced};

/// A heap on a part whose operations are listed.
pub type Heap = LogHeapIn<Traced, Vec<UnitRow>>;

/// Most objects in one answer, and most fields of one.
const LISTED_MAX: usize = 200;

/// A NOR part as it is shown.
#[derive(Clone)]
pub struct Chip {
    cells: NorSim,
    heap: Option<Box<Heap>>,
    /// Why there is no heap.
    without: String,
    /// What the mount programmed and erased, and the words that it read.
    mount: (Vec<Operation>, u64),
}

impl Chip {
    /// A part, of which a copy is mounted.
    pub fn of(cells: NorSim) -> Chip {
        let mut copy = cells.clone();
        copy.freeze_counters();
        let recognised = norn_log_heap::recognise(&mut copy);
        let without = match recognised {
            Ok(Some(_)) => String::new(),
            Ok(None) => "no log-structured heap".to_owned(),
            Err(error) => error.to_string(),
        };
        let mut chip = Chip { cells, heap: None, without, mount: (Vec::new(), 0) };
        if chip.without.is_empty() {
            let before = chip.cells.counters().reads();
            let rows = vec![UnitRow::UNUSED; usize::from(chip.part().unit_count)];
            match LogHeapIn::mount_in(Traced::new(chip.cells.clone()), rows) {
                Ok(mut heap) => {
                    let device = heap.device_mut();
                    chip.mount = (std::mem::take(&mut device.operations), device.sim.counters().reads() - before);
                    chip.heap = Some(Box::new(heap));
                }
                Err(error) => chip.without = error.to_string(),
            }
        }
        chip
    }

    /// A part as it was while a heap was at work: what the heap knew says what is live.
    pub fn at_work(cells: NorSim, heap: &Heap) -> Chip {
        Chip { cells, heap: Some(Box::new(heap.clone())), without: String::new(), mount: (Vec::new(), 0) }
    }

    /// The part.
    pub fn part(&self) -> NorPart {
        self.cells.spec().part
    }

    /// Its cells, wear and counters.
    pub fn cells(&self) -> &NorSim {
        &self.cells
    }

    /// The mounted heap, if there is one.
    pub fn heap(&self) -> Option<&Heap> {
        self.heap.as_deref()
    }

    /// What the mount programmed and erased.
    pub fn mount_operations(&self) -> &[Operation] {
        &self.mount.0
    }

    /// The part after the mount.
    #[must_use]
    pub fn mounted(&self) -> Chip {
        match &self.heap {
            Some(heap) => Chip::of(heap.device().sim.clone()),
            None => self.clone(),
        }
    }

    fn bytes_of(&self, unit: EraseUnit) -> Vec<u8> {
        let part = self.part();
        self.cells.peek(part.start_of(unit), part.unit_size_bytes as usize)
    }

    fn unit_at(&self, address: Address) -> Result<EraseUnit, String> {
        let part = self.part();
        match address.0 < part.size_bytes() {
            true => Ok(EraseUnit((address.0 / part.unit_size_bytes) as u16)),
            false => Err(format!("the part has no address {address}")),
        }
    }

    /// The areas of a unit.
    pub fn areas(&mut self, unit: EraseUnit) -> Vec<Area> {
        let (part, cells) = (self.part(), self.bytes_of(unit));
        let heap = &mut self.heap;
        match Unit::new(&part, unit, &cells).filter(|unit| heap.is_some() || unit.head().is_some()) {
            Some(decoded) => decoded.areas(|owner, at| {
                // Where the look-up fails, nothing leads there.
                heap.as_mut().is_some_and(|heap| heap.leads_to(owner, at).unwrap_or(false))
            }),
            None => plain(part.start_of(unit), &cells),
        }
    }

    /// What a part holds at an address, in words.
    pub fn text_at(&self, address: Address) -> String {
        let Ok(unit) = self.unit_at(address) else { return "outside of the part".to_owned() };
        let cells = self.bytes_of(unit);
        match Unit::new(&self.part(), unit, &cells) {
            Some(decoded) => {
                let found = decoded.at(address);
                let place = found.pieces.iter().find(|piece| {
                    (piece.at.0..piece.at.0 + piece.bytes).contains(&address.0)
                        && (piece.name.starts_with("place") || piece.name == "record")
                });
                match place {
                    Some(piece) if piece.name == "record" => format!("record {}", piece.value),
                    Some(piece) => format!("{} of {}: {}", piece.name, found.title, piece.value),
                    None => found.title,
                }
            }
            None => String::new(),
        }
    }

    /// An operation in words: what it does to which cells, as they are on this part.
    pub fn text_of(&self, operation: &Operation) -> String {
        match operation.act {
            Act::Erase(unit) => format!("erase {unit}"),
            Act::Program(address, bytes) => format!("program {bytes} bytes at {address}: {}", self.text_at(address)),
        }
    }

    /// The part as a whole.
    pub fn overview(&mut self) -> Value {
        let part = self.part();
        let counters = self.cells.counters();
        let units: Vec<Value> = (0..part.unit_count)
            .zip(self.cells.erase_counts())
            .map(|(unit, erases)| {
                let head = self.cells.peek(part.start_of(EraseUnit(unit)), 24);
                let head = Unit::new(&part, EraseUnit(unit), &head).and_then(|unit| unit.head());
                json!([erases, head.map(|head| head.stream.to_string()), head.map(|head| head.sequence)])
            })
            .collect();
        let (operations, reads) = &self.mount;
        json!({
            "part": self.cells.spec().name, "unit_count": part.unit_count, "unit_bytes": part.unit_size_bytes,
            "program_bytes": part.program_unit_bytes, "units": units,
            "content": match &self.heap { Some(_) => "a log-structured heap", None => &self.without },
            "has_heap": self.heap.is_some(),
            "erases": counters.erases, "programs": counters.programs(), "operations": self.cells.operations(),
            "mount": { "operations": operations.iter().map(|one| one.words).sum::<u64>(), "reads": reads },
        })
    }

    /// Rows of the picture: of each unit a strip, its sectors, and live bytes where a mount has counted them.
    pub fn rows(&mut self, first: u16, count: u16, columns: u32) -> Value {
        let last = first.saturating_add(count).min(self.part().unit_count);
        let unit_bytes = self.part().unit_size_bytes;
        let row = |unit: u16| {
            let unit = EraseUnit(unit);
            let areas = self.areas(unit);
            let sectors = areas.iter().filter(|area| is_sector(area.kind)).count();
            let live = self.heap.as_ref().map(|heap| heap.live_bytes_in(unit));
            json!({ "strip": strip(&areas, unit_bytes, columns), "sectors": sectors, "live": live })
        };
        (first..last).map(row).collect()
    }

    /// One unit in full.
    pub fn unit(&mut self, unit: u16) -> Result<Value, String> {
        if unit >= self.part().unit_count {
            return Err(format!("the part has no unit {unit}"));
        }
        let unit = EraseUnit(unit);
        let areas: Vec<Value> = self.areas(unit).iter().map(Area::to_json).collect();
        Ok(json!({ "unit": unit.0, "at": self.part().start_of(unit).0, "areas": areas }))
    }

    /// What is at an address: bytes, and the line of the format for each piece of them.
    pub fn at(&self, address: Address) -> Result<Value, String> {
        let unit = self.unit_at(address)?;
        let cells = self.bytes_of(unit);
        let Some(decoded) = Unit::new(&self.part(), unit, &cells) else {
            return Err("this part can have no log-structured heap".to_owned());
        };
        let found = decoded.at(address);
        let start = found.at.0 - self.part().start_of(unit).0;
        let shown = found.bytes.min(4096) as usize;
        let bytes = hexadecimal(&cells[start as usize..start as usize + shown]);
        let pieces: Vec<Value> = found.pieces.iter().map(crate::anatomy::Piece::to_json).collect();
        Ok(json!({
            "unit": unit.0, "title": found.title, "at": found.at.0, "length": found.bytes, "bytes": bytes,
            "object": found.object.map(|object| object.to_string()), "pieces": pieces,
        }))
    }

    /// Named roots, and objects after one.
    pub fn objects(&self, after: Option<Ref>) -> Result<Value, String> {
        let mut heap = self.heap.clone().ok_or_else(|| self.without.clone())?;
        let (mut roots, mut objects, mut last) = (Vec::new(), Vec::new(), after);
        let failed = |error: norn_heap::AccessError<SimError>| error.to_string();
        heap.visit_roots(|name, reference| {
            roots.push(json!({ "root": name.escape_ascii().to_string(), "reference": reference.to_string() }));
        })
        .map_err(failed)?;
        while let Some(reference) = heap.next_object(last).map_err(failed)? {
            if objects.len() == LISTED_MAX {
                return Ok(json!({ "roots": roots, "objects": objects, "after": last.map(Ref::bits) }));
            }
            let info = heap.info(reference).map_err(failed)?;
            let sections = heap.sector_info(reference).map_err(failed)?.sections;
            objects.push(json!({
                "reference": reference.to_string(), "bits": reference.bits(),
                "kind": if info.kind == ObjectKind::Object { "object" } else { "array" },
                "fields": info.count, "data_bytes": info.data_bytes, "header_bytes": info.header_bytes,
                "sectors": sections + 1,
            }));
            last = Some(reference);
        }
        Ok(json!({ "roots": roots, "objects": objects, "after": null }))
    }

    /// An object or an array with its values, and where these are.
    pub fn object(&self, reference: Ref) -> Result<Value, String> {
        let mut heap = self.heap.clone().ok_or_else(|| self.without.clone())?;
        let failed = |error: norn_heap::AccessError<SimError>| error.to_string();
        let info = heap.info(reference).map_err(failed)?;
        let mut fields = Vec::new();
        for index in 0..info.count.min(LISTED_MAX) {
            let place = heap.place_of_value(reference, index).map_err(failed)?;
            let mut value = vec![0; place.width as usize];
            match info.kind {
                ObjectKind::Object => heap.get_field(reference, index, &mut value),
                ObjectKind::Array => heap.array_load(reference, index, &mut value),
            }
            .map_err(failed)?;
            let names = value.first_chunk().and_then(|bits| Ref::from_bits(u32::from_le_bytes(*bits)));
            let names = names.filter(|names| value.len() == 4 && heap.info(*names).is_ok());
            fields.push(json!({
                "index": index, "value": hexadecimal(&value), "at": place.delta.unwrap_or(place.value).0,
                "in": if place.delta.is_some() { "a delta" } else { "the sector" },
                "names": names.map(|names| json!({ "reference": names.to_string(), "bits": names.bits() })),
            }));
        }
        let mut header = vec![0; info.header_bytes];
        heap.read_header(reference, &mut header).map_err(failed)?;
        let at = heap.place_of_value(reference, 0).ok().map(|place| place.sector.0);
        Ok(json!({
            "reference": reference.to_string(), "fields": fields, "count": info.count, "at": at,
            "header": hexadecimal(&header),
        }))
    }

    /// What the mount did, in words.
    pub fn mount_texts(&self) -> Vec<String> {
        let after = self.mounted();
        self.mount.0.iter().map(|operation| after.text_of(operation)).collect()
    }
}

/// Whether an area is the sector of something.
fn is_sector(kind: Kind) -> bool {
    matches!(kind, Kind::Object | Kind::Array | Kind::Roots | Kind::Node)
}

/// A unit of which nothing is known but where it is erased.
fn plain(start: Address, cells: &[u8]) -> Vec<Area> {
    let used = cells.iter().rposition(|&byte| byte != 0xFF).map_or(0, |last| last as u32 + 1);
    let area = |at, bytes, kind, text: &str| Area {
        at: start.offset(at),
        bytes,
        kind,
        state: State::Live,
        text: text.to_owned(),
    };
    let unknown = area(0, used, Kind::Unknown, "programmed");
    let erased = area(used, cells.len() as u32 - used, Kind::Erased, "erased");
    [unknown, erased].into_iter().filter(|area| area.bytes > 0).collect()
}
