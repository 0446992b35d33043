//! Figures 7 and 8: how long a write waits for collections on demand, and for tokens.

use norn_nand_ftl::OperationTimes;
use serde::{Deserialize, Serialize};

use super::bench::{Admission, Collector, Setting, Summary, run};
use super::paper::PAPER;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// Figures 7 and 8.
pub struct Blocking;

/// A point of the figures' series, or the whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Collections so far, at this point.
    collection: u64,
    /// The longest blocking since the point before.
    blocking_ms: f64,
    /// The run as a whole, the same in each row.
    #[serde(flatten)]
    summary: Summary,
}

/// Points of a series.
const POINTS: usize = 200;
/// Programming a page, by Table I.
const WRITE_US: u64 = OperationTimes::paper().write_us;
/// Shorter times are shown as this, for a scale in powers of ten.
const LEAST_SHOWN_MS: f64 = 0.1;
/// c_T1 + t_e.
const T1_BOUND_US: f64 = 6230.0 + 1881.0;

impl Experiment for Blocking {
    type Parameters = Setting;
    type Row = Row;

    fn about() -> About {
        About {
            name: "realtime-gc-blocking",
            paper: PAPER,
            reproduces: "Figures 7 and 8",
            summary: "Twenty minutes of the paper's workload. On demand: how long each write waits that has to wait \
                      for a collection, by the share of cold pages. With collectors: how many writes of tasks wait for \
                      tokens.",
            revision: 2,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Setting>> {
        let seconds = settings.choose(60, 1200);
        let paper = |collector| Setting::paper(collector, seconds, settings.seed);
        let mut jobs = vec![paper(Collector::RealTime)];
        for cold_percent in settings.choose(vec![97.0], vec![50.0, 80.0, 97.0]) {
            jobs.push(Setting { cold_percent, ..paper(Collector::CostBenefit) });
        }
        jobs.push(Setting { use_percent: 75, ..paper(Collector::CostBenefit) });
        jobs.push(Setting { download_us: NO_PAUSE, ..paper(Collector::RealTime) });
        jobs.push(Setting { download_us: NO_PAUSE, ..paper(Collector::CostBenefit) });
        jobs.push(paper(Collector::CostBenefitIdle));
        jobs.push(paper(Collector::CostBenefitLessLeveling));
        jobs.into_iter().map(|parameters| Job { parameters, seconds: seconds as f64 / 120.0 }).collect()
    }

    fn measure(setting: &Setting, context: &Context) -> Result<Vec<Row>, JobError> {
        let run = run(setting, Admission::On, |now| context.progress(now, setting.seconds))?;
        let chunk = run.blocking_us.len().div_ceil(POINTS).max(1);
        let mut rows: Vec<Row> = (1..)
            .zip(run.blocking_us.chunks(chunk))
            .map(|(number, part)| Row {
                collection: number * chunk as u64,
                blocking_ms: part.iter().max().map_or(0.0, |&us| us as f64 / 1000.0),
                summary: run.summary.clone(),
            })
            .collect();
        if rows.is_empty() {
            rows.push(Row { collection: 0, blocking_ms: 0.0, summary: run.summary });
        }
        Ok(rows)
    }

    fn present(outcomes: &[Outcome<Setting, Row>]) -> Presentation {
        let mut comparisons = vec![eased(outcomes)];
        comparisons.extend(by_one_workload(outcomes));
        Presentation { comparisons, tables: vec![table(outcomes)], plots: vec![plot(outcomes)], remarks: Vec::new() }
    }
}

/// The downloader of all figures, which makes no pause, and the one that leaves idle time.
const NO_PAUSE: u64 = 1;
const PAUSES: u64 = 8_000;

/// A run at 50% and with 97% cold pages.
fn find(outcomes: &[Outcome<Setting, Row>], collector: Collector, download_us: u64) -> Option<&Summary> {
    let is_it = |outcome: &&Outcome<Setting, Row>| {
        let setting = &outcome.parameters;
        let pages = setting.cold_percent == 97.0 && setting.use_percent == 50;
        pages && setting.collector == collector && setting.download_us == download_us
    };
    outcomes.iter().find(is_it).map(|outcome| &outcome.row.summary)
}

/// What section 5.2 says of the collector on demand. Idle time needs a downloader that leaves some.
fn eased(outcomes: &[Outcome<Setting, Row>]) -> Comparison {
    let of = |collector| find(outcomes, collector, PAUSES);
    let found = of(Collector::CostBenefit)
        .zip(of(Collector::CostBenefitIdle))
        .zip(of(Collector::CostBenefitLessLeveling))
        .map(|((base, idle), less)| {
            let [base, idle, less] = [base, idle, less].map(|row| row.blocking_ms_max / 1e3);
            let [base_text, idle_text, less_text] = [base, idle, less].map(figure);
            (
                idle < base && less < base,
                format!("{base_text} s; {idle_text} s in idle time, too; {less_text} s with less leveling"),
            )
        });
    let never_blocked = of(Collector::CostBenefit).is_some_and(|base| base.blocking_ms_max == 0.0);
    let why = if never_blocked { "the run is too short for the collector on demand to block" } else { "" };
    let claim = Comparison::claim(
        "Section 5.2: less blocking with less leveling, or in idle time",
        "shorter, not bounded",
        found,
    );
    claim.because(why)
}

/// Figures 7 and 8 by the workload that Figures 9 to 12 have, too.
fn by_one_workload(outcomes: &[Outcome<Setting, Row>]) -> Vec<Comparison> {
    let base = find(outcomes, Collector::CostBenefit, NO_PAUSE);
    let ours = find(outcomes, Collector::RealTime, NO_PAUSE);
    let text = |text: fn(&Summary) -> String| ours.map_or_else(String::new, text);
    vec![
        Comparison::new(
            "Figure 7, 97% cold: longest blocking, s",
            Published::Value(21.209),
            base.map(|row| row.blocking_ms_max / 1e3),
        )
        .because(base.map_or_else(String::new, |row| {
            format!("{} blocks without a dead page recycled for wear", row.recycled_full)
        })),
        Comparison::claim(
            "Figure 8: token waits of T1 and T2",
            "none",
            ours.map(|row| {
                (row.token_waits == 0, format!("{} of {} writes", row.token_waits, row.t1_pages + row.t2_pages))
            }),
        ),
        Comparison::new(
            "Section 5.2: pages T1 writes in 20 minutes",
            Published::Value(12_000.0),
            ours.map(|row| row.t1_pages as f64),
        )
        .because(text(|row| format!("two in each of {} periods", row.t1_jobs))),
        Comparison::new(
            "Section 5.2: pages T2 writes in 20 minutes",
            Published::Value(3_000.0),
            ours.map(|row| row.t2_pages as f64),
        )
        .because(text(|row| format!("five in each of {} periods", row.jobs - row.t1_jobs))),
        Comparison::claim(
            "Section 4.3: deadlines",
            "all met",
            ours.map(|row| {
                let late = row.misses + row.system_misses;
                (late == 0, format!("{late} late of {} jobs", row.jobs))
            }),
        ),
        Comparison::new(
            "Longest response of T1, µs (c_T1 + t_e)",
            Published::AtMost(T1_BOUND_US),
            ours.map(|row| row.t1_response_us as f64),
        )
        .because(text(|row| {
            let over = row.t1_response_us as f64 - T1_BOUND_US;
            format!(
                "a page of the checkpoint may be due besides, which takes t_w = {WRITE_US}; over the bound by {over}"
            )
        })),
        Comparison::claim(
            "Section 4.1: pages that a recycling yields",
            "at least α",
            ours.map(|row| {
                (row.yield_min >= row.alpha_used, format!("at least {}, α = {}", row.yield_min, row.alpha_used))
            }),
        ),
    ]
}

fn table(outcomes: &[Outcome<Setting, Row>]) -> Table {
    let columns = [
        "collector",
        "use",
        "cold",
        "downloader",
        "α",
        "collections",
        "longest, ms",
        "mean, ms",
        "full blocks recycled",
        "jobs late",
        "T1's longest response, µs",
        "erases",
    ];
    let mut table = Table::new("Runs:", &columns);
    let mut seen: Vec<Setting> = Vec::new();
    for Outcome { parameters, row } in outcomes {
        if seen.contains(parameters) {
            continue;
        }
        seen.push(*parameters);
        let summary = &row.summary;
        table.push(vec![
            parameters.collector.name().to_owned(),
            format!("{}%", parameters.use_percent),
            format!("{}%", parameters.cold_percent),
            if parameters.download_us == NO_PAUSE { "no pause" } else { "every 8 ms" }.to_owned(),
            summary.alpha_used.to_string(),
            summary.collections.to_string(),
            figure(summary.blocking_ms_max),
            figure(summary.blocking_ms_mean),
            summary.recycled_full.to_string(),
            (summary.misses + summary.system_misses).to_string(),
            summary.t1_response_us.to_string(),
            summary.erases.to_string(),
        ]);
    }
    table
}

/// A panel for each run on demand: their peaks hide each other in one.
fn plot(outcomes: &[Outcome<Setting, Row>]) -> Plot {
    let mut runs: Vec<(Setting, Vec<(f64, f64)>)> = Vec::new();
    for Outcome { parameters, row } in outcomes {
        if matches!(parameters.collector, Collector::RealTime | Collector::RealTimeUnleveled) {
            continue;
        }
        let point = (row.collection as f64 / 1000.0, row.blocking_ms.max(LEAST_SHOWN_MS));
        match runs.iter_mut().find(|(setting, _)| setting == parameters) {
            Some((_, points)) => points.push(point),
            None => runs.push((*parameters, vec![point])),
        }
    }
    let panel = |(setting, points): (Setting, Vec<(f64, f64)>)| {
        let name = setting.collector.name();
        let pause = if setting.download_us == NO_PAUSE { "no pause" } else { "a page every 8 ms" };
        Panel {
            title: format!("{name}: {}% use, {}% cold, {pause}", setting.use_percent, setting.cold_percent),
            x: Axis::linear("collections, thousands"),
            y: Axis::log("longest blocking, ms"),
            chart: Chart::Lines(vec![Series::line(name, points)]),
        }
    };
    Plot {
        name: "realtime-gc-figure7".to_owned(),
        title: "Figure 7: blocking by collections on demand".to_owned(),
        panels: runs.into_iter().map(panel).collect(),
        columns: 2,
    }
}
