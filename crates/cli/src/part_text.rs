//! What a part is, how worn it is, and what it has done.

use norn_flash_sim::{Nanoseconds, NorSim, WearSummary};

use crate::report::Report;

/// Adds to a report what a part is, how worn it is, and what it has done so far.
pub fn report_part(device: &NorSim, report: &mut Report) {
    let (spec, part) = (device.spec(), device.spec().part);
    report.value("part", format!("{}, {} units of {} bytes", spec.name, part.unit_count, part.unit_size_bytes));
    report.value("erases", WearSummary::of(device.erase_counts()));
    report.value("counters", device.counters());
    report.value("time", Nanoseconds(device.elapsed_ns()));
}
