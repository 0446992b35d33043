//! What a part is, how worn it is, and what it has done, as text.

use norn_flash_sim::{Nanoseconds, NorSim, WearSummary};

/// What a part is, how worn it is, and what it has done so far, as lines of text.
pub fn part_text(device: &NorSim) -> String {
    let (spec, part) = (device.spec(), device.spec().part);
    let geometry = format!("{} units of {} bytes", part.unit_count, part.unit_size_bytes);
    let (wear, counters, time) =
        (WearSummary::of(device.erase_counts()), device.counters(), Nanoseconds(device.elapsed_ns()));
    format!("part      {}, {geometry}\nerases    {wear}\ncounters  {counters}\ntime      {time}\n", spec.name)
}
