//! The kind and the size of a picture.

use std::path::Path;
use std::str::FromStr;

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

/// The least and the most pixels of a side.
const SIDE: std::ops::RangeInclusive<u32> = 200..=10_000;

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let side = |text: &str| text.parse().ok().filter(|side| SIDE.contains(side));
        let sides = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
        let (width, height) = sides
            .ok_or_else(|| format!("{text:?} is not a size such as 1000x420, with sides of 200 to 10000 pixels"))?;
        Ok(Size { width, height })
    }
}

/// A kind of picture.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Pixels.
    Png,
    /// Lines.
    Svg,
}

impl Kind {
    /// What a file's name says.
    pub fn of(file: &Path) -> Option<Kind> {
        match file.extension()?.to_str()? {
            "png" => Some(Kind::Png),
            "svg" => Some(Kind::Svg),
            _ => None,
        }
    }
}
