//! What a mount says that finds nothing of its own on a part: that it is blank, or which other format is there.
//!
//! Each format begins its erase units, or its blocks' first pages, with a few bytes of its own. These are compared, and
//! nothing else of the other format is linked into the program.
//!
//! Where a head of the own format is left, formatting was cut short, whatever else there is. A part that fails to be
//! read meanwhile is as one that is blank: the mount has read it before, and knows what it knows.

use core::ffi::c_int;
use core::ops::Range;

use norn_flash::{Block, EraseUnit, FORMAT_HEAD_BYTES, Nand, Nor, format_of_head};

use crate::error::norn_error::*;
use crate::error::{Failure, norn_failure};

/// Heads of a part, one after the other.
struct Heads {
    own: &'static str,
    other: Option<&'static str>,
    has_own: bool,
}

impl Heads {
    fn of(own: &'static str) -> Heads {
        Heads { own, other: None, has_own: false }
    }

    fn see(&mut self, head: &[u8; FORMAT_HEAD_BYTES]) {
        match format_of_head(head) {
            Some(format) if format == self.own => self.has_own = true,
            Some(format) => _ = self.other.get_or_insert(format),
            None => {}
        }
    }

    fn explain(self, failure: norn_failure) -> norn_failure {
        match self.other {
            Some(other) if !self.has_own => Failure::new(NORN_ERROR_OTHER_FORMAT).shown().saying(other),
            _ => failure,
        }
    }
}

fn is_not_formatted(failure: &norn_failure) -> bool {
    failure.error == NORN_ERROR_NOT_FORMATTED as c_int
}

/// Why a mount of the format `own` failed on a NOR part. Cost where none was found: a read for each erase unit.
#[inline(never)]
pub(crate) fn explained_on_nor<D: Nor>(failure: norn_failure, mut device: D, own: &'static str) -> norn_failure {
    if !is_not_formatted(&failure) {
        return failure;
    }
    let (part, mut heads) = (device.part(), Heads::of(own));
    for unit in (0..part.unit_count).map(EraseUnit) {
        let mut head = [0; FORMAT_HEAD_BYTES];
        if device.read(part.start_of(unit), &mut head).is_ok() {
            heads.see(&head);
        }
    }
    heads.explain(failure)
}

/// Why a mount of the format `own` failed on some blocks of a NAND part. Cost where none was found: a load for each of
/// them.
#[inline(never)]
pub(crate) fn explained_on_nand<D: Nand>(
    failure: norn_failure,
    mut device: D,
    blocks: Range<u16>,
    own: &'static str,
) -> norn_failure {
    if !is_not_formatted(&failure) {
        return failure;
    }
    let mut heads = Heads::of(own);
    for block in blocks.map(Block) {
        let mut head = [0; FORMAT_HEAD_BYTES];
        if device.load(block.page(0)).is_ok() && device.fetch(&mut head).is_ok() {
            heads.see(&head);
        }
    }
    heads.explain(failure)
}
