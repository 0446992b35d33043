//! The block device of an image.

use std::path::PathBuf;

use norn_flash::Nand;
use norn_flash_sim::NandSim;
use norn_nand_ftl::{Ftl, FtlConfig, Lba, logical_pages_limit, max_logical_pages};
use pyo3::prelude::*;

use crate::contents;
use crate::failure::{Exception, Origin};
use crate::image::{self, Part};

type PartFtl = Ftl<NandSim, Vec<u8>>;

/// A block device on a NAND part in memory. Its unit is the logical page.
#[pyclass(module = "norn_flash")]
#[derive(Debug)]
pub struct BlockDevice {
    ftl: PartFtl,
    origin: Origin,
}

#[pymethods]
impl BlockDevice {
    /// A device that reads as zeros, on a part of this name. Without a number of logical pages it has nine tenths of
    /// what the part has room for.
    #[staticmethod]
    #[pyo3(signature = (part, *, logical_pages = None))]
    fn create(part: &str, logical_pages: Option<u32>) -> PyResult<BlockDevice> {
        let device = NandSim::blank(NandSim::spec_by_name(part)?);
        let (origin, geometry) = (Origin(format!("a new {part}")), Nand::part(&device));
        let bad_blocks = geometry.block_count - geometry.good_blocks_min;
        let logical_pages = logical_pages.unwrap_or_else(|| max_logical_pages(&geometry, bad_blocks) / 10 * 9);
        if logical_pages > logical_pages_limit(&geometry) {
            let why = format!("{part}: {logical_pages} logical pages are more than the part has pages");
            return Err(Exception::Value.with(why));
        }
        let memory = vec![0; PartFtl::memory_bytes(&geometry, logical_pages)];
        let ftl =
            Ftl::format(device, memory, FtlConfig { logical_pages }).map_err(|error| origin.failed("format", error))?;
        Ok(BlockDevice { ftl, origin })
    }

    /// The device in a file, which stays as it is.
    #[staticmethod]
    #[pyo3(signature = (path, part = None))]
    fn open(path: PathBuf, part: Option<&str>) -> PyResult<BlockDevice> {
        let device: NandSim = contents::open(&path, part)?;
        let (origin, geometry) = (Origin(path.display().to_string()), Nand::part(&device));
        let memory = vec![0; PartFtl::memory_bytes(&geometry, logical_pages_limit(&geometry))];
        let ftl = Ftl::mount(device, memory).map_err(|error| contents::not_mounted(error, &path, part))?;
        Ok(BlockDevice { ftl, origin })
    }

    /// Writes the image to a new simulator's file.
    fn save(&mut self, path: PathBuf) -> PyResult<()> {
        self.flush()?;
        self.ftl.device().write(&path)
    }

    /// Writes the image to a simulator's file, in place of what is there.
    fn replace(&mut self, path: PathBuf) -> PyResult<()> {
        self.flush()?;
        image::replace(self.ftl.device(), &path)
    }

    /// The part's bytes, each page with its out-of-band area, for a chip's programmer.
    fn dump(&mut self) -> PyResult<Vec<u8>> {
        self.flush()?;
        Ok(self.ftl.device().dump())
    }

    /// The part's name.
    #[getter]
    fn part(&self) -> &str {
        Part::name(self.ftl.device())
    }

    /// Bytes of a page.
    #[getter]
    fn page_bytes(&self) -> u16 {
        self.ftl.page_bytes()
    }

    /// Number of logical pages.
    #[getter]
    fn logical_pages(&self) -> u32 {
        self.ftl.logical_pages()
    }

    /// The bytes of `count` pages from `page` on.
    #[pyo3(signature = (page, count = 1))]
    fn read(&mut self, page: u32, count: u32) -> PyResult<Vec<u8>> {
        self.expect_pages("read", page, count)?;
        let mut bytes = vec![0; count as usize * usize::from(self.ftl.page_bytes())];
        let read = self.ftl.read(Lba(page), &mut bytes);
        read.map_err(|error| self.origin.failed(format!("read {page}"), error))?;
        Ok(bytes)
    }

    /// Writes pages from `page` on, each whole or not at all.
    fn write(&mut self, page: u32, data: &[u8]) -> PyResult<()> {
        let written = self.ftl.write(Lba(page), data);
        written.map_err(|error| self.origin.failed(format!("write {page}"), error))
    }

    /// Says that `count` pages from `page` on are not needed: they read as zeros.
    #[pyo3(signature = (page, count = 1))]
    fn trim(&mut self, page: u32, count: u32) -> PyResult<()> {
        let trimmed = self.ftl.trim(Lba(page), count);
        trimmed.map_err(|error| self.origin.failed(format!("trim {page}"), error))
    }

    /// Checks every invariant of the device on flash; the first that is violated, and where.
    fn check(&mut self) -> PyResult<Vec<String>> {
        let audited = self.ftl.audit(&[]).map_err(|error| self.origin.failed("check", error))?;
        Ok(audited.iter().map(ToString::to_string).collect())
    }
}

impl BlockDevice {
    /// Makes trims durable, before the image is written.
    fn flush(&mut self) -> PyResult<()> {
        self.ftl.flush().map_err(|error| self.origin.failed("flush", error))
    }

    /// Before memory is taken for so many pages.
    fn expect_pages(&self, call: &str, page: u32, count: u32) -> PyResult<()> {
        let pages = self.ftl.logical_pages();
        match page.checked_add(count) {
            Some(end) if end <= pages => Ok(()),
            _ => {
                let what = format!("{call} {page}: {count} pages from there on leave the device, which has {pages}");
                Err(Exception::Index.with(format!("{}: {what}", self.origin.0)))
            }
        }
    }
}
