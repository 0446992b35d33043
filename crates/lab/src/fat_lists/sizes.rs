//! Figures 14 and 15: the micro-benchmark on parts of 1 to 8 MB, with both readings of the variance.

use norn_flash_sim::NorSim;
use norn_ordered_index::fat_list::CallBound;
use norn_ordered_index::{FatList, Settings as ListSettings};
use serde::{Deserialize, Serialize};

use super::costs::Costs;
use super::micro_benchmark::{Benchmark, Phase, Row, Run, Spread};
use super::paper::PAPER;
use super::phases::phase_table;
use super::subject::{Structure, on_fresh_index, part};
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Table, figure};
use crate::settings::Settings;

/// The size of the part.
pub struct Sizes;

/// A run of the benchmark.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    structure: Structure,
    megabytes: u16,
    #[serde(flatten)]
    benchmark: Benchmark,
}

const SIZES: [u16; 4] = [1, 2, 4, 8];
/// Soft lists of 25,000 keys do not fit less.
const SOFT_SIZES: [u16; 2] = [4, 8];
/// Bytes of the part's words.
const WORD_BYTES: f64 = 2.0;
/// Where the literal variance is measured.
const LITERAL_AT: u16 = 2;

impl Experiment for Sizes {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "fat-lists-sizes",
            paper: PAPER,
            reproduces: "Figures 14 and 15",
            summary: "The micro-benchmark by the size of the part: consecutive keys inserted, values updated and \
                      queried by a Gaussian variable, keys removed at random; every call durable by itself. Between \
                      updates and queries the index is stopped and booted. A variance of one sixth of the keys is read \
                      as a standard deviation of a sixth; the literal one is measured at one size.",
            revision: 3,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let benchmark = Benchmark::of(settings);
        let literal = Benchmark { spread: Spread::VarianceOfASixth, ..benchmark };
        let sizes = settings.choose(&SIZES[..2], &SIZES[..]);
        let soft_sizes = settings.choose(&SIZES[1..2], &SOFT_SIZES[..]);
        let literal_at = settings.choose(1, LITERAL_AT);
        let mut jobs = Vec::new();
        for structure in Structure::ALL {
            let sizes = if structure == Structure::SoftList { soft_sizes } else { sizes };
            let mut add = |megabytes, benchmark| {
                let seconds = seconds(structure, &benchmark);
                jobs.push(Job { parameters: Parameters { structure, megabytes, benchmark }, seconds });
            };
            sizes.iter().for_each(|&megabytes| add(megabytes, benchmark));
            add(if structure == Structure::SoftList { soft_sizes[0] } else { literal_at }, literal);
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let settings = match parameters.structure {
            Structure::SoftList => ListSettings::soft_list(),
            _ => ListSettings::paper_2011(),
        };
        let run = Run { benchmark: parameters.benchmark, context };
        on_fresh_index(parameters.structure, parameters.megabytes, settings, run)
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        Presentation {
            comparisons: Found(outcomes).comparisons(),
            tables: vec![
                Found(outcomes).bars(),
                table(outcomes, Spread::DeviationOfASixth),
                table(outcomes, Spread::VarianceOfASixth),
            ],
            plots: plots(outcomes),
            remarks: vec![REMARK.to_owned()],
        }
    }
}

const REMARK: &str = "Fat list: 40 slots, 20 keys, 5 levels, turnstiles of 8, a pool of 10 pointers. Soft list: one \
                      key, 6 levels; it does not fit 1 and 2 MB. µ-tree: pages of 512 bytes. Logged B⁺-tree: pages of \
                      1,024 bytes, 320 of them for the log of a leaf. *Reclaiming* is the time of calls that erased a \
                      block, in which moves cannot be told from the call's own words.";

/// About how long a run takes on the machine.
pub(super) fn seconds(structure: Structure, benchmark: &Benchmark) -> f64 {
    let microseconds = match structure {
        Structure::FatList | Structure::LoggedTree | Structure::LoggedTreeOfLargePages => 5.0,
        Structure::MuTree | Structure::MuTreeOfLargePages => 12.0,
        Structure::SoftList => 40.0,
    };
    f64::from(benchmark.keys + benchmark.updates) * 2.0 * microseconds / 1e6
}

/// What was measured, to be looked up.
struct Found<'a>(&'a [Outcome<Parameters, Row>]);

impl Found<'_> {
    fn row(&self, structure: Structure, megabytes: u16, phase: Phase) -> Option<&Row> {
        let is_it = |outcome: &&Outcome<Parameters, Row>| {
            let of = &outcome.parameters;
            (of.structure, of.megabytes, outcome.row.phase) == (structure, megabytes, phase)
                && of.benchmark.spread == Spread::DeviationOfASixth
        };
        self.0.iter().find(is_it).map(|outcome| &outcome.row)
    }

    fn sizes(&self, structure: Structure) -> Vec<u16> {
        SIZES.into_iter().filter(|&megabytes| self.total(structure, megabytes).is_some()).collect()
    }

    /// Seconds of the paper's four phases.
    fn total(&self, structure: Structure, megabytes: u16) -> Option<f64> {
        let seconds = |phase| Some(self.row(structure, megabytes, phase)?.costs.seconds);
        Phase::PUBLISHED.into_iter().map(seconds).sum()
    }

    /// A value at each size at which both a fat list and a µ-tree were measured.
    fn both(&self, phase: Phase, value: impl Fn(&Row) -> f64) -> Vec<(u16, f64, f64)> {
        let at = |megabytes| {
            let fat = self.row(Structure::FatList, megabytes, phase)?;
            Some((megabytes, value(fat), value(self.row(Structure::MuTree, megabytes, phase)?)))
        };
        SIZES.into_iter().filter_map(at).collect()
    }

    /// Whether a relation of fat list and µ-tree holds at every size.
    fn everywhere(
        &self,
        phase: Phase,
        unit: &str,
        value: impl Fn(&Row) -> f64,
        holds: impl Fn(f64, f64) -> bool,
    ) -> Option<(bool, String)> {
        let both = self.both(phase, value);
        let texts =
            both.iter().map(|(megabytes, fat, tree)| format!("{} / {} at {megabytes} MB", figure(*fat), figure(*tree)));
        let text = format!("fat list / µ-tree, {unit}: {}", texts.collect::<Vec<_>>().join(", "));
        (!both.is_empty()).then(|| (both.iter().all(|(_, fat, tree)| holds(*fat, *tree)), text))
    }

    fn comparisons(&self) -> Vec<Comparison> {
        let much = |fat: f64, tree: f64| tree > 2.0 * fat;
        let less = |fat: f64, tree: f64| tree < fat;
        let more = |fat: f64, tree: f64| tree > fat;
        let claim = |what: &str, claim: &str, found| Comparison::claim(what, claim, found);
        vec![
            claim(
                "Figure 14a: sizes, fat list",
                "the flash size does not affect insertion",
                self.is_flat(Structure::FatList),
            )
            .because(self.reclaimed_while_inserting(Structure::FatList, "ascending keys leave objects half full")),
            claim(
                "Figure 14a: sizes, µ-tree",
                "the flash size does not affect insertion",
                self.is_flat(Structure::MuTree),
            )
            .because(self.reclaimed_while_inserting(Structure::MuTree, "each insertion writes a page of 512 bytes")),
            claim(
                "Figure 14a: reclamation",
                "neither triggers any garbage collection while keys are inserted",
                self.everywhere(
                    Phase::Insertion,
                    "erases an insertion",
                    |row| row.costs.erases,
                    |fat, tree| fat + tree == 0.0,
                ),
            )
            .because("as for the sizes"),
            claim(
                "Figure 14a: reads of an insertion",
                "µ-tree less",
                self.everywhere(Phase::Insertion, "words", |row| row.costs.reads, less),
            )
            .because(self.reads_of_a_tree(Phase::Insertion)),
            claim(
                "Figure 14a: words written by an insertion",
                "µ-tree much more",
                self.everywhere(Phase::Insertion, "words", |row| row.costs.writes, much),
            )
            .because(self.time_of_an_update()),
            claim("Figure 14b: sizes", "smaller parts make updates dearer, in both", self.smaller_is_dearer())
                .because(self.reads_of_a_tree(Phase::Update)),
            claim(
                "Figure 14b: reads of an update",
                "µ-tree less",
                self.everywhere(Phase::Update, "words", |row| row.costs.reads, less),
            )
            .because(self.reads_of_a_tree(Phase::Update)),
            claim(
                "Figure 14b: write and erase time of the updates",
                "µ-tree much more",
                self.everywhere(Phase::Update, "s", |row| row.costs.write_and_erase_seconds(), much),
            )
            .because(self.time_of_an_update()),
            claim("Figure 14c: query", "µ-tree faster", self.everywhere(Phase::Query, "ms", |row| row.costs.ms, less))
                .because(self.words(Phase::Query, "words read", |row| row.costs.reads)),
            claim(
                "Figure 14d: deletion",
                "fat list faster",
                self.everywhere(Phase::Deletion, "ms", |row| row.costs.ms, more),
            )
            .because(self.words(Phase::Deletion, "words written", |row| row.costs.writes)),
            claim("Figure 15: total", "fat list two times faster", self.total_ratio())
                .because(self.time_of_an_update()),
        ]
    }

    /// What both take, as a text.
    fn words(&self, phase: Phase, unit: &str, value: fn(&Row) -> f64) -> String {
        self.everywhere(phase, unit, value, |_, _| true).map_or_else(String::new, |(_, text)| text)
    }

    /// On which parts blocks are reclaimed while keys are inserted, and why.
    fn reclaimed_while_inserting(&self, structure: Structure, why: &str) -> String {
        let at = |&megabytes: &u16| {
            self.row(structure, megabytes, Phase::Insertion).is_some_and(|row| row.costs.erases > 0.0)
        };
        let sizes: Vec<String> = self.sizes(structure).iter().filter(|size| at(size)).map(u16::to_string).collect();
        match self.row(structure, self.sizes(structure).first().copied().unwrap_or(0), Phase::Insertion) {
            Some(row) if !sizes.is_empty() => format!(
                "blocks are reclaimed before the last key is inserted on {} MB: {why}, {} MB are written in all",
                sizes.join(", "),
                figure(row.costs.writes * row.costs.calls as f64 * WORD_BYTES / 1e6),
            ),
            _ => String::new(),
        }
    }

    /// Where a µ-tree's reads come from, by its erases on the smallest and the largest part.
    fn reads_of_a_tree(&self, phase: Phase) -> String {
        let of = |megabytes: &u16| {
            let costs = &self.row(Structure::MuTree, *megabytes, phase)?.costs;
            Some(format!("{} words and {} erases at {megabytes} MB", figure(costs.reads), figure(costs.erases)))
        };
        let sizes = self.sizes(Structure::MuTree);
        let ends: Vec<String> = [sizes.first(), sizes.last()].into_iter().flatten().filter_map(of).collect();
        format!(
            "a µ-tree's change reads the path that it writes anew, and looks each page of a block up from the root \
             when it chooses what to reclaim: {}",
            ends.join(", ")
        )
    }

    /// What an update programs in both, at the smallest size: what the ratio of the totals follows from.
    fn time_of_an_update(&self) -> String {
        let words = |structure| Some(self.row(structure, *self.sizes(structure).first()?, Phase::Update)?.costs.writes);
        let text = |(tree, fat): (f64, f64)| {
            let program_ms = part(1).timings.program.word_ns as f64 / 1e6;
            format!(
                "an update programs {} words on a µ-tree and {} in a fat list, {} and {} ms",
                figure(tree),
                figure(fat),
                figure(tree * program_ms),
                figure(fat * program_ms)
            )
        };
        words(Structure::MuTree).zip(words(Structure::FatList)).map_or_else(String::new, text)
    }

    /// The fat list beside its targets at 2 MB.
    fn bars(&self) -> Table {
        let columns = ["fat list, ms", "bar at 2 MB", "1 MB", "2 MB", "4 MB", "8 MB"];
        let mut table = Table::new("Norn's bars:", &columns);
        let mut push = |what: &str, bar: String, ours: &dyn Fn(u16) -> Option<f64>| {
            let mut cells = vec![what.to_owned(), bar];
            cells.extend(SIZES.map(|size| ours(size).map_or("–".to_owned(), figure)));
            table.push(cells);
        };
        let costs = |size, phase| self.row(Structure::FatList, size, phase).map(|row| &row.costs);
        let means = [
            (Phase::Insertion, 2.5),
            (Phase::Update, 2.0),
            (Phase::Query, 0.1),
            (Phase::Range, 0.02),
            (Phase::Boot, 0.05),
        ];
        for (phase, bar) in means {
            push(phase.name(), figure(bar), &|size| Some(costs(size, phase)?.ms));
        }
        let most = |size, of: fn(&Costs) -> f64| -> Option<f64> {
            let all: Option<Vec<f64>> = Phase::PUBLISHED.into_iter().map(|phase| costs(size, phase).map(of)).collect();
            all?.into_iter().reduce(f64::max)
        };
        let [moved, call] = bounds_ms(2).map(|bound| bound.map_or("–".to_owned(), figure));
        let within = format!("a block's move and erase: {moved}");
        push("99.9% of the calls of each phase", within, &|size| most(size, |costs| costs.ms_999));
        push("worst call", format!("the bound without reads: {call}"), &|size| most(size, |costs| costs.ms_worst));
        let share = |size| Some(self.total(Structure::FatList, size)? / self.total(Structure::MuTree, size)?);
        push("total, as a share of the µ-tree's", figure(0.2), &share);
        table
    }

    fn is_flat(&self, structure: Structure) -> Option<(bool, String)> {
        let ms = |megabytes| Some(self.row(structure, megabytes, Phase::Insertion)?.costs.ms);
        let all: Vec<f64> = SIZES.into_iter().filter_map(ms).collect();
        let (low, high) = (all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?);
        Some((high < 1.05 * low, format!("{} to {} ms", figure(low), figure(high))))
    }

    fn smaller_is_dearer(&self) -> Option<(bool, String)> {
        let both = self.both(Phase::Update, |row| row.costs.ms);
        let falls = |of: fn(&(u16, f64, f64)) -> f64| both.windows(2).all(|pair| of(&pair[0]) > of(&pair[1]));
        let holds = falls(|at| at.1) && falls(|at| at.2);
        (!both.is_empty()).then(|| (holds, self.words(Phase::Update, "ms", |row| row.costs.ms)))
    }

    fn total_ratio(&self) -> Option<(bool, String)> {
        let ratio = |megabytes| {
            let ratio = self.total(Structure::MuTree, megabytes)? / self.total(Structure::FatList, megabytes)?;
            Some((ratio, format!("{ratio:.1} times at {megabytes} MB")))
        };
        let (ratios, texts): (Vec<f64>, Vec<String>) = SIZES.into_iter().filter_map(ratio).unzip();
        (!ratios.is_empty())
            .then(|| (ratios.iter().all(|ratio| (1.5..3.0).contains(ratio)), format!("faster by {}", texts.join(", "))))
    }
}

/// What moving a block, and what any call takes at most, apart from reads.
fn bounds_ms(megabytes: u16) -> [Option<f64>; 2] {
    let spec = part(megabytes);
    let (word_bytes, timings) = (f64::from(spec.word_bytes), spec.timings);
    let list = FatList::<_, 4, 4>::format(NorSim::new(spec), ListSettings::paper_2011());
    let ms = |bound: CallBound| {
        let words = bound.programmed_bytes as f64 / word_bytes;
        (words * timings.program.word_ns as f64 + f64::from(bound.erases) * timings.erase_ns as f64) / 1e6
    };
    let bounds = list.map(|list| [list.move_bound(), list.call_bound(0)].map(|bound| Some(ms(bound))));
    bounds.unwrap_or_default()
}

fn table(outcomes: &[Outcome<Parameters, Row>], spread: Spread) -> Table {
    let title = match spread {
        Spread::DeviationOfASixth => "A standard deviation of one sixth of the keys:",
        Spread::VarianceOfASixth => "A variance of one sixth of the keys:",
    };
    let spread = outcomes.iter().filter(|outcome| outcome.parameters.benchmark.spread == spread);
    let phases = spread.map(|Outcome { parameters, row }| {
        let structure = parameters.structure.name().to_owned();
        (vec![structure, parameters.megabytes.to_string(), row.phase.name().to_owned()], &row.costs)
    });
    phase_table(title, &["", "MB", "phase"], phases)
}

fn plots(outcomes: &[Outcome<Parameters, Row>]) -> Vec<Plot> {
    let found = Found(outcomes);
    let x = || Axis::log("megabytes");
    let lines = |value: &dyn Fn(Structure, u16) -> Option<f64>| {
        let line = |structure: Structure| {
            let points =
                found.sizes(structure).into_iter().filter_map(|size| Some((size.into(), value(structure, size)?)));
            Series::line(structure.name(), points.collect())
        };
        Chart::Lines(Structure::ALL.into_iter().map(line).collect())
    };
    let panel = |phase: Phase| Panel {
        title: phase.name().to_owned(),
        x: x(),
        y: Axis::log("simulated seconds"),
        chart: lines(&|structure, size| Some(found.row(structure, size, phase)?.costs.seconds)),
    };
    let total = lines(&|structure, size| found.total(structure, size));
    let title = "Figure 14: the micro-benchmark by size";
    vec![
        Plot {
            name: "fat-lists-figure14".to_owned(),
            title: title.to_owned(),
            panels: Phase::PUBLISHED.into_iter().map(panel).collect(),
            columns: 2,
        },
        Plot::single("fat-lists-figure15", "Figure 15: total time", x(), Axis::log("simulated seconds"), total),
    ]
}
