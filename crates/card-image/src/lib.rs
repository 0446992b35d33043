//! Java Cards in directories of the host: what commands and applications open.
//!
//! ```text
//! CARD/nor.img             a simulated NOR part: the object heap, and its journal in the last erase unit
//! CARD/nand.img            a simulated NAND part: the images of packages
//! CARD/exports/AID.exports what other packages are linked against
//! ```
//!
//! [`CardImage`] is such a card: packages are linked from jars or directories of class files and installed, applets
//! made and deleted, APDUs answered. [`ServedCard`] is one as a reader sees it. Its power is cut at operations of the
//! part.
#![forbid(unsafe_code)]

mod card;
mod device;
mod failure;
mod jar;
mod served;
mod traced;

pub use card::{CardImage, CardOf, CodeCost, Installed, Listed, Power, Report, TracedCard, Wanted};
pub use device::SharedNor;
pub use failure::CardFailure;
pub use jar::{AppletOf, Classes, Manifest, aid_of};
pub use norn_card_vm::Protocol;
pub use served::ServedCard;
pub use traced::CardTrace;
