//! The one place where images are opened to be looked at: those of simulated parts, and dumps of chips.
//!
//! 1. The file's first bytes say whether it is an image of a simulated part. That is read, and left as it is.
//! 2. Everything else is a dump ([`dump`]): binary, Intel HEX, UF2 or ELF. `--region` cuts out of it where the store
//!    is, `--part` says what chip it is of; else [`detection`] finds that out from the store's own headers.
//! 3. Whoever refuses an image says what it holds and which command opens it ([`explanation`](mod@explanation)).
//!
//! Invariant: what is opened here is in memory. Whatever a mount recovers, no file changes.

pub mod detection;
pub mod dump;
pub mod explanation;
pub mod failure;
mod form;
pub mod piece;
pub mod region;
pub mod uf2;

use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use norn_flash::{EraseUnit, Nor};
use norn_flash_sim::{ImageError, ImageKind, NandSim, NandSpec, NorSim, PartSpec, nand_catalogue};
use norn_heap_image::part_by_name;

use crate::error::Error;
use detection::{nand_candidates, nor_candidates, nor_part};
use dump::{Dump, ReadError};
use failure::DumpFailure;
use form::Form;
use piece::Piece;
use region::Region;

/// A file to be looked at, and what its user knows of it.
#[derive(Args, Clone, Debug)]
pub struct Source {
    /// Image file of a simulated part, or a chip's dump: binary, Intel HEX, UF2 or ELF.
    pub image: PathBuf,
    /// Part that a dump is of; `norn parts` lists them, and stm32l4:32 is 32 erase units of one. Detected if left out.
    #[arg(long, value_name = "NAME", value_parser = chip)]
    pub part: Option<Chip>,
    /// Where the store is, if it is only in a part of the image or dump, such as 0x8078000..0x8080000: offsets in an
    /// image or a binary dump, addresses in the other forms.
    #[arg(long, value_name = "START..END")]
    pub region: Option<Region>,
}

/// A part of either kind.
#[derive(Clone, Debug)]
pub enum Chip {
    /// A NOR part.
    Nor(PartSpec),
    /// A NAND part.
    Nand(NandSpec),
}

impl Chip {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Chip::Nor(spec) => &spec.name,
            Chip::Nand(spec) => &spec.name,
        }
    }
}

fn chip(name: &str) -> Result<Chip, String> {
    match nand_catalogue::by_name(name) {
        Some(spec) => Ok(Chip::Nand(spec)),
        None => part_by_name(name).map(Chip::Nor),
    }
}

/// A part in memory, of either kind.
#[derive(Debug)]
pub enum Opened {
    /// A NOR part.
    Nor(NorSim),
    /// A NAND part.
    Nand(NandSim),
}

impl Source {
    /// A file of which nothing more is known.
    pub fn of(image: &Path) -> Source {
        Source { image: image.to_owned(), part: None, region: None }
    }

    fn failed(&self, failure: DumpFailure) -> Error {
        Error::Dump { image: self.image.clone(), failure }
    }

    fn kind(&self) -> Result<Option<ImageKind>, Error> {
        let io_error = |source| ImageError::Io { path: self.image.clone(), source };
        Ok(ImageKind::of(&self.image).map_err(io_error)?)
    }

    /// The NOR part in the file.
    ///
    /// # Errors
    /// When it cannot be read, is no image of a NOR part, nor a dump of one that is named or detected.
    pub fn read_nor(&self) -> Result<NorSim, Error> {
        match self.kind()? {
            Some(_) => self.with_region(NorSim::read_image(&self.image)?),
            None => match self.read_nor_dump()? {
                // No store is there: the image's own error says what the file is not.
                None => Ok(NorSim::read_image(&self.image)?),
                Some(part) => Ok(part),
            },
        }
    }

    /// The NAND part in the file.
    ///
    /// # Errors
    /// As [`read_nor`](Self::read_nor).
    pub fn read_nand(&self) -> Result<NandSim, Error> {
        match self.kind()? {
            Some(ImageKind::Nand) if self.region.is_some() => Err(self.failed(DumpFailure::NandRegion)),
            Some(_) => self.expect_part(NandSim::read_image(&self.image)?, |part| part.spec().name.clone()),
            None => match self.read_nand_dump()? {
                None => Ok(NandSim::read_image(&self.image)?),
                Some(part) => Ok(part),
            },
        }
    }

    /// The part in the file, of whichever kind it is.
    ///
    /// # Errors
    /// As [`read_nor`](Self::read_nor).
    pub fn read(&self) -> Result<Opened, Error> {
        let is_nand = match (self.kind()?, &self.part) {
            (Some(kind), _) => kind == ImageKind::Nand,
            (None, Some(chip)) => matches!(chip, Chip::Nand(_)),
            (None, None) => {
                if let Some(part) = self.read_nor_dump()? {
                    return Ok(Opened::Nor(part));
                }
                // A region is one of a NOR part.
                self.region.is_none() && self.read_nand_dump()?.is_some()
            }
        };
        Ok(if is_nand { Opened::Nand(self.read_nand()?) } else { Opened::Nor(self.read_nor()?) })
    }

    /// The part of a dump, for an image that others take for that part: one that is named, or the only possible one.
    ///
    /// # Errors
    /// As [`read_nor`](Self::read_nor); when several parts have the dump's geometry.
    pub fn read_unambiguous(&self) -> Result<Opened, Error> {
        match self.possible_parts()? {
            names if names.is_empty() => self.read(),
            names => Err(self.failed(DumpFailure::Ambiguous(names))),
        }
    }

    /// The names of the NOR parts that a dump may be of, if no part is named and they differ in more than the name; the
    /// first is the one that [`read_nor`](Self::read_nor) takes it for.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn possible_parts(&self) -> Result<Vec<String>, Error> {
        if self.part.is_some() || self.kind()?.is_some() {
            return Ok(Vec::new());
        }
        let candidates = nor_candidates(&self.bytes()?);
        let kinds = candidates.iter().map(|part| (part.spec().part.program_unit_bytes, part.spec().part.reprogramming));
        let is_certain = kinds.clone().all(|kind| Some(kind) == kinds.clone().next());
        let names = candidates.iter().map(|part| part.spec().name.clone());
        Ok(if is_certain { Vec::new() } else { names.collect() })
    }

    /// All of a dump, whatever the region is.
    ///
    /// # Errors
    /// When it cannot be read, or its form is broken.
    pub fn dump(&self) -> Result<Dump, Error> {
        Dump::read(&self.image).map_err(|error| match error {
            ReadError::Io(source) => Error::Image(ImageError::Io { path: self.image.clone(), source }),
            ReadError::Broken(failure) => self.failed(failure),
        })
    }

    /// The bytes of a dump, cut to the region.
    ///
    /// # Errors
    /// As [`dump`](Self::dump); when the region is not in the dump, or bytes are far apart without a region.
    pub fn bytes(&self) -> Result<Piece, Error> {
        let dump = self.dump()?;
        let piece = dump.cut(self.region).map_err(|failure| self.failed(failure))?;
        match &self.part {
            Some(Chip::Nor(PartSpec { name, part, .. }))
                if dump.form == Form::Binary && !piece.bytes.len().is_multiple_of(part.unit_size_bytes as usize) =>
            {
                let (part, unit_bytes) = (name.clone(), part.unit_size_bytes);
                Err(self.failed(DumpFailure::NotUnits { found: piece.region(), part, unit_bytes }))
            }
            _ => Ok(piece),
        }
    }

    /// The NOR part of a dump; none where no part is named and none detected.
    fn read_nor_dump(&self) -> Result<Option<NorSim>, Error> {
        let piece = self.bytes()?;
        match &self.part {
            None => Ok(nor_candidates(&piece).into_iter().next()),
            Some(Chip::Nand(spec)) => Err(self.other_kind(&spec.name, ImageKind::Nand)),
            Some(Chip::Nor(spec)) => nor_part(&piece, spec).map(Some).map_err(|failure| self.failed(failure)),
        }
    }

    fn read_nand_dump(&self) -> Result<Option<NandSim>, Error> {
        if self.region.is_some() {
            return Err(self.failed(DumpFailure::NandRegion));
        }
        let piece = self.bytes()?;
        match &self.part {
            None => Ok(nand_candidates(&piece.bytes).into_iter().next()),
            Some(Chip::Nor(spec)) => Err(self.other_kind(&spec.name, ImageKind::Nor)),
            Some(Chip::Nand(spec)) => {
                let (found, wanted, part) = (piece.bytes.len() as u64, spec.dump_bytes(), spec.name.clone());
                match found == wanted {
                    true => Ok(Some(NandSim::from_cells(spec.clone(), &piece.bytes))),
                    false => Err(self.failed(DumpFailure::Length { found, wanted, part })),
                }
            }
        }
    }

    fn other_kind(&self, part: &str, found: ImageKind) -> Error {
        let wanted = if found == ImageKind::Nor { ImageKind::Nand } else { ImageKind::Nor };
        let (found, wanted) = (format!("{part}, a {found} part"), format!("{wanted} part"));
        self.failed(DumpFailure::OtherPart { found, wanted })
    }

    fn expect_part<P>(&self, part: P, name: impl Fn(&P) -> String) -> Result<P, Error> {
        let found = name(&part);
        match &self.part {
            Some(wanted) if wanted.name() != found => {
                Err(self.failed(DumpFailure::OtherPart { found, wanted: wanted.name().to_owned() }))
            }
            _ => Ok(part),
        }
    }

    /// The erase units of a simulated part that the region names.
    ///
    /// # Errors
    /// When it is of another part than is named, or the region is no whole units of it.
    pub fn with_region(&self, part: NorSim) -> Result<NorSim, Error> {
        let part = self.expect_part(part, |part| part.spec().name.clone())?;
        let Some(region) = self.region else { return Ok(part) };
        let geometry = part.part();
        let whole = Region { start: 0, end: u64::from(geometry.size_bytes()) };
        if !whole.contains(region) {
            return Err(self.failed(DumpFailure::Outside { region, whole }));
        }
        let unit_bytes = geometry.unit_size_bytes;
        let Some((EraseUnit(start), EraseUnit(end))) = region.units(unit_bytes) else {
            let part = part.spec().name.clone();
            return Err(self.failed(DumpFailure::NotUnits { found: region, part, unit_bytes }));
        };
        Ok(part.with_units(start..end))
    }
}

impl fmt::Display for Source {
    /// As the words of a command.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.image.display())?;
        if let Some(part) = &self.part {
            write!(f, " --part {}", part.name())?;
        }
        self.region.map_or(Ok(()), |region| write!(f, " --region {region}"))
    }
}
