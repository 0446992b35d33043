//! A boot counter and settings on a Raspberry Pi Pico, in its serial NOR.
//!
//! The program runs from the same NOR. While the driver programs or erases, it keeps interrupts off and the second core
//! stopped: an erase takes 45 ms, at times 400.
#![no_std]
#![no_main]

use cortex_m::asm::wfi;
use cortex_m_rt::entry;
use defmt::{Debug2Format, error, info};
use defmt_rtt as _;
use embassy_rp::flash::{Blocking, Flash};
use norn_board_settings::{places, start};
use panic_probe as _;

/// The Pico's NOR.
const FLASH_BYTES: usize = 2 * 1024 * 1024;

#[entry]
fn main() -> ! {
    let chip = embassy_rp::init(embassy_rp::config::Config::default());
    let driver = Flash::<_, Blocking, FLASH_BYTES>::new_blocking(chip.FLASH);
    match places::pico(driver).map(start) {
        Ok(Ok(started)) => info!("boot {}, {}", started.boots, Debug2Format(&started.settings)),
        Ok(Err(failure)) => error!("the store failed: {}", Debug2Format(&failure)),
        Err(error) => error!("the driver is not the chip's: {}", Debug2Format(&error)),
    }
    loop {
        wfi();
    }
}
