//! Whether a part holds a block device.

use norn_flash::{Nand, NandPart, Recognised, TenantKind};

use crate::format::{CHUNK_BASE, Codec, Content, FORMAT_BEGUN, FORMAT_VERSION, checkpoint_version};
use crate::ground::medium::load;

/// What [`recognise`] calls a part whose formatting was cut before its first page of the checkpoint: no device.
pub const FORMAT_CUT_SHORT: &str = "a block device on NAND whose formatting was cut short";

/// What [`recognise`] calls whole pages of a block device where no page of a checkpoint is whole: it cannot be mounted.
pub const NO_CHECKPOINT: &str = "pages of a block device on NAND without its checkpoint";

/// The bytes that [`recognise`] needs: a page with its out-of-band area.
pub const fn recognition_bytes(part: &NandPart) -> usize {
    part.register_bytes() as usize
}

/// The block device that `device` holds, of any version, by the first page of its checkpoint that is whole; where there
/// is none, [`FORMAT_CUT_SHORT`] or [`NO_CHECKPOINT`], whose version is not known and is given as this program's.
/// `buffer` has at least [`recognition_bytes`]; with less, nothing is recognised. Cost: a load for each page up to the
/// one of the checkpoint; of a block, up to the first page that is erased.
///
/// # Errors
/// The device's.
pub fn recognise<D: Nand>(device: &mut D, buffer: &mut [u8]) -> Result<Option<Recognised>, D::Error> {
    let part = device.part();
    if part.validate().is_err() {
        return Ok(None);
    }
    let (Some(codec), Some(buffer)) = (Codec::new(&part), buffer.get_mut(..recognition_bytes(&part))) else {
        return Ok(None);
    };
    let mut remains = None;
    for block in part.blocks() {
        for page in 0..part.pages_per_block {
            match load(device, &codec, block.page(page), buffer)? {
                Content::Page { tag, .. } => {
                    if tag.lba == FORMAT_BEGUN {
                        remains = Some(FORMAT_CUT_SHORT);
                    } else if tag.lba >= CHUNK_BASE
                        && let Some(version) = checkpoint_version(buffer)
                    {
                        return Ok(Some(recognised("a block device on NAND", version)));
                    }
                    remains = remains.or(Some(NO_CHECKPOINT));
                }
                Content::Blank => break,
                Content::Garbage => {}
            }
        }
    }
    Ok(remains.map(|what| recognised(what, FORMAT_VERSION)))
}

fn recognised(what: &'static str, version: u8) -> Recognised {
    Recognised {
        what,
        kind: TenantKind::DISK,
        version: u32::from(version),
        known_version: u32::from(FORMAT_VERSION),
        geometry: None,
    }
}
