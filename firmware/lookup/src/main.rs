//! Requests cache pages of a pager one after the other, over a device that does nothing. `tools/lookup-cycles` puts the
//! requests into the flash, runs this on QEMU's Cortex-M0, and counts the cycles of the instructions between the calls
//! of [`requested`] and of [`hit`] or [`missed`].
#![no_std]
#![no_main]

use core::convert::Infallible;
use core::hint::black_box;
use core::ptr;

use cortex_m_rt::entry;
use cortex_m_semihosting::debug;
use norn_code_pager::policy::Lru;
use norn_code_pager::{CodeAddress, Image, Options, Pager, Uncoded};
use norn_flash::{BadMark, Block, Column, ColumnAccess, Correction, Nand, NandPart, PageAddress, Piece};

/// Bytes of a cache page, and as many frames as make up 2 KB.
const PAGE: usize = parse(env!("NORN_PAGE_BYTES"));
const FRAMES: usize = 2048 / PAGE;
/// Where the requests are: their number, the bytes of the code, and a halfword for each.
const REQUESTS: *const u32 = 0x2_0000 as *const u32;

/// K9F1208Q0B, of which a load is noted and nothing else.
struct Device {
    loads: u32,
    fetches: u32,
}

impl Nand for Device {
    type Error = Infallible;

    fn part(&self) -> NandPart {
        NandPart {
            block_count: 4096,
            pages_per_block: 32,
            page_bytes: 512,
            oob_bytes: 16,
            columns: ColumnAccess::Forwards,
            correction: Correction { bits: 1, bytes: 512 },
            bad_mark: BadMark { column: Column(517), pages: 2 },
            good_blocks_min: 4016,
            endurance_erases: None,
        }
    }

    #[inline(always)]
    fn load(&mut self, _page: PageAddress) -> Result<(), Infallible> {
        self.loads += 1;
        Ok(())
    }

    #[inline(always)]
    fn seek(&mut self, column: Column) -> Result<(), Infallible> {
        black_box(column);
        Ok(())
    }

    #[inline(always)]
    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), Infallible> {
        black_box(buffer);
        self.fetches += 1;
        Ok(())
    }

    fn program(&mut self, _page: PageAddress, _pieces: &[Piece<'_>]) -> Result<(), Infallible> {
        Ok(())
    }

    fn program_loaded(&mut self, _page: PageAddress, _pieces: &[Piece<'_>]) -> Result<(), Infallible> {
        Ok(())
    }

    fn erase(&mut self, _block: Block) -> Result<(), Infallible> {
        Ok(())
    }
}

const fn parse(digits: &str) -> usize {
    match usize::from_str_radix(digits, 10) {
        Ok(number) => number,
        Err(_) => panic!("NORN_PAGE_BYTES is a number"),
    }
}

/// A request follows.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn requested() {
    black_box(());
}

/// The page was in a frame.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn hit() {
    black_box(1);
}

/// It was not.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn missed() {
    black_box(2);
}

/// All that a caller of the pager pays: the call, and its answer.
#[inline(never)]
fn view(pager: &mut Pager<Device, Lru<FRAMES>, FRAMES, PAGE, Uncoded, ()>, address: CodeAddress) -> *const u8 {
    pager.view(address).map_or(ptr::null(), <[u8]>::as_ptr)
}

#[entry]
fn main() -> ! {
    // SAFETY: the flash is mapped, and `tools/lookup-cycles` has put the numbers there.
    let (count, code_bytes) = unsafe { (ptr::read_volatile(REQUESTS), ptr::read_volatile(REQUESTS.add(1))) };
    let device = Device { loads: 0, fetches: 0 };
    let image = Image::without_bad_blocks::<Uncoded>(&device.part(), PAGE, Block(0), code_bytes);
    let Ok(image) = image else { exit(false) };
    let mut pager = Pager::over(device, image, Lru::default(), Options::default(), ());
    let mut fetches = 0;
    for number in 0..count {
        // SAFETY: as above; each of the `count` requests takes a halfword.
        let page = unsafe { ptr::read_volatile(REQUESTS.add(2).cast::<u16>().add(number as usize)) };
        let address = CodeAddress(u32::from(page) * PAGE as u32);
        requested();
        let found = view(&mut pager, address);
        if pager.device().fetches == fetches {
            hit()
        } else {
            missed()
        }
        fetches = pager.device().fetches;
        if found.is_null() {
            exit(false);
        }
    }
    exit(true)
}

fn exit(is_right: bool) -> ! {
    debug::exit(if is_right { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {}
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    exit(false)
}
