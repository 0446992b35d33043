//! What updates cost in steady state, the worst call and read among them, wear, RAM, and the mount after them.

use norn_flash_sim::catalogue;
use serde::{Deserialize, Serialize};

use super::bars::{self, Cost, Met, RAM_BYTES, UPDATES, UpdateBar, WEAR, WEAR_ERASES, WORST_READ};
use super::paper::PAPER;
use super::population::{Population, Refusal, Update};
use super::steady::{Length, Mount, Pace, Run, Steady, wear};
use super::subject::{Engine, Subject, Work};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Presentation, Table};
use crate::settings::{Depth, Settings};

/// Rows of updates.
pub struct Updates;

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    engine: Engine,
    part: String,
    objects: usize,
    object_bytes: u32,
    update: Update,
    pace: Pace,
    #[serde(flatten)]
    length: Length,
    seed: u64,
}

/// What was counted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    status: String,
    #[serde(flatten)]
    steady: Steady,
    read_mean: f64,
    read_most: u64,
    wear: f64,
    erases_a_unit: f64,
    ram_bytes: usize,
    #[serde(flatten)]
    mount: Mount,
}

/// Fields that are read at the end of a row.
const READS: u64 = 20_000;
/// Objects of 100 bytes in 448 KB at which the worst call is looked at.
const FILLS: [usize; 6] = [700, 1400, 2100, 2800, 3200, 3400];

impl Experiment for Updates {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "log-heap-updates",
            paper: PAPER,
            reproduces: "bars for updates in steady state",
            summary: "Objects of two-byte fields, 90% of the updates to a fifth of them, one configuration of each \
                      heap for all rows. A row ends when units were erased 200 times on average and three windows of \
                      12 erases a unit agree within 2%; then 20,000 fields are read, and the heap is mounted without a \
                      word before.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let jobs = if settings.depth == Depth::Quick { quick(settings.seed) } else { full(settings.seed) };
        jobs.into_iter().map(|parameters| Job { seconds: seconds(&parameters), parameters }).collect()
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let spec = catalogue::by_name(&parameters.part);
        let spec = spec.ok_or_else(|| JobError::Failed(format!("no part {}", parameters.part)))?;
        parameters.engine.on(spec, Measurement { parameters, context }).map(|row| vec![row])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let tables = vec![bars_table(outcomes), beside_table(outcomes), details(outcomes), calls(outcomes)];
        Presentation { tables, ..Presentation::default() }
    }
}

/// About how long a row takes.
fn seconds(parameters: &Parameters) -> f64 {
    let near_full = if parameters.objects > 2000 { 1.0 } else { 2.5 };
    let detecting = if parameters.engine == Engine::LogDetecting { 4.0 } else { 1.0 };
    let units = if parameters.part == "tinystore" { 1.0 } else { 3.0 };
    parameters.length.erases_min as f64 * 0.04 * near_full * detecting * units
}

fn of(engine: Engine, bar: &UpdateBar, seed: u64) -> Parameters {
    Parameters {
        engine,
        part: bar.part.to_owned(),
        objects: bar.objects,
        object_bytes: 100,
        update: bar.update,
        pace: Pace::NoSteps,
        length: Length::FULL,
        seed,
    }
}

fn full(seed: u64) -> Vec<Parameters> {
    let engines = |bar: &UpdateBar| match bar.objects {
        1400 => &[Engine::Log, Engine::LogDetecting, Engine::TinyStore][..],
        _ => &[Engine::Log, Engine::LogDetecting],
    };
    let bars = UPDATES.iter().flat_map(|bar| engines(bar).iter().map(move |&engine| of(engine, bar, seed)));
    let worn =
        Parameters { length: Length { erases_min: WEAR_ERASES, ..Length::FULL }, ..of(Engine::Log, &UPDATES[0], seed) };
    let fills = FILLS.into_iter().flat_map(|objects| {
        [Pace::NoSteps, Pace::Steps].map(|pace| Parameters { objects, pace, ..of(Engine::Log, &UPDATES[0], seed) })
    });
    let mut rows: Vec<Parameters> = bars.chain([worn]).collect();
    for row in fills {
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

/// A row of each engine, and one with steps.
fn quick(seed: u64) -> Vec<Parameters> {
    let short = |engine| Parameters { objects: 2800, length: Length::QUICK, ..of(engine, &UPDATES[0], seed) };
    let paced = Parameters { pace: Pace::Steps, ..short(Engine::Log) };
    vec![short(Engine::Log), short(Engine::LogDetecting), short(Engine::TinyStore), paced]
}

struct Measurement<'a> {
    parameters: &'a Parameters,
    context: &'a Context<'a>,
}

impl Work for Measurement<'_> {
    type Done = Row;

    fn with(self, mut heap: impl Subject) -> Result<Row, JobError> {
        let Measurement { parameters, context } = self;
        let Parameters { objects, object_bytes, update, pace, length, seed, .. } = *parameters;
        let mut population = Population::create(&mut heap, objects, object_bytes, seed)?;
        let run = Run { update, pace, length, context };
        let (status, steady) = match (population.len() == objects, run.steady(&mut heap, &mut population)) {
            (false, _) => (format!("holds {}", population.len()), Steady::default()),
            (_, Ok(steady)) => (if steady.settled { "steady" } else { "windows differ" }.to_owned(), steady),
            (_, Err(Refusal::Full)) => ("full".to_owned(), Steady::default()),
            (_, Err(Refusal::Failed(error))) => return Err(error),
        };
        let (read_mean, read_most) = population.reads(&mut heap, READS)?;
        let (wear, erases_a_unit) = wear(&heap);
        let (ram_bytes, mount) = (heap.ram_bytes(), Mount::measure(&mut heap)?);
        Ok(Row { status, steady, read_mean, read_most, wear, erases_a_unit, ram_bytes, mount })
    }
}

/// The row of a bar: without steps, of the usual length, or of whatever length there is.
fn find<'a>(outcomes: &'a [Outcome<Parameters, Row>], engine: Engine, bar: &UpdateBar) -> Option<&'a Row> {
    let is_it = |of: &Parameters| {
        let row = (of.engine, &*of.part, of.objects, of.update, of.pace);
        row == (engine, bar.part, bar.objects, bar.update, Pace::NoSteps) && of.length.erases_min < WEAR_ERASES
    };
    outcomes.iter().find(|outcome| is_it(&outcome.parameters)).map(|outcome| &outcome.row)
}

fn cost_text(cost: &Cost) -> String {
    match cost.erases {
        Some(erases) => format!("{} / {}", cost.programs, short(erases)),
        None => cost.programs.to_string(),
    }
}

/// Erases without a leading zero.
fn short(erases: f64) -> String {
    format!("{erases:.5}").trim_start_matches('0').to_owned()
}

fn measured(row: &Row) -> String {
    match &*row.status {
        "steady" => format!("{:.2} / {}", row.steady.programs, short(row.steady.erases)),
        status => status.to_owned(),
    }
}

/// Whether a bar and a goal are met by a row.
fn verdicts(row: &Row, bar: Option<Cost>, goal: Option<Cost>) -> String {
    let texts = [("bar", bar), ("goal", goal)].map(|(what, cost)| {
        let steady = &row.steady;
        cost.map(|cost| {
            let is_met = row.status == "steady" && cost.is_met(steady.programs, steady.erases);
            format!("{what} {}", Met(is_met))
        })
    });
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    if texts.is_empty() { "–".to_owned() } else { texts.join(", ") }
}

/// Every bar for updates beside what was measured.
fn bars_table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let title = "Program units / erases for each field updated; bars are for the heap without error detection.";
    let columns = ["part, objects", "row", "bar", "goal", "log-structured", "", "with error detection", ""];
    let mut table = Table::new(title, &columns);
    for bar in &UPDATES {
        let Some(row) = find(outcomes, Engine::Log, bar) else { continue };
        let text = |cost: Option<Cost>| cost.map_or("–".to_owned(), |cost| cost_text(&cost));
        let detecting = find(outcomes, Engine::LogDetecting, bar);
        table.push(vec![
            format!("{}, {}", bar.part, bar.objects),
            bar.update.to_string(),
            text(bar.bar),
            text(bar.goal),
            measured(row),
            verdicts(row, bar.bar, bar.goal),
            detecting.map_or("–".to_owned(), measured),
            detecting.map_or("–".to_owned(), |row| verdicts(row, bar.bar, bar.goal)),
        ]);
    }
    table
}

/// Worst read, wear and RAM.
fn beside_table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let mut table = Table::new("What is counted beside updates.", &["", "bar", "goal", "log-structured", ""]);
    let rows = || outcomes.iter().filter(|of| of.parameters.engine == Engine::Log && of.parameters.part == "tinystore");
    let at_1400 = rows().filter(|of| of.parameters.objects == 1400 && of.parameters.pace == Pace::NoSteps);
    if let Some(most) = at_1400.map(|of| of.row.read_most).max() {
        let [bar, goal] = WORST_READ.map(|words| Met(most as f64 <= words));
        table.push(vec![
            "words that reading a field reads, at most, 1,400 objects, all rows".to_owned(),
            WORST_READ[0].to_string(),
            WORST_READ[1].to_string(),
            most.to_string(),
            format!("bar {bar}, goal {goal}"),
        ]);
    }
    if let Some(worn) = rows().find(|of| of.parameters.length.erases_min == WEAR_ERASES) {
        table.push(vec![
            format!("erases of the most worn unit by the mean, at {:.0}", worn.row.erases_a_unit),
            bars::WEAR.to_string(),
            "–".to_owned(),
            format!("{:.3}", worn.row.wear),
            format!("bar {}", Met(worn.row.wear <= WEAR)),
        ]);
    }
    if let Some(of) = rows().next() {
        let bytes = of.row.ram_bytes + (64 - 56) * size_of::<norn_log_heap::UnitRow>();
        table.push(vec![
            "bytes of RAM for 64 units, with pointers of 8 bytes".to_owned(),
            RAM_BYTES.to_string(),
            "–".to_owned(),
            bytes.to_string(),
            if bytes as f64 <= RAM_BYTES { "bar met" } else { "with pointers of 4 bytes: `tools/size`" }.to_owned(),
        ]);
    }
    table
}

/// Every row with all that was counted.
fn details(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "heap",
        "part, objects",
        "row",
        "program units / erases",
        "reads",
        "a field read, mean",
        "at most",
        "wear",
        "at",
        "mount: reads",
        "program units",
        "erases",
        "ms",
    ];
    let mut table = Table::new("All rows, for each field updated; the mount is one without a word before.", &columns);
    for Outcome { parameters, row } in outcomes.iter().filter(|of| of.parameters.pace == Pace::NoSteps) {
        table.push(vec![
            parameters.engine.to_string(),
            format!("{}, {}", parameters.part, parameters.objects),
            parameters.update.to_string(),
            measured(row),
            format!("{:.1}", row.steady.reads),
            format!("{:.1}", row.read_mean),
            row.read_most.to_string(),
            format!("{:.3}", row.wear),
            format!("{:.0}", row.erases_a_unit),
            row.mount.mount_reads.to_string(),
            row.mount.mount_programs.to_string(),
            row.mount.mount_erases.to_string(),
            format!("{:.1}", row.mount.mount_us as f64 / 1000.0),
        ]);
    }
    table
}

/// The longest call by fill, without steps and with steps.
fn calls(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = ["objects", "worst call (erases)", "mean", "with steps: worst call (erases)", "worst step", "mean"];
    let mut table = Table::new(
        "Program units of the longest call that sets one field, over a whole run in steady state; and where steps are \
         taken before each call.",
        &columns,
    );
    let at = |objects, pace| {
        outcomes.iter().find(|of| {
            let of = &of.parameters;
            let row = (of.engine, &*of.part, of.objects, of.update, of.pace);
            row == (Engine::Log, "tinystore", objects, Update::OneField, pace) && of.length.erases_min < WEAR_ERASES
        })
    };
    for objects in FILLS {
        let (Some(without), Some(with)) = (at(objects, Pace::NoSteps), at(objects, Pace::Steps)) else { continue };
        let call = |row: &Row| match &*row.status {
            "full" => "full".to_owned(),
            _ => format!("{} ({})", row.steady.worst_programs, row.steady.worst_erases),
        };
        table.push(vec![
            objects.to_string(),
            call(&without.row),
            format!("{:.2}", without.row.steady.programs),
            call(&with.row),
            with.row.steady.worst_step.to_string(),
            format!("{:.2}", with.row.steady.programs),
        ]);
    }
    table
}
