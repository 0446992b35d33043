//! Ordered indexes: [`anatomy`] decodes blocks, [`panels`] has what the page's panels ask, [`program`] a workload.

pub mod anatomy;
pub mod panels;
pub mod program;
pub mod texts;

use norn_flash::{Address, EraseUnit};
use norn_flash_sim::{NorSim, SimError};
use norn_ordered_index::fat_list::format::{CELLS_OFFSET, Identity};
use norn_ordered_index::fat_list::inspection::{RawBlock, Role};
use norn_ordered_index::{
    AtMost, ByteFatList, ByteIndexError, FatListOf, MountError, RunTimeWidths, Settings, Varying, VaryingList,
};
use serde_json::{Value, json};

use self::program::Call;
use crate::anatomy::{Area, Found, Kind, State};
use crate::content::{Cells, Content, Played};
use crate::objects::words;
use crate::plain;
use crate::traced::Traced;

/// Widths of keys and values of one length each, whatever they are.
pub type FixedWidths = AtMost<126, 126>;
/// The same of values that vary.
pub type VaryingWidths = Varying<64, 511>;

/// The list of the example: keys and values of four bytes.
const EXAMPLE: (FixedWidths, Settings) =
    (AtMost { key_bytes: 4, value_bytes: 4 }, Settings { turnstile_blocks: 4, levels: 3, slots: 6, keys: 3, pool: 8 });

/// A mounted list.
#[derive(Clone)]
pub struct Index<W: ListWidths> {
    list: Box<FatListOf<Traced, W>>,
    widths: W,
}

/// Widths that a list is mounted with, and what is called differently for each kind of them.
pub trait ListWidths: RunTimeWidths + 'static {
    /// Those that a block's identity states, if they are of this kind.
    fn of(identity: &Identity) -> Option<Self>;

    /// Mounts the list on a device.
    ///
    /// # Errors
    /// The list's.
    fn mount(self, device: Traced) -> Result<FatListOf<Traced, Self>, MountError<SimError>>;

    /// Adds a key or changes its value.
    ///
    /// # Errors
    /// The list's.
    fn put(list: &mut FatListOf<Traced, Self>, key: &[u8], value: &[u8]) -> Result<(), ByteIndexError<SimError>>;

    /// The value of a key, if the key is there.
    ///
    /// # Errors
    /// The list's.
    fn get(self, list: &mut FatListOf<Traced, Self>, key: &[u8]) -> Result<Option<Vec<u8>>, ByteIndexError<SimError>>;
}

impl ListWidths for FixedWidths {
    fn of(identity: &Identity) -> Option<Self> {
        let value_bytes = u8::try_from(identity.value_bytes).ok()?;
        (identity.log_bytes == 0).then_some(AtMost { key_bytes: identity.key_bytes, value_bytes })
    }

    fn mount(self, device: Traced) -> Result<FatListOf<Traced, Self>, MountError<SimError>> {
        ByteFatList::mount(device, self)
    }

    fn put(list: &mut FatListOf<Traced, Self>, key: &[u8], value: &[u8]) -> Result<(), ByteIndexError<SimError>> {
        list.put(key, value)
    }

    fn get(self, list: &mut FatListOf<Traced, Self>, key: &[u8]) -> Result<Option<Vec<u8>>, ByteIndexError<SimError>> {
        let mut value = vec![0; self.value_bytes.into()];
        Ok(list.get(key, &mut value)?.then_some(value))
    }
}

impl ListWidths for VaryingWidths {
    fn of(identity: &Identity) -> Option<Self> {
        let Identity { key_bytes, value_bytes, log_bytes, .. } = *identity;
        (log_bytes > 0).then_some(Varying { key_bytes, value_bytes, log_bytes })
    }

    fn mount(self, device: Traced) -> Result<FatListOf<Traced, Self>, MountError<SimError>> {
        VaryingList::mount(device, self)
    }

    fn put(list: &mut FatListOf<Traced, Self>, key: &[u8], value: &[u8]) -> Result<(), ByteIndexError<SimError>> {
        list.put(key, value)
    }

    fn get(self, list: &mut FatListOf<Traced, Self>, key: &[u8]) -> Result<Option<Vec<u8>>, ByteIndexError<SimError>> {
        let mut value = vec![0; self.value_bytes.into()];
        let length = list.get(key, &mut value)?;
        Ok(length.map(|length| value[..length].to_vec()))
    }
}

/// An empty list on a part.
///
/// # Errors
/// If none fits on it, in words.
pub fn example(part: NorSim) -> Result<NorSim, String> {
    let (widths, settings) = EXAMPLE;
    let list: ByteFatList<_, 126, 126> = ByteFatList::format(part, widths, settings).map_err(words)?;
    Ok(list.into_device())
}

/// The first identity on a part.
fn identity_on(part: &NorSim) -> Option<Identity> {
    let spec = &part.spec().part;
    (0..spec.unit_count)
        .map(EraseUnit)
        .find_map(|unit| RawBlock::new(spec, unit, &part.peek(spec.start_of(unit), CELLS_OFFSET as usize)).identity())
}

impl<W: ListWidths> Content for Index<W> {
    const NAME: &'static str = "an ordered index";
    const FORMATS: &'static [&'static str] = &["ordered-index"];
    const PANELS: &'static [&'static str] = &["levels", "turnstiles", "keys"];
    const KINDS: &'static [Kind] = anatomy::KINDS;
    const HEAD_BYTES: u32 = CELLS_OFFSET;

    fn is_on(part: &mut NorSim) -> Result<bool, String> {
        Ok(identity_on(part).and_then(|identity| W::of(&identity)).is_some())
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
