//! Images of heaps that are made with all that is in them, each object with the reference that it is to have.
//!
//! 1. Format a part in memory, and ask the caller for the contents, who may ask how many slots something takes.
//! 2. Create everything at its reference, set values and roots.
//! 3. Mount the part, audit it, and compare everything.
//! 4. Save it. The image appears at once, complete.

use std::path::Path;

use norn_flash_sim::{NorSim, PartSpec};
use norn_heap::Ref;

use crate::audit::violations;
use crate::contents::{Content, Contents, placement_failure, references_not_kept, rest, set_roots};
use crate::engine::Format;
use crate::failure::{HeapFailure, HeapImageError};
use crate::heap::ImageHeap;
use crate::image::{formatted, mount};

/// Why an image was not made. There is none then.
#[derive(Debug, thiserror::Error)]
pub enum FillError<E> {
    /// The caller has no contents.
    #[error(transparent)]
    Contents(E),
    /// The image or its heap failed.
    #[error(transparent)]
    Image(HeapImageError),
    /// References that the engine cannot give.
    #[error("the engine cannot give {0:?}")]
    References(Vec<Ref>),
    /// An object or array that the heap does not take.
    #[error("{reference}: {failure}")]
    Object {
        /// Its reference.
        reference: Ref,
        /// Why not.
        failure: HeapFailure,
    },
    /// A root that the heap does not take.
    #[error("root {}: {failure}", name.escape_ascii())]
    Root {
        /// Its name.
        name: Vec<u8>,
        /// Why not.
        failure: HeapFailure,
    },
    /// The heap differs from what was to be in it, here.
    #[error("the heap differs from its contents: {0}")]
    Differs(String),
}

/// Makes an image with a heap that holds what `contents` returns. That is told how many slots something takes.
///
/// # Errors
/// [`FillError`].
pub fn create_filled<E>(
    image: &Path,
    part: PartSpec,
    (format, spares): (Format, Option<u16>),
    contents: impl FnOnce(&dyn Fn(&Content) -> u32) -> Result<Contents, E>,
) -> Result<Contents, FillError<E>> {
    let mut device = NorSim::new(part);
    let in_image = |failure: HeapFailure| FillError::Image(failure.in_image(image));
    let mut heap = formatted(&mut device, format, spares).map_err(in_image)?;
    let contents = contents(&|content| match &heap {
        ImageHeap::Log(heap) => content.slots_in(heap),
        ImageHeap::TinyStore(_) => 1,
    })
    .map_err(FillError::Contents)?;
    let references: Vec<Ref> = references_not_kept(&heap, &contents).into_iter().collect();
    if !references.is_empty() {
        return Err(FillError::References(references));
    }
    put(&mut heap, &contents)?;
    set_roots(&mut heap, &contents).map_err(|(name, failure)| FillError::Root { name, failure })?;
    rest(&mut heap).map_err(in_image)?;
    drop(heap);
    let mut heap = mount(&mut device).map_err(in_image)?;
    let violation = violations(&mut heap).map_err(in_image)?.first().map(ToString::to_string);
    let found = Contents::read(&mut heap).map_err(in_image)?;
    drop(heap);
    match violation.or_else(|| found.difference(&contents)) {
        Some(what) => Err(FillError::Differs(what)),
        None => device.save_image(image).map(|()| contents).map_err(|error| FillError::Image(error.into())),
    }
}

fn put<E>(heap: &mut ImageHeap<'_>, contents: &Contents) -> Result<(), FillError<E>> {
    // As TinyStore's serial numbers go, so that those in use are passed at the end.
    let mut references: Vec<Ref> = contents.objects.keys().copied().collect();
    references.sort_by_key(|reference| (reference.generation(), reference.slot()));
    for reference in references {
        let content = &contents.objects[&reference];
        let created = content.create_at(heap, reference).map_err(placement_failure);
        let filled = created.and_then(|()| content.fill(heap, reference));
        filled.map_err(|failure| {
            let failure = failure.placed(heap);
            FillError::Object { reference, failure }
        })?;
    }
    Ok(())
}
