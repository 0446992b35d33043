//! The tests of this crate as one program: what they share is compiled once.

mod card;
mod index;
mod remap_image;
mod stores;
