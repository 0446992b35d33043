//! Tables III to V and the examples of sections 3.2, 4.2 and 5.1.2: the equations, evaluated.

use norn_nand_ftl::{Capacity, Collector, Load, OperationTimes, Task};
use serde::{Deserialize, Serialize};

use super::bench::{self, Admission, Setting, TOKENS, TOTAL_PAGES};
use super::paper::PAPER;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

const TIMES: OperationTimes = OperationTimes::paper();
const PAGES: u32 = 32;

/// Pages that the tasks write in a period.
const T1_WRITES: u32 = 2;
const T2_WRITES: u32 = 5;

/// Use of the device, α, ρ_T1, ρ_T2, ρ_G, ρ_max of Table V.
const TABLE_5: [(u32, [u32; 5]); 6] = [
    (50, [16, 16, 15, 16, 320]),
    (55, [15, 14, 15, 17, 322]),
    (60, [13, 12, 10, 19, 326]),
    (65, [12, 12, 10, 20, 328]),
    (70, [10, 10, 10, 22, 332]),
    (75, [8, 8, 5, 24, 336]),
];

/// Tables III to V.
pub struct Configuration;

/// A column of Table V.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    use_percent: u32,
    alpha: u32,
}

/// What the equations say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    t1_cost_us: u64,
    t2_cost_us: u64,
    collector_cost_us: u64,
    g1_period_ms: f64,
    g2_period_ms: f64,
    t1_tokens: u32,
    t2_tokens: u32,
    collector_tokens: u32,
    /// (7) with ρ_init = 256.
    tokens_max: u64,
    /// The right side of (8), as published, in tokens.
    published_limit: f64,
    /// The right side of (12).
    tokens_init_limit: f64,
    /// The left side of (14).
    utilization: f64,
    /// Largest α with which a device admits the paper's tasks, 0 for none.
    admitted_alpha: u32,
    /// With it: most tokens when a recycling begins, the checkpoint's and the reserve's included; their limit, where
    /// free, open and other collectors' blocks are no candidates.
    sound_tokens_max: u64,
    sound_limit: u64,
    /// With it: the sum of (14), the checkpoint's pages included.
    sound_utilization: f64,
    /// With it: the period of the checkpoint's task.
    checkpoint_ms: f64,
}

fn tasks() -> [Task; 2] {
    [Task::new(3_000, 4, T1_WRITES, 20_000, &TIMES), Task::new(5_000, 2, T2_WRITES, 200_000, &TIMES)]
}

fn load(alpha: u32, tasks: &[Task]) -> Load {
    tasks.iter().fold(Load::default(), |load, task| load.with(task, Collector::of(task, alpha, PAGES, &TIMES).as_ref()))
}

/// Tokens of the tasks at the start: the left side of (13).
fn initial(alpha: u32, tasks: &[Task]) -> u64 {
    let collectors = tasks.iter().filter_map(|task| Collector::of(task, alpha, PAGES, &TIMES));
    collectors.map(|collector| u64::from(collector.task_tokens + collector.collector_tokens)).sum()
}

/// What a device has, with the paper's tasks and the largest α that is admitted.
struct Admitted {
    alpha: u32,
    tokens_max: u64,
    limit: u64,
    utilization: f64,
    checkpoint_ms: f64,
}

/// Starts a device, and asks it to admit the paper's tasks.
fn admitted(use_percent: u32) -> Option<Admitted> {
    let paper = Setting::paper(bench::Collector::RealTime, 0, 0);
    let (system, _) = bench::collected(&Setting { use_percent, ..paper }, Admission::On).ok()?;
    let device = &system.device;
    let (capacity, load, pool) = (device.capacity(), device.load(), device.pool());
    let others = u64::from(pool.free) + u64::from(pool.reserve) + 2 * u64::from(PAGES) + 1;
    let periods = device.collector_of(device.checkpoint_task())?.period_us;
    Some(Admitted {
        alpha: capacity.alpha,
        tokens_max: others + load.tokens_max,
        limit: capacity.tokens_limit(load.collectors).unwrap_or(0),
        utilization: load.utilization_per_million(&TIMES, 0) as f64 / 1e6,
        checkpoint_ms: periods as f64 / f64::from(capacity.alpha) / 1e3,
    })
}

impl Experiment for Configuration {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "realtime-gc-configuration",
            paper: PAPER,
            reproduces: "Tables III to V, sections 3.2 to 5.1.2",
            summary: "The equations evaluated with the published parameters; and what a device admits, which evaluates \
                      (8) at each admission, with the checkpoint as a task and without blocks that cannot be chosen, \
                      and looks at the demand of each window instead of the sum of (14).",
            revision: 3,
        }
    }

    fn jobs(_: &Settings) -> Vec<Job<Parameters>> {
        let job = |&(use_percent, [alpha, ..]): &(u32, [u32; 5])| Job {
            parameters: Parameters { use_percent, alpha },
            seconds: 2.0,
        };
        TABLE_5.iter().map(job).collect()
    }

    fn measure(parameters: &Parameters, _: &Context) -> Result<Vec<Row>, JobError> {
        let (alpha, tasks) = (parameters.alpha, tasks());
        let collectors = tasks.map(|task| Collector::of(&task, alpha, PAGES, &TIMES).expect("both tasks write"));
        let capacity = Capacity {
            good_blocks: 1024,
            pages_per_block: PAGES,
            live_pages: TOTAL_PAGES * parameters.use_percent / 100,
            alpha,
            failure_budget: 0,
        };
        let load = load(alpha, &tasks);
        let free = u64::from(TOKENS - PAGES) - initial(alpha, &tasks);
        let published_limit = capacity.published_limit_by_pi() as f64 / f64::from(PAGES);
        let admitted = admitted(parameters.use_percent);
        Ok(vec![Row {
            t1_cost_us: tasks[0].cost_us,
            t2_cost_us: tasks[1].cost_us,
            collector_cost_us: collectors[0].cost_us,
            g1_period_ms: collectors[0].period_us as f64 / 1e3,
            g2_period_ms: collectors[1].period_us as f64 / 1e3,
            t1_tokens: collectors[0].task_tokens,
            t2_tokens: collectors[1].task_tokens,
            collector_tokens: collectors[0].collector_tokens,
            tokens_max: free + 2 * u64::from(PAGES) + load.published_tokens_max,
            published_limit,
            tokens_init_limit: (published_limit - 2.0 * f64::from(PAGES)) / 2.0,
            utilization: load.utilization_per_million(&TIMES, 0) as f64 / 1e6,
            admitted_alpha: admitted.as_ref().map_or(0, |admitted| admitted.alpha),
            sound_tokens_max: admitted.as_ref().map_or(0, |admitted| admitted.tokens_max),
            sound_limit: admitted.as_ref().map_or(0, |admitted| admitted.limit),
            sound_utilization: admitted.as_ref().map_or(0.0, |admitted| admitted.utilization),
            checkpoint_ms: admitted.as_ref().map_or(0.0, |admitted| admitted.checkpoint_ms),
        }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let mut presentation = Presentation { comparisons: at_50(outcomes), ..Presentation::default() };
        for (use_percent, published) in TABLE_5 {
            let row = outcomes.iter().find(|outcome| outcome.parameters.use_percent == use_percent);
            presentation.comparisons.extend(column_of_table_5(use_percent, published, row.map(|outcome| &outcome.row)));
        }
        presentation.tables.push(table(outcomes));
        presentation.remarks.push(
            "(12) does not imply (8), since (10) bounds ρ_max from below: (8) is evaluated at each admission."
                .to_owned(),
        );
        presentation
    }
}

/// A column of Table V: its values, whether they may be admitted, and the α with which ours admits the tasks.
fn column_of_table_5(use_percent: u32, published: [u32; 5], row: Option<&Row>) -> Vec<Comparison> {
    let value = |at: usize, name: &str, ours: Option<f64>| {
        let what = format!("Table V, {use_percent}%: {name}");
        Comparison::new(what, Published::Computed(f64::from(published[at])), ours)
    };
    let text = |text: fn(&Row) -> String| row.map_or_else(String::new, text);
    vec![
        value(0, "α", row.map(|row| f64::from(row.admitted_alpha))).because(text(Row::why_alpha)),
        value(1, "ρ_T1", row.map(|row| f64::from(row.t1_tokens))).because(text(Row::why_tokens)),
        value(2, "ρ_T2", row.map(|row| f64::from(row.t2_tokens))).because(text(Row::why_tokens)),
        value(3, "ρ_G", row.map(|row| f64::from(row.collector_tokens))),
        value(4, "ρ_max", row.map(|row| row.tokens_max as f64))
            .because(format!("by (7), with ρ_free = ρ_init − 32 − what tasks and collectors hold; ρ_init = {TOKENS}")),
        Comparison::claim(
            format!("Table V, {use_percent}%: the column"),
            "ρ_max is within (8), ρ_init within (12), (14) at most 1",
            row.map(|row| (row.is_sound_as_published(), row.conditions())),
        )
        .because("the published ρ_init, α and ρ_max by the paper's own equations"),
    ]
}

impl Row {
    fn is_sound_as_published(&self) -> bool {
        let within = (self.tokens_max as f64) < self.published_limit && f64::from(TOKENS) < self.tokens_init_limit;
        within && self.utilization <= 1.0
    }

    /// (8), (12) and (14) with the published α.
    fn conditions(&self) -> String {
        let holds = |condition| if condition { "holds" } else { "does not" };
        format!(
            "ρ_max {} < {}: {}; ρ_init {TOKENS} < {}: {}; (14) {}: {}",
            self.tokens_max,
            figure(self.published_limit),
            holds((self.tokens_max as f64) < self.published_limit),
            figure(self.tokens_init_limit),
            holds(f64::from(TOKENS) < self.tokens_init_limit),
            figure(self.utilization),
            holds(self.utilization <= 1.0),
        )
    }

    fn why_alpha(&self) -> String {
        format!(
            "the largest that is admitted: {} tokens when a recycling begins, checkpoint and reserve among them, {} \
             allowed",
            self.sound_tokens_max, self.sound_limit
        )
    }

    fn why_tokens(&self) -> String {
        let cost = |tokens: u32, writes: u32| format!("{tokens} tokens for {writes} writes a period");
        format!(
            "by section 3.3.2, as many jobs as a meta-period of σ = α / w periods has: {} and {}",
            cost(self.t1_tokens, T1_WRITES),
            cost(self.t2_tokens, T2_WRITES)
        )
    }
}

fn at_50(outcomes: &[Outcome<Parameters, Row>]) -> Vec<Comparison> {
    let row = outcomes.iter().find(|outcome| outcome.parameters.use_percent == 50).map(|outcome| &outcome.row);
    let value = |what: &str, published: f64, ours: fn(&Row) -> f64, why: &str| {
        Comparison::new(what, Published::Computed(published), row.map(ours)).because(why)
    };
    let reads_alone = "5 reads and 2 writes with 1 ms of computing";
    vec![
        value(
            "Section 3.2: c_T1 of the example, µs",
            4578.0,
            |_| Task::new(1000, 5, 2, 20_000, &TIMES).cost_us as f64,
            reads_alone,
        ),
        value("Table III: c_T1, µs", 6354.0, |row| row.t1_cost_us as f64, "3 ms + 4 t_r + 2 t_w; Table IV prints 623"),
        value("Table III: c_T2, µs", 8738.0, |row| row.t2_cost_us as f64, "5 ms + 2 t_r + 5 t_w, as Table IV has it"),
        value("Table IV: c_G, µs", 20_282.0, |row| row.collector_cost_us as f64, "(1) has t_e in it"),
        value("Table IV: p_G1, ms", 160.0, |row| row.g1_period_ms, ""),
        value("Table IV: p_G2, ms", 600.0, |row| row.g2_period_ms, ""),
        value("Equation (12), 50%: bound on ρ_init", 472.5, |row| row.tokens_init_limit, ""),
        value("Equation (14), 50%", 0.6176, |row| row.utilization, "with c_G by (1), and 1881/20000"),
    ]
}

fn table(outcomes: &[Outcome<Parameters, Row>]) -> Table {
    let columns = [
        "use",
        "α published",
        "(12): ρ_init <",
        "(7) ρ_max",
        "(8) as published: <",
        "(14)",
        "α admitted",
        "with it: tokens when a recycling begins",
        "≤",
        "(14) with checkpoint",
        "checkpoint's period, ms",
    ];
    let mut table = Table::new(
        "The published α with ρ_init = 256, and the largest α with which a device admits the tasks:",
        &columns,
    );
    for Outcome { parameters, row } in outcomes {
        let admitted = if row.admitted_alpha > 0 { row.admitted_alpha.to_string() } else { "none".to_owned() };
        table.push(vec![
            format!("{}%", parameters.use_percent),
            parameters.alpha.to_string(),
            format!("{:.1}", row.tokens_init_limit),
            row.tokens_max.to_string(),
            format!("{:.1}", row.published_limit),
            format!("{:.4}", row.utilization),
            admitted,
            row.sound_tokens_max.to_string(),
            row.sound_limit.to_string(),
            format!("{:.4}", row.sound_utilization),
            format!("{:.0}", row.checkpoint_ms),
        ]);
    }
    table
}
