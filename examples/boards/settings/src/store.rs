//! The boot counter and the settings, two objects of a log-structured heap.
//!
//! Invariant: the part has both, or none; they are made in one transaction.

use norn_embedded::flash::{MountError, Nor};
use norn_embedded::heap::{AccessError, CreateError, Layout, LogHeap, LogHeapIn, Ref, TransactionError, UnitRow};

use crate::places::UNITS_MAX;

/// The names under which the objects are found.
const BOOTS: &[u8] = b"boots";
const SETTINGS: &[u8] = b"settings";
/// The widths of the fields of [`Settings`], in their order.
const WIDTHS: [u8; 3] = [4, 1, NAME_BYTES];
const NAME_BYTES: u8 = 16;
const SETTINGS_BYTES: usize = 4 + 1 + NAME_BYTES as usize;

/// What a user of the board may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Time between two measurements.
    pub interval_ms: u32,
    /// Of the display.
    pub brightness_percent: u8,
    /// The board's name, with zeros after it.
    pub name: [u8; NAME_BYTES as usize],
}

impl Settings {
    /// What a new board has.
    pub const DEFAULT: Settings =
        Settings { interval_ms: 1_000, brightness_percent: 50, name: *b"unnamed\0\0\0\0\0\0\0\0\0" };

    /// The fields as the object has them.
    fn to_bytes(self) -> [u8; SETTINGS_BYTES] {
        let mut bytes = [0; SETTINGS_BYTES];
        bytes[..4].copy_from_slice(&self.interval_ms.to_le_bytes());
        bytes[4] = self.brightness_percent;
        bytes[5..].copy_from_slice(&self.name);
        bytes
    }
}

/// The objects on a part. RAM: the device, and some 400 bytes.
#[derive(Clone, Debug)]
pub struct Store<D> {
    heap: LogHeap<D, UNITS_MAX>,
    boots: Ref,
    settings: Ref,
}

impl<D: Nor> Store<D> {
    /// Finds the objects; makes them on a part that holds no heap. A part that holds a damaged one is left as it is.
    ///
    /// # Errors
    /// The heap's: a device that fails, or a heap that is damaged or of another geometry.
    pub fn open(device: D) -> Result<Self, StoreError<D::Error>> {
        let mut heap = LogHeapIn::unmounted_in(device, [UnitRow::UNUSED; UNITS_MAX]);
        match heap.remount() {
            Ok(()) => {}
            Err(MountError::NotFormatted) => heap = LogHeap::format(heap.into_device())?,
            Err(error) => return Err(error.into()),
        }
        // The power may have failed after formatting: the heap is there, and the objects are not.
        let found = (heap.root(BOOTS)?, heap.root(SETTINGS)?);
        let (boots, settings) = match found {
            (Some(boots), Some(settings)) => (boots, settings),
            _ => create(&mut heap)?,
        };
        Ok(Store { heap, boots, settings })
    }

    /// Counts a boot, and returns how many there were with it.
    ///
    /// # Errors
    /// The heap's.
    pub fn count_boot(&mut self) -> Result<u32, StoreError<D::Error>> {
        let boots = self.boots()?.saturating_add(1);
        self.heap.put_field(self.boots, 0, &boots.to_le_bytes())?;
        Ok(boots)
    }

    /// The boots that were counted.
    ///
    /// # Errors
    /// The heap's.
    pub fn boots(&mut self) -> Result<u32, StoreError<D::Error>> {
        let mut boots = [0; 4];
        self.heap.get_field(self.boots, 0, &mut boots)?;
        Ok(u32::from_le_bytes(boots))
    }

    /// The settings.
    ///
    /// # Errors
    /// The heap's.
    pub fn settings(&mut self) -> Result<Settings, StoreError<D::Error>> {
        let (mut interval, mut brightness, mut name) = ([0; 4], [0], [0; NAME_BYTES as usize]);
        self.heap.get_field(self.settings, 0, &mut interval)?;
        self.heap.get_field(self.settings, 1, &mut brightness)?;
        self.heap.get_field(self.settings, 2, &mut name)?;
        Ok(Settings { interval_ms: u32::from_le_bytes(interval), brightness_percent: brightness[0], name })
    }

    /// Changes the settings: all of them, or none if the power fails before it returns.
    ///
    /// # Errors
    /// The heap's.
    pub fn set(&mut self, settings: &Settings) -> Result<(), StoreError<D::Error>> {
        Ok(self.heap.put_fields(self.settings, 0, &settings.to_bytes())?)
    }

    /// The device, for what does not change the part's contents.
    pub fn device_mut(&mut self) -> &mut D {
        self.heap.device_mut()
    }

    /// Returns the device.
    pub fn into_device(self) -> D {
        self.heap.into_device()
    }
}

/// Makes both objects, and their names, in one transaction.
fn create<D: Nor>(heap: &mut LogHeap<D, UNITS_MAX>) -> Result<(Ref, Ref), StoreError<D::Error>> {
    heap.begin()?;
    let boots = heap.create(Layout::uniform(1, 4))?;
    let settings = heap.create(Layout::fields(&WIDTHS))?;
    heap.put_fields(settings, 0, &Settings::DEFAULT.to_bytes())?;
    heap.set_root(BOOTS, Some(boots))?;
    heap.set_root(SETTINGS, Some(settings))?;
    heap.commit()?;
    Ok((boots, settings))
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError<E> {
    /// The heap was not mounted or formatted.
    Mount(MountError<E>),
    /// An object was not read or changed.
    Access(AccessError<E>),
    /// The objects were not made.
    Create(CreateError<E>),
    /// The transaction that makes them was not begun or committed.
    Transaction(TransactionError<E>),
}

macro_rules! from {
    ($($variant:ident, $error:ident);*) => {$(
        impl<E> From<$error<E>> for StoreError<E> {
            fn from(error: $error<E>) -> Self {
                StoreError::$variant(error)
            }
        }
    )*};
}

from!(Mount, MountError; Access, AccessError; Create, CreateError; Transaction, TransactionError);
