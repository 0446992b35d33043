//! Package images of a Java Card virtual machine: every byte of the format, a reader, and a checker that trusts none.
//!
//! The linker writes an image on the host; a card keeps it on NAND and reads it through [`Image`], in windows as the
//! code pager has them. [`Package::open`] reads the header; [`check()`] walks the whole image: sections, class records,
//! methods, and the operands and branch targets of every bytecode. Any bytes give a package or an [`ImageError`]; no
//! call panics, allocates, or reads outside the image.
//!
//! ```
//! use norn_card_package::{ImageError, Package, Wrong};
//!
//! let mut image: &[u8] = b"no package";
//! assert_eq!(Package::open(&mut image), Err(ImageError::Wrong { at: 0, what: Wrong::NoPackage }));
//! ```
//!
//! Source: [the format](../../../docs/format/card-package.md), after chapter 6 of the Virtual Machine Specification,
//! Java Card Platform, Classic Edition 3.0.5; [the card's design](../../../docs/design/card.md).
#![no_std]
#![forbid(unsafe_code)]

pub mod format;
pub mod opcode;

mod aid;
mod check;
mod code_check;
mod error;
mod image;
mod known;
mod native;
mod package;

pub use aid::{Aid, Version};
pub use check::check;
pub use error::{ImageError, Wrong};
pub use image::Image;
pub use known::{KNOWN_CLASSES, KNOWN_METHODS, known_class, known_method};
pub use native::{NATIVES, native_name, native_number};
pub use package::{
    Applet, ArrayStart, Class, ClassPlace, Handler, Import, InterfaceTable, Method, MethodPlace, Package, Start,
};
