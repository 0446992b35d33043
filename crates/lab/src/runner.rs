//! Runs the jobs of experiments, on all cores:
//!
//! 1. leave out the jobs of other shards, and those whose results are on disk;
//! 2. start the longest first, each core taking the next when it is done;
//! 3. write each result to disk as soon as it is there;
//! 4. after a failure start no more, and report it.
//!
//! Stopping a run loses the jobs that are under way, and no others.

use std::io::{IsTerminal, stderr};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use crate::archive::Archive;
use crate::error::{JobError, LabError};
use crate::experiment::{AnyExperiment, Context};
use crate::settings::Settings;
use crate::shard::Shard;

/// Units of the bar for one expected second.
const TICKS_PER_SECOND: f64 = 1000.0;

/// What a run did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Jobs carried out.
    pub measured: usize,
    /// Jobs whose results were there.
    pub found: usize,
}

/// What becomes of results that are on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// They are kept.
    Kept,
    /// They are measured again and replaced: after a change of the measured code, which no parameter shows.
    MeasuredAgain,
}

/// A job that has to be carried out.
struct Pending<'a> {
    experiment: &'a dyn AnyExperiment,
    archive: Archive,
    parameters: Value,
    seconds: f64,
}

/// Where and how a run takes place.
pub struct Runner<'a> {
    /// Directory of the results.
    pub out: &'a std::path::Path,
    /// What is requested.
    pub settings: &'a Settings,
    /// What becomes of results that are on disk.
    pub known: Known,
    /// Which of the jobs.
    pub shard: Shard,
    /// Jobs at the same time.
    pub threads: NonZeroUsize,
}

impl Runner<'_> {
    /// Carries out what is not on disk yet.
    ///
    /// # Errors
    /// The first job that failed, or a file that could not be read or written.
    pub fn run(&self, experiments: &[Box<dyn AnyExperiment>]) -> Result<Summary, LabError> {
        let mut jobs = Vec::new();
        for experiment in experiments {
            let about = experiment.about();
            Archive::new(self.out, &about).keep_settings(self.settings)?;
            jobs.extend(experiment.jobs(self.settings).into_iter().map(|job| Pending {
                experiment: experiment.as_ref(),
                archive: Archive::new(self.out, &about),
                parameters: job.parameters,
                seconds: job.seconds,
            }));
        }
        jobs.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let (mut pending, mut found) = (Vec::new(), 0);
        for (_, job) in jobs.into_iter().enumerate().filter(|(place, _)| self.shard.has(*place)) {
            let kept = match self.known {
                Known::Kept => job.archive.find(&job.parameters)?,
                Known::MeasuredAgain => None,
            };
            match kept {
                Some(_) => found += 1,
                None => pending.push(job),
            }
        }
        self.carry_out(&pending)?;
        Ok(Summary { measured: pending.len(), found })
    }

    fn carry_out(&self, pending: &[Pending]) -> Result<(), LabError> {
        let board = Board::new(pending);
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let failure = Mutex::new(None);
        thread::scope(|scope| {
            for _ in 0..self.threads.get().min(pending.len()) {
                scope.spawn(|| {
                    while !failed.load(Ordering::Relaxed) {
                        let Some(job) = pending.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                        if let Err(error) = self.carry_out_one(job, &board) {
                            failed.store(true, Ordering::Relaxed);
                            failure.lock().expect("no thread panics with it").get_or_insert(error);
                        }
                    }
                });
            }
        });
        board.total.finish_and_clear();
        failure.into_inner().expect("no thread panics with it").map_or(Ok(()), Err)
    }

    fn carry_out_one(&self, job: &Pending, board: &Board) -> Result<(), LabError> {
        let (bar, start) = (board.job(job), Instant::now());
        let advance = |fraction: f64| board.advance(&bar, fraction);
        let (data, trace) = (self.settings.data.as_deref(), self.settings.trace.as_deref());
        let context = Context { advance: &advance, data, trace };
        let measured = catch_unwind(AssertUnwindSafe(|| job.experiment.measure(&job.parameters, &context)));
        let rows = measured.unwrap_or_else(|_| Err(JobError::Panicked)).map_err(|error| LabError::Job {
            experiment: job.experiment.about().name,
            parameters: job.parameters.to_string(),
            error,
        })?;
        advance(1.0);
        job.archive.keep(&job.parameters, rows, start.elapsed().as_secs_f64())?;
        bar.finish_and_clear();
        board.tell(job, start.elapsed());
        Ok(())
    }
}

/// The progress bars: one for all, one for each job under way. Without a terminal, a line for each job that is done.
struct Board {
    bars: MultiProgress,
    total: ProgressBar,
    jobs: usize,
    done: AtomicUsize,
    start: Instant,
}

impl Board {
    fn new(pending: &[Pending]) -> Board {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let ticks = pending.iter().map(|job| ticks(job.seconds)).sum();
        let style = "{bar:30} {percent:>3}% of {msg}, {elapsed} gone, about {eta} left";
        let total = bars.add(ProgressBar::new(ticks).with_style(bar_style(style)));
        total.set_message(format!("{} jobs", pending.len()));
        total.enable_steady_tick(Duration::from_millis(500));
        Board { bars, total, jobs: pending.len(), done: AtomicUsize::new(0), start: Instant::now() }
    }

    fn job(&self, job: &Pending) -> ProgressBar {
        let bar = self.bars.insert_before(&self.total, ProgressBar::new(ticks(job.seconds)));
        bar.set_style(bar_style("{bar:30} {percent:>3}% {wide_msg}"));
        bar.set_message(format!("{} {}", job.experiment.about().name, short(&job.parameters)));
        bar
    }

    fn advance(&self, bar: &ProgressBar, fraction: f64) {
        let position = (bar.length().unwrap_or(0) as f64 * fraction) as u64;
        self.total.inc(position.saturating_sub(bar.position()));
        bar.set_position(position.max(bar.position()));
    }

    /// Says on a plain stderr that a job is done.
    fn tell(&self, job: &Pending, took: Duration) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if stderr().is_terminal() {
            return;
        }
        let share = self.total.position() as f64 / self.total.length().unwrap_or(1).max(1) as f64;
        let left = self.start.elapsed().as_secs_f64() * (1.0 - share) / share.max(1e-9);
        let (name, what) = (job.experiment.about().name, short(&job.parameters));
        eprintln!("{done}/{} {name} {what}: {:.1} s; about {left:.0} s left", self.jobs, took.as_secs_f64());
    }
}

fn ticks(seconds: f64) -> u64 {
    (seconds * TICKS_PER_SECOND).max(1.0) as u64
}

fn bar_style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is right").progress_chars("=> ")
}

/// Parameters in a line: the values of a map.
fn short(parameters: &Value) -> String {
    let Some(map) = parameters.as_object() else { return parameters.to_string() };
    let values = map.iter().map(|(name, value)| match value {
        Value::String(text) => text.clone(),
        Value::Null => format!("no {name}"),
        other => format!("{name} {other}"),
    });
    values.collect::<Vec<_>>().join(", ")
}
