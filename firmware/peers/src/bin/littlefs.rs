//! littlefs: all values in one file, each written at its place.
#![no_std]
#![no_main]

use core::mem::MaybeUninit;
use core::ptr::addr_of_mut;

use littlefs2::consts::{U1, U64};
use littlefs2::driver::Storage;
use littlefs2::fs::{Allocation, FileAllocation, Filesystem};
use littlefs2::io::{Error, OpenSeekFrom, Result};
use littlefs2::path;
use norn_embedded::flash::Reprogramming;
use norn_mps2_an385::ram_nor::RamNor;
use norn_peers_firmware::part::Part;
use norn_peers_firmware::{Store, UNIT_BYTES, UNITS, VALUES};

struct Blocks(Part);

impl Storage for Blocks {
    const READ_SIZE: usize = 4;
    const WRITE_SIZE: usize = 4;
    const BLOCK_SIZE: usize = UNIT_BYTES;
    const BLOCK_COUNT: usize = UNITS;
    const BLOCK_CYCLES: isize = 500;
    type CACHE_SIZE = U64;
    type LOOKAHEAD_SIZE = U1;

    fn read(&mut self, offset: usize, buffer: &mut [u8]) -> Result<usize> {
        self.0.read_at(offset, buffer);
        Ok(buffer.len())
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<usize> {
        self.0.program_at(offset, bytes);
        Ok(bytes.len())
    }

    fn erase(&mut self, offset: usize, len: usize) -> Result<usize> {
        (offset..offset + len).step_by(UNIT_BYTES).for_each(|at| self.0.erase_unit(at / UNIT_BYTES));
        Ok(len)
    }
}

static mut BLOCKS: MaybeUninit<Blocks> = MaybeUninit::uninit();
static mut ALLOCATION: MaybeUninit<Allocation<Blocks>> = MaybeUninit::uninit();

struct Files(Option<Filesystem<'static, Blocks>>);

impl Files {
    fn mount() -> Self {
        // SAFETY: `format` has written the blocks, and no file system is mounted.
        let blocks = unsafe { (*addr_of_mut!(BLOCKS)).assume_init_mut() };
        // SAFETY: as above.
        let allocation = unsafe { (*addr_of_mut!(ALLOCATION)).write(Filesystem::allocate()) };
        Files(Some(Filesystem::mount(allocation, blocks).expect("there is a file system")))
    }

    fn files(&self) -> &Filesystem<'static, Blocks> {
        self.0.as_ref().expect("it is mounted")
    }

    /// Where a value is in the file.
    fn place(key: u16) -> OpenSeekFrom {
        OpenSeekFrom::Start(u32::from(key) * 4)
    }
}

impl Store for Files {
    const NAME: &'static str = "littlefs2 0.8.1, one file of 100 values, caches of 64 bytes";
    const RAM_BYTES: usize = size_of::<Allocation<Blocks>>() + size_of::<FileAllocation<Blocks>>();

    fn format(part: RamNor) -> Self {
        // SAFETY: called once.
        let blocks = unsafe { (*addr_of_mut!(BLOCKS)).write(Blocks(Part(part))) };
        Filesystem::format(blocks).expect("the part works");
        let files = Files::mount();
        files.files().write(path!("values"), &[0; VALUES * 4]).expect("there is room");
        files
    }

    fn remount(mut self) -> Self {
        self.0 = None;
        Files::mount()
    }

    fn put(&mut self, key: u16, value: [u8; 4]) {
        self.files().write_chunk(path!("values"), &value, Files::place(key)).expect("there is room");
    }

    fn get(&mut self, key: u16) -> [u8; 4] {
        let found: core::result::Result<_, Error> = self.files().read_chunk::<4>(path!("values"), Files::place(key));
        let (bytes, _) = found.expect("it is there");
        bytes.as_slice().try_into().expect("a value has four bytes")
    }
}

norn_peers_firmware::program!(Files, Reprogramming::Unlimited);
