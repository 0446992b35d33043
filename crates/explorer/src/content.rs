//! What a format on NOR is asked for, to be shown, played and cut.

use norn_flash::{Address, EraseUnit, NorPart, Recognised};
use norn_flash_sim::NorSim;
use serde_json::{Value, json};

use crate::anatomy::{Area, Found, Kind};
use crate::shown::Tour;
use crate::traced::Traced;

/// The bytes of one erase unit.
#[derive(Clone, Copy)]
pub struct Cells<'c> {
    /// The part that it is of.
    pub whole: &'c NorSim,
    /// The unit.
    pub unit: EraseUnit,
    /// Its bytes; all of them; to [`Content::role`] only the first ones.
    pub bytes: &'c [u8],
}

impl<'c> Cells<'c> {
    /// The part.
    pub fn part(&self) -> &'c NorPart {
        &self.whole.spec().part
    }

    /// The unit's first byte.
    pub fn start(&self) -> Address {
        self.part().start_of(self.unit)
    }
}

/// What a mount leaves in memory, as a panel asks it and as a program of a workload works with it.
///
/// A clone costs little, since a recording keeps one for each call.
pub trait Played: Clone + 'static {
    /// A call of a workload. Made again on the same state, it does the same.
    type Call: Clone + 'static;

    /// The answer to a question of a panel.
    ///
    /// # Errors
    /// In words.
    fn ask(&mut self, question: &Value) -> Result<Value, String>;

    /// The next call of a workload.
    fn draw(&self, random: &mut fastrand::Rng) -> Self::Call;

    /// The call that ends a workload, if one is needed.
    fn last_call(&self) -> Option<Self::Call> {
        None
    }

    /// Makes a call. Returns it in words.
    ///
    /// # Errors
    /// In words.
    fn make(&mut self, call: &Self::Call) -> Result<String, String>;
}

/// A format on NOR: a value is what a mount leaves in memory.
pub trait Content: Played {
    /// What is on the part: `a log-structured heap`.
    const NAME: &'static str;
    /// Names of the documents of the format: files of `docs/format` without their ending.
    const FORMATS: &'static [&'static str];
    /// Panels of the page for what is peculiar to it.
    const PANELS: &'static [&'static str];
    /// The guided tour of it, if there is one.
    const TOUR: Option<Tour>;
    /// Kinds of its areas, for the legend.
    const KINDS: &'static [Kind];
    /// Bytes at the start of a unit that [`role`](Content::role) looks at.
    const HEAD_BYTES: u32;

    /// What a part holds of it.
    ///
    /// # Errors
    /// In words.
    fn recognised_on(part: &mut NorSim) -> Result<Option<Recognised>, String>;

    /// Mounts it.
    ///
    /// # Errors
    /// Why that fails, in words.
    fn mount(device: Traced) -> Result<Self, String>;

    /// The part below.
    fn device(&self) -> &Traced;

    /// The same.
    fn device_mut(&mut self) -> &mut Traced;

    /// What the head of a unit says that the unit is used for, and a number that is larger the later it was opened.
    fn role(head: Cells<'_>) -> (Option<String>, Option<u32>);

    /// The areas of a unit. What a mount has left in memory says what is in use.
    fn areas(cells: Cells<'_>, mounted: Option<&mut Self>) -> Vec<Area>;

    /// What is at an address of a unit.
    fn at(cells: Cells<'_>, address: Address) -> Found;

    /// Numbers of a unit: an object.
    fn counts(cells: Cells<'_>, areas: &[Area], mounted: Option<&Self>) -> Value {
        let _ = (cells, areas, mounted);
        json!({})
    }

    /// What is programmed at an address, in words.
    fn text_at(cells: Cells<'_>, address: Address) -> String {
        Self::at(cells, address).title
    }

    /// The answer to a question of a panel that the cells alone answer, mounted or not.
    fn look(whole: &NorSim, question: &Value) -> Option<Result<Value, String>> {
        let _ = (whole, question);
        None
    }
}
