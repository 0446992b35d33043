//! What a profile trace shows about the code: its basic blocks, and how often control goes from one to another.
//!
//! 1. A run's end is a control transfer, the next run's start its target. A target that is the end of a run on a shadow
//!    stack is a return: the run before it ended in a call.
//! 2. Blocks are cut at targets and at ends, but not after calls, to which control comes back.
//! 3. Each run adds to the edges between the blocks that it falls through, each transfer to the edge between its ends.
//!
//! Without a disassembler, a transfer that never happened in the profile is not known: code that was never executed
//! stays one piece between blocks that were.
//!
//! Invariant: blocks ascend, touch each other, and cover the code.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::trace::Run;

/// Frames of the shadow stack that are looked at.
const STACK_DEPTH: usize = 64;

/// The number of a basic block, in the order of the original code.
pub type BlockNumber = u32;

/// A basic block: its bytes, and how often it was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasicBlock {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
    /// Times that it was entered.
    pub entered: u64,
    /// The number of its function.
    pub function: u32,
}

impl BasicBlock {
    /// Its length.
    pub fn bytes(&self) -> u32 {
        self.end - self.start
    }
}

/// How control went from one block to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Without a transfer, since the other comes next.
    pub fallen: u64,
    /// By a jump.
    pub jumped: u64,
    /// By a call.
    pub called: u64,
}

/// What a profile shows.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The blocks.
    pub blocks: Vec<BasicBlock>,
    /// The edges between them that were taken; returns are left out.
    pub edges: HashMap<(BlockNumber, BlockNumber), Edge>,
    /// Number of functions.
    pub functions: u32,
}

/// How control left a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Transfer {
    Jump,
    Call,
    Return,
}

impl Profile {
    /// The profile of these runs, of a program of `code_bytes`.
    pub fn of(runs: &[Run], code_bytes: u32) -> Profile {
        Profile::of_traces(&[runs], code_bytes)
    }

    /// The profile of several runs of a program.
    pub fn of_traces(traces: &[&[Run]], code_bytes: u32) -> Profile {
        let returned: HashSet<u32> = traces.iter().flat_map(|runs| return_addresses(runs)).collect();
        let mut cuts: BTreeSet<u32> = [0, code_bytes].into();
        let mut entries: BTreeSet<u32> = [0].into();
        for pair in traces.iter().flat_map(|runs| runs.windows(2)) {
            cuts.extend([pair[0].end(), pair[1].address].iter().filter(|at| !returned.contains(at)));
            if transfer(&returned, &pair[0], &pair[1]) == Transfer::Call {
                entries.insert(pair[1].address);
            }
        }
        cuts.extend(&entries);
        let blocks = blocks(&cuts, &entries);
        let functions = blocks.last().map_or(0, |block| block.function + 1);
        let mut profile = Profile { blocks, edges: HashMap::new(), functions };
        let block_of = profile.block_of_byte();
        traces.iter().for_each(|runs| profile.count(runs, &block_of, &returned));
        profile
    }

    /// The profile of whole functions over several runs of a program: each block is a function, from its start to the
    /// next one's, and each edge counts entries of a function's first byte. Bytes before the first start are one more.
    pub fn of_functions(starts: &BTreeSet<u32>, traces: &[&[Run]], code_bytes: u32) -> Profile {
        let inside = starts.iter().copied().filter(|&start| start < code_bytes);
        let cuts: BTreeSet<u32> = inside.chain([0, code_bytes]).collect();
        let blocks = blocks(&cuts, &cuts);
        let functions = blocks.len() as u32;
        let mut profile = Profile { blocks, edges: HashMap::new(), functions };
        let block_of = profile.block_of_byte();
        for runs in traces {
            for run in *runs {
                let executed = block_of[run.address as usize]..=block_of[run.end() as usize - 1];
                executed.for_each(|block| profile.blocks[block as usize].entered += 1);
            }
            for pair in runs.windows(2) {
                let (from, to) = (block_of[pair[0].end() as usize - 1], block_of[pair[1].address as usize]);
                if from != to && profile.blocks[to as usize].start == pair[1].address {
                    profile.edges.entry((from, to)).or_default().jumped += 1;
                }
            }
        }
        profile
    }

    /// The block of each byte.
    pub fn block_of_byte(&self) -> Vec<BlockNumber> {
        let numbered = (0..).zip(&self.blocks);
        numbered.flat_map(|(number, block)| std::iter::repeat_n(number, block.bytes() as usize)).collect()
    }

    /// Step 3.
    fn count(&mut self, runs: &[Run], block_of: &[BlockNumber], returned: &HashSet<u32>) {
        let block_at = |at: u32| block_of[at as usize];
        let mut previous: Option<&Run> = None;
        for run in runs {
            let (first, last) = (block_at(run.address), block_at(run.end() - 1));
            if let Some(before) = previous {
                let from = block_at(before.end() - 1);
                match transfer(returned, before, run) {
                    Transfer::Jump => self.edges.entry((from, first)).or_default().jumped += 1,
                    Transfer::Call => self.edges.entry((from, first)).or_default().called += 1,
                    Transfer::Return => {}
                }
            }
            self.blocks[first as usize].entered += 1;
            for block in first..last {
                self.edges.entry((block, block + 1)).or_default().fallen += 1;
                self.blocks[block as usize + 1].entered += 1;
            }
            previous = Some(run);
        }
    }
}

/// The addresses that were returned to (step 1).
fn return_addresses(runs: &[Run]) -> HashSet<u32> {
    let mut stack: Vec<u32> = Vec::new();
    let mut returned = HashSet::new();
    for pair in runs.windows(2) {
        let (end, target) = (pair[0].end(), pair[1].address);
        let seen = stack.len().saturating_sub(STACK_DEPTH);
        match stack[seen..].iter().rposition(|&address| address == target) {
            Some(at) => {
                stack.truncate(seen + at);
                returned.insert(target);
            }
            None => stack.push(end),
        }
        if stack.len() > 4 * STACK_DEPTH {
            stack.drain(..2 * STACK_DEPTH);
        }
    }
    returned
}

fn transfer(returned: &HashSet<u32>, from: &Run, to: &Run) -> Transfer {
    match returned.contains(&to.address) {
        true => Transfer::Return,
        false if returned.contains(&from.end()) => Transfer::Call,
        false => Transfer::Jump,
    }
}

/// Blocks between cuts; functions start at entries.
fn blocks(cuts: &BTreeSet<u32>, entries: &BTreeSet<u32>) -> Vec<BasicBlock> {
    let mut function = 0;
    let starts = cuts.iter().zip(cuts.iter().skip(1));
    let block = |(&start, &end): (&u32, &u32)| {
        function += u32::from(start > 0 && entries.contains(&start));
        BasicBlock { start, end, entered: 0, function }
    };
    starts.map(block).collect()
}
