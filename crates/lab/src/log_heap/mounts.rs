//! What a mount does, by the number of units and how full they are: after a heap that came to rest, and after one that
//! was left without a word after few or many updates.

use norn_flash::Reprogramming;
use norn_flash_sim::catalogue;
use serde::{Deserialize, Serialize};

use super::paper::PAPER;
use super::population::{Population, Update};
use super::steady::Mount;
use super::subject::{Engine, Subject, Work};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Presentation, Table};
use crate::settings::Settings;

/// Mounts by size.
pub struct Mounts;

/// A heap of some size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    engine: Engine,
    units: u16,
    /// Hundredths of the objects that could be created.
    fill_percent: usize,
    stop: Stop,
    seed: u64,
}

/// How the heap was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// It came to rest.
    Rested,
    /// After few updates, each of which has a record.
    Recorded,
    /// After twice as many as there are objects, of which the last appends have no record where tails are long.
    Unrecorded,
}

/// What the mount did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    objects: usize,
    #[serde(flatten)]
    mount: Mount,
}

const UNIT_BYTES: u32 = 8192;
/// So large that references last for what fits into the largest part.
const OBJECT_BYTES: u32 = 200;

impl Experiment for Mounts {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "log-heap-mounts",
            paper: PAPER,
            reproduces: "mount time against size",
            summary: "What a mount of the log-structured heap does, by the number of units of 8 KB (words of 4 bytes, \
                      programmed once) and the share of the objects of 200 bytes that fit. The heap came to rest, or \
                      was left without a word after 8 updates of a new session, or after twice as many as there are \
                      objects: where the log names no appends any more, the mount sweeps. Times are those of \
                      TinyStore's part: 100 ns to read a word, 30 µs to program one, 0.5 s to erase.",
            revision: 2,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let (units, fills) = settings.choose((&[16][..], &[90][..]), (&[64, 256, 1024][..], &[0, 50, 90][..]));
        let stops = [Stop::Rested, Stop::Recorded, Stop::Unrecorded];
        let engines = settings.choose(&[Engine::Log][..], &[Engine::Log, Engine::LogDetecting]);
        let mut jobs = Vec::new();
        for &engine in engines {
            for &units in units {
                for &fill_percent in fills {
                    let stops = stops.into_iter().filter(|&stop| fill_percent > 0 || stop == Stop::Rested);
                    jobs.extend(stops.map(|stop| Job {
                        parameters: Parameters { engine, units, fill_percent, stop, seed: settings.seed },
                        seconds: 0.01 * f64::from(units),
                    }));
                }
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, _: &Context) -> Result<Vec<Row>, JobError> {
        let spec = || catalogue::limited_test_part(parameters.units, UNIT_BYTES, 4, Reprogramming::Once);
        let most = parameters.engine.on(spec(), Fill)?;
        let objects = most * parameters.fill_percent / 100;
        let mount = parameters.engine.on(spec(), LeftAt { parameters, objects })?;
        Ok(vec![Row { objects, mount }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        Presentation { tables: vec![table(outcomes)], ..Presentation::default() }
    }
}

/// Counts the objects that fit.
struct Fill;

impl Work for Fill {
    type Done = usize;

    fn with(self, mut heap: impl Subject) -> Result<usize, JobError> {
        Ok(Population::create(&mut heap, usize::MAX, OBJECT_BYTES, 0)?.len())
    }
}

struct LeftAt<'a> {
    parameters: &'a Parameters,
    objects: usize,
}

impl Work for LeftAt<'_> {
    type Done = Mount;

    fn with(self, mut heap: impl Subject) -> Result<Mount, JobError> {
        let mut population = Population::create(&mut heap, self.objects, OBJECT_BYTES, self.parameters.seed)?;
        let updates = match self.parameters.stop {
            Stop::Recorded => {
                heap.rest()?;
                heap.remount()?;
                8
            }
            Stop::Unrecorded | Stop::Rested => 2 * self.objects,
        };
        for _ in 0..updates {
            population.update(&mut heap, Update::OneField)?;
        }
        if self.parameters.stop == Stop::Rested {
            heap.rest()?;
        }
        Mount::measure(&mut heap)
    }
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = ["heap", "units", "objects", "left", "words read", "a unit", "words programmed", "erases", "ms"];
    let mut table = Table::new("", &columns);
    for Outcome { parameters, row } in outcomes {
        let Parameters { engine, units, stop, .. } = parameters;
        let left = match stop {
            Stop::Rested => "at rest",
            Stop::Recorded => "after 8 updates",
            Stop::Unrecorded => "after many updates",
        };
        table.push(vec![
            engine.to_string(),
            units.to_string(),
            row.objects.to_string(),
            left.to_owned(),
            row.mount.mount_reads.to_string(),
            format!("{:.0}", row.mount.mount_reads as f64 / f64::from(*units)),
            row.mount.mount_programs.to_string(),
            row.mount.mount_erases.to_string(),
            format!("{:.1}", row.mount.mount_us as f64 / 1000.0),
        ]);
    }
    table
}
