//! What the error-correcting code of each cache page costs (section 4.3 of the paper leaves correction to the part,
//! which corrects whole pages): the same replays without and with it, over simulated parts with cells, since a code
//! needs bytes to check.
//!
//! Cache pages with codes lie one after the other in the part's page, so that fewer of them fit it. Every byte that is
//! delivered is compared with the image's.

use norn_code_pager::policy::Lru;
use norn_code_pager::{
    Code, CodeAddress, Counts, Crc32c, ImageWriter, Options, Pager, ReadError, Room, Source as Bytes, Uncoded,
};
use norn_flash::{Block, Nand};
use norn_flash_sim::{NandSim, NandSpec, Noise};
use serde::{Deserialize, Serialize};

use super::caches::{SLOW_BUS, part};
use super::paper::PAPER;
use super::replay::{EXECUTE_NS, requests};
use super::source::{Source, sources};
use super::trace::Trace;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Comparison, Presentation, Table, figure};
use crate::settings::Settings;

/// The cost of codes.
pub struct Codes;

/// What corrects wrong bits, and whether there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Correction {
    /// Nothing here: the part or its driver.
    Off,
    /// Four bytes after each cache page.
    On,
    /// The same, over a part in which each load may show a wrong bit in every 512 bytes, as many as the maker asks to
    /// correct.
    OnWithWrongBits,
}

/// A replay under LRU in a cache of 2 KB.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    program: String,
    version: u64,
    nand_page_bytes: u16,
    page_bytes: usize,
    correction: Correction,
}

/// What it cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    bandwidth: f64,
    misses: u64,
    loads: u64,
    fetched_bytes: u64,
    skipped_bytes: u64,
    /// Bytes of cache pages that went through the code.
    coded_bytes: u64,
    corrected_bits: u64,
    /// Fetches of a cache page with more wrong bits than the code corrects; each was repeated, with a load.
    #[serde(default)]
    uncorrectable: u64,
    cache_pages_per_page: u16,
    /// Bytes of the part's pages that the image takes, its header's block not counted.
    image_part_bytes: u64,
    code_bytes: u32,
}

/// The program's bytes are not in the trace; these replace them.
struct MadeUp;

impl MadeUp {
    fn byte(at: u32) -> u8 {
        (at.wrapping_mul(0x9E37_79B9) >> 24) as u8
    }
}

impl Bytes for MadeUp {
    fn copy(&mut self, offset: u32, buffer: &mut [u8]) {
        (offset..).zip(buffer).for_each(|(at, byte)| *byte = MadeUp::byte(at));
    }
}

/// The program's image on a part, with wrong bits or none.
fn written<const PAGE: usize, C: Code>(
    spec: &NandSpec,
    bytes: u32,
    correction: Correction,
) -> Result<NandSim, JobError> {
    let mut sim = NandSim::new(spec.clone());
    let room = Room { start: Block(0), blocks: spec.part.block_count };
    let failed = |error: &dyn std::fmt::Display| JobError::Failed(format!("writing the image: {error}"));
    ImageWriter::<PAGE, 2048, C>::new().write(&mut sim, room, bytes, &mut MadeUp).map_err(|error| failed(&error))?;
    if correction == Correction::OnWithWrongBits {
        sim.set_noise(Noise { bits_max: 1, beyond_per_million: 0 });
    }
    Ok(sim)
}

fn replayed<const FRAMES: usize, const PAGE: usize, C: Code>(
    spec: &NandSpec,
    trace: &Trace,
    correction: Correction,
) -> Result<Row, JobError> {
    let sim = written::<PAGE, C>(spec, trace.code_bytes, correction)?;
    let failed = |error: &dyn std::fmt::Display| JobError::Failed(error.to_string());
    let mut pager: Pager<_, Lru<FRAMES>, FRAMES, PAGE, C, _> =
        Pager::open_with(sim, Block(0), Options::default(), Counts::default()).map_err(|error| failed(&error))?;
    let before = (pager.device().counters(), pager.device().elapsed_ns());
    let mut image = vec![0; trace.code_bytes as usize];
    MadeUp.copy(0, &mut image);
    let mut uncorrectable = 0;
    for page in requests::<PAGE>(trace.runs.iter().copied()) {
        let address = usize::from(page.0) * PAGE;
        loop {
            match pager.view(CodeAddress(address as u32)) {
                Ok(seen) if seen == &image[address..address + seen.len()] => break,
                Ok(_) => return Err(JobError::Failed(format!("wrong bytes at {address:#x}"))),
                Err(ReadError::Uncorrectable { .. }) if uncorrectable < trace.runs.len() as u64 => uncorrectable += 1,
                Err(error) => return Err(failed(&error)),
            }
        }
    }
    let (sim, counts) = pager.into_parts();
    let cost = sim.counters() - before.0;
    let executed = trace.executed_bytes();
    let elapsed_ns = executed * EXECUTE_NS + sim.elapsed_ns() - before.1;
    let per_page = sim.part().page_bytes / (PAGE + C::BYTES) as u16;
    let pages = trace.code_bytes.div_ceil(PAGE as u32).div_ceil(per_page.into());
    Ok(Row {
        bandwidth: executed as f64 / (elapsed_ns as f64 / 1e9) / f64::from(1 << 20),
        misses: counts.misses,
        loads: cost.loads,
        fetched_bytes: cost.fetched_bytes,
        skipped_bytes: cost.skipped_bytes,
        coded_bytes: if C::BYTES > 0 { counts.filled * PAGE as u64 } else { 0 },
        corrected_bits: counts.corrected_bits,
        uncorrectable,
        cache_pages_per_page: per_page,
        image_part_bytes: u64::from(pages) * u64::from(sim.part().page_bytes),
        code_bytes: trace.code_bytes,
    })
}

fn shaped<const FRAMES: usize, const PAGE: usize>(
    spec: &NandSpec,
    trace: &Trace,
    correction: Correction,
) -> Result<Row, JobError> {
    match correction {
        Correction::Off => replayed::<FRAMES, PAGE, Uncoded>(spec, trace, correction),
        Correction::On | Correction::OnWithWrongBits => replayed::<FRAMES, PAGE, Crc32c>(spec, trace, correction),
    }
}

impl Experiment for Codes {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "paging-codes",
            paper: PAPER,
            reproduces: "section 4.3, with an error-correcting code per cache page",
            summary: "Replays under LRU in a cache of 2 KB without and with four bytes of code behind each cache page, \
                      over simulated parts with cells; the time of computing the code is not in the bandwidth.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let mut jobs = Vec::new();
        for Source { program, version } in sources(settings) {
            for nand_page_bytes in [512, 2048] {
                for page_bytes in [32, 64, 128, 256] {
                    for correction in [Correction::Off, Correction::On, Correction::OnWithWrongBits] {
                        let program = program.clone();
                        let parameters = Parameters { program, version, nand_page_bytes, page_bytes, correction };
                        jobs.push(Job { parameters, seconds: settings.choose(0.1, 4.0) });
                    }
                }
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let Parameters { program, version, nand_page_bytes, page_bytes, correction } = parameters.clone();
        let trace = Source { program, version }.trace(context)?;
        let spec = part(nand_page_bytes, SLOW_BUS);
        let row = match page_bytes {
            32 => shaped::<64, 32>(&spec, &trace, correction),
            64 => shaped::<32, 64>(&spec, &trace, correction),
            128 => shaped::<16, 128>(&spec, &trace, correction),
            256 => shaped::<8, 256>(&spec, &trace, correction),
            _ => Err(JobError::Failed(format!("no cache pages of {page_bytes} bytes are compiled in"))),
        };
        Ok(vec![row?])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let mut presentation = Presentation::default();
        let mut programs: Vec<&str> = outcomes.iter().map(|outcome| &*outcome.parameters.program).collect();
        programs.dedup();
        for program in programs {
            let of: Vec<&Outcome<Parameters, Row>> =
                outcomes.iter().filter(|outcome| outcome.parameters.program == program).collect();
            presentation.tables.push(table(program, &of));
            presentation.comparisons.extend(share_kept(program, &of));
        }
        presentation
    }
}

/// Bandwidth with the code by that without, in the paper's main setting.
fn share_kept(program: &str, outcomes: &[&Outcome<Parameters, Row>]) -> Option<Comparison> {
    let find = |correction| {
        let is_it = |outcome: &&&Outcome<Parameters, Row>| {
            let Parameters { nand_page_bytes, page_bytes, correction: used, .. } = outcome.parameters;
            (nand_page_bytes, page_bytes, used) == (512, 64, correction)
        };
        outcomes.iter().find(is_it).map(|outcome| outcome.row.bandwidth)
    };
    let (off, on) = (find(Correction::Off)?, find(Correction::On)?);
    let evidence = format!("{on:.3} with the code, {off:.3} MiB/s without: {:.1}% of it", 100.0 * on / off);
    let what = format!("{program}: a code per cache page of 64 B keeps nine tenths of the bandwidth over 512 B pages");
    Some(Comparison::claim(what, "ours, not of the paper", Some((on / off >= 0.9, evidence))))
}

fn table(program: &str, outcomes: &[&Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "part's page",
        "cache page",
        "code",
        "MiB/s",
        "misses",
        "loads",
        "bytes fetched",
        "passed over",
        "bytes coded",
        "bits corrected",
        "uncorrectable",
        "cache pages a page",
        "part's bytes / code's",
    ];
    let mut table = Table::new(format!("{program}: an error-correcting code per cache page, LRU, 2 KB"), &columns);
    for outcome in outcomes {
        let (parameters, row) = (&outcome.parameters, &outcome.row);
        let mut cells = vec![
            parameters.nand_page_bytes.to_string(),
            parameters.page_bytes.to_string(),
            match parameters.correction {
                Correction::Off => "off".to_owned(),
                Correction::On => "on".to_owned(),
                Correction::OnWithWrongBits => "on, wrong bits".to_owned(),
            },
            figure(row.bandwidth),
        ];
        let counts = [
            row.misses,
            row.loads,
            row.fetched_bytes,
            row.skipped_bytes,
            row.coded_bytes,
            row.corrected_bits,
            row.uncorrectable,
            row.cache_pages_per_page.into(),
        ];
        cells.extend(counts.map(|count| figure(count as f64)));
        cells.push(figure(row.image_part_bytes as f64 / f64::from(row.code_bytes)));
        table.push(cells);
    }
    table
}
