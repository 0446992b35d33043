//! A hundred small values in a store on 128 KB of flash: what a program has that keeps its settings. Each program runs
//! one store, and counts what its calls take.
#![no_std]

use cortex_m_rt as _;
use norn_embedded::flash::Reprogramming;
use norn_mps2_an385::counts::{Meter, Random, Tally};
use norn_mps2_an385::lasting;
use norn_mps2_an385::ram_nor::RamNor;

pub mod part;

/// Values, which are of four bytes, and their keys, of two.
pub const VALUES: usize = 100;
/// The part.
pub const UNITS: usize = 32;
pub const UNIT_BYTES: usize = 4096;

/// Puts before anything is counted: as many as fill the part several times.
const PUTS_BEFORE: u32 = 20_000;
const COUNTED: u32 = 2_000;
const MOUNTS: u32 = 5;

/// A store of values by their numbers.
pub trait Store: Sized {
    /// Its name, and how it is set up.
    const NAME: &'static str;

    /// Begins a store on the part, which holds none.
    fn format(part: RamNor) -> Self;

    /// Begins a store that was mounted before, as after a loss of power.
    fn remount(self) -> Self;

    /// A value, durable when this returns.
    fn put(&mut self, key: u16, value: [u8; 4]);

    /// A value that is there.
    fn get(&mut self, key: u16) -> [u8; 4];

    /// Bytes of RAM while it is mounted, without the stack.
    const RAM_BYTES: usize;
}

/// The part, with what it holds: words of four bytes, programmed so often. The one before is gone.
pub fn part(reprogramming: Reprogramming) -> RamNor {
    // SAFETY: nobody has the memory: a store is dropped before its part is taken anew.
    let memory = unsafe { lasting::memory() };
    RamNor::new(&mut memory[..UNITS * UNIT_BYTES], UNIT_BYTES as u32, 4, reprogramming)
}

/// Counts, and ends the program. All that was put is compared with a model.
pub fn run<S: Store>(reprogramming: Reprogramming) -> ! {
    let mut meter = Meter::start();
    let (mut random, mut model) = (Random::new(2006), [[0; 4]; VALUES]);
    let mut store = S::format(part(reprogramming));
    let some = |random: &mut Random| (random.below(VALUES as u32) as u16, random.below(u32::MAX).to_le_bytes());
    (0..VALUES).for_each(|key| store.put(key as u16, [0; 4]));
    for _ in 0..PUTS_BEFORE {
        let (key, value) = some(&mut random);
        store.put(key, value);
        model[usize::from(key)] = value;
    }

    let (mut put, mut get) = (Tally::new("put"), Tally::new("get"));
    for _ in 0..COUNTED {
        let (key, value) = some(&mut random);
        meter.tally(&mut put, || store.put(key, value));
        model[usize::from(key)] = value;
        let (key, _) = some(&mut random);
        assert_eq!(meter.tally(&mut get, || store.get(key)), model[usize::from(key)], "value {key}");
    }
    let mut mount = Tally::new("mount after a cut");
    for _ in 0..MOUNTS {
        store = meter.tally(&mut mount, || store.remount());
        for _ in 0..50 {
            let (key, value) = some(&mut random);
            store.put(key, value);
            model[usize::from(key)] = value;
        }
    }
    for (key, value) in model.iter().enumerate() {
        assert_eq!(store.get(key as u16), *value, "value {key}");
    }
    meter.say(format_args!("-- {}: {} bytes of RAM beside the stack", S::NAME, S::RAM_BYTES));
    [get, put, mount].into_iter().for_each(|tally| meter.say(tally));
    meter.end()
}

/// A program that runs a store.
#[macro_export]
macro_rules! program {
    ($store:ty, $reprogramming:expr) => {
        #[cortex_m_rt::entry]
        fn main() -> ! {
            $crate::run::<$store>($reprogramming)
        }

        #[panic_handler]
        fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
            norn_mps2_an385::counts::fail(info)
        }
    };
}
