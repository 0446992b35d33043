//! Orders of basic blocks, from a profile: those that are compared, and what they have in common.
//!
//! - **Call affinity** (C³, Ottoni and Maher, 2017): whole functions; each joins the cluster of its most frequent
//!   caller.
//! - **Procedures** (Pettis and Hansen, 1990): whole functions, merged along the heaviest edges between them.
//! - **Pettis–Hansen** (1990): blocks of a function are chained along their heaviest edges, bottom up; blocks never
//!   executed go to the end; then chains are merged along the heaviest edges between them.
//! - **ext-TSP** (Newell and Pupyrev, 2020): chains are merged by the greatest gain of a score that counts
//!   fall-throughs, and short jumps by a tenth.
//! - **Blocks in functions**: call affinity orders functions by the bytes of them that are executed; in each, ext-TSP
//!   chains the executed blocks.
//!
//! Invariant: an order has every block once.

use std::collections::{BTreeMap, HashMap};

use super::layout::Placed;
use super::profile::{BlockNumber, Profile};

/// A row of blocks that stays together.
pub type Chain = Vec<BlockNumber>;

/// Largest cluster of call affinity, in bytes: the part's page.
const CLUSTER_BYTES_MAX: u32 = 4096;
/// Longest jump forwards that ext-TSP counts, in bytes, and backwards.
const FORWARDS_MAX: i64 = 1024;
const BACKWARDS_MAX: i64 = 640;

/// Chains in this order, and what was never executed after them, as it was.
pub fn placed(profile: &Profile, chains: &[Chain]) -> Vec<Placed> {
    let mut seen = vec![false; profile.blocks.len()];
    let mut order = Vec::with_capacity(seen.len());
    for &block in chains.iter().flatten() {
        seen[block as usize] = true;
        order.push(Placed::Block(block));
    }
    order.extend((0..seen.len() as u32).filter(|&block| !seen[block as usize]).map(Placed::Block));
    order
}

/// Which bytes of a function count for the size of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Whole,
    Executed,
}

/// Whole functions, clustered with their callers.
pub fn call_affinity(profile: &Profile) -> Vec<Chain> {
    let functions = whole_functions(profile);
    clustered(profile, Size::Whole).into_iter().map(|function| functions[function as usize].clone()).collect()
}

/// Whole functions, merged along the heaviest edges between them.
pub fn procedures(profile: &Profile) -> Vec<Chain> {
    let executed = |chain: &Chain| chain.iter().any(|&block| profile.blocks[block as usize].entered > 0);
    by_affinity(profile, whole_functions(profile).into_iter().filter(executed).collect())
}

/// Executed blocks in the order of their functions, and in each function in that of ext-TSP.
pub fn blocks_in_functions(profile: &Profile) -> Vec<Chain> {
    let function = |block: BlockNumber| profile.blocks[block as usize].function;
    let inside = profile.edges.iter().filter(|&(&(from, to), _)| function(from) == function(to));
    let edges = inside.map(|(&ends, &edge)| (ends, edge)).collect();
    let mut chains = ext_tsp(&Profile { blocks: profile.blocks.clone(), edges, functions: profile.functions });
    let mut place = vec![u32::MAX; profile.functions as usize];
    (0..).zip(clustered(profile, Size::Executed)).for_each(|(at, function)| place[function as usize] = at);
    chains.sort_by_key(|chain| place[function(chain[0]) as usize]);
    chains
}

/// The blocks of each function.
fn whole_functions(profile: &Profile) -> Vec<Chain> {
    let mut functions: Vec<Chain> = vec![Vec::new(); profile.functions as usize];
    (0..).zip(&profile.blocks).for_each(|(number, block)| functions[block.function as usize].push(number));
    functions
}

/// Executed functions by call affinity.
fn clustered(profile: &Profile, size: Size) -> Vec<u32> {
    let mut bytes = vec![0u32; profile.functions as usize];
    let mut entered = vec![0u64; bytes.len()];
    for block in &profile.blocks {
        if size == Size::Whole || block.entered > 0 {
            bytes[block.function as usize] += block.bytes();
        }
        entered[block.function as usize] += block.entered;
    }
    let mut callers: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (&(from, to), edge) in &profile.edges {
        let (from, to) = (profile.blocks[from as usize].function, profile.blocks[to as usize].function);
        if from != to {
            *callers.entry((to, from)).or_default() += edge.called + edge.jumped + edge.fallen;
        }
    }
    let mut clusters: Vec<Vec<u32>> = (0..profile.functions).map(|function| vec![function]).collect();
    let mut cluster_of: Vec<u32> = (0..profile.functions).collect();
    let mut hottest: Vec<u32> = (0..profile.functions).filter(|&function| entered[function as usize] > 0).collect();
    hottest.sort_by_key(|&function| std::cmp::Reverse(entered[function as usize]));
    for function in hottest.iter().copied() {
        let best = callers.range((function, 0)..(function + 1, 0)).max_by_key(|(_, weight)| **weight);
        let Some((&(_, caller), _)) = best else { continue };
        let (into, from) = (cluster_of[caller as usize], cluster_of[function as usize]);
        let size = |cluster: u32| clusters[cluster as usize].iter().map(|&one| bytes[one as usize]).sum::<u32>();
        if into != from && size(into) + size(from) <= CLUSTER_BYTES_MAX {
            let moved = std::mem::take(&mut clusters[from as usize]);
            moved.iter().for_each(|&one| cluster_of[one as usize] = into);
            clusters[into as usize].extend(moved);
        }
    }
    clusters.retain(|cluster| cluster.iter().any(|&function| entered[function as usize] > 0));
    let density = |cluster: &Vec<u32>| {
        let weight: u64 = cluster.iter().map(|&one| entered[one as usize]).sum();
        weight as f64 / f64::from(cluster.iter().map(|&one| bytes[one as usize]).sum::<u32>())
    };
    clusters.sort_by(|a, b| density(b).total_cmp(&density(a)));
    clusters.into_iter().flatten().filter(|&function| entered[function as usize] > 0).collect()
}

/// Chains along the heaviest edges, and those in turn along the heaviest edges between them.
pub fn pettis_hansen(profile: &Profile) -> Vec<Chain> {
    let inside =
        |&(from, to): &(u32, u32)| profile.blocks[from as usize].function == profile.blocks[to as usize].function;
    let mut edges: Vec<(u64, (u32, u32))> = profile
        .edges
        .iter()
        .filter(|(ends, _)| inside(ends))
        .map(|(&ends, edge)| (edge.fallen + edge.jumped, ends))
        .collect();
    edges.sort_unstable_by_key(|&(weight, ends)| (std::cmp::Reverse(weight), ends));
    let mut chains = Chains::executed(profile);
    for (_, (from, to)) in edges {
        let (a, b) = (chains.of[from as usize], chains.of[to as usize]);
        let touch = chains.rows[a as usize].last() == Some(&from) && chains.rows[b as usize].first() == Some(&to);
        if a != b && touch {
            chains.join(a, b);
        }
    }
    by_affinity(profile, chains.into_rows())
}

/// Chains merged along the heaviest edges between them, whichever ends touch: the order of Pettis and Hansen for
/// procedures.
pub fn by_affinity(profile: &Profile, rows: Vec<Chain>) -> Vec<Chain> {
    let mut chain_of: HashMap<u32, u32> = HashMap::new();
    for (number, row) in (0..).zip(&rows) {
        chain_of.extend(row.iter().map(|&block| (block, number)));
    }
    let mut weights: HashMap<(u32, u32), u64> = HashMap::new();
    for (&(from, to), edge) in &profile.edges {
        let (a, b) = (chain_of[&from], chain_of[&to]);
        if a != b {
            *weights.entry((a.min(b), a.max(b))).or_default() += edge.fallen + edge.jumped + edge.called;
        }
    }
    let mut edges: Vec<(u64, (u32, u32))> = weights.into_iter().map(|(ends, weight)| (weight, ends)).collect();
    edges.sort_unstable_by_key(|&(weight, ends)| (std::cmp::Reverse(weight), ends));
    let mut groups: Vec<Vec<u32>> = (0..rows.len() as u32).map(|chain| vec![chain]).collect();
    let mut group_of: Vec<u32> = (0..rows.len() as u32).collect();
    for (_, (a, b)) in edges {
        let (into, from) = (group_of[a as usize], group_of[b as usize]);
        if into == from {
            continue;
        }
        let mut moved = std::mem::take(&mut groups[from as usize]);
        moved.iter().for_each(|&chain| group_of[chain as usize] = into);
        // The ends that are closest to the edge come to touch.
        let near = |group: &[u32], chain: u32| {
            group.iter().position(|&other| other == chain).is_some_and(|at| 2 * at < group.len())
        };
        if near(&groups[into as usize], a) {
            groups[into as usize].reverse();
        }
        if !near(&moved, b) {
            moved.reverse();
        }
        groups[into as usize].extend(moved);
    }
    groups.into_iter().flatten().map(|chain| rows[chain as usize].clone()).collect()
}

/// Chains merged by the gain of the extended travelling-salesman score.
pub fn ext_tsp(profile: &Profile) -> Vec<Chain> {
    let mut chains = Chains::executed(profile);
    let mut neighbours: Vec<Vec<(u32, u32, u64)>> = vec![Vec::new(); profile.blocks.len()];
    for (&(from, to), edge) in &profile.edges {
        let weight = edge.fallen + edge.jumped;
        if weight > 0 && from != to {
            neighbours[from as usize].push((from, to, weight));
            neighbours[to as usize].push((from, to, weight));
        }
    }
    // The score between two rows, one after the other.
    let gain = |chains: &Chains, a: u32, b: u32| -> u64 {
        let (first, second) = (&chains.rows[a as usize], &chains.rows[b as usize]);
        let mut place = HashMap::new();
        let mut at = 0i64;
        for &block in first.iter().chain(second) {
            place.insert(block, at);
            at += i64::from(profile.blocks[block as usize].bytes());
        }
        let smaller = if first.len() < second.len() { first } else { second };
        let mut score = 0;
        for &(from, to, weight) in smaller.iter().flat_map(|&block| &neighbours[block as usize]) {
            let across = chains.of[from as usize] != chains.of[to as usize];
            let (Some(&source), Some(&target)) = (place.get(&from), place.get(&to)) else { continue };
            if !across {
                continue;
            }
            let distance = target - source - i64::from(profile.blocks[from as usize].bytes());
            score += match distance {
                0 => 100 * weight,
                1..=FORWARDS_MAX => (10 * weight as i64 * (FORWARDS_MAX - distance) / FORWARDS_MAX) as u64,
                _ if distance < 0 && -distance <= BACKWARDS_MAX => {
                    (10 * weight as i64 * (BACKWARDS_MAX + distance) / BACKWARDS_MAX) as u64
                }
                _ => 0,
            };
        }
        score
    };
    let mut heap = std::collections::BinaryHeap::new();
    let push = |heap: &mut std::collections::BinaryHeap<_>, chains: &Chains, a: u32, b: u32| {
        for (a, b) in [(a, b), (b, a)] {
            let score = gain(chains, a, b);
            if score > 0 {
                heap.push((score, a, b, chains.version[a as usize], chains.version[b as usize]));
            }
        }
    };
    for &(from, to) in profile.edges.keys() {
        if from != to {
            push(&mut heap, &chains, chains.of[from as usize], chains.of[to as usize]);
        }
    }
    while let Some((_, a, b, version_a, version_b)) = heap.pop() {
        if a == b || chains.version[a as usize] != version_a || chains.version[b as usize] != version_b {
            continue;
        }
        chains.join(a, b);
        let mut others: Vec<u32> = chains.rows[a as usize]
            .iter()
            .flat_map(|&block| &neighbours[block as usize])
            .flat_map(|&(from, to, _)| [chains.of[from as usize], chains.of[to as usize]])
            .filter(|&other| other != a)
            .collect();
        others.sort_unstable();
        others.dedup();
        for other in others {
            push(&mut heap, &chains, a, other);
        }
    }
    by_affinity(profile, chains.into_rows())
}

/// Chains of executed blocks, each at first alone.
struct Chains {
    rows: Vec<Chain>,
    of: Vec<u32>,
    version: Vec<u32>,
}

impl Chains {
    fn executed(profile: &Profile) -> Chains {
        let rows: Vec<Chain> = (0..)
            .zip(&profile.blocks)
            .map(|(number, block)| if block.entered > 0 { vec![number] } else { Vec::new() })
            .collect();
        Chains { of: (0..rows.len() as u32).collect(), version: vec![0; rows.len()], rows }
    }

    /// Puts `b` after `a`.
    fn join(&mut self, a: u32, b: u32) {
        let moved = std::mem::take(&mut self.rows[b as usize]);
        moved.iter().for_each(|&block| self.of[block as usize] = a);
        self.rows[a as usize].extend(moved);
        self.version[a as usize] += 1;
        self.version[b as usize] += 1;
    }

    fn into_rows(self) -> Vec<Chain> {
        self.rows.into_iter().filter(|row| !row.is_empty()).collect()
    }
}
