//! A Java Card bytecode interpreter over the images of [`norn_card_package`].
//!
//! A [`Machine`] runs a method to its end: frames and operand stack are cells that the caller lends, code comes through
//! [`Code`] in windows, objects are behind [`Objects`], native methods and the runtime's exceptions behind [`Runtime`].
//! It does not recurse and does not allocate. [`Persistent`] keeps objects, arrays and static fields on a heap on
//! flash, any [`PersistentHeap`], and has a card's transactions. Firewall, transient arrays and applets are not built
//! yet: [`Card`] is what a host will ask of them, and nothing implements it.
//!
//! Images come from the linker, which has proved their types. Where damage could break more than values, the machine
//! checks itself: the operand stack stays within its frame, locals within the method's, positions within the image.
//! Then, and when the limit on bytecodes or the stack is exceeded, it ends with a [`Stop`], which no program catches.
//!
//! RAM: the machine itself, at most [`MACHINE_BYTES_MAX`] beside what it borrows, and 4 bytes a cell; of [`Persistent`]
//! 8 bytes for each package beside the heap.
//!
//! Source: The Java Virtual Machine Specification, chapter 6; Virtual Machine Specification, Java Card Platform,
//! Classic Edition 3.0.5, chapter 7. [The card's design](../../../docs/design/card.md).
#![no_std]
#![forbid(unsafe_code)]

mod arithmetic;
mod card;
mod code;
mod end;
mod frame;
mod heap;
mod machine;
mod members;
mod objects;
mod persistent;
mod quick;
mod types;

pub use card::{Card, InstallError};
pub use code::{Code, Packages};
pub use end::{End, Exception, Failure, Native, Stop};
pub use heap::{HEADER_BYTES, PersistentHeap};
pub use machine::{MACHINE_BYTES_MAX, Machine};
pub use objects::{ClassId, Form, Objects, Runtime};
pub use persistent::{ObjectError, Persistent, STATICS_MAX, StaticsError, TransactionRefusal};
