//! What a file holds, and which command opens it: the end of the message of a command that refuses the file.

use std::fmt::{self, Display};

use norn_code_pager::TWO_ROOMS;
use norn_embedded::PartContent;
use norn_flash::{Nand, Nor, NorPart, Recognised, StatedGeometry, TenantKind};
use norn_flash_sim::{ImageError, ImageKind, NandSim, NandSpec, NorSim};
use norn_nand_ftl::{FORMAT_CUT_SHORT, NO_CHECKPOINT};
use serde_json::{Value, json};

use super::detection::{Within, nand_contents, nand_store_cut_short, nor_contents, store_cut_short, store_within};
use super::piece::Piece;
use super::region::Region;
use super::{Opened, Source};
use crate::error::Error;

/// A group of commands that opens images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    /// `norn heap`.
    Heap,
    /// `norn log`.
    Log,
    /// `norn nbd`.
    Nbd,
    /// `norn code`.
    Code,
    /// `norn image`, which opens everything.
    Image,
    /// `norn card`, which opens directories.
    Card,
}

impl Display for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Opener::Heap => "heap",
            Opener::Log => "log",
            Opener::Nbd => "nbd",
            Opener::Code => "code",
            Opener::Image => "image",
            Opener::Card => "card",
        })
    }
}

impl Opener {
    fn image_kind(self) -> ImageKind {
        match self {
            Opener::Heap | Opener::Log | Opener::Image | Opener::Card => ImageKind::Nor,
            Opener::Nbd | Opener::Code => ImageKind::Nand,
        }
    }

    fn mounts(self, kind: TenantKind) -> bool {
        match self {
            Opener::Heap => matches!(kind, TenantKind::HEAP | TenantKind::REMAP),
            Opener::Log => kind == TenantKind::INDEX,
            Opener::Nbd => kind == TenantKind::DISK,
            Opener::Code => kind == TenantKind::CODE,
            Opener::Image | Opener::Card => false,
        }
    }
}

/// A command's error with what the file holds, if `opener` refused the file.
pub fn explained(error: Error, source: &Source, opener: Opener) -> Error {
    if opener != Opener::Card && source.image.join("nor.img").is_file() {
        let (card, nor, nand) = (&source.image, source.image.join("nor.img"), source.image.join("nand.img"));
        let explanation = format!(
            "it is a card: `norn card show {}` opens it, `norn explore {}` and `norn explore {}` show its parts",
            card.display(),
            nor.display(),
            nand.display()
        );
        return Error::Refused { explanation, error: Box::new(error) };
    }
    if !error.is_refusal() {
        return error;
    }
    let explanation = match ImageKind::of(&source.image) {
        Ok(Some(kind)) => of_image(source, opener, kind),
        Ok(None) | Err(_) => match contents_of(source) {
            Ok(contents) => of_dump(source, opener, &contents, &error) + &other_parts(source),
            Err(_) => of_undetected(source),
        },
    };
    Error::Refused { explanation, error: Box::new(error) }
}

/// What an image of a simulated part holds, that `opener` refused.
fn of_image(source: &Source, opener: Opener, kind: ImageKind) -> String {
    match contents_of(source) {
        Ok(contents) => contents.explanation(source, opener),
        // The command itself has said why.
        Err(_) if kind == opener.image_kind() => "no norn command opens it as it is".to_owned(),
        Err(error) => format!("no norn command opens it as it is: {error}"),
    }
}

/// What a dump holds. A command that changes images takes none, and fails with `error`.
fn of_dump(source: &Source, opener: Opener, contents: &Contents, error: &Error) -> String {
    let wants_image = matches!(error, Error::Image(ImageError::Foreign { .. }));
    match contents.only() {
        Some(recognised) if wants_image && opener.mounts(recognised.kind) => format!(
            "it is a chip's dump with {recognised}, which is read and not changed: `norn image import {source} \
             NEW.img` makes an image of it"
        ),
        _ => contents.explanation(source, opener),
    }
}

/// Which parts a dump may be of, where the command had to take one of them.
fn other_parts(source: &Source) -> String {
    match source.possible_parts() {
        Ok(names) if !names.is_empty() => {
            let (taken, names) = (&names[0], names.join(", "));
            format!(
                "; it may be of several parts, {names}, and was taken for a {taken}: --part NAME says which it is of"
            )
        }
        Ok(_) | Err(_) => String::new(),
    }
}

/// What a file is that is no image, nor the dump of a part that is detected.
fn of_undetected(source: &Source) -> String {
    let piece = source.dump().ok().and_then(|dump| dump.cut(source.region).ok());
    let holds = piece.filter(|piece| !piece.bytes.is_empty()).map(|piece| match Undetected::of(&piece) {
        within @ Undetected::Within(..) => within.to_string(),
        undetected => format!("as a chip's dump of {} bytes, {undetected}", piece.bytes.len()),
    });
    let makes = "`norn heap`, `log`, `nbd` and `code create` make images";
    match holds {
        None => format!("no norn command opens it; {makes}"),
        Some(holds) => {
            format!("no norn command opens it as it is: {holds}; --part NAME says which part a dump is of, {makes}")
        }
    }
}

/// What can be said of a dump of which no part is detected.
#[derive(Debug)]
pub enum Undetected {
    /// A part of it has a store.
    Within(Recognised, Within),
    /// It is the start of a store of this many bytes.
    CutShort(Recognised, u64),
    /// It is the start of a store on one of these NAND parts; the dump has this many bytes.
    NandCutShort(Recognised, Vec<NandSpec>, u64),
    /// Every byte is erased.
    Blank,
    /// Nothing is recognised.
    Unknown,
}

impl Undetected {
    /// Of these bytes.
    pub fn of(piece: &Piece) -> Undetected {
        if let Some((recognised, region)) = store_within(piece) {
            return Undetected::Within(recognised, region);
        }
        if let Some((recognised, whole)) = store_cut_short(piece) {
            return Undetected::CutShort(recognised, whole);
        }
        match nand_store_cut_short(piece) {
            Some((recognised, specs)) => Undetected::NandCutShort(recognised, specs, piece.bytes.len() as u64),
            None if piece.bytes.iter().all(|&byte| byte == 0xFF) => Undetected::Blank,
            None => Undetected::Unknown,
        }
    }

    /// In a word, for programs.
    pub fn state(&self) -> &'static str {
        match self {
            Undetected::Within(..) => "known",
            Undetected::CutShort(..) | Undetected::NandCutShort(..) => "cut short",
            Undetected::Blank => "blank",
            Undetected::Unknown => "unknown",
        }
    }
}

impl Display for Undetected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undetected::Within(recognised, Within::Opens(region)) => {
                write!(f, "a part of it holds {recognised}: --region {region} opens that")
            }
            Undetected::Within(recognised, Within::Around(first, bytes)) => write!(
                f,
                "a part of it holds {recognised}, {bytes} bytes in all, of which the first unit with a header is at \
                 {first:#x}: it is damaged, or not all of it is there; --region START..END says where it is"
            ),
            Undetected::CutShort(recognised, whole) => {
                write!(f, "it holds the start of {recognised}, {whole} bytes in all: read all of them from the chip")
            }
            Undetected::NandCutShort(recognised, specs, found) => {
                let whole = |spec: &NandSpec| {
                    let whole = spec.dump_bytes();
                    format!("of a {} it lacks {} bytes of {whole}", spec.name, whole - found)
                };
                let parts: Vec<String> = specs.iter().map(whole).collect();
                let parts = parts.join(", ");
                write!(f, "it holds the start of {recognised}: {parts}; read all pages with their out-of-band areas")
            }
            Undetected::Blank => f.write_str("it is blank: every byte is erased"),
            Undetected::Unknown => f.write_str("it holds no format that norn knows"),
        }
    }
}

/// What is on the part in a file.
///
/// # Errors
/// When it cannot be opened.
pub fn contents_of(source: &Source) -> Result<Contents, Error> {
    Ok(match source.read()? {
        Opened::Nor(part) => Contents::of_nor(&part),
        Opened::Nand(mut part) => Contents::of_nand(&mut part),
    })
}

/// What a file holds, and what opens it: all of what the command was given, or only a region of that.
fn explanation_of(recognised: &Recognised, source: &Source, region: Option<Region>, opener: Opener) -> String {
    let image = Source { region: region.or(source.region), ..source.clone() };
    let command = match recognised.kind {
        _ if recognised.version != recognised.known_version => {
            return format!("it holds {recognised}, which this version of norn cannot open");
        }
        _ if [FORMAT_CUT_SHORT, NO_CHECKPOINT].contains(&recognised.what) => {
            return format!("it holds {recognised}, which no norn command opens");
        }
        TenantKind::CODE if recognised.what != TWO_ROOMS => {
            return format!("it holds {recognised} in a single room: `norn explore {image}` shows it");
        }
        kind if opener.mounts(kind) && region.is_none() => {
            return match opener {
                Opener::Heap => {
                    format!("it holds {recognised}: `norn heap dump {image} --raw` shows its cells as they are")
                }
                Opener::Log | Opener::Nbd | Opener::Code | Opener::Image | Opener::Card => {
                    format!("it holds {recognised}, which is damaged or of another geometry")
                }
            };
        }
        TenantKind::HEAP | TenantKind::REMAP => "norn heap check",
        TenantKind::INDEX => "norn log check",
        TenantKind::DISK => "norn nbd check",
        TenantKind::CODE => "norn code status",
        _ => return format!("it holds {recognised}, which no norn command opens"),
    };
    format!("it holds {recognised}: `{command} {image}` opens it")
}

/// What is on a part.
pub enum Contents {
    /// Nothing is programmed on a part of this name.
    Blank(String),
    /// Nothing is recognised on a part of this name.
    Unknown(String),
    /// Ranges of units, and what is in each; the part's number of units, and their size; of a NAND part no size.
    Known(Vec<PartContent>, StatedGeometry),
}

impl Contents {
    /// What is on a NOR part.
    pub fn of_nor(part: &NorSim) -> Contents {
        let (found, name) = (nor_contents(part), part.spec().name.clone());
        let NorPart { unit_count: count, unit_size_bytes: size_bytes, .. } = part.part();
        Contents::of(found, name, StatedGeometry { count, size_bytes }, || {
            part.cells().iter().all(|&byte| byte == 0xFF)
        })
    }

    /// What is on a NAND part.
    pub fn of_nand(part: &mut NandSim) -> Contents {
        let (found, name) = (nand_contents(part), part.spec().name.clone());
        let geometry = Nand::part(part);
        // The maker's mark is in a page of a bad block.
        let mut is_erased = |block| !part.holds_pages(block) || part.is_marked_bad(block) == Ok(true);
        let units = StatedGeometry { count: geometry.block_count, size_bytes: 0 };
        Contents::of(found, name, units, || geometry.blocks().all(&mut is_erased))
    }

    fn of(found: Vec<PartContent>, part: String, units: StatedGeometry, is_blank: impl FnOnce() -> bool) -> Contents {
        match found.is_empty() {
            false => Contents::Known(found, units),
            true if is_blank() => Contents::Blank(part),
            true => Contents::Unknown(part),
        }
    }

    /// The only store on the part.
    pub fn only(&self) -> Option<&Recognised> {
        match self {
            Contents::Known(contents, _) => match &**contents {
                [PartContent { recognised: Ok(Some(recognised)), .. }] if recognised.kind != TenantKind::LABEL => {
                    Some(recognised)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The region that the only store has, if it does not have the whole part, as the file's user names it.
    fn region_of_only(&self, source: &Source) -> Option<Region> {
        match self {
            Contents::Known(contents, units) if contents[0].range.len() < usize::from(units.count) => {
                let within = region_of(&contents[0], units.size_bytes);
                let in_file = || source.dump().ok()?.regions().first().map(|first| first.start);
                let base = source.region.map(|region| region.start).or_else(in_file).unwrap_or(0);
                Some(Region { start: base + within.start, end: base + within.end })
            }
            _ => None,
        }
    }

    /// Whether anything is there, in a word.
    pub fn state(&self) -> &'static str {
        match self {
            Contents::Blank(_) => "blank",
            Contents::Unknown(_) => "unknown",
            Contents::Known(..) => "known",
        }
    }

    /// The ranges of units or blocks in which something is recognised, or that a label lists.
    pub fn ranges(&self) -> &[PartContent] {
        match self {
            Contents::Blank(_) | Contents::Unknown(_) => &[],
            Contents::Known(contents, _) => contents,
        }
    }

    /// The same for programs.
    pub fn values(&self) -> Vec<Value> {
        self.ranges().iter().map(value_of).collect()
    }

    /// What is there, and which command opens it.
    pub fn explanation(&self, source: &Source, opener: Opener) -> String {
        match (self, self.only()) {
            (_, Some(recognised)) => explanation_of(recognised, source, self.region_of_only(source), opener),
            (Contents::Blank(part), _) => format!("it is a blank {part}: nothing has been written to it"),
            (Contents::Unknown(part), _) => format!("it is a {part} with data of no format that norn knows"),
            (Contents::Known(several, units), _) => {
                let texts: Vec<String> = several.iter().map(PartContent::to_string).collect();
                format!("it holds {}; {}", texts.join(", "), way_to_one(several, units.size_bytes))
            }
        }
    }
}

/// What a range of a part holds, for programs.
fn value_of(content: &PartContent) -> Value {
    let tenant = content.entry.as_ref().map(|entry| entry.name().escape_ascii().to_string());
    let (start, end) = (content.range.start, content.range.end);
    let (format, failure) = match &content.recognised {
        Ok(recognised) => (recognised.as_ref(), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let format = format.map(|Recognised { what, kind, version, known_version, .. }| {
        let what = what.trim_start_matches("a ").trim_start_matches("an ");
        json!({ "what": what, "kind": kind.to_string(), "version": version, "known_version": known_version })
    });
    json!({ "start": start, "end": end, "tenant": tenant, "format": format, "what": failure })
}

/// The bytes of a range of units.
fn region_of(content: &PartContent, unit_bytes: u32) -> Region {
    let [start, end] = [content.range.start, content.range.end].map(|unit| u64::from(unit) * u64::from(unit_bytes));
    Region { start, end }
}

/// How one of several tenants is opened.
fn way_to_one(several: &[PartContent], unit_bytes: u32) -> String {
    match several.iter().find(|content| content.entry.is_some() && content.recognised != Ok(None)) {
        Some(tenant) if unit_bytes > 0 => {
            format!("--region opens one of them, such as {}", region_of(tenant, unit_bytes))
        }
        _ => "norn opens no part that has a partition table as a whole".to_owned(),
    }
}
