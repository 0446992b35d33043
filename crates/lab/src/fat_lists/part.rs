//! The table of parameters: the simulated part, measured, and what a list's object takes on it.

use norn_flash::{Address, EraseUnit, Nor};
use norn_flash_sim::{NorSim, catalogue};
use norn_ordered_index::{FatList, OrderedIndex, Settings as ListSettings};
use serde::{Deserialize, Serialize};

use super::paper::PAPER;
use super::subject::part;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Comparison, Presentation, Published};
use crate::settings::Settings;

/// The table of parameters; a job's parameters are the part's size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    megabytes: u16,
}

/// What was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    word_bytes: u64,
    words: u64,
    block_words: u64,
    read_ns: u64,
    program_ns: u64,
    erase_ns: u64,
    endurance_erases: u32,
    object_bytes: u64,
    state_bytes: usize,
}

impl Experiment for Parameters {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "fat-lists-part",
            paper: PAPER,
            reproduces: "table of geometry and timing",
            summary: "One word read, one programmed and one block erased on the simulated K8C1215ETM, with as many \
                      blocks as 2 MB take; what a fat object takes of a block, by the free cells of an empty list.",
            revision: 1,
        }
    }

    fn jobs(_: &Settings) -> Vec<Job<Parameters>> {
        vec![Job { parameters: Parameters { megabytes: 2 }, seconds: 0.1 }]
    }

    fn measure(parameters: &Parameters, _: &Context) -> Result<Vec<Row>, JobError> {
        let failed = JobError::while_doing::<norn_flash_sim::SimError>("using the part");
        let mut sim = NorSim::new(part(parameters.megabytes));
        let part = sim.spec().part;
        let mut word = vec![0; usize::from(part.program_unit_bytes)];
        let start = sim.elapsed_ns();
        sim.read(Address(0), &mut word).map_err(&failed)?;
        let read = sim.elapsed_ns();
        sim.program(Address(0), &word).map_err(&failed)?;
        let programmed = sim.elapsed_ns();
        sim.erase(EraseUnit(0)).map_err(&failed)?;
        let erased = sim.elapsed_ns();
        let mut list =
            FatList::<_, 4, 4>::format(sim, ListSettings::paper_2011()).map_err(JobError::while_doing("formatting"))?;
        let stats = list.stats().map_err(JobError::while_doing("counting"))?;
        let blocks = u64::from(part.unit_count) - u64::from(part.unit_count / 8);
        let cells_per_block = u64::from(stats.free + stats.live + stats.dead) / blocks;
        let word_bytes = u64::from(part.program_unit_bytes);
        Ok(vec![Row {
            word_bytes,
            words: u64::from(part.size_bytes()) / word_bytes,
            block_words: u64::from(part.unit_size_bytes) / word_bytes,
            read_ns: read - start,
            program_ns: programmed - read,
            erase_ns: erased - programmed,
            endurance_erases: catalogue::k8c1215etm().part.endurance_erases.unwrap_or(u32::MAX),
            object_bytes: u64::from(part.unit_size_bytes) / cells_per_block,
            state_bytes: size_of::<FatList<(), 4, 4>>(),
        }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let row = outcomes.first().map(|outcome| &outcome.row);
        let of = |what: &str, published: f64, ours: fn(&Row) -> f64| {
            Comparison::new(format!("parameters: {what}"), Published::Value(published), row.map(ours))
        };
        Presentation {
            comparisons: vec![
                of("bytes of a word", 2.0, |row| row.word_bytes as f64),
                of("words of the part", 1_048_576.0, |row| row.words as f64),
                of("words of a block", 32_768.0, |row| row.block_words as f64),
                of("ns to read a word", 110.0, |row| row.read_ns as f64),
                of("µs to program a word", 80.0, |row| row.program_ns as f64 / 1e3),
                of("s to erase a block", 0.6, |row| row.erase_ns as f64 / 1e9),
                of("erases that a block takes", 100_000.0, |row| f64::from(row.endurance_erases)),
                of("bytes of a fat object, 40 slots", 353.0, |row| row.object_bytes as f64).because(
                    "an object has codes, a stamp, a low key and a longer pool, which a power cut at any operation \
                     asks for; the published 353 are 40 × 8 + 5 + 7 × 4 and have no room for a level or state",
                ),
            ],
            remarks: row
                .map(|row| format!("Beside its device, a mounted list keeps {} bytes of RAM here.", row.state_bytes))
                .into_iter()
                .collect(),
            ..Presentation::default()
        }
    }
}
