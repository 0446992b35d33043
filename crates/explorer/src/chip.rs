//! A NOR part as it is shown: its cells, and what a mount makes of them.
//!
//! Invariant: `cells` are never changed by a look. A mount works on a copy; [`mounted`](Shown::mounted) takes it over.

use norn_flash::{Address, EraseUnit, NorPart};
use norn_flash_sim::NorSim;
use serde_json::Value;

use crate::anatomy::{Area, Found};
use crate::content::{Cells, Content};
use crate::play::Play;
use crate::shown::{Overview, Recording, Shown, UnitOverview};
use crate::traced::{Act, Operation, Traced};

/// A NOR part as it is shown.
#[derive(Clone)]
pub struct Chip<C> {
    cells: NorSim,
    /// What a mount left in memory, or why it failed.
    content: Result<C, String>,
    /// What the mount programmed and erased, and the words that it read.
    mount: (Vec<Operation>, u64),
}

impl<C: Content> Chip<C> {
    /// A part, of which a copy is mounted.
    pub fn of(cells: NorSim) -> Chip<C> {
        let before = cells.counters().reads();
        let (mut content, mut mount) = (C::mount(Traced::new(cells.clone())), (Vec::new(), 0));
        if let Ok(content) = &mut content {
            let device = content.device_mut();
            mount = (std::mem::take(&mut device.operations), device.sim.counters().reads() - before);
        }
        Chip { cells, content, mount }
    }

    /// A part as it was while a program was at work: what the program had in memory says what is live.
    pub fn at_work(cells: NorSim, content: &C) -> Chip<C> {
        Chip { cells, content: Ok(content.clone()), mount: (Vec::new(), 0) }
    }

    /// The part.
    pub fn part(&self) -> NorPart {
        self.cells.spec().part
    }

    /// Its cells, wear and counters.
    pub fn cells(&self) -> &NorSim {
        &self.cells
    }

    /// What is mounted.
    ///
    /// # Errors
    /// Why nothing is.
    pub fn content(&self) -> Result<&C, String> {
        self.content.as_ref().map_err(Clone::clone)
    }

    /// What the mount programmed and erased.
    pub fn mount_operations(&self) -> &[Operation] {
        &self.mount.0
    }

    /// The part after the mount; as it is, where that fails.
    #[must_use]
    pub fn after_mount(&self) -> Chip<C> {
        match &self.content {
            Ok(content) => Chip::of(content.device().sim.clone()),
            Err(_) => self.clone(),
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

    /// What is programmed at an address, in words.
    pub fn text_at(&self, address: Address) -> String {
        let Ok(unit) = self.unit_at(address) else { return "outside of the part".to_owned() };
        C::text_at(Cells { whole: &self.cells, unit, bytes: &self.bytes_of(unit) }, address)
    }

    /// An operation in words: what it does to which cells, as they are on this part.
    pub fn text_of(&self, operation: &Operation) -> String {
        match operation.act {
            Act::Erase(unit) => format!("erase {unit}"),
            Act::Program(address, bytes) => format!("program {bytes} bytes at {address}: {}", self.text_at(address)),
        }
    }
}

impl<C: Content> Shown for Chip<C> {
    fn overview(&mut self) -> Overview {
        let part = self.part();
        let counters = self.cells.counters();
        let units = (0..part.unit_count).map(EraseUnit).zip(self.cells.erase_counts()).map(|(unit, erases)| {
            let bytes = self.cells.peek(part.start_of(unit), C::HEAD_BYTES as usize);
            let (role, sequence) = C::role(Cells { whole: &self.cells, unit, bytes: &bytes });
            UnitOverview { erases, role, sequence }
        });
        Overview {
            part: self.cells.spec().name.to_string(),
            units_are: "units",
            units: units.collect(),
            unit_bytes: part.unit_size_bytes,
            content: self.content.as_ref().map_or_else(Clone::clone, |_| C::NAME.to_owned()),
            formats: C::FORMATS,
            panels: C::PANELS,
            kinds: C::KINDS,
            erases: counters.erases,
            programs: counters.programs(),
            is_mounted: self.content.is_ok(),
            mount: (self.mount.0.iter().map(|one| one.words).sum(), self.mount.1),
            has_image: true,
        }
    }

    fn areas(&mut self, unit: u16) -> Result<Vec<Area>, String> {
        if unit >= self.part().unit_count {
            return Err(format!("the part has no unit {unit}"));
        }
        let unit = EraseUnit(unit);
        let bytes = self.bytes_of(unit);
        let mut content = self.content.as_mut().ok();
        // What is read for a look is not counted.
        content.iter_mut().for_each(|content| content.device_mut().sim.freeze_counters());
        let areas = C::areas(Cells { whole: &self.cells, unit, bytes: &bytes }, content.as_deref_mut());
        content.iter_mut().for_each(|content| content.device_mut().sim.thaw_counters());
        Ok(areas)
    }

    fn counts(&mut self, unit: u16) -> Value {
        let areas = self.areas(unit).unwrap_or_default();
        let unit = EraseUnit(unit);
        C::counts(Cells { whole: &self.cells, unit, bytes: &self.bytes_of(unit) }, &areas, self.content.as_ref().ok())
    }

    fn at(&mut self, address: Address) -> Result<(Found, Vec<u8>), String> {
        let unit = self.unit_at(address)?;
        let found = C::at(Cells { whole: &self.cells, unit, bytes: &self.bytes_of(unit) }, address);
        let bytes = self.cells.peek(found.at, found.bytes as usize);
        Ok((found, bytes))
    }

    fn ask(&mut self, question: &Value) -> Result<Value, String> {
        // A look may fail and leave marks in memory: it has a copy.
        self.content()?.clone().ask(question)
    }

    fn mounted(&self) -> Option<Box<dyn Shown>> {
        self.content.is_ok().then(|| Box::new(self.after_mount()) as Box<dyn Shown>)
    }

    fn mount_texts(&self) -> Vec<String> {
        let after = self.after_mount();
        self.mount.0.iter().map(|operation| after.text_of(operation)).collect()
    }

    fn record(&self, seed: u64, calls: usize) -> Result<Box<dyn Recording>, String> {
        let mut play = Play::new(self.after_mount().content()?.clone());
        play.draw(seed, calls);
        Ok(Box::new(play))
    }

    fn image(&self) -> Result<Vec<u8>, String> {
        Ok(self.cells.image_bytes())
    }
}
