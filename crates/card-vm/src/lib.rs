//! A Java Card bytecode interpreter over the images of [`norn_card_package`].
//!
//! A [`Machine`] runs a method to its end: frames and operand stack are cells that the caller lends, code comes through
//! [`Code`] in windows, objects are behind [`Objects`], native methods and the runtime's exceptions behind [`Runtime`].
//! It does not recurse and does not allocate. [`Persistent`] keeps objects, arrays and static fields on a heap on
//! flash, any [`PersistentHeap`], and has a card's transactions. [`AppletCard`] is a whole card, with firewall,
//! transient arrays, applets and APDUs: [`Card`] is what a host asks of it.
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

mod applet_card;
mod arithmetic;
mod calls;
mod card;
mod code;
mod command;
mod crypto;
mod end;
mod firewall;
mod frame;
mod heap;
mod keys;
mod machine;
mod members;
mod memory;
mod nand_packages;
mod native;
mod objects;
mod outside;
mod package_store;
mod pending;
mod persistent;
mod quick;
mod ram;
mod registry;
mod runtime;
#[cfg(feature = "crypto")]
mod rust_crypto;
mod select;
mod session;
#[cfg(feature = "crypto")]
mod small_crypto;
mod trace;
mod types;
mod values;

pub use applet_card::{AppletCard, CardError, ErrorOf};
pub use card::{Card, InstallError};
pub use code::{Code, CodeError, Packages};
pub use crypto::{
    BlockCipher, CURVES_MAX, CipherMode, Crypto, Hash, MODULUS_MAX, NewRsaKey, NoCrypto, NotComputed, Parameter, RsaKey,
};
pub use end::{End, Exception, Failure, Native, NativeCalls, Stop};
pub use heap::{HEADER_BYTES, PersistentHeap, Tracer, Tracing};
pub use machine::{MACHINE_BYTES_MAX, Machine};
pub use memory::{INSTANCES_MAX, Stored};
pub use nand_packages::{IMPORTS_MAX, NandPackages, NandPackagesError, RoomImage};
pub use objects::{ClassId, Form, NativeCall, Objects, PACKAGE_OWNER, RUNTIME, Runtime, Standing, TEMPORARY_END};
pub use outside::{JournalError, Journaled};
pub use package_store::{AddError, PackageStore};
pub use persistent::{ObjectError, Persistent, STATICS_MAX, StaticsError, TransactionRefusal};
pub use ram::APDU_BUFFER_BYTES;
#[cfg(feature = "crypto")]
pub use rust_crypto::RustCrypto;
pub use session::{CHANNELS, Protocol};
#[cfg(feature = "crypto")]
pub use small_crypto::SmallCrypto;
