//! A boot counter and settings on an nRF52840, in its own flash, where a word is programmed twice at most.
//!
//! An erase of a page stops the processor for up to 85 ms, since program and data are in one flash: a program that cannot
//! wait calls the heap's `reclaim_step` when it can. Nordic's SoftDevice has the flash controller to itself: with it,
//! take the flash driver of `nrf-softdevice`.
#![no_std]
#![no_main]

use cortex_m::asm::wfi;
use cortex_m_rt::entry;
use defmt::{Debug2Format, error, info};
use defmt_rtt as _;
use embassy_nrf::nvmc::Nvmc;
use norn_board_settings::{places, start};
use panic_probe as _;

#[entry]
fn main() -> ! {
    let chip = embassy_nrf::init(embassy_nrf::config::Config::default());
    let driver = Nvmc::new(chip.NVMC);
    match places::nrf52840(driver).map(start) {
        Ok(Ok(started)) => info!("boot {}, {}", started.boots, Debug2Format(&started.settings)),
        Ok(Err(failure)) => error!("the store failed: {}", Debug2Format(&failure)),
        Err(error) => error!("the driver is not the chip's: {}", Debug2Format(&error)),
    }
    loop {
        wfi();
    }
}
