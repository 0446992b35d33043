//! Demand paging of code from NAND flash at the scale of a smart card, after Cogniaux and Grimaud (CARDIS 2010).
//!
//! A [`Pager`] serves bytes of a code image through a cache of a few kilobytes. Its pages are a fraction of the part's
//! pages, and it knows what the part's register holds and how far it has been read: later bytes of that page cost no
//! load. The replacement [`Policy`](policy::Policy) is a type: [`Lru`](policy::Lru), [`Clock`](policy::Clock),
//! [`Sieve`](policy::Sieve), [`S3Fifo`](policy::S3Fifo) and [`Greedy`](policy::Greedy). [`Crc32c`] puts an
//! error-correcting code after each cache page. [`ImageWriter`] writes images around bad blocks. [`Rooms`] holds two
//! programs, so that an update survives a cut of the power at any operation. A [`Shelf`] has many images behind one
//! cache. [`LentPager`] and [`ImageWriterIn`] take
//! their sizes at run time, and their memory from the caller.
//!
//! ```
//! use norn_code_pager::policy::S3Fifo;
//! use norn_code_pager::{CodeAddress, ImageWriter, Options, Pager, Room};
//! use norn_flash::Block;
//! use norn_flash_sim::NandSim;
//! use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b};
//!
//! let mut part = NandSim::new(k9f1208q0b(Bus::Mhz33Bits8));
//! let code: Vec<u8> = (0..10_000u32).map(|at| (at / 7) as u8).collect();
//! let room = Room { start: Block(0), blocks: 4 };
//! ImageWriter::<64, 512>::new().write(&mut part, room, code.len() as u32, &mut &code[..]).unwrap();
//!
//! // 2 KB in frames of 64 bytes.
//! let mut pager: Pager<_, S3Fifo<32>, 32, 64> = Pager::open(part, Block(0), Options::default()).unwrap();
//! assert_eq!(pager.view(CodeAddress(700)).unwrap(), &code[700..704]); // up to the end of the cache page
//! let mut bytes = [0; 100];
//! pager.read(CodeAddress(5000), &mut bytes).unwrap();
//! assert_eq!(bytes, code[5000..5100]);
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod address;
mod code;
mod error;
mod frames;
mod header;
mod image;
mod lent;
mod observer;
pub mod pager;
pub mod policy;
mod program;
mod recognition;
mod register;
mod rooms;
mod shelf;
mod switch;
mod update;
mod writer;

pub use address::{CachePage, CodeAddress, RoomName};
pub use code::{Code, Crc32c, Uncoded, Uncorrectable};
pub use error::{ImageError, ProgramError, ReadError};
pub use frames::{Frames, LentFrames};
pub use header::{Header, NoVersion, Version};
pub use image::{BAD_BLOCKS_MAX, Image, Room};
pub use lent::{CacheMemory, CacheShape, LentPager};
pub use observer::{Counts, Event, Observer};
pub use pager::{Bypass, Options, Pager, PagerIn, Passing, ReadAhead};
pub use program::{Boot, RollBack, RoomContent, Status};
pub use recognition::{TWO_ROOMS, recognise};
pub use rooms::Rooms;
pub use shelf::Shelf;
pub use switch::{Standing, State};
pub use writer::{ImageWriter, ImageWriterIn, Source};
