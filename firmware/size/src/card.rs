//! Calls everything that a reader and a host ask of a card, over devices that do nothing: virtual machine, object heap
//! with its journal, and pager. A feature makes it the small card; others give it algorithms, with random bytes of the
//! chip's generator.
//!
//! `tools/size` builds it for Cortex-M and reports code, RAM and stack. It is not meant to run.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::mem::size_of;

use norn_card_package::Aid;
use norn_card_vm::{AppletCard, Card, Journaled, NandPackages};
use norn_code_pager::policy::Clock;
use norn_code_pager::Options;
use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};
use norn_object_heap::{Config, HeapIn, LeastFeatures, UnitRow};

use crate::nand_device::Device;

mod nand_device;

/// A NOR device whose calls are cheap and whose answers the compiler cannot foresee.
struct NorDevice;

impl Nor for NorDevice {
    type Error = ();

    fn part(&self) -> NorPart {
        black_box(NorPart {
            unit_count: 56,
            unit_size_bytes: 8192,
            program_unit_bytes: 4,
            reprogramming: Reprogramming::Unlimited,
            mapped: false,
            endurance_erases: None,
        })
    }

    fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), ()> {
        black_box((address, buffer));
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

/// Packages, frames of the cache, bytes of transient arrays, cells of frames and operand stacks; bytes of RAM at most.
#[cfg(not(feature = "small"))]
const SIZES: (usize, usize, usize, usize, usize) = (8, 32, 1536, 512, 8192);
#[cfg(feature = "small")]
const SIZES: (usize, usize, usize, usize, usize) = (4, 12, 512, 224, 4096);

/// The chip's generator of random bytes.
#[cfg(any(feature = "compact", feature = "crypto"))]
struct Chip;

#[cfg(any(feature = "compact", feature = "crypto"))]
impl norn_card_crypto::Random for Chip {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), norn_card_crypto::CryptoError> {
        black_box(bytes);
        black_box(Ok(()))
    }
}

#[cfg(feature = "crypto")]
type Algorithms = norn_card_vm::RustCrypto<Chip>;
#[cfg(feature = "crypto")]
const ALGORITHMS: Algorithms = norn_card_vm::RustCrypto(Chip);
#[cfg(all(feature = "compact", not(feature = "crypto")))]
type Algorithms = norn_card_vm::SmallCrypto<Chip>;
#[cfg(all(feature = "compact", not(feature = "crypto")))]
const ALGORITHMS: Algorithms = norn_card_vm::SmallCrypto(Chip);
#[cfg(not(any(feature = "compact", feature = "crypto")))]
type Algorithms = norn_card_vm::NoCrypto;
#[cfg(not(any(feature = "compact", feature = "crypto")))]
const ALGORITHMS: Algorithms = norn_card_vm::NoCrypto;

/// Memory for RSA's numbers, which there is none of: this is not meant to run.
#[cfg(feature = "rsa")]
struct Allocator;

// SAFETY: what is allocated is null, which says that there is no room.
#[cfg(feature = "rsa")]
unsafe impl core::alloc::GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: core::alloc::Layout) -> *mut u8 {
        black_box(layout);
        black_box(core::ptr::null_mut())
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: core::alloc::Layout) {
        black_box((place, layout));
    }
}

#[cfg(feature = "rsa")]
#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The heap without error detection and delta records, with arrays and collection.
type Heap = HeapIn<NorDevice, [UnitRow; 56], (), LeastFeatures>;
type Packages = NandPackages<Device, Clock<{ SIZES.1 }>, { SIZES.0 }, { SIZES.1 }, 64, 512>;
type Vm = AppletCard<Journaled<Heap, NorDevice>, Packages, Algorithms, { SIZES.0 }, { SIZES.2 }, { SIZES.3 }>;

/// Bytes of RAM of a running card, heap, pager and virtual machine, as the size of a symbol.
#[unsafe(no_mangle)]
static NORN_CARD_RAM: [u8; size_of::<Vm>()] = [1; size_of::<Vm>()];
/// Of these, the heap's and its journal's.
#[unsafe(no_mangle)]
static NORN_CARD_HEAP_RAM: [u8; size_of::<Journaled<Heap, NorDevice>>()] = [1; size_of::<Journaled<Heap, NorDevice>>()];
/// Of these, the pager's and the packages' headers.
#[unsafe(no_mangle)]
static NORN_CARD_PAGER_RAM: [u8; size_of::<Packages>()] = [1; size_of::<Packages>()];

const _: () = assert!(size_of::<Vm>() <= SIZES.4, "the card's RAM is at most 8 KiB, the small one's 4 KiB");

#[inline(never)]
fn call_format() -> bool {
    Heap::format_with(NorDevice, black_box(Config::default()), ()).is_ok()
}

#[inline(never)]
fn call_mount(card: &mut Option<Vm>) {
    let Ok(heap) = Heap::mount_with(NorDevice, ()) else { return };
    let Ok(heap) = Journaled::mount(heap, NorDevice) else { return };
    let Ok(packages) = Packages::mount(Device, Options::default(), ()) else { return };
    let card = card.insert(Vm::off(heap, packages, ALGORITHMS, black_box(100_000)));
    black_box(card.reset().is_ok());
}

#[inline(never)]
fn call_process(card: &mut Vm) -> usize {
    card.process(black_box(&[0; 261]), black_box(&mut [0; 258])).unwrap_or(0)
}

#[inline(never)]
fn call_reset(card: &mut Vm) -> bool {
    card.reset().is_ok()
}

#[inline(never)]
fn call_install_package(card: &mut Vm) -> bool {
    card.install_package(black_box(&[0; 2000])).is_ok()
}

#[inline(never)]
fn call_install_applet(card: &mut Vm, aid: Aid) -> bool {
    card.install_applet(aid, aid, black_box(&[0; 100])).is_ok()
}

#[inline(never)]
fn call_delete(card: &mut Vm, aid: Aid) -> bool {
    card.delete(aid).is_ok()
}

#[unsafe(no_mangle)]
extern "C" fn _start(card: &mut Option<Vm>) {
    black_box((&NORN_CARD_RAM, &NORN_CARD_HEAP_RAM, &NORN_CARD_PAGER_RAM));
    black_box(call_format());
    call_mount(card);
    let (Some(card), Some(aid)) = (card, Aid::new(black_box(&[1, 2, 3, 4, 5]))) else { return };
    black_box(call_process(card));
    black_box(call_reset(card));
    black_box(call_install_package(card));
    black_box(call_install_applet(card, aid));
    black_box(call_delete(card, aid));
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
