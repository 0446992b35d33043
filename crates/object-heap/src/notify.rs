//! Notification: which pointers into flash a running program holds, and when it hears that they are no longer valid.
//!
//! The store's notify tree has, for each physical unit into which there are such pointers, a *bucket*: a leaf with the
//! references of the objects that they point to (section 5.4). A reference is noted before a pointer is returned; it is
//! removed, and the listener notified,
//! 1. when a call is about to change or free the values or the header that a pointer shows (`forget_…`): from the
//!    bucket of their unit, by programming zeros over it, which is no part of any transaction;
//! 2. at the end of every call, for each unit that a reclamation has moved meanwhile, with the whole bucket
//!    (`conclude`). The store has marked these units.
//!
//! A bucket that 1 leaves empty is marked, too. Marked units' buckets leave the tree at the end of the call, in a
//! transaction of their own; while the client has one open they are emptied, and leave the tree when it ends.
//!
//! Invariants: between calls, a reference whose pointers are valid is in the bucket of each unit into which they point;
//! the values that a pointer shows are all those of a list of records, in one record, and none is there by default.
//! Outside a transaction no bucket is empty and no unit is marked that has one, unless the part is too full to take the
//! bucket out: then later calls try again. When the tree is empty nothing here touches the device.
//!
//! All of it concerns a running program: a mount empties the tree.

use norn_flash::{Address, EraseUnit, Nor};
use norn_heap::{Listener, Ref};
use norn_nor_store::{
    Features, Room, Sector, SectorKind, SectorPtr, SectorSpec, Sectors, StoreError, StoreIn, TreeId, UnitRows,
};

use crate::form::{Object, ObjectForm};
use crate::format::{BUCKET_LAST_REFERENCE, BUCKET_REFERENCES_OFFSET};
use crate::list::Lists;

const REFERENCE_BYTES: u32 = 4;
/// Bytes of the smallest bucket; others have a multiple.
pub(crate) const BUCKET_BYTES_MIN: u32 = 32;

/// What a walk over a bucket finds.
#[derive(Clone, Copy, Debug, Default)]
struct BucketSurvey {
    /// References in it.
    live: u32,
    /// Where the wanted reference is.
    found: Option<u32>,
    /// The first place that is erased.
    free: Option<u32>,
}

/// What is at a place of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BucketPlace {
    Erased,
    Cleared,
    Taken(Ref),
}

impl BucketPlace {
    /// How a reference is stored in a bucket: never as an erased place.
    fn encode(reference: Ref) -> [u8; REFERENCE_BYTES as usize] {
        match reference.bits() {
            u32::MAX => BUCKET_LAST_REFERENCE.to_le_bytes(),
            bits => bits.to_le_bytes(),
        }
    }

    fn decode(bytes: [u8; REFERENCE_BYTES as usize]) -> Option<BucketPlace> {
        match u32::from_le_bytes(bytes) {
            u32::MAX => Some(BucketPlace::Erased),
            0 => Some(BucketPlace::Cleared),
            BUCKET_LAST_REFERENCE => Ref::from_bits(u32::MAX).map(BucketPlace::Taken),
            bits => Ref::from_bits(bits).map(BucketPlace::Taken),
        }
    }
}

/// What becomes of the buckets of marked units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkedBuckets {
    /// They are emptied: the client has a transaction open.
    Stay,
    /// They leave the tree, too.
    Leave,
}

/// The pointers that a program holds, and whom to notify.
#[derive(Clone, Debug)]
pub(crate) struct Pointers<D: Nor, M: UnitRows, L, F> {
    pub lists: Lists<D, M, F>,
    listener: L,
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> Pointers<D, M, L, F> {
    pub fn new(store: StoreIn<D, M, F>, listener: L) -> Self {
        Pointers { lists: Lists::new(store), listener }
    }

    pub fn listener(&self) -> &L {
        &self.listener
    }

    pub fn listener_mut(&mut self) -> &mut L {
        &mut self.listener
    }

    fn store(&self) -> &StoreIn<D, M, F> {
        &self.lists.descriptors.checked.store
    }

    fn store_mut(&mut self) -> &mut StoreIn<D, M, F> {
        &mut self.lists.descriptors.checked.store
    }

    fn sectors(&mut self) -> &mut Sectors<D, M, F> {
        self.store_mut().sectors()
    }

    fn detects(&self) -> bool {
        self.lists.descriptors.detects()
    }

    /// Whether no pointer with notification is outstanding. Cost: RAM only.
    fn has_no_pointers(&self) -> bool {
        !L::LISTENS || self.store().tree(TreeId::Notify).node.is_none()
    }

    pub(crate) fn unit_of(&self, address: Address) -> EraseUnit {
        self.store().part().unit_of(address)
    }

    /// Case 1: the values of a list of records are about to change, or to be freed.
    pub(crate) fn forget_values(&mut self, list: &Object) -> Result<(), StoreError<D::Error>> {
        // There are no pointers to what the open transaction has made.
        if self.has_no_pointers() || list.fresh {
            return Ok(());
        }
        match self.lists.whole_record(list)? {
            Some(record) => self.forget_in(self.unit_of(record.address), list.reference),
            None => Ok(()),
        }
    }

    /// Case 1: a header is about to be replaced or freed.
    pub(crate) fn forget_header(
        &mut self,
        reference: Ref,
        header: Option<SectorPtr>,
    ) -> Result<(), StoreError<D::Error>> {
        let Some(header) = header.filter(|_| !self.has_no_pointers()) else {
            return Ok(());
        };
        let sector = self.sectors().get(header)?;
        self.forget_in(self.unit_of(sector.address), reference)
    }

    /// Case 1: an object or array is about to be deleted.
    pub(crate) fn forget_all(&mut self, named: &ObjectForm) -> Result<(), StoreError<D::Error>> {
        match named {
            ObjectForm::List(object) => {
                self.forget_values(object)?;
                self.forget_header(object.reference, object.header)
            }
            ObjectForm::Split(array) => {
                // Its sections may be in any units: there are at most as many buckets.
                let mut from = 0;
                loop {
                    let root = self.store().tree(TreeId::Notify);
                    let Some((key, _)) = self.store_mut().trees().next(root, from)? else {
                        return Ok(());
                    };
                    self.forget_in(EraseUnit(key as u16), array.reference)?;
                    from = key + 1;
                }
            }
        }
    }

    /// Takes a reference out of the bucket of a unit, if it is there.
    fn forget_in(&mut self, unit: EraseUnit, reference: Ref) -> Result<(), StoreError<D::Error>> {
        let Some(bucket) = self.bucket(unit)? else {
            return Ok(());
        };
        let survey = self.survey_bucket(&bucket, reference)?;
        if let Some(at) = survey.found {
            self.listener.invalidated(reference);
            self.program_place(&bucket, at, [0; REFERENCE_BYTES as usize])?;
            if survey.live == 1 {
                self.store_mut().mark_unit(unit);
            }
        }
        Ok(())
    }

    /// Case 2: ends a call, whose result this returns unless the notification fails.
    pub(crate) fn conclude<T, E>(&mut self, result: Result<T, E>, buckets: MarkedBuckets) -> Result<T, E>
    where
        E: From<StoreError<D::Error>>,
    {
        if self.has_no_pointers() {
            return result;
        }
        if self.store().is_halted() {
            self.listener.all_invalidated();
            return result;
        }
        let cleared = self.clear_marked_buckets(buckets);
        if cleared.is_err() {
            self.listener.all_invalidated();
        }
        cleared.map_err(E::from).and(result)
    }

    fn clear_marked_buckets(&mut self, buckets: MarkedBuckets) -> Result<(), StoreError<D::Error>> {
        let mut from = 0;
        while let Some(unit) = self.store().next_marked_unit(from) {
            self.empty_bucket(unit)?;
            let may_remove = buckets == MarkedBuckets::Leave && !self.store().transaction_is_open();
            if may_remove && self.remove_bucket(unit)? {
                self.store_mut().clear_unit_mark(unit);
                from = 0; // The removal may have moved others.
            } else {
                from = unit.0 + 1;
            }
        }
        Ok(())
    }

    /// Notifies of all that is in a unit's bucket.
    fn empty_bucket(&mut self, unit: EraseUnit) -> Result<(), StoreError<D::Error>> {
        let Some(bucket) = self.bucket(unit)? else {
            return Ok(());
        };
        for at in self.places(&bucket) {
            if let BucketPlace::Taken(reference) = self.read_place(&bucket, at)? {
                self.listener.invalidated(reference);
                self.program_place(&bucket, at, [0; REFERENCE_BYTES as usize])?;
            }
        }
        Ok(())
    }

    /// Takes a unit's bucket out of the tree; `false` where there is no room for that.
    fn remove_bucket(&mut self, unit: EraseUnit) -> Result<bool, StoreError<D::Error>> {
        let removed = match self.store_mut().make_log_room() {
            Ok(()) => self.store_mut().trees().put(TreeId::Notify, u32::from(unit.0), None, Room::Reserved),
            Err(error) => Err(error),
        };
        match removed.and_then(|()| self.store_mut().commit()) {
            Ok(()) => Ok(true),
            Err(StoreError::Full | StoreError::TransactionTooLarge) => self.store_mut().abort().map(|()| false),
            Err(error) => Err(error),
        }
    }

    /// Notes that there is a pointer into `unit`, to the object `reference`, if the unit's bucket has room for it.
    pub(crate) fn note(&mut self, unit: EraseUnit, reference: Ref) -> Result<bool, StoreError<D::Error>> {
        if self.has_no_pointers() {
            self.store_mut().clear_unit_marks();
        }
        let Some(bucket) = self.bucket(unit)? else {
            return Ok(false);
        };
        let survey = self.survey_bucket(&bucket, reference)?;
        match (survey.found, survey.free) {
            (Some(_), _) => Ok(true),
            (None, Some(at)) => {
                self.program_place(&bucket, at, BucketPlace::encode(reference))?;
                // A bucket that was emptied and found no room to leave the tree may stay now.
                self.store_mut().clear_unit_mark(unit);
                Ok(true)
            }
            (None, None) => Ok(false),
        }
    }

    /// Rewrites a bucket, with one more reference and room for half as many again, and a few.
    pub(crate) fn write_bucket(&mut self, unit: EraseUnit, reference: Ref) -> Result<(), StoreError<D::Error>> {
        let live = match self.bucket(unit)? {
            Some(bucket) => self.survey_bucket(&bucket, reference)?.live,
            None => 0,
        };
        let bytes =
            (BUCKET_REFERENCES_OFFSET + (live + live / 2 + 1) * self.place_bytes()).next_multiple_of(BUCKET_BYTES_MIN);
        let leaf = self.store_mut().space().allocate(SectorSpec { bytes, kind: SectorKind::Leaf }, Room::Ordinary)?;
        let to = self.sectors().get(leaf)?;
        let mut at = BUCKET_REFERENCES_OFFSET;
        // The allocation may have moved the old bucket.
        if let Some(old) = self.bucket(unit)? {
            for place in self.places(&old) {
                if let BucketPlace::Taken(other) = self.read_place(&old, place)? {
                    self.program_place(&to, at, BucketPlace::encode(other))?;
                    at += self.place_bytes();
                }
            }
        }
        self.program_place(&to, at, BucketPlace::encode(reference))?;
        self.store_mut().trees().put(TreeId::Notify, u32::from(unit.0), Some(leaf), Room::Ordinary)
    }

    /// The bucket of a unit, if there is one. Cost: *h*(3+*s*) reads on the notify tree, and 1.
    fn bucket(&mut self, unit: EraseUnit) -> Result<Option<Sector>, StoreError<D::Error>> {
        let root = self.store().tree(TreeId::Notify);
        match self.store_mut().trees().get(root, u32::from(unit.0))? {
            Some(found) => self.sectors().get(found.pointer).map(Some),
            None => Ok(None),
        }
    }

    fn survey_bucket(&mut self, bucket: &Sector, wanted: Ref) -> Result<BucketSurvey, StoreError<D::Error>> {
        let mut survey = BucketSurvey::default();
        for at in self.places(bucket) {
            match self.read_place(bucket, at)? {
                BucketPlace::Erased => {
                    survey.free = Some(at);
                    break; // Places are taken in order.
                }
                BucketPlace::Cleared => {}
                BucketPlace::Taken(reference) => {
                    survey.live += 1;
                    if reference == wanted {
                        survey.found = Some(at);
                    }
                }
            }
        }
        Ok(survey)
    }

    /// What is in a bucket at `at`. Cost: 1 read, 2 with error detection.
    pub(crate) fn read_place(&mut self, bucket: &Sector, at: u32) -> Result<BucketPlace, StoreError<D::Error>> {
        let mut copies = [[0; REFERENCE_BYTES as usize]; 2];
        for (copy, at) in copies.iter_mut().zip((at..at + self.place_bytes()).step_by(REFERENCE_BYTES as usize)) {
            self.sectors().read(bucket, at, copy)?;
        }
        match BucketPlace::decode(copies[0]) {
            Some(place) if copies[0] == copies[1] || !self.detects() => Ok(place),
            _ => self.sectors().corrupted(bucket.address.offset(at), "a bucket with an impossible reference"),
        }
    }

    /// Programs a place of a bucket: with error detection each entry is stored twice.
    fn program_place(
        &mut self,
        bucket: &Sector,
        at: u32,
        [a, b, c, d]: [u8; REFERENCE_BYTES as usize],
    ) -> Result<(), StoreError<D::Error>> {
        let (bytes, len) = ([a, b, c, d, a, b, c, d], self.place_bytes() as usize);
        self.sectors().program(bucket, at, &bytes[..len])
    }

    fn place_bytes(&self) -> u32 {
        if self.detects() { 2 * REFERENCE_BYTES } else { REFERENCE_BYTES }
    }

    /// Where references may be in a bucket.
    pub(crate) fn places(&self, bucket: &Sector) -> impl DoubleEndedIterator<Item = u32> + use<D, M, L, F> {
        let (from, step) = (BUCKET_REFERENCES_OFFSET, self.place_bytes());
        let count = (bucket.bytes - from) / step;
        (0..count).map(move |number| from + number * step)
    }
}

#[cfg(test)]
mod tests {
    //! Proves that no reference is taken for a place without one.
    use super::*;

    #[test]
    fn places_round_trip() {
        for bits in [0x0001_0000, 0x0001_FFFF, 0x1234_5678, 0xFFFF_0000, 0xFFFF_FFFE, u32::MAX] {
            let reference = Ref::from_bits(bits).unwrap();
            assert_eq!(
                BucketPlace::decode(BucketPlace::encode(reference)),
                Some(BucketPlace::Taken(reference)),
                "{bits:#x}"
            );
        }
        assert_eq!(BucketPlace::decode([0xFF; 4]), Some(BucketPlace::Erased));
        assert_eq!(BucketPlace::decode([0; 4]), Some(BucketPlace::Cleared));
        assert_eq!(BucketPlace::decode([1, 0, 0, 0]), None);
    }
}
