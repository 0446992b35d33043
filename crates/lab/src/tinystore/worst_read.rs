//! Section 6.3's worst case of a read: small objects with lists as long as may be fill the heap.

use norn_flash::Nor;
use norn_flash_sim::{NorSim, catalogue};
use norn_object_heap::{Heap, Listener, Ref};
use serde::{Deserialize, Serialize};

use super::condition::LIST_LENGTH;
use super::paper::PAPER;
use super::population::{Shape, full};
use super::subject::{Flags, FlashHeap, Subject, configuration, flash};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// The worst case of a read.
pub struct WorstRead;

/// The objects, and the part they are on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    /// As many as fit, if none is said.
    objects_wanted: Option<usize>,
}

/// Words that a read of one field takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    status: String,
    objects_full: usize,
    objects: usize,
    reads_mean: f64,
    reads_most: u64,
    reads_through_a_pointer: u64,
}

const OBJECTS: usize = 5500;
/// Of the paper's part.
const PART_BYTES: f64 = 448.0 * 1024.0;
const SHAPE: Shape = Shape { fields: 2, width: 1 };

impl Experiment for WorstRead {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-worst-read",
            paper: PAPER,
            reproduces: "section 6.3, the worst case of a read",
            summary: "5,500 objects of two one-byte fields, every field set and one set again, so that each list has \
                      two records and the REF tree is as tall as it gets; then every field is read. The same with as \
                      many as fit, since the paper's 5,500 filled its heap.",
            revision: 1,
        }
    }

    fn jobs(_: &Settings) -> Vec<Job<Parameters>> {
        let job = |objects_wanted| Job { parameters: Parameters { objects_wanted }, seconds: 1.0 };
        [Some(OBJECTS), None].map(job).to_vec()
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let heap = || flash(catalogue::tinystore(), configuration(LIST_LENGTH, Flags::On));
        let objects_full = full(&mut heap(), SHAPE, LIST_LENGTH);
        let wanted = parameters.objects_wanted.unwrap_or(objects_full);
        let objects = objects_full.min(wanted);
        let status = match objects < wanted {
            true => format!("cannot hold {wanted}: {objects} fit"),
            false => "measured".to_owned(),
        };
        let mut heap = heap();
        let created: Option<Vec<Ref>> = (0..objects).map(|_| SHAPE.create(&mut heap)).collect();
        let objects_there = created.ok_or_else(|| JobError::Failed("objects that fit do not".to_owned()))?;
        for (number, &object) in objects_there.iter().enumerate() {
            for (field, value) in [(0, 1), (1, 2), (0, 3)] {
                SHAPE.put(&mut heap, object, field, value).map_err(JobError::while_doing("setting a field"))?;
            }
            context.progress(number as u64, objects as u64);
        }
        let (sum, reads_most) = read_all(&mut heap, &objects_there)?;
        let reads_through_a_pointer = through_a_pointer()?;
        let reads_mean = sum as f64 / (objects * SHAPE.fields) as f64;
        Ok(vec![Row { status, objects_full, objects, reads_mean, reads_most, reads_through_a_pointer }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let row = |wanted| Some(&outcomes.iter().find(|outcome| outcome.parameters.objects_wanted == wanted)?.row);
        let (paper, most) = (row(Some(OBJECTS)), row(None));
        let columns = ["objects wanted", "fit", "measured", "reads a field, mean", "at most", "through a pointer", ""];
        let mut table = Table::new("", &columns);
        for Outcome { parameters, row } in outcomes {
            table.push(vec![
                parameters.objects_wanted.map_or_else(|| "all that fit".to_owned(), |count| count.to_string()),
                row.objects_full.to_string(),
                row.objects.to_string(),
                figure(row.reads_mean),
                row.reads_most.to_string(),
                row.reads_through_a_pointer.to_string(),
                row.status.clone(),
            ]);
        }
        let reads = |row: Option<&Row>| row.map(|row| row.reads_mean);
        Presentation {
            comparisons: vec![
                Comparison::new(
                    "§6.3: objects of two bytes that fit with lists of two",
                    Published::Value(OBJECTS as f64),
                    paper.map(|row| row.objects_full as f64),
                )
                .because(paper.map_or_else(String::new, |row| {
                    let bytes = |objects: usize| figure(PART_BYTES / objects as f64);
                    let (ours, published) = (bytes(row.objects_full), bytes(OBJECTS));
                    format!(
                        "an object takes {ours} bytes of the part, {published} as published: tree nodes, descriptors \
                         and records of sizes that the paper does not give"
                    )
                })),
                Comparison::new(
                    "§6.3: words read for a field, mean, 5,500 such objects",
                    Published::Value(731.0),
                    reads(paper),
                )
                .because(
                    "not by the tree alone (tinystore-key-trees has look-ups by compared keys); the paper does not say \
                     what else a read looks at",
                ),
                Comparison::new("§6.3: the same, as many objects as fit", Published::Value(731.0), reads(most))
                    .because("as for 5,500 objects"),
                Comparison::new(
                    "§6.3: words read through a pointer that is kept",
                    Published::Value(1.0),
                    paper.map(|row| row.reads_through_a_pointer as f64),
                ),
            ],
            tables: vec![table],
            ..Presentation::default()
        }
    }
}

/// Words read for all fields, and for the one that takes most.
fn read_all(heap: &mut FlashHeap, objects: &[Ref]) -> Result<(u64, u64), JobError> {
    let (mut sum, mut most) = (0, 0);
    for &object in objects {
        for field in 0..SHAPE.fields {
            let before = heap.totals().0;
            heap.get_field(object, field, &mut [0]).map_err(JobError::while_doing("reading a field"))?;
            let reads = (heap.totals().0 - before).reads();
            (sum, most) = (sum + reads, most.max(reads));
        }
    }
    Ok((sum, most))
}

/// A listener that is never called, because nothing is changed while there is a pointer.
struct Unchanged;

impl Listener for Unchanged {
    fn invalidated(&mut self, _: Ref) {}

    fn all_invalidated(&mut self) {}
}

/// Words read for a field through a pointer that was made before.
fn through_a_pointer() -> Result<u64, JobError> {
    let part = NorSim::new(catalogue::tinystore());
    let config = configuration(LIST_LENGTH, Flags::On);
    let heap = Heap::<_, 256, _>::format_with(part, config, Unchanged);
    let mut heap = heap.map_err(JobError::while_doing("formatting"))?;
    let object = SHAPE.create(&mut heap).ok_or_else(|| JobError::Failed("an object does not fit".to_owned()))?;
    SHAPE.put(&mut heap, object, 0, 3).map_err(JobError::while_doing("setting a field"))?;
    let pointer = heap.field_pointer(object, 0).map_err(JobError::while_doing("making a pointer"))?;
    let before = heap.device().counters();
    let mut value = [0];
    heap.device_mut().read(pointer.address, &mut value).map_err(JobError::while_doing("reading through a pointer"))?;
    match value {
        [3] => Ok((heap.device().counters() - before).reads()),
        other => Err(JobError::Failed(format!("the pointer leads to {other:?}, not to the field's value"))),
    }
}
