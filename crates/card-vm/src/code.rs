//! Packages and their code: found by number, read in windows.

use norn_card_package::{Image, ImageError, Package, Wrong};

/// The images of the packages that are installed, by the numbers that the card gave them.
pub trait Code {
    /// The image of a package.
    type Image: Image;

    /// A package's header and image; none where no package has the number.
    fn package(&mut self, number: u8) -> Option<(&Package, &mut Self::Image)>;

    /// The number of the package that an import of another leads to; imports count from 0.
    fn import(&self, package: u8, import: u8) -> Option<u8>;

    /// Where `java.lang.Object` is, the class of arrays: package and class.
    fn object_class(&self) -> (u8, u8);

    /// A bytecode is carried out, at a position in a package's image: for those who write traces.
    #[inline]
    fn executes(&mut self, package: u8, position: u32, opcode: u8) {
        let _ = (package, position, opcode);
    }
}

/// Why an image of `C` cannot be used.
pub type CodeError<C> = <<C as Code>::Image as Image>::Error;

/// Packages in a slice, with the numbers of what they import.
#[derive(Debug)]
pub struct Packages<'a, I> {
    /// Header, image, and the package that each import leads to.
    pub packages: &'a mut [(Package, I, &'a [u8])],
    /// Package and class of `java.lang.Object`.
    pub object_class: (u8, u8),
}

impl<I: Image> Code for Packages<'_, I> {
    type Image = I;

    fn package(&mut self, number: u8) -> Option<(&Package, &mut I)> {
        self.packages.get_mut(usize::from(number)).map(|(package, image, _)| (&*package, image))
    }

    fn import(&self, package: u8, import: u8) -> Option<u8> {
        self.packages.get(usize::from(package))?.2.get(usize::from(import)).copied()
    }

    fn object_class(&self) -> (u8, u8) {
        self.object_class
    }
}

/// Bytes of a window.
const WINDOW: usize = 96;
/// Bytes before a position that stay when the window moves on from its end: a loop across the end of an image's own
/// window has both of its parts there then.
const KEPT: usize = 32;
/// Bytes of the longest bytecode on stack and local variables alone; so many are in a window from a position on, if the
/// image has them, before the bytecode there is looked at.
pub(crate) const LONGEST: usize = 4;

/// A copy of the bytes around the bytecode that is carried out, so that most of them cost no request to the pager.
#[derive(Debug)]
pub(crate) struct Window {
    package: u8,
    start: u32,
    length: u32,
    bytes: [u8; WINDOW],
}

/// The bytes of a window.
pub(crate) struct WindowBytes<'a> {
    pub start: u32,
    pub bytes: &'a [u8],
}

impl Window {
    pub(crate) fn empty() -> Window {
        Window { package: 0, start: 0, length: 0, bytes: [0; WINDOW] }
    }

    /// `N` bytes of a package's image.
    #[inline]
    pub(crate) fn bytes<const N: usize, C: Code>(
        &mut self,
        code: &mut C,
        package: u8,
        at: u32,
    ) -> Result<[u8; N], ImageError<CodeError<C>>> {
        let mut offset = at.wrapping_sub(self.start);
        if package != self.package || offset.saturating_add(N as u32) > self.length {
            self.refill(code, package, at)?;
            offset = at.wrapping_sub(self.start);
        }
        let rest = self.bytes.get(offset as usize..).unwrap_or(&[]);
        Ok(rest.first_chunk().copied().unwrap_or([0; N]))
    }

    /// Whether [`LONGEST`] bytes from a position on are not in the window.
    #[inline]
    pub(crate) fn is_short(&self, package: u8, at: u32) -> bool {
        let offset = at.wrapping_sub(self.start);
        package != self.package || offset.saturating_add(LONGEST as u32) > self.length
    }

    /// The window's bytes, where it is in a package's image.
    #[inline]
    pub(crate) fn of(&self, package: u8) -> Option<WindowBytes<'_>> {
        let bytes = self.bytes.get(..self.length as usize).filter(|_| package == self.package)?;
        Some(WindowBytes { start: self.start, bytes })
    }

    /// Fills the window from a position on with at least [`LONGEST`] bytes, zeros behind the image's end. What is
    /// before the position stays, as far as there is room.
    ///
    /// # Errors
    ///
    /// Where the position is not in an image, or that cannot be read.
    #[cold]
    #[inline(never)]
    pub(crate) fn refill<C: Code>(
        &mut self,
        code: &mut C,
        package: u8,
        at: u32,
    ) -> Result<(), ImageError<CodeError<C>>> {
        let ends = ImageError::Wrong { at, what: Wrong::Ends };
        let (known, mut start, mut length) = (at.wrapping_sub(self.start) as usize, at, 0);
        if package == self.package && known <= self.length as usize {
            let from = known.saturating_sub(KEPT);
            start -= (known - from) as u32;
            while length < self.length as usize - from {
                self.bytes[length] = self.bytes[from + length];
                length += 1;
            }
        }
        self.length = 0;
        let Some((_, image)) = code.package(package) else { return Err(ends) };
        let wanted = (at - start) as usize + LONGEST;
        while length < wanted {
            let Some(next) = start.checked_add(length as u32) else { return Err(ends) };
            let found = image.window(next).map_err(ImageError::Read)?;
            let taken = found.len().min(WINDOW - length);
            if taken == 0 {
                if next <= at {
                    return Err(ends);
                }
                self.bytes[length..wanted].fill(0);
                length = wanted;
                break;
            }
            self.bytes[length..length + taken].copy_from_slice(&found[..taken]);
            length += taken;
        }
        (self.package, self.start, self.length) = (package, start, length as u32);
        Ok(())
    }
}
