//! A page that shows what is on a flash chip, cuts its power, and shows what the mount repairs.
//!
//! The crate is compiled twice. For `wasm32-unknown-unknown` it is the program of the page: it decodes images, plays
//! workloads on simulated flash and cuts the power, with the same code as firmware and commands. For the host it puts
//! the page together, with that program in it, and draws pictures of chips.
//!
//! ```
//! use norn_explorer::session::Session;
//!
//! let mut session = Session::empty("test-16x1024").unwrap();
//! let recorded = session.answer(br#"{"ask":"record","seed":1,"calls":20}"#);
//! let cut = format!(r#"{{"ask":"cut","operation":{},"shape":4,"seed":7}}"#, recorded["first"]);
//! assert_eq!(session.answer(cut.as_bytes())["lost"], false); // the mount finds everything
//! ```
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

pub mod anatomy;
pub mod chip;
pub mod code;
pub mod content;
pub mod disk;
#[cfg(target_family = "wasm")]
mod exports;
pub mod index;
pub mod log_heap;
pub mod objects;
pub mod open;
#[cfg(not(target_family = "wasm"))]
pub mod page;
#[cfg(not(target_family = "wasm"))]
pub mod picture;
pub mod plain;
pub mod session;
pub mod shown;
pub mod tiny_store;
pub mod tour;
pub mod traced;
pub mod traced_nand;
