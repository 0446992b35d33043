//! All that a heap holds, in memory: how it is read, and how it is put into an empty heap.

use std::collections::{BTreeMap, BTreeSet};

use norn_heap::{AccessError, Kind, Layout, ObjectHeap, PlacementError, Ref};

use crate::failure::HeapFailure;
use crate::heap::{ImageHeap, LogStructuredHeap};
use crate::part::PartError;

/// All that an object or array holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// Which it is.
    pub kind: Kind,
    /// Bytes of each field; of an array the one width of its elements.
    pub widths: Vec<u8>,
    /// Number of fields or elements.
    pub count: usize,
    /// The header.
    pub header: Vec<u8>,
    /// All values, one after the other.
    pub values: Vec<u8>,
}

/// All that a heap holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Objects and arrays.
    pub objects: BTreeMap<Ref, Content>,
    /// Roots by name.
    pub roots: BTreeMap<Vec<u8>, Ref>,
}

impl Contents {
    /// All that a heap holds.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(heap: &mut ImageHeap<'_>) -> Result<Contents, HeapFailure> {
        let (mut contents, mut after) = (Contents::default(), None);
        while let Some(reference) = heap.next_object(after)? {
            contents.objects.insert(reference, Content::read(heap, reference)?);
            after = Some(reference);
        }
        heap.visit_roots(|name, reference| {
            contents.roots.insert(name.to_vec(), reference);
        })?;
        Ok(contents)
    }

    /// Gives what is in here the references that it has in the new heap.
    pub(crate) fn rename(&mut self, changed: &BTreeMap<Ref, Ref>) {
        let now = |reference: Ref| changed.get(&reference).copied().unwrap_or(reference);
        self.objects =
            std::mem::take(&mut self.objects).into_iter().map(|(old, content)| (now(old), content)).collect();
        self.roots.values_mut().for_each(|reference| *reference = now(*reference));
    }

    /// The first thing in which this differs from what is expected.
    pub(crate) fn difference(&self, expected: &Contents) -> Option<String> {
        let references: BTreeSet<&Ref> = self.objects.keys().chain(expected.objects.keys()).collect();
        let differs = |reference: &&&Ref| self.objects.get(reference) != expected.objects.get(reference);
        match references.iter().find(differs) {
            Some(reference) => Some(format!("{reference}")),
            None if self.roots != expected.roots => Some("its roots".to_owned()),
            None => None,
        }
    }
}

/// Bytes that are written at once.
const PIECE_BYTES: usize = 240;

impl Content {
    fn read(heap: &mut ImageHeap<'_>, reference: Ref) -> Result<Content, HeapFailure> {
        let info = heap.info(reference)?;
        let mut header = vec![0; info.header_bytes];
        heap.read_header(reference, &mut header)?;
        let (mut widths, mut values) = (Vec::new(), Vec::new());
        match info.kind {
            Kind::Array => {
                widths.push(heap.width(reference, 0)? as u8);
                values.resize(info.data_bytes as usize, 0);
                heap.array_read(reference, 0, &mut values)?;
            }
            Kind::Object => {
                for index in 0..info.count {
                    let (width, start) = (heap.width(reference, index)?, values.len());
                    widths.push(width as u8);
                    values.resize(start + width, 0);
                    heap.get_field(reference, index, &mut values[start..])?;
                }
            }
        }
        Ok(Content { kind: info.kind, widths, count: info.count, header, values })
    }

    fn array_width(&self) -> u8 {
        self.widths[0]
    }

    /// Slots that it takes in a log-structured heap.
    pub(crate) fn slots_in(&self, heap: &LogStructuredHeap<'_>) -> u32 {
        match self.kind {
            Kind::Object => 1,
            Kind::Array => heap.array_slots(self.count, self.array_width(), &self.header),
        }
    }

    fn layout(&self) -> Layout<'_> {
        Layout::fields(&self.widths).with_header(&self.header)
    }

    pub(crate) fn create_at(&self, heap: &mut ImageHeap<'_>, reference: Ref) -> Result<(), PlacementError<PartError>> {
        match self.kind {
            Kind::Object => heap.create_at(reference, self.layout()),
            Kind::Array => heap.create_array_at(reference, (self.count, self.array_width()), &self.header),
        }
    }

    pub(crate) fn create(&self, heap: &mut ImageHeap<'_>) -> Result<Ref, HeapFailure> {
        Ok(match self.kind {
            Kind::Object => heap.create(self.layout())?,
            Kind::Array => heap.create_array(self.count, self.array_width(), &self.header)?,
        })
    }

    /// Sets the values of what was just created, which are zeros.
    pub(crate) fn fill(&self, heap: &mut ImageHeap<'_>, reference: Ref) -> Result<(), HeapFailure> {
        match self.kind {
            _ if self.values.iter().all(|&byte| byte == 0) => Ok(()),
            Kind::Object => Ok(heap.put_fields(reference, 0, &self.values)?),
            Kind::Array => Ok(self.fill_array(heap, reference)?),
        }
    }

    /// In pieces: the image is not there before all of them are, and a large piece may be too large a transaction.
    fn fill_array(&self, heap: &mut ImageHeap<'_>, array: Ref) -> Result<(), AccessError<PartError>> {
        let width = usize::from(self.array_width());
        let elements = (PIECE_BYTES / width).max(1);
        for (number, piece) in self.values.chunks(elements * width).enumerate() {
            if piece.iter().any(|&byte| byte != 0) {
                heap.array_write(array, number * elements, piece)?;
            }
        }
        Ok(())
    }
}

/// A reference that was found to be available is.
pub(crate) fn placement_failure(error: PlacementError<PartError>) -> HeapFailure {
    match error {
        PlacementError::Create(error) => error.into(),
        PlacementError::Unavailable(reference) => HeapFailure::Access(AccessError::Stale(reference)),
    }
}

/// The references that the engine of `heap` cannot give.
pub(crate) fn references_not_kept(heap: &ImageHeap<'_>, contents: &Contents) -> BTreeSet<Ref> {
    let ImageHeap::Log(heap) = heap else { return BTreeSet::new() };
    let slots: BTreeSet<u32> = contents.objects.keys().map(|reference| u32::from(reference.slot())).collect();
    let is_kept = |(&reference, content): (&Ref, &Content)| {
        let (first, taken) = (u32::from(reference.slot()), content.slots_in(heap));
        let has_room = first + taken <= Ref::SLOTS && slots.range(first + 1..first + taken).next().is_none();
        LogStructuredHeap::can_name(reference) && has_room
    };
    contents.objects.iter().filter(|&object| !is_kept(object)).map(|(&reference, _)| reference).collect()
}

/// Sets the roots; where one fails, its name is returned, too.
pub(crate) fn set_roots(heap: &mut ImageHeap<'_>, contents: &Contents) -> Result<(), (Vec<u8>, HeapFailure)> {
    contents.roots.iter().try_for_each(|(name, &reference)| {
        let set = heap.set_root(name, Some(reference));
        set.map_err(|error| (name.clone(), HeapFailure::from(error).placed(heap)))
    })
}

/// Says that nothing is in progress, where an engine has a way to.
pub(crate) fn rest(heap: &mut ImageHeap<'_>) -> Result<(), HeapFailure> {
    match heap {
        ImageHeap::Log(heap) => Ok(heap.rest()?),
        ImageHeap::TinyStore(_) => Ok(()),
    }
}
