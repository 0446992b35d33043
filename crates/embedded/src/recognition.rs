//! What a part holds: the answers of all formats' crates, and of the label, as one.
//!
//! 1. Look for a label. Where there is one, it divides the part: ask every format about each tenant's range.
//! 2. Where there is none, ask every format about the whole part.
//!
//! Only formats whose crate's feature is on are asked. Nothing is programmed or erased: a part that lost power within a
//! call, or that is damaged, is left as it is.

use core::fmt;
use core::ops::Range;

use norn_flash::{
    LabelDevice, Nand, NandLabel, NandPartition, NandRangeError, Nor, NorLabel, NorPartition, NorRangeError,
    PartitionError, Recognised, TenantEntry,
};

/// What one range of a part holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartContent {
    /// Its erase units or blocks.
    pub range: Range<u16>,
    /// What the label says of it, if the label lists it.
    pub entry: Option<TenantEntry>,
    /// What is there. A range of the label is also reported where nothing is recognised in it, and where the part does
    /// not have it: the label may be another part's.
    pub recognised: Result<Option<Recognised>, PartitionError>,
}

impl fmt::Display for PartContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(entry) = &self.entry {
            let Range { start, end } = self.range;
            write!(f, "tenant \"{}\" ({}) in {start}..{end}: ", entry.name().escape_ascii(), entry.kind)?;
        }
        match &self.recognised {
            Ok(Some(recognised)) => recognised.fmt(f),
            Ok(None) => f.write_str("nothing that is known"),
            Err(error) => error.fmt(f),
        }
    }
}

/// Shows `visit` what a NOR part holds: its label, then each tenant in the label's order; without a label, each format
/// that is found on the whole part. Where neither is found, `visit` is not called.
///
/// Cost: at most 512 bytes read for the label, and 104 bytes of each unit.
///
/// ```
/// use norn_embedded::flash::{Label, LabelDevice, NorLabel, NorPartition, TenantKind};
/// use norn_embedded::heap::LogHeap;
/// use norn_embedded::recognise_nor;
/// use norn_flash_sim::{NorSim, catalogue}; // on a board, its driver
///
/// let mut part = NorSim::new(catalogue::test_part(16, 1024));
/// let mut label = Label::default();
/// label.add(b"purses", TenantKind::HEAP, 0..14).unwrap();
/// NorLabel(&mut part).store(&label).unwrap();
/// let range = NorPartition::new(&mut part, 0..14).unwrap();
/// LogHeap::<_, 16>::format(range).unwrap();
///
/// let mut lines = Vec::new();
/// recognise_nor(&mut part, |content| lines.push(content.to_string())).unwrap();
/// assert_eq!(lines[0], "a label with a partition table on 16 units or blocks of 1024 bytes");
/// assert_eq!(lines[1], "tenant \"purses\" (heap) in 0..14: a log-structured heap on 14 units of 1024 bytes");
/// ```
///
/// # Errors
/// The device's.
pub fn recognise_nor<D: Nor>(device: &mut D, mut visit: impl FnMut(PartContent)) -> Result<(), D::Error> {
    let count = device.part().unit_count;
    let Some((recognised, label)) = NorLabel(&mut *device).inspect()? else {
        return visit_nor_formats(device, |found| visit(on_all(count, found)));
    };
    visit(on_all(count, recognised));
    for &entry in label.tenants() {
        let mut found = None;
        let recognised = match NorPartition::new(&mut *device, entry.range()) {
            Ok(mut range) => match visit_nor_formats(&mut range, |format| keep_first(&mut found, format)) {
                Err(NorRangeError::Device(error)) => return Err(error),
                Err(NorRangeError::Outside { .. }) | Ok(()) => Ok(found),
            },
            Err(error) => Err(error),
        };
        visit(PartContent { range: entry.range(), entry: Some(entry), recognised });
    }
    Ok(())
}

/// Shows `visit` what a NAND part holds, as [`recognise_nor`] does. `buffer` is for the block device's format: it has
/// at least `disk::recognition_bytes`, or no block device is recognised.
///
/// Cost: three loads of each place of the label, a load of each block, and, for a block device, loads of pages up to
/// the first that belongs to its checkpoint.
///
/// # Errors
/// The device's.
pub fn recognise_nand<D: Nand>(
    device: &mut D,
    buffer: &mut [u8],
    mut visit: impl FnMut(PartContent),
) -> Result<(), D::Error> {
    let count = device.part().block_count;
    let Some((recognised, label)) = NandLabel(&mut *device).inspect()? else {
        return visit_nand_formats(device, buffer, |found| visit(on_all(count, found)));
    };
    visit(on_all(count, recognised));
    for &entry in label.tenants() {
        let mut found = None;
        let recognised = match NandPartition::new(&mut *device, entry.range()) {
            Ok(mut range) => match visit_nand_formats(&mut range, buffer, |format| keep_first(&mut found, format)) {
                Err(NandRangeError::Device(error)) => return Err(error),
                Err(NandRangeError::Outside { .. } | NandRangeError::NotLoaded) | Ok(()) => Ok(found),
            },
            Err(error) => Err(error),
        };
        visit(PartContent { range: entry.range(), entry: Some(entry), recognised });
    }
    Ok(())
}

fn on_all(count: u16, recognised: Recognised) -> PartContent {
    PartContent { range: 0..count, entry: None, recognised: Ok(Some(recognised)) }
}

/// A tenant has one format; data that another one left there is not looked at.
fn keep_first(found: &mut Option<Recognised>, recognised: Recognised) {
    found.get_or_insert(recognised);
}

#[cfg_attr(not(any(feature = "remap", feature = "heap", feature = "tinystore", feature = "index")), expect(unused))]
fn visit_nor_formats<D: Nor>(device: &mut D, mut visit: impl FnMut(Recognised)) -> Result<(), D::Error> {
    #[cfg(feature = "remap")]
    norn_nor_remap::recognise(device)?.into_iter().for_each(&mut visit);
    #[cfg(feature = "heap")]
    norn_log_heap::recognise(device)?.into_iter().for_each(&mut visit);
    #[cfg(feature = "tinystore")]
    norn_object_heap::recognise(device)?.into_iter().for_each(&mut visit);
    #[cfg(feature = "index")]
    norn_ordered_index::recognise(device)?.into_iter().for_each(&mut visit);
    Ok(())
}

#[cfg_attr(not(any(feature = "disk", feature = "code")), expect(unused))]
fn visit_nand_formats<D: Nand>(
    device: &mut D,
    buffer: &mut [u8],
    mut visit: impl FnMut(Recognised),
) -> Result<(), D::Error> {
    // Programs may lie beside pages that an older block device left; formatting a block device erases all programs.
    #[cfg(feature = "code")]
    norn_code_pager::recognise(device)?.into_iter().for_each(&mut visit);
    #[cfg(feature = "disk")]
    norn_nand_ftl::recognise(device, buffer)?.into_iter().for_each(&mut visit);
    Ok(())
}
