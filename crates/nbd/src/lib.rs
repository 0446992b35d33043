//! A server of the NBD protocol (fixed newstyle), by which programs and kernels use a block store over a socket.
//!
//! [`wire`] has every number and layout of the protocol and reads nothing by itself. [`converse`] is one client's
//! conversation over any reader and writer: the handshake, then requests. [`Server`] gives each client a thread, with
//! one lock around the store.
//!
//! What a client may do is bounded: the length of a request, the number of clients, the time a handshake and a message
//! take. What is no NBD ends its connection; what is NBD and not supported gets the protocol's error.
//!
//! ```
//! use std::sync::Mutex;
//! use std::sync::atomic::AtomicBool;
//! use norn_nbd::{End, RamStore, converse};
//!
//! let store = Mutex::new(RamStore::new(4096));
//! let mut client = Vec::new(); // what a client sends: its flags, and the option ABORT
//! client.extend(3u32.to_be_bytes());
//! client.extend(b"IHAVEOPT");
//! client.extend([0, 0, 0, 2, 0, 0, 0, 0]);
//! let mut answer = Vec::new();
//! let end = converse(&mut &client[..], &mut answer, &store, &AtomicBool::new(false)).unwrap();
//! assert_eq!(end, End::Aborted);
//! assert_eq!(&answer[..16], b"NBDMAGICIHAVEOPT");
//! ```
//!
//! Source: the NBD protocol, <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>.
#![forbid(unsafe_code)]

mod conversation;
mod end;
mod handshake;
mod ram;
mod server;
mod socket;
mod store;
mod transmission;
pub mod wire;

pub use conversation::converse;
pub use end::{Broken, End};
pub use ram::RamStore;
pub use server::{CLIENTS_MAX, HANDSHAKE_TIME, MESSAGE_TIME, Server};
pub use socket::{Address, AddressError, Listener};
pub use store::{BlockStore, Holes, StoreError};
