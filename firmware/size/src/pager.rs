//! Opens a pager over an image with codes, views and reads, over a device that does nothing; features lend its cache, or
//! add what a boot loader or an updater calls.
//!
//! `tools/size` builds it for Cortex-M and reports the code. It is not meant to run.
#![no_std]
#![no_main]

use core::hint::black_box;

use norn_code_pager::policy::{Lru, LruIn};
use norn_code_pager::{
    CacheMemory, CacheShape, CodeAddress, Crc32c, ImageWriter, LentPager, Options, Pager, PagerIn, Room, Rooms,
    Standing,
};
use norn_flash::Block;

use crate::nand_device::Device;

mod nand_device;

/// What a program calls, whoever has the cache.
macro_rules! use_pager {
    ($opened:expr) => {
        if let Ok(mut pager) = $opened {
            let pager: &mut PagerIn<_, _, _, Crc32c> = black_box(&mut pager);
            black_box(pager.view(CodeAddress(black_box(7))).is_ok());
            black_box(pager.read(CodeAddress(black_box(7)), black_box(&mut [0; 100])).is_ok());
        }
    };
}

const ROOMS: Rooms = Rooms::split(Room { start: Block(0), blocks: 400 });

#[unsafe(no_mangle)]
extern "C" fn _start(memory: &mut Option<CacheMemory<'static>>) {
    let (start, options) = (Block(black_box(0)), black_box(Options::default()));
    if cfg!(feature = "lent") {
        let Some(memory) = memory.take() else { return };
        let shape = black_box(CacheShape { frames: 32, page_bytes: 64 });
        use_pager!(LentPager::<_, LruIn<_, _>, Crc32c>::open_in(Device, start, shape, memory, options));
    } else {
        use_pager!(Pager::<_, Lru<32>, 32, 64, Crc32c>::open(Device, start, options));
    }
    if cfg!(feature = "boot") {
        black_box(ROOMS.boot::<_, Crc32c>(&mut Device, black_box(&mut [0; 64])).is_ok());
        black_box(ROOMS.confirm(&mut Device).is_ok());
    }
    if cfg!(feature = "update") {
        let mut writer = ImageWriter::<64, 512, Crc32c>::new();
        let mut source = black_box(&[0; 100][..]);
        black_box(writer.update(&mut Device, &ROOMS, black_box(100), &mut source, Standing::TRIAL).is_ok());
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
