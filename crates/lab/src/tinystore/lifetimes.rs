//! Figure 6: updates until the first erase unit or the first byte is worn out, on both heaps.
//!
//! A job notes the updates at half of its limit, too; one configuration continues to ten times the limit. Both are the
//! check that lifetimes at a low limit may be scaled to the paper's.

use serde::{Deserialize, Serialize};

use super::condition::{Condition, EitherRun, FULLNESS, UNITS, series_name};
use super::paper::PAPER;
use super::subject::Medium;
use super::workload::Workload;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::{Depth, Settings};

/// Figure 6.
pub struct Lifetimes;

/// One bar of the figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    #[serde(flatten)]
    condition: Condition,
    endurance: u32,
}

/// Updates at a limit; the last row of a job is at its own, those before at lower ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    status: String,
    objects: usize,
    limit: u32,
    updates: Option<u64>,
    updates_at_100_000: Option<f64>,
    unevenness: Option<f64>,
}

/// Erases of a unit, or writes of a byte, in the paper.
const PUBLISHED_ENDURANCE: f64 = 100_000.0;
/// Seconds for each erase of a flash unit.
const SECONDS_PER_ERASE: f64 = 0.0012;
/// The most informative first, for readers of an unfinished run.
const SIZES: [u32; 3] = [100, 20, 500];
const QUICK_SIZES: [u32; 1] = [100];
/// The configuration that continues to ten times the limit.
const LONG: (Workload, u32, u32) = (Workload::HotAndCold, 50, 100);

impl Experiment for Lifetimes {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-lifetimes",
            paper: PAPER,
            reproduces: "Figure 6",
            summary: "Field updates until the first unit has been erased, or the first byte written, as often as the endurance limit says; \
                      scaled to the paper's 100,000. The updates at half the limit are noted, too, and one configuration goes on to ten times \
                      the limit, to see whether lifetimes may be scaled. On EEPROM the limit is 10,000 at least, and the wear of creating \
                      the objects is left out, which does not scale.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let mut jobs = Vec::new();
        for &object_bytes in settings.choose(&QUICK_SIZES[..], &SIZES[..]) {
            for medium in [Medium::Flash, Medium::Eeprom] {
                for workload in Workload::ALL {
                    for fullness_percent in FULLNESS {
                        let condition =
                            Condition { medium, workload, object_bytes, fullness_percent, seed: settings.seed };
                        jobs.push(job(condition, settings));
                    }
                }
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let refused = |objects, status| {
            let limit = parameters.endurance;
            Ok(vec![Row { status, objects, limit, updates: None, updates_at_100_000: None, unevenness: None }])
        };
        let objects = match parameters.condition.objects() {
            Ok(objects) => objects,
            Err(status) => return refused(0, status),
        };
        let end = parameters.endurance;
        let mut limits: Vec<u32> = [end / 20, end / 10, end / 2, end].into_iter().filter(|&limit| limit >= 5).collect();
        limits.dedup();
        let lifetime = parameters.condition.run(objects, context).and_then(|run| match run {
            EitherRun::Flash(mut run) => run.lifetime(&limits),
            EitherRun::Eeprom(mut run) => run.lifetime(&limits),
        });
        let lifetime = match lifetime {
            Ok(lifetime) => lifetime,
            Err(status) => return refused(objects, status),
        };
        let row = |(&limit, &updates): (&u32, &u64)| Row {
            status: "measured".to_owned(),
            objects,
            limit,
            updates: Some(updates),
            updates_at_100_000: Some(updates as f64 * PUBLISHED_ENDURANCE / f64::from(limit)),
            unevenness: (limit == end).then_some(lifetime.unevenness),
        };
        Ok(lifetime.updates.iter().map(row).collect())
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let seen = Seen(outcomes);
        Presentation {
            comparisons: seen.comparisons(),
            tables: vec![seen.table(), seen.scaling_table()],
            plots: vec![seen.plot()],
            remarks: Vec::new(),
        }
    }
}

fn job(condition: Condition, settings: &Settings) -> Job<Parameters> {
    let is_long = (condition.workload, condition.fullness_percent, condition.object_bytes) == LONG;
    let endurance = match condition.medium {
        // Bytes wear so fast that more is affordable.
        Medium::Eeprom => settings.endurance.max(settings.choose(1000, 10_000)),
        Medium::Flash if is_long && settings.depth == Depth::Full => settings.endurance.saturating_mul(10),
        Medium::Flash => settings.endurance,
    };
    let seconds = match condition.medium {
        Medium::Flash => (u64::from(endurance) * UNITS) as f64 * SECONDS_PER_ERASE,
        Medium::Eeprom => 1.0,
    };
    Job { parameters: Parameters { condition, endurance }, seconds }
}

/// The outcomes, by condition.
struct Seen<'a>(&'a [Outcome<Parameters, Row>]);

impl Seen<'_> {
    /// Rows at the end of each job.
    fn last_rows(&self) -> impl Iterator<Item = &Outcome<Parameters, Row>> {
        self.0.iter().filter(|outcome| outcome.row.limit == outcome.parameters.endurance)
    }

    fn sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = self.0.iter().map(|outcome| outcome.parameters.condition.object_bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Updates at 100,000, scaled.
    fn lifetime(&self, medium: Medium, workload: Workload, fullness: u32, bytes: u32) -> Option<f64> {
        let is_it = |condition: &Condition| {
            (condition.medium, condition.workload, condition.fullness_percent, condition.object_bytes)
                == (medium, workload, fullness, bytes)
        };
        self.last_rows().find(|outcome| is_it(&outcome.parameters.condition))?.row.updates_at_100_000
    }

    /// Lifetimes of a workload over all sizes, at the fullness levels given.
    fn of(&self, medium: Medium, workload: Workload, fullness: &[u32]) -> Vec<f64> {
        let all = fullness.iter().flat_map(|&full| self.sizes().into_iter().map(move |bytes| (full, bytes)));
        all.filter_map(|(full, bytes)| self.lifetime(medium, workload, full, bytes)).collect()
    }

    /// Flash's lifetime divided by EEPROM's, over all sizes.
    fn ratios(&self, workload: Workload, fullness: &[u32]) -> Vec<f64> {
        let (flash, eeprom) = (self.of(Medium::Flash, workload, fullness), self.of(Medium::Eeprom, workload, fullness));
        flash.iter().zip(&eeprom).map(|(flash, eeprom)| flash / eeprom).collect()
    }

    fn comparisons(&self) -> Vec<Comparison> {
        let single = [Workload::SingleObjectSingleField, Workload::SingleObjectAllFields];
        let all = |medium| single.iter().flat_map(|&workload| self.of(medium, workload, &FULLNESS)).collect::<Vec<_>>();
        let eeprom_field = self.of(Medium::Eeprom, Workload::SingleObjectSingleField, &FULLNESS);
        let flash = all(Medium::Flash);
        let over_single = least(&flash).zip(least(&eeprom_field)).map(|(flash, eeprom)| flash / eeprom);
        let text =
            |ratios: &[f64]| Some(format!("{} to {} times EEPROM's", figure(least(ratios)?), figure(most(ratios)?)));
        let claim = |ratios: Vec<f64>, holds: fn(f64) -> bool| {
            text(&ratios).map(|text| (ratios.iter().all(|&ratio| holds(ratio)), text))
        };
        vec![
            Comparison::new("§6.3: updates of one field, EEPROM", Published::Value(100_000.0), least(&eeprom_field)),
            Comparison::new("§6.3: updates of one object, flash, least", Published::AtLeast(74e6), least(&flash)),
            Comparison::new("§6.3: the same, over EEPROM's of one field", Published::AtLeast(730.0), over_single),
            Comparison::new("§6.3: updates of one object, flash, most", Published::AtLeast(4e9), most(&flash)),
            Comparison::claim(
                "§6.3: TotallyRandom",
                "EEPROM endures longer, by less than 10 times",
                claim(self.ratios(Workload::TotallyRandom, &FULLNESS), |ratio| ratio < 1.0 && ratio > 0.1),
            ),
            Comparison::claim(
                "§6.3: 20/80AllFields",
                "flash always endures longer",
                claim(self.ratios(Workload::HotAndCold, &FULLNESS), |ratio| ratio > 1.0),
            ),
            Comparison::new(
                "§6.3: 20/80AllFields, 20% full, objects of 100 bytes: times EEPROM's",
                Published::Value(10.0),
                self.ratio_at(Workload::HotAndCold, 20, 100),
            ),
            Comparison::claim(
                "§6.3: 20/80AllFields, nearly full",
                "flash endures slightly longer",
                claim(self.ratios(Workload::HotAndCold, &[90]), |ratio| ratio > 1.0 && ratio < 3.0),
            ),
            self.scaling(),
        ]
    }

    fn ratio_at(&self, workload: Workload, fullness: u32, bytes: u32) -> Option<f64> {
        let of = |medium| self.lifetime(medium, workload, fullness, bytes);
        Some(of(Medium::Flash)? / of(Medium::Eeprom)?)
    }

    /// Lifetimes at half of the limit, scaled, over those at the limit.
    fn half_ratios(&self) -> Vec<f64> {
        let ratio = |end: &Outcome<Parameters, Row>| {
            let half = self.0.iter().find(|outcome| {
                outcome.parameters.condition == end.parameters.condition
                    && outcome.row.limit == end.parameters.endurance / 2
            })?;
            Some(half.row.updates_at_100_000? / end.row.updates_at_100_000?)
        };
        self.last_rows().filter(|end| end.parameters.condition.medium == Medium::Flash).filter_map(ratio).collect()
    }

    fn scaling(&self) -> Comparison {
        let ratios = self.half_ratios();
        let found = least(&ratios).zip(most(&ratios)).map(|(low, high)| {
            (
                low > 0.9 && high < 1.1,
                format!("at half the limit {} to {} of the lifetime, scaled", figure(low), figure(high)),
            )
        });
        Comparison::claim("§6.2: with a tenth of the endurance", "very similar results", found)
    }

    /// Every limit of the configurations that were run the longest.
    fn scaling_table(&self) -> Table {
        let flash = self.0.iter().filter(|outcome| outcome.parameters.condition.medium == Medium::Flash);
        let longest = flash.map(|outcome| outcome.parameters.endurance).max().unwrap_or(0);
        let mut table = Table::new(
            "May lifetimes be scaled? The configuration with the highest limit, at lower ones, too:",
            &["heap", "workload", "bytes", "full", "limit", "updates", "updates at 100,000, scaled"],
        );
        for Outcome { parameters, row } in self.0.iter().filter(|outcome| outcome.parameters.endurance == longest) {
            let of = &parameters.condition;
            let is_long = (of.workload, of.fullness_percent, of.object_bytes) == LONG;
            let shown = is_long && of.medium == Medium::Flash;
            if let (Some(updates), Some(scaled), true) = (row.updates, row.updates_at_100_000, shown) {
                table.push(vec![
                    format!("{:?}", of.medium),
                    of.workload.name().to_owned(),
                    of.object_bytes.to_string(),
                    format!("{}%", of.fullness_percent),
                    figure(f64::from(row.limit)),
                    figure(updates as f64),
                    figure(scaled),
                ]);
            }
        }
        table
    }

    fn table(&self) -> Table {
        let columns = [
            "workload",
            "bytes",
            "full",
            "flash, millions",
            "EEPROM, millions",
            "flash / EEPROM",
            "flash: most worn unit / mean",
        ];
        let mut table = Table::new("Updates at 100,000 erases of a unit or writes of a byte, scaled:", &columns);
        for end in self.last_rows().filter(|end| end.parameters.condition.medium == Medium::Flash) {
            let of = end.parameters.condition;
            let lifetime = |medium| self.lifetime(medium, of.workload, of.fullness_percent, of.object_bytes);
            let millions = |lifetime: Option<f64>| {
                lifetime.map_or_else(|| end.row.status.clone(), |updates| figure(updates / 1e6))
            };
            table.push(vec![
                of.workload.name().to_owned(),
                of.object_bytes.to_string(),
                format!("{}%", of.fullness_percent),
                millions(lifetime(Medium::Flash)),
                millions(lifetime(Medium::Eeprom)),
                self.ratio_at(of.workload, of.fullness_percent, of.object_bytes).map_or_else(String::new, figure),
                end.row.unevenness.map_or_else(String::new, |ratio| format!("{ratio:.3}")),
            ]);
        }
        table
    }

    fn plot(&self) -> Plot {
        let sizes = self.sizes();
        let panel = |workload: Workload| {
            let bars =
                [Medium::Eeprom, Medium::Flash].into_iter().flat_map(|medium| FULLNESS.map(|full| (medium, full)));
            let series = bars.map(|(medium, fullness)| {
                let height = |(group, &bytes): (usize, &u32)| {
                    Some((group as f64, self.lifetime(medium, workload, fullness, bytes)? / 1e6))
                };
                Series::line(series_name(medium, fullness), sizes.iter().enumerate().filter_map(height).collect())
            });
            Panel {
                title: workload.name().to_owned(),
                x: Axis::linear("bytes an object"),
                y: Axis::log("millions of updates"),
                chart: Chart::Bars { groups: sizes.iter().map(u32::to_string).collect(), series: series.collect() },
            }
        };
        Plot {
            name: "tinystore-figure6".to_owned(),
            title: "Figure 6: field updates until the part is worn out, scaled to 100,000 erases".to_owned(),
            panels: Workload::ALL.into_iter().map(panel).collect(),
            columns: 2,
        }
    }
}

fn least(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::min)
}

fn most(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::max)
}
