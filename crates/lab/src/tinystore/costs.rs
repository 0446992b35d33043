//! What updates cost in a steady state, and how long the part lasts under them.
//!
//! A run: updates until the part has been erased so many times over that objects and free space are mixed as they will stay; then
//! windows of as many erases each, whose means give costs with confidence intervals; on, if a lifetime is asked for, until the most
//! worn unit or byte reaches the limit.

use std::collections::BTreeMap;

use norn_object_heap::Ref;
use serde::{Deserialize, Serialize};

use super::population::Shape;
use super::subject::Subject;
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
    /// On flash of so many units: erases of each unit, on average, before and while counting.
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
}

/// Updates until the most worn unit or byte reached limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Lifetime {
    /// Updates by limit.
    pub updates: BTreeMap<u32, u64>,
    /// Most worn by mean, at the end.
    pub unevenness: f64,
}

/// A heap with its objects, under updates.
pub struct Run<'a, H: Subject> {
    heap: H,
    objects: Vec<Ref>,
    shape: Shape,
    updates: Updates,
    done: u64,
    context: &'a Context<'a>,
}

impl<'a, H: Subject> Run<'a, H> {
    /// Puts the objects that `updates` expects on an empty heap; `None` if they do not fit.
    pub fn new(mut heap: H, shape: Shape, objects: usize, updates: Updates, context: &'a Context<'a>) -> Option<Self> {
        let objects = (0..objects).map(|_| shape.create(&mut heap)).collect::<Option<Vec<_>>>()?;
        Some(Run { heap, objects, shape, updates, done: 0, context })
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
        let end = self.erases() + erases;
        while self.erases() < end {
            self.update()?;
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
        for window in 0..plan.windows {
            let ((counters, ns), updates) = (self.heap.totals(), self.done);
            self.run(plan.window)?;
            let (after, ns_after) = self.heap.totals();
            let (counters, updates) = (after - counters, (self.done - updates) as f64);
            let sums = [counters.reads() as f64, counters.programs() as f64, counters.erases as f64];
            windows.push([
                sums[0] / updates,
                sums[1] / updates,
                sums[2] / updates,
                (ns_after - ns) as f64 / 1e6 / updates,
            ]);
            self.context.progress(window as u64 + 1, plan.windows as u64);
        }
        let [reads, writes, erases, ms] =
            [0, 1, 2, 3].map(|which| Interval::of(&windows.iter().map(|window| window[which]).collect::<Vec<_>>()));
        Ok(Costs {
            updates: self.done - before,
            reads: reads.mean,
            reads_ci: reads.half_width,
            writes: writes.mean,
            writes_ci: writes.half_width,
            erases: erases.mean,
            erases_ci: erases.half_width,
            ms: ms.mean,
            ms_ci: ms.half_width,
        })
    }

    /// Updates until the most worn unit or byte has reached the last of `limits`. Updates before the first call count, too.
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
