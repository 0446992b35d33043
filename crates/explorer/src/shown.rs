//! What a session shows: an image of some kind, and a workload that was recorded on it.
//!
//! A further kind of image is one module with these two traits; of a NOR part, with [`Content`](crate::content::Content)
//! alone, for which [`Chip`](crate::chip::Chip) and [`Play`](crate::chip::Play) have both. [`open`](crate::open) chooses
//! the module of an image. The page has a panel for whatever is peculiar to the kind: a script in `page/`, which
//! registers under a name of [`Overview::panels`] and asks questions that [`Shown::ask`] answers.

use std::ops::Range;

use norn_flash::Address;
use norn_flash_sim::{ImageBytes, Tear};
use serde_json::{Value, json};

use crate::anatomy::{Area, Found, Kind, Piece, hexadecimal, strip};

/// Most bytes in one answer.
const BYTES_MAX: usize = 4096;

/// An image as it is shown. It is never changed by a look.
pub trait Shown {
    /// The part as a whole.
    fn overview(&mut self) -> Overview;

    /// How many units it has, and bytes of each: what of the overview costs nothing.
    fn extent(&self) -> (u16, u32);

    /// The areas of a unit, in order and without gaps.
    ///
    /// # Errors
    /// If the part has no such unit.
    fn areas(&mut self, unit: u16) -> Result<Vec<Area>, String>;

    /// Numbers of a unit with these areas, which are shown in its row: an object.
    fn counts(&mut self, unit: u16, areas: &[Area]) -> Value {
        let _ = (unit, areas);
        json!({})
    }

    /// What is at an address, and the bytes of it.
    ///
    /// # Errors
    /// If the part has no such address.
    fn at(&mut self, address: Address) -> Result<(Found, Vec<u8>), String>;

    /// The answer to a question of one of the kind's panels.
    ///
    /// # Errors
    /// In words.
    fn ask(&mut self, question: &Value) -> Result<Value, String> {
        Err(format!("nothing answers {:?}", question["ask"].as_str().unwrap_or_default()))
    }

    /// The image after a mount; `None` if none succeeds.
    fn mounted(&self) -> Option<Box<dyn Shown>>;

    /// What that mount programs and erases, in words.
    fn mount_texts(&self) -> Vec<String>;

    /// A workload that a seed draws, recorded on the mounted image.
    ///
    /// # Errors
    /// If nothing can be played on it.
    fn record(&self, seed: u64, calls: usize) -> Result<Box<dyn Recording>, String>;

    /// The bytes of the image file.
    ///
    /// # Errors
    /// If the page makes no file of this kind.
    fn image(&self) -> Result<ImageBytes, String>;
}

/// A recorded workload: any of its operations can be shown, or cut.
pub trait Recording {
    /// The operations of the part before the first call, and after the last.
    fn range(&self) -> (u64, u64);

    /// The calls in words, each with the number of the operation it began with, and how many it took.
    fn calls(&self) -> Vec<(&str, u64, u64)>;

    /// What the operation of this number is, in words, and its call.
    fn text(&self, operation: u64) -> (String, String);

    /// Calls in words that were made before the operation of this number, after the one before it, and took none.
    fn without_operation(&self, operation: u64) -> Vec<&str> {
        let _ = operation;
        Vec::new()
    }

    /// The part after so many operations, all of them whole.
    fn at(&self, operation: u64) -> Box<dyn Shown>;

    /// Shapes in which an operation can be torn.
    fn tears(&self, seed: u64) -> Vec<Tear> {
        Tear::allowed(seed).to_vec()
    }

    /// The part after the power failed in the operation of this number, which was torn.
    ///
    /// # Errors
    /// If no call has such an operation.
    fn cut(&self, operation: u64, tear: Tear) -> Result<Box<dyn Shown>, String>;
}

/// A part as a whole.
#[derive(Clone, Debug)]
pub struct Overview {
    /// Its name in the catalogue.
    pub part: String,
    /// If these are units of a larger part: which, and how many that has.
    pub within: Option<(Range<u16>, u16)>,
    /// What its units are called: `units` or `blocks`.
    pub units_are: &'static str,
    /// Each unit, in order.
    pub units: Vec<UnitOverview>,
    /// Bytes of a unit.
    pub unit_bytes: u32,
    /// What is on it, or why that is not known.
    pub content: String,
    /// Documents of the format: names of files of `docs/format` without their ending. A line of the first one is
    /// `2:0..16`, a section and how the line begins; one of another is `object-heap/2:0..16`.
    pub formats: &'static [&'static str],
    /// Panels of the page beside those that every kind has.
    pub panels: &'static [&'static str],
    /// The guided tour of such an image, if there is one.
    pub tour: Option<Tour>,
    /// Kinds of areas, as in the legend.
    pub kinds: &'static [Kind],
    /// Erases and programs that the part has counted.
    pub erases: u64,
    /// See `erases`.
    pub programs: u64,
    /// Whether it is mounted, so that a workload can be played.
    pub is_mounted: bool,
    /// What the mount does to the part.
    pub mount: MountCalls,
    /// Whether there is a file of what is shown.
    pub has_image: bool,
}

/// How often a mount calls the part to change cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MountCalls {
    /// Calls that program, whatever the number of words.
    pub programs: usize,
    /// Calls that erase.
    pub erases: usize,
}

impl MountCalls {
    /// Calls of which each erases or programs.
    pub fn of(is_erase: impl Iterator<Item = bool>) -> MountCalls {
        is_erase.fold(MountCalls::default(), |calls, is_erase| match is_erase {
            true => MountCalls { erases: calls.erases + 1, ..calls },
            false => MountCalls { programs: calls.programs + 1, ..calls },
        })
    }
}

/// A guided tour, by what is on the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tour {
    /// A log-structured heap.
    LogHeap,
    /// A heap with TinyStore's structure.
    TinyStore,
    /// An ordered index.
    Index,
}

/// A unit in the picture.
#[derive(Clone, Debug, Default)]
pub struct UnitOverview {
    /// How often it was erased.
    pub erases: u32,
    /// What it is used for.
    pub role: Option<String>,
    /// When it was opened: larger numbers are later.
    pub sequence: Option<u32>,
}

impl Overview {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        let unit = |unit: &UnitOverview| json!([unit.erases, unit.role, unit.sequence]);
        let kind = |kind: &Kind| json!([char::from(kind.letter).to_string(), kind.name, kind.text]);
        json!({
            "part": self.part, "within": self.within.as_ref().map(|(range, all)| json!([range.start, range.end, all])),
            "units_are": self.units_are, "unit_count": self.units.len(),
            "unit_bytes": self.unit_bytes, "units": self.units.iter().map(unit).collect::<Vec<_>>(),
            "content": self.content, "formats": self.formats, "panels": self.panels, "has_tour": self.tour.is_some(),
            "kinds": self.kinds.iter().map(kind).collect::<Vec<_>>(), "erases": self.erases,
            "programs": self.programs, "is_mounted": self.is_mounted,
            "mount": { "programs": self.mount.programs, "erases": self.mount.erases }, "has_image": self.has_image,
        })
    }
}

/// Rows of the picture: of each unit a strip and its numbers.
///
/// # Errors
/// None for units that the part has; further ones are left out.
pub fn rows(shown: &mut dyn Shown, units: Range<u16>, columns: u32) -> Result<Value, String> {
    let (unit_count, unit_bytes) = shown.extent();
    let row = |unit: u16| {
        let areas = shown.areas(unit)?;
        let mut row = shown.counts(unit, &areas);
        row["strip"] = strip(&areas, unit_bytes, columns).into();
        Ok(row)
    };
    (units.start..units.end.min(unit_count)).map(row).collect::<Result<Vec<Value>, String>>().map(Value::from)
}

/// One unit in full.
///
/// # Errors
/// If the part has no such unit.
pub fn unit(shown: &mut dyn Shown, unit: u16) -> Result<Value, String> {
    let areas: Vec<Value> = shown.areas(unit)?.iter().map(Area::to_json).collect();
    Ok(json!({ "unit": unit, "areas": areas }))
}

/// What is at an address: bytes, and the line of the format for each piece of them.
///
/// # Errors
/// If the part has no such address.
pub fn at(shown: &mut dyn Shown, address: Address) -> Result<Value, String> {
    let (_, unit_bytes) = shown.extent();
    let (found, bytes) = shown.at(address)?;
    let pieces: Vec<Value> = found.pieces.iter().map(Piece::to_json).collect();
    Ok(json!({
        "unit": found.at.0 / unit_bytes, "title": found.title, "at": found.at.0, "length": found.bytes,
        "bytes": hexadecimal(&bytes[..bytes.len().min(BYTES_MAX)]), "object": found.object, "pieces": pieces,
    }))
}
