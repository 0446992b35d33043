//! The copy of a heap to an image of the other engine.
//!
//! 1. Open the old image, and work on a copy of it in memory, so that the file is left as it is. Mount that, audit it,
//!    and read everything in it.
//! 2. Format a part in memory for the other engine. Objects keep their references where that engine can give them: they
//!    hold each other's, and the heap does not know in which fields. What cannot keep its reference is listed, and
//!    unless the caller agrees, nothing is made.
//! 3. Create what keeps its reference, then the rest, then roots.
//! 4. Mount the new part, audit it, and compare everything, object by object.
//! 5. Save it. The image appears at once, complete.
//!
//! A log-structured heap cannot give references of slot 0, which has its roots, nor of generation 65,535; and an array
//! that it keeps in several sections takes the slots after its own, which have to be free. TinyStore's structure can
//! give every reference.
//!
//! References to what was deleted stay stale, as long as the new heap does not come to give them: a log-structured heap
//! counts each slot's generations on from the largest one of the old heap, up to its largest slot; TinyStore's goes on
//! from the largest generation in use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use norn_flash_sim::{ImageError, NorSim, PartSpec};
use norn_heap::{AccessError, Kind, Layout, ObjectHeap, PlacementError, Ref};

use crate::audit::audit;
use crate::engine::{Engine, Format};
use crate::failure::{HeapFailure, HeapImageError};
use crate::heap::{ImageHeap, LogStructuredHeap};
use crate::image::{formatted, mount};
use crate::part::PartError;

/// What to convert, and to what.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The image to copy, which is left as it is.
    pub old: PathBuf,
    /// The image to make; there must be none of this name.
    pub new: PathBuf,
    /// The part of the new image; the old one's if left out.
    pub part: Option<PartSpec>,
    /// Which references may change.
    pub references: References,
}

/// Which references may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum References {
    /// None: where one cannot be kept, nothing is made.
    AllKept,
    /// Those that the other engine cannot give.
    KeptWherePossible,
}

/// What came of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The new image is there.
    Made(Converted),
    /// Nothing was made, because these references cannot be kept.
    Refused {
        /// The engine that cannot give them.
        to: Engine,
        /// The references.
        references: Vec<Ref>,
    },
}

/// What was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The old image's engine.
    pub from: Engine,
    /// The new image's engine.
    pub to: Engine,
    /// Number of objects.
    pub objects: usize,
    /// Number of arrays.
    pub arrays: usize,
    /// Number of roots.
    pub roots: usize,
    /// References that were not kept, and what they are now.
    pub changed: Vec<(Ref, Ref)>,
    /// Roots that led to something deleted, and are not there any more.
    pub stale_roots: Vec<Vec<u8>>,
}

/// Why a heap was not converted. There is no new image then.
#[derive(Debug, thiserror::Error)]
pub enum ConversionError {
    /// One of the images failed.
    #[error(transparent)]
    Image(#[from] HeapImageError),
    /// The old heap is damaged.
    #[error(
        "{}: the heap has violations, {count} of them: `norn heap check {}` lists them",
        image.display(),
        image.display()
    )]
    Violations {
        /// The old image.
        image: PathBuf,
        /// How many.
        count: usize,
    },
    /// The other engine cannot hold an object or array.
    #[error("{}: {reference} of {}: {failure}", new.display(), old.display())]
    Object {
        /// The old image.
        old: PathBuf,
        /// The image that was to be made.
        new: PathBuf,
        /// What it cannot hold.
        reference: Ref,
        /// Why.
        failure: HeapFailure,
    },
    /// The new heap differs from the old one.
    #[error("{}: the copy is not what {} holds: {what}", new.display(), old.display())]
    Differs {
        /// The old image.
        old: PathBuf,
        /// The image that was to be made.
        new: PathBuf,
        /// Where.
        what: String,
    },
}

impl From<ImageError> for ConversionError {
    fn from(error: ImageError) -> Self {
        ConversionError::Image(error.into())
    }
}

/// All that an object or array holds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    kind: Kind,
    /// Of an array the one of its elements.
    widths: Vec<u8>,
    /// Of an array the number of its elements.
    count: usize,
    header: Vec<u8>,
    values: Vec<u8>,
}

/// All that a heap holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Contents {
    objects: BTreeMap<Ref, Content>,
    roots: BTreeMap<Vec<u8>, Ref>,
}

/// Converts a heap.
///
/// # Errors
/// When an image cannot be opened, made, or used; when the old heap is damaged, or the new part cannot hold it.
pub fn convert(conversion: &Conversion) -> Result<Outcome, ConversionError> {
    let Conversion { old, new, part, references } = conversion;
    let (from, spec, contents) = contents_of(old)?;
    let (mut contents, stale_roots) = without_stale_roots(contents);
    let mut device = NorSim::new(part.clone().unwrap_or(spec));
    let in_new = |failure: HeapFailure| ConversionError::Image(failure.in_image(new));
    let mut heap = formatted(&mut device, Format::from(from.other()), None).map_err(in_new)?;
    let unkept = references_not_kept(&heap, &contents);
    if *references == References::AllKept && !unkept.is_empty() {
        return Ok(Outcome::Refused { to: from.other(), references: unkept.into_iter().collect() });
    }
    let mut copying = Copying { heap: &mut heap, conversion, changed: BTreeMap::new() };
    copying.objects(&contents, &unkept)?;
    let changed = copying.changed;
    contents.rename(&changed);
    set_roots(&mut heap, &contents).map_err(in_new)?;
    rest(&mut heap).map_err(in_new)?;
    drop(heap);
    conversion.verify(&mut device, &contents)?;
    device.save_image(new)?;
    let arrays = contents.objects.values().filter(|content| content.kind == Kind::Array).count();
    Ok(Outcome::Made(Converted {
        from,
        to: from.other(),
        objects: contents.objects.len() - arrays,
        arrays,
        roots: contents.roots.len(),
        changed: changed.into_iter().collect(),
        stale_roots,
    }))
}

/// What is in an image, which is left as it is; its engine and part.
fn contents_of(image: &Path) -> Result<(Engine, PartSpec, Contents), ConversionError> {
    let mut device = NorSim::open_image(image)?.clone();
    let in_image = |failure: HeapFailure| ConversionError::Image(failure.in_image(image));
    let mut heap = mount(&mut device).map_err(in_image)?;
    let count = audit(&mut heap).map_err(in_image)?.violations.len();
    if count > 0 {
        return Err(ConversionError::Violations { image: image.to_owned(), count });
    }
    let read = Contents::read(&mut heap);
    let contents = read.map_err(|failure| in_image(failure.placed(&heap)))?;
    Ok((heap.engine(), heap.device().spec().clone(), contents))
}

/// Roots may lead to what was deleted, which no heap lets a root be set to.
fn without_stale_roots(mut contents: Contents) -> (Contents, Vec<Vec<u8>>) {
    let is_stale = |reference: &Ref| !contents.objects.contains_key(reference);
    let stale: Vec<Vec<u8>> =
        contents.roots.iter().filter(|(_, reference)| is_stale(reference)).map(|(name, _)| name.clone()).collect();
    contents.roots.retain(|name, _| !stale.contains(name));
    (contents, stale)
}

/// The references that the engine of `heap` cannot give.
fn references_not_kept(heap: &ImageHeap<'_>, contents: &Contents) -> BTreeSet<Ref> {
    let ImageHeap::Log(heap) = heap else { return BTreeSet::new() };
    let slots: BTreeSet<u32> = contents.objects.keys().map(|reference| u32::from(reference.slot())).collect();
    let is_kept = |(&reference, content): (&Ref, &Content)| {
        let (first, taken) = (u32::from(reference.slot()), content.slots_in(heap));
        let has_room = first + taken <= Ref::SLOTS && slots.range(first + 1..first + taken).next().is_none();
        LogStructuredHeap::can_name(reference) && has_room
    };
    contents.objects.iter().filter(|&object| !is_kept(object)).map(|(&reference, _)| reference).collect()
}

fn set_roots(heap: &mut ImageHeap<'_>, contents: &Contents) -> Result<(), HeapFailure> {
    contents.roots.iter().try_for_each(|(name, &reference)| Ok(heap.set_root(name, Some(reference))?))
}

/// Says that nothing is in progress, where an engine has a way to.
fn rest(heap: &mut ImageHeap<'_>) -> Result<(), HeapFailure> {
    match heap {
        ImageHeap::Log(heap) => Ok(heap.rest()?),
        ImageHeap::TinyStore(_) => Ok(()),
    }
}

/// A copy under way.
struct Copying<'c, 'h> {
    heap: &'c mut ImageHeap<'h>,
    conversion: &'c Conversion,
    changed: BTreeMap<Ref, Ref>,
}

impl Copying<'_, '_> {
    /// Copies everything; `unkept` gets other references.
    fn objects(&mut self, contents: &Contents, unkept: &BTreeSet<Ref>) -> Result<(), ConversionError> {
        let mut kept: Vec<Ref> =
            contents.objects.keys().filter(|&reference| !unkept.contains(reference)).copied().collect();
        // As TinyStore's serial numbers go, so that those in use are passed at the end.
        kept.sort_by_key(|reference| (reference.generation(), reference.slot()));
        for reference in kept {
            let content = &contents.objects[&reference];
            let created = content.create_at(self.heap, reference).map_err(placement_failure);
            let filled = created.and_then(|()| content.fill(self.heap, reference));
            filled.map_err(|failure| self.failed(reference, failure))?;
        }
        self.retire_free_slots(contents)
            .map_err(|failure| ConversionError::Image(failure.placed(self.heap).in_image(&self.conversion.new)))?;
        for &reference in unkept {
            let content = &contents.objects[&reference];
            let created = content.create(self.heap);
            let filled = created.and_then(|given| content.fill(self.heap, given).map(|()| given));
            let given = filled.map_err(|failure| self.failed(reference, failure))?;
            self.changed.insert(reference, given);
        }
        Ok(())
    }

    /// Sees to it that references to what was deleted stay stale.
    fn retire_free_slots(&mut self, contents: &Contents) -> Result<(), HeapFailure> {
        let ImageHeap::Log(heap) = &mut *self.heap else { return Ok(()) };
        let taken: BTreeSet<u16> = contents
            .objects
            .iter()
            .flat_map(|(reference, content)| {
                let first = u32::from(reference.slot());
                (first..(first + content.slots_in(heap)).min(Ref::SLOTS)).map(|slot| slot as u16)
            })
            .collect();
        let Some(&last) = taken.last() else { return Ok(()) };
        let largest = contents.objects.keys().map(|reference| reference.generation()).max().unwrap_or(1);
        for slot in (1..last).filter(|slot| !taken.contains(slot)) {
            heap.retire(Ref::new(slot, largest)).map_err(placement_failure)?;
        }
        Ok(())
    }

    fn failed(&self, reference: Ref, failure: HeapFailure) -> ConversionError {
        let Conversion { old, new, .. } = self.conversion;
        ConversionError::Object { old: old.clone(), new: new.clone(), reference, failure: failure.placed(self.heap) }
    }
}

impl Conversion {
    /// Mounts and audits the new heap, and compares it.
    fn verify(&self, device: &mut NorSim, expected: &Contents) -> Result<(), ConversionError> {
        let in_new = |failure: HeapFailure| ConversionError::Image(failure.in_image(&self.new));
        let mut heap = mount(device).map_err(in_new)?;
        let violations = audit(&mut heap).map_err(in_new)?.violations;
        let found = Contents::read(&mut heap).map_err(in_new)?;
        let what = match violations.first() {
            Some(violation) => Some(violation.to_string()),
            None => found.difference(expected),
        };
        match what {
            None => Ok(()),
            Some(what) => Err(ConversionError::Differs { old: self.old.clone(), new: self.new.clone(), what }),
        }
    }
}

impl Contents {
    fn read(heap: &mut ImageHeap<'_>) -> Result<Contents, HeapFailure> {
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
    fn rename(&mut self, changed: &BTreeMap<Ref, Ref>) {
        let now = |reference: Ref| changed.get(&reference).copied().unwrap_or(reference);
        self.objects =
            std::mem::take(&mut self.objects).into_iter().map(|(old, content)| (now(old), content)).collect();
        self.roots.values_mut().for_each(|reference| *reference = now(*reference));
    }

    /// The first thing in which this differs from what is expected.
    fn difference(&self, expected: &Contents) -> Option<String> {
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
    fn slots_in(&self, heap: &LogStructuredHeap<'_>) -> u32 {
        match self.kind {
            Kind::Object => 1,
            Kind::Array => heap.array_slots(self.count, self.array_width(), &self.header),
        }
    }

    fn layout(&self) -> Layout<'_> {
        Layout::fields(&self.widths).with_header(&self.header)
    }

    fn create_at(&self, heap: &mut ImageHeap<'_>, reference: Ref) -> Result<(), PlacementError<PartError>> {
        match self.kind {
            Kind::Object => heap.create_at(reference, self.layout()),
            Kind::Array => heap.create_array_at(reference, (self.count, self.array_width()), &self.header),
        }
    }

    fn create(&self, heap: &mut ImageHeap<'_>) -> Result<Ref, HeapFailure> {
        Ok(match self.kind {
            Kind::Object => heap.create(self.layout())?,
            Kind::Array => heap.create_array(self.count, self.array_width(), &self.header)?,
        })
    }

    /// Sets the values of what was just created, which are zeros.
    fn fill(&self, heap: &mut ImageHeap<'_>, reference: Ref) -> Result<(), HeapFailure> {
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
fn placement_failure(error: PlacementError<PartError>) -> HeapFailure {
    match error {
        PlacementError::Create(error) => error.into(),
        PlacementError::Unavailable(reference) => HeapFailure::Access(AccessError::Stale(reference)),
    }
}
