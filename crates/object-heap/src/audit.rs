//! The heap's part of the checker: walks every object, array and root, and asserts what `format` states.

use norn_flash::{Auditor, EraseUnit, Marks, Nor, Violation};
use norn_heap::{AccessError, Listener};
use norn_nor_store::{Features, Link, Role, Sector, SectorKind, SectorPtr, StoreError, TreeId, UnitRows};

use crate::form::{Array, Object, ObjectForm};
use crate::format::{VALID_FLAGS_OFFSET, codes_offset, data_offset, flag_place};
use crate::heap::HeapIn;
use crate::notify::BucketPlace;

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// Walks everything on flash and reports each invariant that does not hold to `auditor`.
    ///
    /// Cost: reads the whole part about twice.
    ///
    /// # Errors
    /// The device's. Damage is reported, not returned.
    pub fn audit(&mut self, auditor: &mut (impl Auditor + Marks<SectorPtr>)) -> Result<(), AccessError<D::Error>> {
        self.sectors().audit_units(auditor)?;
        for tree in [TreeId::Ref, TreeId::Name, TreeId::Notify] {
            let root = self.store().tree(tree);
            self.store_mut().trees().audit(auditor, root)?;
            let mut from = 0;
            loop {
                let next = self.store_mut().trees().next(root, from);
                let Some((key, leaf)) = self.reported(auditor, next)?.flatten() else {
                    break;
                };
                let audited = match tree {
                    TreeId::Ref => self.audit_object(auditor, key, leaf),
                    TreeId::Name => self.audit_root(auditor, key, leaf),
                    TreeId::Notify => self.audit_bucket(auditor, key, leaf),
                };
                self.reported(auditor, audited)?;
                from = key + 1;
            }
        }
        Ok(self.sectors().audit_reachability(auditor)?)
    }

    /// A bucket belongs to a unit with sectors, and names each object that it names once.
    fn audit_bucket(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        key: u32,
        leaf: SectorPtr,
    ) -> Result<(), StoreError<D::Error>> {
        if !self.sectors().audit_sector(auditor, leaf, SectorKind::Leaf)? {
            return Ok(());
        }
        let is_unit = key < u32::from(self.store().part().unit_count);
        if !is_unit || !matches!(self.store().role(EraseUnit(key as u16)), Role::Data(_)) {
            self.sectors().report(auditor, leaf, "a bucket of a unit without sectors");
        }
        let bucket = self.sectors().get(leaf)?;
        if self.sectors().link(&bucket)? != Link::Erased {
            self.sectors().report(auditor, leaf, "a bucket that begins with a link");
        }
        let (mut live, mut ended) = (0, false);
        for at in self.pointers().places(&bucket) {
            let place = self.pointers().read_place(&bucket, at)?;
            if ended && place != BucketPlace::Erased {
                self.sectors().report(auditor, leaf, "places of a bucket taken out of order");
            }
            ended |= place == BucketPlace::Erased;
            let BucketPlace::Taken(reference) = place else {
                continue;
            };
            live += 1;
            for other in self.pointers().places(&bucket).filter(|&other| other > at) {
                if self.pointers().read_place(&bucket, other)? == place {
                    self.sectors().report(auditor, leaf, "a reference twice in a bucket");
                }
            }
            match self.look_up(reference) {
                Ok(_) => {}
                Err(AccessError::Store(error)) => return Err(error),
                Err(_) => self.sectors().report(auditor, leaf, "a bucket with a stale reference"),
            }
        }
        if live == 0 {
            self.sectors().report(auditor, leaf, "an empty bucket");
        }
        Ok(())
    }

    fn audit_root(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        key: u32,
        leaf: SectorPtr,
    ) -> Result<(), StoreError<D::Error>> {
        if self.sectors().audit_sector(auditor, leaf, SectorKind::Leaf)? {
            self.checked().read_root(key, leaf)?;
        }
        Ok(())
    }

    fn audit_object(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        slot: u32,
        leaf: SectorPtr,
    ) -> Result<(), StoreError<D::Error>> {
        if !self.sectors().audit_sector(auditor, leaf, SectorKind::Leaf)? {
            return Ok(());
        }
        let named = self.descriptors().read_descriptor(leaf, slot, false)?;
        if let Some(header) = named.header() {
            self.sectors().audit_sector(auditor, header, SectorKind::Opaque)?;
            self.checked().expect_widths(header, named.widths_bytes())?;
            let sector = self.sectors().get(header)?;
            self.checked().expect_header(&sector, named.widths_bytes())?;
        }
        match named {
            ObjectForm::List(object) => self.audit_list(auditor, &object),
            ObjectForm::Split(array) => self.audit_split(auditor, &array),
        }
    }

    /// A split array has each of its sections, and nothing else in its tree.
    fn audit_split(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        array: &Array,
    ) -> Result<(), StoreError<D::Error>> {
        self.store_mut().trees().audit(auditor, array.tree)?;
        let mut expected = 0;
        while let Some((number, leaf)) = self.store_mut().trees().next(array.tree, expected)? {
            if number != expected || number >= array.sections() {
                self.sectors().report(auditor, leaf, "a section out of its array");
                break;
            }
            if self.sectors().audit_sector(auditor, leaf, SectorKind::Leaf)? {
                let section = self.descriptors().section(array, number)?;
                self.audit_list(auditor, &section)?;
            }
            expected += 1;
        }
        if expected != array.sections()
            && let Some(node) = array.tree.node
        {
            self.sectors().report(auditor, node, "an array without one of its sections");
        }
        Ok(())
    }

    fn audit_list(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        object: &Object,
    ) -> Result<(), StoreError<D::Error>> {
        let (leaf, leaf_bytes) = (self.sectors().get(object.leaf)?, object.leaf_bytes(self.detection()));
        if self.detects() && !self.checked().is_erased(&leaf, leaf_bytes, leaf.bytes.saturating_sub(leaf_bytes))? {
            self.sectors().report(auditor, object.leaf, "padding that is not erased");
        }
        let mut record = Some(object.first);
        let mut position = 0;
        while let Some(pointer) = record {
            position += 1;
            let deltas = self.lists().deltas(object)?.sector().is_some() && position > 1;
            let kind = if deltas { SectorKind::Opaque } else { SectorKind::Record };
            if !self.sectors().audit_sector(auditor, pointer, kind)? {
                return Ok(());
            }
            if deltas {
                self.lists().audit_deltas(auditor, object, pointer)?;
                let sector = self.sectors().get(pointer)?;
                record = self.lists().next_record(&sector, position)?;
                continue;
            }
            let sector = self.lists().record(pointer)?;
            if sector.bytes
                < data_offset(object.shape.count, self.detection()) + self.descriptors().data_bytes(object)?
            {
                self.sectors().report(auditor, pointer, "a record too small for its fields");
            }
            self.audit_padding(auditor, object, &sector)?;
            record = self.lists().next_record(&sector, position)?;
        }
        self.audit_fields(auditor, object)
    }

    /// With error detection, bytes between and after the parts of a record are erased.
    fn audit_padding(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        object: &Object,
        record: &Sector,
    ) -> Result<(), StoreError<D::Error>> {
        let count = object.shape.count;
        let data = data_offset(count, self.detection());
        let end = data + self.descriptors().data_bytes(object)?;
        for padding in [codes_offset(count) + u32::from(count)..data, end..record.bytes] {
            let bytes = padding.end.saturating_sub(padding.start);
            if self.detects() && !self.checked().is_erased(record, padding.start, bytes)? {
                let address = record.address.offset(padding.start);
                auditor.violation(Violation { address, what: "padding that is not erased" });
            }
        }
        Ok(())
    }

    /// Every field has a value: by default, or in the first record whose flag says so.
    fn audit_fields(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        object: &Object,
    ) -> Result<(), StoreError<D::Error>> {
        let mut end = 0;
        for index in 0..usize::from(object.shape.count) {
            let field = self.descriptors().field(object, index)?;
            end = field.offset + field.width;
            let holder = self.lists().find_value(object, &field)?;
            if holder.is_none() || self.descriptors().is_default(object, index)? {
                let first = self.lists().record(object.first)?;
                if !self.descriptors().read_flag(&first, VALID_FLAGS_OFFSET, index)? {
                    self.sectors().report(auditor, object.first, "an invalid value of a field that was never set");
                }
            }
            if let Some(holder) = holder {
                self.audit_half_flags(auditor, object, index, holder.half)?;
                let checked = self.lists().check_value(object, index);
                self.reported(auditor, checked)?;
            }
        }
        if end != self.descriptors().data_bytes(object)? {
            self.sectors().report(auditor, object.leaf, "widths that do not add up to the data");
        }
        Ok(())
    }

    /// A flag that is half cleared reads as it should; a power cut may have left it, or a bit of it was flipped.
    fn audit_half_flags(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        object: &Object,
        index: usize,
        record: Option<Sector>,
    ) -> Result<(), StoreError<D::Error>> {
        let detection = self.detection();
        let (at, _) = flag_place(index as u32, detection);
        let what = "a flag that is half cleared, by a power cut or a flipped bit: it counts as cleared";
        if let Some(record) = record {
            auditor.notice(Violation { address: record.address.offset(VALID_FLAGS_OFFSET + at), what });
        }
        let (leaf, flags_at) = (self.sectors().get(object.leaf)?, object.flags_offset(detection));
        if object.shape.form.has_flags() && self.descriptors().is_half_cleared(&leaf, flags_at, index)? {
            auditor.notice(Violation { address: leaf.address.offset(flags_at + at), what });
        }
        Ok(())
    }

    /// Turns damage into a violation and `None`.
    fn reported<T>(
        &mut self,
        auditor: &mut (impl Auditor + Marks<SectorPtr>),
        result: Result<T, StoreError<D::Error>>,
    ) -> Result<Option<T>, StoreError<D::Error>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(StoreError::Corrupted) => {
                self.sectors().report_corruption(auditor);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
