//! Heaps with TinyStore's structure: `unit` decodes units, `sector` what is in their sectors.

pub mod entry_text;
mod sector;
mod unit;

use norn_flash::{Address, NorPart, Recognised};
use norn_flash_sim::NorSim;
use norn_heap::{Kind as ObjectKind, Ref};
use norn_nor_store::SectorKind;
use norn_nor_store::inspection::{Purpose, RawUnit};
use norn_object_heap::{Config, HeapIn, UnitRow};
use serde_json::{Value, json};

use crate::anatomy::{Area, Found, Kind};
use crate::content::{Cells, Content};
use crate::objects::{Objects, OnHeap, Place, words};
use crate::plain;
use crate::shown::Tour;
use crate::traced::Traced;

/// The heap below.
pub type Heap = HeapIn<Traced, Vec<UnitRow>>;

/// A mounted heap.
pub type TinyStore = OnHeap<Heap>;

fn rows(part: &NorPart) -> Vec<UnitRow> {
    vec![UnitRow::UNUSED; usize::from(part.unit_count)]
}

impl TinyStore {
    /// An empty heap, as `norn heap create` makes them.
    ///
    /// # Errors
    /// If none fits on the part, in words.
    pub fn format(part: NorSim) -> Result<TinyStore, String> {
        let rows = rows(&part.spec().part);
        HeapIn::format_in(Traced::new(part), rows, Config::default()).map(OnHeap::new).map_err(words)
    }
}

impl Objects for Heap {
    const PIECES: &'static str = "Records";

    fn place_of(&mut self, reference: Ref, index: usize) -> Result<Place, String> {
        let kind: ObjectKind = self.info(reference).map_err(words)?.kind;
        let place = self.whereabouts(reference, kind, index).map_err(words)?;
        let is_in = match place.is_in {
            SectorKind::Leaf => "nothing: the default",
            SectorKind::Opaque => "a delta",
            SectorKind::Record | SectorKind::Node => "a record",
        };
        Ok(Place { sector: place.leaf, value: place.value.unwrap_or(place.leaf), is_in, width: place.width as usize })
    }

    fn pieces_of(&mut self, reference: Ref) -> Result<usize, String> {
        Ok(self.list_info(reference).map_err(words)?.records)
    }
}

impl Content for TinyStore {
    const NAME: &'static str = "a heap with TinyStore's structure";
    const FORMATS: &'static [&'static str] = &["nor-store", "object-heap"];
    const PANELS: &'static [&'static str] = &["objects"];
    const TOUR: Option<Tour> = Some(Tour::TinyStore);
    const KINDS: &'static [Kind] = unit::KINDS;
    const HEAD_BYTES: u32 = 24;

    fn recognised_on(part: &mut NorSim) -> Result<Option<Recognised>, String> {
        norn_object_heap::recognise(part).map_err(words)
    }

    fn mount(device: Traced) -> Result<TinyStore, String> {
        let rows = rows(&device.sim.spec().part);
        HeapIn::mount_in(device, rows).map(OnHeap::new).map_err(words)
    }

    fn device(&self) -> &Traced {
        self.heap.device()
    }

    fn device_mut(&mut self) -> &mut Traced {
        self.heap.device_mut()
    }

    fn role(head: Cells<'_>) -> (Option<String>, Option<u32>) {
        match RawUnit::new(head.part(), head.unit, head.bytes).purpose() {
            Purpose::Log(sequence) => (Some("log".to_owned()), Some(sequence)),
            Purpose::Data(logical) => (Some(format!("data {}", logical.0)), None),
            other => (Some(other.name().to_owned()), None),
        }
    }

    fn areas(cells: Cells<'_>, _: Option<&mut TinyStore>) -> Vec<Area> {
        let unit = RawUnit::new(cells.part(), cells.unit, cells.bytes);
        match unit.purpose() {
            Purpose::NoIdentity => plain::areas(cells),
            _ => unit::areas(&unit, cells.bytes),
        }
    }

    fn at(cells: Cells<'_>, address: Address) -> Found {
        let area = Self::areas(cells, None);
        let area = area.iter().find(|area| (area.at.0..area.at.0 + area.bytes).contains(&address.0));
        match area {
            Some(area) => sector::found(cells, area),
            None => plain::at(cells, address),
        }
    }

    fn counts(cells: Cells<'_>, _: &[Area], _: Option<&TinyStore>) -> Value {
        let unit = RawUnit::new(cells.part(), cells.unit, cells.bytes);
        let sums = unit.sectors();
        match unit.purpose() {
            Purpose::Data(_) => {
                json!({ "sectors": sums.live, "live": sums.live_bytes, "obsolete": sums.obsolete_bytes })
            }
            _ => json!({}),
        }
    }

    fn text_at(cells: Cells<'_>, address: Address) -> String {
        let found = Self::at(cells, address);
        match found.piece_at(address) {
            Some(piece) if piece.name == "entry" => format!("entry {}", piece.value),
            Some(piece) if piece.name == "descriptor" => piece.value.clone(),
            Some(piece) => format!("{} of {}: {}", piece.name, found.title, piece.value),
            None => found.title,
        }
    }
}
