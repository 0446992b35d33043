//! A run: the part formatted and filled, tasks admitted, the processor let loose, and what happened.

use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::k9f2808;
use norn_nand_ftl::{
    AdmissionError, Ftl, FtlConfig, Lba, OperationTimes, PartClient, RealTime, RealTimeConfig, Scheduling, Task,
};
use serde::{Deserialize, Serialize};

use super::baseline::{Baseline, Policy};
use super::edf::{Background, Client, Leveler, Processor};
use super::system::{Collected, RealTimeDevice, System};
use super::workload::{Access, Downloader, Pattern};
use crate::error::JobError;

/// Pages of the paper's part.
pub const TOTAL_PAGES: u32 = 32_768;
/// Period of the checkpoint's task where T1 writes two pages in its own.
pub const CHECKPOINT_PERIOD_US: u64 = 200_000;
/// It is divided by these, until the checkpoint is supplied with the pages that tasks and collectors make due.
const CHECKPOINT_PERIOD_PARTS: [u64; 3] = [1, 2, 4];
/// ρ_init.
pub const TOKENS: u32 = 256;

/// What collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Collector {
    /// Collectors with deadlines, and the wear leveler.
    RealTime,
    /// The same without the wear leveler.
    RealTimeUnleveled,
    /// On demand, by cost and benefit, with the wear rule.
    CostBenefit,
    /// The same, and in idle time, too.
    CostBenefitIdle,
    /// On demand, by cost and benefit, with less leveling.
    CostBenefitLessLeveling,
    /// On demand, greedily, without regard to wear.
    Greedy,
    /// The same, with blocks of their own for what is copied.
    GreedySeparated,
}

impl Collector {
    /// Its name in tables and plots.
    pub fn name(self) -> &'static str {
        match self {
            Collector::RealTime => "with deadlines",
            Collector::RealTimeUnleveled => "with deadlines, no leveler",
            Collector::CostBenefit => "on demand",
            Collector::CostBenefitIdle => "on demand and when idle",
            Collector::CostBenefitLessLeveling => "on demand, less leveling",
            Collector::Greedy => "greedy",
            Collector::GreedySeparated => "greedy, copies apart",
        }
    }

    /// How the device without guarantees chooses; `None` for the one with collectors.
    fn policy(self) -> Option<Policy> {
        match self {
            Collector::RealTime | Collector::RealTimeUnleveled => None,
            Collector::CostBenefit => Some(Policy::CostBenefit),
            Collector::CostBenefitIdle => Some(Policy::CostBenefitIdle),
            Collector::CostBenefitLessLeveling => Some(Policy::CostBenefitLessLeveling),
            Collector::Greedy => Some(Policy::Greedy),
            Collector::GreedySeparated => Some(Policy::GreedySeparated),
        }
    }
}

/// A run of the paper's two tasks and its downloader.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// What collects.
    pub collector: Collector,
    /// Logical pages in a hundred of the part's.
    pub use_percent: u32,
    /// Share of the logical pages that is never written again.
    pub cold_percent: f64,
    /// How the device is accessed.
    pub pattern: Pattern,
    /// α; 0 for the largest that is admitted.
    pub alpha: u32,
    /// Pages that T1 writes in a period.
    pub t1_writes: u32,
    /// Between two pages of the downloader, in microseconds; 0 for none.
    pub download_us: u64,
    /// Simulated time.
    pub seconds: u64,
    /// Everything random.
    pub seed: u64,
}

/// Whether admission is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is.
    On,
    /// It is configured with operation times of 0, so that (14) always holds: a bypass for the lab.
    Deceived,
}

impl Setting {
    /// The paper's, at 50%, a downloader of a page every 8 ms, and 97% cold.
    pub fn paper(collector: Collector, seconds: u64, seed: u64) -> Self {
        Setting {
            collector,
            use_percent: 50,
            cold_percent: 97.0,
            pattern: Pattern::Trace,
            alpha: 0,
            t1_writes: 2,
            download_us: 8_000,
            seconds,
            seed,
        }
    }

    /// Logical pages of the device.
    pub fn logical_pages(&self) -> u32 {
        TOTAL_PAGES * self.use_percent / 100
    }

    /// T1 and T2 (Table III): computing, reads, writes, period.
    pub fn tasks(&self) -> [(u64, u32, u32, u64); 2] {
        [(3_000, 4, self.t1_writes, 20_000), (5_000, 2, 5, 200_000)]
    }

    fn clients(&self, handles: [Option<norn_nand_ftl::TaskHandle>; 2]) -> Vec<Client> {
        let pages = self.logical_pages();
        let client = |(number, ((cpu, reads, writes, period), handle))| {
            let access = Access::new(self.pattern, pages, number, writes, self.seed);
            Client::new(handle, period, cpu, reads, writes, access)
        };
        (0..).zip(self.tasks().into_iter().zip(handles)).map(client).collect()
    }

    fn background(&self) -> Background {
        let pages = self.logical_pages();
        let fast = if self.download_us == 1 { 0 } else { self.download_us };
        let downloader =
            (self.download_us > 0).then(|| Downloader::new(self.pattern, pages, self.cold_percent, fast, self.seed));
        let leveler = if self.collector == Collector::RealTime { Leveler::On } else { Leveler::Off };
        Background { downloader, leveler }
    }
}

/// A formatted device with every logical page written once.
pub fn filled(logical_pages: u32) -> Ftl<NandSim, Vec<u8>> {
    let sim = NandSim::new(k9f2808());
    let memory = vec![0; Ftl::<NandSim, Vec<u8>>::memory_bytes(&k9f2808().part, logical_pages)];
    let mut ftl = Ftl::format(sim, memory, FtlConfig { logical_pages }).expect("the part has room");
    let page = [0x11; 512];
    for lba in 0..logical_pages {
        ftl.write(Lba(lba), &page).expect("the part works");
    }
    ftl
}

/// The device with collectors and the paper's tasks admitted.
pub fn collected(setting: &Setting, admission: Admission) -> Result<(Collected, Vec<Client>), JobError> {
    let times = match admission {
        Admission::On => OperationTimes::paper(),
        Admission::Deceived => OperationTimes { read_us: 0, write_us: 0, erase_us: 0, collector_cpu_us: 0 },
    };
    let alphas = if setting.alpha > 0 { setting.alpha..=setting.alpha } else { 1..=32 };
    let mut refusal = String::new();
    let mut ftl = Some(filled(setting.logical_pages()));
    for alpha in alphas.rev() {
        for part in CHECKPOINT_PERIOD_PARTS {
            let config = RealTimeConfig {
                alpha,
                tokens: TOKENS,
                times,
                checkpoint_period_us: CHECKPOINT_PERIOD_US * 2 / u64::from(setting.t1_writes.max(2)) / part,
                scheduling: Scheduling::EarliestDeadline,
                client: PartClient::NONE,
                failure_budget: 0,
            };
            // A device that does not start is lost, so that each has one of its own.
            let device = ftl.take().unwrap_or_else(|| filled(setting.logical_pages()));
            match admitted(device, config, setting, admission) {
                Ok(done) => return Ok(done),
                Err(Refusal::Checkpoint(why)) => refusal = format!("alpha {alpha}: {why}"),
                Err(Refusal::Other(why)) => {
                    refusal = format!("alpha {alpha}: {why}");
                    break;
                }
            }
        }
    }
    Err(JobError::Failed(refusal))
}

/// Why a set was not admitted.
enum Refusal {
    /// A shorter period of the checkpoint may help.
    Checkpoint(String),
    Other(String),
}

impl From<AdmissionError> for Refusal {
    fn from(error: AdmissionError) -> Self {
        match error {
            AdmissionError::Checkpoint { .. } => Refusal::Checkpoint(error.to_string()),
            _ => Refusal::Other(error.to_string()),
        }
    }
}

fn admitted(
    ftl: Ftl<NandSim, Vec<u8>>,
    config: RealTimeConfig,
    setting: &Setting,
    admission: Admission,
) -> Result<(Collected, Vec<Client>), Refusal> {
    let mut device: RealTimeDevice = RealTime::start(ftl, config).map_err(|error| Refusal::Other(error.to_string()))?;
    let mut handles = [None; 2];
    for (handle, (cpu, reads, writes, period)) in handles.iter_mut().zip(setting.tasks()) {
        let task = match admission {
            Admission::On => Task::new(cpu, reads, writes, period, &config.times),
            Admission::Deceived => Task { cost_us: 0, period_us: period, writes },
        };
        *handle = Some(device.admit(task)?);
    }
    Ok((Collected::new(device), setting.clients(handles)))
}

/// What a run says; what its collector does not have is 0.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    /// α, that admission found or that was given.
    pub alpha_used: u32,
    /// Pages that T1 wrote.
    pub t1_pages: u64,
    /// Pages that T2 wrote.
    pub t2_pages: u64,
    /// Pages that the downloader wrote.
    pub downloaded: u64,
    /// Jobs of T1 and T2.
    pub jobs: u64,
    /// Those of them that were late.
    pub misses: u64,
    /// Jobs of T1.
    pub t1_jobs: u64,
    /// Those of them that were late.
    pub t1_misses: u64,
    /// Jobs of collectors and of the checkpoint that were late.
    pub system_misses: u64,
    /// Writes of tasks that waited for a token.
    pub token_waits: u64,
    /// The longest such wait.
    pub token_wait_ms_max: f64,
    /// T1's longest response.
    pub t1_response_us: u64,
    /// T2's longest response.
    pub t2_response_us: u64,
    /// Fewest dead pages of a block that a collector recycled.
    pub yield_min: u32,
    /// Collections on demand.
    pub collections: u64,
    /// The longest of them.
    pub blocking_ms_max: f64,
    /// Their mean.
    pub blocking_ms_mean: f64,
    /// Blocks recycled on demand that had no dead page.
    pub recycled_full: u64,
    /// Pages that collectors copied.
    pub copies: u64,
    /// Pages that the wear leveler copied.
    pub leveled: u64,
    /// Pages of the checkpoint.
    pub chunks: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Standard deviation of the blocks' erase counts.
    pub deviation: f64,
    /// The highest of these counts.
    pub erases_max: u32,
    /// Blocks with 200 erases or more.
    pub worn_out_percent: f64,
    /// Pages written by tasks and downloader, in KB a second.
    pub kb_per_s: f64,
}

/// A run's end, with its series.
pub struct Run {
    pub summary: Summary,
    pub wear: Vec<super::edf::WearPoint>,
    /// Blocking of each collection on demand.
    pub blocking_us: Vec<u64>,
}

/// Runs a setting.
pub fn run(setting: &Setting, admission: Admission, progress: impl FnMut(u64)) -> Result<Run, JobError> {
    match setting.collector.policy() {
        None => {
            let (system, clients) = collected(setting, admission)?;
            let alpha = system.device.capacity().alpha;
            let (erased, counters) = (system.erase_counts(), system.device.ftl().counters());
            let mut processor = Processor::new(system, clients, setting.background());
            let summary = drive(&mut processor, setting, &erased, progress);
            let device = &processor.system.device;
            let (now, real_time) = (device.ftl().counters(), device.counters());
            let summary = Summary {
                alpha_used: alpha,
                system_misses: real_time.misses,
                yield_min: real_time.yield_min,
                copies: now.copied - counters.copied,
                leveled: now.leveled - counters.leveled,
                chunks: now.chunks - counters.chunks,
                ..summary
            };
            Ok(Run { summary, wear: processor.wear, blocking_us: Vec::new() })
        }
        Some(policy) => {
            let mut system = Baseline::new(k9f2808(), setting.logical_pages(), policy);
            (0..setting.logical_pages()).for_each(|lba| system.put(lba));
            let (erased, copied) = (system.erase_counts(), system.copied);
            let mut processor = Processor::new(system, setting.clients([None; 2]), setting.background());
            let summary = drive(&mut processor, setting, &erased, progress);
            let system = &processor.system;
            let total: u64 = system.blocking_us.iter().sum();
            let summary = Summary {
                collections: system.blocking_us.len() as u64,
                blocking_ms_max: system.blocking_us.iter().max().map_or(0.0, |&us| us as f64 / 1000.0),
                blocking_ms_mean: total as f64 / 1000.0 / system.blocking_us.len().max(1) as f64,
                recycled_full: system.recycled_full,
                copies: system.copied - copied,
                ..summary
            };
            Ok(Run { summary, wear: processor.wear, blocking_us: processor.system.blocking_us })
        }
    }
}

fn drive<S: System>(
    processor: &mut Processor<S>,
    setting: &Setting,
    erased: &[u32],
    mut progress: impl FnMut(u64),
) -> Summary {
    let end = setting.seconds * 1_000_000;
    processor.run(end, end / 200, |now| progress(now / 1_000_000));
    let counts = processor.system.erase_counts();
    // Erases before the run are no part of it.
    let counts: Vec<u32> = counts.iter().zip(erased).map(|(now, before)| now - before).collect();
    let wear = super::edf::WearPoint::of(processor.now_us, &counts);
    let [t1, t2] = [&processor.clients[0].stats, &processor.clients[1].stats];
    let written = t1.writes + t2.writes + processor.background_writes;
    Summary {
        t1_pages: t1.writes,
        t2_pages: t2.writes,
        downloaded: processor.background_writes,
        jobs: t1.jobs + t2.jobs,
        misses: t1.misses + t2.misses,
        t1_jobs: t1.jobs,
        t1_misses: t1.misses,
        token_waits: t1.waits + t2.waits,
        token_wait_ms_max: t1.wait_us_max.max(t2.wait_us_max) as f64 / 1000.0,
        t1_response_us: t1.response_us_max,
        t2_response_us: t2.response_us_max,
        erases: wear.erases,
        deviation: wear.deviation,
        erases_max: counts.iter().copied().max().unwrap_or(0),
        worn_out_percent: 100.0 * wear.worn_out as f64 / wear.blocks as f64,
        kb_per_s: written as f64 / 2.0 / (processor.now_us as f64 / 1e6),
        ..Summary::default()
    }
}
