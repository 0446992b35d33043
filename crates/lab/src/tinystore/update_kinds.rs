//! What updates of several kinds cost by the published structure and with delta records, on devices that are fuller and
//! fuller and on larger and larger objects: weaknesses with which the paper concludes (section 7).
//!
//! One object in five is hot, and an update goes to a hot one with probability 0.9.

use norn_flash_sim::catalogue;
use norn_object_heap::Ref;
use serde::{Deserialize, Serialize};

use super::condition::UNITS;
use super::costs::{Costs, Window};
use super::paper::PAPER;
use super::population::{Shape, fresh};
use super::subject::{FlashHeap, Structure, Subject, flash};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Presentation, Table, figure};
use crate::settings::Settings;

/// Kinds of updates by both structures.
pub struct UpdateKinds;

/// What one update changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// One random field, durable by itself.
    OneField,
    /// All fields of an object, each durable by itself.
    AllFields,
    /// All fields of an object in one transaction, field by field.
    WholeObject,
    /// All fields of an object at once.
    AtOnce,
    /// One random field in each of ten objects, in one transaction.
    TenObjects,
}

/// A kind of update under a condition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    structure: Structure,
    kind: Kind,
    fields: usize,
    /// Objects in percent of those that fit when they have just been created.
    fullness_percent: u32,
    warm_up_erases: u64,
    windows: usize,
    window_erases: u64,
    seed: u64,
}

/// Costs of one field update; `status` says why there are none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    status: String,
    objects: usize,
    #[serde(flatten)]
    costs: Option<Costs>,
}

const FULLNESS: [u32; 7] = [20, 35, 50, 60, 70, 80, 90];
/// Fields of the objects that fill a device more and more.
const FIELDS: usize = 50;
const SIZES: [usize; 6] = [5, 10, 25, 50, 100, 250];
/// Fullness for objects of all sizes.
const THIRD: u32 = 33;
const TEN: usize = 10;
/// Field updates after which a run that hardly erases ends.
const UPDATES_MAX: u64 = 4_000_000;

impl Kind {
    const ALL: [Kind; 5] = [Kind::OneField, Kind::AllFields, Kind::WholeObject, Kind::AtOnce, Kind::TenObjects];

    fn text(self) -> &'static str {
        match self {
            Kind::OneField => "one field, durable",
            Kind::AllFields => "all fields, each durable",
            Kind::WholeObject => "whole object in a transaction, field by field",
            Kind::AtOnce => "whole object at once",
            Kind::TenObjects => "one field in each of ten objects, one transaction",
        }
    }
}

impl Experiment for UpdateKinds {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-update-kinds",
            paper: PAPER,
            reproduces: "section 7, updates of large objects and nearly full devices",
            summary: "The paper concludes that updates of single fields of large objects are slow, and updates on \
                      nearly full devices. Costs of a field update by the published structure \
                      (`Config::tinystore_2006()`) and with delta records (`Config::default()`), by kind of update: \
                      objects of fifty fields of two bytes, 20/80, on devices fuller and fuller; and objects of all \
                      sizes on a device that is a third full. Full is what fits when objects have just been created, \
                      more than when lists are as long as they may be.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let fuller = FULLNESS.into_iter().flat_map(|full| Kind::ALL.map(|kind| (kind, FIELDS, full)));
        let larger = SIZES.map(|fields| (Kind::OneField, fields, THIRD));
        let all: Vec<_> = fuller.chain(larger).collect();
        let quick = [(Kind::OneField, FIELDS, 50), (Kind::AtOnce, FIELDS, 50), (Kind::TenObjects, FIELDS, 50)];
        let conditions = settings.choose(&quick[..], &all[..]);
        let (warm_up_erases, windows, window_erases) =
            settings.choose((2 * UNITS, 3, UNITS), (10 * UNITS, 10, 2 * UNITS));
        let job = |&(kind, fields, fullness_percent): &(Kind, usize, u32)| {
            Structure::BOTH.map(|structure| Job {
                parameters: Parameters {
                    structure,
                    kind,
                    fields,
                    fullness_percent,
                    warm_up_erases,
                    windows,
                    window_erases,
                    seed: settings.seed,
                },
                seconds: (warm_up_erases + windows as u64 * window_erases) as f64 * 0.004,
            })
        };
        conditions.iter().flat_map(job).collect()
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let shape = Shape { fields: parameters.fields, width: 2 };
        // Both structures hold as many when objects have just been created.
        let full = fresh(&mut flash(catalogue::tinystore(), Structure::Published.config()), shape);
        let objects = full * parameters.fullness_percent as usize / 100;
        let costs = Bench::new(parameters, shape, objects).and_then(|mut bench| bench.costs(parameters, context));
        Ok(vec![match costs {
            Ok(costs) => Row { status: "measured".to_owned(), objects, costs: Some(costs) },
            Err(status) => Row { status, objects, costs: None },
        }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        Presentation { tables: tables(outcomes), plots: vec![plot(outcomes)], ..Presentation::default() }
    }
}

/// A heap under one kind of update.
struct Bench {
    heap: FlashHeap,
    objects: Vec<Ref>,
    shape: Shape,
    kind: Kind,
    random: fastrand::Rng,
    updates: u64,
}

impl Bench {
    /// A heap with objects whose fields are all set.
    fn new(parameters: &Parameters, shape: Shape, objects: usize) -> Result<Bench, String> {
        let mut heap = flash(catalogue::tinystore(), parameters.structure.config());
        let objects = (0..objects).map(|_| shape.create(&mut heap)).collect::<Option<Vec<Ref>>>();
        let mut bench = Bench {
            heap,
            objects: objects.ok_or("the objects do not fit")?,
            shape,
            kind: parameters.kind,
            random: fastrand::Rng::with_seed(parameters.seed),
            updates: 0,
        };
        for index in 0..bench.objects.len() {
            bench.put_all(bench.objects[index]).map_err(|error| format!("{error} when fields were first set"))?;
        }
        bench.updates = 0;
        Ok(bench)
    }

    fn draw(&mut self) -> Ref {
        let hot = (self.objects.len() / 5).max(1);
        let range = if self.random.f32() < 0.9 { 0..hot } else { hot..self.objects.len() };
        self.objects[self.random.usize(range)]
    }

    fn put(&mut self, object: Ref, field: usize) -> Result<(), String> {
        self.updates += 1;
        let value = self.random.u16(..);
        self.shape.put(&mut self.heap, object, field, value).map_err(|error| error.to_string())
    }

    fn put_any(&mut self) -> Result<(), String> {
        let (object, field) = (self.draw(), self.random.usize(..self.shape.fields));
        self.put(object, field)
    }

    fn put_each(&mut self, object: Ref) -> Result<(), String> {
        (0..self.shape.fields).try_for_each(|field| self.put(object, field))
    }

    fn put_all(&mut self, object: Ref) -> Result<(), String> {
        let values: Vec<u8> = std::iter::repeat_with(|| self.random.u8(..)).take(self.shape.fields * 2).collect();
        self.updates += self.shape.fields as u64;
        self.heap.put_fields(object, 0, &values).map_err(|error| error.to_string())
    }

    fn transaction(&mut self, changes: impl FnOnce(&mut Self) -> Result<(), String>) -> Result<(), String> {
        self.heap.begin().map_err(|error| error.to_string())?;
        changes(self)?;
        self.heap.commit().map_err(|error| error.to_string())
    }

    fn step(&mut self) -> Result<(), String> {
        let object = self.draw();
        let done = match self.kind {
            Kind::OneField => self.put_any(),
            Kind::AllFields => self.put_each(object),
            Kind::WholeObject => self.transaction(|bench| bench.put_each(object)),
            Kind::AtOnce => self.put_all(object),
            Kind::TenObjects => self.transaction(|bench| (0..TEN).try_for_each(|_| bench.put_any())),
        };
        done.map_err(|error| format!("{error} after {} updates", self.updates))
    }

    /// Continues until the part has erased the given number of units.
    fn run(&mut self, erases: u64) -> Result<Window, String> {
        let ((before, ns), updates) = (self.heap.totals(), self.updates);
        while self.heap.totals().0.erases < before.erases + erases && self.updates < updates + UPDATES_MAX {
            self.step()?;
        }
        let (after, ns_after) = self.heap.totals();
        Ok(Window::of(after - before, ns_after - ns, self.updates - updates))
    }

    fn costs(&mut self, parameters: &Parameters, context: &Context) -> Result<Costs, String> {
        self.run(parameters.warm_up_erases)?;
        let (mut windows, updates) = (Vec::new(), self.updates);
        for window in 0..parameters.windows {
            windows.push(self.run(parameters.window_erases)?);
            context.progress(window as u64 + 1, parameters.windows as u64);
        }
        Ok(Costs::of(&windows, self.updates - updates))
    }
}

/// Outcomes by condition, published structure and delta records side by side.
fn pairs(
    outcomes: &[Outcome<Parameters, Row>],
    kind: Kind,
    key: fn(&Parameters) -> Option<usize>,
) -> Vec<(usize, [Option<&Row>; 2])> {
    let of_kind = |outcome: &&Outcome<Parameters, Row>| outcome.parameters.kind == kind;
    let mut keys: Vec<usize> = outcomes.iter().filter(of_kind).filter_map(|outcome| key(&outcome.parameters)).collect();
    keys.dedup();
    let row = |at, structure| {
        let is_it = |of: &Parameters| key(of) == Some(at) && of.structure == structure;
        outcomes.iter().filter(of_kind).find(|outcome| is_it(&outcome.parameters)).map(|outcome| &outcome.row)
    };
    keys.into_iter().map(|at| (at, Structure::BOTH.map(|structure| row(at, structure)))).collect()
}

fn by_fullness(of: &Parameters) -> Option<usize> {
    (of.fullness_percent != THIRD).then_some(of.fullness_percent as usize)
}

fn by_fields(of: &Parameters) -> Option<usize> {
    (of.fullness_percent == THIRD).then_some(of.fields)
}

fn tables(outcomes: &[Outcome<Parameters, Row>]) -> Vec<Table> {
    let columns = |first| {
        [
            first,
            "objects",
            "reads, as published",
            "delta records",
            "writes, as published",
            "±",
            "delta records",
            "±",
            "erases, as published",
            "delta records",
            "ms, as published",
            "delta records",
        ]
    };
    let table = |title: String, first, kind, key| {
        let mut table = Table::new(title, &columns(first));
        for (at, rows) in pairs(outcomes, kind, key) {
            table.push(cells(at, rows));
        }
        table
    };
    let fuller = Kind::ALL
        .into_iter()
        .map(|kind| table(format!("Objects of fifty fields, {}:", kind.text()), "% full", kind, by_fullness));
    let larger = table("A third full, one field, durable:".to_owned(), "fields", Kind::OneField, by_fields);
    fuller.chain([larger]).filter(|table| !table.rows.is_empty()).collect()
}

fn cells(at: usize, rows: [Option<&Row>; 2]) -> Vec<String> {
    let text = |structure: usize, pick: fn(&Costs) -> String| match rows[structure] {
        Some(Row { costs: Some(costs), .. }) => pick(costs),
        _ => String::new(),
    };
    let status = |structure: usize| match rows[structure] {
        Some(Row { costs: None, status, .. }) => status.clone(),
        _ => text(structure, |costs| figure(costs.writes)),
    };
    let objects = rows.into_iter().flatten().next().map_or(0, |row| row.objects);
    let mut cells = vec![at.to_string(), objects.to_string()];
    cells.extend([0, 1].map(|structure| text(structure, |costs| figure(costs.reads))));
    for structure in [0, 1] {
        cells.push(status(structure));
        cells.push(text(structure, |costs| costs.writes_ci.map_or_else(String::new, |half| format!("{half:.1e}"))));
    }
    cells.extend([0, 1].map(|structure| text(structure, |costs| figure(costs.erases))));
    cells.extend([0, 1].map(|structure| text(structure, |costs| figure(costs.ms))));
    cells
}

fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    let panel = |title: &str, x: Axis, kind, key| {
        let pairs = pairs(outcomes, kind, key);
        let series = [0, 1].map(|structure| {
            let point =
                |(at, rows): &(usize, [Option<&Row>; 2])| Some((*at as f64, rows[structure]?.costs.as_ref()?.writes));
            Series::line(Structure::BOTH[structure].name(), pairs.iter().filter_map(point).collect())
        });
        let y = Axis::log("words written a field update");
        Panel { title: title.to_owned(), x, y, chart: Chart::Lines(series.into()) }
    };
    let fuller = Kind::ALL.into_iter().map(|kind| panel(kind.text(), Axis::linear("% full"), kind, by_fullness));
    let larger = panel("one field, durable, a third full", Axis::log("fields an object"), Kind::OneField, by_fields);
    Plot {
        name: "tinystore-update-kinds".to_owned(),
        title: "Updates by the published structure and with delta records".to_owned(),
        panels: fuller.chain([larger]).collect(),
        columns: 2,
    }
}
