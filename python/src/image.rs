//! Parts in memory: made by name, read from a simulator's file or a chip's dump, and written to either.

use std::fs;
use std::path::Path;

use norn_flash_sim::{ImageKind, NandSim, NandSpec, NorSim, PartSpec, nand_catalogue};
use norn_heap_image::part_by_name;
use pyo3::PyErr;
use pyo3::prelude::*;

use crate::failure::{Exception, of_image};

/// A kind of simulated part.
pub trait Part: Sized {
    /// What parts of this kind are.
    type Spec: Clone;

    /// The part of a name.
    fn spec_by_name(name: &str) -> PyResult<Self::Spec>;
    /// A part without a past.
    fn blank(spec: Self::Spec) -> Self;
    /// The part in a simulator's file, in memory.
    fn read(path: &Path) -> PyResult<Self>;
    /// A part of this kind with these cells; `None` where it does not have so many.
    fn of_dump(spec: &Self::Spec, bytes: &[u8]) -> Option<Self>;
    /// Its name.
    fn name(&self) -> &str;
    /// Writes it to a new simulator's file.
    fn write(&self, path: &Path) -> PyResult<()>;
    /// All its bytes, as a chip's dump.
    fn dump(&self) -> Vec<u8>;
}

impl Part for NorSim {
    type Spec = PartSpec;

    fn spec_by_name(name: &str) -> PyResult<PartSpec> {
        part_by_name(name).map_err(|why| Exception::Value.with(format!("{name}: {why}")))
    }

    fn blank(spec: PartSpec) -> Self {
        NorSim::new(spec)
    }

    fn read(path: &Path) -> PyResult<Self> {
        NorSim::read_image(path).map_err(of_image)
    }

    fn of_dump(spec: &PartSpec, bytes: &[u8]) -> Option<Self> {
        (bytes.len() as u64 == u64::from(spec.part.size_bytes())).then(|| NorSim::from_cells(spec.clone(), bytes))
    }

    fn name(&self) -> &str {
        &self.spec().name
    }

    fn write(&self, path: &Path) -> PyResult<()> {
        self.save_image(path).map_err(of_image)
    }

    fn dump(&self) -> Vec<u8> {
        self.cells()
    }
}

impl Part for NandSim {
    type Spec = NandSpec;

    fn spec_by_name(name: &str) -> PyResult<NandSpec> {
        nand_catalogue::named(name).map_err(|why| Exception::Value.with(format!("{name}: {why}")))
    }

    fn blank(spec: NandSpec) -> Self {
        NandSim::new(spec)
    }

    fn read(path: &Path) -> PyResult<Self> {
        NandSim::read_image(path).map_err(of_image)
    }

    fn of_dump(spec: &NandSpec, bytes: &[u8]) -> Option<Self> {
        (bytes.len() as u64 == spec.dump_bytes()).then(|| NandSim::from_cells(spec.clone(), bytes))
    }

    fn name(&self) -> &str {
        &self.spec().name
    }

    fn write(&self, path: &Path) -> PyResult<()> {
        self.save_image(path).map_err(of_image)
    }

    fn dump(&self) -> Vec<u8> {
        self.pages().flat_map(|page| self.peek(page)).collect()
    }
}

/// The part in a file: a simulator's, or a dump of the whole part that is named. The file stays as it is.
///
/// # Errors
/// `OSError`; `ImageError` for a file of another part, and for a dump whose part is not named.
pub fn open<P: Part>(path: &Path, part: Option<&str>) -> PyResult<P> {
    let spec = part.map(P::spec_by_name).transpose()?;
    let at = path.display();
    let kind = ImageKind::of(path).map_err(|error| named(error, path))?;
    if kind.is_some() {
        let found = P::read(path)?;
        return match part {
            Some(wanted) if wanted != found.name() => {
                Err(Exception::Image.with(format!("{at}: an image of {}, not of {wanted}", found.name())))
            }
            _ => Ok(found),
        };
    }
    let Some(spec) = spec else {
        let why = "no simulator's file; for a chip's dump, name its part, such as part=\"stm32l4:32\"";
        return Err(Exception::Image.with(format!("{at}: {why}")));
    };
    let bytes = fs::read(path).map_err(|error| named(error, path))?;
    let name = part.unwrap_or_default();
    P::of_dump(&spec, &bytes)
        .ok_or_else(|| Exception::Image.with(format!("{at}: {} bytes are no dump of a whole {name}", bytes.len())))
}

/// Writes a part to a file, in place of what is there: a new file takes its name when it is complete.
///
/// # Errors
/// `OSError`.
pub fn replace<P: Part>(part: &P, path: &Path) -> PyResult<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    part.write(&new)?;
    fs::rename(&new, path).map_err(|error| named(error, path))
}

/// Python's exception for what the file system says, with the file.
fn named(error: std::io::Error, path: &Path) -> PyErr {
    std::io::Error::new(error.kind(), format!("{}: {error}", path.display())).into()
}
