//! LRU is exact, whatever its look-up and its stamps are made of: it evicts what a list of pages in the order of their
//! requests evicts, over many rounds of its stamps. Every policy finds the pages that it was given and no others, at a
//! bounded cost. A pager's RAM keeps its bound.
//!
//! `SEED=n cargo test -p norn-code-pager --test suite policies::` replays one seed.

use norn_code_pager::policy::{Clock, Cost, Frame, Greedy, Lru, Policy, S3Fifo, Sieve};
use norn_code_pager::{CachePage, Code, Crc32c, Pager, Uncoded, pager::state_bytes_max};
use norn_flash_sim::NandSim;

fn seeds() -> Vec<u64> {
    match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().expect("SEED is a number")],
        Err(_) => (0..6).collect(),
    }
}

/// Pages that a program might request: loops that move, now and then a jump to anywhere, and pages whose numbers end in
/// the same bits.
struct Pages {
    random: fastrand::Rng,
    start: u16,
}

impl Pages {
    fn next(&mut self, frames: usize) -> CachePage {
        let spread = 1 + 2 * frames as u16;
        match self.random.u8(0..100) {
            0 => self.start = self.random.u16(..60_000),
            1..6 => return CachePage(self.random.u16(..u16::MAX)),
            6..12 => return CachePage(self.start + 16 * self.random.u16(..spread)),
            _ => {}
        }
        CachePage(self.start + self.random.u16(..spread).min(self.random.u16(..spread)))
    }
}

/// The position of an admitted page.
#[derive(PartialEq, Eq)]
enum Rank {
    Newest,
    Oldest,
}

/// What is in the frames, by a plain list: the page requested last is the last.
#[derive(Default)]
struct Naive {
    pages: Vec<(CachePage, Frame)>,
    free: Vec<u8>,
}

impl Naive {
    fn place(&self, page: CachePage) -> Option<usize> {
        self.pages.iter().position(|(held, _)| *held == page)
    }

    /// The oldest page leaves, unless a frame is free; says whether `frame` may have been chosen.
    fn admit(&mut self, page: CachePage, frame: Frame, rank: Rank) -> bool {
        let is_right = match self.free.iter().position(|&free| free == frame.0) {
            Some(at) => {
                self.free.swap_remove(at);
                true
            }
            None => self.free.is_empty() && self.pages.remove(0).1 == frame,
        };
        let place = if rank == Rank::Newest { self.pages.len() } else { 0 };
        self.pages.insert(place, (page, frame));
        is_right
    }
}

fn lru_is_exact<const FRAMES: usize>(seed: u64) {
    let mut pages = Pages { random: fastrand::Rng::with_seed(seed), start: 9 };
    let (mut lru, mut naive) =
        (Lru::<FRAMES>::default(), Naive { free: (0..FRAMES as u8).collect(), ..Naive::default() });
    let mut hits = 0;
    for step in 0..6000 {
        let told =
            format!("{FRAMES} frames, step {step}; SEED={seed} cargo test -p norn-code-pager --test suite policies::");
        let page = pages.next(FRAMES);
        let found = lru.request(page);
        assert!(usize::from(found.comparisons()) <= FRAMES, "{told}");
        let known = naive.place(page);
        assert_eq!(found.frame(), known.map(|at| naive.pages[at].1), "{told}: {page:?}");
        if let Some(at) = known {
            hits += 1;
            let held = naive.pages.remove(at);
            naive.pages.push(held);
        } else {
            let frame = lru.admit(page, Cost(1));
            assert!(naive.admit(page, frame, Rank::Newest), "{told}: {frame:?} is not the oldest");
        }
        // What comes early takes the oldest page's place, but only where that is not the page just requested.
        let early = CachePage(page.0.wrapping_add(1) % u16::MAX);
        if FRAMES > 1 && naive.free.is_empty() && pages.random.u8(..20) == 0 && !lru.holds(early) {
            let frame = lru.admit_early(early);
            assert!(naive.admit(early, frame, Rank::Oldest), "{told}: {frame:?} is not the oldest");
        }
        if pages.random.u8(..200) == 0 {
            let (page, frame) = naive.pages.remove(pages.random.usize(..naive.pages.len()));
            lru.abandon(frame);
            naive.free.push(frame.0);
            assert!(!lru.holds(page), "{told}");
        }
    }
    assert!(hits > 500, "{hits} hits with {FRAMES} frames");
}

#[test]
fn lru_evicts_what_was_requested_longest_ago() {
    for seed in seeds() {
        lru_is_exact::<1>(seed);
        lru_is_exact::<2>(seed);
        lru_is_exact::<7>(seed);
        lru_is_exact::<32>(seed);
        lru_is_exact::<64>(seed);
        lru_is_exact::<128>(seed);
    }
}

/// Every policy's directory against the frames that it named.
fn finds_what_it_was_given<P: Policy + Default, const FRAMES: usize>(seed: u64) {
    let mut pages = Pages { random: fastrand::Rng::with_seed(seed), start: 3 };
    let (mut policy, mut frames) = (P::default(), [None; FRAMES]);
    for step in 0..3000u16 {
        let told = format!(
            "{} step {step}; SEED={seed} cargo test -p norn-code-pager --test suite policies::",
            std::any::type_name::<P>()
        );
        let page = pages.next(FRAMES);
        let expected = frames.iter().position(|held| *held == Some(page));
        assert_eq!(policy.holds(page), expected.is_some(), "{told}");
        let found = policy.request(page);
        assert_eq!(found.frame().map(|frame| usize::from(frame.0)), expected, "{told}");
        assert!(usize::from(found.comparisons()) <= FRAMES, "{told}");
        if expected.is_none() {
            let early = pages.random.u8(..10) == 0;
            let frame = if early { policy.admit_early(page) } else { policy.admit(page, Cost(1 + (step % 9) as u8)) };
            frames[usize::from(frame.0)] = Some(page);
        }
        if pages.random.u8(..100) == 0 {
            let at = pages.random.usize(..FRAMES);
            policy.abandon(Frame(at as u8));
            frames[at] = None;
        }
    }
}

#[test]
fn every_policy_finds_the_pages_that_it_was_given() {
    fn all<const FRAMES: usize>(seed: u64) {
        finds_what_it_was_given::<Lru<FRAMES>, FRAMES>(seed);
        finds_what_it_was_given::<Clock<FRAMES>, FRAMES>(seed);
        finds_what_it_was_given::<Sieve<FRAMES>, FRAMES>(seed);
        finds_what_it_was_given::<Greedy<FRAMES>, FRAMES>(seed);
        finds_what_it_was_given::<S3Fifo<FRAMES>, FRAMES>(seed);
    }
    for seed in seeds() {
        all::<1>(seed);
        all::<3>(seed);
        all::<32>(seed);
        all::<64>(seed);
    }
}

/// A look-up compares a sixteenth of the pages of a program that runs straight on, and of a cache that is not full
/// none.
#[test]
fn a_look_up_does_not_scan() {
    let mut lru = Lru::<64>::default();
    for page in (0..64).map(CachePage) {
        lru.request(page);
        lru.admit(page, Cost(1));
    }
    for page in (0..64).map(CachePage) {
        assert!(lru.request(page).frame().is_some());
        assert!(lru.request(page).comparisons() <= 4, "{page:?}");
        assert!(lru.request(CachePage(1000 + page.0)).comparisons() <= 4);
    }
}

fn state_bytes<P: Policy, const FRAMES: usize, C: Code>() -> usize {
    size_of::<Pager<NandSim, P, FRAMES, 64, C>>() - size_of::<NandSim>() - 64 * FRAMES
}

#[test]
fn ram_beside_the_frames_keeps_its_bound() {
    fn check<const FRAMES: usize>(lru_bytes: usize) {
        let all = [
            state_bytes::<Lru<FRAMES>, FRAMES, Uncoded>(),
            state_bytes::<Clock<FRAMES>, FRAMES, Uncoded>(),
            state_bytes::<Sieve<FRAMES>, FRAMES, Uncoded>(),
            state_bytes::<Greedy<FRAMES>, FRAMES, Uncoded>(),
            state_bytes::<S3Fifo<FRAMES>, FRAMES, Crc32c>(),
        ];
        assert!(all.iter().all(|&bytes| bytes <= 4 * FRAMES + 64), "{FRAMES} frames: {all:?}");
        assert_eq!(all[0], lru_bytes, "{FRAMES} frames");
        assert_eq!(state_bytes_max(FRAMES), 4 * FRAMES + 64);
    }
    check::<1>(64);
    check::<8>(96);
    check::<16>(128);
    check::<32>(192);
    check::<64>(320);
}
