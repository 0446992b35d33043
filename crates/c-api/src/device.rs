//! A NOR part behind functions of the caller's.

use core::ffi::{c_int, c_void};

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};

use crate::error::{Failure, OUTSIDE, norn_error};

/// For `reprogramming`: a program unit is programmed once between two erases. Parts with error-correcting codes.
pub const NORN_REPROGRAMMING_ONCE: u32 = 1;
/// For `reprogramming`: a program unit may be programmed any number of times, each clearing further bits.
pub const NORN_REPROGRAMMING_UNLIMITED: u32 = 255;

/// A NOR flash part, or a range of whole erase units of one: what it is, and functions that reach it.
///
/// The functions return 0, or another number, which fails the call with `NORN_ERROR_DEVICE` and is found in
/// `norn_failure`. They return once the operation is complete, and may not use the handle that called them. Addresses
/// count bytes from the part's first one. `bytes` may be 0: then they return 0 and do nothing.
///
/// What the library promises: ranges lie within the part; programs begin and end on borders of program units; no
/// program asks for a 0 to become a 1. A heap programs each program unit at most once between two erases, whatever
/// `reprogramming` says; an index does so any number of times.
///
/// What the part has to keep: an erase sets all bits of a unit; a program clears the bits that are 0 in the bytes;
/// what was acknowledged outlives a loss of power. One that is cut by a loss of power, or fails, may have done its
/// work in part, within its range.
///
/// The structure is copied when a handle is mounted. What `context` points to has to stay.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct norn_nor {
    /// For the caller's functions, which get it as their first argument.
    pub context: *mut c_void,
    /// Reads `bytes` bytes from `address` on, of any alignment.
    pub read:
        Option<unsafe extern "C" fn(context: *mut c_void, address: u32, buffer: *mut c_void, bytes: u32) -> c_int>,
    /// Programs `bytes` bytes, whole program units, from `address` on.
    pub program:
        Option<unsafe extern "C" fn(context: *mut c_void, address: u32, data: *const c_void, bytes: u32) -> c_int>,
    /// Erases the unit that begins at `address`, which has `unit_bytes` bytes.
    pub erase: Option<unsafe extern "C" fn(context: *mut c_void, address: u32) -> c_int>,
    /// Bytes of an erase unit.
    pub unit_bytes: u32,
    /// Erase units, up to 65,535.
    pub unit_count: u32,
    /// Bytes of a program unit, the least that can be programmed: 1, 2, 4, 8, 16 or 32.
    pub program_unit_bytes: u32,
    /// How often a program unit may be programmed between two erases: `NORN_REPROGRAMMING_ONCE`, 2 to 254, or
    /// `NORN_REPROGRAMMING_UNLIMITED`.
    pub reprogramming: u32,
}

type Read = unsafe extern "C" fn(*mut c_void, u32, *mut c_void, u32) -> c_int;
type Program = unsafe extern "C" fn(*mut c_void, u32, *const c_void, u32) -> c_int;
type Erase = unsafe extern "C" fn(*mut c_void, u32) -> c_int;

/// A [`norn_nor`] that was found to have all functions and a possible part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device {
    context: *mut c_void,
    read: Read,
    program: Program,
    erase: Erase,
    unit_bytes: u32,
    unit_count: u16,
    program_unit_bytes: u8,
    reprogramming: u8,
}

impl Device {
    /// # Safety As the header says of `struct norn_nor`: until the device is dropped, the functions may be called
    /// with `context`.
    pub(crate) unsafe fn new(nor: &norn_nor) -> Result<Device, Failure> {
        let (Some(read), Some(program), Some(erase)) = (nor.read, nor.program, nor.erase) else {
            return Err(norn_error::NORN_ERROR_NULL.into());
        };
        let part = part_of(nor).ok_or(norn_error::NORN_ERROR_PART)?;
        Ok(Device {
            context: nor.context,
            read,
            program,
            erase,
            unit_bytes: part.unit_size_bytes,
            unit_count: part.unit_count,
            program_unit_bytes: part.program_unit_bytes,
            reprogramming: nor.reprogramming as u8,
        })
    }

    /// That a range lies within the part, as the caller's functions may rely on.
    fn expect_inside(&self, address: Address, bytes: usize) -> Result<(), c_int> {
        let end = u64::from(address.0) + bytes as u64;
        if end <= u64::from(self.part().size_bytes()) { Ok(()) } else { Err(OUTSIDE) }
    }

    /// Bytes of a granule, in which the heap counts: a program unit, or four bytes.
    pub(crate) fn granule_bytes(&self) -> u32 {
        u32::from(self.program_unit_bytes).max(4)
    }
}

/// Bytes of a bit for each granule of a part.
pub(crate) fn bitmap_bytes(part: &NorPart) -> u32 {
    part.size_bytes().div_ceil(u32::from(part.program_unit_bytes).max(4)).div_ceil(8)
}

/// The part that a structure describes, if there can be such a part.
pub(crate) fn part_of(nor: &norn_nor) -> Option<NorPart> {
    let part = part(
        nor.unit_bytes,
        nor.unit_count.try_into().ok()?,
        nor.program_unit_bytes.try_into().ok()?,
        nor.reprogramming.try_into().ok()?,
    );
    part.validate().is_ok().then_some(part)
}

fn part(unit_size_bytes: u32, unit_count: u16, program_unit_bytes: u8, reprogramming: u8) -> NorPart {
    let reprogramming = match u32::from(reprogramming) {
        NORN_REPROGRAMMING_ONCE => Reprogramming::Once,
        NORN_REPROGRAMMING_UNLIMITED => Reprogramming::Unlimited,
        // None is impossible, and found to be.
        _ => Reprogramming::Times(reprogramming),
    };
    NorPart { unit_count, unit_size_bytes, program_unit_bytes, reprogramming, mapped: false, endurance_erases: None }
}

/// What a function of the caller's returned. It cannot return `OUTSIDE`.
fn result(number: c_int) -> Result<(), c_int> {
    if number == 0 { Ok(()) } else { Err(number.max(OUTSIDE + 1)) }
}

impl Nor for Device {
    type Error = c_int;

    fn part(&self) -> NorPart {
        part(self.unit_bytes, self.unit_count, self.program_unit_bytes, self.reprogramming)
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), c_int> {
        self.expect_inside(address, buffer.len())?;
        let (data, bytes) = (buffer.as_mut_ptr().cast(), buffer.len() as u32);
        // SAFETY: whoever made the device has promised that the function may be called; the buffer has these bytes.
        result(unsafe { (self.read)(self.context, address.0, data, bytes) })
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), c_int> {
        self.expect_inside(address, bytes.len())?;
        // SAFETY: as of `read`.
        result(unsafe { (self.program)(self.context, address.0, bytes.as_ptr().cast(), bytes.len() as u32) })
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), c_int> {
        let address = self.part().start_of(unit);
        self.expect_inside(address, self.unit_bytes as usize)?;
        // SAFETY: as of `read`.
        result(unsafe { (self.erase)(self.context, address.0) })
    }
}
