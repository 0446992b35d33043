//! Section 6.3, which the paper left open: code laid out by a profile, replayed on another portion of the trace.

use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b};
use serde::{Deserialize, Serialize};

use super::layout::Layout;
use super::order::{call_affinity, ext_tsp, pettis_hansen, placed};
use super::paper::PAPER;
use super::policies::{MIN, policies};
use super::profile::Profile;
use super::replay::Cost;
use super::search::Search;
use super::source::{Source, sources};
use super::trace::Trace;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Plot, Series};
use crate::presentation::{Comparison, Presentation, Table, figure};
use crate::settings::Settings;

/// Section 6.3.
pub struct Layouts;

/// How code is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Method {
    /// As the compiler did.
    Original,
    /// Functions by calls.
    CallAffinity,
    /// Pettis and Hansen.
    PettisHansen,
    /// ext-TSP.
    ExtTsp,
    /// The search, from Pettis and Hansen's order.
    SearchPettisHansen,
    /// The search, from ext-TSP's order.
    SearchExtTsp,
}

const METHODS: [Method; 6] = [
    Method::Original,
    Method::CallAffinity,
    Method::PettisHansen,
    Method::ExtTsp,
    Method::SearchPettisHansen,
    Method::SearchExtTsp,
];

/// A layout of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    program: String,
    version: u64,
    profile_thousandths: u32,
    method: Method,
    trials: u32,
    sample_runs: usize,
    seed: u64,
}

/// A policy on the test portion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    policy: String,
    code_bytes: u32,
    executed_blocks_bytes: u32,
    #[serde(flatten)]
    cost: Cost,
    bandwidth: f64,
}

/// Samples of the profile that the search replays.
const SAMPLES: usize = 20;

impl Experiment for Layouts {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "paging-layouts",
            paper: PAPER,
            reproduces: "Section 6.3",
            summary: "Basic blocks and functions reordered by a profile of the first part of a trace; bandwidth on the \
                      rest, in a cache of 2 KB with pages of 64 bytes over pages of 512. Bytes of jumps that a layout \
                      adds cost time and count as no work.",
            revision: 3,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let mut jobs = Vec::new();
        for Source { program, version } in sources(settings) {
            for method in METHODS {
                let searches = matches!(method, Method::SearchPettisHansen | Method::SearchExtTsp);
                let (trials, sample_runs) =
                    if searches { settings.choose((100, 4000), (3_000, 40_000)) } else { (0, 0) };
                let seconds = f64::from(trials) * sample_runs as f64 * 2e-7 + 5.0;
                let (program, seed) = (program.clone(), settings.seed);
                let parameters =
                    Parameters { program, version, profile_thousandths: 500, method, trials, sample_runs, seed };
                jobs.push(Job { parameters, seconds });
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let source = Source { program: parameters.program.clone(), version: parameters.version };
        let trace = source.trace(context)?;
        let (profiled, test) = trace.split(parameters.profile_thousandths);
        let executed_bytes = test.executed_bytes();
        let (test, hot) = match parameters.method {
            Method::Original => (test, 0),
            method => laid_out(&trace, &profiled, &test, method, parameters, context),
        };
        let rows = policies(&test, executed_bytes)?;
        let row = |(policy, cost): (String, Cost)| Row {
            policy,
            code_bytes: test.code_bytes,
            executed_blocks_bytes: hot,
            bandwidth: cost.bandwidth(),
            cost,
        };
        Ok(rows.into_iter().map(row).collect())
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let mut presentation = Presentation::default();
        let mut programs: Vec<&str> = outcomes.iter().map(|outcome| &*outcome.parameters.program).collect();
        programs.dedup();
        for program in programs {
            let of: Vec<&Outcome<Parameters, Row>> =
                outcomes.iter().filter(|outcome| outcome.parameters.program == program).collect();
            presentation.comparisons.push(beats_min(program, &of));
            presentation.tables.push(table(program, &of));
            presentation.plots.push(plot(program, &of));
        }
        presentation
    }
}

/// The test portion in the layout of a method, and the bytes of the blocks that the profile executed.
fn laid_out(
    trace: &Trace,
    profiled: &Trace,
    test: &Trace,
    method: Method,
    parameters: &Parameters,
    context: &Context,
) -> (Trace, u32) {
    let profile = Profile::of(&profiled.runs, trace.code_bytes);
    let hot = profile.blocks.iter().filter(|block| block.entered > 0).map(|block| block.bytes()).sum();
    let chains = match method {
        Method::Original | Method::CallAffinity => call_affinity(&profile),
        Method::PettisHansen | Method::SearchPettisHansen => pettis_hansen(&profile),
        Method::ExtTsp | Method::SearchExtTsp => ext_tsp(&profile),
    };
    let search = Search {
        trials: parameters.trials,
        sample_runs: parameters.sample_runs,
        samples: SAMPLES,
        seed: parameters.seed,
    };
    let mut order = placed(&profile, &chains);
    if parameters.trials > 0 {
        let spec = k9f1208q0b(Bus::Mhz33Bits8);
        let progress = |done| context.progress(u64::from(done), u64::from(parameters.trials));
        order = search.improve(&profile, &spec, &profiled.runs, order, progress);
    }
    let layout = Layout::new(&profile, &order);
    (Trace { runs: layout.translate(&test.runs).collect(), code_bytes: layout.code_bytes }, hot)
}

fn beats_min(program: &str, outcomes: &[&Outcome<Parameters, Row>]) -> Comparison {
    let min = outcomes
        .iter()
        .find(|outcome| outcome.parameters.method == Method::Original && outcome.row.policy == MIN)
        .map(|outcome| outcome.row.bandwidth);
    let best = outcomes
        .iter()
        .filter(|outcome| outcome.row.policy != MIN)
        .max_by(|a, b| a.row.bandwidth.total_cmp(&b.row.bandwidth));
    let found = min.zip(best).map(|(min, best)| {
        let (method, policy, ours) = (best.parameters.method, &best.row.policy, best.row.bandwidth);
        (ours > min, format!("{policy} on {method:?} {ours:.3}, MIN on the original {min:.3} MiB/s"))
    });
    let what = format!("{program}: an online policy with a layout above MIN on the original one, same test portion");
    Comparison::claim(what, "goal of ours, not of the paper", found)
}

fn table(program: &str, outcomes: &[&Outcome<Parameters, Row>]) -> Table {
    let columns =
        ["layout", "policy", "MiB/s", "misses", "loads", "bytes fetched", "passed over", "jump bytes", "code bytes"];
    let mut table = Table::new(format!("{program}: the second half of the trace, laid out by the first"), &columns);
    for outcome in outcomes {
        let (row, cost) = (&outcome.row, &outcome.row.cost);
        let mut cells = vec![format!("{:?}", outcome.parameters.method), row.policy.clone(), figure(row.bandwidth)];
        let counts =
            [cost.misses, cost.loads, cost.fetched_bytes, cost.skipped_bytes, cost.jump_bytes, row.code_bytes.into()];
        cells.extend(counts.map(|count| figure(count as f64)));
        table.push(cells);
    }
    table
}

fn plot(program: &str, outcomes: &[&Outcome<Parameters, Row>]) -> Plot {
    let line = |policy: &str| {
        let points = outcomes.iter().filter(|outcome| outcome.row.policy == policy).map(|outcome| {
            let method = METHODS.iter().position(|&method| method == outcome.parameters.method).unwrap_or(0);
            (method as f64, outcome.row.bandwidth)
        });
        Series::line(policy, points.collect())
    };
    let x = Axis::linear("0 original, 1 call affinity, 2 Pettis-Hansen, 3 ext-TSP, 4 and 5 the search from 2 and 3");
    let chart = Chart::Lines(["LRU", "S3-FIFO", "Greedy", MIN].map(line).into());
    Plot::single(&format!("paging-layouts-{program}"), &format!("{program}: layouts"), x, Axis::linear("MiB/s"), chart)
}
