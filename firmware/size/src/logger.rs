//! Calls every operation of a sensor logger once: a sorted map as a ring, over a device that does nothing; features add
//! batches, steps ahead of need, and the other calls of a map.
//!
//! `tools/size` builds it for Cortex-M and reports code, RAM and stack. It is not meant to run.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::mem::size_of;

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};
#[cfg(feature = "map")]
use norn_ordered_index::Change;
use norn_ordered_index::OrderedIndex;
use norn_sensor_log::{Reading, SensorLog};

/// A device whose calls are cheap and whose answers the compiler cannot foresee.
struct Device;

impl Nor for Device {
    type Error = ();

    fn part(&self) -> NorPart {
        black_box(NorPart {
            unit_count: 512,
            unit_size_bytes: 4096,
            program_unit_bytes: 1,
            reprogramming: Reprogramming::Unlimited,
            mapped: false,
            endurance_erases: None,
        })
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), ()> {
        black_box(address);
        black_box(buffer);
        black_box(Ok(()))
    }

    fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), ()> {
        black_box((address, bytes));
        black_box(Ok(()))
    }

    fn erase(&mut self, unit: EraseUnit) -> Result<(), ()> {
        black_box(unit);
        black_box(Ok(()))
    }
}

type Log = SensorLog<Device>;

/// Bytes of RAM of a mounted log, as the size of a symbol.
#[unsafe(no_mangle)]
static NORN_LOG_RAM: [u8; size_of::<Log>()] = [1; size_of::<Log>()];

/// A call of the log: a function of its own, so that its stack can be told from the others'.
macro_rules! calls {
    ($($(#[$condition:meta])? $name:ident($log:ident) $body:block)*) => {
        $(
            $(#[$condition])?
            #[inline(never)]
            fn $name($log: &mut Log) {
                let _ = black_box($body);
            }
        )*

        #[unsafe(no_mangle)]
        extern "C" fn _start(log: &mut Log) {
            black_box(&NORN_LOG_RAM);
            $(
                $(#[$condition])?
                $name(log);
            )*
        }
    };
}

calls! {
    call_format(log) { if let Ok(new) = Log::format(Device) { *log = new; } }
    call_mount(log) { if let Ok(new) = Log::mount(Device) { *log = new; } }
    call_append(log) { log.append(Reading { at: black_box(1), milli: black_box(2) }) }
    call_summary(log) { log.summary(black_box(1)..black_box(2)) }
    call_newest(log) { log.newest() }
    call_oldest(log) { log.oldest() }
    call_sleep(log) { log.sleep() }
    call_count(log) { log.index().len() }
    #[cfg(feature = "map")]
    call_reclaim_step(log) { log.index().reclaim_step() }
    #[cfg(feature = "map")]
    call_insert(log) { log.index().insert(black_box(&[0; 4]), black_box(&[0; 4])) }
    #[cfg(feature = "map")]
    call_remove(log) { log.index().remove(black_box(&[0; 4])) }
    #[cfg(feature = "map")]
    call_apply(log) { log.index().apply(black_box(&[Change::Put([0; 4], [0; 4])])) }
    #[cfg(feature = "map")]
    call_stats(log) { log.index().stats() }
    #[cfg(feature = "map")]
    call_estimate(log) { log.index().len_estimate() }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
