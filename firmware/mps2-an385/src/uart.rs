//! The first UART of the board, a CMSDK one.
//!
//! The processor sleeps while there is nothing to receive. No interrupt is served: a pending one ends the sleep.

use cortex_m::asm::wfi;
use cortex_m::interrupt::{self, InterruptNumber};
use cortex_m::peripheral::NVIC;
use norn_board::{Register, Serial};

// SAFETY: the registers of the board's UART.
const DATA: Register = unsafe { Register::at(0x4000_4000) };
// SAFETY: as above.
const STATE: Register = unsafe { Register::at(0x4000_4004) };
// SAFETY: as above.
const CONTROL: Register = unsafe { Register::at(0x4000_4008) };
// SAFETY: as above.
const INTERRUPTS: Register = unsafe { Register::at(0x4000_400C) };
// SAFETY: as above.
const DIVIDER: Register = unsafe { Register::at(0x4000_4010) };

/// Bits of STATE: there is a byte to send still, or to take.
const SENDING: u32 = 1;
const RECEIVED: u32 = 2;
/// Bits of CONTROL: sends, receives, interrupts when it has received.
const ON: u32 = 1 | 2 | 8;
/// The bit of INTERRUPTS of a byte that was received.
const ON_RECEIVED: u32 = 2;
/// 25 MHz for 115,200 bits a second.
const DIVIDER_115200: u32 = 217;

/// The UART's number in the table of interrupts.
#[derive(Clone, Copy)]
struct UartInterrupt;

// SAFETY: the board's interrupt 0 is that of the first UART's receiver.
unsafe impl InterruptNumber for UartInterrupt {
    fn number(self) -> u16 {
        0
    }
}

/// The serial line.
#[derive(Debug)]
pub struct Uart(());

impl Uart {
    /// Starts it.
    ///
    /// # Safety
    /// There is one only, and the program serves no interrupts.
    pub unsafe fn start() -> Self {
        interrupt::disable();
        DIVIDER.write(DIVIDER_115200);
        CONTROL.write(ON);
        // SAFETY: interrupts are disabled, so that it only ends `wfi`.
        unsafe { NVIC::unmask(UartInterrupt) };
        Uart(())
    }
}

impl Serial for Uart {
    fn receive(&mut self) -> u8 {
        sleep_until_received();
        // The next byte may come, and say so, as soon as this one is read.
        INTERRUPTS.write(ON_RECEIVED);
        NVIC::unpend(UartInterrupt);
        DATA.read() as u8
    }

    fn send(&mut self, byte: u8) {
        while STATE.read() & SENDING != 0 {}
        DATA.write(byte.into());
    }
}

/// A function of its own, so that a debugger shows that the program waits.
#[inline(never)]
fn sleep_until_received() {
    while STATE.read() & RECEIVED == 0 {
        wfi();
    }
}
