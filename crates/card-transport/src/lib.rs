//! Connects a smart card in software to PC/SC, by the protocol of vpcd, a driver of pcscd for virtual readers.
//!
//! [`CardIo`] is the card. [`serve`] is one conversation with vpcd over any reader and writer; [`Link`] is the TCP
//! connection below it, dialled or accepted, with its time-outs. [`T0`] puts the T=0 protocol in front of a card that
//! takes whole APDUs: GET RESPONSE, the right length, ENVELOPE. Under T=1 the card takes APDUs as they come, and [`T1`]
//! refuses what is none. [`Command`] has the cases of an APDU, short and extended.
//!
//! What a peer sends is bounded by the protocol: a message has at most 65,535 bytes. No message panics.
//!
//! ```
//! use norn_card_transport::{CardIo, Ended, Power, T1, serve};
//!
//! struct Greeter;
//! impl CardIo for Greeter {
//!     fn power(&mut self, _: Power) {}
//!     fn atr(&self) -> &[u8] {
//!         &[0x3B, 0x80, 0x01, 0x81] // T=1 only
//!     }
//!     fn transmit(&mut self, _: &[u8], answer: &mut Vec<u8>) {
//!         answer.extend(b"hello\x90\x00");
//!     }
//! }
//!
//! let sent = [0, 1, 1, 0, 1, 4, 0, 5, 0, 0xCA, 0, 0, 0]; // power on, the ATR, a command of case 2
//! let mut answers = Vec::new();
//! assert_eq!(serve(&sent[..], &mut answers, &mut T1::new(Greeter)).unwrap(), Ended::Closed);
//! assert_eq!(answers, b"\x00\x04\x3B\x80\x01\x81\x00\x07hello\x90\x00");
//! ```
//!
//! Sources: ISO/IEC 7816-3:2006, section 12 (APDUs, and how T=0 and T=1 carry them); the virtual smart card
//! architecture, <https://frankmorgner.github.io/vsmartcard/virtualsmartcard/README.html>.
#![forbid(unsafe_code)]

mod apdu;
mod card_io;
mod link;
mod t0;
mod t1;
mod vpcd;

pub use apdu::{Command, EXTENDED_MAX, Malformed, SHORT_MAX};
pub use card_io::{CardIo, Power};
pub use link::Link;
pub use t0::T0;
pub use t1::T1;
pub use vpcd::{Ended, MESSAGE_MAX, VpcdError, serve};
