//! Figure 7: how much of the part user data can fill, by array size, erase-unit size and initialization flags.

use norn_flash_sim::catalogue;
use norn_object_heap::ObjectHeap;
use serde::{Deserialize, Serialize};

use super::paper::PAPER;
use super::subject::{Flags, Medium, configuration, eeprom, flash};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Table, figure};
use crate::settings::Settings;

/// Figure 7.
pub struct Capacity;

/// A point of the figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    medium: Medium,
    /// Erase unit of the flash, and commit log of the EEPROM heap.
    unit_kib: u32,
    initialization_flags: Flags,
    element_bytes: u8,
    array_bytes: u32,
}

/// Its height.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    status: String,
    arrays: usize,
    user_percent: Option<f64>,
}

const PART_BYTES: f64 = 448.0 * 1024.0;
const UNITS_KIB: [u32; 6] = [2, 4, 8, 16, 32, 64];
const SIZES: [u32; 13] = [10, 20, 50, 100, 200, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000];
const QUICK_SIZES: [u32; 4] = [10, 100, 1000, 16_000];
/// Array sizes from which on the text's shares for large arrays are meant.
const LARGE: u32 = 500;
/// Array sizes up to which few arrays fill the part, so that shares jump.
const MANY: u32 = 16_000;

impl Experiment for Capacity {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-capacity",
            paper: PAPER,
            reproduces: "Figure 7",
            summary: "Share of 448 KB that user data takes when arrays of two-byte elements are created until no more \
                      fits: erase units of 2 to 64 KB with initialization flags, 8 KB also without, and with one-byte \
                      elements; the EEPROM heap with commit logs as large as an erase unit. Each array or section has \
                      one record, as in the paper.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let flash = UNITS_KIB.map(|unit_kib| (Medium::Flash, unit_kib, Flags::On, 2));
        let others =
            [(Medium::Flash, 8, Flags::Off, 2), (Medium::Flash, 8, Flags::On, 1), (Medium::Eeprom, 8, Flags::On, 1)];
        let eeprom = UNITS_KIB.map(|unit_kib| (Medium::Eeprom, unit_kib, Flags::On, 2));
        let configurations = flash.into_iter().chain(others).chain(eeprom);
        let sizes = settings.choose(&QUICK_SIZES[..], &SIZES[..]);
        let job = |((medium, unit_kib, initialization_flags, element_bytes), &array_bytes)| Job {
            parameters: Parameters { medium, unit_kib, initialization_flags, element_bytes, array_bytes },
            seconds: 0.2 + 20.0 / f64::from(array_bytes),
        };
        configurations.flat_map(|configuration| sizes.iter().map(move |size| (configuration, size))).map(job).collect()
    }

    fn measure(parameters: &Parameters, _: &Context) -> Result<Vec<Row>, JobError> {
        let arrays = match parameters.medium {
            Medium::Flash => {
                let config = configuration(2, parameters.initialization_flags);
                filled(&mut flash(catalogue::tinystore_units(parameters.unit_kib), config), parameters)
            }
            Medium::Eeprom => filled(&mut eeprom(parameters.unit_kib * 1024), parameters),
        };
        let percent = arrays as f64 * f64::from(parameters.array_bytes) / PART_BYTES * 100.0;
        Ok(vec![match arrays {
            0 => Row { status: "not one fits".to_owned(), arrays, user_percent: None },
            _ => Row { status: "measured".to_owned(), arrays, user_percent: Some(percent) },
        }])
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

fn filled<H: ObjectHeap>(heap: &mut H, parameters: &Parameters) -> usize {
    let count = (parameters.array_bytes / u32::from(parameters.element_bytes)) as usize;
    std::iter::from_fn(|| heap.create_array(count, parameters.element_bytes, b"").ok()).count()
}

/// The line of a figure that a point is on.
fn line(parameters: &Parameters) -> String {
    let unit = parameters.unit_kib;
    let elements = if parameters.element_bytes == 1 { ", elements of 1 byte" } else { "" };
    match (parameters.medium, parameters.initialization_flags) {
        (Medium::Flash, Flags::On) => format!("flash, units of {unit} KB{elements}"),
        (Medium::Flash, Flags::Off) => format!("flash, units of {unit} KB, no flags{elements}"),
        (Medium::Eeprom, _) => format!("EEPROM, log of {unit} KB{elements}"),
    }
}

/// The least and the greatest share among the configurations with two-byte elements that are meant, with the
/// configurations' names.
fn ends(outcomes: &[Outcome<Parameters, Row>], is_meant: impl Fn(&Parameters) -> bool) -> Option<[(f64, String); 2]> {
    let meant =
        outcomes.iter().filter(|outcome| outcome.parameters.element_bytes == 2 && is_meant(&outcome.parameters));
    let mut shares: Vec<(f64, String)> =
        meant.filter_map(|outcome| Some((outcome.row.user_percent?, line(&outcome.parameters)))).collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some([shares.first()?.clone(), shares.last()?.clone()])
}

fn comparisons(outcomes: &[Outcome<Parameters, Row>]) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    let published = [(Medium::Eeprom, "EEPROM", 35.0, [83.0, 98.0]), (Medium::Flash, "flash", 60.0, [60.0, 80.0])];
    for (medium, name, overhead, [low, high]) in published {
        let small = ends(outcomes, |of| of.medium == medium && of.array_bytes == 10);
        comparisons.push(Comparison::claim(
            format!("Figure 7: overhead of arrays of 10 bytes, {name}"),
            &format!("more than {overhead}%"),
            small
                .map(|[_, (most, of)]| (100.0 - most > overhead, format!("{}% and more ({of})", figure(100.0 - most)))),
        ));
        for (units, which) in [(8..=8, "8 KB"), (2..=64, "2 to 64 KB")] {
            let is_large = |of: &Parameters| of.medium == medium && (LARGE..=MANY).contains(&of.array_bytes);
            let large = ends(outcomes, |of| is_large(of) && units.contains(&of.unit_kib));
            let claim = Comparison::claim(
                format!("Figure 7: share filled by large arrays ({LARGE} to {MANY} bytes), {name}, {which}"),
                &format!("{low} to {high}%"),
                large.clone().map(|[(least, poor), (most, rich)]| {
                    (least >= low && most <= high, format!("{}% ({poor}) to {}% ({rich})", figure(least), figure(most)))
                }),
            );
            comparisons.push(claim.because(large.map_or_else(String::new, |[(least, _), (most, _)]| {
                let [below, above] = [low - least, most - high].map(|percent| figure(percent.max(0.0)));
                let parts = (PART_BYTES / 1024.0) as u32 / units.end();
                format!(
                    "{below} points below the range and {above} above it; log and free unit take whole units, of which \
                     there are {parts} of {} KB",
                    units.end()
                )
            })));
        }
    }
    comparisons
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let mut sizes: Vec<u32> = outcomes.iter().map(|outcome| outcome.parameters.array_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let heads: Vec<String> = ["configuration".to_owned()].into_iter().chain(sizes.iter().map(u32::to_string)).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = Table::new("Share of the part in percent, by bytes an array:", &heads);
    for name in lines(outcomes, |_| true) {
        let share = |&bytes: &u32| {
            let found = outcomes
                .iter()
                .find(|outcome| line(&outcome.parameters) == name && outcome.parameters.array_bytes == bytes);
            found.map_or_else(String::new, |outcome| match outcome.row.user_percent {
                Some(percent) => format!("{percent:.1}"),
                None => "none fits".to_owned(),
            })
        };
        table.push([name.clone()].into_iter().chain(sizes.iter().map(share)).collect());
    }
    table
}

/// The lines there are, each once.
fn lines(outcomes: &[Outcome<Parameters, Row>], is_meant: impl Fn(&Parameters) -> bool) -> Vec<String> {
    let mut names = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| is_meant(&outcome.parameters)) {
        let name = line(&outcome.parameters);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    let panel = |medium, title: &str| {
        let series = lines(outcomes, |of| of.medium == medium && of.element_bytes == 2).into_iter().map(|name| {
            let points = outcomes.iter().filter(|outcome| line(&outcome.parameters) == name);
            let points = points
                .filter_map(|outcome| Some((f64::from(outcome.parameters.array_bytes), outcome.row.user_percent?)));
            Series::line(name.clone(), points.collect())
        });
        let (x, y) = (Axis::log("bytes an array"), Axis::linear("user data, % of 448 KB"));
        Panel { title: title.to_owned(), x, y, chart: Chart::Lines(series.collect()) }
    };
    Plot {
        name: "tinystore-figure7".to_owned(),
        title: "Figure 7: user data that fits".to_owned(),
        panels: vec![panel(Medium::Flash, "flash"), panel(Medium::Eeprom, "EEPROM")],
        columns: 2,
    }
}
