//! The bars: on TPC-C at most 1.03 at 50%, and less than a greedy map had from 65% on; on uniform writes at most 5%
//! more than it has.

use super::points::{Device, Point, Row, amplification};
use super::workload::Workload;
use crate::experiment::Outcome;
use crate::presentation::{Comparison, Published};

/// Uses that the bars name.
pub const BAR_USES: [u32; 5] = [50, 65, 75, 85, 90];
/// On TPC-C: what was asked for at 50%, and what a greedy map was measured to have before, by another harness.
const ON_TPCC: [(u32, f64); 5] = [(50, 1.03), (65, 1.27), (75, 1.53), (85, 2.07), (90, 2.69)];
/// On uniform writes: times the greedy map of this run.
const ON_UNIFORM: f64 = 1.05;

/// Every bar beside what was measured.
pub fn comparisons(outcomes: &[Outcome<Point, Row>]) -> Vec<Comparison> {
    let has_trace = outcomes.iter().any(|outcome| outcome.parameters.workload == Workload::Trace);
    let tpcc = if has_trace { Workload::Trace } else { Workload::MadeUpTrace };
    let ours = [Device::Ours, Device::OursWithTasks];
    let of_tpcc = ours.into_iter().flat_map(|device| ON_TPCC.map(|bar| on_tpcc(outcomes, device, tpcc, bar)));
    let of_uniform = BAR_USES.map(|percent| on_uniform(outcomes, percent));
    of_tpcc.chain(of_uniform).flatten().collect()
}

fn on_tpcc(
    outcomes: &[Outcome<Point, Row>],
    device: Device,
    tpcc: Workload,
    (percent, bar): (u32, f64),
) -> Option<Comparison> {
    let ours = amplification(outcomes, device, tpcc, percent)?;
    let greedy = amplification(outcomes, Device::Greedy, tpcc, percent)?;
    let what = format!("{}, {percent}%, {device}", tpcc.name());
    Some(Comparison::new(what, Published::AtMost(bar), Some(ours)).because(beside(
        ours,
        greedy,
        "this run's greedy map",
    )))
}

/// How much more, and than what.
fn beside(ours: f64, other: f64, what: &str) -> String {
    format!("{:+.1}% beside {what} ({other:.3})", 100.0 * (ours / other - 1.0))
}

fn on_uniform(outcomes: &[Outcome<Point, Row>], percent: u32) -> Option<Comparison> {
    let at = |device| amplification(outcomes, device, Workload::Uniform, percent);
    let (ours, greedy) = (at(Device::Ours)?, at(Device::Greedy)?);
    let mut why = beside(ours, greedy, "this run's greedy map");
    if let Some(checkpoint) = at(Device::GreedyWithCheckpoint) {
        why += &format!("; {}", beside(ours, checkpoint, "one with our checkpoint"));
    }
    if let Some(reserved) = at(Device::GreedyWithReserve) {
        why += &format!("; {}", beside(ours, reserved, "one with our reserve, too"));
    }
    let what = format!("uniform, {percent}%, {}: at most 5% more than greedy", Device::Ours);
    Some(Comparison::new(what, Published::AtMost(ON_UNIFORM * greedy), Some(ours)).because(why))
}
