//! Whether a part holds a block device.

use norn_flash::{Nand, NandPart, Recognised, TenantKind};

use crate::format::{CHUNK_BASE, Codec, Content, FORMAT_VERSION, checkpoint_version};
use crate::ground::medium::load;

/// The bytes that [`recognise`] needs: a page with its out-of-band area.
pub const fn recognition_bytes(part: &NandPart) -> usize {
    part.register_bytes() as usize
}

/// The block device that `device` holds, of any version, by the first page of its checkpoint that is whole. `buffer`
/// has at least [`recognition_bytes`]; with less, nothing is recognised. Cost: a load for each page up to that one; of
/// a block, up to the first page that is erased.
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
    for block in part.blocks() {
        for page in 0..part.pages_per_block {
            match load(device, &codec, block.page(page), buffer)? {
                Content::Page { tag, .. } if tag.lba >= CHUNK_BASE => {
                    if let Some(version) = checkpoint_version(buffer) {
                        return Ok(Some(recognised(version)));
                    }
                }
                Content::Blank => break,
                Content::Page { .. } | Content::Garbage => {}
            }
        }
    }
    Ok(None)
}

fn recognised(version: u8) -> Recognised {
    Recognised {
        what: "a block device on NAND",
        kind: TenantKind::DISK,
        version: u32::from(version),
        known_version: u32::from(FORMAT_VERSION),
        geometry: None,
    }
}
