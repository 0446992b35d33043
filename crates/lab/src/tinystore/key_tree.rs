//! Section 4.2: what a look-up reads in a tree whose nodes hold keys and are searched, as the paper's hold them.
//!
//! The paper leaves its nodes to TFFS. So this is a tree of the simplest such form, for reading only, in the place of
//! the REF tree: what it reads is what the comparison of keys explains of the paper's 731 words.
//!
//! ```text
//! node   key 0 │ key 1 │ … │ key n−1 │ pointer 0 │ spare 0 │ pointer 1 │ …    a word each; erased: no key
//! ```

use norn_flash::{Address, Nor};
use norn_flash_sim::{NorSim, catalogue};
use serde::{Deserialize, Serialize};

use super::paper::PAPER;
use crate::error::JobError;
use crate::experiment::{About, Context, Experiment, Job, Outcome};
use crate::presentation::{Comparison, Presentation, Published, Table, figure};
use crate::settings::Settings;

/// Trees that compare keys.
pub struct KeyTrees;

/// The form of a tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameters {
    children_max: usize,
    children: Children,
}

/// How many children each node has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Children {
    /// As ascending keys leave a B-tree: each node was split in the middle.
    Half,
    All,
}

/// Words that a look-up of a key reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    levels: usize,
    reads_mean: f64,
    reads_most: u64,
}

/// As many objects as the paper's worst case of a read has.
const KEYS: u32 = 5500;
const WORD: u32 = 4;
const PUBLISHED: f64 = 731.0;

impl Experiment for KeyTrees {
    type Parameters = Parameters;
    type Row = Row;

    fn about() -> About {
        About {
            name: "tinystore-key-trees",
            paper: PAPER,
            reproduces: "section 4.2, trees that compare keys",
            summary: "What a look-up reads in a tree of 5,500 keys that are compared one after the other, with a word \
                      for a key, one for a pointer, and a spare beside each. Nodes are full, or half full as ascending \
                      keys leave them. The REF tree of this code finds a child by a digit, and a whole read of a field \
                      takes 23.5 words.",
            revision: 1,
        }
    }

    fn jobs(_: &Settings) -> Vec<Job<Parameters>> {
        let forms = [4, 8, 16, 32, 64].into_iter().flat_map(|children_max| {
            [Children::Half, Children::All].map(|children| Parameters { children_max, children })
        });
        forms.map(|parameters| Job { parameters, seconds: 0.1 }).collect()
    }

    fn measure(parameters: &Parameters, _: &Context) -> Result<Vec<Row>, JobError> {
        let Parameters { children_max, children } = *parameters;
        let filled = if children == Children::All { children_max } else { children_max / 2 };
        let mut tree = Tree::build(children_max, filled)?;
        let (mut sum, mut reads_most) = (0, 0);
        for key in 0..KEYS {
            let before = tree.device.counters();
            let found = tree.get(key)?;
            if found != key {
                return Err(JobError::Failed(format!("key {key} leads to {found}")));
            }
            let reads = tree.device.counters().reads() - before.reads();
            (sum, reads_most) = (sum + reads, reads_most.max(reads));
        }
        Ok(vec![Row { levels: tree.levels, reads_mean: sum as f64 / f64::from(KEYS), reads_most }])
    }

    fn present(outcomes: &[Outcome<Parameters, Row>]) -> Presentation {
        let mut table = Table::new("", &["children at most", "nodes", "levels", "reads, mean", "at most"]);
        for Outcome { parameters, row } in outcomes {
            table.push(vec![
                parameters.children_max.to_string(),
                if parameters.children == Children::All { "full" } else { "half full" }.to_owned(),
                row.levels.to_string(),
                figure(row.reads_mean),
                row.reads_most.to_string(),
            ]);
        }
        let dearest = outcomes.iter().map(|outcome| outcome.row.reads_mean).reduce(f64::max);
        let comparison = Comparison::new(
            "§6.3: words read for a field; here for a look-up alone, by the dearest tree",
            Published::Value(PUBLISHED),
            dearest,
        )
        .because(dearest.map_or_else(String::new, |reads| {
            let share = figure(100.0 * reads / PUBLISHED);
            format!("comparing keys explains {share}% at most; the paper does not say what else a read looks at")
        }));
        Presentation { comparisons: vec![comparison], tables: vec![table], ..Presentation::default() }
    }
}

/// A tree of the keys from 0 on, each of which leads to itself.
struct Tree {
    device: NorSim,
    children_max: usize,
    root: Address,
    levels: usize,
}

impl Tree {
    fn build(children_max: usize, filled: usize) -> Result<Tree, JobError> {
        let mut tree = Tree { device: NorSim::new(catalogue::tinystore()), children_max, root: Address(0), levels: 0 };
        let mut end = 0;
        let mut below: Vec<(u32, u32)> = (0..KEYS).map(|key| (key, key)).collect();
        while below.len() > 1 || tree.levels == 0 {
            let mut level = Vec::new();
            for children in below.chunks(filled) {
                level.push((children[0].0, end));
                tree.program_node(Address(end), children)?;
                end += tree.node_bytes();
            }
            tree.levels += 1;
            below = level;
        }
        tree.root = Address(below[0].1);
        Ok(tree)
    }

    const fn node_bytes(&self) -> u32 {
        3 * WORD * self.children_max as u32
    }

    fn program_node(&mut self, at: Address, children: &[(u32, u32)]) -> Result<(), JobError> {
        for (number, &(key, pointer)) in children.iter().enumerate() {
            self.program(self.key_at(at, number), key)?;
            self.program(self.pointer_at(at, number), pointer)?;
        }
        Ok(())
    }

    const fn key_at(&self, node: Address, number: usize) -> Address {
        Address(node.0 + WORD * number as u32)
    }

    const fn pointer_at(&self, node: Address, number: usize) -> Address {
        Address(node.0 + WORD * (self.children_max + 2 * number) as u32)
    }

    /// What a key leads to.
    fn get(&mut self, key: u32) -> Result<u32, JobError> {
        let mut at = self.root;
        for level in (0..self.levels).rev() {
            let number = self.search(at, key)?;
            let pointer = self.read(self.pointer_at(at, number))?;
            // A later version, if there is one.
            let spare = self.read(Address(self.pointer_at(at, number).0 + WORD))?;
            let leads_to = if spare == u32::MAX { pointer } else { spare };
            if level == 0 {
                return Ok(leads_to);
            }
            at = Address(leads_to);
        }
        Err(JobError::Failed("a tree without levels".to_owned()))
    }

    /// The last child whose key is not above `key`: keys are read until one is.
    fn search(&mut self, node: Address, key: u32) -> Result<usize, JobError> {
        let mut number = 0;
        while number + 1 < self.children_max && self.read(self.key_at(node, number + 1))? <= key {
            number += 1;
        }
        Ok(number)
    }

    fn read(&mut self, at: Address) -> Result<u32, JobError> {
        let mut word = [0; WORD as usize];
        self.device.read(at, &mut word).map_err(JobError::while_doing("reading a node"))?;
        Ok(u32::from_le_bytes(word))
    }

    fn program(&mut self, at: Address, word: u32) -> Result<(), JobError> {
        self.device.program(at, &word.to_le_bytes()).map_err(JobError::while_doing("programming a node"))
    }
}
