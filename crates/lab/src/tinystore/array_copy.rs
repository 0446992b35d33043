//! Figure 8: what atomicity costs: ArrayCopy beside ArrayFillNonAtomic, on both heaps.
//!
//! Every element changes in every round, since the EEPROM heap does not write what is there: fills alternate between
//! values, and copies between two sources.

use norn_flash_sim::catalogue;
use norn_object_heap::{Elements, Ref};
use serde::{Deserialize, Serialize};

use super::condition::{LIST_LENGTH, LOG_BYTES, UNITS};
use super::paper::PAPER;
use super::subject::{Flags, Medium, Subject, configuration, eeprom, flash};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::interval::Interval;
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Table, figure};
use crate::settings::Settings;

/// Figure 8.
pub struct ArrayCopy;

/// The operation that is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// All elements as one.
    ArrayCopy,
    /// Each by itself; on EEPROM not even that.
    ArrayFillNonAtomic,
}

/// A point of the figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    medium: Medium,
    operation: Operation,
    elements: usize,
    warm_up_erases: u64,
    windows: usize,
    window_erases: u64,
}

/// Costs an element, with half the width of the 95% confidence interval of the time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    status: String,
    rounds: u64,
    reads: Option<f64>,
    writes: Option<f64>,
    erases: Option<f64>,
    ms: Option<f64>,
    ms_ci: Option<f64>,
}

const SIZES: [usize; 9] = [10, 25, 50, 100, 250, 500, 1000, 2000, 4000];
const QUICK_SIZES: [usize; 2] = [50, 1000];

/// A column of a row.
type Pick = fn(&Row) -> Option<f64>;

impl Experiment for ArrayCopy {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-array-copy",
            paper: PAPER,
            reproduces: "Figure 8",
            summary: "ArrayCopy, which is atomic, beside ArrayFillNonAtomic: one pair of arrays, or one array, of \
                      one-byte elements; per element. Every element changes in every round.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let mut jobs = Vec::new();
        for medium in [Medium::Flash, Medium::Eeprom] {
            for operation in [Operation::ArrayCopy, Operation::ArrayFillNonAtomic] {
                for &elements in settings.choose(&QUICK_SIZES[..], &SIZES[..]) {
                    let (warm_up_erases, windows, window_erases) = match medium {
                        Medium::Flash => settings.choose((UNITS, 3, UNITS), (5 * UNITS, 10, 2 * UNITS)),
                        Medium::Eeprom => settings.choose((5000, 3, 5000), (50_000, 10, 20_000)),
                    };
                    let parameters = Parameters { medium, operation, elements, warm_up_erases, windows, window_erases };
                    jobs.push(Job { parameters, seconds: 2.0 });
                }
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let measured = match parameters.medium {
            Medium::Flash => {
                repeat(flash(catalogue::tinystore(), configuration(LIST_LENGTH, Flags::On)), parameters, context)
            }
            Medium::Eeprom => repeat(eeprom(LOG_BYTES), parameters, context),
        };
        let refused =
            |status| Row { status, rounds: 0, reads: None, writes: None, erases: None, ms: None, ms_ci: None };
        Ok(vec![measured.unwrap_or_else(refused)])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        Presentation {
            comparisons: comparisons(outcomes),
            tables: vec![table(outcomes)],
            plots: vec![plot(outcomes)],
            remarks: Vec::new(),
        }
    }
}

/// Repeats the operation, window by window.
fn repeat<H: Subject>(mut heap: H, parameters: &Parameters, context: &Context) -> Result<Row, String> {
    let count = parameters.elements;
    let mut array = |value: u8| -> Result<Ref, String> {
        let array = heap.create_array(count, 1, b"").map_err(|error| error.to_string())?;
        let all = Elements { array, first: 0, count };
        heap.array_fill_non_atomic(all, &[value]).map_err(|error| error.to_string())?;
        Ok(array)
    };
    let (sources, target) = ([array(0x55)?, array(0xA6)?], array(0x99)?);
    let mut rounds = 0u64;
    let mut until = |heap: &mut H, erases: u64| -> Result<u64, String> {
        let (start, end) = (rounds, heap.totals().0.erases + erases);
        while heap.totals().0.erases < end {
            let all = |array| Elements { array, first: 0, count };
            let result = match parameters.operation {
                Operation::ArrayCopy => heap.array_copy(all(sources[rounds as usize % 2]), (target, 0)),
                Operation::ArrayFillNonAtomic => heap.array_fill_non_atomic(all(target), &[(rounds % 251) as u8 + 1]),
            };
            result.map_err(|error| format!("{error} after {rounds} rounds"))?;
            rounds += 1;
        }
        Ok(rounds - start)
    };
    until(&mut heap, parameters.warm_up_erases)?;
    let (mut windows, mut counted) = (Vec::new(), 0);
    for window in 0..parameters.windows {
        let (before, ns) = heap.totals();
        let rounds = until(&mut heap, parameters.window_erases)?;
        let (after, ns_after) = heap.totals();
        let (counters, elements) = (after - before, rounds as f64 * count as f64);
        let sums =
            [counters.reads() as f64, counters.programs() as f64, counters.erases as f64, (ns_after - ns) as f64 / 1e6];
        windows.push(sums.map(|sum| sum / elements));
        counted += rounds;
        context.progress(window as u64 + 1, parameters.windows as u64);
    }
    let [reads, writes, erases, ms] =
        [0, 1, 2, 3].map(|which| Interval::of(&windows.iter().map(|window| window[which]).collect::<Vec<_>>()));
    Ok(Row {
        status: "measured".to_owned(),
        rounds: counted,
        reads: Some(reads.mean),
        writes: Some(writes.mean),
        erases: Some(erases.mean),
        ms: Some(ms.mean),
        ms_ci: ms.half_width,
    })
}

fn row(outcomes: &[Outcome<Parameters, Row>], medium: Medium, operation: Operation, elements: usize) -> Option<&Row> {
    let is_it = |of: &Parameters| (of.medium, of.operation, of.elements) == (medium, operation, elements);
    outcomes.iter().find(|outcome| is_it(&outcome.parameters)).map(|outcome| &outcome.row)
}

fn sizes(outcomes: &[Outcome<Parameters, Row>]) -> Vec<usize> {
    let mut sizes: Vec<usize> = outcomes.iter().map(|outcome| outcome.parameters.elements).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// What a copy takes over what a fill takes, at each size.
fn ratios(outcomes: &[Outcome<Parameters, Row>], medium: Medium, pick: Pick) -> Vec<f64> {
    let of = |operation, elements| pick(row(outcomes, medium, operation, elements)?);
    let ratio = |elements| Some(of(Operation::ArrayCopy, elements)? / of(Operation::ArrayFillNonAtomic, elements)?);
    sizes(outcomes).into_iter().filter_map(ratio).collect()
}

fn comparisons(outcomes: &[Outcome<Parameters, Row>]) -> Vec<Comparison> {
    let ends =
        |values: &[f64]| Some((values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?));
    let text = |(low, high): (f64, f64)| format!("{} to {} times", figure(low), figure(high));
    let within = |medium, pick, low: f64, high: f64| {
        ends(&ratios(outcomes, medium, pick)).map(|found| (found.0 >= low && found.1 <= high, text(found)))
    };
    let of = |medium, operation, pick: Pick| -> Vec<f64> {
        sizes(outcomes).into_iter().filter_map(|elements| pick(row(outcomes, medium, operation, elements)?)).collect()
    };
    let trend = |medium, operation, pick: Pick, holds: fn(f64, f64) -> bool| {
        let values = of(medium, operation, pick);
        let (first, last) = (*values.first()?, *values.last()?);
        let sizes = sizes(outcomes);
        let places = (sizes.first()?, sizes.last()?);
        Some((
            holds(first, last),
            format!("{} with {} elements, {} with {}", figure(first), places.0, figure(last), places.1),
        ))
    };
    vec![
        Comparison::claim(
            "Figure 8: ArrayCopy over ArrayFillNonAtomic, writes, EEPROM",
            "7 to 8 times",
            within(Medium::Eeprom, |row| row.writes, 7.0, 8.0),
        )
        .because(words(outcomes, Medium::Eeprom)),
        Comparison::claim(
            "Figure 8: ArrayCopy over ArrayFillNonAtomic, time, EEPROM",
            "7 to 8 times",
            within(Medium::Eeprom, |row| row.ms, 7.0, 8.0),
        )
        .because(words(outcomes, Medium::Eeprom)),
        Comparison::claim(
            "Figure 8: ArrayCopy over ArrayFillNonAtomic, time, flash",
            "a little more than once",
            within(Medium::Flash, |row| row.ms, 1.0, 2.0),
        )
        .because(words(outcomes, Medium::Flash)),
        Comparison::claim(
            "Figure 8: writes of ArrayCopy, flash, as arrays grow",
            "fall",
            trend(Medium::Flash, Operation::ArrayCopy, |row| row.writes, |first, last| last < first),
        )
        .because(words(outcomes, Medium::Flash)),
        Comparison::claim(
            "Figure 8: writes of ArrayCopy, EEPROM, as arrays grow",
            "almost constant",
            trend(
                Medium::Eeprom,
                Operation::ArrayCopy,
                |row| row.writes,
                |first, last| last <= first && last > 0.5 * first,
            ),
        )
        .because(words(outcomes, Medium::Eeprom)),
        Comparison::claim(
            "Figure 8: reads of ArrayCopy, EEPROM, as arrays grow",
            "rise",
            trend(Medium::Eeprom, Operation::ArrayCopy, |row| row.reads, |first, last| last > 2.0 * first),
        )
        .because(words(outcomes, Medium::Eeprom)),
        Comparison::claim(
            "Figure 8: reads of ArrayCopy, flash, as arrays grow",
            "fall",
            trend(Medium::Flash, Operation::ArrayCopy, |row| row.reads, |first, last| last < first),
        )
        .because(words(outcomes, Medium::Flash)),
    ]
}

/// What an element of the largest array takes of a part; EEPROM's log has old values, and eight of them in a record.
fn words(outcomes: &[Outcome<Parameters, Row>], medium: Medium) -> String {
    let words = |operation| row(outcomes, medium, operation, *sizes(outcomes).last()?)?.writes;
    let log = match medium {
        Medium::Eeprom => "a record of the log takes old values of eight elements at once: ",
        Medium::Flash => "",
    };
    let text = |(copy, fill): (f64, f64)| {
        format!(
            "{log}{} words written an element of the largest array, {} where it is filled",
            figure(copy),
            figure(fill)
        )
    };
    words(Operation::ArrayCopy).zip(words(Operation::ArrayFillNonAtomic)).map_or_else(String::new, text)
}

fn name(medium: Medium) -> &'static str {
    match medium {
        Medium::Flash => "flash",
        Medium::Eeprom => "EEPROM",
    }
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = ["heap", "operation", "elements", "reads", "writes", "erases", "ms", "±"];
    let mut table = Table::new("Per element:", &columns);
    for Outcome { parameters, row } in outcomes {
        let mut cells = vec![
            name(parameters.medium).to_owned(),
            format!("{:?}", parameters.operation),
            parameters.elements.to_string(),
        ];
        cells.extend(
            [row.reads, row.writes, row.erases, row.ms].map(|cost| cost.map_or_else(|| row.status.clone(), figure)),
        );
        cells.push(row.ms_ci.map_or_else(String::new, |half| format!("{half:.1e}")));
        table.push(cells);
    }
    table
}

fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    let panel = |(label, pick): (&str, Pick)| {
        let lines = [Medium::Flash, Medium::Eeprom].into_iter().flat_map(|medium| {
            [Operation::ArrayCopy, Operation::ArrayFillNonAtomic].map(|operation| (medium, operation))
        });
        let series = lines.map(|(medium, operation)| {
            let point = |elements| Some((elements as f64, pick(row(outcomes, medium, operation, elements)?)?));
            Series::line(
                format!("{}, {operation:?}", name(medium)),
                sizes(outcomes).into_iter().filter_map(point).collect(),
            )
        });
        Panel {
            title: label.to_owned(),
            x: Axis::log("elements of one byte"),
            y: Axis::log(label),
            chart: Chart::Lines(series.collect()),
        }
    };
    let panels: [(&str, Pick); 3] = [
        ("words read an element", |row| row.reads),
        ("words written an element", |row| row.writes),
        ("milliseconds an element", |row| row.ms),
    ];
    Plot {
        name: "tinystore-figure8".to_owned(),
        title: "Figure 8: an atomic copy beside a fill that is not".to_owned(),
        panels: panels.into_iter().map(panel).collect(),
        columns: 2,
    }
}
