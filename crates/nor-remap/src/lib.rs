//! A NOR part without limits over one that has some: words that may be programmed once (flash with error-correcting
//! codes) or twice between erases, and units that wear out.
//!
//! [`Remap`] is itself a [`Nor`](norn_flash::Nor): it presents a *virtual part* whose words may be programmed any
//! number of times, each clearing further bits, and whose units do not fail while there are spares. A store on classic
//! NOR that does not want spares uses its device directly and pays nothing.
//!
//! ```
//! use norn_flash::{Address, EraseUnit, Nor, Reprogramming};
//! use norn_flash_sim::{NorSim, catalogue};
//! use norn_nor_remap::{Remap, RemapConfig};
//!
//! let device = NorSim::new(catalogue::stm32l4()); // double words of 8 bytes, programmed once
//! let mut part: Remap<_, 256> = Remap::format(device, RemapConfig { spare_units: 2 }).unwrap();
//! assert_eq!(part.part().reprogramming, Reprogramming::Unlimited);
//! assert_eq!(part.part().unit_count, 254);
//!
//! part.program(Address(0), &[0xF0; 8]).unwrap();
//! part.program(Address(0), &[0x00, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0, 0xF0]).unwrap(); // and again
//!
//! let mut part: Remap<_, 256> = Remap::mount(part.into_device()).unwrap();
//! let mut bytes = [0; 2];
//! part.read(Address(0), &mut bytes).unwrap();
//! assert_eq!(bytes, [0x00, 0xF0]);
//! part.erase(EraseUnit(0)).unwrap();
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod audit;
mod calls;
mod error;
mod fixed;
pub mod format;
mod hints;
mod homes;
mod layout;
mod mount;
mod recognition;
mod remap;
mod spare;
mod switch;
mod table;

pub use error::{RemapError, RemapMountError, TooManyBadUnits};
pub use fixed::Remap;
pub use homes::{RemapRow, RemapRows};
pub use recognition::recognise;
pub use remap::{RemapConfig, RemapIn};
