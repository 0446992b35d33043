//! What is measured: a layout of a program, and what each policy makes of it.

use serde::{Deserialize, Serialize};

use crate::paging::recorded::Recorded;
use crate::paging::replay::Cost;

/// How code is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Method {
    /// As the compiler did.
    Original,
    /// Whole functions by calls.
    CallAffinity,
    /// Whole functions, Pettis and Hansen.
    Procedures,
    /// Blocks, Pettis and Hansen.
    PettisHansen,
    /// Blocks, ext-TSP.
    ExtTsp,
    /// Functions by calls, blocks in each by ext-TSP.
    BlocksInFunctions,
    /// Blocks that miss one after the other in pages of the part.
    Misses,
    /// The search, from the order by misses.
    Search,
}

/// A layout of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    #[serde(flatten)]
    pub recorded: Recorded,
    pub method: Method,
    /// Training inputs; 0 for half of them.
    pub trained_on: usize,
    pub trials: u32,
    pub sample_runs: usize,
    pub seed: u64,
}

/// A policy on both halves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub policy: String,
    pub code_bytes: u32,
    pub executed_blocks_bytes: u32,
    /// Bandwidth on the training inputs, by which policies and layouts are chosen.
    pub trained: f64,
    #[serde(flatten)]
    pub cost: Cost,
    pub bandwidth: f64,
}
