//! What is shown: for each program and seed, the layout and the online policy that the training inputs choose, beside
//! MIN on the original layout.

use super::measured::{Method, Parameters, Row};
use crate::experiment::Outcome;
use crate::paging::policies::MIN;
use crate::plot::{Axis, Chart, Plot, Series};
use crate::presentation::{Comparison, Table, figure};

/// Layouts from which the training inputs choose one.
const FAMILIES: [(&str, &[(Method, usize)]); 6] = [
    ("original", &[(Method::Original, 0)]),
    ("procedures", &[(Method::CallAffinity, 0), (Method::Procedures, 0)]),
    ("blocks", &[(Method::PettisHansen, 0), (Method::ExtTsp, 0), (Method::BlocksInFunctions, 0)]),
    ("pages by misses", &[(Method::Misses, 0)]),
    ("search", &[(Method::Search, 0)]),
    ("pages by misses, trained on one input", &[(Method::Misses, 1)]),
];
/// The one of [`FAMILIES`] that is ours.
const OURS: usize = 4;

/// Bandwidths over seeds, as ratios to MIN's on the original layout.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub mean: f64,
    pub least: f64,
    pub most: f64,
}

impl Range {
    fn of(ratios: &[f64]) -> Range {
        let logarithms: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        Range {
            mean: (logarithms / ratios.len() as f64).exp(),
            least: ratios.iter().copied().fold(f64::INFINITY, f64::min),
            most: ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    fn told(self) -> String {
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        format!("{:+.1} ({:+.1} to {:+.1})", percent(self.mean), percent(self.least), percent(self.most))
    }
}

/// A program over its seeds.
pub struct Program<'a> {
    pub name: &'a str,
    code_bytes: u32,
    executed_blocks_bytes: u32,
    /// MIN on the original layout, in MiB/s.
    min: Range,
    /// For each family.
    families: Vec<Range>,
    /// What is claimed of our family.
    pub best: Range,
    seeds: usize,
}

/// All programs.
pub struct Chosen<'a> {
    pub programs: Vec<Program<'a>>,
}

impl<'a> Chosen<'a> {
    /// Programs of which every family is measured.
    pub fn of(outcomes: &'a [Outcome<Parameters, Row>]) -> Chosen<'a> {
        let programs = outcomes.chunk_by(|a, b| a.parameters.recorded.program == b.parameters.recorded.program);
        Chosen { programs: programs.filter_map(program).collect() }
    }

    /// The geometric mean of our family's ratios.
    pub fn mean(&self) -> f64 {
        let means: Vec<f64> = self.programs.iter().map(|program| program.best.mean).collect();
        Range::of(&means).mean
    }

    /// Whether MIN is beaten, program by program.
    pub fn claims(&self) -> Vec<Comparison> {
        let claim = |program: &Program| {
            let what =
                format!("{}: the searched layout with an online policy above MIN on the original one", program.name);
            let found = format!("{}% over {} seeds", program.best.told(), program.seeds);
            Comparison::claim(what, "goal of ours, not of the paper", Some((program.best.least > 1.0, found)))
        };
        self.programs.iter().map(claim).collect()
    }

    /// The ratios, and what they are of.
    pub fn tables(&self) -> Vec<Table> {
        let title = "Online policies, per cent above MIN on the original layout: mean over seeds (least to most)";
        let names = FAMILIES.map(|(name, _)| name);
        let columns: Vec<&str> = ["program"].into_iter().chain(names).collect();
        let mut ratios = Table::new(title, &columns);
        let columns = ["program", "code bytes", "bytes of blocks executed in training", "MIN on the original, MiB/s"];
        let mut programs = Table::new("The programs", &columns);
        for program in &self.programs {
            let told = program.families.iter().map(|range| range.told());
            ratios.push([program.name.to_owned()].into_iter().chain(told).collect());
            let Range { mean, least, most } = program.min;
            programs.push(vec![
                program.name.to_owned(),
                figure(program.code_bytes.into()),
                figure(program.executed_blocks_bytes.into()),
                format!("{} ({} to {})", figure(mean), figure(least), figure(most)),
            ]);
        }
        let mean =
            |family: usize| Range::of(&self.programs.iter().map(|one| one.families[family].mean).collect::<Vec<f64>>());
        if !self.programs.is_empty() {
            let told = (0..FAMILIES.len()).map(|family| mean(family).told());
            ratios.push(["mean of the programs, and its least and most".to_owned()].into_iter().chain(told).collect());
        }
        vec![ratios, programs]
    }

    /// Least and most over seeds, of whole functions and of the search.
    pub fn plot(&self) -> Plot {
        let bars = |label: &str, of: &dyn Fn(&Program) -> f64| {
            let points = self.programs.iter().enumerate().map(|(at, program)| (at as f64, 100.0 * of(program)));
            Series::line(label, points.collect())
        };
        let series = vec![
            bars("original", &|program| program.families[0].mean),
            bars("procedures", &|program| program.families[1].mean),
            bars("blocks", &|program| program.families[2].mean),
            bars("search, least of the seeds", &|program| program.families[OURS].least),
            bars("search, most of the seeds", &|program| program.families[OURS].most),
        ];
        let groups = self.programs.iter().map(|program| program.name.to_owned()).collect();
        let y = Axis::linear("per cent of MIN on the original layout");
        Plot::single(
            "paging-inputs",
            "Online policies on test inputs",
            Axis::linear("program"),
            y,
            Chart::Bars { groups, series },
        )
    }
}

fn program(outcomes: &[Outcome<Parameters, Row>]) -> Option<Program<'_>> {
    let mut seeds: Vec<u64> = outcomes.iter().map(|outcome| outcome.parameters.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let mut min = Vec::new();
    let mut families = vec![Vec::new(); FAMILIES.len()];
    for &seed in &seeds {
        let of: Vec<&Outcome<Parameters, Row>> = outcomes.iter().filter(|one| one.parameters.seed == seed).collect();
        let bound =
            of.iter().find(|one| one.parameters.method == Method::Original && one.row.policy == MIN)?.row.bandwidth;
        min.push(bound);
        for (ratios, (_, methods)) in families.iter_mut().zip(FAMILIES) {
            ratios.push(chosen(&of, methods)? / bound);
        }
    }
    let families: Vec<Range> = families.iter().map(|ratios| Range::of(ratios)).collect();
    let first = outcomes.first()?;
    Some(Program {
        name: &first.parameters.recorded.program,
        code_bytes: first.row.code_bytes,
        executed_blocks_bytes: first.row.executed_blocks_bytes,
        min: Range::of(&min),
        best: families[OURS],
        families,
        seeds: seeds.len(),
    })
}

/// Bandwidth on the test, of the method and online policy with the highest bandwidth in training; nothing if a method
/// is missing.
fn chosen(outcomes: &[&Outcome<Parameters, Row>], methods: &[(Method, usize)]) -> Option<f64> {
    let is_of = |one: &Outcome<Parameters, Row>, &(method, trained_on): &(Method, usize)| {
        one.parameters.method == method && one.parameters.trained_on == trained_on && one.row.policy != MIN
    };
    if !methods.iter().all(|method| outcomes.iter().any(|one| is_of(one, method))) {
        return None;
    }
    let of_family = outcomes.iter().filter(|one| methods.iter().any(|method| is_of(one, method)));
    of_family.max_by(|a, b| a.row.trained.total_cmp(&b.row.trained)).map(|one| one.row.bandwidth)
}
