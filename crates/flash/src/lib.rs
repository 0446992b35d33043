//! Device contracts: what Norn asks of a flash part and what it may rely on.
//!
//! A part is described by a value ([`NorPart`]), not by types or cargo features, so that one binary can serve parts of
//! any geometry and the lab can sweep erase-unit sizes. The contract itself is the documentation of [`Nor`]: it has two
//! sides, and the larger one is about power loss. [`Eeprom`] is the contract of parts that are overwritten in place,
//! [`Nand`] that of parts that are read through a register, program pages, err in bits and have bad blocks.
//!
//! ```
//! use norn_flash::{Address, NorPart, Reprogramming};
//!
//! let part = NorPart {
//!     unit_count: 56,
//!     unit_size_bytes: 8192,
//!     program_unit_bytes: 1,
//!     reprogramming: Reprogramming::Unlimited,
//!     mapped: true,
//!     endurance_erases: Some(100_000),
//! };
//! assert_eq!(part.size_bytes(), 448 * 1024);
//! assert_eq!(part.unit_of(Address(8192)).0, 1);
//! assert_eq!(part.validate(), Ok(()));
//! ```
//!
//! A driver for a part of one's own, here bytes in RAM:
//!
//! ```
//! use norn_flash::{Address, EraseUnit, Nor, NorPart, Reprogramming};
//!
//! struct Ram([u8; 8 * 4096]);
//!
//! impl Nor for Ram {
//!     type Error = core::convert::Infallible;
//!
//!     fn part(&self) -> NorPart {
//!         NorPart {
//!             unit_count: 8,
//!             unit_size_bytes: 4096,
//!             program_unit_bytes: 1,
//!             reprogramming: Reprogramming::Unlimited,
//!             mapped: true,
//!             endurance_erases: None,
//!         }
//!     }
//!
//!     fn read(&mut self, address: Address, buffer: &mut [u8]) -> Result<(), Self::Error> {
//!         let start = address.0 as usize;
//!         buffer.copy_from_slice(&self.0[start..start + buffer.len()]);
//!         Ok(())
//!     }
//!
//!     fn program(&mut self, address: Address, bytes: &[u8]) -> Result<(), Self::Error> {
//!         let cells = &mut self.0[address.0 as usize..];
//!         cells.iter_mut().zip(bytes).for_each(|(cell, byte)| *cell &= byte); // NOR flash clears bits only
//!         Ok(())
//!     }
//!
//!     fn erase(&mut self, unit: EraseUnit) -> Result<(), Self::Error> {
//!         let start = self.part().start_of(unit).0 as usize;
//!         self.0[start..start + 4096].fill(0xFF);
//!         Ok(())
//!     }
//!
//!     fn mapped(&self) -> Option<&[u8]> {
//!         Some(&self.0)
//!     }
//! }
//!
//! let mut ram = Ram([0xFF; 8 * 4096]);
//! ram.program(Address(4096), &[0xF0, 0x0F]).unwrap();
//! ram.erase(EraseUnit(0)).unwrap();
//! assert_eq!(ram.mapped().unwrap()[4095..4099], [0xFF, 0xF0, 0x0F, 0xFF]);
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod audit;
pub mod copies;
mod eeprom;
mod embedded;
mod guard;
mod label;
mod mounting;
mod nand;
mod nor;
mod partition;
mod recognition;
mod sectors;
mod shared;
mod store_error;
mod unit_bytes;

#[cfg(feature = "alloc")]
pub use audit::Collected;
pub use audit::{Auditor, Marks, Violation};
#[cfg(feature = "critical-section")]
pub use critical_section;
pub use eeprom::{Eeprom, EepromPart, EepromPartError};
pub use embedded::{AdapterError, EmbeddedNor};
pub use guard::{Guard, GuardError};
pub use label::{
    LABEL_BYTES, LABEL_TENANTS_MAX, LABEL_VERSION, Label, LabelDevice, LabelError, LoadError, NandLabel, NorLabel,
    TENANT_NAME_BYTES_MAX, TenantEntry,
};
pub use mounting::{MountError, PartKind};
pub use nand::{
    BadMark, Block, Column, ColumnAccess, Correction, Nand, NandError, NandErrorKind, NandPart, NandPartError,
    NandTimings, PageAddress, PageNumber, Piece,
};
pub use nor::{Address, EraseUnit, Nor, NorPart, PartError, Reprogramming};
pub use partition::{NandPartition, NandRangeError, NorPartition, NorRangeError, PartitionError};
pub use recognition::{FORMAT_HEAD_BYTES, Recognised, StatedGeometry, TenantKind, find_unit_head, format_of_head};
pub use sectors::{SectorError, SectorFlash, SectorNor, SectorRun};
pub use shared::{Lock, NandTenant, NorTenant, Shared, Tenancy};
pub use store_error::StoreError;
pub use unit_bytes::UnitBytes;
