//! Write amplification: pages programmed for each page that a client writes, in steady state, by use of the part.
//!
//! `trace.rs` reads block traces, `tpcc.rs` makes one up, `shape.rs` compares the two, `workload.rs` repeats them;
//! `steady.rs` runs a device until windows agree. `ours.rs` is the block device and a greedy map, `tasks.rs` the block
//! device with real-time tasks, `mqsim.rs` and `dhara.rs` are models. `points.rs` is what a curve consists of,
//! `bars.rs` what is to be met; `curves.rs` and `shapes.rs` are the experiments.

use crate::experiment::{AnyExperiment, Erased};

mod bars;
mod curves;
mod dhara;
mod mqsim;
mod ours;
mod paper;
mod points;
mod shape;
mod shapes;
mod steady;
mod tasks;
mod tpcc;
mod trace;
mod workload;

pub use paper::PAPER;

/// Its experiments, in the order of the report.
pub(crate) fn experiments() -> Vec<Box<dyn AnyExperiment>> {
    vec![Erased::<curves::Curves>::boxed(), Erased::<shapes::Shapes>::boxed()]
}
