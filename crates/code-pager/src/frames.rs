//! The frames of a cache: of a number and width that the type says, or that are known when the program runs.

use crate::policy::Frame;

/// Memory for frames, all of them of the same width: an array of arrays, or [`LentFrames`].
pub trait Frames {
    /// How many there are.
    fn count(&self) -> u8;

    /// Bytes of a cache page, and so of a frame.
    fn page_bytes(&self) -> usize;

    /// What a frame holds.
    fn frame(&self, frame: Frame) -> &[u8];

    /// What a frame holds, to be overwritten.
    fn frame_mut(&mut self, frame: Frame) -> &mut [u8];
}

impl<const FRAMES: usize, const PAGE: usize> Frames for [[u8; PAGE]; FRAMES] {
    fn count(&self) -> u8 {
        FRAMES as u8
    }

    #[inline]
    fn page_bytes(&self) -> usize {
        PAGE
    }

    #[inline]
    fn frame(&self, frame: Frame) -> &[u8] {
        &self[usize::from(frame.0)]
    }

    #[inline]
    fn frame_mut(&mut self, frame: Frame) -> &mut [u8] {
        &mut self[usize::from(frame.0)]
    }
}

/// Frames one after the other in bytes that the caller lends. Invariant: `bytes` has whole frames.
#[derive(Debug)]
pub struct LentFrames<'a> {
    bytes: &'a mut [u8],
    page_bytes: u16,
}

impl<'a> LentFrames<'a> {
    pub(crate) fn new(bytes: &'a mut [u8], page_bytes: u16) -> Self {
        LentFrames { bytes, page_bytes }
    }
}

impl Frames for LentFrames<'_> {
    fn count(&self) -> u8 {
        (self.bytes.len() / self.page_bytes()) as u8
    }

    #[inline]
    fn page_bytes(&self) -> usize {
        usize::from(self.page_bytes)
    }

    #[inline]
    fn frame(&self, frame: Frame) -> &[u8] {
        let page_bytes = self.page_bytes();
        &self.bytes[usize::from(frame.0) * page_bytes..][..page_bytes]
    }

    #[inline]
    fn frame_mut(&mut self, frame: Frame) -> &mut [u8] {
        let page_bytes = self.page_bytes();
        &mut self.bytes[usize::from(frame.0) * page_bytes..][..page_bytes]
    }
}
