//! Figures 4 to 8: traces through caches of every shape, under each policy, beside the conventional pager whose cache
//! pages are the part's.

use norn_code_pager::policy::{Clock, Greedy, Lru, Policy, S3Fifo, Sieve};
use norn_code_pager::{CachePage, Counts, Options};
use norn_flash_sim::NandSpec;
use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b, mt29f2g08};
use serde::{Deserialize, Serialize};

use super::min::{Min, next_requests};
use super::paper::PAPER;
use super::replay::{Cost, Distances, EXECUTE_NS, pager, replay, requests};
use super::source::{Source, sources};
use super::trace::{Run, Trace};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// Figures 4 to 8.
pub struct Caches;

/// Replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replacement {
    /// Least recently used.
    Lru,
    /// Second chance.
    Clock,
    /// SIEVE.
    Sieve,
    /// S3-FIFO.
    S3Fifo,
    /// GreedyDual with frequency.
    Greedy,
    /// The bound.
    Min,
}

/// All of them.
pub const REPLACEMENTS: [Replacement; 6] = [
    Replacement::Lru,
    Replacement::Clock,
    Replacement::Sieve,
    Replacement::S3Fifo,
    Replacement::Greedy,
    Replacement::Min,
];

/// A cache over a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    program: String,
    version: u64,
    nand_page_bytes: u16,
    bus: String,
    cache_bytes: usize,
    page_bytes: usize,
    replacement: Replacement,
}

/// What a replay cost, and how misses follow each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    cost: Cost,
    bandwidth: f64,
    #[serde(flatten)]
    lengths: Lengths,
    next_share: f64,
    behind_share: f64,
    distances: String,
}

/// Cache pages over a part with pages of 512 bytes.
const PAGES: [usize; 6] = [16, 32, 64, 128, 256, 512];
/// Cache pages of an image, at most.
const CACHE_PAGES_MAX: usize = u16::MAX as usize;
/// Frames, and cycles of a hit and of a miss under LRU on Cortex-M0, with pages of any size, without the device's:
/// the higher mean of mad and lout (`tools/lookup-cycles`, docs/results/2026-11-23-lookup-cycles.md).
const LOOK_UP_CYCLES: [(usize, f64, f64); 6] = [
    (4, 138.9, 478.2),
    (8, 135.7, 511.2),
    (16, 148.6, 602.3),
    (32, 142.8, 753.8),
    (64, 166.9, 1359.1),
    (128, 216.9, 2421.5),
];
/// Clock at which look-ups are shown: that of nRF51 and of small STM32F0.
const CLOCK_HZ: f64 = 48e6;
/// How the names of traces of applets start.
const JAVA: &str = "java";
/// How the other program of the figures is called.
const MAD: &str = "mad";
/// Caches whose pages are those of the part.
const CONVENTIONAL: [usize; 4] = [2048, 4096, 8192, 16384];
/// The bus of Table 2.
const FAST_BUS: &str = "54MHz-16bits";
/// The bus of Table 1.
pub(super) const SLOW_BUS: &str = "33MHz-8bits";

/// The part with pages of the given size, on a bus.
pub(super) fn part(nand_page_bytes: u16, bus: &str) -> NandSpec {
    let bus = if bus == FAST_BUS { Bus::Mhz54Bits16 } else { Bus::Mhz33Bits8 };
    if nand_page_bytes == 512 { k9f1208q0b(bus) } else { mt29f2g08(bus) }
}

fn execute_ns(bus: &str) -> u64 {
    if bus == FAST_BUS { u64::from(Bus::Mhz54Bits16.nor_byte_ns()) } else { EXECUTE_NS }
}

/// Replays through a cache whose shape is known when this is compiled.
fn shaped<const FRAMES: usize, const PAGE: usize>(
    spec: &NandSpec,
    trace: &Trace,
    replacement: Replacement,
) -> Result<(Cost, Distances), JobError> {
    let requests = requests::<PAGE>(trace.runs.iter().copied());
    match replacement {
        Replacement::Lru => through::<_, FRAMES, PAGE>(spec, trace, &requests, Lru::<FRAMES>::default()),
        Replacement::Min => {
            let next = next_requests(&requests);
            through::<_, FRAMES, PAGE>(spec, trace, &requests, Min::new(&next, FRAMES))
        }
        Replacement::Clock => through::<_, FRAMES, PAGE>(spec, trace, &requests, Clock::<FRAMES>::default()),
        Replacement::Sieve => through::<_, FRAMES, PAGE>(spec, trace, &requests, Sieve::<FRAMES>::default()),
        Replacement::Greedy => through::<_, FRAMES, PAGE>(spec, trace, &requests, Greedy::<FRAMES>::default()),
        Replacement::S3Fifo => Err(JobError::Failed("S3-FIFO has up to 64 frames".to_owned())),
    }
}

fn through<P: Policy, const FRAMES: usize, const PAGE: usize>(
    spec: &NandSpec,
    trace: &Trace,
    requests: &[CachePage],
    policy: P,
) -> Result<(Cost, Distances), JobError> {
    let per_page = spec.part.page_bytes / PAGE as u16;
    let observer = Distances::new(per_page);
    let made = pager::<P, FRAMES, PAGE, _>(spec, trace.code_bytes, policy, Options::default(), observer);
    let mut pager = made.map_err(JobError::Failed)?;
    replay(&mut pager, requests);
    let (device, seen) = pager.into_parts();
    let Counts { misses, comparisons, filled, .. } = seen.counts;
    let cost = Cost {
        executed_bytes: trace.executed_bytes(),
        jump_bytes: 0,
        requests: seen.counts.look_ups(),
        misses,
        comparisons,
        loads: device.loads,
        fetched_bytes: device.fetched_bytes,
        skipped_bytes: device.skipped_bytes,
        written_bytes: filled * PAGE as u64,
        elapsed_ns: device.elapsed_ns(&spec.timings),
    };
    Ok((cost, seen))
}

/// Every shape that the figures need.
fn any_shape(
    spec: &NandSpec,
    trace: &Trace,
    frames: usize,
    page: usize,
    replacement: Replacement,
) -> Result<(Cost, Distances), JobError> {
    macro_rules! shapes {
        ($(($frames:literal, $page:literal)),*) => {
            match (frames, page) {
                $(($frames, $page) => shaped::<$frames, $page>(spec, trace, replacement),)*
                _ => Err(JobError::Failed(format!("no cache of {frames} pages of {page} bytes is compiled in"))),
            }
        };
    }
    if replacement == Replacement::S3Fifo {
        let requests = requests::<64>(trace.runs.iter().copied());
        return match (frames, page) {
            (8, 64) => through::<_, 8, 64>(spec, trace, &requests, S3Fifo::<8>::default()),
            (16, 64) => through::<_, 16, 64>(spec, trace, &requests, S3Fifo::<16>::default()),
            (32, 64) => through::<_, 32, 64>(spec, trace, &requests, S3Fifo::<32>::default()),
            (64, 64) => through::<_, 64, 64>(spec, trace, &requests, S3Fifo::<64>::default()),
            _ => Err(JobError::Failed(format!("S3-FIFO with {frames} pages of {page} bytes is not compiled in"))),
        };
    }
    shapes!(
        (128, 16),
        (64, 32),
        (32, 64),
        (16, 128),
        (8, 256),
        (4, 512),
        (2, 1024),
        (1, 2048),
        (8, 64),
        (16, 64),
        (64, 64),
        (128, 64),
        (8, 512),
        (16, 512),
        (32, 512),
        (2, 2048),
        (4, 2048),
        (8, 2048)
    )
}

/// How long the pieces are in which a program executes its code.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Lengths {
    /// Mean bytes of the basic blocks that were executed, each counted once.
    basic_block_bytes: f64,
    /// The same, each counted as often as it was executed.
    executed_block_bytes: f64,
    /// Mean bytes of the runs, each counted as often as it was executed.
    run_bytes: f64,
}

impl Lengths {
    fn text(&self) -> String {
        format!(
            "{} bytes counted once, {} as executed, {} in a run",
            figure(self.basic_block_bytes),
            figure(self.executed_block_bytes),
            figure(self.run_bytes)
        )
    }

    /// Basic blocks are the pieces of code between starts and ends of runs.
    fn of(runs: &[Run]) -> Lengths {
        let mut cuts: Vec<u32> = runs.iter().flat_map(|run| [run.address, run.end()]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut executed = std::collections::HashMap::new();
        for run in runs {
            *executed.entry((run.address, run.bytes)).or_insert(0u64) += 1;
        }
        let mut times = vec![0u64; cuts.len()];
        for (&(address, bytes), &count) in &executed {
            let first = cuts.partition_point(|&cut| cut < address);
            let end = address + u32::from(bytes);
            (first..).take_while(|&at| cuts[at] < end).for_each(|at| times[at] += count);
        }
        let lengths = || cuts.windows(2).zip(&times).map(|(pair, &times)| (u64::from(pair[1] - pair[0]), times));
        let (blocks, bytes) = lengths()
            .filter(|&(_, times)| times > 0)
            .fold((0, 0), |(blocks, sum), (bytes, _)| (blocks + 1, sum + bytes));
        let executed_bytes: u64 = runs.iter().map(|run| u64::from(run.bytes)).sum();
        Lengths {
            basic_block_bytes: bytes as f64 / f64::from(blocks),
            executed_block_bytes: executed_bytes as f64 / times.iter().sum::<u64>() as f64,
            run_bytes: executed_bytes as f64 / runs.len() as f64,
        }
    }
}

impl Experiment for Caches {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "paging-caches",
            paper: PAPER,
            reproduces: "Figures 4, 5, 6, 7 and 8, and statements of section 6",
            summary: "Traces replayed through caches of several sizes, page sizes and policies, over parts with pages \
                      of 512 and 2,048 bytes; the conventional pager has cache pages of the part's size.",
            revision: 5,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let mut jobs = Vec::new();
        for Source { program, version } in sources(settings) {
            let mut add = |nand_page_bytes: u16, bus: &str, cache_bytes, page_bytes, replacement| {
                let (program, bus) = (program.clone(), bus.to_owned());
                let parameters =
                    Parameters { program, version, nand_page_bytes, bus, cache_bytes, page_bytes, replacement };
                jobs.push(Job { parameters, seconds: settings.choose(0.1, 2.0) });
            };
            for replacement in [Replacement::Lru, Replacement::Min] {
                for (nand, bus) in [(512, SLOW_BUS), (2048, SLOW_BUS), (512, FAST_BUS), (2048, FAST_BUS)] {
                    for cache in CONVENTIONAL {
                        add(nand, bus, cache, usize::from(nand), replacement); // Figure 4
                    }
                }
                for page in [16, 32, 64, 128, 256] {
                    add(512, SLOW_BUS, 2048, page, replacement); // Figures 5 and 7
                    add(2048, SLOW_BUS, 2048, page, replacement);
                }
                add(2048, SLOW_BUS, 2048, 512, replacement);
                add(2048, SLOW_BUS, 2048, 1024, replacement);
                for cache in [512, 1024, 4096, 8192] {
                    add(512, SLOW_BUS, cache, 64, replacement); // Figure 6
                    add(2048, SLOW_BUS, cache, 64, replacement);
                }
            }
            for replacement in [Replacement::Clock, Replacement::Sieve, Replacement::S3Fifo, Replacement::Greedy] {
                for cache in [512, 1024, 2048, 4096] {
                    add(512, SLOW_BUS, cache, 64, replacement);
                }
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let Parameters { program, version, nand_page_bytes, bus, cache_bytes, page_bytes, replacement } =
            parameters.clone();
        let trace = Source { program, version }.trace(context)?;
        if trace.code_bytes as usize > page_bytes * CACHE_PAGES_MAX {
            return Ok(Vec::new()); // Of pages as small as that, the pager cannot number all.
        }
        let spec = part(nand_page_bytes, &bus);
        let (mut cost, seen) = any_shape(&spec, &trace, cache_bytes / page_bytes, page_bytes, replacement)?;
        cost.elapsed_ns += cost.executed_bytes * execute_ns(&bus);
        let misses = cost.misses.max(1) as f64;
        let share = |wanted: &dyn Fn(i32) -> bool| {
            seen.by_distance.iter().filter(|(distance, _)| wanted(**distance)).map(|(_, count)| count).sum::<u64>()
                as f64
                / misses
        };
        let distances: Vec<String> =
            seen.by_distance.iter().map(|(distance, count)| format!("{distance}:{count}")).collect();
        Ok(vec![Row {
            bandwidth: cost.bandwidth(),
            lengths: Lengths::of(&trace.runs),
            next_share: share(&|distance| distance == 1),
            behind_share: share(&|distance| distance < 0),
            distances: distances.join(" "),
            cost,
        }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let mut presentation = Presentation { comparisons: comparisons(outcomes), ..Presentation::default() };
        let mut programs: Vec<&str> = outcomes.iter().map(|outcome| &*outcome.parameters.program).collect();
        programs.dedup();
        for program in programs {
            let of: Vec<&Outcome<Parameters, Row>> =
                outcomes.iter().filter(|outcome| outcome.parameters.program == program).collect();
            presentation.tables.push(policies(program, &of));
            presentation.tables.push(steps(program, &of));
            presentation.plots.push(plot(program, &of));
        }
        presentation
    }
}

/// Whether an outcome is of the paper's main setting: 512-byte pages on the slow bus.
fn is_slow(outcome: &Outcome<Parameters, Row>, nand: u16) -> bool {
    outcome.parameters.nand_page_bytes == nand && outcome.parameters.bus == SLOW_BUS
}

fn comparisons(outcomes: &[Outcome<Parameters, Row>]) -> Vec<Comparison> {
    let find = |program: &str, page: usize, replacement| {
        outcomes.iter().find(|outcome| {
            let Parameters { program: other, page_bytes, cache_bytes: 2048, replacement: used, .. } =
                &outcome.parameters
            else {
                return false;
            };
            is_slow(outcome, 512) && other == program && *page_bytes == page && *used == replacement
        })
    };
    let bars = [
        ("lout", Replacement::Lru, 2.84),
        ("lout", Replacement::S3Fifo, 3.11),
        ("lout", Replacement::Min, 4.23),
        ("mad", Replacement::Lru, 11.70),
        ("mad", Replacement::S3Fifo, 11.90),
        ("mad", Replacement::Min, 13.83),
    ];
    let mut all: Vec<Comparison> = bars
        .into_iter()
        .filter(|(program, ..)| outcomes.iter().any(|outcome| outcome.parameters.program == *program))
        .map(|(program, replacement, bar)| {
            let ours = find(program, 64, replacement).map(|outcome| outcome.row.bandwidth);
            let what =
                format!("{program}, 2 KB of 64 B pages, {replacement:?}: MiB/s (reference model, not the paper)");
            Comparison::new(what, Published::Value(bar), ours)
        })
        .collect();
    let mut programs: Vec<&str> = outcomes.iter().map(|outcome| &*outcome.parameters.program).collect();
    programs.dedup();
    for program in programs {
        for replacement in [Replacement::Lru, Replacement::Min] {
            let found = PAGES.into_iter().filter_map(|page| Some((page, &find(program, page, replacement)?.row)));
            let best = found.max_by(|a, b| a.1.bandwidth.total_cmp(&b.1.bandwidth));
            if (program, replacement) == (MAD, Replacement::Lru) {
                all.extend(best.map(|(page, row)| best_page_of_mad(page, &row.lengths)));
            }
            all.extend(best.into_iter().flat_map(|(page, row)| near_means(program, replacement, page, &row.lengths)));
        }
        if let Some(outcome) = find(program, 64, Replacement::Lru) {
            let what = format!(
                "Figure 8, {program}: share of misses with j = i + 1 (the paper: its Java sample, 2,048 B pages)"
            );
            let share = Comparison::new(what, Published::Value(0.115), Some(outcome.row.next_share));
            all.push(share.because(why_next_share(&outcome.row.lengths)));
        }
        all.extend([SLOW_BUS, FAST_BUS].into_iter().filter_map(|bus| small_part_pages(program, bus, outcomes)));
        if program.starts_with(JAVA) {
            all.extend(java_sample(program, outcomes));
        }
    }
    all
}

/// What the paper says of its Java sample, beside the applets that take its place (`tools/record-card`).
fn java_sample(program: &str, outcomes: &[Outcome<Parameters, Row>]) -> Vec<Comparison> {
    let of_2k = |nand: u16, page: usize, replacement: Replacement| {
        outcomes.iter().find(|outcome| {
            let parameters = &outcome.parameters;
            is_slow(outcome, nand)
                && parameters.program == program
                && (parameters.cache_bytes, parameters.page_bytes) == (2048, page)
                && parameters.replacement == replacement
        })
    };
    let mut all = Vec::new();
    for (replacement, published) in [(Replacement::Lru, 64.0), (Replacement::Min, 32.0)] {
        let found = PAGES.into_iter().filter_map(|page| Some((page, of_2k(512, page, replacement)?.row.bandwidth)));
        let best = found.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(page, _)| page as f64);
        let what = format!("Figure 5a, {program}, {replacement:?}: best page of a cache of 2 KB, bytes");
        let lengths = of_2k(512, 64, replacement).map_or_else(String::new, |outcome| outcome.row.lengths.text());
        let comparison = Comparison::new(what, Published::Value(published), best);
        all.push(comparison.because(format!("blocks are shorter than the paper's mean of 60 bytes: {lengths}")));
    }
    let Some(outcome) = of_2k(2048, 64, Replacement::Lru) else { return all };
    let another = "other applets than the paper's, whose trace is not public";
    let what = format!("Section 6.2, {program}: mean used basic block, bytes");
    let blocks = Comparison::new(what, Published::Value(60.0), Some(outcome.row.lengths.basic_block_bytes));
    all.push(blocks.because(another));
    let what = format!("Figure 8, {program}, 2,048 B pages: share of misses with j = i + 1");
    let share = Comparison::new(what, Published::Value(0.115), Some(outcome.row.next_share));
    all.push(share.because(why_next_share(&outcome.row.lengths)));
    if let Some(conventional) = of_2k(512, 512, Replacement::Lru) {
        let gain = of_2k(512, 64, Replacement::Lru).map(|tiny| tiny.row.bandwidth / conventional.row.bandwidth);
        let what = format!("Figure 6a, {program}: pages of 64 B outperform the conventional pager, 2 KB");
        all.push(Comparison::claim(
            what,
            "more",
            gain.map(|gain| (gain > 1.0, format!("{gain:.2} times its bandwidth"))),
        ));
    }
    all
}

fn why_next_share(lengths: &Lengths) -> String {
    format!("another program than the paper's; how far code runs on in sequence is the program's: {}", lengths.text())
}

/// Figure 4: whether small pages of a part make every conventional cache faster than large ones.
fn small_part_pages(program: &str, bus: &str, outcomes: &[Outcome<Parameters, Row>]) -> Option<Comparison> {
    let row = |nand: u16, cache: usize| {
        let is_it = |outcome: &&Outcome<Parameters, Row>| {
            let Parameters { program: other, bus: over, replacement, .. } = &outcome.parameters;
            let Parameters { nand_page_bytes, cache_bytes, page_bytes, .. } = outcome.parameters;
            (other.as_str(), over.as_str(), *replacement) == (program, bus, Replacement::Lru)
                && (nand_page_bytes, cache_bytes, page_bytes) == (nand, cache, usize::from(nand))
        };
        outcomes.iter().find(is_it).map(|outcome| &outcome.row)
    };
    let pair = |cache: usize| Some((cache, row(512, cache)?.bandwidth, row(2048, cache)?.bandwidth));
    let pairs: Vec<(usize, f64, f64)> = CONVENTIONAL.into_iter().filter_map(pair).collect();
    let text = |(cache, small, large): &(usize, f64, f64)| format!("{small:.3} / {large:.3} with {} KB", cache / 1024);
    let texts = pairs.iter().map(text).collect::<Vec<_>>().join(", ");
    let found = (pairs.iter().all(|(_, small, large)| small > large), format!("MiB/s, 512 / 2,048 B: {texts}"));
    let what = format!("Figure 4, {program}, {bus}: a part's pages, conventional caches");
    let largest = CONVENTIONAL.into_iter().rev().find_map(|cache| Some((cache, row(512, cache)?, row(2048, cache)?)));
    let loads = largest.map_or_else(String::new, |(cache, small, large)| {
        format!(
            "where a program nearly fits the cache, each page is loaded a few times, and large ones faster: with {} KB \
             {} loads of 512 B and {} of 2,048 B for {} requests of pages of 512 B",
            cache / 1024,
            small.cost.loads,
            large.cost.loads,
            small.cost.requests
        )
    });
    let claim = || Comparison::claim(what, "small pages outperform large ones", Some(found));
    (!pairs.is_empty()).then(|| claim().because(loads))
}

/// Figure 7, of which the text says where its best page is.
fn best_page_of_mad(page: usize, lengths: &Lengths) -> Comparison {
    let near = (page as f64 / 220.0).log2().abs() <= 1.0;
    Comparison::claim(
        "Figure 7, mad: best page of a cache of 2 KB under LRU",
        "around the mean basic block, 220 bytes",
        Some((near, format!("{page} bytes"))),
    )
    .because(format!("the mean basic block of this trace is shorter: {}", lengths.text()))
}

/// Section 6.2 by each of the means: the best page is within a factor of two of it.
fn near_means(program: &str, replacement: Replacement, page: usize, lengths: &Lengths) -> [Comparison; 3] {
    let means = [
        ("used basic block", lengths.basic_block_bytes),
        ("executed basic block", lengths.executed_block_bytes),
        ("run", lengths.run_bytes),
    ];
    means.map(|(of, mean)| {
        let near = (page as f64 / mean).log2().abs() <= 1.0;
        let what = format!("Section 6.2, {program}, {replacement:?}: best page of a cache of 2 KB near the mean {of}");
        Comparison::claim(what, "near the mean", Some((near, format!("best page {page} B, mean {of} {mean:.0} B"))))
            .because(format!("which mean the paper takes it does not say; near is a factor of two: {}", lengths.text()))
    })
}

fn policies(program: &str, outcomes: &[&Outcome<Parameters, Row>]) -> Table {
    let mut table = Table::new(
        format!("{program}: MiB/s over 512-byte pages, by frames of 64 bytes"),
        &["policy", "8", "16", "32", "64"],
    );
    for replacement in REPLACEMENTS {
        let cell = |cache: usize| {
            let found = outcomes.iter().find(|outcome| {
                let parameters = &outcome.parameters;
                is_slow(outcome, 512)
                    && parameters.cache_bytes == cache
                    && parameters.page_bytes == 64
                    && parameters.replacement == replacement
            });
            found.map_or_else(String::new, |outcome| figure(outcome.row.bandwidth))
        };
        let mut row = vec![format!("{replacement:?}")];
        row.extend([512, 1024, 2048, 4096].map(cell));
        table.push(row);
    }
    table
}

/// MiB/s under LRU when look-ups take time.
fn with_look_ups(outcome: &Outcome<Parameters, Row>) -> Option<f64> {
    let Parameters { cache_bytes, page_bytes, replacement: Replacement::Lru, .. } = outcome.parameters else {
        return None;
    };
    let (_, hit, miss) = *LOOK_UP_CYCLES.iter().find(|(frames, ..)| *frames == cache_bytes / page_bytes)?;
    let cost = &outcome.row.cost;
    let cycles = (cost.requests - cost.misses) as f64 * hit + cost.misses as f64 * miss;
    let looked_up = Cost { elapsed_ns: cost.elapsed_ns + (cycles * 1e9 / CLOCK_HZ) as u64, ..*cost };
    Some(looked_up.bandwidth())
}

/// Figure 5b.
fn steps(program: &str, outcomes: &[&Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "part's page",
        "cache page",
        "policy",
        "MiB/s",
        "with look-ups at 48 MHz",
        "misses",
        "loads",
        "bytes fetched",
        "passed over",
        "bytes written",
    ];
    let mut table = Table::new(
        format!("{program}: a cache of 2 KB by page size, 33 MHz and 8 bits (Figures 5a, 5b and 7)"),
        &columns,
    );
    for outcome in
        outcomes.iter().filter(|outcome| outcome.parameters.cache_bytes == 2048 && outcome.parameters.bus == SLOW_BUS)
    {
        let (parameters, cost) = (&outcome.parameters, &outcome.row.cost);
        let counts = [cost.misses, cost.loads, cost.fetched_bytes, cost.skipped_bytes, cost.written_bytes];
        let mut row = vec![
            parameters.nand_page_bytes.to_string(),
            parameters.page_bytes.to_string(),
            format!("{:?}", parameters.replacement),
        ];
        row.push(figure(outcome.row.bandwidth));
        row.push(with_look_ups(outcome).map_or_else(String::new, figure));
        row.extend(counts.map(|count| figure(count as f64)));
        table.push(row);
    }
    table
}

fn plot(program: &str, outcomes: &[&Outcome<Parameters, Row>]) -> Plot {
    type Measured = Outcome<Parameters, Row>;
    let series = |label: &str,
                  x: &dyn Fn(&Parameters) -> f64,
                  wanted: &dyn Fn(&Measured) -> bool,
                  value: fn(&Measured) -> Option<f64>| {
        let shown = outcomes.iter().filter(|outcome| wanted(outcome));
        let mut points: Vec<(f64, f64)> =
            shown.filter_map(|outcome| Some((x(&outcome.parameters), value(outcome)?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series::line(label, points)
    };
    let line = |label: &str, x: &dyn Fn(&Parameters) -> f64, wanted: &dyn Fn(&Measured) -> bool| {
        series(label, x, wanted, |outcome| Some(outcome.row.bandwidth))
    };
    let cache = |parameters: &Parameters| parameters.cache_bytes as f64 / 1024.0;
    let page = |parameters: &Parameters| parameters.page_bytes as f64;
    let lru = |outcome: &Measured| outcome.parameters.replacement == Replacement::Lru;
    let min = |outcome: &Measured| outcome.parameters.replacement == Replacement::Min;
    let conventional = |outcome: &Measured, nand: u16, bus: &str| {
        outcome.parameters.nand_page_bytes == nand
            && outcome.parameters.page_bytes == usize::from(nand)
            && outcome.parameters.bus == bus
    };
    let figure4 = |bus: &'static str| Panel {
        title: format!("Figure 4: conventional, {bus}"),
        x: Axis::log("cache, KB"),
        y: Axis::linear("MiB/s"),
        chart: Chart::Lines(vec![
            line("512, LRU", &cache, &|outcome| conventional(outcome, 512, bus) && lru(outcome)),
            line("512, MIN", &cache, &|outcome| conventional(outcome, 512, bus) && min(outcome)),
            line("2048, LRU", &cache, &|outcome| conventional(outcome, 2048, bus) && lru(outcome)),
            line("2048, MIN", &cache, &|outcome| conventional(outcome, 2048, bus) && min(outcome)),
        ]),
    };
    let of_2k = |outcome: &Measured, nand| is_slow(outcome, nand) && outcome.parameters.cache_bytes == 2048;
    let figure5 = Panel {
        title: "Figures 5a, 7: cache of 2 KB".to_owned(),
        x: Axis::log("cache page, bytes"),
        y: Axis::linear("MiB/s"),
        chart: Chart::Lines(vec![
            line("512, LRU", &page, &|outcome| of_2k(outcome, 512) && lru(outcome)),
            line("512, MIN", &page, &|outcome| of_2k(outcome, 512) && min(outcome)),
            line("2048, LRU", &page, &|outcome| of_2k(outcome, 2048) && lru(outcome)),
            line("2048, MIN", &page, &|outcome| of_2k(outcome, 2048) && min(outcome)),
            series("512, LRU, with look-ups", &page, &|outcome| of_2k(outcome, 512), with_look_ups),
            series("2048, LRU, with look-ups", &page, &|outcome| of_2k(outcome, 2048), with_look_ups),
        ]),
    };
    let tiny = |outcome: &Measured, nand| is_slow(outcome, nand) && outcome.parameters.page_bytes == 64;
    let figure6 = |nand: u16| Panel {
        title: format!("Figure 6: pages of 64 B, part's of {nand}"),
        x: Axis::log("cache, KB"),
        y: Axis::linear("MiB/s"),
        chart: Chart::Lines(vec![
            line("64 B, LRU", &cache, &|outcome| tiny(outcome, nand) && lru(outcome)),
            line("64 B, MIN", &cache, &|outcome| tiny(outcome, nand) && min(outcome)),
            line("conventional, LRU", &cache, &|outcome| conventional(outcome, nand, SLOW_BUS) && lru(outcome)),
            line("conventional, MIN", &cache, &|outcome| conventional(outcome, nand, SLOW_BUS) && min(outcome)),
            series("64 B, LRU, with look-ups", &cache, &|outcome| tiny(outcome, nand), with_look_ups),
            series("conventional, look-ups", &cache, &|outcome| conventional(outcome, nand, SLOW_BUS), with_look_ups),
        ]),
    };
    let figure8 =
        outcomes.iter().find(|outcome| of_2k(outcome, 2048) && outcome.parameters.page_bytes == 64 && lru(outcome));
    let distances = figure8.map_or_else(Vec::new, |outcome| parse(&outcome.row.distances, outcome.row.cost.misses));
    let figure8 = Panel {
        title: "Figure 8: distance of misses in a page, 2048/64, LRU".to_owned(),
        x: Axis::linear("cache pages from the last miss"),
        y: Axis::linear("share of misses"),
        chart: Chart::Lines(vec![Series::line("share", distances)]),
    };
    Plot {
        name: format!("paging-caches-{program}"),
        title: format!("{program}: demand paging"),
        panels: vec![figure4(FAST_BUS), figure4(SLOW_BUS), figure5, figure6(512), figure6(2048), figure8],
        columns: 2,
    }
}

fn parse(distances: &str, misses: u64) -> Vec<(f64, f64)> {
    let pair = |text: &str| {
        let (distance, count) = text.split_once(':')?;
        Some((distance.parse().ok()?, count.parse::<f64>().ok()? / misses as f64))
    };
    distances.split(' ').filter_map(pair).collect()
}
