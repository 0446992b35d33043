//! Why a chip's dump cannot be opened.

use super::form::Form;
use super::region::Region;

/// Why a dump cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum DumpFailure {
    /// The file's form is broken.
    #[error("a damaged {form}: {why}")]
    Broken {
        /// The form that its first bytes are of.
        form: Form,
        /// What is wrong.
        why: String,
    },
    /// The bytes are far apart.
    #[error("it has bytes at {}, far apart: name the range of the store with --region START..END", list(.0))]
    Apart(Vec<Region>),
    /// The region is not in the dump.
    #[error("{region} is not within {whole}")]
    Outside {
        /// The region.
        region: Region,
        /// Where there are bytes.
        whole: Region,
    },
    /// The bytes are no whole erase units of the part.
    #[error(
        "{found} is not a whole number of erase units of {part}, of {unit_bytes} bytes each: name the range of the \
         store with --region START..END"
    )]
    NotUnits {
        /// What was found.
        found: Region,
        /// The part's name.
        part: String,
        /// Bytes of its units.
        unit_bytes: u32,
    },
    /// The dump has more erase units than a store may have.
    #[error("it has {0}; name the range of the store with --region START..END")]
    TooManyUnits(String),
    /// The dump does not have the part's length.
    #[error("{found} bytes, and not the {wanted} of a {part} with its out-of-band areas")]
    Length {
        /// Its length.
        found: u64,
        /// The part's.
        wanted: u64,
        /// The part's name.
        part: String,
    },
    /// `--part` names another part than the image's.
    #[error("an image of a {found}, not of a {wanted}")]
    OtherPart {
        /// The image's.
        found: String,
        /// The one of the argument.
        wanted: String,
    },
    /// A region of a NAND part.
    #[error("--region is for NOR parts; a NAND part is opened as a whole")]
    NandRegion,
    /// The name of a file to be made says no form.
    #[error("a file for a programmer is named .bin, .hex or .uf2")]
    Ending,
    /// A NAND part in a form with addresses.
    #[error("the cells of a NAND part have no addresses: only a .bin has them, each page with its out-of-band area")]
    NandEnding,
    /// Addresses beyond 32 bits.
    #[error("{bytes} bytes from {base:#x} on have addresses of more than 32 bits")]
    Addresses {
        /// The first.
        base: u32,
        /// How many.
        bytes: usize,
    },
    /// Which part it is of does not matter to those who look, but is unknown.
    #[error(
        "the dump may be of several parts: {}; an image is of one of them: name the part with --part NAME",
        .0.join(", ")
    )]
    Ambiguous(Vec<String>),
}

fn list(regions: &[Region]) -> String {
    regions.iter().map(Region::to_string).collect::<Vec<_>>().join(", ")
}
