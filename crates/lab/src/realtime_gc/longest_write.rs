//! The longest write of the block device without tasks, and how much of the part it can use: dhara's terms.

use norn_flash_sim::nand_catalogue::k9f2808;
use norn_nand_ftl::{Lba, max_logical_pages};
use serde::{Deserialize, Serialize};

use super::bench::{TOTAL_PAGES, filled};
use super::paper::PAPER;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Plot, Series};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// The longest write, by use.
pub struct LongestWrite;

/// A full device that is written to at random.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    logical_pages: u32,
    writes: u32,
    seed: u64,
}

/// What its writes took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    longest_ms: f64,
    /// The write that 999 of 1000 do not exceed.
    permille_999_ms: f64,
    mean_ms: f64,
    programs: u64,
    erases: u64,
}

/// dhara's highest use of this part, in percent.
const DHARA_USE: f64 = 69.0;

fn use_percent(parameters: &Parameters) -> f64 {
    100.0 * f64::from(parameters.logical_pages) / f64::from(TOTAL_PAGES)
}

impl Experiment for LongestWrite {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "realtime-gc-longest-write",
            paper: PAPER,
            reproduces: "dhara's worst write and highest use, on the paper's part",
            summary: "A full device without tasks, written to at random, a page at a time, the recycling, leveling and \
                      checkpoint that a write needs included; up to all logical pages that the part has room for.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let writes = settings.choose(8_000, 200_000);
        let shares = [50, 60, 69, 75, 80, 85, 90, 95].map(|percent| TOTAL_PAGES * percent / 100);
        let all = shares.into_iter().chain([max_logical_pages(&k9f2808().part, 0)]);
        let job = |logical_pages| Job {
            parameters: Parameters { logical_pages, writes, seed: settings.seed },
            seconds: f64::from(writes) / 1e5,
        };
        all.map(job).collect()
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let mut ftl = filled(parameters.logical_pages);
        let mut random = fastrand::Rng::with_seed(parameters.seed);
        let start = ftl.device().counters();
        let mut times_ns = Vec::with_capacity(parameters.writes as usize);
        for write in 0..parameters.writes {
            let before = ftl.device().elapsed_ns();
            let lba = Lba(random.u32(0..parameters.logical_pages));
            ftl.write(lba, &[write as u8; 512]).map_err(|error| JobError::Failed(error.to_string()))?;
            times_ns.push(ftl.device().elapsed_ns() - before);
            if write % 1000 == 0 {
                context.progress(u64::from(write), u64::from(parameters.writes));
            }
        }
        times_ns.sort_unstable();
        let done = ftl.device().counters() - start;
        let ms = |ns: u64| ns as f64 / 1e6;
        Ok(vec![Row {
            longest_ms: ms(times_ns[times_ns.len() - 1]),
            permille_999_ms: ms(times_ns[times_ns.len() * 999 / 1000]),
            mean_ms: ms(times_ns.iter().sum()) / times_ns.len() as f64,
            programs: done.programs + done.copies,
            erases: done.erases,
        }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let highest = outcomes.iter().map(|outcome| use_percent(&outcome.parameters)).reduce(f64::max);
        let at_dharas = outcomes.iter().find(|outcome| use_percent(&outcome.parameters).round() == DHARA_USE);
        let comparisons = vec![
            Comparison::new("dhara on this part: highest use, %", Published::AtLeast(DHARA_USE), highest)
                .because("every logical page written; without deadlines"),
            Comparison::new(
                "dhara on this part: worst write, ms",
                Published::Between(17.0, 97.0),
                at_dharas.map(|outcome| outcome.row.longest_ms),
            )
            .because("ours without deadlines, at dhara's highest use"),
        ];
        Presentation { comparisons, tables: vec![table(outcomes)], plots: vec![plot(outcomes)], remarks: Vec::new() }
    }
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = ["use", "longest write, ms", "99.9%, ms", "mean, ms", "pages programmed a write", "erases"];
    let mut table = Table::new("", &columns);
    for Outcome { parameters, row } in outcomes {
        table.push(vec![
            format!("{:.1}%", use_percent(parameters)),
            figure(row.longest_ms),
            figure(row.permille_999_ms),
            figure(row.mean_ms),
            figure(row.programs as f64 / f64::from(parameters.writes)),
            row.erases.to_string(),
        ]);
    }
    table
}

fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    let line = |name: &str, value: fn(&Row) -> f64| {
        let point = |outcome: &Outcome<Parameters, Row>| (use_percent(&outcome.parameters), value(&outcome.row));
        Series::line(name.to_owned(), outcomes.iter().map(point).collect())
    };
    let lines = vec![
        line("longest", |row| row.longest_ms),
        line("99.9%", |row| row.permille_999_ms),
        line("mean", |row| row.mean_ms),
    ];
    let (x, y) = (Axis::linear("use, %"), Axis::log("a write, ms"));
    Plot::single("realtime-gc-longest-write", "Writes without deadlines, at random", x, y, Chart::Lines(lines))
}
