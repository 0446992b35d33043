//! Packages on NAND: an image for each in a room of a shelf, read through one cache.
//!
//! A package's number is its room. What RAM knows of a package is its header and the numbers of what it imports; the
//! rest is read through the cache when it is needed.

use norn_card_package::{Image, ImageError, Package, known_class};
use norn_code_pager::policy::Policy;
use norn_code_pager::{
    Code as ErrorCode, CodeAddress, Crc32c, ImageError as ShelfError, Observer, Options, ReadError, Shelf,
};
use norn_flash::Nand;

use crate::code::Code;
use crate::package_store::{AddError, PackageStore};

/// Packages that one package imports at most.
pub const IMPORTS_MAX: usize = 8;

/// Why packages on NAND cannot be read or changed. As small as can be, since every step of a program may fail by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NandPackagesError<E> {
    /// The device failed.
    Device(E),
    /// More bits of a package's cache page are wrong than its code corrects.
    Uncorrectable {
        /// The first byte of the cache page, as the whole shelf counts.
        address: CodeAddress,
    },
    /// An image was not written as it should be, or what was written cannot be read back.
    NotWritten,
}

impl<E: core::fmt::Debug> core::fmt::Display for NandPackagesError<E> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            NandPackagesError::Device(error) => write!(out, "the packages' part: {error:?}"),
            NandPackagesError::Uncorrectable { address } => {
                write!(out, "the packages' part: more bits at {address} are wrong than the code corrects")
            }
            NandPackagesError::NotWritten => out.write_str("the packages' part does not keep what is written"),
        }
    }
}

impl<E> From<ReadError<E>> for NandPackagesError<E> {
    fn from(error: ReadError<E>) -> Self {
        match error {
            ReadError::Device(error) => NandPackagesError::Device(error),
            ReadError::Uncorrectable { address } | ReadError::OutOfImage { address, .. } => {
                NandPackagesError::Uncorrectable { address }
            }
        }
    }
}

/// The image in a room.
#[derive(Debug)]
pub struct RoomImage<D, P, const ROOMS: usize, const FRAMES: usize, const PAGE: usize, C, O> {
    shelf: Shelf<D, P, ROOMS, FRAMES, PAGE, C, O>,
    room: u8,
}

impl<
    D: Nand,
    P: Policy + Default,
    const ROOMS: usize,
    const FRAMES: usize,
    const PAGE: usize,
    C: ErrorCode,
    O: Observer,
> Image for RoomImage<D, P, ROOMS, FRAMES, PAGE, C, O>
{
    type Error = NandPackagesError<D::Error>;

    fn window(&mut self, at: u32) -> Result<&[u8], Self::Error> {
        match self.shelf.size_bytes(self.room.into()) {
            Some(size) if at < size => Ok(self.shelf.view(self.room.into(), CodeAddress(at))?),
            _ => Ok(&[]),
        }
    }
}

/// A package, and the numbers of what it imports.
#[derive(Clone, Copy, Debug)]
struct Known {
    package: Package,
    imports: [u8; IMPORTS_MAX],
}

/// At most `ROOMS` packages on a part, behind a cache of `FRAMES` pages of `PAGE` bytes. `PART_PAGE` is at least the
/// bytes of a page of the part. RAM: the shelf, and 76 bytes a room; `PART_PAGE` of stack while a package is added.
#[derive(Debug)]
pub struct NandPackages<
    D,
    P,
    const ROOMS: usize,
    const FRAMES: usize,
    const PAGE: usize,
    const PART_PAGE: usize,
    C = Crc32c,
    O = (),
> {
    image: RoomImage<D, P, ROOMS, FRAMES, PAGE, C, O>,
    known: [Option<Known>; ROOMS],
    object_class: (u8, u8),
}

type ErrorOf<D> = NandPackagesError<<D as Nand>::Error>;

impl<
    D: Nand,
    P: Policy + Default,
    const ROOMS: usize,
    const FRAMES: usize,
    const PAGE: usize,
    const PART_PAGE: usize,
    C: ErrorCode,
    O: Observer,
> NandPackages<D, P, ROOMS, FRAMES, PAGE, PART_PAGE, C, O>
{
    /// The shelf on a part; no package is known before [`PackageStore::open`]. Cost: none on the part.
    ///
    /// # Errors
    ///
    /// If the part does not serve.
    pub fn mount(device: D, options: Options, observer: O) -> Result<Self, ShelfError<D::Error>> {
        let shelf = Shelf::unopened(device, options, observer)?;
        Ok(NandPackages { image: RoomImage { shelf, room: 0 }, known: [None; ROOMS], object_class: (0, 0) })
    }

    /// Bytes of a package's image; none where the room is empty.
    pub fn size_bytes(&self, number: u8) -> Option<u32> {
        self.image.shelf.size_bytes(number.into())
    }

    /// Bytes that a package may have, on a part without bad blocks.
    pub fn room_bytes(&self) -> u32 {
        let part = self.image.shelf.device().part();
        let per_page = u32::from(part.page_bytes) / (PAGE + C::BYTES) as u32;
        u32::from(self.image.shelf.room_blocks() - 1) * u32::from(part.pages_per_block) * per_page * PAGE as u32
    }

    /// The packages that are there.
    pub fn packages(&self) -> impl Iterator<Item = (u8, &Package)> {
        (0..).zip(&self.known).filter_map(|(number, known)| Some((number, &known.as_ref()?.package)))
    }

    /// Checks every byte of a package against the check that was written with it.
    ///
    /// # Errors
    ///
    /// What is wrong with the image, or the device's.
    pub fn verify(&mut self, number: u8) -> Result<(), ShelfError<D::Error>> {
        self.image.shelf.verify(number.into())
    }

    /// The observer of the cache.
    pub fn observer(&self) -> &O {
        self.image.shelf.observer()
    }

    /// Lends the device; the cache is empty afterwards.
    pub fn with_device<T>(&mut self, operate: impl FnOnce(&mut D) -> T) -> T {
        self.image.shelf.with_device(operate)
    }

    /// The device and the observer.
    pub fn into_parts(self) -> (D, O) {
        self.image.shelf.into_parts()
    }

    /// Reads the header of the image in a room, and finds what it imports.
    fn take(&mut self, number: u8) -> Result<(), AddError<ErrorOf<D>>> {
        self.image.room = number;
        let package = Package::open(&mut self.image).map_err(AddError::Image)?;
        if self.packages().any(|(_, other)| other.aid == package.aid) {
            return Err(AddError::Exists(package.aid));
        }
        let mut imports = [0; IMPORTS_MAX];
        if usize::from(package.imports) > IMPORTS_MAX {
            return Err(AddError::NoRoom);
        }
        for (import, place) in (0..package.imports).zip(&mut imports) {
            let import = package.import(&mut self.image, import).map_err(AddError::Image)?;
            let missing = AddError::Import(import.aid);
            let (found, imported) = self.packages().find(|(_, package)| package.aid == import.aid).ok_or(missing)?;
            if !imported.version.serves(import.version) {
                return Err(AddError::Import(import.aid));
            }
            *place = found;
        }
        if package.has_natives {
            let object = const {
                match known_class("java/lang/Object") {
                    Some(place) => place,
                    None => panic!("the list of known classes has it"),
                }
            };
            let object = package.known_class(&mut self.image, object).map_err(AddError::Image)?;
            self.object_class = (number, object.unwrap_or(0));
        }
        self.known[usize::from(number)] = Some(Known { package, imports });
        Ok(())
    }
}

impl<
    D: Nand,
    P: Policy + Default,
    const ROOMS: usize,
    const FRAMES: usize,
    const PAGE: usize,
    const PART_PAGE: usize,
    C: ErrorCode,
    O: Observer,
> Code for NandPackages<D, P, ROOMS, FRAMES, PAGE, PART_PAGE, C, O>
{
    type Image = RoomImage<D, P, ROOMS, FRAMES, PAGE, C, O>;

    // In the code once: packages are asked for in many places.
    #[inline(never)]
    fn package(&mut self, number: u8) -> Option<(&Package, &mut Self::Image)> {
        let known = self.known.get(usize::from(number))?.as_ref()?;
        self.image.room = number;
        Some((&known.package, &mut self.image))
    }

    #[inline(never)]
    fn import(&self, package: u8, import: u8) -> Option<u8> {
        let known = self.known.get(usize::from(package))?.as_ref()?;
        known.imports.get(..usize::from(known.package.imports))?.get(usize::from(import)).copied()
    }

    fn object_class(&self) -> (u8, u8) {
        self.object_class
    }
}

impl<
    D: Nand,
    P: Policy + Default,
    const ROOMS: usize,
    const FRAMES: usize,
    const PAGE: usize,
    const PART_PAGE: usize,
    C: ErrorCode,
    O: Observer,
> PackageStore for NandPackages<D, P, ROOMS, FRAMES, PAGE, PART_PAGE, C, O>
{
    /// Cost: nine loads for each package that is installed, and those of its header.
    fn open(&mut self, is_installed: impl Fn(u8) -> bool) -> Result<(), ErrorOf<D>> {
        let is_missing =
            |known: &[Option<Known>; ROOMS], number| known[usize::from(number)].is_none() && is_installed(number);
        for number in (0..ROOMS as u8).filter(|number| is_missing(&self.known, *number)) {
            self.image.shelf.open(number.into()).map_err(NandPackagesError::Device)?;
        }
        // A package may have a lower number than one that it imports: as many rounds as find something.
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for number in 0..ROOMS as u8 {
                if !is_missing(&self.known, number) || self.size_bytes(number).is_none() {
                    continue;
                }
                match self.take(number) {
                    Ok(()) => is_changed = true,
                    Err(AddError::Image(ImageError::Read(error @ NandPackagesError::Device(_)))) => return Err(error),
                    Err(_) => {}
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, image: &[u8]) -> Result<u8, AddError<ErrorOf<D>>> {
        let is_free = |number: &u8| self.known.get(usize::from(*number)).is_some_and(Option::is_none);
        let Some(number) = (0..ROOMS as u8).find(is_free) else { return Err(AddError::NoRoom) };
        match self.image.shelf.write::<PART_PAGE>(number.into(), image) {
            Ok(()) => {}
            Err(ShelfError::TooLarge { .. } | ShelfError::TooManyBadBlocks { .. }) => return Err(AddError::NoRoom),
            Err(ShelfError::Device(error)) => return Err(unwritten(NandPackagesError::Device(error))),
            Err(_) => return Err(unwritten(NandPackagesError::NotWritten)),
        }
        match self.take(number) {
            Ok(()) => Ok(number),
            Err(refusal) => {
                let cleared = self.image.shelf.clear(number.into());
                cleared.map_err(|error| unwritten(NandPackagesError::Device(error)))?;
                Err(refusal)
            }
        }
    }

    fn remove(&mut self, number: u8) -> Result<(), ErrorOf<D>> {
        if let Some(known) = self.known.get_mut(usize::from(number)) {
            *known = None;
            self.image.shelf.clear(number.into()).map_err(NandPackagesError::Device)?;
        }
        Ok(())
    }
}

fn unwritten<E>(error: NandPackagesError<E>) -> AddError<NandPackagesError<E>> {
    AddError::Image(ImageError::Read(error))
}
