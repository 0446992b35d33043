//! Where an image's bytes are, and numbers read from there.

use core::convert::Infallible;

use crate::error::{ImageError, Wrong};

/// The bytes of an image, as a cache of pages has them.
pub trait Image {
    /// Why bytes cannot be read.
    type Error;

    /// The bytes from a position on: at least one, up to any place within the image; none from its end on. They are
    /// the same as long as the image is not written.
    ///
    /// # Errors
    ///
    /// As the store of the image has them.
    fn window(&mut self, at: u32) -> Result<&[u8], Self::Error>;
}

impl Image for &[u8] {
    type Error = Infallible;

    fn window(&mut self, at: u32) -> Result<&[u8], Infallible> {
        Ok(usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or(&[]))
    }
}

impl<I: Image> Image for &mut I {
    type Error = I::Error;

    fn window(&mut self, at: u32) -> Result<&[u8], I::Error> {
        (**self).window(at)
    }
}

/// Something wrong at a place.
pub(crate) fn wrong<T, E>(at: u32, what: Wrong) -> Result<T, ImageError<E>> {
    Err(ImageError::Wrong { at, what })
}

/// `N` bytes at a position.
pub(crate) fn bytes<const N: usize, I: Image>(image: &mut I, at: u32) -> Result<[u8; N], ImageError<I::Error>> {
    let mut read = [0; N];
    fill(image, at, &mut read)?;
    Ok(read)
}

/// Reads the bytes from a position on: once in the code, however many there are.
#[inline(never)]
pub(crate) fn fill<I: Image>(image: &mut I, at: u32, mut into: &mut [u8]) -> Result<(), ImageError<I::Error>> {
    let mut position = at;
    while !into.is_empty() {
        let window = image.window(position).map_err(ImageError::Read)?;
        let taken = window.len().min(into.len());
        if taken == 0 {
            return wrong(at, Wrong::Ends);
        }
        let (now, later) = into.split_at_mut(taken);
        now.copy_from_slice(&window[..taken]);
        into = later;
        let Some(next) = position.checked_add(taken as u32) else { return wrong(at, Wrong::Ends) };
        position = next;
    }
    Ok(())
}

/// A number of one byte. Those of one to three bytes are functions of their own: images are read in many places.
#[inline(never)]
pub(crate) fn u8_at<I: Image>(image: &mut I, at: u32) -> Result<u8, ImageError<I::Error>> {
    bytes::<1, I>(image, at).map(|[byte]| byte)
}

/// A number of two bytes, the least significant first.
#[inline(never)]
pub(crate) fn u16_at<I: Image>(image: &mut I, at: u32) -> Result<u16, ImageError<I::Error>> {
    bytes::<2, I>(image, at).map(u16::from_le_bytes)
}

/// A number of three bytes, the least significant first.
#[inline(never)]
pub(crate) fn u24_at<I: Image>(image: &mut I, at: u32) -> Result<u32, ImageError<I::Error>> {
    bytes::<3, I>(image, at).map(u24)
}

pub(crate) fn u24([low, middle, high]: [u8; 3]) -> u32 {
    u32::from_le_bytes([low, middle, high, 0])
}
