//! Several tenants on one device.
//!
//! A [`Tenancy`] has the device, knows which ranges of units or blocks are taken, and, on NAND, which tenant loaded the
//! page in the register. It stays in a cell, and each tenant is a partition that reaches it through that cell:
//!
//! ```text
//!        heap            index           block device
//!          │               │                  │
//!   NorTenant 0..40  NorTenant 40..56   …            each a part, borrowing the cell
//!          └───────────────┼──────────────────┘
//!                   RefCell<Tenancy>                 or critical_section::Mutex<RefCell<Tenancy>>
//!                          │
//!                       device
//! ```
//!
//! Tenants in one thread share a [`RefCell`]; tenants in interrupts, with the feature `critical-section`, a
//! `critical_section::Mutex<RefCell<_>>`. A call of a tenant is one critical section, an erase too: that is how long
//! interrupts wait.
//!
//! On NAND, a tenant that finds another's page in the register loads its own again and goes to the position where it
//! was. A naive adapter would fetch the other's bytes. What that costs, and what else the contract says of it, is in
//! [`Nand`].
//!
//! Invariants: no two tenants have a unit or block in common; the register is read only for the tenant that loaded it.

use core::cell::RefCell;
use core::ops::Range;

use crate::nand::{Block, Column, Nand, NandPart, PageAddress, Piece};
use crate::nor::{Address, EraseUnit, Nor, NorPart};
use crate::partition::{NandRangeError, NandWindow, NorRangeError, NorWindow, PartitionError, Register};

/// A cell that several hold, and that one at a time looks into.
pub trait Lock {
    /// What is in it.
    type Value;

    /// Accesses the contents exclusively.
    ///
    /// # Panics
    /// If `look` looks into it again: a device does not use its own tenants.
    fn with<R>(&self, look: impl FnOnce(&mut Self::Value) -> R) -> R;
}

impl<T> Lock for RefCell<T> {
    type Value = T;

    fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        look(&mut self.borrow_mut())
    }
}

#[cfg(feature = "critical-section")]
impl<T> Lock for critical_section::Mutex<RefCell<T>> {
    type Value = T;

    fn with<R>(&self, look: impl FnOnce(&mut T) -> R) -> R {
        critical_section::with(|token| look(&mut self.borrow_ref_mut(token)))
    }
}

/// A device that at most `TENANTS` tenants share.
///
/// RAM: the device, and six bytes for each tenant.
///
/// ```
/// use core::cell::RefCell;
///
/// use norn_flash::{Address, Nor, NorTenant, PartitionError, Tenancy};
/// use norn_flash_sim::{NorSim, catalogue};
///
/// let shared = RefCell::new(Tenancy::<_, 2>::new(NorSim::new(catalogue::w25q())));
/// let mut heap = NorTenant::new(&shared, 0..40).unwrap();
/// let mut log = NorTenant::new(&shared, 40..56).unwrap();
/// heap.program(Address(0), b"h").unwrap();
/// log.program(Address(0), b"l").unwrap();
///
/// let mut byte = [0];
/// heap.read(Address(0), &mut byte).unwrap();
/// assert_eq!(byte, *b"h");
/// assert!(heap.read(Address(40 * 4096), &mut byte).is_err());
///
/// drop(log); // What it had can be taken again, but not what the heap has.
/// let overlap = NorTenant::new(&shared, 39..56).unwrap_err();
/// assert_eq!(overlap, PartitionError::Overlap { start: 0, end: 40 });
/// ```
#[derive(Debug)]
pub struct Tenancy<D, const TENANTS: usize> {
    device: D,
    taken: [Option<(u16, u16)>; TENANTS],
    /// The tenant that loaded the page in the register.
    register: Option<u8>,
}

impl<D, const TENANTS: usize> Tenancy<D, TENANTS> {
    /// A device without tenants.
    pub const fn new(device: D) -> Self {
        Tenancy { device, taken: [None; TENANTS], register: None }
    }

    /// The device below.
    pub const fn device(&self) -> &D {
        &self.device
    }

    /// The device below, for its settings, and for the part's label, which no tenant has. Who loads a page here takes
    /// the register from the tenant that has it.
    ///
    /// ```
    /// use core::cell::RefCell;
    ///
    /// use norn_flash::{Label, LabelDevice, NorLabel, NorTenant, Tenancy, TenantKind};
    /// use norn_flash_sim::{NorSim, catalogue};
    ///
    /// let shared = RefCell::new(Tenancy::<_, 2>::new(NorSim::new(catalogue::w25q())));
    /// let heap = NorTenant::new(&shared, 0..40).unwrap();
    ///
    /// let mut label = Label::default();
    /// label.add(b"purses", TenantKind::HEAP, heap.units()).unwrap();
    /// NorLabel(shared.borrow_mut().device_mut()).store(&label).unwrap(); // while the tenant exists
    /// let stored = NorLabel(shared.borrow_mut().device_mut()).load().unwrap();
    /// assert_eq!(stored.find(b"purses").unwrap().range(), 0..40);
    /// ```
    pub fn device_mut(&mut self) -> &mut D {
        self.register = None;
        &mut self.device
    }

    /// Gives the device back. Tenants are gone then: each borrows the cell that this was in.
    pub fn into_device(self) -> D {
        self.device
    }

    /// Takes a range for a new tenant, whose number is returned.
    fn take(&mut self, range: &Range<u16>) -> Result<u8, PartitionError> {
        let overlaps = |&&(start, end): &&(u16, u16)| start < range.end && range.start < end;
        if let Some(&(start, end)) = self.taken.iter().flatten().find(overlaps) {
            return Err(PartitionError::Overlap { start, end });
        }
        let free = self.taken.iter().take(usize::from(u8::MAX)).position(Option::is_none);
        let number = free.ok_or(PartitionError::TooManyTenants { max: TENANTS })?;
        self.taken[number] = Some((range.start, range.end));
        Ok(number as u8)
    }

    fn give_back(&mut self, tenant: u8) {
        self.taken[usize::from(tenant)] = None;
        if self.register == Some(tenant) {
            self.register = None;
        }
    }
}

/// What a tenant needs of the cell that its tenancy is in: for any device and number of tenants.
pub trait Shared {
    /// The device that is shared.
    type Device;

    /// Takes a range that is free.
    #[doc(hidden)]
    fn take(&self, range: &Range<u16>) -> Result<u8, PartitionError>;

    /// Gives a tenant's range back.
    #[doc(hidden)]
    fn give_back(&self, tenant: u8);

    /// Looks at the device, and at who has the register.
    #[doc(hidden)]
    fn with_device<R>(&self, look: impl FnOnce(&mut Self::Device, &mut Option<u8>) -> R) -> R;
}

impl<D, const TENANTS: usize, L: Lock<Value = Tenancy<D, TENANTS>>> Shared for L {
    type Device = D;

    fn take(&self, range: &Range<u16>) -> Result<u8, PartitionError> {
        self.with(|tenancy| tenancy.take(range))
    }

    fn give_back(&self, tenant: u8) {
        self.with(|tenancy| tenancy.give_back(tenant));
    }

    fn with_device<R>(&self, look: impl FnOnce(&mut D, &mut Option<u8>) -> R) -> R {
        self.with(|tenancy| look(&mut tenancy.device, &mut tenancy.register))
    }
}

/// A tenant of a shared NOR part: a range of its units, as a part of its own. Dropping it gives the range back.
///
/// It is never [mapped](Nor::mapped): mapped bytes could be read while another tenant erases. RAM: 32 bytes.
#[derive(Debug)]
pub struct NorTenant<'a, S: Shared> {
    shared: &'a S,
    number: u8,
    window: NorWindow,
}

impl<'a, S: Shared<Device: Nor>> NorTenant<'a, S> {
    /// Takes the units `units` of the shared device.
    ///
    /// # Errors
    /// If there are no such units, another tenant has some of them, or the device has as many tenants as it is shared
    /// for.
    pub fn new(shared: &'a S, units: Range<u16>) -> Result<Self, PartitionError> {
        let whole = shared.with_device(|device, _| device.part());
        let window = NorWindow::new(&NorPart { mapped: false, ..whole }, units)?;
        let number = shared.take(&window.units())?;
        Ok(NorTenant { shared, number, window })
    }

    /// The device's units that it has.
    pub fn units(&self) -> Range<u16> {
        self.window.units()
    }
}

impl<S: Shared> Drop for NorTenant<'_, S> {
    fn drop(&mut self) {
        self.shared.give_back(self.number);
    }
}

impl<D: Nor, S: Shared<Device = D>> Nor for NorTenant<'_, S> {
    type Error = NorRangeError<D::Error>;

    fn part(&self) -> NorPart {
        self.window.part
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
        self.shared.with_device(|device, _| self.window.read(device, address, buffer))
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
        self.shared.with_device(|device, _| self.window.program(device, address, bytes))
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
        self.shared.with_device(|device, _| self.window.erase(device, unit))
    }

    fn restart(&mut self) -> Result<(), Self::Error> {
        self.shared.with_device(|device, _| device.restart().map_err(NorRangeError::Device))
    }
}

/// A tenant of a shared NAND part: a range of its blocks, as a part of its own. Dropping it gives the range back.
///
/// Its first block may be bad, other than a whole part's. RAM: 40 bytes.
#[derive(Debug)]
pub struct NandTenant<'a, S: Shared> {
    shared: &'a S,
    number: u8,
    window: NandWindow,
}

impl<'a, S: Shared<Device: Nand>> NandTenant<'a, S> {
    /// Takes the blocks `blocks` of the shared device.
    ///
    /// # Errors
    /// If there are no such blocks, another tenant has some of them, or the device has as many tenants as it is shared
    /// for.
    pub fn new(shared: &'a S, blocks: Range<u16>) -> Result<Self, PartitionError> {
        let window = NandWindow::new(&shared.with_device(|device, _| device.part()), blocks)?;
        let number = shared.take(&window.blocks())?;
        Ok(NandTenant { shared, number, window })
    }

    /// The device's blocks that it has.
    pub fn blocks(&self) -> Range<u16> {
        self.window.blocks()
    }

    /// Makes a call, and notes whose page the register holds after it.
    fn call<R>(&mut self, call: impl FnOnce(&mut S::Device, &mut NandWindow, &mut Register) -> R) -> R {
        self.shared.with_device(|device, owner| {
            let mut register = if *owner == Some(self.number) { Register::Own } else { Register::Foreign };
            let result = call(device, &mut self.window, &mut register);
            match register {
                Register::Own => *owner = Some(self.number),
                Register::Empty => *owner = None,
                Register::Foreign => {}
            }
            result
        })
    }
}

impl<S: Shared> Drop for NandTenant<'_, S> {
    fn drop(&mut self) {
        self.shared.give_back(self.number);
    }
}

impl<D: Nand, S: Shared<Device = D>> Nand for NandTenant<'_, S> {
    type Error = NandRangeError<D::Error>;

    fn part(&self) -> NandPart {
        self.window.part
    }

    fn load(&mut self, page: PageAddress) -> Result<(), Self::Error> {
        self.call(|device, window, register| window.load(device, register, page))
    }

    fn seek(&mut self, column: Column) -> Result<(), Self::Error> {
        self.call(|device, window, register| window.seek(device, register, column))
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), Self::Error> {
        self.call(|device, window, register| window.fetch(device, register, buffer))
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        self.call(|device, window, register| window.program(device, register, page, pieces))
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        self.call(|device, window, register| window.program_loaded(device, register, page, pieces))
    }

    fn erase(&mut self, block: Block) -> Result<(), Self::Error> {
        self.call(|device, window, register| window.erase(device, register, block))
    }

    fn copy(&mut self, from: PageAddress, to: PageAddress, pieces: &[Piece<'_>]) -> Result<(), Self::Error> {
        self.call(|device, window, register| window.copy(device, register, (from, to), pieces))
    }

    fn is_marked_bad(&mut self, block: Block) -> Result<bool, Self::Error> {
        self.call(|device, window, register| window.is_marked_bad(device, register, block))
    }

    fn barrier(&mut self) -> Result<(), Self::Error> {
        self.shared.with_device(|device, _| device.barrier().map_err(NandRangeError::Device))
    }

    fn restart(&mut self) -> Result<(), Self::Error> {
        self.call(|device, window, register| window.restart(device, register))
    }
}
