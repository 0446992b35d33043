//! A NAND part in an image file whose flushes reach the host's disk.
//!
//! The host may bring to its disk in any order what it is given, and a collector erases blocks whose live pages it has
//! copied. So that a page that was flushed is on the disk at every instant, its copy or its successor has to be there
//! before the erase: an erase of a block that holds pages, after programs, waits for the disk first. A page of the
//! checkpoint says where other pages are, and mounting believes it: the FTL's barrier before it waits likewise.
//!
//! Invariants: no page is erased while a program before that may not be on the disk; none that follows a barrier is on
//! the disk without those before it.

use norn_flash::{Block, Column, Nand, NandPart, PageAddress, Piece};
use norn_flash_sim::{NandSim, NandSimError};

/// The part, and what is known of the host's disk.
#[derive(Debug)]
pub struct Disk {
    part: NandSim,
    waits: Waits,
    tail: Tail,
}

/// How often the host said that everything is on its disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// To flushes.
    pub flushes: u64,
    /// Before erases.
    pub erases: u64,
    /// Before pages of the checkpoint.
    pub barriers: u64,
}

/// Whether the host's disk lacks programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    OnDisk,
    Programmed,
}

impl Disk {
    /// A part, of which nothing is waiting for the disk.
    pub fn new(part: NandSim) -> Self {
        Disk { part, waits: Waits::default(), tail: Tail::OnDisk }
    }

    /// The part.
    pub fn part(&self) -> &NandSim {
        &self.part
    }

    /// How often the host's disk was waited for.
    pub fn waits(&self) -> Waits {
        self.waits
    }

    /// Waits until everything is on the host's disk.
    ///
    /// # Errors
    /// When the host cannot.
    pub fn flush(&mut self) -> Result<(), NandSimError> {
        self.part.sync()?;
        self.waits.flushes += 1;
        self.tail = Tail::OnDisk;
        Ok(())
    }
}

impl Nand for Disk {
    type Error = NandSimError;

    fn part(&self) -> NandPart {
        Nand::part(&self.part)
    }

    fn load(&mut self, page: PageAddress) -> Result<(), NandSimError> {
        self.part.load(page)
    }

    fn seek(&mut self, column: Column) -> Result<(), NandSimError> {
        self.part.seek(column)
    }

    fn fetch(&mut self, buffer: &mut [u8]) -> Result<(), NandSimError> {
        self.part.fetch(buffer)
    }

    fn program(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        self.tail = Tail::Programmed;
        self.part.program(page, pieces)
    }

    fn program_loaded(&mut self, page: PageAddress, pieces: &[Piece<'_>]) -> Result<(), NandSimError> {
        self.tail = Tail::Programmed;
        self.part.program_loaded(page, pieces)
    }

    fn erase(&mut self, block: Block) -> Result<(), NandSimError> {
        // A block that the part does not have is the part's to refuse.
        let holds_pages = block.0 < Nand::part(&self.part).block_count && self.part.holds_pages(block);
        if self.tail == Tail::Programmed && holds_pages {
            self.part.sync()?;
            self.waits.erases += 1;
            self.tail = Tail::OnDisk;
        }
        self.part.erase(block)
    }

    fn barrier(&mut self) -> Result<(), NandSimError> {
        if self.tail == Tail::Programmed {
            self.part.sync()?;
            self.waits.barriers += 1;
            self.tail = Tail::OnDisk;
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<(), NandSimError> {
        self.part.restart()
    }
}
