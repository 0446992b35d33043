//! The nRF51's serial line on the pins that lead to the micro:bit's USB: 115,200 bits a second, 8 data bits, no parity.
//!
//! The processor sleeps while there is nothing to receive. No interrupt is served: a pending one ends the sleep.

use cortex_m::asm::wfi;
use cortex_m::interrupt::{self, InterruptNumber};
use cortex_m::peripheral::NVIC;
use norn_board::{Register, Serial};

// SAFETY: the registers of the chip's UART.
const START_RECEIVING: Register = unsafe { Register::at(0x4000_2000) };
// SAFETY: as above.
const START_SENDING: Register = unsafe { Register::at(0x4000_2008) };
// SAFETY: as above.
const RECEIVED: Register = unsafe { Register::at(0x4000_2108) };
// SAFETY: as above.
const SENT: Register = unsafe { Register::at(0x4000_211C) };
// SAFETY: as above.
const ENABLE_INTERRUPTS: Register = unsafe { Register::at(0x4000_2304) };
// SAFETY: as above.
const ENABLE: Register = unsafe { Register::at(0x4000_2500) };
// SAFETY: as above.
const PIN_OUT: Register = unsafe { Register::at(0x4000_250C) };
// SAFETY: as above.
const PIN_IN: Register = unsafe { Register::at(0x4000_2514) };
// SAFETY: as above.
const BYTE_IN: Register = unsafe { Register::at(0x4000_2518) };
// SAFETY: as above.
const BYTE_OUT: Register = unsafe { Register::at(0x4000_251C) };
// SAFETY: as above.
const RATE: Register = unsafe { Register::at(0x4000_2524) };

/// RXDRDY's bit of the interrupts that are enabled.
const ON_RECEIVED: u32 = 1 << 2;
const ENABLED: u32 = 4;
const RATE_115200: u32 = 0x01D7_E000;

/// The UART's number in the table of interrupts.
#[derive(Clone, Copy)]
struct UartInterrupt;

// SAFETY: the nRF51's interrupt 2 is its UART's.
unsafe impl InterruptNumber for UartInterrupt {
    fn number(self) -> u16 {
        2
    }
}

/// The serial line.
pub struct Uart(());

impl Uart {
    /// Starts it.
    ///
    /// # Safety
    /// There is one only, and the program serves no interrupts.
    pub unsafe fn start() -> Self {
        interrupt::disable();
        PIN_OUT.write(24);
        PIN_IN.write(25);
        RATE.write(RATE_115200);
        ENABLE.write(ENABLED);
        ENABLE_INTERRUPTS.write(ON_RECEIVED);
        // SAFETY: interrupts are disabled, so that it only ends `wfi`.
        unsafe { NVIC::unmask(UartInterrupt) };
        START_RECEIVING.write(1);
        START_SENDING.write(1);
        Uart(())
    }
}

impl Serial for Uart {
    fn receive(&mut self) -> u8 {
        sleep_until_received();
        // The next byte may come, and say so, as soon as this one is read.
        RECEIVED.write(0);
        NVIC::unpend(UartInterrupt);
        BYTE_IN.read() as u8
    }

    fn send(&mut self, byte: u8) {
        SENT.write(0);
        BYTE_OUT.write(byte.into());
        while SENT.read() == 0 {}
    }
}

/// A function of its own, so that a debugger shows that the program waits.
#[inline(never)]
fn sleep_until_received() {
    while RECEIVED.read() == 0 {
        wfi();
    }
}
