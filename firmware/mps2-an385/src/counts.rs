//! Counts the instructions and the stack that calls take, under QEMU with `-icount shift=10`: each instruction takes
//! 1,024 ns of the machine's time then, which a timer of the board shows.
//!
//! [`Meter::start`] checks that against loops whose instructions are known, and takes what measuring itself takes off.

use core::arch::asm;
use core::fmt::{self, Write};
use core::hint::black_box;
use core::sync::atomic::{Ordering, compiler_fence};

use cortex_m::register::msp;
use cortex_m_semihosting::debug;
use cortex_m_semihosting::hio::{self, HostStream};
use norn_board::Register;

// SAFETY: the registers of the board's first timer.
const TIMER_CONTROL: Register = unsafe { Register::at(0x4000_0000) };
// SAFETY: as above.
const TIMER_VALUE: Register = unsafe { Register::at(0x4000_0004) };
// SAFETY: as above.
const TIMER_RELOAD: Register = unsafe { Register::at(0x4000_0008) };

/// Time of an instruction, and of a tick of the timer, which counts at 25 MHz.
const INSTRUCTION_NS: u64 = 1024;
const TICK_NS: u64 = 40;

/// What RAM below the stack holds before a call.
const PAINT: u32 = 0xA5A5_A5A5;
/// Words that are painted: twice what the deepest call takes.
const PAINTED: usize = 4096;
/// Words right below the stack that are not painted: whoever paints may use them.
const SPARED: usize = 16;

/// The timer, which counts ticks down from 2³² − 1 when started.
pub mod timer {
    use super::{INSTRUCTION_NS, TICK_NS, TIMER_CONTROL, TIMER_RELOAD, TIMER_VALUE};

    /// Starts it.
    pub fn start() {
        TIMER_RELOAD.write(u32::MAX);
        TIMER_VALUE.write(u32::MAX);
        TIMER_CONTROL.write(1);
    }

    /// Its ticks from now on.
    pub fn now() -> u32 {
        TIMER_VALUE.read()
    }

    /// Instructions since `before`, fewer than 160 million.
    pub fn instructions_since(before: u32) -> u32 {
        let ticks = u64::from(before.wrapping_sub(now()));
        ((ticks * TICK_NS + INSTRUCTION_NS / 2) / INSTRUCTION_NS) as u32
    }
}

/// What one call took.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Instructions.
    pub instructions: u32,
    /// Bytes of stack.
    pub stack_bytes: u32,
}

/// What calls of a kind took.
#[derive(Debug)]
pub struct Tally {
    name: &'static str,
    calls: u32,
    instructions: u64,
    most: Cost,
}

impl Tally {
    /// No call yet.
    pub const fn new(name: &'static str) -> Self {
        Tally { name, calls: 0, instructions: 0, most: Cost { instructions: 0, stack_bytes: 0 } }
    }

    /// Adds a call.
    pub fn add(&mut self, cost: Cost) {
        self.calls += 1;
        self.instructions += u64::from(cost.instructions);
        self.most.instructions = self.most.instructions.max(cost.instructions);
        self.most.stack_bytes = self.most.stack_bytes.max(cost.stack_bytes);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = if self.calls == 0 { 0 } else { self.instructions / u64::from(self.calls) };
        let Tally { name, calls, most, .. } = self;
        write!(f, "{name:<44} {calls:>7} {mean:>10} {:>10} {:>8}", most.instructions, most.stack_bytes)
    }
}

/// Counts, and tells the host.
pub struct Meter {
    host: HostStream,
    own: u32,
}

impl Meter {
    /// Starts the timer, and checks that it counts instructions.
    ///
    /// # Panics
    /// If it does not.
    pub fn start() -> Self {
        timer::start();
        let mut meter = Meter { host: hio::hstdout().expect("there is a host"), own: 0 };
        meter.own = meter.count(|| ()).1.instructions;
        let mut count = |loops| meter.count(|| spin(loops)).1.instructions;
        let (few, many) = (count(1_000), count(100_000));
        assert_eq!(many - few, 2 * 99_000, "two instructions a loop");
        assert!((2_000..2_010).contains(&few), "{few} instructions are no loop of 2,000");
        meter
    }

    /// Makes a call, and returns what it returned and took.
    #[inline(never)]
    pub fn count<T>(&mut self, call: impl FnOnce() -> T) -> (T, Cost) {
        let top = paint();
        compiler_fence(Ordering::SeqCst);
        let before = timer::now();
        let result = made(call);
        let instructions = timer::instructions_since(before);
        compiler_fence(Ordering::SeqCst);
        let cost = Cost { instructions: instructions.saturating_sub(self.own), stack_bytes: used_below(top) };
        (result, cost)
    }

    /// Makes a call, and adds what it took.
    pub fn tally<T>(&mut self, tally: &mut Tally, call: impl FnOnce() -> T) -> T {
        let (result, cost) = self.count(call);
        tally.add(cost);
        result
    }

    /// Tells the host.
    pub fn say(&mut self, what: impl fmt::Display) {
        let _ = writeln!(self.host, "{what}");
    }

    /// Ends the program.
    pub fn end(self) -> ! {
        exit(debug::EXIT_SUCCESS)
    }
}

/// A function of its own: what surrounds it is the same for every call.
#[inline(never)]
fn made<T>(call: impl FnOnce() -> T) -> T {
    black_box(call())
}

/// Two instructions a loop.
fn spin(mut loops: u32) {
    // SAFETY: it changes a register that is named, and flags.
    unsafe { asm!("1:", "subs {loops}, #1", "bne 1b", loops = inout(reg) loops) };
    let _ = loops;
}

/// Paints RAM below the stack, and returns where the stack ends.
#[inline(never)]
fn paint() -> *mut u32 {
    let top = msp::read() as *mut u32;
    for word in SPARED..PAINTED {
        // SAFETY: RAM is larger than what the stack and the paint take, and nothing is below the stack.
        unsafe { top.sub(word).write_volatile(PAINT) };
    }
    top
}

/// Bytes below `top` that have been written since.
#[inline(never)]
fn used_below(top: *mut u32) -> u32 {
    // SAFETY: what was painted.
    let is_painted = |word: &usize| unsafe { top.sub(*word).read_volatile() } == PAINT;
    let unused = (SPARED..PAINTED).rev().take_while(is_painted).count();
    ((PAINTED - 1 - unused) * 4) as u32
}

/// Tells the host why the program cannot go on, and ends it.
pub fn fail(why: &core::panic::PanicInfo<'_>) -> ! {
    if let Ok(mut host) = hio::hstdout() {
        let _ = writeln!(host, "{why}");
    }
    exit(debug::EXIT_FAILURE)
}

fn exit(status: debug::ExitStatus) -> ! {
    debug::exit(status);
    loop {
        cortex_m::asm::wfi();
    }
}

/// Numbers that look random: xorshift, of 32 bits.
#[derive(Debug)]
pub struct Random(u32);

impl Random {
    /// From a seed that is not 0.
    pub const fn new(seed: u32) -> Self {
        Random(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 % bound
    }
}
