//! What a part is, how worn it is, and what it has done.

use norn_flash_sim::{Nanoseconds, NorSim, WearSummary};

use crate::report::Report;

/// Adds to a report what a part is, how worn it is, and what it has done so far.
pub fn report_part(device: &NorSim, report: &mut Report) {
    let (spec, part) = (device.spec(), device.spec().part);
    let (name, units, unit_bytes) = (&*spec.name, part.unit_count, part.unit_size_bytes);
    report.described("part", format!("{name}, {units} units of {unit_bytes} bytes"), name);
    report.datum("erase_units", units).datum("erase_unit_bytes", unit_bytes);
    report.wear("erases", WearSummary::of(device.erase_counts())).counters("counters", device.counters());
    report.line("time", Nanoseconds(device.elapsed_ns())).datum("time_ns", device.elapsed_ns());
}
