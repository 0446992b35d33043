//! The block device on NAND: format, mount, read, write, trim, sync, collection in steps, its check.

use core::ffi::{c_char, c_int, c_void};

use norn_flash::{NandPart, PageAddress};
use norn_nand_ftl::{
    Ftl, FtlConfig, FtlError, Lba, LevelStep, MountError, MountRefusal, Place, RecycleStep, Recycling, Violation,
};

use crate::check::norn_report;
use crate::error::norn_error::*;
use crate::error::{Failure, norn_failure};
use crate::foreign::explained_on_nand;
use crate::handle::{self, Handle, Opaque, on};
use crate::memory::{self, Bytes, MARK_BYTES, Out};
use crate::nand::{NandDevice, NandFailure, nand_part_of, norn_nand};

/// Pointers that fit into `struct norn_ftl`, beside its words.
pub const NORN_FTL_POINTERS: usize = 20;
/// Words that fit into `struct norn_ftl`, beside its pointers.
pub const NORN_FTL_WORDS: usize = 37;

/// The handle of a block device: caller-provided memory for its state; the map is separate. Zero it before the first
/// mount, as a static variable is. Do not move or copy it while it is mounted. It has 376 bytes where pointers have
/// 32 bits.
#[repr(C)]
pub struct norn_ftl {
    /// The library's.
    pub opaque_pointers: [*mut c_void; NORN_FTL_POINTERS],
    /// The library's.
    pub opaque_words: [u64; NORN_FTL_WORDS],
}

/// What a block device is mounted or formatted with. The structure is copied.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_ftl_config {
    /// The part.
    pub nand: *const norn_nand,
    /// Memory for the map and the table of blocks, aligned to four bytes, which is the device's until it is unmounted.
    pub memory: *mut c_void,
    /// Its bytes: as `norn_ftl_bytes` returns, or `NORN_FTL_BYTES`.
    pub memory_bytes: usize,
    /// For a format, the logical pages: 1 up to `norn_ftl_pages_max`. At 90 % of that a write costs far less than at
    /// 100 %. A mount does not look at it.
    pub logical_pages: u32,
}

/// Pages and blocks of a device, and what it has done since it was mounted.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_ftl_info {
    /// Logical pages, as it was formatted with.
    pub logical_pages: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Blocks that are not bad.
    pub good_blocks: u32,
    /// Pages that can be programmed before a block has to be erased.
    pub free_pages: u32,
    /// Pages that hold what is read.
    pub live_pages: u32,
    /// 1 if a page of the checkpoint was missing at the mount, so that trims may have come undone; else 0.
    pub scanned: u32,
    /// Pages that were written.
    pub written: u64,
    /// Pages that were copied, to free blocks or to level wear.
    pub copied: u64,
    /// Blocks that were erased.
    pub erased: u64,
    /// Blocks that went bad.
    pub retired: u64,
}

pub(crate) type Engine = Ftl<NandDevice, Bytes>;

/// The engine, and the block that steps are recycling.
pub(crate) struct Disk {
    ftl: Engine,
    recycling: Option<Recycling>,
}

impl Disk {
    /// The device for a call that may need all blocks: a recycling that was begun is given up.
    fn undivided(&mut self) -> &mut Engine {
        if let Some(recycling) = self.recycling.take() {
            self.ftl.stop_recycling(recycling);
        }
        &mut self.ftl
    }
}

impl Opaque for norn_ftl {
    type Engine = Disk;
}

const _: () = assert!(norn_ftl::FITS);

impl handle::Engine for Disk {
    fn corruption(&self) -> Option<(u32, &'static str)> {
        None
    }
}

impl From<FtlError<NandFailure>> for Failure {
    #[inline(never)]
    fn from(error: FtlError<NandFailure>) -> Failure {
        match error {
            FtlError::Device(error) => error.into(),
            FtlError::Halted => NORN_ERROR_HALTED.into(),
            FtlError::OutOfRange { logical_pages, .. } => Failure::limited(NORN_ERROR_RANGE, logical_pages),
            FtlError::Length { page_bytes, .. } => Failure::limited(NORN_ERROR_WIDTH, page_bytes.into()),
            FtlError::NoSpace => NORN_ERROR_FULL.into(),
            FtlError::Unreadable { lba, .. } => Failure::limited(NORN_ERROR_UNREADABLE, lba.0),
        }
    }
}

/// Why a device was not formatted or mounted, as the caller sees it.
pub(crate) fn refusal(error: MountError<NandFailure>, part: &NandPart) -> norn_failure {
    let limited = |error, limit| Failure::limited(error, limit).shown();
    match error {
        MountError::Device(error) => Failure::from(error).shown(),
        MountError::Part(_) => limited(NORN_ERROR_PART, 0),
        MountError::Unsuitable(what) => limited(NORN_ERROR_UNSUITABLE, 0).saying(what),
        MountError::TooSmall { what, needed, .. } => {
            limited(NORN_ERROR_MEMORY, rounded(needed.saturating_add(MARK_BYTES))).saying(what)
        }
        MountError::NotFormatted => limited(NORN_ERROR_NOT_FORMATTED, 0),
        MountError::OtherVersion { found, .. } => limited(NORN_ERROR_VERSION, found),
        MountError::WrongGeometry { what, image, .. } => limited(NORN_ERROR_GEOMETRY, image).saying(what),
        MountError::Corrupted(violation) => {
            let address = part.number_of(violation.address).0;
            norn_failure { address, ..limited(NORN_ERROR_CORRUPTED, 0) }.saying(violation.what)
        }
        MountError::Refused(MountRefusal::TooLarge { max, .. } | MountRefusal::NoPages { max }) => {
            limited(NORN_ERROR_RANGE, max)
        }
        MountError::Refused(MountRefusal::NoSpace) => limited(NORN_ERROR_FULL, 0),
    }
}

/// Whole words, in which memory is declared.
const fn rounded(bytes: u32) -> u32 {
    bytes.saturating_add(3) & !3
}

/// Bytes of memory that a block device of this many logical pages needs in addition to its handle. It is
/// `NORN_FTL_BYTES` as a function. A logical page takes 1 to 4 bytes, a block 16, a page of the part one bit; a
/// register is added. 0 for an impossible part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_bytes(nand: *const norn_nand, logical_pages: u32) -> u32 {
    // SAFETY: the header's rules on pointers.
    match unsafe { memory::value(nand) }.ok().and_then(nand_part_of) {
        Some(part) => rounded(bytes_for(&part, logical_pages)),
        None => 0,
    }
}

fn bytes_for(part: &NandPart, logical_pages: u32) -> u32 {
    let bytes = Engine::memory_bytes(part, logical_pages).saturating_add(MARK_BYTES as usize);
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Most logical pages of a part with this many bad blocks. 0 for an impossible part, or one that is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_pages_max(nand: *const norn_nand, bad_blocks: u32) -> u32 {
    // SAFETY: the header's rules on pointers.
    match unsafe { memory::value(nand) }.ok().and_then(nand_part_of) {
        Some(part) => norn_nand_ftl::max_logical_pages(&part, u16::try_from(bad_blocks).unwrap_or(u16::MAX)),
        None => 0,
    }
}

/// Formats the part: what was on it is gone. Blocks that are marked bad are left alone. The device then has to be
/// mounted. If the power is cut, the part holds the device that it held, or the new one, or none.
///
/// Cost: some loads and an erase for each block.
///
/// Errors: `NORN_ERROR_PART`, `NORN_ERROR_UNSUITABLE`; `NORN_ERROR_RANGE` for no logical pages, and for more than
/// `limit`, the bad blocks considered; `NORN_ERROR_FULL` with too few good blocks; `NORN_ERROR_MEMORY`,
/// `NORN_ERROR_MOUNTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_format(ftl: *mut norn_ftl, config: *const norn_ftl_config) -> c_int {
    // SAFETY: the header's rules on pointers; the mark and the bytes are from one call of `Bytes::new`.
    unsafe {
        start(ftl, config, |handle, given, logical_pages| {
            handle.format(given.mark, || match Ftl::format(given.device, given.bytes, FtlConfig { logical_pages }) {
                Ok(_) => norn_failure::NONE,
                Err(error) => refusal(error, &given.part),
            })
        })
    }
}

/// Mounts the device on the part: what was written is there, each page whole.
///
/// Cost: a load for each block and each page of the checkpoint, two for each page that was programmed since; up to
/// three programs and five erases, more after many losses of power in a row.
///
/// Errors: `NORN_ERROR_NOT_FORMATTED`, `NORN_ERROR_OTHER_FORMAT`, `NORN_ERROR_VERSION`, `NORN_ERROR_GEOMETRY`,
/// `NORN_ERROR_CORRUPTED`;
/// `NORN_ERROR_MEMORY` for less than its logical pages take; those of `norn_ftl_format`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_mount(ftl: *mut norn_ftl, config: *const norn_ftl_config) -> c_int {
    // SAFETY: the header's rules on pointers; the mark and the bytes are from one call of `Bytes::new`.
    unsafe {
        start(ftl, config, |handle, given, _| {
            let mark = given.mark;
            handle.mount(mark, || Ok(Disk { ftl: mounted(given)?, recycling: None }), |_| Ok(()))
        })
    }
}

/// The block device on a part.
pub(crate) fn mounted(given: Given) -> Result<Engine, norn_failure> {
    let Given { device, part, bytes, .. } = given;
    Ftl::mount(device, bytes).map_err(|error| {
        explained_on_nand(refusal(error, &part), device, 0..part.block_count, "a block device on NAND")
    })
}

/// A part and memory that were found to be possible.
pub(crate) struct Given {
    pub device: NandDevice,
    pub part: NandPart,
    pub mark: *mut u32,
    pub bytes: Bytes,
}

/// Where memory is, and how much of it.
pub(crate) type Piece = (*mut c_void, usize);

impl Given {
    /// # Safety
    /// The header's rules on pointers.
    pub(crate) unsafe fn new<T: Opaque>(
        handle: Handle<T>,
        nand: *const norn_nand,
        (memory, bytes): Piece,
        needed: u32,
    ) -> Result<Given, Failure> {
        // SAFETY: the caller's promise.
        let nand = unsafe { memory::value(nand) }?;
        if handle.overlaps(memory, bytes) {
            return Err(NORN_ERROR_MEMORY_TAKEN.into());
        }
        // SAFETY: the same, of the functions.
        let device = unsafe { NandDevice::new(nand) }?;
        let part = norn_flash::Nand::part(&device);
        // SAFETY: the same, of the memory; no handle uses it, or finds by its mark that it has lost it.
        let (mark, bytes) = unsafe { Bytes::new(memory, bytes, needed) }?;
        Ok(Given { device, part, mark, bytes })
    }
}

/// Checks what a mount is given, and begins it.
///
/// # Safety
/// The header's rules on pointers.
unsafe fn start(
    ftl: *mut norn_ftl,
    config: *const norn_ftl_config,
    begin: impl FnOnce(Handle<norn_ftl>, Given, u32) -> c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let handle = match unsafe { Handle::unmounted(ftl) } {
        Ok(handle) => handle,
        Err(number) => return number,
    };
    // SAFETY: the caller's promise.
    let given = unsafe { memory::value(config) }.and_then(|config| {
        // SAFETY: the same.
        let given = unsafe { Given::new(handle, config.nand, (config.memory, config.memory_bytes), MARK_BYTES) }?;
        Ok((given, config.logical_pages))
    });
    match given {
        Ok((given, logical_pages)) => begin(handle, given, logical_pages),
        Err(failure) => handle.release(&failure.shown()),
    }
}

/// Unmounts, and makes trims durable. The handle is unmounted in any case, even after an error. The power may be cut
/// without it.
///
/// Cost: as `norn_ftl_sync`.
///
/// Errors: the device's. Of a halted device, and of one whose memory another took, nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_unmount(ftl: *mut norn_ftl) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { handle::unmount(ftl, |disk| Ok(disk.undivided().flush()?)) }
}

/// Reads pages from logical page `page` on into `buffer`; `bytes` are whole pages. What was never written or was
/// trimmed reads as zeros.
///
/// Cost: a load for each page that was written.
///
/// Errors: `NORN_ERROR_RANGE`, `NORN_ERROR_WIDTH`; `NORN_ERROR_UNREADABLE`, those before it are read; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_read(ftl: *mut norn_ftl, page: u32, buffer: *mut c_void, bytes: usize) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(ftl, |disk| Ok(disk.ftl.read(Lba(page), memory::lent_mut(buffer, bytes)?)?)) }
}

/// Writes pages from logical page `page` on: `bytes` are whole pages. Each is its old or its new value whatever
/// happens, and durable before the next one is written.
///
/// Cost of a page: a program, what collection copies and erases for it, and a share of a page of the checkpoint.
///
/// Errors: `NORN_ERROR_RANGE`, `NORN_ERROR_WIDTH`; `NORN_ERROR_FULL` if too many blocks have gone bad; the device's.
/// Pages before the failure are written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_write(ftl: *mut norn_ftl, page: u32, data: *const c_void, bytes: usize) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(ftl, |disk| Ok(disk.undivided().write(Lba(page), memory::lent(data, bytes)?)?)) }
}

/// Forgets pages, which read as zeros from now on, and after a loss of power once `norn_ftl_sync` has returned.
///
/// Cost: RAM for each page; a program at times.
///
/// Errors: as `norn_ftl_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_trim(ftl: *mut norn_ftl, page: u32, page_count: u32) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(ftl, |disk| Ok(disk.undivided().trim(Lba(page), page_count)?)) }
}

/// Makes trims durable; writes are already. Records also which blocks have gone bad: no later mount uses them. Without
/// this call a later mount tries such a block again.
///
/// Cost: a program if something was trimmed, else nothing; after a block has failed, up to one for each page of the
/// checkpoint.
///
/// Errors: as `norn_ftl_write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_sync(ftl: *mut norn_ftl) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(ftl, |disk| Ok(disk.undivided().flush()?)) }
}

/// Collects ahead of time: one step of recycling a block in which at least `dead_pages_least` pages are dead. Returns 1
/// if there was such a block, else 0. Call it when there is time, until it returns 0. A write between two steps gives
/// up the block; what was copied stays so.
///
/// Cost: one copy, that is a load and a program, or one erase; a program more at times.
///
/// Errors: `NORN_ERROR_FULL` if no page is free for the copy; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_recycle_step(ftl: *mut norn_ftl, dead_pages_least: u32) -> c_int {
    let least = u16::try_from(dead_pages_least).unwrap_or(u16::MAX).max(1);
    // SAFETY: the header's rules on pointers.
    unsafe { stepped(ftl, |disk| recycle_step(disk, least)) }
}

fn recycle_step(disk: &mut Disk, least: u16) -> Result<bool, Failure> {
    let chosen = disk.recycling.take().or_else(|| disk.ftl.start_recycling(least));
    let Some(mut recycling) = chosen else { return Ok(false) };
    match disk.ftl.recycle_step(&mut recycling) {
        Ok(RecycleStep::Copied) => disk.recycling = Some(recycling),
        Ok(RecycleStep::Erased | RecycleStep::Retired) => {}
        Err(error) => {
            disk.ftl.stop_recycling(recycling);
            return Err(error.into());
        }
    }
    Ok(true)
}

/// Makes a call that says whether there was something to do.
///
/// # Safety
/// The header's rules on pointers.
pub(crate) unsafe fn stepped<T: Opaque>(
    handle: *mut T,
    call: impl FnOnce(&mut T::Engine) -> Result<bool, Failure>,
) -> c_int {
    let mut was_needed = false;
    let call = |engine: &mut T::Engine| {
        was_needed = call(engine)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    match unsafe { on(handle, call) } {
        0 => c_int::from(was_needed),
        number => number,
    }
}

/// Wear levelling ahead of time: copies one page off a block that has fewer erases than others. Returns 1 if there was
/// such a block, else 0. Without this call writes level wear by themselves, later.
///
/// Cost: a copy; a program more at times.
///
/// Errors: `NORN_ERROR_FULL` until a write has made room; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_level_step(ftl: *mut norn_ftl) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { stepped(ftl, |disk| Ok(disk.undivided().level_step()? != LevelStep::Idle)) }
}

/// Tells what the device is and has done.
///
/// Cost: RAM only, for each block.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_tell(ftl: *mut norn_ftl, info: *mut norn_ftl_info) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(ftl, |disk| {
            let info = Out::new(info)?;
            info.set(info_of(&disk.ftl));
            Ok(())
        })
    }
}

/// What a device is and has done.
pub(crate) fn info_of(ftl: &Engine) -> norn_ftl_info {
    let (counters, pages) = (ftl.counters(), ftl.page_counts());
    norn_ftl_info {
        logical_pages: ftl.logical_pages(),
        page_bytes: ftl.page_bytes().into(),
        good_blocks: ftl.good_blocks().into(),
        free_pages: pages.free,
        live_pages: pages.live,
        scanned: counters.scans as u32,
        written: counters.written,
        copied: counters.copied + counters.leveled,
        erased: counters.erased,
        retired: counters.retired,
    }
}

/// Reports a violation by the page that it is about.
pub(crate) fn reported(
    found: Option<Violation>,
    part: &NandPart,
    report: norn_report,
    context: *mut c_void,
) -> Result<(), Failure> {
    let Some(violation) = found else { return Ok(()) };
    let page = match violation.address {
        Place::Mapped(_, page) | Place::Page(page) => page,
        Place::Block(block) => block.page(0),
        Place::Chunk(_) | Place::Device => PageAddress::default(),
    };
    if let Some(report) = report {
        let (what, bytes) = (violation.what.as_ptr().cast::<c_char>(), violation.what.len());
        // SAFETY: the header's rules on pointers, which the caller's function is called with.
        unsafe { report(context, part.number_of(page).0, what, bytes) };
    }
    Err(NORN_ERROR_VIOLATION.into())
}

/// Checks every invariant of the device, and calls `report`, which may be NULL, with the first violation: `address` is
/// the page of the part. `report` may not use the device.
///
/// Cost: a load for each page that is live or free.
///
/// Errors: `NORN_ERROR_VIOLATION` if there was one; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_check(ftl: *mut norn_ftl, report: norn_report, context: *mut c_void) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(ftl, |disk| {
            let ftl = disk.undivided();
            let part = norn_flash::Nand::part(ftl.device());
            reported(ftl.audit(&[])?, &part, report, context)
        })
    }
}

/// What is known of the last call that failed on this handle: as `norn_heap_failure`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_ftl_failure(ftl: *const norn_ftl, failure: *mut norn_failure) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { handle::tell_failure(ftl, failure) }
}
