//! Calls every operation of a log on words that are programmed once, over a device that does nothing: a leaf map; with
//! a feature a fat list over a `Remap`. Another feature adds the other calls of a map.
//!
//! `tools/size` builds it for Cortex-M and reports code, RAM and stack. It is not meant to run.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::mem::size_of;
use core::ops::Bound;

use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};
use norn_ordered_index::OrderedIndex;

/// A device whose calls are cheap and whose answers the compiler cannot foresee.
struct Device;

impl Nor for Device {
    type Error = ();

    fn part(&self) -> NorPart {
        black_box(NorPart {
            unit_count: 256,
            unit_size_bytes: 2048,
            program_unit_bytes: 8,
            reprogramming: Reprogramming::Once,
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

#[cfg(not(feature = "remap"))]
mod log {
    use super::{Device, black_box};

    pub type Log = norn_ordered_index::LeafMap<Device, 4, 2>;

    pub fn format() -> Option<Log> {
        Log::format(black_box(Device)).ok()
    }

    pub fn mount() -> Option<Log> {
        Log::mount(black_box(Device)).ok()
    }
}

#[cfg(feature = "remap")]
mod log {
    use norn_nor_remap::{Remap, RemapConfig};
    use norn_ordered_index::{FatList, Settings};

    use super::{Device, black_box};

    pub type Log = FatList<Remap<Device, 256>, 4, 2>;

    pub fn format() -> Option<Log> {
        let remap = Remap::format(black_box(Device), RemapConfig { spare_units: 2 }).ok()?;
        Log::format(remap, Settings::log()).ok()
    }

    pub fn mount() -> Option<Log> {
        Log::mount(Remap::mount(black_box(Device)).ok()?).ok()
    }
}

use log::Log;

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
    call_format(log) { if let Some(new) = log::format() { *log = new; } }
    call_mount(log) { if let Some(new) = log::mount() { *log = new; } }
    call_append(log) { log.insert_in_ring(black_box(&[0; 4]), black_box(&[0; 2])) }
    call_sum(log) {
        let (mut sum, mut range) = (0, log.range(black_box(Bound::Included([0; 4])), black_box(Bound::Unbounded)));
        while let Ok(Some((_, value))) = range.next_entry() {
            sum += u32::from(u16::from_le_bytes(value));
        }
        sum
    }
    call_newest(log) { log.last() }
    call_oldest(log) { log.first() }
    call_count(log) { log.len() }
    #[cfg(feature = "map")]
    call_remove_below(log) { log.remove_below(black_box(&[0; 4])) }
    #[cfg(feature = "map")]
    call_insert(log) { log.insert(black_box(&[0; 4]), black_box(&[0; 2])) }
    #[cfg(feature = "map")]
    call_update(log) { log.update(black_box(&[0; 4]), black_box(&[0; 2])) }
    #[cfg(feature = "map")]
    call_get(log) { log.get(black_box(&[0; 4])) }
    #[cfg(feature = "map")]
    call_remove(log) { log.remove(black_box(&[0; 4])) }
    #[cfg(feature = "map")]
    call_reclaim_step(log) { log.reclaim_step() }
    #[cfg(feature = "map")]
    call_stats(log) { log.stats() }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
