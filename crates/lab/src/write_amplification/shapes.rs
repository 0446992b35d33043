//! The made-up trace beside the recorded one.

use serde::{Deserialize, Serialize};

use super::bars::BAR_USES;
use super::paper::PAPER;
use super::shape::Shape;
use super::tpcc::{self, RECORDED_REQUESTS};
use super::trace::{BlockTrace, checksum};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// The experiment.
pub struct Shapes;

const PART_PAGES: u32 = 32_768;

/// Which trace, and folded to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folded {
    /// Checksum of the recorded trace's file; the made-up one has none.
    pub trace: Option<u32>,
    /// Logical pages in a hundred of the part's.
    pub use_percent: u32,
    /// Everything random.
    pub seed: u64,
}

impl Experiment for Shapes {
    type Parameters = Folded;
    type Row = Shape;

    fn about() -> About {
        About {
            name: "amplification-shapes",
            paper: PAPER,
            reproduces: "TPC-C trace of MQSim, its shape",
            summary: "Statistics of the made-up trace beside those of the recorded one: of the requests, and of a lap \
                      folded to a device by the remainder of each sector's number.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Folded>> {
        let recorded = settings.trace.as_deref().and_then(checksum).map(Some);
        let traces = recorded.into_iter().chain([None]);
        let folded =
            traces.flat_map(|trace| BAR_USES.map(|use_percent| Folded { trace, use_percent, seed: settings.seed }));
        folded.map(|parameters| Job { parameters, seconds: 0.05 }).collect()
    }

    fn measure(folded: &Folded, context: &Context) -> Result<Vec<Shape>, JobError> {
        let trace = match folded.trace {
            Some(expected) => {
                let path = context.trace().ok_or_else(|| JobError::Failed("a block trace: no --trace".to_owned()))?;
                BlockTrace::read(path, expected)?
            }
            None => tpcc::trace(folded.seed, RECORDED_REQUESTS),
        };
        Ok(vec![Shape::of(&trace, PART_PAGES * folded.use_percent / 100)])
    }

    fn present(outcomes: &[Outcome<Folded, Shape>]) -> Presentation {
        let comparisons = RECORDED.iter().flat_map(|(use_percent, recorded)| {
            let is_made_up = |one: &&Outcome<Folded, Shape>| {
                one.parameters.trace.is_none() && one.parameters.use_percent == *use_percent
            };
            let made_up = outcomes.iter().find(is_made_up).map(|one| &one.row);
            beside(*use_percent, recorded, made_up)
        });
        Presentation { comparisons: comparisons.collect(), tables: vec![table(outcomes)], ..Presentation::default() }
    }
}

/// What `tpcc-small.trace` of MQSim has, folded to 50 and to 85%, so that the two are compared where it is not at hand.
const RECORDED: [(u32, Shape); 2] = [
    (
        50,
        Shape {
            requests: 2618,
            pages: 45_710,
            database_pages_percent: 90.72,
            sequential_percent: 4.851,
            rewritten_percent: 0.1881,
            close_percent: 14.74,
            unwritten_percent: 5.157,
            hottest_tenth_percent: 21.19,
            page_writes_max: 10,
        },
    ),
    (
        85,
        Shape {
            requests: 2618,
            pages: 45_710,
            database_pages_percent: 90.72,
            sequential_percent: 4.851,
            rewritten_percent: 0.1881,
            close_percent: 14.74,
            unwritten_percent: 18.98,
            hottest_tenth_percent: 25.27,
            page_writes_max: 8,
        },
    ),
];

fn beside(use_percent: u32, recorded: &Shape, made_up: Option<&Shape>) -> Vec<Comparison> {
    let line = |what: &str, of: fn(&Shape) -> f64| {
        Comparison::new(format!("{what}, {use_percent}%"), Published::Value(of(recorded)), made_up.map(of))
    };
    vec![
        line("Pages of a lap", |shape| shape.pages as f64),
        line("Requests of 16 sectors, %", |shape| shape.database_pages_percent),
        line("Requests that continue another one, %", |shape| shape.sequential_percent),
        line("Requests within 816 sectors of another one, %", |shape| shape.close_percent),
        line("Logical pages never written, %", |shape| shape.unwritten_percent),
        line("Writes to the hottest tenth, %", |shape| shape.hottest_tenth_percent),
        line("Most writes of a page", |shape| f64::from(shape.page_writes_max)),
    ]
}

fn table(outcomes: &[Outcome<Folded, Shape>]) -> Table {
    let columns = [
        "trace",
        "use",
        "requests",
        "pages",
        "of 16 sectors, %",
        "continue another, %",
        "rewritten sectors, %",
        "within 816 sectors of another, %",
        "pages never written, %",
        "writes to the hottest tenth, %",
        "most writes of a page",
    ];
    let mut table = Table::new("A lap of each trace:", &columns);
    for Outcome { parameters, row } in outcomes {
        let percents = [row.database_pages_percent, row.sequential_percent, row.rewritten_percent, row.close_percent];
        let folded = [row.unwritten_percent, row.hottest_tenth_percent, f64::from(row.page_writes_max)];
        let texts = [if parameters.trace.is_some() { "recorded" } else { "made up" }.to_owned()];
        let counts = [format!("{}%", parameters.use_percent), row.requests.to_string(), row.pages.to_string()];
        let figures = percents.into_iter().chain(folded).map(figure);
        table.push(texts.into_iter().chain(counts).chain(figures).collect());
    }
    table
}
