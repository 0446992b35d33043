//! Figure 6: updates until the first erase unit or the first byte is worn out, on both heaps.
//!
//! A job notes the updates at half of its limit, too; one configuration continues to ten times the limit. Both are the
//! check that lifetimes at a low limit may be scaled to the paper's.
//!
//! On EEPROM the commit log is the first to wear out. So it is measured at several lengths, and so are the fields
//! alone.

use serde::{Deserialize, Serialize};

use super::condition::{Condition, EitherRun, FULLNESS, LOG_BYTES, UNITS, series_name};
use super::field_wear::field_lifetime;
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
    /// Bytes of EEPROM's commit log, and writes of a field from which its lifetime is scaled.
    log_bytes: Option<u32>,
    field_writes: Option<u32>,
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
    /// Updates until a field on EEPROM has been written as often, whatever its log has been through; scaled.
    field_updates_at_100_000: Option<f64>,
}

impl Row {
    fn without_updates(status: String, objects: usize, limit: u32) -> Row {
        Row {
            status,
            objects,
            limit,
            updates: None,
            updates_at_100_000: None,
            unevenness: None,
            field_updates_at_100_000: None,
        }
    }
}

/// Erases of a unit, or writes of a byte, in the paper.
const PUBLISHED_ENDURANCE: f64 = 100_000.0;
/// Seconds for each erase of a flash unit.
const SECONDS_PER_ERASE: f64 = 0.0012;
/// The most informative first, for readers of an unfinished run.
const SIZES: [u32; 3] = [100, 20, 500];
const QUICK_SIZES: [u32; 1] = [100];
/// EEPROM's commit logs: an erase unit, as the other experiments have, and more.
const LOGS: [u32; 3] = [LOG_BYTES, 4 * LOG_BYTES, 8 * LOG_BYTES];
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
            summary: "Field updates until the first unit has been erased, or the first byte written, as often as the \
                      endurance limit says; scaled to the paper's 100,000. The updates at half the limit are noted, \
                      too, and one configuration goes on to ten times the limit, to see whether lifetimes may be \
                      scaled. On EEPROM the limit is 10,000 at least, and the wear of creating the objects is left \
                      out, which does not scale. EEPROM's commit log is the first to wear out: it is measured at three \
                      lengths, and the fields alone.",
            revision: 2,
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
                        match medium {
                            Medium::Flash => jobs.push(job(condition, None, settings)),
                            Medium::Eeprom => {
                                let logs = settings.choose(&LOGS[..1], &LOGS[..]);
                                jobs.extend(logs.iter().map(|&log| job(condition, Some(log), settings)));
                            }
                        }
                    }
                }
            }
        }
        jobs
    }

    fn measure(parameters: &Parameters, context: &Context) -> Result<Vec<Row>, JobError> {
        let condition = &parameters.condition;
        let refused = |objects, status| Ok(vec![Row::without_updates(status, objects, parameters.endurance)]);
        let objects = match condition.objects() {
            Ok(objects) => objects,
            Err(status) => return refused(0, status),
        };
        let end = parameters.endurance;
        let mut limits: Vec<u32> = [end / 20, end / 10, end / 2, end].into_iter().filter(|&limit| limit >= 5).collect();
        limits.dedup();
        let scaled = |updates: u64, limit: u32| updates as f64 * PUBLISHED_ENDURANCE / f64::from(limit);
        let log_bytes = parameters.log_bytes.unwrap_or(LOG_BYTES);
        let lifetimes = condition.run(objects, log_bytes, context).and_then(|run| match run {
            EitherRun::Flash(mut run) => Ok((run.lifetime(&limits)?, None)),
            EitherRun::Eeprom(mut run) => {
                let lifetime = run.lifetime(&limits)?;
                let fields = condition.shape().fields;
                let writes = parameters.field_writes.unwrap_or(end);
                let of_fields = field_lifetime(&run, condition.updates(objects), objects, fields, writes)?;
                Ok((lifetime, Some(scaled(of_fields, writes))))
            }
        });
        let (lifetime, of_fields) = match lifetimes {
            Ok(lifetimes) => lifetimes,
            Err(status) => return refused(objects, status),
        };
        let row = |(&limit, &updates): (&u32, &u64)| Row {
            status: "measured".to_owned(),
            objects,
            limit,
            updates: Some(updates),
            updates_at_100_000: Some(scaled(updates, limit)),
            unevenness: (limit == end).then_some(lifetime.unevenness),
            field_updates_at_100_000: of_fields.filter(|_| limit == end),
        };
        Ok(lifetime.updates.iter().map(row).collect())
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let seen = Seen(outcomes);
        Presentation {
            comparisons: seen.comparisons(),
            tables: vec![seen.table(), seen.scaling_table()],
            plots: vec![
                seen.plot(
                    "tinystore-figure6",
                    "Figure 6: field updates until the part is worn out",
                    EepromWear::WithLog,
                ),
                seen.plot(
                    "tinystore-figure6-fields",
                    "Figure 6 without the bytes of EEPROM's log: field updates until the part is worn out",
                    EepromWear::Fields,
                ),
            ],
            remarks: Vec::new(),
        }
    }
}

/// What wears out on EEPROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EepromWear {
    /// Any byte, with the log that the other experiments have.
    WithLog,
    /// Any byte, with a log of this many bytes.
    WithLogOf(u32),
    /// A field, whatever the log has been through.
    Fields,
}

fn job(condition: Condition, log_bytes: Option<u32>, settings: &Settings) -> Job<Parameters> {
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
    let field_writes = log_bytes.map(|_| settings.choose(50, endurance));
    Job { parameters: Parameters { condition, log_bytes, field_writes, endurance }, seconds }
}

/// The configuration that goes on the longest.
fn long_name() -> String {
    let (workload, full, bytes) = LONG;
    format!("{}, {full}% full, objects of {bytes} bytes on flash", workload.name())
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

    /// Flash's updates at 100,000, scaled.
    fn flash(&self, workload: Workload, fullness: u32, bytes: u32) -> Option<f64> {
        let is_it = |of: &Parameters| of.condition.medium == Medium::Flash && is(of, workload, fullness, bytes);
        self.last_rows().find(|outcome| is_it(&outcome.parameters))?.row.updates_at_100_000
    }

    /// EEPROM's updates at 100,000, scaled.
    fn eeprom(&self, wear: EepromWear, workload: Workload, fullness: u32, bytes: u32) -> Option<f64> {
        let log = match wear {
            EepromWear::WithLogOf(log_bytes) => log_bytes,
            EepromWear::WithLog | EepromWear::Fields => LOG_BYTES,
        };
        let is_it = |of: &Parameters| of.log_bytes == Some(log) && is(of, workload, fullness, bytes);
        let row = &self.last_rows().find(|outcome| is_it(&outcome.parameters))?.row;
        match wear {
            EepromWear::Fields => row.field_updates_at_100_000,
            EepromWear::WithLog | EepromWear::WithLogOf(_) => row.updates_at_100_000,
        }
    }

    /// Values over all sizes, at the fullness levels given.
    fn over_sizes(&self, fullness: &[u32], value: impl Fn(u32, u32) -> Option<f64>) -> Vec<f64> {
        let all = fullness.iter().flat_map(|&full| self.sizes().into_iter().map(move |bytes| (full, bytes)));
        all.filter_map(|(full, bytes)| value(full, bytes)).collect()
    }

    /// Flash's lifetime divided by EEPROM's.
    fn ratio_at(&self, wear: EepromWear, workload: Workload, fullness: u32, bytes: u32) -> Option<f64> {
        Some(self.flash(workload, fullness, bytes)? / self.eeprom(wear, workload, fullness, bytes)?)
    }

    /// The same over all sizes.
    fn ratios(&self, wear: EepromWear, workload: Workload, fullness: &[u32]) -> Vec<f64> {
        self.over_sizes(fullness, |full, bytes| self.ratio_at(wear, workload, full, bytes))
    }

    fn comparisons(&self) -> Vec<Comparison> {
        let field = Workload::SingleObjectSingleField;
        let single = [field, Workload::SingleObjectAllFields];
        let flash = single.map(|workload| self.over_sizes(&FULLNESS, |full, bytes| self.flash(workload, full, bytes)));
        let flash = flash.concat();
        let eeprom_field =
            self.over_sizes(&FULLNESS, |full, bytes| self.eeprom(EepromWear::WithLog, field, full, bytes));
        let over_single = least(&flash).zip(least(&eeprom_field)).map(|(flash, eeprom)| flash / eeprom);
        let mut comparisons = vec![
            Comparison::new(
                "Figure 6: updates of one field, EEPROM",
                Published::Value(100_000.0),
                least(&eeprom_field),
            ),
            Comparison::new("Figure 6: updates of one object, flash, least", Published::AtLeast(74e6), least(&flash))
                .because(self.ends_of_lives(&single)),
            Comparison::new(
                "Figure 6: updates of one object, flash, over EEPROM's of one field",
                Published::AtLeast(730.0),
                over_single,
            )
            .because(self.ends_of_lives(&single)),
            Comparison::new("Figure 6: updates of one object, flash, most", Published::AtLeast(4e9), most(&flash))
                .because(self.ends_of_lives(&single)),
        ];
        comparisons.extend(self.claims(EepromWear::WithLog, ""));
        comparisons.extend(self.claims(EepromWear::Fields, ", without the bytes of EEPROM's log"));
        comparisons.push(self.scaling());
        comparisons
    }

    /// The paper's claims for the workloads that spread over the part.
    fn claims(&self, wear: EepromWear, suffix: &str) -> [Comparison; 4] {
        let claim = |what: &str, text: &str, ratios: Vec<f64>, holds: fn(f64) -> bool| {
            let found = least(&ratios).zip(most(&ratios)).map(|(low, high)| {
                (
                    ratios.iter().all(|&ratio| holds(ratio)),
                    format!("{} to {} times EEPROM's", figure(low), figure(high)),
                )
            });
            Comparison::claim(format!("Figure 6: {what}{suffix}"), text, found).because(self.why(wear))
        };
        [
            claim(
                "TotallyRandom",
                "EEPROM endures longer, by less than 10 times",
                self.ratios(wear, Workload::TotallyRandom, &FULLNESS),
                |ratio| ratio < 1.0 && ratio > 0.1,
            ),
            claim(
                "20/80AllFields",
                "flash always endures longer",
                self.ratios(wear, Workload::HotAndCold, &FULLNESS),
                |ratio| ratio > 1.0,
            ),
            Comparison::new(
                format!("Figure 6: 20/80AllFields, 20% full, objects of 100 bytes: times EEPROM's{suffix}"),
                Published::Value(10.0),
                self.ratio_at(wear, Workload::HotAndCold, 20, 100),
            )
            .because(self.why(wear)),
            claim(
                "20/80AllFields, nearly full",
                "flash endures slightly longer",
                self.ratios(wear, Workload::HotAndCold, &[90]),
                |ratio| ratio > 1.0 && ratio < 3.0,
            ),
        ]
    }

    /// In which configurations one object of flash lives shortest and longest.
    fn ends_of_lives(&self, workloads: &[Workload]) -> String {
        let is_meant = |of: &Condition| of.medium == Medium::Flash && workloads.contains(&of.workload);
        let ends = self.last_rows().filter(|end| is_meant(&end.parameters.condition));
        let mut lives: Vec<(f64, &Condition)> =
            ends.filter_map(|end| Some((end.row.updates_at_100_000?, &end.parameters.condition))).collect();
        lives.sort_by(|a, b| a.0.total_cmp(&b.0));
        let text = |(_, of): &(f64, &Condition)| {
            format!("{}, {}% full, {} bytes", of.workload.name(), of.fullness_percent, of.object_bytes)
        };
        let ends: Vec<String> = [lives.first(), lives.last()].into_iter().flatten().map(text).collect();
        format!("shortest and longest: {}", ends.join("; "))
    }

    /// What decides EEPROM's life: its log, or the draws alone.
    fn why(&self, wear: EepromWear) -> String {
        let spread = [Workload::TotallyRandom, Workload::HotAndCold];
        let ratio = |workload, full, bytes| {
            let of = |wear| self.eeprom(wear, workload, full, bytes);
            Some(of(EepromWear::Fields)? / of(EepromWear::WithLog)?)
        };
        let ratios =
            spread.map(|workload| self.over_sizes(&FULLNESS, |full, bytes| ratio(workload, full, bytes))).concat();
        let ends = least(&ratios).zip(most(&ratios));
        match (wear, ends) {
            (EepromWear::Fields, _) => {
                "EEPROM's fields wear by the updates alone, which no heap changes; the flash heap erases less than the \
                 published one (Table 1)"
                    .to_owned()
            }
            (_, Some((low, high))) => format!(
                "EEPROM's log of {} KB wears out first: its fields alone last {} to {} times as long",
                LOG_BYTES / 1024,
                figure(low),
                figure(high)
            ),
            _ => String::new(),
        }
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
        Comparison::claim("§6.2: with a tenth of the endurance", "very similar results", found).because(self.long_run())
    }

    /// The rows of the configuration that goes on the longest, in ascending order of their limits.
    fn long_rows(&self) -> Vec<&Row> {
        let is_long =
            |of: &Condition| of.medium == Medium::Flash && (of.workload, of.fullness_percent, of.object_bytes) == LONG;
        let all = || self.0.iter().filter(|outcome| is_long(&outcome.parameters.condition));
        let longest = all().map(|outcome| outcome.parameters.endurance).max();
        let of_longest = all().filter(|outcome| Some(outcome.parameters.endurance) == longest);
        let mut rows: Vec<&Row> = of_longest.map(|outcome| &outcome.row).collect();
        rows.sort_by_key(|row| row.limit);
        rows
    }

    /// How little lifetimes differ by the limit where it is high.
    fn long_run(&self) -> String {
        let rows = self.long_rows();
        let scaled = |row: &&Row| Some(format!("{} from {}", figure(row.updates_at_100_000? / 1e6), row.limit));
        let texts: Vec<String> = rows.iter().filter_map(scaled).collect();
        format!(
            "few rounds of reclamation are uneven, and even out: millions of updates, scaled, by the erases at an end: \
             {}; {}",
            texts.join(", "),
            long_name()
        )
    }

    /// The configuration that goes on the longest, at every limit.
    fn scaling_table(&self) -> Table {
        let title = format!("May lifetimes be scaled? {}, by the erases that end a life:", long_name());
        let mut table = Table::new(title, &["erases", "updates", "updates at 100,000, scaled"]);
        for row in self.long_rows() {
            if let (Some(updates), Some(scaled)) = (row.updates, row.updates_at_100_000) {
                table.push([f64::from(row.limit), updates as f64, scaled].map(figure).to_vec());
            }
        }
        table
    }

    fn table(&self) -> Table {
        let logs = LOGS.map(|log| format!("EEPROM, log of {} KB", log / 1024));
        let mut columns = vec!["workload", "bytes", "full", "flash, millions"];
        columns.extend(logs.iter().map(String::as_str));
        columns.extend(["its fields alone", "flash / EEPROM", "flash / its fields", "flash: most worn unit / mean"]);
        let mut table =
            Table::new("Updates at 100,000 erases of a unit or writes of a byte, in millions, scaled:", &columns);
        for end in self.last_rows().filter(|end| end.parameters.condition.medium == Medium::Flash) {
            let Condition { workload, fullness_percent: full, object_bytes: bytes, .. } = end.parameters.condition;
            let millions = |lifetime: Option<f64>| lifetime.map_or_else(|| "–".to_owned(), |it| figure(it / 1e6));
            let ratio = |wear| self.ratio_at(wear, workload, full, bytes).map_or_else(String::new, figure);
            let mut row = vec![
                workload.name().to_owned(),
                bytes.to_string(),
                format!("{full}%"),
                end.row.updates_at_100_000.map_or_else(|| end.row.status.clone(), |updates| figure(updates / 1e6)),
            ];
            let wears = LOGS.map(EepromWear::WithLogOf).into_iter().chain([EepromWear::Fields]);
            row.extend(wears.map(|wear| millions(self.eeprom(wear, workload, full, bytes))));
            row.extend([ratio(EepromWear::WithLog), ratio(EepromWear::Fields)]);
            row.push(end.row.unevenness.map_or_else(String::new, |ratio| format!("{ratio:.3}")));
            table.push(row);
        }
        table
    }

    fn plot(&self, name: &str, title: &str, wear: EepromWear) -> Plot {
        let sizes = self.sizes();
        let panel = |workload: Workload| {
            let bars =
                [Medium::Eeprom, Medium::Flash].into_iter().flat_map(|medium| FULLNESS.map(|full| (medium, full)));
            let series = bars.map(|(medium, fullness)| {
                let height = |(group, &bytes): (usize, &u32)| {
                    let lifetime = match medium {
                        Medium::Flash => self.flash(workload, fullness, bytes),
                        Medium::Eeprom => self.eeprom(wear, workload, fullness, bytes),
                    };
                    Some((group as f64, lifetime? / 1e6))
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
            name: name.to_owned(),
            title: format!("{title}, scaled to 100,000 erases"),
            panels: Workload::ALL.into_iter().map(panel).collect(),
            columns: 2,
        }
    }
}

/// Whether a job is of this configuration.
fn is(parameters: &Parameters, workload: Workload, fullness: u32, bytes: u32) -> bool {
    let of = &parameters.condition;
    (of.workload, of.fullness_percent, of.object_bytes) == (workload, fullness, bytes)
}

fn least(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::min)
}

fn most(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::max)
}
