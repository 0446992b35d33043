//! Log-structured heaps: `unit` decodes them.

pub mod unit;

use norn_flash::{Address, NorPart, Recognised};
use norn_flash_sim::{NorSim, SimError};
use norn_heap::{AccessError, Ref};
use norn_log_heap::{LogHeapIn, UnitRow};
use serde_json::{Value, json};

use self::unit::Unit;
use crate::anatomy::{Area, Found, Kind};
use crate::content::{Cells, Content};
use crate::objects::{Objects, OnHeap, Place, words};
use crate::plain;
use crate::shown::Tour;
use crate::traced::Traced;

/// The heap below.
pub type Heap = LogHeapIn<Traced, Vec<UnitRow>>;

/// A mounted heap.
pub type LogHeap = OnHeap<Heap>;

impl LogHeap {
    /// An empty heap.
    ///
    /// # Errors
    /// If none fits on the part, in words.
    pub fn format(part: NorSim) -> Result<LogHeap, String> {
        let rows = rows(&part.spec().part);
        LogHeapIn::format_in(Traced::new(part), rows).map(OnHeap::new).map_err(words)
    }
}

fn rows(part: &NorPart) -> Vec<UnitRow> {
    vec![UnitRow::UNUSED; usize::from(part.unit_count)]
}

impl Objects for Heap {
    const PIECES: &'static str = "Sectors";

    fn place_of(&mut self, reference: Ref, index: usize) -> Result<Place, String> {
        let place = self.place_of_value(reference, index).map_err(words)?;
        let (value, is_in) = match place.delta {
            Some(delta) => (delta, "a delta"),
            None => (place.value, "the sector"),
        };
        Ok(Place { sector: place.sector, value, is_in, width: place.width as usize })
    }

    fn pieces_of(&mut self, reference: Ref) -> Result<usize, String> {
        let info = self.sector_info(reference).map_err(|error: AccessError<SimError>| error.to_string())?;
        Ok(info.sections as usize + 1)
    }
}

impl Content for LogHeap {
    const NAME: &'static str = "a log-structured heap";
    const FORMATS: &'static [&'static str] = &["log-heap"];
    const PANELS: &'static [&'static str] = &["objects"];
    const TOUR: Option<Tour> = Some(Tour::LogHeap);
    const KINDS: &'static [Kind] = unit::KINDS;
    const HEAD_BYTES: u32 = 24;

    fn recognised_on(part: &mut NorSim) -> Result<Option<Recognised>, String> {
        norn_log_heap::recognise(part).map_err(words)
    }

    fn mount(device: Traced) -> Result<LogHeap, String> {
        let rows = rows(&device.sim.spec().part);
        LogHeapIn::mount_in(device, rows).map(OnHeap::new).map_err(words)
    }

    fn device(&self) -> &Traced {
        self.heap.device()
    }

    fn device_mut(&mut self) -> &mut Traced {
        self.heap.device_mut()
    }

    fn role(head: Cells<'_>) -> (Option<String>, Option<u32>) {
        let head = Unit::new(head.part(), head.unit, head.bytes).and_then(|unit| unit.head());
        (head.map(|head| head.stream.to_string()), head.map(|head| head.sequence))
    }

    fn areas(cells: Cells<'_>, mounted: Option<&mut LogHeap>) -> Vec<Area> {
        let unit = Unit::new(cells.part(), cells.unit, cells.bytes);
        let Some(unit) = unit.filter(|unit| mounted.is_some() || unit.head().is_some()) else {
            return plain::areas(cells);
        };
        match mounted {
            // Where the look-up fails, nothing leads there.
            Some(LogHeap { heap, .. }) => unit.areas(|owner, at| heap.leads_to(owner, at).unwrap_or(false)),
            None => unit.areas(|_, _| false),
        }
    }

    fn at(cells: Cells<'_>, address: Address) -> Found {
        match Unit::new(cells.part(), cells.unit, cells.bytes) {
            Some(unit) => unit.at(address),
            None => plain::at(cells, address),
        }
    }

    fn counts(cells: Cells<'_>, areas: &[Area], mounted: Option<&LogHeap>) -> Value {
        let sectors = areas.iter().filter(|area| unit::is_sector(area.kind)).count();
        json!({ "sectors": sectors, "live": mounted.map(|mounted| mounted.heap.live_bytes_in(cells.unit)) })
    }

    fn text_at(cells: Cells<'_>, address: Address) -> String {
        let found = Self::at(cells, address);
        let place = found.piece_at(address).filter(|piece| piece.name.starts_with("place") || piece.name == "record");
        match place {
            Some(piece) if piece.name == "record" => format!("record {}", piece.value),
            Some(piece) => format!("{} of {}: {}", piece.name, found.title, piece.value),
            None => found.title,
        }
    }
}
