//! Which kind of image a file is: the only place that names all of them.

use norn_flash_sim::{ImageBytes, ImageKind, NandSim, NorSim};

use crate::chip::Chip;
use crate::code::Code;
use crate::content::Content;
use crate::disk::Disk;
use crate::index::list::{FixedWidths, Index, VaryingWidths};
use crate::log_heap::LogHeap;
use crate::objects::words;
use crate::plain::{Blocks, Plain};
use crate::shown::Shown;
use crate::tiny_store::TinyStore;

/// Why a page opens no other files, and what does.
const NO_IMAGE: &str = "this is no image file; of a chip's dump (binary, Intel HEX, UF2 or ELF) `norn image import \
                        DUMP NEW.img` makes one, and `norn explore DUMP` a page";

/// What is said of a file without a byte.
const EMPTY: &str = "the file is empty; `norn heap create`, `log create`, `nbd create` and `code create` make images";

/// The image in the bytes of a file.
///
/// # Errors
/// What is wrong with them, in words.
pub fn open(image: ImageBytes) -> Result<Box<dyn Shown>, String> {
    match ImageKind::of_header(&image.head(8)) {
        Some(ImageKind::Nand) => of_nand(NandSim::from_image_bytes(image).map_err(words)?),
        Some(ImageKind::Nor) => of_nor(NorSim::from_image_bytes(image).map_err(words)?),
        None if image.length() == 0 => Err(EMPTY.to_owned()),
        None => Err(NO_IMAGE.to_owned()),
    }
}

/// What is on a NAND part.
///
/// # Errors
/// In words.
pub fn of_nand(part: NandSim) -> Result<Box<dyn Shown>, String> {
    match () {
        () if Disk::is_on(&part)? => Ok(Box::new(Disk::of(part)?)),
        () if Code::is_on(&part)? => Ok(Box::new(Code::of(&part))),
        () => Ok(Box::new(Blocks(part))),
    }
}

/// What is on a NOR part.
///
/// # Errors
/// In words.
pub fn of_nor(part: NorSim) -> Result<Box<dyn Shown>, String> {
    for look in [chip::<LogHeap>, chip::<TinyStore>, chip::<Index<FixedWidths>>, chip::<Index<VaryingWidths>>] {
        if let Some(found) = look(&part)? {
            return Ok(found);
        }
    }
    Ok(Box::new(Chip::<Plain>::of(part)))
}

fn chip<C: Content>(part: &NorSim) -> Result<Option<Box<dyn Shown>>, String> {
    Ok(Chip::<C>::on(part)?.map(|chip| Box::new(chip) as Box<dyn Shown>))
}
