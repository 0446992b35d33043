//! What the maximal length of lists does to capacity (section 6.3 says it, without a figure).

use norn_flash_sim::catalogue;
use serde::{Deserialize, Serialize};

use super::paper::PAPER;
use super::population::{Shape, fresh, full};
use super::subject::{Flags, configuration, flash};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Plot, Series};
use crate::presentation::{Comparison, Presentation, Table, figure};
use crate::settings::Settings;

/// List length against capacity.
pub struct ListLength;

/// A point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    list_length_max: u8,
    object_bytes: u32,
}

/// Objects that fit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    objects_fresh: usize,
    objects_full: usize,
    user_percent: f64,
}

const LENGTHS: [u8; 6] = [1, 2, 3, 5, 10, 20];
const SIZES: [u32; 6] = [10, 20, 50, 100, 200, 500];
const QUICK_SIZES: [u32; 2] = [20, 200];
const PART_BYTES: f64 = 448.0 * 1024.0;

impl Experiment for ListLength {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-list-length",
            paper: PAPER,
            reproduces: "section 6.3, lists and capacity",
            summary: "Objects that fit when every list has its maximal length, as a share of 448 KB that their fields \
                      take.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let sizes = settings.choose(&QUICK_SIZES[..], &SIZES[..]);
        let all = LENGTHS.into_iter().flat_map(|length| sizes.iter().map(move |&bytes| (length, bytes)));
        let job = |(list_length_max, object_bytes)| Job {
            parameters: Parameters { list_length_max, object_bytes },
            seconds: 0.5,
        };
        all.map(job).collect()
    }

    fn measure(parameters: &Parameters, _: &Context) -> Result<Vec<Row>, JobError> {
        let heap = || flash(catalogue::tinystore(), configuration(parameters.list_length_max, Flags::On));
        let shape = Shape::of_bytes(parameters.object_bytes);
        let objects_full = full(&mut heap(), shape, parameters.list_length_max);
        let user_percent = objects_full as f64 * f64::from(parameters.object_bytes) / PART_BYTES * 100.0;
        Ok(vec![Row { objects_fresh: fresh(&mut heap(), shape), objects_full, user_percent }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let share = |length: u8, bytes: u32| {
            let is_it = |of: &Parameters| (of.list_length_max, of.object_bytes) == (length, bytes);
            Some(outcomes.iter().find(|outcome| is_it(&outcome.parameters))?.row.user_percent)
        };
        let mut sizes: Vec<u32> = outcomes.iter().map(|outcome| outcome.parameters.object_bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let shrinks =
            sizes.iter().all(|&bytes| LENGTHS.windows(2).all(|pair| share(pair[0], bytes) > share(pair[1], bytes)));
        let halves: Vec<f64> = sizes.iter().filter_map(|&bytes| Some(share(2, bytes)? / share(1, bytes)?)).collect();
        let ends = halves.iter().copied().reduce(f64::min).zip(halves.iter().copied().reduce(f64::max));
        let mut table =
            Table::new("", &["longest list", "bytes an object", "objects fresh", "objects full", "user data, %"]);
        for Outcome { parameters, row } in outcomes {
            let counts =
                [parameters.object_bytes as usize, row.objects_fresh, row.objects_full].map(|count| count.to_string());
            let mut cells = vec![parameters.list_length_max.to_string()];
            cells.extend(counts);
            cells.push(format!("{:.1}", row.user_percent));
            table.push(cells);
        }
        let line = |&bytes: &u32| {
            let points = LENGTHS.iter().filter_map(|&length| Some((f64::from(length), share(length, bytes)?)));
            Series::line(format!("{bytes} bytes"), points.collect())
        };
        let chart = Chart::Lines(sizes.iter().map(line).collect());
        let (x, y) = (Axis::log("longest list, records"), Axis::linear("user data, % of 448 KB"));
        Presentation {
            comparisons: vec![
                Comparison::claim(
                    "§6.3: shorter lists",
                    "more capacity",
                    (!outcomes.is_empty()).then(|| (shrinks, format!("at {} object sizes", sizes.len()))),
                ),
                Comparison::claim(
                    "§6.3: lists of two instead of one",
                    "roughly half of the capacity",
                    ends.map(|(low, high)| {
                        (low > 0.4 && high < 0.65, format!("{} to {} of it", figure(low), figure(high)))
                    }),
                )
                .because("descriptor, tree and sector descriptor are there once, whatever the list's length"),
            ],
            tables: vec![table],
            plots: vec![Plot::single("tinystore-list-length", "Lists of maximal length against capacity", x, y, chart)],
            remarks: Vec::new(),
        }
    }
}
