//! Links class files of plain `javac` into packages for a Java Card virtual machine.
//!
//! [`ClassFile::read`](class_file::ClassFile::read) reads one class file and refuses what no card has; [`verify()`]
//! proves that its bytecode keeps to its types, stack and locals, and uses only classes and members that exist and that
//! it may use. A [`Refusal`] names class, method and line, and what to write instead. Any bytes give a class or a
//! refusal. [`link()`] verifies the classes of one package, and turns them into an image for the card and an
//! [`ExportTable`] for the packages that import it.
//!
//! ```
//! use norn_card_linker::{ClassFile, World, verify};
//!
//! let refusal = ClassFile::read(b"no class file", "Purse.class").unwrap_err();
//! assert!(refusal.to_string().starts_with("Purse.class: malformed class file: "));
//! # let classes: Vec<ClassFile> = Vec::new();
//!
//! let mut world = World::default();
//! for class in &classes {
//!     world.add(class.shape.clone())?;
//! }
//! for class in &classes {
//!     verify(class, &world)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: The Java Virtual Machine Specification, chapters 4 and 5; Virtual Machine Specification, Java Card Platform,
//! Classic Edition 3.0.5, chapter 2.2, for what a card lacks. [The card's design](../../../docs/design/card.md).
#![forbid(unsafe_code)]

pub mod class_file;
mod descriptor;
mod link;
mod refusal;
mod shape;
mod verify;
mod world;

pub use class_file::ClassFile;
pub use descriptor::{Signature, ValueType};
pub use link::{ClassLayout, ExportTable, LinkConfig, LinkError, LinkedPackage, MemberKey, Natives, Sizes, Slot, link};
pub use norn_card_package::{Aid, Version};
pub use refusal::{Reason, Refusal};
pub use shape::{ClassShape, FieldShape, Flags, MethodShape};
pub use verify::verify;
pub use world::World;
