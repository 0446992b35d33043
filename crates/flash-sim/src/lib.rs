//! Simulated NOR flash, NAND flash and EEPROM parts for tests, experiments and the `norn` command.
//!
//! A [`NorSim`] behaves as [`norn_flash::Nor`] allows and no better: it stops on illegal use with an error that names
//! the address, counts every operation by its size, keeps simulated time, ages its erase units, and cuts the power at
//! any operation, leaving what a real part may leave. It lives in memory or in an image file, and a clone of it costs a
//! pointer for each erase unit, so that a workload can be branched at every operation.
//!
//! ```
//! use norn_flash::{Address, Nor};
//! use norn_flash_sim::{NorSim, SimError, Tear, catalogue};
//!
//! let mut part = NorSim::new(catalogue::tinystore());
//! part.program(Address(0), &[0x0F; 4])?;
//! assert!(matches!(part.program(Address(0), &[0xF0]), Err(SimError::SetsBits { .. })));
//!
//! part.cut_power_after(1, Tear::Nothing); // One word goes through, the next one does not.
//! assert_eq!(part.program(Address(8), &[0; 8]), Err(SimError::PowerLost));
//! part.power_on();
//! let mut bytes = [0; 8];
//! part.read(Address(8), &mut bytes)?;
//! assert_eq!(bytes, [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
//! assert_eq!(part.counters().programs(), 3); // The torn word is counted, too.
//! assert_eq!(part.elapsed_ns(), 3 * 30_000 + 2 * 100);
//! # Ok::<(), SimError>(())
//! ```
//!
//! An [`EepromSim`] does the same for [`norn_flash::Eeprom`], in memory, and ages byte by byte; a [`NandSim`] for
//! [`norn_flash::Nand`], whose blocks may be bad or fail and whose loads may err in bits:
//!
//! ```
//! use norn_flash::{Block, Column, Nand, Piece};
//! use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b};
//! use norn_flash_sim::{NandSim, NandSimError};
//!
//! let mut part = NandSim::new(k9f1208q0b(Bus::Mhz33Bits8));
//! let page = Block(3).page(0);
//! part.program(page, &[Piece::new(Column(64), b"code"), Piece::new(part.part().oob_column(), &[1])])?;
//! assert!(matches!(part.program(page, &[]), Err(NandSimError::OutOfOrder { .. })));
//!
//! let before = part.elapsed_ns();
//! let mut bytes = [0; 4];
//! part.load(page)?;
//! part.seek(Column(64))?;
//! part.fetch(&mut bytes)?;
//! assert_eq!(&bytes, b"code");
//! assert_eq!(part.elapsed_ns() - before, 15_000 + 50 * 68);
//! assert!(matches!(part.seek(Column(0)), Err(NandSimError::Backwards { .. })));
//! # Ok::<(), NandSimError>(())
//! ```
#![forbid(unsafe_code)]

pub mod catalogue;
mod counters;
mod cuts;
mod eeprom;
mod error;
mod image_bytes;
mod image_file;
mod image_kind;
mod instrument;
mod nand;
pub mod nand_catalogue;
mod nor;
mod spec;
mod tear;
mod unfinished;
mod wear;
mod words;

pub use counters::{Counters, SIZE_CLASSES};
pub use cuts::Cuts;
pub use eeprom::{EepromSim, EepromSimError, EepromSpec, Wear, WriteStage};
pub use error::{ImageError, SimError};
pub use image_bytes::ImageBytes;
pub use image_kind::ImageKind;
pub use nand::{NandCounters, NandSim, NandSimError, Noise};
pub use nand_catalogue::NandSpec;
pub use nor::NorSim;
pub use spec::{OperationTime, PartSpec, Timings};
pub use tear::Tear;
pub use unfinished::{Unfinished, remove_unfinished};
pub use wear::{Nanoseconds, WearSummary};
