//! Tables 1 and 2: what the parts take on either bus, read from simulated parts.

use norn_flash::{Block, Column, Nand};
use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b, mt29f2g08};
use norn_flash_sim::{NandSim, NandSpec};
use serde::{Deserialize, Serialize};

use super::paper::PAPER;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Comparison, Presentation, Published};
use crate::settings::Settings;

/// Tables 1 and 2.
pub struct Tables;

/// A row of a table: which, and the device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    table: u8,
    device: String,
}

/// Its cells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    page_fetch_us: f64,
    random_mib_per_s: f64,
    sequential_mib_per_s: f64,
}

/// The published rows: table, device, page fetch in µs, worst and best bandwidth; no page fetch for NOR.
const PUBLISHED: [(u8, &str, f64, f64, f64); 6] = [
    (1, "K9F1208Q0B", 25.6, 0.02, 12.03),
    (1, "MT29F2G08A", 81.94, 0.01, 18.27),
    (1, "NOR", 0.0, 23.84, 23.84),
    (2, "K9F1208Q0B", 25.6, 0.02, 12.03),
    (2, "MT29F2G08A", 40.9, 0.01, 29.61),
    (2, "NOR", 0.0, 108.0, 108.0),
];

/// Bandwidth in MiB/s of one load and the fetch of the given number of bytes at the end of the page, and the time of
/// the fetch in µs.
fn read(spec: NandSpec, bytes: u16) -> Result<(f64, f64), JobError> {
    let failed = JobError::while_doing("reading a simulated part");
    let mut sim = NandSim::new(spec);
    let mut buffer = vec![0; usize::from(bytes)];
    sim.load(Block(0).page(0)).map_err(&failed)?;
    let loaded = sim.elapsed_ns();
    sim.seek(Column(sim.part().page_bytes - bytes)).map_err(&failed)?;
    sim.fetch(&mut buffer).map_err(&failed)?;
    let bandwidth = f64::from(bytes) / (sim.elapsed_ns() as f64 / 1e9) / f64::from(1 << 20);
    Ok((bandwidth, (sim.elapsed_ns() - loaded) as f64 / 1e3))
}

impl Experiment for Tables {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "paging-tables",
            paper: PAPER,
            reproduces: "Tables 1 and 2",
            summary: "A page and a byte read from simulated parts, on a bus of 33 MHz and 8 bits and on one of 54 MHz \
                      and 16 bits.",
            revision: 1,
        }
    }

    fn jobs(_settings: &Settings) -> Vec<Job<Parameters>> {
        let job = |&(table, device, ..): &(u8, &str, f64, f64, f64)| Job {
            parameters: Parameters { table, device: device.to_owned() },
            seconds: 0.01,
        };
        PUBLISHED.iter().map(job).collect()
    }

    fn measure(parameters: &Parameters, _context: &Context) -> Result<Vec<Row>, JobError> {
        let bus = if parameters.table == 1 { Bus::Mhz33Bits8 } else { Bus::Mhz54Bits16 };
        let spec = match &*parameters.device {
            "K9F1208Q0B" => k9f1208q0b(bus),
            "MT29F2G08A" => mt29f2g08(bus),
            _ => {
                let bandwidth = 1e9 / f64::from(bus.nor_byte_ns()) / f64::from(1 << 20);
                return Ok(vec![Row {
                    page_fetch_us: 0.0,
                    random_mib_per_s: bandwidth,
                    sequential_mib_per_s: bandwidth,
                }]);
            }
        };
        let (sequential_mib_per_s, page_fetch_us) = read(spec.clone(), spec.part.page_bytes)?;
        Ok(vec![Row { page_fetch_us, random_mib_per_s: read(spec, 1)?.0, sequential_mib_per_s }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let mut comparisons = Vec::new();
        for (table, device, fetch, worst, best) in PUBLISHED {
            let is_it = |outcome: &&Outcome<Parameters, Row>| {
                outcome.parameters.table == table && outcome.parameters.device == device
            };
            let row = outcomes.iter().find(is_it).map(|outcome| &outcome.row);
            let what = |cell: &str| format!("Table {table}, {device}: {cell}");
            let erratum =
                |comparison: Comparison, is_one, why| if is_one { comparison.because(why) } else { comparison };
            if fetch > 0.0 {
                let ours =
                    Comparison::new(what("page fetch, µs"), Published::Value(fetch), row.map(|row| row.page_fetch_us));
                comparisons.push(erratum(ours, fetch == 81.94, "erratum: 2,048 bytes of 40 ns are 81.92 µs"));
                let ours = row.map(|row| (row.random_mib_per_s * 100.0).round() / 100.0);
                comparisons.push(Comparison::new(what("random, MiB/s"), Published::Value(worst), ours));
            }
            let ours = row.map(|row| row.sequential_mib_per_s);
            let ours = Comparison::new(what("sequential, MiB/s"), Published::Value(best), ours);
            comparisons.push(erratum(ours, best == 108.0, "erratum: 9 ns a byte are 105.96 MiB/s"));
        }
        Presentation { comparisons, ..Presentation::default() }
    }
}
