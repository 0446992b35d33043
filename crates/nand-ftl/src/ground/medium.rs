//! The device: pages with their codes, erases, marks. It refuses every call after its first failure.

use norn_flash::{Block, Column, Guard, GuardError, Nand, NandError, NandErrorKind, NandPart, PageAddress, Piece};

use crate::error::{FtlError, Outcome};
use crate::format::{Codec, Content, Tag};

/// How often a page is loaded before it is given up. Bit errors differ from load to load: a page that a cut left one
/// bit short, on a part that errs by another bit in every second load, is so taken for whole always, and not now and
/// then.
pub(crate) const READ_ATTEMPTS: u32 = 16;

/// Where the page that is programmed has its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// In the buffer.
    Buffer,
    /// In the part's register and in the buffer.
    Register,
}

/// The outcome of an operation on a block that may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    Done,
    /// The block failed: it has gone bad.
    BlockFailed,
}

/// A device with its guard, and the codes of its pages.
#[derive(Clone, Debug)]
pub(crate) struct Medium<D> {
    device: Guard<D>,
    codec: Codec,
}

impl<D: Nand> Medium<D> {
    /// `None` if the out-of-band area of a page is too small for the codes.
    pub fn new(device: D, part: &NandPart) -> Option<Self> {
        let codec = Codec::new(part)?;
        Some(Medium { device: Guard::new(device), codec })
    }

    pub fn device(&self) -> &D {
        self.device.device()
    }

    pub fn device_mut(&mut self) -> &mut D {
        self.device.device_mut()
    }

    pub fn into_device(self) -> D {
        self.device.into_device()
    }

    /// Refuses calls that need no flash, once the device has failed.
    pub fn expect_running(&self) -> Outcome<(), D> {
        Ok(self.device.expect_running()?)
    }

    pub(super) fn restart(&mut self) -> Outcome<(), D> {
        Ok(self.device.restart()?)
    }

    /// Loads a page into `buffer`, again and again while it is garbage, corrects it and says what it is.
    pub(super) fn load(&mut self, page: PageAddress, buffer: &mut [u8]) -> Outcome<Content, D> {
        let mut content = Content::Garbage;
        for _ in 0..READ_ATTEMPTS {
            content = load(&mut self.device, &self.codec, page, buffer)?;
            if content != Content::Garbage {
                break;
            }
        }
        Ok(content)
    }

    /// Programs a page with the data that is at the start of `buffer`, and with `tag`.
    pub(super) fn program(
        &mut self,
        page: PageAddress,
        tag: Tag,
        buffer: &mut [u8],
        source: Source,
    ) -> Outcome<Attempt, D> {
        self.codec.encode(buffer, tag);
        let oob = self.codec.oob_column();
        attempt(match source {
            Source::Buffer => self.device.program(page, &[Piece::new(Column(0), buffer)]),
            Source::Register => self.device.program_loaded(page, &[Piece::new(oob, &buffer[usize::from(oob.0)..])]),
        })
    }

    pub(super) fn erase(&mut self, block: Block) -> Outcome<Attempt, D> {
        attempt(self.device.erase(block))
    }

    pub(super) fn barrier(&mut self) -> Outcome<(), D> {
        Ok(self.device.barrier()?)
    }

    pub(super) fn is_marked_bad(&mut self, block: Block) -> Outcome<bool, D> {
        Ok(self.device.is_marked_bad(block)?)
    }
}

/// Loads a page of any device into `buffer`, corrects it and says what it is. Cost: one load.
pub(crate) fn load<D: Nand>(
    device: &mut D,
    codec: &Codec,
    page: PageAddress,
    buffer: &mut [u8],
) -> Result<Content, D::Error> {
    device.load(page)?;
    device.fetch(buffer)?;
    Ok(codec.decode(buffer))
}

fn attempt<E: NandError>(done: Result<(), GuardError<E>>) -> Result<Attempt, FtlError<E>> {
    match done {
        Ok(()) => Ok(Attempt::Done),
        Err(error) if error.kind() == NandErrorKind::BlockFailed => Ok(Attempt::BlockFailed),
        Err(error) => Err(error.into()),
    }
}
