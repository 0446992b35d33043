//! The command line of `norn image`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use norn_flash_sim::ImageKind;

use crate::look::Look;
use crate::opening::Source;
use crate::opening::region::address;

/// The commands on images as such.
#[derive(Debug, Subcommand)]
pub enum ImageCommand {
    /// Say what a file holds, which part it is of, and which command opens it.
    Show(Look),
    /// Make an image from a chip's dump, which commands can then change.
    Import(ImportArguments),
    /// Write a part's cells to a new file for a chip's programmer: .bin, .hex (Intel HEX) or .uf2.
    ///
    /// Every cell is written, erased ones too: a programmer erases only what the file has, and old data of the chip
    /// would stay elsewhere. A NAND part is written as a binary file, each page with its out-of-band area.
    Export(ImageExportArguments),
}

impl ImageCommand {
    /// What it opens.
    pub fn source(&self) -> Source {
        match self {
            ImageCommand::Show(Look { source, .. })
            | ImageCommand::Import(ImportArguments { source, .. })
            | ImageCommand::Export(ImageExportArguments { source, .. }) => source.clone(),
        }
    }
}

/// What to make an image of.
#[derive(Args, Debug)]
pub struct ImportArguments {
    /// The dump.
    #[command(flatten)]
    pub source: Source,
    /// Image file to make; it must not exist.
    pub new: PathBuf,
}

/// What to write, and where.
#[derive(Args, Debug)]
pub struct ImageExportArguments {
    /// The image.
    #[command(flatten)]
    pub source: Source,
    /// File to make; it must not exist. Its ending says what it is: .bin, .hex or .uf2.
    pub file: PathBuf,
    /// Address of the first cell in the chip, such as 0x8078000, for .hex and .uf2.
    #[arg(long, value_name = "ADDRESS", default_value = "0", value_parser = chip_address)]
    pub base: u32,
    /// Number of the chip's family, which some boot loaders ask a .uf2 for, such as 0xe48bff56.
    #[arg(long, value_name = "ID", value_parser = chip_address)]
    pub family: Option<u32>,
}

fn chip_address(text: &str) -> Result<u32, String> {
    let number = address(text).and_then(|address| u32::try_from(address).ok());
    number.ok_or_else(|| format!("{text} is not a number of 32 bits: write it such as 0x8078000 or 64K"))
}

/// The kind of part in words.
pub fn kind_text(kind: ImageKind) -> String {
    format!("image of a simulated {kind} part")
}
