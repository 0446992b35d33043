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
/// Windows: of a loop and of what it calls.
const WINDOWS: usize = 2;
/// Bytes before a position that stay when a window moves on from its end: a loop across the end of an image's own
/// window has both of its parts there then.
const KEPT: usize = 32;
/// Bytes of the longest bytecode but a switch; so many are in the window from a position on, if the image has them,
/// before the bytecode there is looked at.
pub(crate) const LONGEST: usize = 5;

/// Copies of the bytes around the bytecode that is carried out, and of those around one before: most bytecodes, calls
/// and returns cost no request to the pager.
#[derive(Debug)]
pub(crate) struct Windows {
    windows: [Window; WINDOWS],
    current: usize,
}

#[derive(Debug)]
struct Window {
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

impl Windows {
    pub(crate) fn empty() -> Windows {
        Windows {
            windows: [const { Window { package: 0, start: 0, length: 0, bytes: [0; WINDOW] } }; WINDOWS],
            current: 0,
        }
    }

    /// The bytes of the window that is used, where it is in a package's image.
    #[inline]
    pub(crate) fn of(&self, package: u8) -> Option<WindowBytes<'_>> {
        let window = &self.windows[self.current];
        let bytes = window.bytes.get(..window.length as usize).filter(|_| package == window.package)?;
        Some(WindowBytes { start: window.start, bytes })
    }

    /// [`LONGEST`] bytes from a position on, where the window that is used has them.
    #[inline]
    pub(crate) fn bytes(&self, package: u8, at: u32) -> Option<[u8; LONGEST]> {
        let WindowBytes { start, bytes } = self.of(package)?;
        bytes.get(at.wrapping_sub(start) as usize..)?.first_chunk().copied()
    }

    /// Makes the window that has [`LONGEST`] bytes from a position on the one that is used; fills one, where none has.
    ///
    /// # Errors
    ///
    /// Where the position is not in an image, or that cannot be read.
    #[cold]
    #[inline(never)]
    pub(crate) fn turn_to<C: Code>(
        &mut self,
        code: &mut C,
        package: u8,
        at: u32,
    ) -> Result<(), ImageError<CodeError<C>>> {
        if !self.windows[self.current].is_near(package, at) {
            self.current = (self.current + 1) % WINDOWS;
        }
        if self.bytes(package, at).is_some() {
            return Ok(());
        }
        self.windows[self.current].refill(code, package, at)
    }
}

impl Window {
    /// Whether a position is in it, or comes right after it.
    fn is_near(&self, package: u8, at: u32) -> bool {
        package == self.package && at.wrapping_sub(self.start) <= self.length
    }

    /// Fills the window from a position on with at least [`LONGEST`] bytes, zeros behind the image's end. What is
    /// before the position stays, as far as there is room.
    fn refill<C: Code>(&mut self, code: &mut C, package: u8, at: u32) -> Result<(), ImageError<CodeError<C>>> {
        let ends = ImageError::Wrong { at, what: Wrong::Ends };
        let (mut start, mut length) = (at, 0);
        if self.is_near(package, at) {
            let known = (at - self.start) as usize;
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
