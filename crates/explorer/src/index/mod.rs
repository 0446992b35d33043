//! Ordered indexes: [`list`] mounts them, [`anatomy`] decodes blocks, [`panels`] has what the page's panels ask,
//! [`program`] a workload.

pub mod anatomy;
pub mod list;
pub mod panels;
pub mod program;
pub mod texts;

use norn_flash::{Address, Recognised};
use norn_flash_sim::NorSim;
use norn_ordered_index::fat_list::format::CELLS_OFFSET;
use norn_ordered_index::fat_list::inspection::Role;
use serde_json::{Value, json};

use self::list::{Index, ListWidths, identity_on};
use self::program::Call;
use crate::anatomy::{Area, Found, Kind, State};
use crate::content::{Cells, Content, Played};
use crate::objects::words;
use crate::plain;
use crate::shown::Tour;
use crate::traced::Traced;

impl<W: ListWidths> Content for Index<W> {
    const NAME: &'static str = "a sorted map";
    const FORMATS: &'static [&'static str] = &["ordered-index"];
    const PANELS: &'static [&'static str] = &["levels", "turnstiles", "keys"];
    const TOUR: Option<Tour> = Some(Tour::Index);
    const KINDS: &'static [Kind] = anatomy::KINDS;
    const HEAD_BYTES: u32 = CELLS_OFFSET;

    fn recognised_on(part: &mut NorSim) -> Result<Option<Recognised>, String> {
        match identity_on(part).and_then(|identity| W::of(&identity)) {
            Some(_) => norn_ordered_index::recognise(part).map_err(words),
            None => Ok(None),
        }
    }

    fn mount(device: Traced) -> Result<Self, String> {
        let widths = identity_on(&device.sim).and_then(|identity| W::of(&identity)).ok_or("no list")?;
        Ok(Index { list: Box::new(widths.mount(device).map_err(words)?), widths })
    }

    fn device(&self) -> &Traced {
        self.list.device()
    }

    fn device_mut(&mut self) -> &mut Traced {
        self.list.device_mut()
    }

    fn role(head: Cells<'_>) -> (Option<String>, Option<u32>) {
        (anatomy::role(head), None)
    }

    fn areas(cells: Cells<'_>, _: Option<&mut Self>) -> Vec<Area> {
        match anatomy::block(cells).role() {
            Role::NoIdentity | Role::OtherVersion(_) => plain::areas(cells),
            _ => anatomy::areas(cells),
        }
    }

    fn at(cells: Cells<'_>, address: Address) -> Found {
        match anatomy::block(cells).role() {
            Role::NoIdentity | Role::OtherVersion(_) => plain::at(cells, address),
            _ => anatomy::at(cells, address),
        }
    }

    fn counts(cells: Cells<'_>, areas: &[Area], _: Option<&Self>) -> Value {
        let keys = areas.iter().filter(|area| area.kind == anatomy::ENTRIES && area.state == State::Live).count();
        let [live, dead, free] = anatomy::counts(&anatomy::block(cells));
        json!({ "live": live, "dead": dead, "free": free, "keys": keys })
    }

    fn text_at(cells: Cells<'_>, address: Address) -> String {
        let found = Self::at(cells, address);
        match found.piece_at(address) {
            Some(piece) => format!("{} of {}: {}", piece.name, found.title, piece.value),
            None => found.title,
        }
    }

    fn look(whole: &NorSim, question: &Value) -> Option<Result<Value, String>> {
        (question["ask"] == "turnstiles").then(|| panels::turnstiles(whole, question))
    }
}

impl<W: ListWidths> Played for Index<W> {
    type Call = Call;

    fn ask(&mut self, question: &Value) -> Result<Value, String> {
        panels::ask(self, question)
    }

    fn draw(&self, random: &mut fastrand::Rng) -> Call {
        program::draw(self, random)
    }

    fn last_call(&self) -> Option<Call> {
        Some(Call::Stop)
    }

    fn make(&mut self, call: &Call) -> Result<String, String> {
        program::make(self, call)
    }
}
