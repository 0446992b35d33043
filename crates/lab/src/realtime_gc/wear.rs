//! Figures 9 and 10: how evenly blocks wear, and how soon some are worn out.

use serde::{Deserialize, Serialize};

use super::bench::{Admission, Collector, Setting, TOTAL_PAGES, run};
use super::paper::PAPER;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// Figures 9 and 10.
pub struct Wear;

/// Twenty minutes, and four hours.
const SECONDS: u64 = 1200;
const LONG_SECONDS: u64 = 14_400;
const BLOCKS: f64 = 1024.0;
/// Per cent of the device in use.
const USES: [u32; 3] = [50, 60, 70];
/// What the leveler is measured with at 50%: between two pages of the downloader, in microseconds, 1 for no pause; and
/// the cold share.
const DOWNLOADERS: [(u64, f64); 5] = [(1, 97.0), (1, 80.0), (1, 50.0), (8_000, 97.0), (8_000, 80.0)];

/// Wear at a moment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    minutes: f64,
    erases: u64,
    deviation: f64,
    worn_out_percent: f64,
    /// Share of the blocks that were erased once, when they were formatted, or never.
    at_rest_percent: f64,
    leveled: u64,
    alpha_used: u32,
}

impl Experiment for Wear {
    type Parameters = Setting;
    type Row = Row;

    fn about() -> About {
        About {
            name: "realtime-gc-wear",
            paper: PAPER,
            reproduces: "Figures 9 and 10",
            summary: "The standard deviation of blocks' erase counts while the paper's workload runs, and the share of \
                      blocks with 200 erases or more, the paper's limit. The downloader uses what tasks leave, or \
                      writes a page every 8 ms. 97% of the logical pages are cold if nothing else is said.",
            revision: 3,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Setting>> {
        let long = |collector, use_percent, seconds, download_us| Setting {
            use_percent,
            download_us,
            ..Setting::paper(collector, seconds, settings.seed)
        };
        let seconds = settings.choose(120, SECONDS);
        let mut jobs: Vec<Setting> = [Collector::RealTime, Collector::RealTimeUnleveled, Collector::CostBenefit]
            .map(|collector| long(collector, 50, settings.choose(150, LONG_SECONDS), 1))
            .into();
        for use_percent in settings.choose(vec![60], USES.to_vec()) {
            jobs.push(long(Collector::CostBenefit, use_percent, seconds, 1));
            if use_percent > 50 {
                jobs.push(long(Collector::RealTime, use_percent, seconds, 1));
            }
        }
        for (download_us, cold_percent) in DOWNLOADERS {
            for collector in [Collector::RealTime, Collector::RealTimeUnleveled] {
                jobs.push(Setting { cold_percent, ..long(collector, 50, seconds, download_us) });
            }
        }
        let job = |parameters: Setting| Job { seconds: parameters.seconds as f64 / 100.0, parameters };
        jobs.into_iter().map(job).collect()
    }

    fn measure(setting: &Setting, context: &Context) -> Result<Vec<Row>, JobError> {
        let run = run(setting, Admission::On, |now| context.progress(now, setting.seconds))?;
        let row = |point: &super::edf::WearPoint| Row {
            minutes: point.time_us as f64 / 60e6,
            erases: point.erases,
            deviation: point.deviation,
            worn_out_percent: 100.0 * point.worn_out as f64 / point.blocks as f64,
            at_rest_percent: 100.0 * point.at_rest as f64 / point.blocks as f64,
            leveled: run.summary.leveled,
            alpha_used: run.summary.alpha_used,
        };
        Ok(run.wear.iter().map(row).collect())
    }

    fn present(outcomes: &[Outcome<Setting, Row>]) -> Presentation {
        let seen = Seen(outcomes);
        let comparisons =
            [seen.figure_9a(), seen.figure_9_beside_our_bar(), seen.figure_9b(), seen.figure_10()].concat();
        Presentation { comparisons, tables: vec![table(outcomes)], plots: vec![plot(outcomes)], remarks: Vec::new() }
    }
}

/// What was measured, to be looked up.
struct Seen<'a>(&'a [Outcome<Setting, Row>]);

impl Seen<'_> {
    /// The last row of a run with 97% cold pages.
    fn last(&self, collector: Collector, use_percent: u32, download_us: u64, wanted: Length) -> Option<&Row> {
        let is_it = |outcome: &&Outcome<Setting, Row>| {
            let setting = &outcome.parameters;
            let pages = setting.use_percent == use_percent && setting.cold_percent == 97.0;
            let speed = setting.download_us == download_us;
            setting.collector == collector && pages && speed && length(setting, self.0) == wanted
        };
        self.0.iter().filter(is_it).map(|outcome| &outcome.row).next_back()
    }

    /// After twenty minutes of a downloader without a pause.
    fn at_20(&self, collector: Collector, use_percent: u32) -> Option<&Row> {
        self.last(collector, use_percent, 1, Length::Short)
    }

    /// The uses at which a collector was measured, with its rows after twenty minutes.
    fn by_use(&self, collector: Collector) -> Vec<(u32, &Row)> {
        USES.into_iter().filter_map(|percent| Some((percent, self.at_20(collector, percent)?))).collect()
    }

    /// Section 5.3 on Figure 9(a). Its curves have no number in the text, so that ours have none beside them.
    fn figure_9a(&self) -> Vec<Comparison> {
        let leveled = self.by_use(Collector::RealTime);
        let rises = leveled.windows(2).all(|pair| pair[0].1.deviation < pair[1].1.deviation);
        let mut all = vec![
            Comparison::claim(
                "Figure 9a: leveling by use",
                "the better the lower the use",
                (leveled.len() > 1).then(|| (rises, texts(&leveled, |row| figure(row.deviation)))),
            )
            .because(texts(&leveled, |row| {
                format!(
                    "{} pages leveled in {} minutes and {}% of the blocks not recycled yet",
                    row.leveled,
                    figure(row.minutes),
                    figure(row.at_rest_percent)
                )
            })),
            Comparison::claim(
                "Figure 9a: without the leveler",
                "some blocks are constantly erased, some never",
                self.at_20(Collector::RealTimeUnleveled, 50).map(|row| {
                    let text = format!("{}% of the blocks were never recycled", figure(row.at_rest_percent));
                    (row.at_rest_percent > 0.0, text)
                }),
            ),
        ];
        all.extend(leveled.into_iter().map(|(percent, row)| {
            let what = format!("Figure 9a, {percent}%: deviation after 20 minutes with the leveler");
            Comparison::new(
                what,
                Published::Claim("a curve, whose values are not in the text".to_owned()),
                Some(row.deviation),
            )
            .because(format!("{}% of the blocks were not recycled yet", figure(row.at_rest_percent)))
        }));
        all
    }

    /// The goal of this project, a fifth, and what keeps the leveler from it.
    fn figure_9_beside_our_bar(&self) -> Vec<Comparison> {
        let short = |collector, download_us| self.last(collector, 50, download_us, Length::Short);
        let ratio = |download_us| {
            let with = short(Collector::RealTime, download_us)?;
            Some(with.deviation / short(Collector::RealTimeUnleveled, download_us)?.deviation)
        };
        let evidence =
            short(Collector::RealTime, 1).zip(short(Collector::RealTimeUnleveled, 1)).map(|(with, without)| {
                let text = format!("{} with, {} without", figure(with.deviation), figure(without.deviation));
                (with.deviation < without.deviation, text)
            });
        let slow = short(Collector::RealTime, 8_000).map_or(0.0, |row| row.erases as f64 / BLOCKS);
        vec![
            Comparison::claim(
                "Figure 9, 50%: standard deviation of erase counts",
                "grows rapidly without the wear leveler",
                evidence,
            ),
            Comparison::new("Our bar, Figure 9 at 50%: with the leveler / without", Published::AtMost(0.2), ratio(1))
                .because(self.why_our_bar()),
            Comparison::new("The same, a page every 8 ms downloaded", Published::AtMost(0.2), ratio(8_000)).because(
                format!(
                    "{} erases of a block on average, and a block is leveled when it lags two behind",
                    figure(slow)
                ),
            ),
        ]
    }

    /// How far the leveler comes in twenty minutes, and the ratio of the long runs, in which it comes everywhere.
    fn why_our_bar(&self) -> String {
        let Some(row) = self.at_20(Collector::RealTime, 50) else { return String::new() };
        let cold = f64::from(TOTAL_PAGES) * 0.5 * 0.97;
        let long = |collector| self.last(collector, 50, 1, Length::Long);
        let in_long = long(Collector::RealTime).zip(long(Collector::RealTimeUnleveled)).map(|(with, without)| {
            format!("; after {} minutes {}", figure(with.minutes), figure(with.deviation / without.deviation))
        });
        format!(
            "cold pages lie in blocks of their own, and only the leveler moves them: {} of {} in {} minutes, {} times \
             each{}",
            row.leveled,
            figure(cold),
            figure(row.minutes),
            figure(row.leveled as f64 / cold),
            in_long.unwrap_or_default()
        )
    }

    /// Section 5.3 on Figure 9(b).
    fn figure_9b(&self) -> Vec<Comparison> {
        let [on_demand, leveled] =
            [Collector::CostBenefit, Collector::RealTime].map(|collector| self.by_use(collector));
        let without = self.at_20(Collector::RealTimeUnleveled, 50).map(|row| row.deviation);
        let found = without.filter(|_| !on_demand.is_empty()).map(|without| {
            (
                on_demand.iter().all(|(_, row)| row.deviation < 0.5 * without),
                format!(
                    "{}; with the leveler {}; at 50% without it {}",
                    texts(&on_demand, |row| figure(row.deviation)),
                    texts(&leveled, |row| figure(row.deviation)),
                    figure(without)
                ),
            )
        });
        let claim = Comparison::claim(
            "Figure 9b: deviation by the method on demand",
            "stringently controlled (ours: below half of that without a leveler)",
            found,
        );
        vec![claim.because(texts(&on_demand, |row| {
            format!(
                "{} erases of a block on average in {} minutes",
                figure(row.erases as f64 / BLOCKS),
                figure(row.minutes)
            )
        }))]
    }

    fn figure_10(&self) -> Vec<Comparison> {
        let long = |collector| self.last(collector, 50, 1, Length::Long);
        let unleveled = long(Collector::RealTimeUnleveled);
        let at_rest = unleveled.map_or(0.0, |row| row.at_rest_percent);
        let worn = |collector| long(collector).map(|row| row.worn_out_percent);
        let [leveled, on_demand] = [Collector::RealTime, Collector::CostBenefit].map(worn);
        vec![
            Comparison::new(
                "Figure 10: worn-out blocks without the leveler, %",
                Published::AtLeast(50.0),
                worn(Collector::RealTimeUnleveled),
            )
            .because(format!("{}% of the blocks, under cold pages, were never recycled", figure(at_rest))),
            Comparison::claim(
                "Figure 10: worn-out blocks with the leveler",
                "close to those of the method on demand",
                leveled
                    .zip(on_demand)
                    .map(|(a, b)| ((a - b).abs() <= 10.0, format!("{}% and {}%", figure(a), figure(b)))),
            ),
        ]
    }
}

/// A figure at each use.
fn texts(rows: &[(u32, &Row)], of: impl Fn(&Row) -> String) -> String {
    rows.iter().map(|(percent, row)| format!("{} at {percent}%", of(row))).collect::<Vec<_>>().join(", ")
}

fn name(setting: &Setting) -> String {
    let speed = if setting.download_us == 1 { "" } else { ", a page every 8 ms" };
    let cold = if setting.cold_percent == 97.0 { String::new() } else { format!(", {}% cold", setting.cold_percent) };
    format!("{}, {}%{cold}{speed}", setting.collector.name(), setting.use_percent)
}

/// How long a run is compared with the others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    /// Figure 9's.
    Short,
    /// Figure 10's.
    Long,
}

fn length(setting: &Setting, outcomes: &[Outcome<Setting, Row>]) -> Length {
    let longest = outcomes.iter().map(|outcome| outcome.parameters.seconds).max();
    if longest == Some(setting.seconds) { Length::Long } else { Length::Short }
}

/// The rows of each setting.
fn series(outcomes: &[Outcome<Setting, Row>]) -> Vec<(Setting, Vec<&Row>)> {
    let mut all: Vec<(Setting, Vec<&Row>)> = Vec::new();
    for outcome in outcomes {
        match all.iter_mut().find(|(setting, _)| *setting == outcome.parameters) {
            Some((_, rows)) => rows.push(&outcome.row),
            None => all.push((outcome.parameters, vec![&outcome.row])),
        }
    }
    all
}

fn table(outcomes: &[Outcome<Setting, Row>]) -> Table {
    let columns =
        ["run", "α", "minutes", "erases", "standard deviation", "worn out", "never recycled", "pages leveled"];
    let mut table = Table::new("At the end:", &columns);
    for (setting, rows) in series(outcomes) {
        let Some(row) = rows.last() else { continue };
        table.push(vec![
            name(&setting),
            row.alpha_used.to_string(),
            figure(row.minutes),
            row.erases.to_string(),
            figure(row.deviation),
            format!("{}%", figure(row.worn_out_percent)),
            format!("{}%", figure(row.at_rest_percent)),
            row.leveled.to_string(),
        ]);
    }
    table
}

fn plot(outcomes: &[Outcome<Setting, Row>]) -> Plot {
    let lines = |wanted_length: Length, point: fn(&Row) -> (f64, f64)| {
        let chosen = series(outcomes).into_iter().filter(move |(setting, _)| {
            setting.download_us == 1 && setting.cold_percent == 97.0 && length(setting, outcomes) == wanted_length
        });
        let line =
            |(setting, rows): (Setting, Vec<&Row>)| Series::line(name(&setting), rows.into_iter().map(point).collect());
        let mut lines: Vec<Series> = chosen.map(line).collect();
        lines.sort_by(|one, other| one.label.cmp(&other.label));
        Chart::Lines(lines)
    };
    let panel = |title: &str, x: &str, y: &str, chart| Panel {
        title: title.to_owned(),
        x: Axis::linear(x),
        y: Axis::linear(y),
        chart,
    };
    Plot {
        name: "realtime-gc-figures9-10".to_owned(),
        title: "Figures 9 and 10: wear".to_owned(),
        panels: vec![
            panel(
                "Figure 9",
                "erases, thousands",
                "standard deviation",
                lines(Length::Short, |row| (row.erases as f64 / 1e3, row.deviation)),
            ),
            panel(
                "Figure 10",
                "minutes",
                "worn-out blocks, %",
                lines(Length::Long, |row| (row.minutes, row.worn_out_percent)),
            ),
        ],
        columns: 2,
    }
}
