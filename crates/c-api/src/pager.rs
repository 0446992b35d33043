//! The code pager: an image of code on NAND, written whole, read through a cache of small pages.

use core::ffi::{c_int, c_void};

use norn_code_pager::policy::{LruIn, PolicyIn};
use norn_code_pager::{
    CacheMemory, CacheShape, CodeAddress, Counts, Crc32c, ImageError, ImageWriterIn, LentPager, Options, ReadError,
    Room, Source,
};
use norn_flash::{Block, NandPart};

use crate::error::norn_error::*;
use crate::error::{Failure, norn_failure};
use crate::foreign::explained_on_nand;
use crate::ftl::Given;
use crate::handle::{self, Handle, Opaque, on};
use crate::memory::{self, MARK_BYTES, Out};
use crate::nand::{NandDevice, NandFailure, norn_nand};

/// Most frames of a cache.
pub const NORN_PAGER_FRAMES_MAX: u32 = 128;

const _: () = assert!(NORN_PAGER_FRAMES_MAX as usize == <Lru as PolicyIn<Pages, Marks>>::FRAMES_MAX);

/// Pointers that fit into `struct norn_pager`, beside its words.
pub const NORN_PAGER_POINTERS: usize = 20;
/// Words that fit into `struct norn_pager`, beside its pointers.
pub const NORN_PAGER_WORDS: usize = 25;

/// The handle of a pager: caller-provided memory for its state; the cache is separate. Zero it before the first mount,
/// as a static variable is. Do not move or copy it while it is mounted. It has 280 bytes where pointers have 32 bits.
#[repr(C)]
pub struct norn_pager {
    /// The library's.
    pub opaque_pointers: [*mut c_void; NORN_PAGER_POINTERS],
    /// The library's.
    pub opaque_words: [u64; NORN_PAGER_WORDS],
}

/// What a pager is mounted with, or an image written with. The structure is copied.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_pager_config {
    /// The part.
    pub nand: *const norn_nand,
    /// Memory aligned to four bytes, for a pager until it is unmounted.
    pub memory: *mut c_void,
    /// Its bytes: for a pager `NORN_PAGER_BYTES(frames, cache_page_bytes)`; to write an image, four and those of a page
    /// of the part.
    pub memory_bytes: usize,
    /// The first block that the image may use: its header is there, or in one of the next if that is bad.
    pub first_block: u32,
    /// Blocks that it may use, for a write.
    pub block_count: u32,
    /// Bytes of a cache page: 32 to 256 are usual. Each has four bytes of code behind it on the part, which correct one
    /// wrong bit and notice up to four; as many of both as fit lie in each page of the part.
    pub cache_page_bytes: u32,
    /// Frames of the cache, from 1 to `NORN_PAGER_FRAMES_MAX`: each holds a cache page.
    pub frames: u32,
}

/// Gives `bytes` bytes of the image from `offset` on, for a write; it may be asked for some more than once.
pub type norn_code_source =
    Option<unsafe extern "C" fn(context: *mut c_void, offset: u32, buffer: *mut c_void, bytes: u32)>;

/// What a pager has done since it was mounted.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct norn_pager_info {
    /// Bytes of the image.
    pub code_bytes: u32,
    /// Look-ups of a cache page that found it in the cache.
    pub hits: u64,
    /// Look-ups that did not, and fetched it.
    pub misses: u64,
    /// Wrong bits that were corrected.
    pub corrected_bits: u64,
}

type Pages = &'static mut [u16];
type Marks = &'static mut [u8];
type Lru = LruIn<Pages, Marks>;
type Pager = LentPager<'static, NandDevice, Lru, Crc32c, Counts>;

impl Opaque for norn_pager {
    type Engine = Pager;
}

const _: () = assert!(norn_pager::FITS);

impl handle::Engine for Pager {
    fn corruption(&self) -> Option<(u32, &'static str)> {
        None
    }
}

impl From<ReadError<NandFailure>> for Failure {
    fn from(error: ReadError<NandFailure>) -> Failure {
        match error {
            ReadError::Device(error) => error.into(),
            ReadError::OutOfImage { image_bytes, .. } => Failure::limited(NORN_ERROR_RANGE, image_bytes),
            ReadError::Uncorrectable { address } => Failure::limited(NORN_ERROR_UNREADABLE, address.0),
        }
    }
}

/// What `what` says where an image cannot be.
const HEADER: &str = "the header describes no image on this part";
const OTHER_BYTES: &str = "the image has other bytes than were written";
const DAMAGED: &str = "a page of the image has more wrong bits than its code corrects";
const PAGE_SIZE: &str = "cache pages of this width do not fit the part's pages";
const TOO_MANY_PAGES: &str = "the image has more than 65,535 cache pages";
const EMPTY: &str = "an image of no bytes";

/// Why an image was not found or written, as the caller sees it.
fn refusal(error: ImageError<NandFailure>, part: &NandPart) -> norn_failure {
    let limited = |error, limit| Failure::limited(error, limit).shown();
    let corrupted =
        |page, what| norn_failure { address: part.number_of(page).0, ..limited(NORN_ERROR_CORRUPTED, 0) }.saying(what);
    match error {
        ImageError::Device(error) => Failure::from(error).shown(),
        ImageError::PageSize { .. } => limited(NORN_ERROR_UNSUITABLE, 0).saying(PAGE_SIZE),
        ImageError::Frames { max, .. } => limited(NORN_ERROR_RANGE, max.into()),
        ImageError::TooSmall { what, needed, .. } => limited(NORN_ERROR_MEMORY, needed + MARK_BYTES).saying(what),
        ImageError::NoImage { .. } => limited(NORN_ERROR_NOT_FORMATTED, 0),
        ImageError::Newer { version } => limited(NORN_ERROR_VERSION, version.into()),
        ImageError::Layout { cache_page_bytes, .. } => limited(NORN_ERROR_GEOMETRY, cache_page_bytes.into()),
        ImageError::Header { page } => corrupted(page, HEADER),
        ImageError::Damaged { page } => corrupted(page, DAMAGED),
        ImageError::OtherBytes { .. } => limited(NORN_ERROR_CORRUPTED, 0).saying(OTHER_BYTES),
        ImageError::TooLarge { blocks, .. } => limited(NORN_ERROR_FULL, blocks.into()),
        ImageError::TooManyBadBlocks { .. } => limited(NORN_ERROR_FULL, 0),
        ImageError::TooManyPages { .. } => limited(NORN_ERROR_UNSUITABLE, 0).saying(TOO_MANY_PAGES),
        ImageError::Empty => limited(NORN_ERROR_UNSUITABLE, 0).saying(EMPTY),
    }
}

/// Bytes of memory that a pager needs in addition to its handle. It is `NORN_PAGER_BYTES` as a function.
#[unsafe(no_mangle)]
pub extern "C" fn norn_pager_bytes(frames: u32, cache_page_bytes: u32) -> u32 {
    frames.saturating_mul(cache_page_bytes.saturating_add(4)).saturating_add(MARK_BYTES)
}

/// Writes an image of `code_bytes` bytes, which `source` gives, with the memory of the configuration as a buffer. What
/// the blocks held is lost. If the power is cut, there is no image, or the one before, or the new one: whole.
///
/// Cost: an erase for each block, a program and a load for each page of the part.
///
/// Errors: `NORN_ERROR_FULL` if it does not fit, or too many blocks are bad; `NORN_ERROR_UNSUITABLE`,
/// `NORN_ERROR_WIDTH`, `NORN_ERROR_MEMORY`, `NORN_ERROR_PART`, `NORN_ERROR_MOUNTED`; `NORN_ERROR_CORRUPTED` if the part
/// has other bytes than were programmed; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_pager_write(
    pager: *mut norn_pager,
    config: *const norn_pager_config,
    code_bytes: u32,
    source: norn_code_source,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the header's rules on pointers; the mark and the bytes are from one call of `Bytes::new`.
    unsafe {
        start(pager, config, Purpose::Write, |handle, given, place| {
            handle.format(given.mark, || match source {
                Some(call) => written(given, &place, code_bytes, &mut Called { call, context }),
                None => Failure::new(NORN_ERROR_NULL).shown(),
            })
        })
    }
}

/// The caller's source of code.
struct Called {
    call: unsafe extern "C" fn(context: *mut c_void, offset: u32, buffer: *mut c_void, bytes: u32),
    context: *mut c_void,
}

impl Source for Called {
    fn copy(&mut self, offset: u32, buffer: &mut [u8]) {
        // SAFETY: the header's rules on pointers; the buffer has these bytes.
        unsafe { (self.call)(self.context, offset, buffer.as_mut_ptr().cast(), buffer.len() as u32) }
    }
}

fn written(given: Given, place: &Place, code_bytes: u32, source: &mut Called) -> norn_failure {
    let Given { mut device, part, bytes, .. } = given;
    let width = usize::from(place.shape.page_bytes);
    let mut writer: ImageWriterIn<_, Crc32c> = ImageWriterIn::new(width, bytes.lent());
    match writer.write(&mut device, place.room, code_bytes, source) {
        Ok(_) => norn_failure::NONE,
        Err(error) => refusal(error, &part),
    }
}

/// Finds the image, and begins an empty cache.
///
/// Cost: up to nine loads.
///
/// Errors: `NORN_ERROR_NOT_FORMATTED` if there is no whole image, `NORN_ERROR_OTHER_FORMAT` if something else of Norn's
/// is there, `NORN_ERROR_GEOMETRY` if the image has cache pages of `limit` bytes, `NORN_ERROR_VERSION`,
/// `NORN_ERROR_CORRUPTED`, `NORN_ERROR_UNSUITABLE`, `NORN_ERROR_RANGE` of the frames or blocks, `NORN_ERROR_WIDTH`,
/// `NORN_ERROR_MEMORY`, `NORN_ERROR_PART`, `NORN_ERROR_MOUNTED`; the device's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_pager_mount(pager: *mut norn_pager, config: *const norn_pager_config) -> c_int {
    // SAFETY: the header's rules on pointers; the mark and the bytes are from one call of `Bytes::new`.
    unsafe {
        start(pager, config, Purpose::Read, |handle, given, place| {
            handle.mount(given.mark, || opened(given, &place), |_| Ok(()))
        })
    }
}

fn opened(given: Given, place: &Place) -> Result<Pager, norn_failure> {
    let Given { device, part, bytes, .. } = given;
    let shape = place.shape;
    let (numbers, rest) = bytes.lent().split_at_mut(size_of::<u16>() * usize::from(shape.frames));
    let (marks, frames) = rest.split_at_mut(shape.mark_bytes());
    let memory = CacheMemory { frames, pages: page_numbers(numbers), marks };
    LentPager::open_in_with(device, place.room.start, shape, memory, Options::default(), Counts::default()).map_err(
        |error| {
            let room = place.room.start.0..place.room.start.0.saturating_add(place.room.blocks);
            explained_on_nand(refusal(error, &part), device, room, "a code image")
        },
    )
}

/// Bytes that are aligned, as numbers of pages.
fn page_numbers(bytes: &'static mut [u8]) -> Pages {
    // SAFETY: any bytes are numbers.
    let (before, numbers, _) = unsafe { bytes.align_to_mut::<u16>() };
    debug_assert!(before.is_empty(), "they follow the mark, a word");
    numbers
}

/// Where an image is, and the cache before it.
#[derive(Clone, Copy)]
struct Place {
    room: Room,
    shape: CacheShape,
}

/// What memory is for.
#[derive(Clone, Copy)]
enum Purpose {
    Read,
    Write,
}

impl Purpose {
    /// Bytes of memory, the mark included.
    fn needed(self, place: &Place, nand: &norn_nand) -> u32 {
        let bytes = match self {
            Purpose::Read => place.shape.memory_bytes() as u32,
            Purpose::Write => nand.page_bytes,
        };
        bytes.saturating_add(MARK_BYTES)
    }
}

/// Checks what a mount or a write is given, and begins it.
///
/// # Safety
/// The header's rules on pointers.
unsafe fn start(
    pager: *mut norn_pager,
    config: *const norn_pager_config,
    purpose: Purpose,
    begin: impl FnOnce(Handle<norn_pager>, Given, Place) -> c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    let handle = match unsafe { Handle::unmounted(pager) } {
        Ok(handle) => handle,
        Err(number) => return number,
    };
    // SAFETY: the caller's promise.
    match unsafe { parts_of(handle, config, purpose) } {
        Ok((given, place)) => begin(handle, given, place),
        Err(failure) => handle.release(&failure.shown()),
    }
}

/// # Safety
/// The header's rules on pointers.
unsafe fn parts_of(
    handle: Handle<norn_pager>,
    config: *const norn_pager_config,
    purpose: Purpose,
) -> Result<(Given, Place), Failure> {
    // SAFETY: the caller's promise.
    let config = unsafe { memory::value(config) }?;
    // SAFETY: the same.
    let nand = unsafe { memory::value(config.nand) }?;
    let place = place_of(config, nand.block_count)?;
    let memory = (config.memory, config.memory_bytes);
    // SAFETY: the same.
    let given = unsafe { Given::new(handle, config.nand, memory, purpose.needed(&place, nand)) }?;
    Ok((given, place))
}

fn place_of(config: &norn_pager_config, blocks_of_part: u32) -> Result<Place, Failure> {
    let within = |number: u32, limit: u32, error| match u16::try_from(number) {
        Ok(small) if number < limit => Ok(small),
        _ => Err(Failure::limited(error, limit)),
    };
    let start = Block(within(config.first_block, blocks_of_part, NORN_ERROR_RANGE)?);
    let blocks = within(config.block_count, u32::from(u16::MAX) + 1, NORN_ERROR_RANGE)?;
    let frames = match u8::try_from(config.frames) {
        Ok(frames) if config.frames <= NORN_PAGER_FRAMES_MAX => frames,
        _ => return Err(Failure::limited(NORN_ERROR_RANGE, NORN_PAGER_FRAMES_MAX)),
    };
    let page_bytes = within(config.cache_page_bytes, u32::from(u16::MAX) + 1, NORN_ERROR_WIDTH)?;
    Ok(Place { room: Room { start, blocks }, shape: CacheShape { frames, page_bytes } })
}

/// Unmounts; nothing is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_pager_unmount(pager: *mut norn_pager) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { handle::unmount(pager, |_| Ok(())) }
}

/// Copies `bytes` bytes of the image from `address` on into `buffer`: one, or a run that crosses cache pages.
///
/// Cost: a look-up for each cache page; for one that is not in the cache, a load and the transfer of up to a page of
/// the part, without the load if its register is still before it.
///
/// Errors: `NORN_ERROR_RANGE`, nothing is copied then; `NORN_ERROR_UNREADABLE`; the device's, after which the call may
/// be repeated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_pager_read(
    pager: *mut norn_pager,
    address: u32,
    buffer: *mut c_void,
    bytes: usize,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { on(pager, |pager| Ok(pager.read(CodeAddress(address), memory::lent_mut(buffer, bytes)?)?)) }
}

/// Finds the bytes from `address` to the end of its cache page or of the image: `*code` leads to `*bytes` of them in
/// the cache, until the next call on this handle. An interpreter executes from there.
///
/// Cost: as `norn_pager_read` of one byte, without the copy.
///
/// Errors: as `norn_pager_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_pager_view(
    pager: *mut norn_pager,
    address: u32,
    code: *mut *const c_void,
    bytes: *mut u32,
) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(pager, |pager| {
            let (code, bytes) = (Out::new(code)?, Out::new(bytes)?);
            let view = pager.view(CodeAddress(address))?;
            code.set(view.as_ptr().cast());
            bytes.set(view.len() as u32);
            Ok(())
        })
    }
}

/// Tells how large the image is, and how often a cache page was in the cache.
///
/// Cost: RAM only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_pager_tell(pager: *mut norn_pager, info: *mut norn_pager_info) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe {
        on(pager, |pager| {
            let info = Out::new(info)?;
            let Counts { hits, misses, corrected_bits, .. } = *pager.observer();
            info.set(norn_pager_info { code_bytes: pager.image().size_bytes(), hits, misses, corrected_bits });
            Ok(())
        })
    }
}

/// What is known of the last call that failed on this handle: as `norn_heap_failure`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn norn_pager_failure(pager: *const norn_pager, failure: *mut norn_failure) -> c_int {
    // SAFETY: the header's rules on pointers.
    unsafe { handle::tell_failure(pager, failure) }
}
