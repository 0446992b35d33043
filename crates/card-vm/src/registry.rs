//! The instances of applets that a card has: what is known of them on flash, and read when power comes.
//!
//! ```text
//! object of an instance   found by the root 'a', number     fields: applet │ AID │ u8 package
//! AID                     an object of the class AID, and an array of its bytes, both the runtime's
//! ```
//!
//! All of an instance is made in one transaction, which sets the root.

use norn_card_package::{Aid, format};

use crate::end::Failure;
use crate::heap::{HEADER_BYTES, PersistentHeap};
use crate::memory::{INSTANCES_MAX, Memory, MemoryError};
use crate::objects::{ClassId, Objects, RUNTIME};
use crate::persistent::ObjectError;
use crate::ram::known;
use crate::session::Instance;
use crate::trace::INSTANCE;

/// The header of an instance's object.
const HEADER: [u8; HEADER_BYTES] = [format::TYPE_CLASS, format::NONE, INSTANCE, RUNTIME];
/// Widths of its fields.
const WIDTHS: [u8; 3] = [4, 4, 1];

/// The name of the root that leads to an instance's object.
pub(crate) fn root(number: u8) -> [u8; 2] {
    [b'a', number]
}

impl<H: PersistentHeap, const PACKAGES: usize, const TRANSIENT: usize> Memory<H, PACKAGES, TRANSIENT> {
    /// Reads the instances, and notes their contexts.
    pub(crate) fn instances(&mut self) -> Result<[Instance; INSTANCES_MAX as usize + 1], MemoryError<H>> {
        let mut instances = [Instance::default(); INSTANCES_MAX as usize + 1];
        for number in 1..=INSTANCES_MAX {
            let Some(object) = self.heap().root(root(number)).map_err(ObjectError::Heap)? else { continue };
            let bits = H::bits(object) as i32;
            let field = |memory: &mut Self, slot, kind| memory.persistent.field(bits, slot, kind);
            let applet = field(self, 0, format::REFERENCE)?;
            let aid = field(self, 1, format::REFERENCE)?;
            self.contexts.0[usize::from(number)] = field(self, 2, format::BYTE)? as u8;
            instances[usize::from(number)] = Instance { applet, aid };
        }
        Ok(instances)
    }

    /// Whether there is an instance of a number.
    pub(crate) fn is_registered(&mut self, number: u8) -> Result<bool, MemoryError<H>> {
        Ok(self.heap().root(root(number)).map_err(ObjectError::Heap)?.is_some())
    }

    /// Registers an instance, all of it or nothing.
    pub(crate) fn register(
        &mut self,
        number: u8,
        applet: (i32, u8),
        aid: Aid,
    ) -> Result<Instance, Failure<MemoryError<H>>> {
        self.atomically(|memory| memory.make_instance(number, applet, aid))
    }

    fn make_instance(
        &mut self,
        number: u8,
        (applet, package): (i32, u8),
        aid: Aid,
    ) -> Result<Instance, Failure<MemoryError<H>>> {
        let class = self.ram.known.class(const { known("javacard/framework/AID") });
        let name = self.create(class, &[format::REFERENCE])?;
        let none = ClassId { package: 0, class: 0 };
        let bytes = self.create_array(format::BYTE, none, aid.as_bytes().len() as u16)?;
        self.write_bytes(bytes, 0, aid.as_bytes())?;
        self.set_field(name, 0, format::REFERENCE, bytes)?;
        let made = self.heap().create(&WIDTHS, HEADER);
        let object = self.changed(made)?;
        for (slot, value) in [(0, applet), (1, name)] {
            let written = self.heap().write_field(object, slot, &value.to_le_bytes());
            self.changed(written)?;
        }
        let written = self.heap().write_field(object, 2, &[package]);
        self.changed(written)?;
        let named = self.heap().set_root(root(number), Some(object));
        self.changed(named)?;
        Ok(Instance { applet, aid: name })
    }

    /// Removes an instance; its objects are garbage then.
    pub(crate) fn unregister(&mut self, number: u8) -> Result<(), Failure<MemoryError<H>>> {
        let named = self.heap().set_root(root(number), None);
        self.changed(named)
    }

    /// The bytes of an object of the class `AID`.
    pub(crate) fn aid_bytes(&mut self, aid: i32) -> Result<Aid, MemoryError<H>> {
        let wrong = ObjectError::Reference(aid);
        let array = self.field(aid, 0, format::REFERENCE)?;
        let crate::objects::Form::Array { length, .. } = self.form(array)? else { return Err(wrong) };
        let mut bytes = [0; 16];
        let Some(place) = bytes.get_mut(..usize::from(length)) else { return Err(wrong) };
        self.read_bytes(array, 0, place)?;
        Aid::new(place).ok_or(wrong)
    }
}
