//! The copy of a heap to an image of the other engine.
//!
//! 1. Read the old image into memory, so that the file is left as it is. Mount that, audit it, and read everything in
//!    it.
//! 2. Format a part in memory for the other engine, with error detection if the old heap has it. Objects keep their
//!    references where that engine can give them: they hold each other's, and the heap does not know in which fields.
//!    What cannot keep its reference is listed, and unless the caller agrees, nothing is made.
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
use norn_heap::{Kind, Ref};
use norn_object_heap::ErrorDetection;

use crate::audit::audit;
use crate::contents::{Contents, placement_failure, references_not_kept, rest, set_roots};
use crate::engine::Engine;
use crate::failure::{HeapFailure, HeapImageError};
use crate::heap::ImageHeap;
use crate::image::{formatted, mount};

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
    /// Whether both heaps notice flipped bits.
    pub error_detection: ErrorDetection,
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

/// Converts a heap.
///
/// # Errors
/// When an image cannot be opened, made, or used; when the old heap is damaged, or the new part cannot hold it.
pub fn convert(conversion: &Conversion) -> Result<Outcome, ConversionError> {
    let Conversion { old, new, part, references } = conversion;
    let Old { engine: from, error_detection, spec, contents } = Old::read(old)?;
    let (mut contents, stale_roots) = without_stale_roots(contents);
    let mut device = NorSim::new(part.clone().unwrap_or(spec));
    let in_new = |failure: HeapFailure| ConversionError::Image(failure.in_image(new));
    let mut heap = formatted(&mut device, from.other().format(error_detection), None).map_err(in_new)?;
    let unkept = references_not_kept(&heap, &contents);
    if *references == References::AllKept && !unkept.is_empty() {
        return Ok(Outcome::Refused { to: from.other(), references: unkept.into_iter().collect() });
    }
    let mut copying = Copying { heap: &mut heap, conversion, changed: BTreeMap::new() };
    copying.objects(&contents, &unkept)?;
    let changed = copying.changed;
    contents.rename(&changed);
    set_roots(&mut heap, &contents).map_err(|(_, failure)| in_new(failure))?;
    rest(&mut heap).map_err(in_new)?;
    drop(heap);
    conversion.verify(&mut device, &contents)?;
    device.save_image(new)?;
    let arrays = contents.objects.values().filter(|content| content.kind == Kind::Array).count();
    Ok(Outcome::Made(Converted {
        from,
        to: from.other(),
        error_detection,
        objects: contents.objects.len() - arrays,
        arrays,
        roots: contents.roots.len(),
        changed: changed.into_iter().collect(),
        stale_roots,
    }))
}

/// The heap to copy, in memory.
struct Old {
    engine: Engine,
    error_detection: ErrorDetection,
    spec: PartSpec,
    contents: Contents,
}

impl Old {
    /// Reads an image, which is left as it is.
    fn read(image: &Path) -> Result<Old, ConversionError> {
        let mut device = NorSim::read_image(image)?;
        let in_image = |failure: HeapFailure| ConversionError::Image(failure.in_image(image));
        let mut heap = mount(&mut device).map_err(in_image)?;
        let count = audit(&mut heap).map_err(in_image)?.violations.len();
        if count > 0 {
            return Err(ConversionError::Violations { image: image.to_owned(), count });
        }
        let read = Contents::read(&mut heap);
        let contents = read.map_err(|failure| in_image(failure.placed(&heap)))?;
        let (engine, error_detection) = (heap.engine(), heap.error_detection());
        Ok(Old { engine, error_detection, spec: heap.device().spec().clone(), contents })
    }
}

/// Roots may lead to what was deleted, which no heap lets a root be set to.
fn without_stale_roots(mut contents: Contents) -> (Contents, Vec<Vec<u8>>) {
    let is_stale = |reference: &Ref| !contents.objects.contains_key(reference);
    let stale: Vec<Vec<u8>> =
        contents.roots.iter().filter(|(_, reference)| is_stale(reference)).map(|(name, _)| name.clone()).collect();
    contents.roots.retain(|name, _| !stale.contains(name));
    (contents, stale)
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
