//! What updates cost in a steady state, and how long the part lasts under them.
//!
//! A run: updates until the part has been erased often enough that objects and free space are mixed as they will stay;
//! then windows of as many erases each, whose means give costs with confidence intervals; on, if a lifetime is asked
//! for, until the most worn unit or byte reaches the limit.

use std::collections::BTreeMap;

use norn_flash_sim::Counters;
use norn_object_heap::Ref;
use serde::{Deserialize, Serialize};

use super::population::Shape;
use super::subject::{Medium, Subject};
use super::workload::{Update, Updates};
use crate::experiment::Context;
use crate::interval::Interval;

/// How long to warm up and to measure, in erases of the part. On EEPROM each word written counts as an erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Erases before counting starts.
    pub warm_up: u64,
    /// Windows that are measured.
    pub windows: usize,
    /// Erases of each.
    pub window: u64,
}

impl Plan {
    /// On flash, with the part's number of units: erases of each unit, on average, before and while counting.
    pub fn per_unit(units: u64, warm_up: u64, measured: u64, windows: usize) -> Plan {
        Plan { warm_up: warm_up * units, windows, window: (measured * units).div_ceil(windows as u64) }
    }
}

/// Costs of one update, with half the widths of their 95% confidence intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Updates that were counted.
    pub updates: u64,
    /// Words read.
    pub reads: f64,
    /// Half of the interval.
    pub reads_ci: Option<f64>,
    /// Words programmed or written.
    pub writes: f64,
    /// Half of the interval.
    pub writes_ci: Option<f64>,
    /// Units erased; on EEPROM words.
    pub erases: f64,
    /// Half of the interval.
    pub erases_ci: Option<f64>,
    /// Simulated time in milliseconds.
    pub ms: f64,
    /// Half of the interval.
    pub ms_ci: Option<f64>,
    /// On flash, of the words programmed, those of updates that took at most two: value and flag in a slot that is
    /// there.
    pub writes_in_slots: Option<f64>,
    /// Those of updates that took more, and erased nothing: records, compactions, tree nodes, log entries.
    pub writes_structure: Option<f64>,
    /// Those of updates that erased: reclamations and new log units.
    pub writes_reclaiming: Option<f64>,
}

/// Means of one window, per update: words read and written, erases, milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Window([f64; 4]);

impl Window {
    /// Of what was counted, and the simulated time in nanoseconds.
    pub fn of(counters: Counters, ns: u64, updates: u64) -> Window {
        let sums = [counters.reads() as f64, counters.programs() as f64, counters.erases as f64, ns as f64 / 1e6];
        Window(sums.map(|sum| sum / updates as f64))
    }
}

impl Costs {
    /// Sums windows with the given number of updates in all, without the causes of the words.
    pub fn of(windows: &[Window], updates: u64) -> Costs {
        let [reads, writes, erases, ms] =
            [0, 1, 2, 3].map(|which| Interval::of(&windows.iter().map(|window| window.0[which]).collect::<Vec<_>>()));
        Costs {
            updates,
            reads: reads.mean,
            reads_ci: reads.half_width,
            writes: writes.mean,
            writes_ci: writes.half_width,
            erases: erases.mean,
            erases_ci: erases.half_width,
            ms: ms.mean,
            ms_ci: ms.half_width,
            writes_in_slots: None,
            writes_structure: None,
            writes_reclaiming: None,
        }
    }
}

/// Words programmed by updates of each kind.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds {
    in_slots: u64,
    structure: u64,
    reclaiming: u64,
}

/// Updates until the most worn unit or byte reached limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Lifetime {
    /// Updates by limit.
    pub updates: BTreeMap<u32, u64>,
    /// Most worn by mean, at the end.
    pub unevenness: f64,
}

/// What a field holds before the first update.
pub fn first_value(field: usize) -> u16 {
    field as u16 | 1
}

/// A heap with its objects, under updates.
pub struct Run<'a, H: Subject> {
    heap: H,
    objects: Vec<Ref>,
    shape: Shape,
    updates: Updates,
    done: u64,
    kinds: Kinds,
    context: &'a Context<'a>,
}

impl<'a, H: Subject> Run<'a, H> {
    /// Puts the objects that `updates` expects on an empty heap; `None` if they do not fit.
    pub fn new(mut heap: H, shape: Shape, objects: usize, updates: Updates, context: &'a Context<'a>) -> Option<Self> {
        let objects = (0..objects).map(|_| shape.create(&mut heap)).collect::<Option<Vec<_>>>()?;
        heap.forget_wear();
        Some(Run { heap, objects, shape, updates, done: 0, kinds: Kinds::default(), context })
    }

    /// Updates every field once, so that none is without a value and a short run, too, sees objects as they will stay.
    ///
    /// # Errors
    /// Names the update that failed.
    pub fn with_values(mut self) -> Result<Self, String> {
        for &object in &self.objects {
            for field in 0..self.shape.fields {
                let result = self.shape.put(&mut self.heap, object, field, first_value(field));
                result.map_err(|error| format!("{error} when fields were first set"))?;
            }
        }
        self.heap.forget_wear();
        Ok(self)
    }

    /// The heap.
    pub fn heap(&self) -> &H {
        &self.heap
    }

    /// The heap and its objects.
    pub fn parts(&mut self) -> (&mut H, &[Ref]) {
        (&mut self.heap, &self.objects)
    }

    /// Updates so far, those that first set the fields left out.
    pub fn done(&self) -> u64 {
        self.done
    }

    fn update(&mut self) -> Result<(), String> {
        let Update { object, field, value } = self.updates.draw();
        let result = self.shape.put(&mut self.heap, self.objects[object], field, value);
        result.map_err(|error| format!("{error} after {} updates", self.done))?;
        self.done += 1;
        Ok(())
    }

    fn erases(&self) -> u64 {
        self.heap.totals().0.erases
    }

    /// Updates until the part has erased `erases` times more.
    fn run(&mut self, erases: u64) -> Result<(), String> {
        let mut before = self.heap.totals().0;
        let end = before.erases + erases;
        while before.erases < end {
            self.update()?;
            let after = self.heap.totals().0;
            let words = after.programs() - before.programs();
            let kind = match (after.erases > before.erases, words) {
                (true, _) => &mut self.kinds.reclaiming,
                (false, 0..=2) => &mut self.kinds.in_slots,
                (false, _) => &mut self.kinds.structure,
            };
            *kind += words;
            before = after;
        }
        Ok(())
    }

    /// Warms up, and measures.
    ///
    /// # Errors
    /// Names the update that failed.
    pub fn costs(&mut self, plan: Plan) -> Result<Costs, String> {
        self.run(plan.warm_up)?;
        let mut windows = Vec::new();
        let before = self.done;
        self.kinds = Kinds::default();
        for window in 0..plan.windows {
            let ((counters, ns), updates) = (self.heap.totals(), self.done);
            self.run(plan.window)?;
            let (after, ns_after) = self.heap.totals();
            let (counters, updates) = (after - counters, self.done - updates);
            windows.push(Window::of(counters, ns_after - ns, updates));
            self.context.progress(window as u64 + 1, plan.windows as u64);
        }
        let updates = self.done - before;
        let share = |words: u64| (H::MEDIUM == Medium::Flash).then(|| words as f64 / updates as f64);
        Ok(Costs {
            writes_in_slots: share(self.kinds.in_slots),
            writes_structure: share(self.kinds.structure),
            writes_reclaiming: share(self.kinds.reclaiming),
            ..Costs::of(&windows, updates)
        })
    }

    /// Updates until the most worn unit or byte has reached the last of `limits`. Updates before the first call count,
    /// too.
    ///
    /// # Errors
    /// Names the update that failed.
    pub fn lifetime(&mut self, limits: &[u32]) -> Result<Lifetime, String> {
        let mut updates = BTreeMap::new();
        let mut erases = 0;
        for &limit in limits {
            loop {
                if self.erases() != erases {
                    erases = self.erases();
                    let worn = self.heap.most_worn();
                    self.context.progress(u64::from(worn), u64::from(limits.last().copied().unwrap_or(1)));
                    if worn >= limit {
                        break;
                    }
                }
                self.update()?;
            }
            updates.insert(limit, self.done);
        }
        Ok(Lifetime { updates, unevenness: f64::from(self.heap.most_worn()) / self.heap.mean_worn() })
    }
}
