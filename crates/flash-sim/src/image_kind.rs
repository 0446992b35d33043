//! The kinds of parts that have image files, distinguished by the first bytes of a file.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The kind of part that an image file is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// A NOR part.
    Nor,
    /// A NAND part.
    Nand,
}

impl ImageKind {
    const ALL: [ImageKind; 2] = [ImageKind::Nor, ImageKind::Nand];

    pub(crate) const fn magic(self) -> &'static [u8; 8] {
        match self {
            ImageKind::Nor => b"NORNSIM\0",
            ImageKind::Nand => b"NORNNAND",
        }
    }

    /// The kind of part that the bytes of a file are an image of, by the first of them.
    pub fn of_header(header: &[u8]) -> Option<ImageKind> {
        ImageKind::ALL.into_iter().find(|kind| header.starts_with(kind.magic()))
    }

    /// The kind of part that the file at `path` is an image of, by its first bytes; none if it is no image. The rest
    /// of the file may be damaged.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of(path: &Path) -> io::Result<Option<ImageKind>> {
        let mut header = Vec::new();
        File::open(path)?.take(8).read_to_end(&mut header)?;
        Ok(ImageKind::of_header(&header))
    }
}

impl fmt::Display for ImageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ImageKind::Nor => "NOR",
            ImageKind::Nand => "NAND",
        })
    }
}
