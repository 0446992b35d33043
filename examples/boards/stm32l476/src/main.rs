//! A boot counter and settings on an STM32L476, in its own flash, where a double word is programmed once.
//!
//! Two things are the chip's, not the driver's:
//! 1. A double word whose program was cut has a wrong code for error correction. A read of it raises the non-maskable
//!    interrupt, which by default stops the program: it would never start again. The heap knows torn words, so the
//!    handler lets the read go on.
//! 2. The flash's data cache keeps what was read before an erase. HAL drivers for other families empty it, the one for
//!    L4 does not: it is turned off.
//!
//! The data are in the second bank, and the program in the first: it runs on while the flash is programmed or erased.
#![no_std]
#![no_main]

use cortex_m::asm::wfi;
use cortex_m_rt::{entry, exception};
use defmt::{Debug2Format, error, info};
use defmt_rtt as _;
use embassy_stm32::flash::Flash;
use embassy_stm32::pac;
use norn_board_settings::{places, start};
use panic_probe as _;

#[entry]
fn main() -> ! {
    let chip = embassy_stm32::init(embassy_stm32::Config::default());
    pac::FLASH.acr().modify(|control| control.set_dcen(false));
    let driver = Flash::new_blocking(chip.FLASH);
    match places::stm32l476(driver).map(start) {
        Ok(Ok(started)) => info!("boot {}, {}", started.boots, Debug2Format(&started.settings)),
        Ok(Err(failure)) => error!("the store failed: {}", Debug2Format(&failure)),
        Err(error) => error!("the driver is not the chip's: {}", Debug2Format(&error)),
    }
    loop {
        wfi();
    }
}

/// Clears the flag of an error in two bits, so that the read goes on. Anything else that raises it is a fault.
#[exception]
unsafe fn NonMaskableInt() {
    let errors = pac::FLASH.eccr();
    if !errors.read().eccd() {
        defmt::panic!("a non-maskable interrupt");
    }
    errors.modify(|status| status.set_eccd(true));
}
