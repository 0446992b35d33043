//! Calls every operation of a block device on NAND once, over a device that does nothing; a feature adds tasks with
//! deadlines.
//!
//! `tools/size` builds it for Cortex-M and reports code, RAM and stack. It is not meant to run.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::mem::size_of;

use norn_nand_ftl::{Ftl, FtlConfig, Lba};
#[cfg(feature = "deadlines")]
use norn_nand_ftl::{OperationTimes, PartClient, RealTime, RealTimeConfig, Scheduling, Task};

use crate::nand_device::Device;

mod nand_device;

/// The map and the table of blocks are in memory that the caller lends: its bytes follow from the part.
type Memory = &'static mut [u8];

#[cfg(not(feature = "deadlines"))]
type Disk = Ftl<Device, Memory>;
#[cfg(feature = "deadlines")]
type Disk = RealTime<Device, Memory, 8>;

/// Bytes of RAM of a mounted device beside the lent memory, as the size of a symbol.
#[unsafe(no_mangle)]
static NORN_DISK_RAM: [u8; size_of::<Disk>()] = [1; size_of::<Disk>()];

/// A call of the device: a function of its own, so that its stack can be told from the others'.
macro_rules! calls {
    ($($name:ident($disk:ident) $body:block)*) => {
        $(
            #[inline(never)]
            fn $name($disk: &mut Disk) {
                let _ = black_box($body);
            }
        )*

        #[unsafe(no_mangle)]
        extern "C" fn _start(disk: &mut Disk, memory: &mut Option<Memory>) {
            black_box(&NORN_DISK_RAM);
            call_format(disk, memory);
            call_mount(disk, memory);
            $($name(disk);)*
        }
    };
}

#[inline(never)]
fn call_format(disk: &mut Disk, memory: &mut Option<Memory>) {
    let Some(memory) = memory.take() else { return };
    if let Ok(new) = Ftl::format(Device, memory, black_box(FtlConfig { logical_pages: 100 })) {
        serve(disk, new);
    }
}

#[inline(never)]
fn call_mount(disk: &mut Disk, memory: &mut Option<Memory>) {
    let Some(memory) = memory.take() else { return };
    if let Ok(new) = Ftl::mount(Device, memory) {
        serve(disk, new);
    }
}

#[cfg(not(feature = "deadlines"))]
fn serve(disk: &mut Disk, ftl: Ftl<Device, Memory>) {
    *disk = ftl;
}

#[cfg(feature = "deadlines")]
#[inline(never)]
fn serve(disk: &mut Disk, ftl: Ftl<Device, Memory>) {
    let config = RealTimeConfig {
        alpha: black_box(16),
        tokens: black_box(1000),
        times: black_box(OperationTimes::paper()),
        checkpoint_period_us: black_box(100_000),
        scheduling: black_box(Scheduling::EarliestDeadline),
        client: black_box(PartClient::NONE),
        failure_budget: black_box(2),
    };
    if let Ok(new) = RealTime::start(ftl, config) {
        *disk = new;
    }
}

#[cfg(not(feature = "deadlines"))]
calls! {
    call_read(disk) { disk.read(Lba(black_box(7)), black_box(&mut [0; 512])) }
    call_write(disk) { disk.write(Lba(black_box(7)), black_box(&[0; 512])) }
    call_trim(disk) { disk.trim(Lba(black_box(7)), black_box(8)) }
    call_flush(disk) { disk.flush() }
    call_recycle(disk) { disk.recycle() }
    call_level_step(disk) { disk.level_step() }
}

#[cfg(feature = "deadlines")]
calls! {
    call_read(disk) { disk.read(Lba(black_box(7)), black_box(&mut [0; 512])) }
    call_admit(disk) {
        let task = disk.admit(black_box(Task { cost_us: 100, period_us: 10_000, writes: 3 }));
        if let Ok(task) = task {
            black_box(disk.write(task, Lba(black_box(7)), black_box(&[0; 512])).is_ok());
            black_box(disk.trim(task, Lba(black_box(7)), black_box(8)).is_ok());
            black_box(disk.leave(task).is_ok());
        }
    }
    call_collector_step(disk) { disk.collector_step() }
    call_advance(disk) { disk.advance(black_box(100)) }
    call_background_write(disk) { disk.background_write(Lba(black_box(7)), black_box(&[0; 512])) }
    call_background_step(disk) { disk.background_step() }
    call_level_step(disk) { disk.level_step() }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
