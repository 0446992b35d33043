//! What calls lead to, as far as one run of the machine has found it: heads of methods, and the code of slots.
//!
//! Each has one place; another with the same place takes it. Packages come and go between runs alone, so that what is
//! here holds as long as the machine does.

use norn_card_package::{Method, format};

use crate::objects::ClassId;

/// Places of methods' heads: a power of two. RAM: 20 bytes each.
const METHODS: usize = 4;
/// Places of entries: a power of two. RAM: 8 bytes each.
const ENTRIES: usize = 8;

/// A method's head and, where it is native, its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub method: Method,
    pub native: u16,
}

/// What a call by slot or through an interface names: the object's class, the interface, and slot or number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Callee {
    class: ClassId,
    interface: ClassId,
    number: u8,
}

impl Callee {
    /// No interface: packages have smaller numbers.
    const NO_INTERFACE: ClassId = ClassId { package: format::NONE, class: format::NONE };

    pub fn in_slot(class: ClassId, slot: u8) -> Callee {
        Callee { class, interface: Callee::NO_INTERFACE, number: slot }
    }

    pub fn through(interface: ClassId, class: ClassId, method: u8) -> Callee {
        Callee { class, interface, number: method }
    }

    pub fn class(&self) -> ClassId {
        self.class
    }

    /// The interface, where it is called through one.
    pub fn interface(&self) -> Option<ClassId> {
        (self.interface != Callee::NO_INTERFACE).then_some(self.interface)
    }

    pub fn number(&self) -> u8 {
        self.number
    }

    /// Neighbours among slots, and among classes, have different places.
    fn place(&self) -> usize {
        usize::from(self.number.wrapping_add(self.class.class).wrapping_add(self.interface.class)) % ENTRIES
    }
}

/// Methods and entries that were looked up lately.
#[derive(Debug)]
pub(crate) struct Calls {
    methods: [Option<((u8, u16), Head)>; METHODS],
    entries: [Option<(Callee, (u8, u16))>; ENTRIES],
}

impl Calls {
    pub fn new() -> Calls {
        Calls { methods: [None; METHODS], entries: [None; ENTRIES] }
    }

    /// A method's head, by its package and its number there, where it is known.
    #[inline]
    pub fn head(&self, method: (u8, u16)) -> Option<&Head> {
        let (known, head) = self.methods[usize::from(method.1) % METHODS].as_ref()?;
        (*known == method).then_some(head)
    }

    pub fn keep_head(&mut self, method: (u8, u16), head: Head) {
        self.methods[usize::from(method.1) % METHODS] = Some((method, head));
    }

    /// The package and number of what is called, where it is known.
    #[inline]
    pub fn entry(&self, callee: Callee) -> Option<(u8, u16)> {
        let (known, entry) = self.entries[callee.place()].as_ref()?;
        (*known == callee).then_some(*entry)
    }

    pub fn keep_entry(&mut self, callee: Callee, entry: (u8, u16)) {
        self.entries[callee.place()] = Some((callee, entry));
    }
}
