//! A server of the NBD protocol (fixed newstyle), by which programs and kernels use a block store over a socket.
//!
//! [`wire`] has every number and layout of the protocol and reads nothing by itself. [`converse`] is one client's
//! conversation over any reader and writer: the handshake, then requests; a [`Supervisor`] is told how far it is.
//! [`Server`] gives each client a thread, with one lock around the store.
//!
//! What a client may do is bounded: the length of a request, the number of clients, the time that a handshake, a
//! request and a reply take as a whole. Idle clients make room for new ones. What is no NBD ends its connection; what
//! is NBD and not supported gets the protocol's error.
//!
//! ```
//! use norn_nbd::{End, Export, RamStore, Unsupervised, converse};
//!
//! let export = Export::new(RamStore::new(4096));
//! let mut client = Vec::new(); // what a client sends: its flags, and the option ABORT
//! client.extend(3u32.to_be_bytes());
//! client.extend(b"IHAVEOPT");
//! client.extend([0, 0, 0, 2, 0, 0, 0, 0]);
//! let mut answer = Vec::new();
//! let end = converse(&client[..], &mut answer, &export, &Unsupervised).unwrap();
//! assert_eq!(end, End::Aborted);
//! assert_eq!(&answer[..16], b"NBDMAGICIHAVEOPT");
//! ```
//!
//! Source: the NBD protocol, <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>.
#![forbid(unsafe_code)]

mod clock;
mod conversation;
mod end;
mod export;
mod handshake;
mod places;
mod ram;
mod server;
mod socket;
mod store;
mod supervisor;
mod transmission;
pub mod wire;

pub use conversation::converse;
pub use end::{Broken, End};
pub use export::Export;
pub use places::{CLIENTS_MAX, HANDSHAKE_TIME, MESSAGE_TIME};
pub use ram::RamStore;
pub use server::Server;
pub use socket::{Address, AddressError, Listener};
pub use store::{BlockStore, Holes, StoreError};
pub use supervisor::{Dismissed, Stage, Supervisor, Unsupervised};
