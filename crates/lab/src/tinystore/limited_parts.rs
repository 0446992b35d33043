//! Table 1's workload on parts whose words are programmed once or twice, which the paper does not have.

use norn_flash::Reprogramming;
use norn_flash_sim::{NorSim, PartSpec, catalogue};
use norn_nor_remap::{Remap, RemapConfig};
use norn_object_heap::{Heap, Ref};
use serde::{Deserialize, Serialize};

use super::condition::LIST_LENGTH;
use super::costs::{Costs, Plan, Run};
use super::paper::PAPER;
use super::population::{Shape, fresh, full};
use super::subject::{Flags, FlashHeap, Simulated, Subject, configuration, flash};
use super::workload::{Updates, Workload};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Presentation, Table, figure};
use crate::settings::Settings;

/// Table 1's workload on limited parts.
pub struct LimitedParts;

/// A part of the catalogue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    part: String,
    warm_up_erases: u64,
    windows: usize,
    window_erases: u64,
    seed: u64,
}

/// What it takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    objects_fresh: usize,
    objects_full: usize,
    #[serde(flatten)]
    costs: Costs,
    read_most: u64,
}

const PARTS: [&str; 5] = ["tinystore", "stm32l4", "stm32u5", "stm32h7b", "nrf52840"];
const SHAPE: Shape = Shape { fields: 50, width: 2 };
/// Objects of which every field is read, and how often all are updated before.
const READ_OBJECTS: usize = 500;
const READ_ROUNDS: u16 = 4;

impl Experiment for LimitedParts {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-limited-parts",
            paper: PAPER,
            reproduces: "Table 1's workload on other parts, which the paper does not have",
            summary: "20/80AllFields, half full, fifty fields of two bytes, lists of two records, on parts whose words \
                      may be programmed once or twice between erases, below a `Remap` with one spare unit; writes are \
                      program units. The last column is the most words that reading one field took, over 500 objects, \
                      after four rounds of updates.",
            revision: 2,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let part = |name: &&str| spec(name).expect("the catalogue has it");
        let job = |name: &&str| {
            let units = u64::from(part(name).part.unit_count);
            let (warm_up_erases, windows, window_erases) =
                settings.choose((units, 3, units.div_ceil(3)), (10 * units, 10, 2 * units));
            let parameters =
                Parameters { part: (*name).to_owned(), warm_up_erases, windows, window_erases, seed: settings.seed };
            Job { parameters, seconds: units as f64 * settings.choose(0.01, 0.05) }
        };
        settings.choose(&PARTS[..2], &PARTS[..]).iter().map(job).collect()
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let part = spec(&parameters.part)?;
        let config = configuration(LIST_LENGTH, Flags::On);
        match part.part.reprogramming {
            Reprogramming::Unlimited => measure_on(&|| flash(part.clone(), config), parameters, context),
            _ => {
                let heap = || {
                    let mut sim = NorSim::new(part.clone());
                    sim.set_endurance(None);
                    let remap = Remap::format(sim, RemapConfig { spare_units: 1 }).expect("the part is suitable");
                    Heap::format(remap, config).expect("the part is suitable")
                };
                measure_on::<Remap<NorSim, 256>>(&heap, parameters, context)
            }
        }
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let columns = [
            "part",
            "objects fresh",
            "full",
            "reads",
            "writes",
            "±",
            "erases",
            "±",
            "ms",
            "±",
            "most words read for a field",
        ];
        let mut table = Table::new("Per field update:", &columns);
        for Outcome { parameters, row } in outcomes {
            let (costs, half) =
                (&row.costs, |half: Option<f64>| half.map_or_else(String::new, |half| format!("{half:.1e}")));
            let mut cells = vec![parameters.part.clone(), row.objects_fresh.to_string(), row.objects_full.to_string()];
            cells.push(figure(costs.reads));
            for (mean, half_width) in
                [(costs.writes, costs.writes_ci), (costs.erases, costs.erases_ci), (costs.ms, costs.ms_ci)]
            {
                cells.extend([figure(mean), half(half_width)]);
            }
            cells.push(row.read_most.to_string());
            table.push(cells);
        }
        Presentation { tables: vec![table], ..Presentation::default() }
    }
}

fn spec(name: &str) -> Result<PartSpec, JobError> {
    catalogue::by_name(name).ok_or_else(|| JobError::Failed(format!("no part {name} in the catalogue")))
}

fn measure_on<D: Simulated>(
    heap: &dyn Fn() -> FlashHeap<D>,
    parameters: &Parameters,
    context: &Context,
) -> Result<Vec<Row>, JobError> {
    let objects_fresh = fresh(&mut heap(), SHAPE);
    let objects_full = full(&mut heap(), SHAPE, LIST_LENGTH);
    let updates = Updates::new(Workload::HotAndCold, objects_full / 2, SHAPE.fields, parameters.seed);
    let run = Run::new(heap(), SHAPE, objects_full / 2, updates, context);
    let run = run.ok_or_else(|| JobError::Failed("half full does not fit".to_owned()))?;
    let mut run = run.with_values().map_err(JobError::Failed)?;
    let plan =
        Plan { warm_up: parameters.warm_up_erases, windows: parameters.windows, window: parameters.window_erases };
    let costs = run.costs(plan).map_err(JobError::Failed)?;
    Ok(vec![Row { objects_fresh, objects_full, costs, read_most: read_most(heap())? }])
}

/// The words that a read of one field takes at most.
fn read_most<D: Simulated>(mut heap: FlashHeap<D>) -> Result<u64, JobError> {
    let objects: Option<Vec<Ref>> = (0..READ_OBJECTS).map(|_| SHAPE.create(&mut heap)).collect();
    let objects = objects.ok_or_else(|| JobError::Failed(format!("{READ_OBJECTS} objects do not fit")))?;
    let mut most = 0;
    for round in 1..=READ_ROUNDS {
        for &object in &objects {
            for field in 0..SHAPE.fields {
                SHAPE.put(&mut heap, object, field, round).map_err(JobError::while_doing("updating"))?;
            }
            for field in 0..SHAPE.fields {
                let before = heap.totals().0;
                heap.get_field(object, field, &mut [0; 2]).map_err(JobError::while_doing("reading"))?;
                most = most.max((heap.totals().0 - before).reads());
            }
        }
    }
    Ok(most)
}
