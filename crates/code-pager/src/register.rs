//! What the part's register holds, so that it is loaded only when it must be (section 4.3 of the paper).
//!
//! Three cases, on a request for a byte of page P:
//! 1. another page is in the register, or none: load P;
//! 2. P is in it and the byte is at the position or after it: continue from there;
//! 3. P is in it and the byte is before the position: load P again, unless the part moves the position back.
//!
//! Invariant: `held` is what the device's register holds, while no other client uses the device.

use norn_flash::{Column, ColumnAccess, Nand};

use crate::address::ImagePage;
use crate::image::Image;
use crate::policy::Cost;

/// No page: an image has fewer.
const NO_PAGE: u16 = u16::MAX;

/// A part's register.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    /// The number of the image's page in it, or [`NO_PAGE`]; two bytes are enough for any image.
    held: u16,
    position: Column,
    columns: ColumnAccess,
}

impl Register {
    pub fn new(columns: ColumnAccess) -> Self {
        Register { held: NO_PAGE, position: Column(0), columns }
    }

    /// Where the position may go.
    pub fn columns(&self) -> ColumnAccess {
        self.columns
    }

    /// Brings `page` to the register, with a position from which `column` can be reached. Returns the position and, if
    /// it took a load, [`Cost::LOAD`].
    #[inline]
    pub fn stand_before<D: Nand>(
        &mut self,
        device: &mut D,
        image: &Image,
        page: ImagePage,
        column: Column,
    ) -> Result<(Column, u8), D::Error> {
        let is_in_reach = self.position <= column || self.columns == ColumnAccess::Anywhere;
        if u32::from(self.held) == page.0 && is_in_reach {
            return Ok((self.position, 0));
        }
        self.held = NO_PAGE;
        device.load(image.address(page))?;
        (self.held, self.position) = (page.0 as u16, Column(0));
        Ok((Column(0), Cost::LOAD))
    }

    /// Fetches bytes at `column` of the page that [`stand_before`](Self::stand_before) brought.
    #[inline]
    pub fn fetch<D: Nand>(&mut self, device: &mut D, column: Column, buffer: &mut [u8]) -> Result<(), D::Error> {
        let held = core::mem::replace(&mut self.held, NO_PAGE);
        if self.position != column {
            device.seek(column)?;
        }
        device.fetch(buffer)?;
        (self.held, self.position) = (held, Column(column.0 + buffer.len() as u16));
        Ok(())
    }
}
