//! Figure 12: deadlines that are missed when admission is off and T1 writes more and more.

use norn_nand_ftl::{Collector, Load, OperationTimes, Task};

use super::bench::{Admission, Setting, Summary, run};
use super::paper::PAPER;
use super::workload::Pattern;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Plot, Series};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// Figure 12.
pub struct Violations;

const PATTERNS: [Pattern; 4] = [Pattern::Trace, Pattern::Sequential, Pattern::Random, Pattern::Skewed];
const ALPHA: u32 = 16;

/// The left side of (14) with the given number of writes of T1.
fn utilization(writes: u32) -> f64 {
    let times = OperationTimes::paper();
    let tasks = [Task::new(3_000, 4, writes, 20_000, &times), Task::new(5_000, 2, 5, 200_000, &times)];
    let load = tasks
        .iter()
        .fold(Load::default(), |load, task| load.with(task, Collector::of(task, ALPHA, 32, &times).as_ref()));
    load.utilization_per_million(&times, 0) as f64 / 1e6
}

impl Experiment for Violations {
    type Parameters = Setting;
    type Row = Summary;

    fn about() -> About {
        About {
            name: "realtime-gc-violations",
            paper: PAPER,
            reproduces: "Figure 12",
            summary: "The share of T1's and T2's jobs that are late when T1 writes 2 to 15 pages a period at 50% use \
                      and nobody is rejected: admission is told that operations take no time. α = 16; 97% of the \
                      logical pages are cold under the trace; the downloader makes no pause.",
            revision: 2,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Setting>> {
        let seconds = settings.choose(30, 300);
        let mut jobs = Vec::new();
        for pattern in PATTERNS {
            for t1_writes in settings.choose(vec![2, 4, 15], (2..=15).collect()) {
                let paper = Setting::paper(super::bench::Collector::RealTime, seconds, settings.seed);
                jobs.push(Setting { pattern, t1_writes, alpha: ALPHA, download_us: 1, ..paper });
            }
        }
        jobs.into_iter().map(|parameters| Job { parameters, seconds: seconds as f64 / 60.0 }).collect()
    }

    fn measure(setting: &Setting, context: &Context) -> Result<Vec<Summary>, JobError> {
        let run = run(setting, Admission::Deceived, |now| context.progress(now, setting.seconds))?;
        Ok(vec![run.summary])
    }

    fn present(outcomes: &[Outcome<Setting, Summary>]) -> Presentation {
        let first_late = |pattern| {
            let late =
                outcomes.iter().filter(|outcome| outcome.parameters.pattern == pattern && outcome.row.misses > 0);
            late.map(|outcome| outcome.parameters.t1_writes).min()
        };
        let text = |first: Option<u32>| {
            first.map_or_else(
                || "none late".to_owned(),
                |writes| format!("from {writes} writes on, (14) = {:.4}", utilization(writes)),
            )
        };
        let found = |pattern| {
            let rows = outcomes.iter().filter(|outcome| outcome.parameters.pattern == pattern);
            let least = rows.map(|outcome| outcome.row.yield_min).min().unwrap_or(0);
            format!("(14) reckons with blocks of {ALPHA} dead pages, collectors found blocks of {least} at least")
        };
        let copies = |pattern| {
            let of = outcomes.iter().filter(move |outcome| outcome.parameters.pattern == pattern);
            format!("{pattern:?} {}", of.map(|outcome| outcome.row.copies).sum::<u64>())
        };
        let copied = [Pattern::Trace, Pattern::Skewed, Pattern::Sequential].map(copies).join(", ");
        let any = !outcomes.is_empty();
        let rejected = (2..=15).find(|&writes| utilization(writes) > 1.0).expect("fifteen writes are too many");
        let admitted = outcomes.iter().filter(|outcome| utilization(outcome.parameters.t1_writes) <= 1.0);
        let (late, jobs) =
            admitted.fold((0, 0), |(late, jobs), outcome| (late + outcome.row.misses, jobs + outcome.row.jobs));
        let comparisons = vec![
            Comparison::new(
                "Section 5.4: most writes of T1 that (14) admits",
                Published::Value(5.0),
                any.then(|| f64::from(rejected - 1)),
            )
            .because(format!(
                "(14) with c_G by (1) is {:.4} at 4 and {:.4} at 5 writes",
                utilization(4),
                utilization(5)
            )),
            Comparison::claim(
                "Figure 12: late jobs of admitted sets",
                "none",
                any.then(|| (late == 0, format!("{late} of {jobs}"))),
            ),
            Comparison::claim(
                "Figure 12, trace: late jobs",
                "right after admission fails",
                any.then(|| {
                    let first = first_late(Pattern::Trace);
                    (first.is_some_and(|writes| writes <= rejected + 1), text(first))
                }),
            )
            .because(found(Pattern::Trace)),
            Comparison::claim(
                "Figure 12, skewed accesses in the trace's place: late jobs",
                "right after admission fails",
                any.then(|| {
                    let first = first_late(Pattern::Skewed);
                    (first.is_some_and(|writes| writes <= rejected + 1), text(first))
                }),
            )
            .because(found(Pattern::Skewed)),
            Comparison::claim(
                "Figure 12, trace and skewed: late jobs",
                "sooner than with sequential accesses",
                any.then(|| {
                    let patterns = [Pattern::Trace, Pattern::Skewed, Pattern::Sequential];
                    let [trace, skewed, sequential] = patterns.map(|pattern| first_late(pattern).unwrap_or(u32::MAX));
                    let texts = patterns.map(|pattern| format!("{pattern:?} {}", text(first_late(pattern))));
                    (trace < sequential && skewed < sequential, texts.join(", "))
                }),
            )
            .because(format!("pages copied in all runs: {copied}")),
            Comparison::claim(
                "Figure 12, sequential: late jobs",
                "none below 187.2% (by the published c_G)",
                any.then(|| {
                    let first = first_late(Pattern::Sequential);
                    (first.is_none_or(|writes| utilization(writes) >= 1.872), text(first))
                }),
            )
            .because(found(Pattern::Sequential)),
            Comparison::claim(
                "Figure 12, random: late jobs",
                "between the two",
                any.then(|| {
                    let first = first_late(Pattern::Random).unwrap_or(99);
                    let between = first >= first_late(Pattern::Trace).unwrap_or(99)
                        && first <= first_late(Pattern::Sequential).unwrap_or(99);
                    (between, text(first_late(Pattern::Random)))
                }),
            )
            .because(found(Pattern::Random)),
        ];
        Presentation { comparisons, tables: vec![table(outcomes)], plots: vec![plot(outcomes)], remarks: Vec::new() }
    }
}

fn late_percent(row: &Summary) -> f64 {
    100.0 * row.misses as f64 / row.jobs.max(1) as f64
}

fn table(outcomes: &[Outcome<Setting, Summary>]) -> Table {
    let columns = [
        "pattern",
        "writes of T1",
        "(14)",
        "late jobs",
        "of T1",
        "late system jobs",
        "token waits",
        "fewest pages a recycling yields",
    ];
    let mut table = Table::new("", &columns);
    for Outcome { parameters, row } in outcomes {
        table.push(vec![
            format!("{:?}", parameters.pattern),
            parameters.t1_writes.to_string(),
            format!("{:.4}", utilization(parameters.t1_writes)),
            format!("{}%", figure(late_percent(row))),
            format!("{}%", figure(100.0 * row.t1_misses as f64 / row.t1_jobs.max(1) as f64)),
            row.system_misses.to_string(),
            row.token_waits.to_string(),
            row.yield_min.to_string(),
        ]);
    }
    table
}

fn plot(outcomes: &[Outcome<Setting, Summary>]) -> Plot {
    let line = |pattern| {
        let chosen = outcomes.iter().filter(move |outcome| outcome.parameters.pattern == pattern);
        let points =
            chosen.map(|outcome| (f64::from(outcome.parameters.t1_writes), late_percent(&outcome.row))).collect();
        Series::line(format!("{pattern:?}"), points)
    };
    let lines = PATTERNS.into_iter().map(line).collect();
    let (x, y) = (Axis::linear("writes of T1 a period"), Axis::linear("late jobs, %"));
    Plot::single("realtime-gc-figure12", "Figure 12: deadline violations", x, y, Chart::Lines(lines))
}
