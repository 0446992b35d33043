//! Tests of what a mount finds in the log, for states that take cuts in a row.

use std::vec;
use std::vec::Vec;

use norn_flash::{Column, PageAddress};
use norn_flash_sim::NandSim;
use norn_flash_sim::nand_catalogue::test_part;

use super::*;
use crate::format::{STREAMS, Tag};
use crate::ftl::{Ftl, FtlConfig};
use crate::ground::medium::Medium;
use crate::layout::Lba;

const LOGICAL_PAGES: u32 = 100;

/// A page of the checkpoint with chunk 3 as of 100, programmed as `sequence`; nothing else is newer than `newest`.
fn base(sequence: u64, newest: u64) -> Base {
    let page = page_of(sequence, 100);
    Base { page, newest, again: page.written, before: page.written }
}

fn page_of(sequence: u64, as_of: u64) -> CheckpointPage {
    let tag = Tag { lba: CHUNK_BASE + 3, sequence, wear: 0 };
    let open = [None; STREAMS];
    let header = Header { logical_pages: 50, since: 60, as_of, suspect: None, runs: 0, trims: 0, open };
    CheckpointPage { written: Written { page: Block(1).page((sequence % 8) as u16), tag }, header }
}

#[test]
fn the_newest_page_is_in_doubt_unless_it_is_a_copy() {
    assert!(base(101, 101).is_newest());
    assert!(!base(101, 102).is_newest(), "another page is newer");
    let mut copied = base(101, 101);
    copied.newest = 101 + 2 * SEQUENCE_GAP;
    copied.add(page_of(101 + 2 * SEQUENCE_GAP, 100));
    assert!(!copied.is_newest(), "that it was copied shows that the first was whole");
    assert_eq!(copied.certain().tag.sequence, 101, "the copy may have been cut");
    copied.newest += 1;
    assert_eq!(copied.certain().tag.sequence, 101 + 2 * SEQUENCE_GAP, "it has not, with a page after it");
}

#[test]
fn of_pages_that_say_the_same_the_first_is_the_page_and_the_last_two_are_known() {
    let sequences = [101, 140, 180, 220];
    for (first, rest) in [(0, [1, 2, 3]), (3, [2, 1, 0]), (1, [3, 0, 2]), (2, [0, 3, 1])] {
        let mut found = base(sequences[first], 220);
        rest.into_iter().for_each(|number| found.add(page_of(sequences[number], 100)));
        let numbers = [found.page.written, found.before, found.again].map(|written| written.tag.sequence);
        assert_eq!(numbers, [101, 180, 220], "found {first} first, then {rest:?}");
    }
    // A block failed: the older page is found later.
    let mut repeated = base(102, 102);
    repeated.add(page_of(101, 100));
    assert_eq!((repeated.page.written.tag.sequence, repeated.certain().tag.sequence), (101, 101));
}

#[test]
fn a_base_replaced_its_suspect_if_it_names_one_of_its_own_chunk() {
    let suspect = |lba| Some(Written { page: Block(2).page(0), tag: Tag { lba, sequence: 90, wear: 0 } });
    let mut base = base(101, 120);
    assert!(!base.names_what_it_replaced(suspect(CHUNK_BASE + 3)), "it names none");
    base.page.header.suspect = Some(PageNumber(16));
    assert!(base.names_what_it_replaced(suspect(CHUNK_BASE + 3)));
    assert!(!base.names_what_it_replaced(suspect(CHUNK_BASE + 2)) && !base.names_what_it_replaced(None));
}

/// A device with writes, and its pages as a mount begins.
fn used() -> (NandSim, Vec<u8>) {
    let sim = NandSim::new(test_part(30, 8, 128));
    let bytes = Ftl::<NandSim, Vec<u8>>::memory_bytes(&sim.spec().part, LOGICAL_PAGES);
    let mut ftl = Ftl::format(sim, vec![0; bytes], FtlConfig { logical_pages: LOGICAL_PAGES }).unwrap();
    for number in 0..400_u32 {
        ftl.write(Lba(number * 7 % LOGICAL_PAGES), &[number as u8; 128]).unwrap();
    }
    (ftl.into_device(), vec![0; bytes])
}

fn pages_of(sim: NandSim, memory: Vec<u8>) -> Pages<NandSim, Vec<u8>> {
    let part = sim.spec().part;
    let mut medium = Medium::new(sim, &part).unwrap();
    medium.restart().unwrap();
    Pages::new(medium, Memory::new(memory, Layout::new(part, 0)))
}

fn garble(sim: &mut NandSim, page: PageAddress) {
    let bytes = sim.peek(page).iter().map(|byte| byte ^ 0x5A).collect::<Vec<_>>();
    sim.poke(page, Column(0), &bytes);
}

#[test]
fn a_block_is_torn_if_no_page_of_it_is_whole() {
    let (mut sim, memory) = used();
    let part = sim.spec().part;
    let is_programmed = |sim: &NandSim, page| sim.peek(page).iter().any(|&byte| byte != 0xFF);
    let full: Vec<Block> = part.blocks().filter(|block| is_programmed(&sim, block.page(7))).collect();
    let [partly, wholly] = full[..2] else { panic!("two blocks are full") };
    (0..3).for_each(|page| garble(&mut sim, partly.page(page)));
    (0..8).for_each(|page| garble(&mut sim, wholly.page(page)));
    let mut pages = pages_of(sim, memory);
    find_blocks(&mut pages).unwrap();
    for block in full {
        assert_eq!(pages.memory.has(block, Flag::Torn), block == wholly, "{block}");
        assert_eq!(pages.memory.opened(block) > 0, block != wholly, "{block}");
    }
}

/// The highest number of a page that is whole.
fn newest(sim: &NandSim) -> (u64, PageAddress) {
    let part = sim.spec().part;
    let all = part.blocks().flat_map(|block| (0..part.pages_per_block).map(move |page| block.page(page)));
    let mut pages = pages_of(sim.clone(), vec![0; 1 << 16]);
    let tagged = all.filter_map(|page| match pages.load(page).unwrap() {
        Content::Page { tag, .. } => Some((tag.sequence, page)),
        _ => None,
    });
    tagged.max_by_key(|found| found.0).unwrap()
}

#[test]
fn numbers_go_on_behind_all_that_a_cut_may_have_left() {
    let (sim, memory) = used();
    let (highest, _) = newest(&sim);
    let log = replay(pages_of(sim, memory)).unwrap().log;
    assert_eq!(log.sequence(), highest + SEQUENCE_GAP);
}

/// Without a checkpoint, too, the newest page of all does not count before it is programmed again.
#[test]
fn the_newest_page_of_a_scan_is_the_suspect() {
    let (mut sim, memory) = used();
    let part = sim.spec().part;
    let (_, page) = newest(&sim);
    let all = part.blocks().flat_map(|block| (0..part.pages_per_block).map(move |page| block.page(page)));
    let as_of = |page: &PageAddress| u64::from_le_bytes(sim.peek(*page)[16..24].try_into().unwrap());
    let mut chunks: Vec<PageAddress> = all.filter(|&page| sim.peek(page).starts_with(b"NFT2")).collect();
    chunks.sort_by_key(|page| std::cmp::Reverse(as_of(page)));
    assert_ne!(page, chunks[0], "the newest page of all is of a logical page");
    chunks[1..].iter().for_each(|&chunk| garble(&mut sim, chunk));
    let replayed = replay(pages_of(sim, memory)).unwrap();
    assert_eq!(replayed.checkpoint, Found::Missing);
    assert_eq!(replayed.suspect.map(|suspect| suspect.page), Some(page));
    let lba = replayed.suspect.unwrap().tag.lba;
    assert_ne!(replayed.log.memory().page(lba), Some(part.number_of(page)), "the older version counts");
}
