//! Section 6.3 over inputs: code laid out by some inputs of a program, replayed on others.
//!
//! 1. The seed draws which half of a program's inputs is for training; the other half is for the test.
//! 2. Each method lays the code out by the training inputs.
//! 3. Each policy is replayed on both halves. Which layout and which online policy are compared with MIN is chosen on
//!    the training inputs, so that nothing is known of the test when it begins.

use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b};

use super::layout::{Layout, Placed};
use super::order::{blocks_in_functions, call_affinity, ext_tsp, pettis_hansen, placed, procedures};
use super::pages::{Room, by_misses};
use super::paper::PAPER;
use super::policies::policies;
use super::profile::Profile;
use super::recorded::recorded;
use super::replay::Cost;
use super::search::Search;
use super::trace::{Run, Trace};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Presentation, figure};
use crate::settings::Settings;

mod chosen;
mod measured;

use chosen::Chosen;
use measured::{Method, Parameters, Row};

/// Layouts trained on some inputs and tested on others.
pub struct Inputs;

/// Pages of 512 bytes, and 2 KB in frames of 64, of which a piece of code seldom uses all.
const ROOM: Room = Room { page: 512, cache: 1536 };
/// Samples of the training inputs that the search replays.
const SAMPLES: usize = 60;

/// What is measured of each program for each seed: all methods trained on half of the inputs, and one of them on one.
const PLAN: [(Method, usize); 9] = [
    (Method::Original, 0),
    (Method::CallAffinity, 0),
    (Method::Procedures, 0),
    (Method::PettisHansen, 0),
    (Method::ExtTsp, 0),
    (Method::BlocksInFunctions, 0),
    (Method::Misses, 0),
    (Method::Search, 0),
    (Method::Misses, 1),
];

impl Experiment for Inputs {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "paging-inputs",
            paper: PAPER,
            reproduces: "Section 6.3",
            summary: "Functions and basic blocks reordered by half of the inputs of a program, and bandwidth on the \
                      other half, in a cache of 2 KB with pages of 64 bytes over pages of 512; several seeds draw the \
                      halves. Layout and policy are chosen by the training inputs alone.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let mut jobs = Vec::new();
        for recorded in recorded(settings) {
            for seed in settings.seed..settings.seed + settings.choose(2, 5) {
                for (method, trained_on) in PLAN {
                    let (trials, sample_runs) = match method {
                        Method::Search => settings.choose((100, 3_000), (1_500, 60_000)),
                        _ => (0, 0),
                    };
                    let seconds = f64::from(trials) * sample_runs as f64 * 2e-7 + 5.0;
                    let recorded = recorded.clone();
                    let parameters = Parameters { recorded, method, trained_on, trials, sample_runs, seed };
                    jobs.push(Job { parameters, seconds });
                }
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let traces = parameters.recorded.traces(context)?;
        let halves = Halves::drawn(&traces, parameters);
        let layout = laid_out(&halves, parameters, context);
        let tested = policies(&layout.moved(&halves.test), halves.test.executed_bytes())?;
        let training = policies(&layout.moved(&halves.training), halves.training.executed_bytes())?;
        let row = |((policy, cost), (_, trained)): ((String, Cost), (String, Cost))| Row {
            policy,
            code_bytes: halves.training.code_bytes,
            executed_blocks_bytes: layout.executed_bytes,
            trained: trained.bandwidth(),
            bandwidth: cost.bandwidth(),
            cost,
        };
        Ok(tested.into_iter().zip(training).map(row).collect())
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let chosen = Chosen::of(outcomes);
        let remarks = vec![format!(
            "Of {} programs, {} have an online policy on a layout above MIN on the original one with every seed, {} \
             with none; the geometric mean of all programs and seeds is {}.",
            chosen.programs.len(),
            chosen.programs.iter().filter(|program| program.best.least > 1.0).count(),
            chosen.programs.iter().filter(|program| program.best.most <= 1.0).count(),
            figure(chosen.mean())
        )];
        Presentation { comparisons: chosen.claims(), tables: chosen.tables(), plots: vec![chosen.plot()], remarks }
    }
}

/// The inputs for training one after the other, and those for the test.
struct Halves {
    training: Trace,
    test: Trace,
}

impl Halves {
    fn drawn(traces: &[Trace], parameters: &Parameters) -> Halves {
        let mut numbers: Vec<usize> = (0..traces.len()).collect();
        fastrand::Rng::with_seed(parameters.seed).shuffle(&mut numbers);
        let (training, test) = numbers.split_at(traces.len() / 2);
        let trained_on = if parameters.trained_on == 0 { training.len() } else { parameters.trained_on };
        let code_bytes = traces.iter().map(|trace| trace.code_bytes).max().unwrap_or(0);
        let joined = |numbers: &[usize]| {
            let runs: Vec<Run> = numbers.iter().flat_map(|&number| &traces[number].runs).copied().collect();
            Trace { runs, code_bytes }
        };
        Halves { training: joined(&training[..trained_on.min(training.len())]), test: joined(test) }
    }
}

/// Where code is.
struct LaidOut {
    /// None where the compiler put it.
    layout: Option<Layout>,
    /// Bytes of blocks that the training inputs execute.
    executed_bytes: u32,
}

impl LaidOut {
    fn moved(&self, trace: &Trace) -> Trace {
        let moved =
            |layout: &Layout| Trace { runs: layout.translate(&trace.runs).collect(), code_bytes: layout.code_bytes };
        self.layout.as_ref().map_or_else(|| trace.clone(), moved)
    }
}

fn laid_out(halves: &Halves, parameters: &Parameters, context: &Context) -> LaidOut {
    let runs = &halves.training.runs;
    let profile = Profile::of(runs, halves.training.code_bytes);
    let executed_bytes = profile.blocks.iter().filter(|block| block.entered > 0).map(|block| block.bytes()).sum();
    let order = match parameters.method {
        Method::Original => return LaidOut { layout: None, executed_bytes },
        Method::CallAffinity => placed(&profile, &call_affinity(&profile)),
        Method::Procedures => placed(&profile, &procedures(&profile)),
        Method::PettisHansen => placed(&profile, &pettis_hansen(&profile)),
        Method::ExtTsp => placed(&profile, &ext_tsp(&profile)),
        Method::BlocksInFunctions => placed(&profile, &blocks_in_functions(&profile)),
        Method::Misses => by_misses(&profile, runs, ROOM),
        Method::Search => searched(&profile, runs, parameters, context),
    };
    LaidOut { layout: Some(Layout::new(&profile, &order)), executed_bytes }
}

/// The search from the order by misses.
fn searched(profile: &Profile, runs: &[Run], parameters: &Parameters, context: &Context) -> Vec<Placed> {
    let Parameters { trials, sample_runs, seed, .. } = *parameters;
    let search = Search { trials, sample_runs, samples: SAMPLES, seed };
    let progress = |done| context.progress(u64::from(done), u64::from(trials));
    search.improve(profile, &k9f1208q0b(Bus::Mhz33Bits8), runs, by_misses(profile, runs, ROOM), progress)
}
