//! What the paper leaves out: three programs that share a cache, and a cache with pages of two sizes.
//!
//! 1. Programs lie one after the other on the part, and take turns of a number of runs each, until the shortest ends.
//! 2. The first half of each program's runs is the profile: a page of the part has large cache pages if its runs are
//!    longer, on average, than the geometric mean of the two sizes, and small ones otherwise.
//! 3. The second halves are replayed under LRU, which chooses among the frames of a size.
//!
//! Invariant: the first page of a room is the one requested last.

use std::collections::HashMap;

use norn_flash::NandTimings;
use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b};
use serde::{Deserialize, Serialize};

use super::paper::PAPER;
use super::replay::EXECUTE_NS;
use super::source::{MADE_UP, Source, made_up, sources};
use super::trace::Run;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Presentation, Table, figure};
use crate::settings::Settings;

/// Shared caches.
pub struct Sharing;

/// Programs and a cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Names, with [`SEPARATOR`] between them.
    programs: String,
    /// Their versions, in the same way.
    versions: String,
    /// Runs of each program, at most.
    runs_max: usize,
    /// Runs of a turn; nothing if one program follows the other.
    turn_runs: usize,
    cache_bytes: u32,
    small_page_bytes: u32,
    large_page_bytes: u32,
    /// Bytes of the cache that large pages have; nothing in a cache of one size.
    large_bytes: u32,
}

/// What a replay cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Cache pages that were not in a frame.
    pub misses: u64,
    /// Pages loaded into the register.
    pub loads: u64,
    /// Bytes fetched from it.
    pub fetched_bytes: u64,
    /// Bytes passed over.
    pub skipped_bytes: u64,
}

/// A measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    executed_bytes: u64,
    /// Pages of the part with large cache pages.
    large_pages: usize,
    #[serde(flatten)]
    counts: Counts,
    bandwidth: f64,
}

/// What no file's name has.
const SEPARATOR: &str = "/";
/// Programs that share a cache.
const PROGRAMS: usize = 3;
/// Bytes of a page of the part.
const PART_PAGE_BYTES: u32 = 512;
const CACHE_BYTES: u32 = 2048;
const TURNS: [usize; 5] = [0, 10, 100, 1_000, 10_000];
const SIZES: [u32; 6] = [16, 32, 64, 128, 256, 512];
const PAIRS: [(u32, u32); 5] = [(16, 64), (32, 128), (32, 256), (64, 256), (64, 512)];

/// Frames of one size.
#[derive(Clone, Debug)]
struct Room {
    page_bytes: u32,
    frames: usize,
    held: Vec<u32>,
}

/// A cache of one or two rooms over a register.
#[derive(Clone, Debug)]
pub struct SizedCache {
    small: Room,
    large: Room,
    /// The part's page in the register, and the position in it.
    register: Option<(u32, u32)>,
    /// What was counted.
    pub counts: Counts,
}

impl SizedCache {
    /// Rooms of so many bytes for pages of a size each.
    pub fn new((small_page_bytes, small_bytes): (u32, u32), (large_page_bytes, large_bytes): (u32, u32)) -> SizedCache {
        let room =
            |page_bytes: u32, bytes: u32| Room { page_bytes, frames: (bytes / page_bytes) as usize, held: Vec::new() };
        SizedCache {
            small: room(small_page_bytes, small_bytes),
            large: room(large_page_bytes, large_bytes),
            register: None,
            counts: Counts::default(),
        }
    }

    /// Executes a run; `is_large` says whether a page of the part has large cache pages.
    pub fn execute(&mut self, run: &Run, is_large: impl Fn(u32) -> bool) {
        let mut address = run.address;
        while address < run.end() {
            let room = if is_large(address / PART_PAGE_BYTES) { &mut self.large } else { &mut self.small };
            let (bytes, hit) = (room.page_bytes, room.request(address / room.page_bytes));
            let start = address / bytes * bytes;
            if !hit {
                self.fetch(start, bytes);
            }
            address = start + bytes;
        }
    }

    /// Brings a cache page, in the paper's three cases.
    fn fetch(&mut self, start: u32, bytes: u32) {
        let (page, column) = (start / PART_PAGE_BYTES, start % PART_PAGE_BYTES);
        let position = match self.register {
            Some((loaded, position)) if loaded == page && position <= column => position,
            _ => {
                self.counts.loads += 1;
                0
            }
        };
        self.counts.misses += 1;
        self.counts.skipped_bytes += u64::from(column - position);
        self.counts.fetched_bytes += u64::from(bytes);
        self.register = Some((page, column + bytes));
    }
}

impl Room {
    /// Whether the page is in a frame; it is in the first one afterwards.
    fn request(&mut self, page: u32) -> bool {
        let found = self.held.iter().position(|&held| held == page);
        let last = found.unwrap_or_else(|| {
            self.held.push(page);
            self.held.len() - 1
        });
        self.held[..=last].rotate_right(1);
        self.held.truncate(self.frames);
        found.is_some()
    }
}

/// Step 1: the programs, one after the other on the part.
pub fn on_one_part(programs: &mut [Vec<Run>]) {
    let mut start = 0;
    for runs in programs {
        let code_bytes = runs.iter().map(Run::end).max().unwrap_or(0);
        runs.iter_mut().for_each(|run| run.address += start);
        start += code_bytes.next_multiple_of(PART_PAGE_BYTES);
    }
}

/// Step 1: their runs in turns of so many, until the shortest ends, or one program after the other.
pub fn in_turns(programs: &[&[Run]], turn_runs: usize) -> Vec<Run> {
    let shortest = programs.iter().map(|runs| runs.len()).min().unwrap_or(0);
    let turn_runs = if turn_runs == 0 { shortest.max(1) } else { turn_runs };
    let turns = (0..shortest).step_by(turn_runs).map(|from| from..shortest.min(from + turn_runs));
    turns.flat_map(|turn| programs.iter().flat_map(move |runs| runs[turn.clone()].iter().copied())).collect()
}

/// Step 2: the pages of the part whose runs are longer than the geometric mean of the sizes, on average.
fn large_pages(profile: &[Run], small_page_bytes: u32, large_page_bytes: u32) -> HashMap<u32, bool> {
    let mut lengths: HashMap<u32, (u64, u64)> = HashMap::new();
    for run in profile {
        let (bytes, runs) = lengths.entry(run.address / PART_PAGE_BYTES).or_default();
        *bytes += u64::from(run.bytes);
        *runs += 1;
    }
    let mean = f64::from(small_page_bytes * large_page_bytes).sqrt();
    lengths.into_iter().map(|(page, (bytes, runs))| (page, bytes as f64 > mean * runs as f64)).collect()
}

impl Parameters {
    fn of(programs: &[Source], runs_max: usize, turn_runs: usize) -> Parameters {
        let joined = |text: &dyn Fn(&Source) -> String| programs.iter().map(text).collect::<Vec<_>>().join(SEPARATOR);
        Parameters {
            programs: joined(&|source| source.program.clone()),
            versions: joined(&|source| source.version.to_string()),
            runs_max,
            turn_runs,
            cache_bytes: CACHE_BYTES,
            small_page_bytes: 64,
            large_page_bytes: 64,
            large_bytes: 0,
        }
    }

    /// Profile and runs to measure.
    fn halves(&self, context: &Context) -> Result<[Vec<Run>; 2], JobError> {
        let mut programs = Vec::new();
        for (program, version) in self.programs.split(SEPARATOR).zip(self.versions.split(SEPARATOR)) {
            let version = version.parse().map_err(JobError::while_doing::<std::num::ParseIntError>("a version"))?;
            let mut runs = match program {
                MADE_UP => made_up(version, self.runs_max).runs,
                _ => Source { program: program.to_owned(), version }.trace(context)?.runs.clone(),
            };
            runs.truncate(self.runs_max);
            programs.push(runs);
        }
        on_one_part(&mut programs);
        let (profiles, measured): (Vec<_>, Vec<_>) = programs.iter().map(|runs| runs.split_at(runs.len() / 2)).unzip();
        Ok([in_turns(&profiles, self.turn_runs), in_turns(&measured, self.turn_runs)])
    }
}

/// The programs of the settings, at least three, with made-up ones where traces are missing.
fn programs(settings: &Settings) -> Vec<Source> {
    let mut programs = sources(settings);
    let missing = PROGRAMS.saturating_sub(programs.len()) as u64;
    let made_up = |number| Source { program: MADE_UP.to_owned(), version: settings.seed + number };
    programs.extend((1..=missing).map(made_up));
    programs
}

/// One program, or three in turns, through caches of one size and of two.
fn sizes(alone: &Parameters, jobs: &mut Vec<Parameters>) {
    for page_bytes in SIZES {
        jobs.push(Parameters { small_page_bytes: page_bytes, large_page_bytes: page_bytes, ..alone.clone() });
    }
    for (small_page_bytes, large_page_bytes) in PAIRS {
        for quarters in 1..=3 {
            let large_bytes = CACHE_BYTES / 4 * quarters;
            jobs.push(Parameters { small_page_bytes, large_page_bytes, large_bytes, ..alone.clone() });
        }
    }
}

impl Experiment for Sharing {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "paging-sharing",
            paper: PAPER,
            reproduces: "nothing published: what sections 6 and 7 leave open",
            summary: "Three programs that share a cache of 2 KB in turns of a number of runs, and caches with pages of \
                      two sizes, over pages of 512 bytes on the slow bus, under LRU. The first half of each program's \
                      runs says which code has large pages; the second is measured.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let runs_max = settings.choose(2_000, 250_000);
        let programs = programs(settings);
        let mut all = Vec::new();
        for turn_runs in TURNS {
            sizes(&Parameters::of(&programs[..PROGRAMS], runs_max, turn_runs), &mut all);
        }
        for program in &programs {
            sizes(&Parameters::of(std::slice::from_ref(program), runs_max, 0), &mut all);
        }
        let seconds = settings.choose(0.01, 0.3);
        all.into_iter().map(|parameters| Job { parameters, seconds }).collect()
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let &Parameters { cache_bytes, small_page_bytes, large_page_bytes, large_bytes, .. } = parameters;
        let [profile, measured] = parameters.halves(context)?;
        let large = match large_bytes {
            0 => HashMap::new(),
            _ => large_pages(&profile, small_page_bytes, large_page_bytes),
        };
        let mut cache = SizedCache::new((small_page_bytes, cache_bytes - large_bytes), (large_page_bytes, large_bytes));
        for run in &measured {
            cache.execute(run, |page| large.get(&page).copied().unwrap_or(false));
        }
        let executed_bytes = measured.iter().map(|run| u64::from(run.bytes)).sum();
        let counts = cache.counts;
        let bandwidth = bandwidth(executed_bytes, &counts, &k9f1208q0b(Bus::Mhz33Bits8).timings);
        let large_pages = large.values().filter(|&&is_large| is_large).count();
        Ok(vec![Row { executed_bytes, large_pages, counts, bandwidth }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let mut presentation = Presentation::default();
        presentation.tables.extend([turns(outcomes), best(outcomes)]);
        presentation.plots.push(plot(outcomes));
        presentation
    }
}

/// MiB/s of the program's bytes.
fn bandwidth(executed_bytes: u64, counts: &Counts, timings: &NandTimings) -> f64 {
    let from_part = counts.loads * u64::from(timings.load_ns)
        + (counts.fetched_bytes + counts.skipped_bytes) * u64::from(timings.byte_ns);
    let seconds = (executed_bytes * EXECUTE_NS + from_part) as f64 / 1e9;
    executed_bytes as f64 / seconds / f64::from(1 << 20)
}

fn is_shared(parameters: &Parameters) -> bool {
    parameters.programs.contains(SEPARATOR)
}

fn turn_name(turn_runs: usize) -> String {
    if turn_runs == 0 { "one after the other".to_owned() } else { format!("turns of {turn_runs} runs") }
}

fn of_one_size(outcomes: &[Outcome<Parameters, Row>], turn_runs: usize, page_bytes: u32) -> Option<f64> {
    let is_it = |outcome: &&Outcome<Parameters, Row>| {
        let parameters = &outcome.parameters;
        is_shared(parameters)
            && (parameters.turn_runs, parameters.large_bytes, parameters.small_page_bytes) == (turn_runs, 0, page_bytes)
    };
    outcomes.iter().find(is_it).map(|outcome| outcome.row.bandwidth)
}

fn turns(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let mut columns = vec!["MiB/s, cache pages of".to_owned()];
    columns.extend(SIZES.map(|bytes| format!("{bytes} B")));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let shared = outcomes.iter().find(|outcome| is_shared(&outcome.parameters));
    let programs = shared.map_or_else(String::new, |outcome| outcome.parameters.programs.replace(SEPARATOR, ", "));
    let mut table = Table::new(format!("Three programs share a cache of 2 KB: {programs}"), &columns);
    for turn_runs in TURNS {
        let mut cells = vec![turn_name(turn_runs)];
        cells.extend(SIZES.map(|bytes| of_one_size(outcomes, turn_runs, bytes).map_or_else(String::new, figure)));
        table.push(cells);
    }
    table
}

/// The best cache of one size, and of two.
fn best(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns =
        ["programs", "", "best page", "MiB/s", "best pair", "bytes for the large ones", "MiB/s", "pair / page"];
    let mut table = Table::new("Pages of one size and of two in a cache of 2 KB", &columns);
    let mut subjects: Vec<(&str, &str, usize)> = Vec::new();
    for Outcome { parameters, .. } in outcomes {
        let subject = (&*parameters.programs, &*parameters.versions, parameters.turn_runs);
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    for (programs, versions, turn_runs) in subjects {
        let of = outcomes.iter().filter(|outcome| {
            let parameters = &outcome.parameters;
            (&*parameters.programs, &*parameters.versions, parameters.turn_runs) == (programs, versions, turn_runs)
        });
        let (pairs, pages): (Vec<_>, Vec<_>) = of.partition(|outcome| outcome.parameters.large_bytes > 0);
        let most = |all: Vec<&'_ Outcome<Parameters, Row>>| {
            all.into_iter().max_by(|a, b| a.row.bandwidth.total_cmp(&b.row.bandwidth)).cloned()
        };
        let (Some(page), Some(pair)) = (most(pages), most(pairs)) else { continue };
        let Parameters { small_page_bytes, large_page_bytes, large_bytes, .. } = pair.parameters;
        table.push(vec![
            programs.replace(SEPARATOR, ", "),
            if is_shared(&page.parameters) { turn_name(turn_runs) } else { "alone".to_owned() },
            page.parameters.small_page_bytes.to_string(),
            figure(page.row.bandwidth),
            format!("{small_page_bytes}, {large_page_bytes}"),
            large_bytes.to_string(),
            figure(pair.row.bandwidth),
            figure(pair.row.bandwidth / page.row.bandwidth),
        ]);
    }
    table
}

fn plot(outcomes: &[Outcome<Parameters, Row>]) -> Plot {
    let line = |turn_runs: usize| {
        let point = |bytes: u32| Some((f64::from(bytes), of_one_size(outcomes, turn_runs, bytes)?));
        Series::line(turn_name(turn_runs), SIZES.into_iter().filter_map(point).collect())
    };
    let panel = Panel {
        title: "Three programs share a cache of 2 KB, LRU".to_owned(),
        x: Axis::log("cache page, bytes"),
        y: Axis::linear("MiB/s"),
        chart: Chart::Lines(TURNS.map(line).into()),
    };
    Plot {
        name: "paging-sharing".to_owned(),
        title: "Programs that share a cache".to_owned(),
        panels: vec![panel],
        columns: 1,
    }
}
