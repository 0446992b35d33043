//! A mounted list of any widths: what the rest of the module works on.

use norn_flash::EraseUnit;
use norn_flash_sim::{NorSim, SimError};
use norn_ordered_index::fat_list::format::{CELLS_OFFSET, Identity};
use norn_ordered_index::fat_list::inspection::RawBlock;
use norn_ordered_index::{
    AtMost, ByteFatList, ByteIndexError, FatListOf, MountError, RunTimeWidths, Settings, Varying, VaryingList,
};

use crate::objects::words;
use crate::traced::Traced;

/// Widths of keys and values of one length each, whatever they are.
pub type FixedWidths = AtMost<126, 126>;
/// The same of values that vary.
pub type VaryingWidths = Varying<64, 511>;

/// The list of the example: keys and values of four bytes.
const EXAMPLE: (FixedWidths, Settings) =
    (AtMost { key_bytes: 4, value_bytes: 4 }, Settings { turnstile_blocks: 4, levels: 3, slots: 6, keys: 3, pool: 8 });

/// What a call of a list returns.
type Outcome<T> = Result<T, ByteIndexError<SimError>>;

/// A mounted list.
#[derive(Clone)]
pub struct Index<W: ListWidths> {
    /// The list.
    pub list: Box<FatListOf<Traced, W>>,
    /// What its keys and values are like.
    pub widths: W,
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
    fn put(list: &mut FatListOf<Traced, Self>, key: &[u8], value: &[u8]) -> Outcome<()>;

    /// Reads the value of a key. Returns its length, if the key is there.
    ///
    /// # Errors
    /// The list's.
    fn read(list: &mut FatListOf<Traced, Self>, key: &[u8], value: &mut [u8]) -> Outcome<Option<usize>>;

    /// The value of a key, if the key is there.
    ///
    /// # Errors
    /// The list's.
    fn get(self, list: &mut FatListOf<Traced, Self>, key: &[u8]) -> Outcome<Option<Vec<u8>>> {
        let mut value = vec![0; self.value_bytes()];
        let length = Self::read(list, key, &mut value)?;
        Ok(length.map(|length| value[..length].to_vec()))
    }
}

impl ListWidths for FixedWidths {
    fn of(identity: &Identity) -> Option<Self> {
        let value_bytes = u8::try_from(identity.value_bytes).ok()?;
        (identity.log_bytes == 0).then_some(AtMost { key_bytes: identity.key_bytes, value_bytes })
    }

    fn mount(self, device: Traced) -> Result<FatListOf<Traced, Self>, MountError<SimError>> {
        ByteFatList::mount(device, self)
    }

    fn put(list: &mut FatListOf<Traced, Self>, key: &[u8], value: &[u8]) -> Outcome<()> {
        list.put(key, value)
    }

    fn read(list: &mut FatListOf<Traced, Self>, key: &[u8], value: &mut [u8]) -> Outcome<Option<usize>> {
        Ok(list.get(key, value)?.then_some(value.len()))
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

    fn put(list: &mut FatListOf<Traced, Self>, key: &[u8], value: &[u8]) -> Outcome<()> {
        list.put(key, value)
    }

    fn read(list: &mut FatListOf<Traced, Self>, key: &[u8], value: &mut [u8]) -> Outcome<Option<usize>> {
        list.get(key, value)
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
pub fn identity_on(part: &NorSim) -> Option<Identity> {
    let spec = &part.spec().part;
    (0..spec.unit_count)
        .map(EraseUnit)
        .find_map(|unit| RawBlock::new(spec, unit, &part.peek(spec.start_of(unit), CELLS_OFFSET as usize)).identity())
}
