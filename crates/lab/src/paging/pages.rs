//! An order of blocks for pages of the part: blocks that miss one after the other come to share a page.
//!
//! A miss costs little if the page of the part with its code is in the register, and its code is after the position.
//! Edges between blocks do not show that: most of them are taken while both blocks are in the cache.
//!
//! 1. The chains of ext-TSP are cut into pieces that fit a page of the part.
//! 2. The trace is replayed through an LRU cache of pieces, so that the outcome does not depend on any layout.
//! 3. Pieces of which one misses next after the other are merged to groups that fit a page, heaviest pair first.
//! 4. Groups are put into pages, the one that misses most first, each into the first page with room.
//!
//! Invariant: an order has every block once.

use std::collections::HashMap;

use super::layout::{JUMP_BYTES, Placed};
use super::order::{Chain, ext_tsp};
use super::profile::{BlockNumber, Profile};
use super::trace::Run;

/// The cache for which blocks are ordered.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes of a page of the part.
    pub page: u32,
    /// Bytes of the cache.
    pub cache: u32,
}

/// Blocks in pages of the part, and those never executed after them, as they were.
pub fn by_misses(profile: &Profile, runs: &[Run], room: Room) -> Vec<Placed> {
    let pieces = pieces(profile, ext_tsp(profile), room.page);
    let misses = misses(profile, &pieces, runs, room.cache);
    let mut missed = vec![0u64; pieces.len()];
    misses.iter().for_each(|&piece| missed[piece as usize] += 1);
    let sizes: Vec<u32> = pieces.iter().map(|piece| bytes(profile, piece)).collect();
    let mut groups = groups(&weights(&misses), &sizes, room.page);
    groups.sort_by_key(|group| std::cmp::Reverse(group.iter().map(|&piece| missed[piece as usize]).sum::<u64>()));
    in_pages(profile, &pieces, pages(groups, &sizes, room.page), room.page)
}

/// A piece's bytes, and those of jumps: one at its end, and one between blocks that did not follow each other.
fn bytes(profile: &Profile, piece: &Chain) -> u32 {
    let blocks: u32 = piece.iter().map(|&block| profile.blocks[block as usize].bytes()).sum();
    let jumps = 1 + piece.windows(2).filter(|pair| pair[1] != pair[0] + 1).count() as u32;
    blocks + jumps * u32::from(JUMP_BYTES)
}

/// Step 1; a block that is larger than a page is a piece.
fn pieces(profile: &Profile, chains: Vec<Chain>, page: u32) -> Vec<Chain> {
    let mut pieces: Vec<Chain> = Vec::new();
    for chain in chains {
        let mut piece = Chain::new();
        for block in chain {
            piece.push(block);
            if piece.len() > 1 && bytes(profile, &piece) > page {
                piece.pop();
                pieces.push(std::mem::replace(&mut piece, vec![block]));
            }
        }
        pieces.push(piece);
    }
    pieces
}

/// Step 2: the pieces that miss, in their order.
fn misses(profile: &Profile, pieces: &[Chain], runs: &[Run], cache: u32) -> Vec<u32> {
    let mut piece_of = vec![u32::MAX; profile.blocks.len()];
    (0..).zip(pieces).for_each(|(number, piece)| piece.iter().for_each(|&block| piece_of[block as usize] = number));
    let block_of = profile.block_of_byte();
    let sizes: Vec<u32> = pieces.iter().map(|piece| bytes(profile, piece)).collect();
    // The piece that was requested last is at the end.
    let mut held: Vec<u32> = Vec::new();
    let mut held_bytes = 0;
    let mut misses = Vec::new();
    for run in runs {
        for block in block_of[run.address as usize]..=block_of[run.end() as usize - 1] {
            let piece = piece_of[block as usize];
            if held.last() == Some(&piece) {
                continue;
            }
            match held.iter().rposition(|&other| other == piece) {
                Some(at) => held[at..].rotate_left(1),
                None => {
                    misses.push(piece);
                    held.push(piece);
                    held_bytes += sizes[piece as usize];
                    let mut gone = 0;
                    while held_bytes > cache && gone + 1 < held.len() {
                        held_bytes -= sizes[held[gone] as usize];
                        gone += 1;
                    }
                    held.drain(..gone);
                }
            }
        }
    }
    misses
}

/// How often the second piece misses next after the first; the next but one counts a quarter.
fn weights(misses: &[u32]) -> HashMap<(u32, u32), u64> {
    let mut weights: HashMap<(u32, u32), u64> = HashMap::new();
    for (distance, weight) in [(1, 4), (2, 1)] {
        for (&from, &to) in misses.iter().zip(misses.iter().skip(distance)) {
            if from != to {
                *weights.entry((from, to)).or_default() += weight;
            }
        }
    }
    weights
}

/// Step 3.
fn groups(weights: &HashMap<(u32, u32), u64>, sizes: &[u32], page: u32) -> Vec<Vec<u32>> {
    let both = |from, to| weights.get(&(from, to)).unwrap_or(&0) + weights.get(&(to, from)).unwrap_or(&0);
    let mut pairs: Vec<(u64, (u32, u32))> = weights.keys().map(|&(from, to)| (both(from, to), (from, to))).collect();
    pairs.sort_unstable_by_key(|&(weight, ends)| (std::cmp::Reverse(weight), ends));
    let mut groups: Vec<Vec<u32>> = (0..sizes.len() as u32).map(|piece| vec![piece]).collect();
    let mut group_of: Vec<u32> = (0..sizes.len() as u32).collect();
    let size = |group: &[u32]| group.iter().map(|&piece| sizes[piece as usize]).sum::<u32>();
    for (_, (from, to)) in pairs {
        let (a, b) = (group_of[from as usize], group_of[to as usize]);
        if a == b || size(&groups[a as usize]) + size(&groups[b as usize]) > page {
            continue;
        }
        let forwards = |from: &[u32], to: &[u32]| -> u64 {
            from.iter().flat_map(|&from| to.iter().map(move |&to| weights.get(&(from, to)).unwrap_or(&0))).sum()
        };
        let (one, other) = (&groups[a as usize], &groups[b as usize]);
        let (first, second) = if forwards(one, other) >= forwards(other, one) { (a, b) } else { (b, a) };
        let moved = std::mem::take(&mut groups[second as usize]);
        moved.iter().for_each(|&piece| group_of[piece as usize] = first);
        groups[first as usize].extend(moved);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Step 4: the pieces of each page.
fn pages(groups: Vec<Vec<u32>>, sizes: &[u32], page: u32) -> Vec<Vec<u32>> {
    let mut pages: Vec<(u32, Vec<u32>)> = Vec::new();
    for group in groups {
        let bytes: u32 = group.iter().map(|&piece| sizes[piece as usize]).sum();
        match pages.iter_mut().find(|(used, _)| used + bytes <= page) {
            Some((used, pieces)) => {
                *used += bytes;
                pieces.extend(group);
            }
            None => pages.push((bytes, group)),
        }
    }
    pages.into_iter().map(|(_, pieces)| pieces).collect()
}

fn in_pages(profile: &Profile, pieces: &[Chain], pages: Vec<Vec<u32>>, page: u32) -> Vec<Placed> {
    let mut seen = vec![false; profile.blocks.len()];
    let mut order = Vec::new();
    for pieces_of_page in pages {
        order.push(Placed::Align(page));
        for block in pieces_of_page.iter().flat_map(|&piece| &pieces[piece as usize]) {
            seen[*block as usize] = true;
            order.push(Placed::Block(*block));
        }
    }
    order.push(Placed::Align(page));
    order.extend((0..seen.len() as BlockNumber).filter(|&block| !seen[block as usize]).map(Placed::Block));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paging::layout::Layout;

    /// Two blocks far apart miss one after the other, since others drive them out in between, each time in another
    /// order: no edge leads from the one to the other but that.
    #[test]
    fn blocks_that_miss_together_share_a_page_in_their_order() {
        let run = |address| Run { address, bytes: 48, instructions: 12 };
        let (first, second) = (48 * 90, 48 * 10);
        let mut random = fastrand::Rng::with_seed(7);
        let mut runs = Vec::new();
        for _ in 0..60 {
            runs.extend([run(first), run(second)]);
            let mut others: Vec<u32> = (20..80).step_by(2).map(|number| 48 * number).collect();
            random.shuffle(&mut others);
            runs.extend(others.into_iter().map(run));
        }
        let profile = Profile::of(&runs, 48 * 100);
        let order = by_misses(&profile, &runs, Room { page: 512, cache: 1024 });
        let layout = Layout::new(&profile, &order);
        let moved: Vec<u32> = layout.translate(&runs[..2]).map(|run| run.address).collect();
        assert_eq!(moved[0] / 512, moved[1] / 512, "{moved:?}");
        assert!(moved[0] < moved[1], "the position passes the first, then the second: {moved:?}");
    }

    #[test]
    fn no_piece_that_fits_a_page_crosses_one() {
        let trace = crate::paging::source::made_up(3, 4000);
        let profile = Profile::of(&trace.runs, trace.code_bytes);
        let pieces = pieces(&profile, ext_tsp(&profile), 512);
        assert!(pieces.iter().filter(|piece| piece.len() > 1).all(|piece| bytes(&profile, piece) <= 512));
        let fits: Vec<_> = pieces.iter().filter(|piece| bytes(&profile, piece) <= 512).collect();
        assert!(fits.len() > 10, "{} pieces", fits.len());
        let layout = Layout::new(&profile, &by_misses(&profile, &trace.runs, Room { page: 512, cache: 1536 }));
        for block in fits.into_iter().flatten().map(|&block| profile.blocks[block as usize]) {
            let run = Run { address: block.start, bytes: block.bytes() as u16, instructions: 1 };
            let moved = layout.translate(std::slice::from_ref(&run)).next().unwrap();
            assert_eq!(moved.address / 512, (moved.end() - 1) / 512, "{block:?}");
        }
    }
}
