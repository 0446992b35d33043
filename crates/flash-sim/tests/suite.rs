//! The tests of this crate as one program: what they share is compiled once.

mod eeprom;
mod image;
mod nand;
mod nand_image;
mod nor;
