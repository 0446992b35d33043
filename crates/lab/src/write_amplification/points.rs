//! A point of a curve: a device, what is written to it, and how much of the part it uses; and what was measured there.

use std::fmt;

use norn_flash::NandPart;
use norn_flash_sim::NandSpec;
use norn_flash_sim::nand_catalogue::k9f2808;
use serde::{Deserialize, Serialize};

use super::dhara::{DharaLike, Geometry};
use super::mqsim::{Choice, MqsimLike};
use super::ours::{GreedyWithCheckpoint, Kept, Ours, greedy};
use super::steady::{Measured, Steady, Written};
use super::tasks::{Admitted, Refusal, WithTasks};
use super::trace::BlockTrace;
use super::workload::{Pages, Workload};
use crate::error::JobError;
use crate::experiment::{Context, Outcome};

/// Uses of the curves; the bars name those of [`BAR_USES`](super::bars::BAR_USES).
pub const USES: [u32; 7] = [50, 65, 70, 75, 80, 85, 90];
/// Uses at which the models of dhara stand in for one that they have no room for.
pub const DHARA_USES: [u32; 2] = [59, 73];
/// The greatest `gc_ratio`, which gives the greatest capacity and the least amplification.
const GC_RATIO_MAX: u8 = u8::MAX;
/// That of dhara's own tests.
const GC_RATIO_TESTED: u8 = 4;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Device {
    /// The block device, without tasks.
    Ours,
    /// The block device, with real-time tasks admitted.
    OursWithTasks,
    /// A greedy page map, without checkpoint, reserve or leveler.
    Greedy,
    /// The same with a checkpoint as ours.
    GreedyWithCheckpoint,
    /// The same with a checkpoint, and as many free pages kept as ours keeps.
    GreedyWithReserve,
    /// As MQSim's greedy collection.
    MqsimGreedy,
    /// As MQSim's random greedy collection.
    MqsimRandomGreedy,
    /// As dhara, with the `gc_ratio` of its tests.
    DharaTested,
    /// As dhara, with the greatest `gc_ratio`.
    DharaMost,
}

/// In the order of tables and plots.
pub const DEVICES: [Device; 9] = [
    Device::Ours,
    Device::OursWithTasks,
    Device::Greedy,
    Device::GreedyWithCheckpoint,
    Device::GreedyWithReserve,
    Device::MqsimGreedy,
    Device::MqsimRandomGreedy,
    Device::DharaTested,
    Device::DharaMost,
];

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Device::Ours => "ours",
            Device::OursWithTasks => "ours, tasks admitted",
            Device::Greedy => "greedy",
            Device::GreedyWithCheckpoint => "greedy, our checkpoint",
            Device::GreedyWithReserve => "greedy, and our reserve",
            Device::MqsimGreedy => "MQSim-like, greedy",
            Device::MqsimRandomGreedy => "MQSim-like, RGA",
            Device::DharaTested => "dhara-like, gc_ratio 4",
            Device::DharaMost => "dhara-like, gc_ratio 255",
        })
    }
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// What is measured.
    pub device: Device,
    /// What is written.
    pub workload: Workload,
    /// Logical pages in a hundred of the part's.
    pub use_percent: u32,
    /// Blocks of the part.
    pub blocks: u16,
    /// Everything random.
    pub seed: u64,
    /// Checksum of the trace's file, if the workload is a trace's.
    pub trace: Option<u32>,
    /// So many of the trace's writes are repeated, the first ones; all if it is not said.
    pub trace_requests: Option<usize>,
}

/// What a point measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Programs for each page written, 0 if no tasks were admitted.
    pub amplification: f64,
    /// Of the lowest of the last three windows.
    pub lowest: f64,
    /// Of the highest.
    pub highest: f64,
    /// Windows that were run.
    pub windows: u32,
    /// Whether the last three agree.
    pub settled: bool,
    /// Tasks that were admitted.
    pub tasks: u32,
    /// The factor of the paper's periods with which they were, and their α.
    pub stretch: u64,
    pub alpha: u32,
    /// The period of the checkpoint's task.
    pub checkpoint_period_us: u64,
    /// Why none were, where they were asked for.
    pub refusal: String,
}

impl Row {
    pub fn of(steady: Steady, admitted: Option<Admitted>) -> Row {
        let Steady { amplification, lowest, highest, windows, settled } = steady;
        let mut row = Row { amplification, lowest, highest, windows, settled, ..Row::default() };
        if let Some(Admitted { tasks, stretch, alpha, checkpoint_period_us }) = admitted {
            (row.tasks, row.stretch) = (tasks, stretch);
            (row.alpha, row.checkpoint_period_us) = (alpha, checkpoint_period_us);
        }
        row
    }
}

/// A device, and its tasks if it has some.
type Ready = (Box<dyn Measured>, Option<Admitted>);

impl Point {
    /// The paper's part, with fewer blocks in a quick run.
    fn spec(&self) -> NandSpec {
        let spec = k9f2808();
        NandSpec { part: NandPart { block_count: self.blocks, good_blocks_min: 1, ..spec.part }, ..spec }
    }

    pub fn geometry(&self) -> Geometry {
        let NandPart { block_count, pages_per_block, page_bytes, .. } = k9f2808().part;
        debug_assert!(self.blocks <= block_count, "no more blocks than the part's");
        let [blocks, pages_per_block, page_bytes] = [self.blocks, pages_per_block, page_bytes].map(u32::from);
        Geometry { blocks, pages_per_block, page_bytes }
    }

    pub fn logical_pages(&self) -> u32 {
        let Geometry { blocks, pages_per_block, .. } = self.geometry();
        blocks * pages_per_block * self.use_percent / 100
    }

    /// Whether the device has room for the logical pages, and the point is one of its curve.
    pub fn is_possible(&self) -> bool {
        let fits = |gc_ratio| self.logical_pages() <= self.geometry().capacity(gc_ratio);
        match self.device {
            Device::DharaTested => fits(GC_RATIO_TESTED),
            Device::DharaMost => fits(GC_RATIO_MAX),
            // Of the shares of checkpoint and reserve, one workload says enough.
            Device::GreedyWithCheckpoint | Device::GreedyWithReserve => {
                self.workload == Workload::Uniform && USES.contains(&self.use_percent)
            }
            Device::OursWithTasks => {
                let is_tpcc = matches!(self.workload, Workload::Trace | Workload::MadeUpTrace);
                is_tpcc && USES.contains(&self.use_percent)
            }
            _ => USES.contains(&self.use_percent),
        }
    }

    /// About how long it takes.
    pub fn seconds(&self) -> f64 {
        let full = match self.device {
            Device::Ours => 30.0,
            Device::OursWithTasks => 90.0,
            Device::Greedy | Device::GreedyWithCheckpoint | Device::GreedyWithReserve => 15.0,
            _ => 3.0,
        };
        full * f64::from(self.blocks) / 1024.0 / f64::from(100 - self.use_percent) * 20.0
    }

    pub fn recorded(&self, context: &Context) -> Result<Option<BlockTrace>, JobError> {
        let Some(expected) = self.trace else { return Ok(None) };
        let path = context.trace().ok_or_else(|| JobError::Failed("a block trace: no --trace".to_owned()))?;
        BlockTrace::read(path, expected).map(|trace| Some(trace.beginning(self.trace_requests)))
    }

    /// The device, filled, and the set of tasks if it has one; or why none is admitted.
    pub fn device(&self, pages: Pages) -> Result<Result<Ready, Refusal>, String> {
        let (spec, logical) = (self.spec(), self.logical_pages());
        let per_block = spec.part.pages_per_block;
        let dhara = |gc_ratio| DharaLike::new(self.geometry(), logical, gc_ratio).expect("the point is possible");
        let with_checkpoint = |kept| GreedyWithCheckpoint::new(&spec, logical, kept);
        let mqsim = |choice| MqsimLike::new(self.blocks, per_block, logical, choice, self.seed);
        let device: Box<dyn Measured> = match self.device {
            Device::Ours => Box::new(Written::new(Ours::new(&spec, logical)?, logical, pages)),
            Device::OursWithTasks => {
                let device = WithTasks::new(&spec, logical, pages)?;
                return Ok(device.map(|(device, set)| (Box::new(device) as Box<dyn Measured>, Some(set))));
            }
            Device::Greedy => Box::new(Written::new(greedy(&spec, logical), logical, pages)),
            Device::GreedyWithCheckpoint => Box::new(Written::new(with_checkpoint(Kept::Own)?, logical, pages)),
            Device::GreedyWithReserve => Box::new(Written::new(with_checkpoint(Kept::AsOurs)?, logical, pages)),
            Device::MqsimGreedy => Box::new(Written::new(mqsim(Choice::Greedy), logical, pages)),
            Device::MqsimRandomGreedy => Box::new(Written::new(mqsim(Choice::RandomGreedy), logical, pages)),
            Device::DharaTested => Box::new(Written::new(dhara(GC_RATIO_TESTED), logical, pages)),
            Device::DharaMost => Box::new(Written::new(dhara(GC_RATIO_MAX), logical, pages)),
        };
        Ok(Ok((device, None)))
    }
}

/// The outcomes of a device on a workload, by use.
pub fn curve(outcomes: &[Outcome<Point, Row>], device: Device, workload: Workload) -> Vec<(u32, &Row)> {
    let wanted = |outcome: &&Outcome<Point, Row>| {
        let point = &outcome.parameters;
        point.device == device && point.workload == workload && outcome.row.windows > 0
    };
    let mut points: Vec<(u32, &Row)> =
        outcomes.iter().filter(wanted).map(|outcome| (outcome.parameters.use_percent, &outcome.row)).collect();
    points.sort_by_key(|point| point.0);
    points
}

/// The amplification of a device on a workload at a use.
pub fn amplification(
    outcomes: &[Outcome<Point, Row>],
    device: Device,
    workload: Workload,
    use_percent: u32,
) -> Option<f64> {
    let curve = curve(outcomes, device, workload);
    curve.iter().find(|point| point.0 == use_percent).map(|point| point.1.amplification)
}
