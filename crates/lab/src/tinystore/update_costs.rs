//! Figures 4 and 5: writes and time of a field update, on both heaps, by workload, fullness and object size.

use serde::{Deserialize, Serialize};

use super::condition::{Condition, EitherRun, FULLNESS, LOG_BYTES, UNITS, series_name};
use super::costs::{Costs, Plan};
use super::paper::PAPER;
use super::subject::Medium;
use super::workload::Workload;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::plot::{Axis, Chart, Panel, Plot, Series};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// Figures 4 and 5.
pub struct UpdateCosts;

/// One bar of the figures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    #[serde(flatten)]
    condition: Condition,
    warm_up_erases: u64,
    windows: usize,
    window_erases: u64,
}

/// Its height, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    status: String,
    objects: usize,
    #[serde(flatten)]
    costs: Option<Costs>,
}

/// Seconds for each erase of a flash unit.
const SECONDS_PER_ERASE: f64 = 0.0012;
const SIZES: [u32; 8] = [10, 20, 50, 100, 200, 500, 1000, 4000];
const QUICK_SIZES: [u32; 2] = [20, 200];

impl Experiment for UpdateCosts {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-update-costs",
            paper: PAPER,
            reproduces: "Figures 4 and 5",
            summary: "Amortized words written and simulated time of a field update, each durable by itself: five \
                      workloads, 20%, 50% and 90% full, objects (from 1,000 bytes on arrays) of two-byte fields. Full \
                      is the number of objects that fit when every list has two records; the EEPROM heap has as many.",
            revision: 1,
        }
    }

    fn jobs(settings: &Settings) -> Vec<Job<Parameters>> {
        let mut jobs = Vec::new();
        for medium in [Medium::Flash, Medium::Eeprom] {
            for workload in Workload::ALL {
                for fullness_percent in FULLNESS {
                    for &object_bytes in settings.choose(&QUICK_SIZES[..], &SIZES[..]) {
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
        let plan =
            Plan { warm_up: parameters.warm_up_erases, windows: parameters.windows, window: parameters.window_erases };
        let objects = match parameters.condition.objects() {
            Ok(objects) => objects,
            Err(status) => return Ok(vec![Row { status, objects: 0, costs: None }]),
        };
        let costs = parameters.condition.run(objects, LOG_BYTES, context).and_then(|run| match run {
            EitherRun::Flash(mut run) => run.costs(plan),
            EitherRun::Eeprom(mut run) => run.costs(plan),
        });
        Ok(vec![match costs {
            Ok(costs) => Row { status: "measured".to_owned(), objects, costs: Some(costs) },
            Err(status) => Row { status, objects, costs: None },
        }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let seen = Seen(outcomes);
        Presentation {
            comparisons: seen.comparisons(),
            tables: vec![table(outcomes)],
            plots: vec![
                seen.plot("tinystore-figure4", "Figure 4: words written an update", "words an update", |costs| {
                    costs.writes
                }),
                seen.plot(
                    "tinystore-figure5",
                    "Figure 5: simulated time of an update",
                    "milliseconds an update",
                    |costs| costs.ms,
                ),
            ],
            remarks: Vec::new(),
        }
    }
}

fn job(condition: Condition, settings: &Settings) -> Job<Parameters> {
    // A word written on EEPROM counts as an erase; costs hardly vary there.
    let (warm_up_erases, windows, window_erases) = match condition.medium {
        Medium::Flash => settings.choose((2 * UNITS, 2, UNITS), (10 * UNITS, 10, 2 * UNITS)),
        Medium::Eeprom => settings.choose((2000, 3, 1000), (20_000, 10, 5000)),
    };
    let seconds = match condition.medium {
        Medium::Flash => (warm_up_erases + windows as u64 * window_erases) as f64 * SECONDS_PER_ERASE,
        Medium::Eeprom => 0.2,
    };
    Job { parameters: Parameters { condition, warm_up_erases, windows, window_erases }, seconds }
}

/// The outcomes, by condition.
struct Seen<'a>(&'a [Outcome<Parameters, Row>]);

impl Seen<'_> {
    fn sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = self.0.iter().map(|outcome| outcome.parameters.condition.object_bytes).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    fn costs(&self, medium: Medium, workload: Workload, fullness: u32, bytes: u32) -> Option<&Costs> {
        let is_it = |condition: &Condition| {
            (condition.medium, condition.workload, condition.fullness_percent, condition.object_bytes)
                == (medium, workload, fullness, bytes)
        };
        self.0.iter().find(|outcome| is_it(&outcome.parameters.condition))?.row.costs.as_ref()
    }

    /// Costs on flash beside those on EEPROM, wherever both were measured.
    fn pairs(&self) -> Vec<(Condition, Costs, Costs)> {
        let flash = self.0.iter().filter(|outcome| outcome.parameters.condition.medium == Medium::Flash);
        let pair = |outcome: &Outcome<Parameters, Row>| {
            let of = outcome.parameters.condition;
            let eeprom = self.costs(Medium::Eeprom, of.workload, of.fullness_percent, of.object_bytes)?;
            Some((of, outcome.row.costs?, *eeprom))
        };
        flash.filter_map(pair).collect()
    }

    /// A panel for each workload, a group for each size, a bar for each heap and fullness.
    fn plot(&self, name: &str, title: &str, unit: &str, pick: fn(&Costs) -> f64) -> Plot {
        let sizes = self.sizes();
        let panel = |workload: Workload| {
            let bars =
                [Medium::Eeprom, Medium::Flash].into_iter().flat_map(|medium| FULLNESS.map(|full| (medium, full)));
            let series = bars.map(|(medium, fullness)| {
                let height = |(group, &bytes): (usize, &u32)| {
                    Some((group as f64, pick(self.costs(medium, workload, fullness, bytes)?)))
                };
                Series::line(series_name(medium, fullness), sizes.iter().enumerate().filter_map(height).collect())
            });
            Panel {
                title: workload.name().to_owned(),
                x: Axis::linear("bytes an object"),
                y: Axis::log(unit),
                chart: Chart::Bars { groups: sizes.iter().map(u32::to_string).collect(), series: series.collect() },
            }
        };
        let panels = Workload::ALL.into_iter().map(panel).collect();
        Plot { name: name.to_owned(), title: title.to_owned(), panels, columns: 2 }
    }

    fn comparisons(&self) -> Vec<Comparison> {
        let pairs = self.pairs();
        let eeprom_writes = range(pairs.iter().map(|(_, _, eeprom)| eeprom.writes));
        let of_eeprom = |pick: fn(&Costs) -> f64| mean(pairs.iter().map(|(_, _, eeprom)| pick(eeprom)));
        let reads = mean(pairs.iter().map(|(_, flash, eeprom)| flash.reads / eeprom.reads));
        let mut speed: Vec<f64> = pairs.iter().map(|(_, flash, eeprom)| eeprom.ms / flash.ms).collect();
        speed.sort_by(f64::total_cmp);
        let median = speed.get(speed.len() / 2).copied();
        vec![
            Comparison::new(
                "Figure 4: words written an update, EEPROM",
                Published::Value(11.0),
                of_eeprom(|costs| costs.writes),
            )
            .because(
                "a transaction ends by one byte of its last record: its head, old value and stamp, the new value, the \
                 stamp again",
            ),
            Comparison::claim(
                "Figure 4: EEPROM, all fullness levels, sizes and workloads",
                "costs are the same",
                eeprom_writes.map(|(low, high)| {
                    (high < low * 1.05, format!("{} to {} words written", figure(low), figure(high)))
                }),
            ),
            Comparison::claim(
                "§6.3: erases on EEPROM",
                "as many as writes",
                (!pairs.is_empty()).then(|| {
                    let same = pairs.iter().all(|(_, _, eeprom)| (eeprom.erases - eeprom.writes).abs() < 1e-9);
                    (same, "in every configuration".to_owned())
                }),
            ),
            Comparison::new("§6.3: reads of the flash heap over those of EEPROM, mean", Published::Value(50.0), reads)
                .because(self.words(|costs| costs.reads, "read")),
            Comparison::new(
                "Figure 5: times faster than EEPROM, median of configurations",
                Published::Between(5.0, 10.0),
                median,
            )
            .because(self.erase_share()),
            self.share("Figure 4: writes more words than EEPROM", "in most cases", 0.5, |flash, eeprom| {
                flash.writes > eeprom.writes
            })
            .because(self.words(|costs| costs.writes, "written")),
            self.share("Figure 5: faster than EEPROM", "in most cases", 0.5, |flash, eeprom| flash.ms < eeprom.ms)
                .because(self.erase_share()),
            self.larger_objects(
                Workload::HotAndCold,
                "all fields at once: writes of larger objects",
                "fewer",
                |small, large| large < small,
            ),
            self.larger_objects(
                Workload::TotallyRandom,
                "single fields: writes of larger objects",
                "more",
                |small, large| large > small,
            ),
            self.large_single_fields(),
            self.fullness_costs(Workload::TotallyRandom),
            self.fullness_costs(Workload::HotAndCold),
        ]
    }

    /// Mean words of both heaps, over all configurations.
    fn words(&self, pick: fn(&Costs) -> f64, done: &str) -> String {
        let pairs = self.pairs();
        let flash = mean(pairs.iter().map(|(_, flash, _)| pick(flash)));
        let eeprom = mean(pairs.iter().map(|(_, _, eeprom)| pick(eeprom)));
        let text = |(flash, eeprom)| {
            format!("{} words {done} on flash, {} on EEPROM, mean of all", figure(flash), figure(eeprom))
        };
        flash.zip(eeprom).map_or_else(String::new, text)
    }

    /// How much of the time on flash goes into erases.
    fn erase_share(&self) -> String {
        const ERASE_MS: f64 = 500.0;
        let share = mean(self.pairs().iter().map(|(_, flash, _)| flash.erases * ERASE_MS / flash.ms * 100.0));
        share.map_or_else(String::new, |share| {
            format!("erases are {}% of the time on flash, mean of all", figure(share))
        })
    }

    /// Where the words of an update on flash go, half full.
    fn kinds(&self, workload: Workload, bytes: u32) -> String {
        let costs = self.costs(Medium::Flash, workload, 50, bytes);
        let kinds = |costs: &Costs| {
            let [slots, structure, reclaiming] =
                [costs.writes_in_slots?, costs.writes_structure?, costs.writes_reclaiming?].map(figure);
            Some(format!(
                "{slots} in slots that are there, {structure} records and compactions, {reclaiming} reclaiming \
                 ({bytes} bytes)"
            ))
        };
        costs.and_then(kinds).unwrap_or_default()
    }

    /// In how many configurations something holds, and whether that is more than `least` of them.
    fn share(&self, what: &str, claim: &str, least: f64, holds: fn(&Costs, &Costs) -> bool) -> Comparison {
        let pairs = self.pairs();
        let count = pairs.iter().filter(|(_, flash, eeprom)| holds(flash, eeprom)).count();
        let found = (!pairs.is_empty()).then(|| {
            (count as f64 > least * pairs.len() as f64, format!("in {count} of {} configurations", pairs.len()))
        });
        Comparison::claim(what, claim, found)
    }

    /// Writes of the smallest and the largest object that is not an array, half full.
    fn larger_objects(&self, workload: Workload, what: &str, claim: &str, holds: fn(f64, f64) -> bool) -> Comparison {
        let sizes: Vec<u32> = self.sizes().into_iter().filter(|&bytes| bytes <= 500).collect();
        let writes = |bytes: Option<&u32>| Some(self.costs(Medium::Flash, workload, 50, *bytes?)?.writes);
        let found = writes(sizes.first()).zip(writes(sizes.last())).map(|(small, large)| {
            let sizes = (sizes.first().unwrap_or(&0), sizes.last().unwrap_or(&0));
            (
                holds(small, large),
                format!(
                    "{} at {} bytes, {} at {} ({})",
                    figure(small),
                    sizes.0,
                    figure(large),
                    sizes.1,
                    workload.name()
                ),
            )
        });
        let why = [sizes.first(), sizes.last()].into_iter().flatten().map(|&bytes| self.kinds(workload, bytes));
        Comparison::claim(format!("Figure 4: {what}"), claim, found).because(why.collect::<Vec<_>>().join("; "))
    }

    fn large_single_fields(&self) -> Comparison {
        let single = [Workload::SingleObjectSingleField, Workload::TotallyRandom];
        let pairs: Vec<_> = self.pairs().into_iter().filter(|(of, ..)| single.contains(&of.workload)).collect();
        let slower = pairs.iter().filter(|(_, flash, eeprom)| flash.ms > eeprom.ms).count();
        let worst = pairs.iter().map(|(_, flash, eeprom)| flash.ms / eeprom.ms).fold(f64::NAN, f64::max);
        let found = (!pairs.is_empty()).then(|| {
            (slower > 0, format!("slower in {slower} of {}; at worst {} of EEPROM's time", pairs.len(), figure(worst)))
        });
        Comparison::claim("Figure 5: single fields of large objects", "sometimes slower than EEPROM", found)
            .because(self.erase_share())
    }

    fn fullness_costs(&self, workload: Workload) -> Comparison {
        let bytes = self.sizes().into_iter().filter(|&bytes| bytes <= 200).max().unwrap_or(0);
        let writes = FULLNESS.map(|fullness| Some(self.costs(Medium::Flash, workload, fullness, bytes)?.writes));
        let found = match writes {
            [Some(low), Some(half), Some(high)] => {
                let text = [low, half, high].map(figure).join(", ");
                Some((low < half && half < high, format!("{text} words written at 20, 50, 90%, {bytes} bytes")))
            }
            _ => None,
        };
        Comparison::claim(format!("Figure 4: {}, as the device gets fuller", workload.name()), "costs rise", found)
            .because(self.kinds(workload, bytes))
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Half full, 20/80AllFields and TotallyRandom; the CSV file has all.
fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = ["heap", "workload", "bytes", "objects", "reads", "writes", "±", "erases", "ms", "±"];
    let mut table = Table::new("Half full, the two workloads that the paper shows (the CSV file has all):", &columns);
    let shown = [Workload::TotallyRandom, Workload::HotAndCold];
    for Outcome { parameters: Parameters { condition, .. }, row } in outcomes {
        if condition.fullness_percent != 50 || !shown.contains(&condition.workload) {
            continue;
        }
        let mut cells = vec![
            format!("{:?}", condition.medium),
            condition.workload.name().to_owned(),
            condition.object_bytes.to_string(),
            row.objects.to_string(),
        ];
        let half = |half_width: Option<f64>| half_width.map_or_else(String::new, |half| format!("{half:.1e}"));
        match &row.costs {
            Some(costs) => cells.extend([
                figure(costs.reads),
                figure(costs.writes),
                half(costs.writes_ci),
                figure(costs.erases),
                figure(costs.ms),
                half(costs.ms_ci),
            ]),
            None => cells.extend([
                row.status.clone(),
                String::new(),
                String::new(),
                String::new(),
                String::new(),
                String::new(),
            ]),
        }
        table.push(cells);
    }
    table
}
