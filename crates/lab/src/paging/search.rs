//! Improves an order of blocks by trial: each move is replayed on samples of the profile, and kept if it costs no more.
//!
//! 1. Draw two moments of the profile that are close to each other, and with them two blocks that should be.
//! 2. Move the one, with the row of blocks that falls through with it or alone, next to the other; or put a border
//!    before it.
//! 3. Replay the samples through a pager as the device will have it; keep the order if the time is no longer, or, early
//!    on, hardly longer.
//!
//! So the simulation counts what neither edges nor windows show: which pages drive which out, where in its page of the
//! part a block is, and what the register still holds.
//!
//! Invariant: an order has every executed block once.

use std::sync::Arc;

use norn_code_pager::Options;
use norn_code_pager::policy::Greedy;
use norn_flash_sim::NandSpec;

use super::layout::{Layout, Placed};
use super::profile::{BlockNumber, Profile};
use super::replay::{EXECUTE_NS, each_request, pager, request};
use super::trace::Run;

/// How a search goes.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Orders tried.
    pub trials: u32,
    /// Runs in all samples.
    pub sample_runs: usize,
    /// Samples, spread evenly over the profile.
    pub samples: usize,
    /// What is drawn derives from it.
    pub seed: u64,
}

/// The state of a search.
struct Trial<'a> {
    profile: &'a Profile,
    spec: &'a NandSpec,
    runs: Vec<Run>,
    block_of: Arc<[BlockNumber]>,
    entered: Vec<BlockNumber>,
    random: fastrand::Rng,
}

impl Search {
    /// An order at least as good as `order` on the samples. `progress` is called with the number of orders tried.
    pub fn improve(
        &self,
        profile: &Profile,
        spec: &NandSpec,
        runs: &[Run],
        order: Vec<Placed>,
        progress: impl Fn(u32),
    ) -> Vec<Placed> {
        let block_of: Arc<[BlockNumber]> = profile.block_of_byte().into();
        let window = self.sample_runs / self.samples;
        let stride = runs.len() / self.samples;
        let sampled = |sample: usize| &runs[sample * stride..][..window.min(stride)];
        let runs: Vec<Run> = (0..self.samples).flat_map(sampled).copied().collect();
        let entered: Vec<BlockNumber> = runs.iter().map(|run| block_of[run.address as usize]).collect();
        let random = fastrand::Rng::with_seed(self.seed);
        let mut trial = Trial { profile, spec, runs, block_of, entered, random };
        let mut order = order;
        let mut best = trial.cost(&order);
        for number in 0..self.trials {
            let Some(other) = trial.moved(&order) else { continue };
            let cost = trial.cost(&other);
            let heat = 0.0003 * (1.0 - 1.25 * f64::from(number) / f64::from(self.trials)).max(0.0);
            if (cost as f64) <= best as f64 * (1.0 + heat * trial.random.f64()) {
                (order, best) = (other, cost);
            }
            progress(number + 1);
        }
        order
    }
}

impl Trial<'_> {
    /// Time of the samples in an order.
    fn cost(&self, order: &[Placed]) -> u64 {
        let layout = Layout::with(self.profile, &self.block_of, order);
        let policy = Greedy::<32>::default();
        let Ok(mut pager) = pager::<_, 32, 64, _>(self.spec, layout.code_bytes, policy, Options::default(), ()) else {
            return u64::MAX;
        };
        let mut executed = 0;
        let counted = layout.translate(&self.runs).inspect(|run| executed += u64::from(run.bytes));
        each_request::<64>(counted, |page| request(&mut pager, page));
        executed * EXECUTE_NS + pager.device().elapsed_ns(&self.spec.timings)
    }

    /// Steps 1 and 2; nothing if the draw makes no difference.
    fn moved(&mut self, order: &[Placed]) -> Option<Vec<Placed>> {
        let at = self.random.usize(0..self.entered.len());
        let near = at + self.random.usize(1..40);
        let (block, other) = (self.entered[at], *self.entered.get(near)?);
        let place = |wanted: BlockNumber| order.iter().position(|&placed| placed == Placed::Block(wanted));
        let mut order_new = order.to_vec();
        let start = place(block)?;
        match self.random.u8(0..10) {
            0 => order_new.insert(start, Placed::Align(if self.random.bool() { 512 } else { 64 })),
            1 => {
                let border = (0..start).rev().find(|&at| matches!(order[at], Placed::Align(_)))?;
                order_new.remove(border);
            }
            draw => {
                let (first, last) = if draw < 6 { self.row(order, start) } else { (start, start) };
                let target = place(other)?;
                if (first..=last).contains(&target) {
                    return None;
                }
                let row: Vec<Placed> = order_new.drain(first..=last).collect();
                let to = order_new.iter().position(|&placed| placed == Placed::Block(other))?;
                let to = to + usize::from(self.random.bool());
                order_new.splice(to..to, row);
            }
        }
        Some(order_new)
    }

    /// The blocks around a place that follow each other as they do in the original code, and that control falls
    /// through.
    fn row(&self, order: &[Placed], at: usize) -> (usize, usize) {
        let falls = |from: &Placed, to: &Placed| match (from, to) {
            (&Placed::Block(from), &Placed::Block(to)) => {
                let edge = self.profile.edges.get(&(from, to));
                edge.is_some_and(|edge| edge.fallen > 0 || edge.jumped > 0)
            }
            _ => false,
        };
        let first = (1..=at).rev().find(|&place| !falls(&order[place - 1], &order[place])).unwrap_or(0);
        let last = (at..order.len() - 1).find(|&place| !falls(&order[place], &order[place + 1]));
        (first, last.unwrap_or(order.len() - 1))
    }
}
