//! Figure 11: what tasks and downloader write together, beside a device without guarantees.

use super::bench::{Admission, Collector, Setting, Summary, run};
use super::paper::PAPER;
use super::workload::Pattern;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// Figure 11.
pub struct Throughput;

const USES: [u32; 6] = [50, 55, 60, 65, 70, 75];
const PATTERNS: [Pattern; 4] = [Pattern::Trace, Pattern::Sequential, Pattern::Random, Pattern::Skewed];
const COLLECTORS: [Collector; 4] =
    [Collector::RealTime, Collector::Greedy, Collector::GreedySeparated, Collector::CostBenefit];

impl Experiment for Throughput {
    type Parameters = Setting;
    type Row = Summary;

    fn about() -> About {
        About {
            name: "realtime-gc-throughput",
            paper: PAPER,
            reproduces: "Figure 11",
            summary: "KB a second that T1, T2 and a downloader without pause write together, by use of the device and \
                      access pattern; under the trace, 97% of the logical pages are cold. Skewed: nine of ten accesses \
                      go to a tenth of the pages, which lie apart. Greedy is a page-mapped device without guarantees, \
                      checkpoint or wear leveler; with its copies apart, these go to blocks of their own, as the \
                      device with deadlines does.",
            revision: 2,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Setting>> {
        let seconds = settings.choose(12, 300);
        let mut jobs = Vec::new();
        for use_percent in settings.choose(vec![50, 75], USES.to_vec()) {
            for pattern in PATTERNS {
                for collector in COLLECTORS {
                    let paper = Setting::paper(collector, seconds, settings.seed);
                    jobs.push(Setting { use_percent, pattern, download_us: 1, ..paper });
                }
            }
        }
        jobs.into_iter().map(|parameters| Job { parameters, seconds: seconds as f64 / 60.0 }).collect()
    }

    fn measure(setting: &Setting, context: &Context) -> Result<Vec<Summary>, JobError> {
        match run(setting, Admission::On, |now| context.progress(now, setting.seconds)) {
            Ok(run) => Ok(vec![run.summary]),
            // That the set is not admitted is a result, without throughput.
            Err(JobError::Failed(_)) => Ok(vec![Summary::default()]),
            Err(error) => Err(error),
        }
    }

    fn present(outcomes: &[Outcome<Setting, Summary>]) -> Presentation {
        let find = |collector, pattern, use_percent| {
            let wanted = |outcome: &&Outcome<Setting, Summary>| {
                let setting = &outcome.parameters;
                setting.collector == collector && setting.pattern == pattern && setting.use_percent == use_percent
            };
            outcomes.iter().find(wanted).map(|outcome| &outcome.row).filter(|row| row.kb_per_s > 0.0)
        };
        let mut comparisons = Vec::new();
        for pattern in PATTERNS {
            let ratios: Vec<(u32, f64)> = USES
                .into_iter()
                .filter_map(|percent| {
                    let (ours, greedy) =
                        (find(Collector::RealTime, pattern, percent)?, find(Collector::Greedy, pattern, percent)?);
                    Some((percent, ours.kb_per_s / greedy.kb_per_s))
                })
                .collect();
            let evidence =
                ratios.iter().map(|(percent, ratio)| format!("{percent}%: {ratio:.3}")).collect::<Vec<_>>().join(", ");
            let holds = ratios.iter().filter(|(percent, _)| *percent <= 65).all(|&(_, ratio)| ratio >= 0.9);
            let found = (!ratios.is_empty()).then_some((holds, evidence));
            comparisons.push(Comparison::claim(
                format!("Figure 11, {pattern:?}: throughput beside the greedy device's"),
                "comparable (our bar: at least 0.9 up to 65%)",
                found,
            ));
        }
        let at = |pattern| find(Collector::RealTime, pattern, 50).map(|row| row.kb_per_s);
        let copies = |pattern| find(Collector::RealTime, pattern, 50).map_or(0, |row| row.copies);
        let copied = format!(
            "pages copied: sequential {}, random {}, trace {}, whose pages that are written again lie together",
            copies(Pattern::Sequential),
            copies(Pattern::Random),
            copies(Pattern::Trace)
        );
        let ordered = at(Pattern::Sequential).zip(at(Pattern::Trace)).zip(at(Pattern::Random));
        comparisons.push(
            Comparison::claim(
                "Figure 11: order of the patterns",
                "sequential fastest, trace slowest",
                ordered.map(|((sequential, trace), random)| {
                    let text = format!(
                        "sequential {}, random {}, trace {} KB/s",
                        figure(sequential),
                        figure(random),
                        figure(trace)
                    );
                    (sequential >= random && random >= trace, text)
                }),
            )
            .because(copied),
        );
        let greedy = |pattern| find(Collector::Greedy, pattern, 50).map(|row| row.kb_per_s);
        let on_greedy = greedy(Pattern::Sequential).zip(greedy(Pattern::Random)).zip(greedy(Pattern::Skewed));
        comparisons.push(
            Comparison::claim(
                "The same on the greedy device, with skewed accesses as the trace",
                "sequential fastest, trace slowest",
                on_greedy.map(|((sequential, random), skewed)| {
                    let figures = [sequential, random, skewed].map(figure);
                    let [first, second, third] = figures;
                    let text = format!("sequential {first}, random {second}, skewed {third} KB/s");
                    (sequential >= random && random >= skewed, text)
                }),
            )
            .because("blocks in which hot and cold pages are mixed: the paper's anomaly"),
        );
        let with = |collector, percent| find(collector, Pattern::Skewed, percent).map(|row| row.kb_per_s);
        let separated = USES.into_iter().filter_map(|percent| {
            Some((percent, with(Collector::Greedy, percent)?, with(Collector::GreedySeparated, percent)?))
        });
        let separated: Vec<(u32, f64, f64)> = separated.collect();
        let found = (!separated.is_empty()).then(|| {
            let texts = separated.iter().map(|&(percent, mixed, apart)| {
                let random = find(Collector::Greedy, Pattern::Random, percent).map_or(0.0, |row| row.kb_per_s);
                format!("{percent}%: {} mixed, {} apart, {} at random", figure(mixed), figure(apart), figure(random))
            });
            (separated.iter().all(|&(_, mixed, apart)| apart > mixed), texts.collect::<Vec<_>>().join("; "))
        });
        comparisons.push(
            Comparison::claim(
                "Figure 11(a): hot and cold data apart, skewed accesses, greedy",
                "significantly faster than mixed",
                found,
            )
            .because("KB/s; under our trace nothing that is live is copied, so that there is nothing to gain"),
        );
        comparisons.push(loss_by_use(&find));
        let is_admitted = |&percent: &u32| find(Collector::RealTime, Pattern::Random, percent).is_some();
        let highest = USES.into_iter().filter(is_admitted).max().map(f64::from);
        comparisons.push(
            Comparison::new("dhara on this part: highest use, %", Published::AtLeast(69.0), highest).because(
                "ours with the paper's tasks and their deadlines, in steps of 5; without: realtime-gc-longest-write",
            ),
        );
        let response = USES.into_iter().filter_map(|percent| find(Collector::RealTime, Pattern::Random, percent));
        comparisons.push(
            Comparison::new(
                "dhara on this part: worst write, ms",
                Published::Between(17.0, 97.0),
                response.map(|row| row.t1_response_us as f64 / 1e3).reduce(f64::max),
            )
            .because(
                "ours: T1's longest response, random access: two writes, four reads and 3 ms of computing, with all \
                 that they waited for",
            ),
        );
        Presentation { comparisons, tables: vec![table(outcomes)], plots: vec![plot(outcomes)], remarks: Vec::new() }
    }
}

/// Section 5.4's first observation: what a fuller device takes of the throughput, with each pattern.
fn loss_by_use<'a>(find: &impl Fn(Collector, Pattern, u32) -> Option<&'a Summary>) -> Comparison {
    let ends = PATTERNS.into_iter().filter_map(|pattern| {
        let at = |percent| find(Collector::RealTime, pattern, percent);
        Some((pattern, at(*USES.first()?)?, USES.into_iter().rev().find_map(at)?))
    });
    let ends: Vec<(Pattern, &Summary, &Summary)> = ends.collect();
    let share = |low: &Summary, high: &Summary| high.kb_per_s / low.kb_per_s;
    let texts = ends.iter().map(|(pattern, low, high)| format!("{pattern:?} {:.3}", share(low, high)));
    let found = (
        ends.iter().all(|(_, low, high)| share(low, high) < 0.9),
        format!("throughput at the highest use over that at the lowest: {}", texts.collect::<Vec<_>>().join(", ")),
    );
    let copies = ends.iter().map(|(pattern, low, high)| format!("{pattern:?} {} and {}", low.copies, high.copies));
    Comparison::claim(
        "Section 5.4: a high use of the device",
        "significant loss of throughput",
        (!ends.is_empty()).then_some(found),
    )
    .because(format!(
        "nothing is lost where nothing is copied; pages copied: {}",
        copies.collect::<Vec<_>>().join(", ")
    ))
}

fn table(outcomes: &[Outcome<Setting, Summary>]) -> Table {
    let columns = [
        "pattern",
        "use",
        "collector",
        "α",
        "KB/s",
        "tasks, pages",
        "downloader, pages",
        "copies",
        "leveled",
        "checkpoint",
        "erases",
        "late",
        "waits",
    ];
    let mut table = Table::new("Runs:", &columns);
    for Outcome { parameters, row } in outcomes {
        table.push(vec![
            format!("{:?}", parameters.pattern),
            format!("{}%", parameters.use_percent),
            parameters.collector.name().to_owned(),
            row.alpha_used.to_string(),
            if row.kb_per_s > 0.0 { figure(row.kb_per_s) } else { "not admitted".to_owned() },
            (row.t1_pages + row.t2_pages).to_string(),
            row.downloaded.to_string(),
            row.copies.to_string(),
            row.leveled.to_string(),
            row.chunks.to_string(),
            row.erases.to_string(),
            (row.misses + row.system_misses).to_string(),
            row.token_waits.to_string(),
        ]);
    }
    table
}

fn plot(outcomes: &[Outcome<Setting, Summary>]) -> Plot {
    let panel = |collector| {
        let line = |pattern| {
            let chosen = outcomes.iter().filter(move |outcome| {
                let setting = &outcome.parameters;
                setting.collector == collector && setting.pattern == pattern && outcome.row.kb_per_s > 0.0
            });
            let points =
                chosen.map(|outcome| (f64::from(outcome.parameters.use_percent), outcome.row.kb_per_s)).collect();
            Series::line(format!("{pattern:?}"), points)
        };
        Panel {
            title: collector.name().to_owned(),
            x: Axis::close("use, %"),
            y: Axis::linear("KB/s"),
            chart: Chart::Lines(PATTERNS.into_iter().map(line).collect()),
        }
    };
    Plot {
        name: "realtime-gc-figure11".to_owned(),
        title: "Figure 11: write throughput".to_owned(),
        panels: COLLECTORS.into_iter().map(panel).collect(),
        columns: 2,
    }
}
