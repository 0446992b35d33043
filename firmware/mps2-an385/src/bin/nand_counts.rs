//! Counts what calls of the pager and of the block device take, on NAND of 512-byte pages in blocks of 16.
#![no_std]
#![no_main]

use core::panic::PanicInfo;
use core::ptr::addr_of_mut;

use cortex_m_rt::entry;
use norn_embedded::code::policy::Lru;
use norn_embedded::code::{CodeAddress, Crc32c, ImageWriter, Options, Pager, Room, Source};
use norn_embedded::disk::{Ftl, FtlConfig, Lba};
use norn_embedded::flash::Block;
use norn_mps2_an385::counts::{self, Meter, Random, Tally};
use norn_mps2_an385::lasting;
use norn_mps2_an385::ram_nand::RamNand;

/// Frames of the pager's cache, and bytes of a page of it.
const FRAMES: usize = 32;
const PAGE: usize = 64;
const CODE_BYTES: u32 = 64 << 10;
const CODE_BLOCKS: u16 = 12;
/// A stride that leads to all pages of the code.
const STRIDE: u32 = 97;
const LOOK_UPS: u32 = 2_000;

/// Blocks of the block device's part, pages that it shows, 70% of all, and its memory.
const BLOCKS: usize = 64;
const LOGICAL_PAGES: u32 = 716;
const DISK_BYTES: usize = 8192;
const WRITES_BEFORE: u32 = 4_000;
const WRITES: u32 = 2_000;

static mut DISK_MEMORY: [u8; DISK_BYTES] = [0; DISK_BYTES];

type CodePager = Pager<RamNand, Lru<FRAMES>, FRAMES, PAGE, Crc32c>;
type Disk = Ftl<RamNand, &'static mut [u8]>;

/// Bytes that stand for code.
struct Code;

impl Source for Code {
    fn copy(&mut self, offset: u32, buffer: &mut [u8]) {
        (offset..).zip(buffer).for_each(|(at, byte)| *byte = (at / 7) as u8);
    }
}

fn view(meter: &mut Meter, pager: &mut CodePager, tally: &mut Tally, page: u32) {
    let address = page * PAGE as u32 % CODE_BYTES;
    let byte = meter.tally(tally, || pager.view(CodeAddress(address)).map(|bytes| bytes[0]));
    assert_eq!(byte.expect("the part works"), (address / 7) as u8);
}

fn count_pager(meter: &mut Meter, mut part: RamNand) {
    let room = Room { start: Block(0), blocks: CODE_BLOCKS };
    let written = ImageWriter::<PAGE, 512, Crc32c>::new().write(&mut part, room, CODE_BYTES, &mut Code);
    written.expect("there is room");
    let mut open = Tally::new("open");
    let opened = meter.tally(&mut open, || CodePager::open(part, Block(0), Options::default()));
    let mut pager = opened.expect("there is an image");
    meter.say(open);

    // Least recently used pages go first, so that none of a round over more pages than frames is there.
    let (mut hit, mut miss) = (Tally::new("view, hit"), Tally::new("view, miss: a page of the part is loaded"));
    (0..LOOK_UPS).for_each(|number| view(meter, &mut pager, &mut miss, number * STRIDE));
    let mut near = Tally::new("view, miss: the page of the part is in its register");
    (0..LOOK_UPS).for_each(|number| view(meter, &mut pager, &mut near, number));
    (0..FRAMES as u32).for_each(|page| view(meter, &mut pager, &mut Tally::new(""), page));
    (0..LOOK_UPS).for_each(|number| view(meter, &mut pager, &mut hit, number * 5 % FRAMES as u32));
    [hit, near, miss].into_iter().for_each(|tally| meter.say(tally));
}

fn count_disk(meter: &mut Meter, part: RamNand) {
    // SAFETY: this function is called once, and the disk before is gone when the part is mounted.
    let memory = || -> &'static mut [u8] { unsafe { &mut *addr_of_mut!(DISK_MEMORY) } };
    let config = FtlConfig { logical_pages: LOGICAL_PAGES };
    let mut disk = Disk::format(part, memory(), config).expect("the part is suitable");
    let (mut random, mut page) = (Random::new(2009), [0; 512]);
    let mut some = || Lba(random.below(LOGICAL_PAGES));
    (0..LOGICAL_PAGES).for_each(|lba| disk.write(Lba(lba), &page).expect("there is room"));
    (0..WRITES_BEFORE).for_each(|_| disk.write(some(), &page).expect("there is room"));

    let (mut read, mut write) = (Tally::new("read of 512 bytes"), Tally::new("write, nothing is collected"));
    let mut collecting = Tally::new("write that collects: copies, and an erase");
    for _ in 0..WRITES {
        let lba = some();
        meter.tally(&mut read, || disk.read(lba, &mut page)).expect("the part works");
        let (lba, erased) = (some(), disk.counters().erased);
        let (done, cost) = meter.count(|| disk.write(lba, &page));
        done.expect("there is room");
        if disk.counters().erased == erased { &mut write } else { &mut collecting }.add(cost);
    }
    let mut mount = Tally::new("mount after a cut");
    let part = disk.into_device();
    meter.tally(&mut mount, || Disk::mount(part, memory())).expect("there is a disk");
    [read, write, collecting, mount].into_iter().for_each(|tally| meter.say(tally));
}

#[entry]
fn main() -> ! {
    let mut meter = Meter::start();
    // SAFETY: called once.
    let memory = unsafe { lasting::memory() };
    let (code, rest) = memory.split_at_mut(usize::from(CODE_BLOCKS) * RamNand::BLOCK_BYTES);
    meter.say("-- pager, 32 frames of 64 bytes, LRU, codes of CRC-32C that correct a bit");
    count_pager(&mut meter, RamNand::new(code));
    meter.say("-- block device, 64 blocks, 70% of the pages in use");
    count_disk(&mut meter, RamNand::new(&mut rest[..BLOCKS * RamNand::BLOCK_BYTES]));
    meter.end()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    counts::fail(info)
}
