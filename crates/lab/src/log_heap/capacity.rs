//! How many objects fit: the most with which updates go on for 200 erases a unit without `Full`.

use norn_flash::Nor;
use norn_flash_sim::{PartSpec, catalogue};
use serde::{Deserialize, Serialize};

use super::bars::{CAPACITIES, CapacityBar, Met, Room};
use super::paper::PAPER;
use super::population::{Population, Refusal, Update};
use super::subject::{Engine, Subject, Work};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Presentation, Table};
use crate::settings::{Depth, Settings};

/// How many objects fit.
pub struct Capacity;

/// One search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    engine: Engine,
    part: String,
    object_bytes: u32,
    update: Update,
    /// For which updates have to go on.
    erases_a_unit: u64,
    seed: u64,
}

/// What it found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Objects that could be created in an empty heap.
    created: usize,
    /// The most with which updates went on.
    in_use: usize,
    /// The least that was found to be too many.
    refused: usize,
    /// Bytes of those in use, in hundredths of the part.
    percent: f64,
    /// Program units for each field updated with these.
    programs: f64,
    /// Units erased.
    erases: f64,
}

impl Experiment for Capacity {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "log-heap-capacity",
            paper: PAPER,
            reproduces: "bars for capacity",
            summary: "The most objects of two-byte fields with which updates, 90% to a fifth of them, go on for 200 \
                      erases a unit without `Full`, found by halving between what was refused and what was not, to one \
                      object in 400. It assumes that what goes on with some objects goes on with fewer.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let seed = settings.seed;
        let job = |engine, bar: &CapacityBar, update, erases_a_unit| {
            let (part, object_bytes) = (bar.part.to_owned(), bar.object_bytes);
            let parameters = Parameters { engine, part, object_bytes, update, erases_a_unit, seed };
            let size = if bar.part == "tinystore" { 1.0 } else { 4.0 };
            Job { parameters, seconds: size * 0.1 * erases_a_unit as f64 }
        };
        if settings.depth == Depth::Quick {
            return vec![job(Engine::Log, &CAPACITIES[0], Update::OneField, 1)];
        }
        let one = CAPACITIES.iter().map(|bar| job(Engine::Log, bar, Update::OneField, 200));
        let detecting = CAPACITIES.iter().take(3).map(|bar| job(Engine::LogDetecting, bar, Update::OneField, 200));
        let others = [
            job(Engine::Log, &CAPACITIES[0], Update::WholeObject, 200),
            job(Engine::Log, &CAPACITIES[0], Update::TenObjects, 200),
            job(Engine::TinyStore, &CAPACITIES[0], Update::OneField, 200),
        ];
        one.chain(detecting).chain(others).collect()
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let spec = catalogue::by_name(&parameters.part);
        let spec = spec.ok_or_else(|| JobError::Failed(format!("no part {}", parameters.part)))?;
        search(parameters, &spec, context).map(|row| vec![row])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        Presentation { tables: vec![table(outcomes)], ..Presentation::default() }
    }
}

/// Halves between what goes on and what does not.
fn search(parameters: &Parameters, spec: &PartSpec, context: &Context) -> Result<Row, JobError> {
    let attempt = |objects, erases| {
        let attempt = Attempt { parameters, objects, erases };
        parameters.engine.on(spec.clone(), attempt)
    };
    let part_bytes = spec.part.size_bytes();
    let most = (part_bytes / parameters.object_bytes) as usize;
    let created = attempt(most, 0)?.created;
    // Of nothing, updates go on; of one more than can be created they do not.
    let (mut in_use, mut refused, mut costs) = (0, created + 1, (0.0, 0.0));
    while refused - in_use > (created / 400).max(1) {
        let objects = if in_use == 0 { created - (created + 1 - refused + 1) * 3 / 2 } else { (in_use + refused) / 2 };
        match attempt(objects, parameters.erases_a_unit)?.costs {
            Some(found) => (in_use, costs) = (objects, found),
            None => refused = objects,
        }
        context.progress((created - (refused - in_use)) as u64, created as u64);
    }
    let percent = in_use as f64 * f64::from(parameters.object_bytes) / f64::from(part_bytes) * 100.0;
    Ok(Row { created, in_use, refused, percent, programs: costs.0, erases: costs.1 })
}

struct Attempt<'a> {
    parameters: &'a Parameters,
    objects: usize,
    erases: u64,
}

struct Attempted {
    created: usize,
    /// Program units and erases a field, unless it was refused.
    costs: Option<(f64, f64)>,
}

impl Work for Attempt<'_> {
    type Done = Attempted;

    fn with(self, mut heap: impl Subject) -> Result<Attempted, JobError> {
        let Parameters { object_bytes, update, seed, .. } = *self.parameters;
        let mut population = Population::create(&mut heap, self.objects, object_bytes, seed)?;
        let created = population.len();
        if created < self.objects {
            return Ok(Attempted { created, costs: None });
        }
        let start = heap.part().counters();
        let (erases, mut updates) = (self.erases * u64::from(heap.part().part().unit_count), 0);
        loop {
            let counted = heap.part().counters() - start;
            if counted.erases >= erases {
                let by = |count: u64| count as f64 / updates as f64;
                return Ok(Attempted { created, costs: Some((by(counted.programs()), by(counted.erases))) });
            }
            match population.update(&mut heap, update) {
                Ok(fields) => updates += fields,
                Err(Refusal::Full) => return Ok(Attempted { created, costs: None }),
                Err(Refusal::Failed(error)) => return Err(error),
            }
        }
    }
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "part, objects of",
        "heap, updates",
        "created",
        "in use",
        "refused",
        "% of the part",
        "program units / erases",
        "bar",
        "goal",
        "",
    ];
    let mut table = Table::new("", &columns);
    for Outcome { parameters, row } in outcomes {
        let bar =
            CAPACITIES.iter().find(|bar| (bar.part, bar.object_bytes) == (&*parameters.part, parameters.object_bytes));
        let Some(bar) = bar else { continue };
        let text = |room: Room| match room {
            Room::Objects(objects) => objects.to_string(),
            Room::Percent(percent) => format!("{percent}%"),
        };
        let is_met = |room: Room| Met(room.is_met(row.in_use, row.percent));
        table.push(vec![
            format!("{}, {} B", parameters.part, parameters.object_bytes),
            format!("{}, {}", parameters.engine, parameters.update),
            row.created.to_string(),
            row.in_use.to_string(),
            row.refused.to_string(),
            format!("{:.1}", row.percent),
            format!("{:.2} / {:.5}", row.programs, row.erases),
            text(bar.bar),
            text(bar.goal),
            format!("bar {}, goal {}", is_met(bar.bar), is_met(bar.goal)),
        ]);
    }
    table
}
