//! Assembles what was measured: CSV files, plots and a report in Markdown, for one directory.
//!
//! The report has first how each table and figure stands and every published value beside ours, paper by paper, then a
//! section for each experiment. It is made from the jobs that the settings of the last run name, so that it does not
//! mix seeds or depths.

use std::path::Path;

use serde_json::Value;

use crate::archive::{Archive, write_whole};
use crate::csv_file::csv_text;
use crate::error::LabError;
use crate::exhibit::standings;
use crate::experiment::{AnyExperiment, Paper};
use crate::presentation::{Presentation, comparison_table};
use crate::settings::{Depth, Settings};

/// What was measured of one experiment.
struct Section<'a> {
    experiment: &'a dyn AnyExperiment,
    settings: Settings,
    outcomes: Vec<(Value, Value)>,
    jobs: usize,
    missing: usize,
    presentation: Presentation,
}

/// Writes `report.md`, CSV files and plots of the experiments of which there are results in `from`, into `to`; returns
/// the report.
///
/// # Errors
/// If there are no results, or a file cannot be read or written.
pub fn write_report(experiments: &[Box<dyn AnyExperiment>], from: &Path, to: &Path) -> Result<String, LabError> {
    let sections = experiments.iter().map(|experiment| section(experiment.as_ref(), from));
    let sections: Vec<Section> = sections.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    if sections.is_empty() {
        return Err(LabError::NoResults { directory: from.to_owned() });
    }
    for section in &sections {
        let name = section.experiment.about().name;
        write_whole(&to.join(format!("{name}.csv")), &csv_text(&section.outcomes))?;
        section.presentation.plots.iter().try_for_each(|plot| plot.write(to))?;
    }
    let report = markdown(&sections);
    write_whole(&to.join("report.md"), &report)?;
    Ok(report)
}

/// The results of an experiment, or `None` if it was never run.
fn section<'a>(experiment: &'a dyn AnyExperiment, from: &Path) -> Result<Option<Section<'a>>, LabError> {
    let archive = Archive::new(from, &experiment.about());
    let Some(settings) = archive.settings()? else { return Ok(None) };
    let jobs = experiment.jobs(&settings);
    let (mut outcomes, mut missing) = (Vec::new(), 0);
    for job in &jobs {
        match archive.find(&job.parameters)? {
            Some(record) => outcomes.extend(record.rows.into_iter().map(|row| (record.parameters.clone(), row))),
            None => missing += 1,
        }
    }
    let presentation = experiment
        .present(&outcomes)
        .map_err(|error| LabError::Damaged { path: from.join(experiment.about().name), problem: error.to_string() })?;
    Ok(Some(Section { experiment, settings, outcomes, jobs: jobs.len(), missing, presentation }))
}

const EXHIBITS: &str = "\n### Its tables and figures\n\nA figure *agrees* if each of its values and statements does in \
                        the table after this one: a measured number within a tenth, a computed one as printed, a range \
                        or bound that is kept, a claim that holds.\n\n";
/// The paper whose evaluation this program cannot run.
const JAVASAS: &str = "\n## Johnson, Munroe, Nistler, Stopyro, Malhotra: Java Persistence via Persistent Virtual \
                       Storage, 1997\n\nNot comparable here: it has no table and no figure, and its system is one of \
                       Java. What its text has in numbers, the storage of a warehouse and transactions a minute, is \
                       measured by `tools/bobc evaluation`, whose report has each beside ours.\n";

fn markdown(sections: &[Section]) -> String {
    let mut papers: Vec<Paper> = Vec::new();
    for section in sections {
        let paper = section.experiment.about().paper;
        if !papers.contains(&paper) {
            papers.push(paper);
        }
    }
    let mut text = "# Measured\n\nWritten by `norn-lab report`; all figures are counted by the simulated parts, times \
                    are simulated.\n"
        .to_owned();
    for paper in papers {
        let of_paper = || sections.iter().filter(|section| section.experiment.about().paper == paper);
        text += &format!("\n## {}\n", paper.title);
        let comparisons: Vec<_> = of_paper().flat_map(|section| section.presentation.comparisons.clone()).collect();
        if !paper.exhibits.is_empty() {
            text += EXHIBITS;
            text += &standings(paper.exhibits, &comparisons).markdown();
        }
        if !comparisons.is_empty() {
            text += "\n### Every published value beside ours\n\n";
            text += &comparison_table("", &comparisons).markdown();
        }
        of_paper().for_each(|section| text += &section.markdown());
    }
    text + JAVASAS
}

impl Section<'_> {
    /// The command that measures this.
    fn command(&self) -> String {
        let Settings { seed, depth, endurance, data, trace } = &self.settings;
        let quick = if *depth == Depth::Quick { " --quick" } else { "" };
        let mut command = format!(
            "norn-lab run {}{quick} --seed {seed} --endurance {endurance} --fresh",
            self.experiment.about().name
        );
        for (option, path) in [("--data", data), ("--trace", trace)] {
            command += &path.as_ref().map_or(String::new(), |path| format!(" {option} {}", path.display()));
        }
        command
    }

    fn markdown(&self) -> String {
        let about = self.experiment.about();
        let mut text = format!("\n### {}: {}\n\n{}\n\n", about.name, about.reproduces, about.summary);
        let depth = match self.settings.depth {
            Depth::Quick => "quick run",
            Depth::Full => "full run",
        };
        let missing = if self.missing > 0 { format!("; **{} not measured yet**", self.missing) } else { String::new() };
        text += &format!(
            "{depth}, seed {}, endurance limit {} where lifetimes are measured; {} jobs{missing}. Rows: \
             [{name}.csv]({name}.csv). To measure it again: `{command}`.\n",
            self.settings.seed,
            self.settings.endurance,
            self.jobs,
            name = about.name,
            command = self.command(),
        );
        for table in &self.presentation.tables {
            text += &format!("\n{}", table.markdown());
        }
        for plot in &self.presentation.plots {
            text += &format!("\n![{}]({}.svg)\n", plot.title, plot.name);
        }
        for remark in &self.presentation.remarks {
            text += &format!("\n{remark}\n");
        }
        text
    }
}
