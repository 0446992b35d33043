//! Parts of which nothing is known but what is programmed, and how often units were erased.

use norn_flash::{Address, Recognised};
use norn_flash_sim::{ImageBytes, NandSim, NorSim};
use serde_json::Value;

use crate::anatomy::{Area, ERASED, Found, Kind, State, UNKNOWN};
use crate::content::{Cells, Content, Played};
use crate::shown::{MountCalls, Overview, Recording, Shown, Tour, UnitOverview};
use crate::traced::Traced;

const KINDS: &[Kind] = &[UNKNOWN, ERASED];

/// A NOR part with what the page does not take apart.
#[derive(Clone)]
pub enum Plain {}

impl Content for Plain {
    const NAME: &'static str = "";
    const FORMATS: &'static [&'static str] = &[];
    const PANELS: &'static [&'static str] = &[];
    const TOUR: Option<Tour> = None;
    const KINDS: &'static [Kind] = KINDS;
    const HEAD_BYTES: u32 = 0;

    fn recognised_on(_: &mut NorSim) -> Result<Option<Recognised>, String> {
        Ok(None)
    }

    fn mount(_: Traced) -> Result<Plain, String> {
        Err("nothing that this page takes apart".to_owned())
    }

    fn device(&self) -> &Traced {
        match *self {}
    }

    fn device_mut(&mut self) -> &mut Traced {
        match *self {}
    }

    fn role(_: Cells<'_>) -> (Option<String>, Option<u32>) {
        (None, None)
    }

    fn areas(cells: Cells<'_>, _: Option<&mut Plain>) -> Vec<Area> {
        areas(cells)
    }

    fn at(cells: Cells<'_>, address: Address) -> Found {
        at(cells, address)
    }
}

impl Played for Plain {
    type Call = ();

    fn ask(&mut self, _: &Value) -> Result<Value, String> {
        match *self {}
    }

    fn draw(&self, _: &mut fastrand::Rng) {
        match *self {}
    }

    fn make(&mut self, (): &()) -> Result<String, String> {
        match *self {}
    }
}

/// A unit of which nothing is known but where it is erased.
pub fn areas(cells: Cells<'_>) -> Vec<Area> {
    let start = cells.start();
    let used = cells.bytes.iter().rposition(|&byte| byte != 0xFF).map_or(0, |last| last as u32 + 1);
    let area = |at, bytes, kind, text: &str| Area {
        at: start.offset(at),
        bytes,
        kind,
        state: State::Live,
        text: text.to_owned(),
    };
    let unknown = area(0, used, UNKNOWN, "programmed");
    let erased = area(used, cells.bytes.len() as u32 - used, ERASED, "erased");
    [unknown, erased].into_iter().filter(|area| area.bytes > 0).collect()
}

/// The area at an address of such a unit.
pub fn at(cells: Cells<'_>, address: Address) -> Found {
    let area = areas(cells).into_iter().find(|area| (area.at.0..area.at.0 + area.bytes).contains(&address.0));
    match area {
        Some(area) => Found::of(&area),
        None => Found { title: "nothing".to_owned(), at: address, bytes: 1, object: None, pieces: Vec::new() },
    }
}

/// A NAND part: its blocks, and how often each was erased.
pub struct Blocks(pub NandSim);

impl Shown for Blocks {
    fn overview(&mut self) -> Overview {
        let block = |erases| UnitOverview { erases, ..UnitOverview::default() };
        Overview {
            part: self.0.spec().name.to_string(),
            within: None,
            units_are: "blocks",
            units: self.0.erase_counts().map(block).collect(),
            unit_bytes: self.extent().1,
            content: "a NAND part".to_owned(),
            formats: &[],
            panels: &[],
            tour: None,
            kinds: KINDS,
            erases: self.0.counters().erases,
            programs: self.0.counters().programs,
            is_mounted: false,
            mount: MountCalls::default(),
            has_image: false,
        }
    }

    fn extent(&self) -> (u16, u32) {
        let part = self.0.spec().part;
        (part.block_count, u32::from(part.pages_per_block) * u32::from(part.page_bytes))
    }

    fn areas(&mut self, _: u16) -> Result<Vec<Area>, String> {
        Ok(Vec::new())
    }

    fn at(&mut self, _: Address) -> Result<(Found, Vec<u8>), String> {
        Err("this is a NAND part".to_owned())
    }

    fn mounted(&self) -> Option<Box<dyn Shown>> {
        None
    }

    fn mount_texts(&self) -> Vec<String> {
        Vec::new()
    }

    fn record(&self, _: u64, _: usize) -> Result<Box<dyn Recording>, String> {
        Err("nothing is played on a NAND part".to_owned())
    }

    fn image(&self) -> Result<ImageBytes, String> {
        Err("this is a NAND part".to_owned())
    }
}
