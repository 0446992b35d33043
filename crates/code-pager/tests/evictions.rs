//! Each policy evicts what the plain form of its algorithm evicts, over lists of pages that grow and shrink. LRU has a
//! test of its own in `policies.rs`.
//!
//! `SEED=n cargo test -p norn-code-pager --test suite evictions::` replays one seed.

use std::collections::VecDeque;

use norn_code_pager::CachePage;
use norn_code_pager::policy::{Clock, Cost, Frame, Greedy, Policy, S3Fifo, Sieve};

/// A policy over as many places as there are frames, some of them empty. What is evicted is the page that is returned.
trait Plain {
    fn with_places(places: usize) -> Self;
    fn request(&mut self, page: CachePage);
    fn admit(&mut self, page: CachePage, cost: Cost) -> Option<CachePage>;
    fn admit_early(&mut self, page: CachePage) -> Option<CachePage>;
    fn abandon(&mut self, page: CachePage);
}

/// A place of [`PlainClock`] and [`PlainSieve`].
#[derive(Clone, Default)]
struct Place {
    page: Option<CachePage>,
    requested: bool,
}

impl Place {
    fn of(page: CachePage) -> Place {
        Place { page: Some(page), requested: false }
    }

    fn find(places: &mut VecDeque<Place>, page: CachePage) -> &mut Place {
        places.iter_mut().find(|place| place.page == Some(page)).expect("the page is held")
    }
}

/// A ring whose first place is under the hand.
struct PlainClock(VecDeque<Place>);

impl PlainClock {
    fn turn_to_victim(&mut self) {
        while std::mem::take(&mut self.0[0].requested) {
            self.0.rotate_left(1);
        }
    }
}

impl Plain for PlainClock {
    fn with_places(places: usize) -> Self {
        PlainClock(vec![Place::default(); places].into())
    }

    fn request(&mut self, page: CachePage) {
        Place::find(&mut self.0, page).requested = true;
    }

    fn admit(&mut self, page: CachePage, _cost: Cost) -> Option<CachePage> {
        let evicted = self.admit_early(page);
        self.0.rotate_left(1);
        evicted
    }

    fn admit_early(&mut self, page: CachePage) -> Option<CachePage> {
        self.turn_to_victim();
        std::mem::replace(&mut self.0[0], Place::of(page)).page
    }

    fn abandon(&mut self, page: CachePage) {
        *Place::find(&mut self.0, page) = Place::default();
    }
}

/// A queue with its newest page in front, and how many pages are behind the hand's.
struct PlainSieve {
    queue: VecDeque<Place>,
    behind: usize,
}

impl PlainSieve {
    fn hand(&self) -> usize {
        self.queue.len() - 1 - self.behind
    }

    /// Towards the front, and from there to the end.
    fn advance(&mut self) {
        self.behind = (self.behind + 1) % self.queue.len();
    }

    fn move_to_victim(&mut self) {
        loop {
            let hand = self.hand();
            if !std::mem::take(&mut self.queue[hand].requested) {
                return;
            }
            self.advance();
        }
    }
}

impl Plain for PlainSieve {
    fn with_places(places: usize) -> Self {
        PlainSieve { queue: vec![Place::default(); places].into(), behind: 0 }
    }

    fn request(&mut self, page: CachePage) {
        Place::find(&mut self.queue, page).requested = true;
    }

    /// The hand goes on to the page before the victim.
    fn admit(&mut self, page: CachePage, _cost: Cost) -> Option<CachePage> {
        self.move_to_victim();
        let hand = self.hand();
        let evicted = self.queue.remove(hand).and_then(|place| place.page);
        if hand == 0 {
            self.behind = 0;
        }
        self.queue.push_front(Place::of(page));
        evicted
    }

    fn admit_early(&mut self, page: CachePage) -> Option<CachePage> {
        self.move_to_victim();
        let hand = self.hand();
        std::mem::replace(&mut self.queue[hand], Place::of(page)).page
    }

    fn abandon(&mut self, page: CachePage) {
        *Place::find(&mut self.queue, page) = Place::default();
    }
}

/// Queues of pages, each with its requests, the oldest in front, and the hashes of pages that have left the small one.
struct PlainS3Fifo {
    small: VecDeque<(Option<CachePage>, u8)>,
    main: VecDeque<(Option<CachePage>, u8)>,
    ghosts: VecDeque<u8>,
    places: usize,
}

impl PlainS3Fifo {
    fn hash(page: CachePage) -> u8 {
        (page.0.wrapping_mul(0x9E37) >> 8) as u8
    }

    fn evict(&mut self) -> Option<CachePage> {
        loop {
            let small_is_full = self.small.len() > (self.places / 10).max(1);
            if small_is_full || self.main.is_empty() {
                let (page, requests) = self.small.pop_front().expect("a queue has pages");
                if requests > 0 {
                    self.main.push_back((page, 0));
                    continue;
                }
                self.ghosts.extend(page.map(Self::hash));
                self.ghosts.drain(..self.ghosts.len().saturating_sub(self.places));
                return page;
            }
            let (page, requests) = self.main.pop_front().expect("it is not empty");
            if requests == 0 {
                return page;
            }
            self.main.push_back((page, requests - 1));
        }
    }

    fn find(&mut self, page: CachePage) -> &mut (Option<CachePage>, u8) {
        let mut all = self.small.iter_mut().chain(&mut self.main);
        all.find(|(held, _)| *held == Some(page)).expect("the page is held")
    }
}

impl Plain for PlainS3Fifo {
    fn with_places(places: usize) -> Self {
        PlainS3Fifo { small: VecDeque::new(), main: vec![(None, 0); places].into(), ghosts: VecDeque::new(), places }
    }

    fn request(&mut self, page: CachePage) {
        let (_, requests) = self.find(page);
        *requests = (*requests + 1).min(3);
    }

    fn admit(&mut self, page: CachePage, _cost: Cost) -> Option<CachePage> {
        let known = self.ghosts.contains(&Self::hash(page));
        let evicted = self.evict();
        let queue = if known { &mut self.main } else { &mut self.small };
        queue.push_back((Some(page), 0));
        evicted
    }

    fn admit_early(&mut self, page: CachePage) -> Option<CachePage> {
        let evicted = self.evict();
        self.small.push_back((Some(page), 0));
        evicted
    }

    fn abandon(&mut self, page: CachePage) {
        *self.find(page) = (None, 0);
    }
}

/// A page of [`PlainGreedy`], whose worth sinks by `sunk`, which is common to all.
#[derive(Clone, Default)]
struct Valued {
    page: Option<CachePage>,
    cost: u64,
    requests: u64,
    /// With what all have sunk since the beginning.
    worth: u64,
}

/// GreedyDual in its plain form: worths never sink, what is new starts above all that was evicted.
struct PlainGreedy {
    places: Vec<Valued>,
    sunk: u64,
    last: usize,
    row: u32,
}

impl PlainGreedy {
    fn victim(&mut self) -> usize {
        let least = (0..self.places.len()).min_by_key(|&place| self.places[place].worth).expect("there are places");
        self.sunk = self.places[least].worth;
        least
    }

    fn put(&mut self, place: usize, page: CachePage, cost: u64) -> Option<CachePage> {
        self.last = place;
        let new = Valued { page: Some(page), cost, requests: 1, worth: self.sunk + cost };
        std::mem::replace(&mut self.places[place], new).page
    }
}

impl Plain for PlainGreedy {
    fn with_places(places: usize) -> Self {
        PlainGreedy { places: vec![Valued::default(); places], sunk: 0, last: 0, row: 0 }
    }

    fn request(&mut self, page: CachePage) {
        let held = self.places.iter_mut().find(|held| held.page == Some(page)).expect("the page is held");
        held.requests = (held.requests + 1).min(8);
        held.worth = self.sunk + held.cost * held.requests;
    }

    fn admit(&mut self, page: CachePage, cost: Cost) -> Option<CachePage> {
        let follows = self.places[self.last].page.is_some_and(|last| last.0.checked_add(1) == Some(page.0));
        self.row = if follows { self.row + 1 } else { 0 };
        let place = if self.row < 5 { self.victim() } else { self.last };
        self.put(place, page, u64::from(cost.0).min(15))
    }

    fn admit_early(&mut self, page: CachePage) -> Option<CachePage> {
        self.row = 0;
        let place = self.victim();
        self.put(place, page, 1)
    }

    fn abandon(&mut self, page: CachePage) {
        let sunk = self.sunk;
        let held = self.places.iter_mut().find(|held| held.page == Some(page)).expect("the page is held");
        *held = Valued { worth: sunk, ..Valued::default() };
    }
}

fn evicts_the_same<P: Policy + Default, M: Plain, const FRAMES: usize>(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut policy, mut plain) = (P::default(), M::with_places(FRAMES));
    let mut held: [Option<CachePage>; FRAMES] = [None; FRAMES];
    let (mut start, mut hits, mut straight) = (0, 0, 0);
    let spread = 1 + 2 * FRAMES as u16;
    for step in 0..6000 {
        let told = format!(
            "{} step {step}; SEED={seed} cargo test -p norn-code-pager --test suite evictions::",
            std::any::type_name::<P>()
        );
        // Loops that move, and now and then straight pieces of code.
        if straight > 0 {
            straight -= 1;
            start += 1;
        } else if random.u8(..30) == 0 {
            start = random.u16(..50_000);
            straight = random.u16(..12) * random.u16(..2);
        }
        let offset = if straight > 0 { 0 } else { random.u16(..spread).min(random.u16(..spread)) };
        let page = CachePage(start + offset);
        let (frame, evicted) = match policy.request(page).frame() {
            Some(_) => {
                plain.request(page);
                hits += 1;
                continue;
            }
            None if random.u8(..10) == 0 => (policy.admit_early(page), plain.admit_early(page)),
            None => {
                let cost = Cost(random.u8(1..20));
                (policy.admit(page, cost), plain.admit(page, cost))
            }
        };
        assert_eq!(held[usize::from(frame.0)].replace(page), evicted, "{told}: {page:?} came into {frame:?}");
        if random.u8(..100) == 0 {
            let at = random.usize(..FRAMES);
            if let Some(page) = held[at].take() {
                policy.abandon(Frame(at as u8));
                plain.abandon(page);
            }
        }
    }
    assert!(hits > 200, "{hits} hits with {FRAMES} frames");
}

#[test]
fn each_policy_evicts_what_its_plain_form_evicts() {
    fn all<const FRAMES: usize>(seed: u64) {
        evicts_the_same::<Clock<FRAMES>, PlainClock, FRAMES>(seed);
        evicts_the_same::<Sieve<FRAMES>, PlainSieve, FRAMES>(seed);
        evicts_the_same::<S3Fifo<FRAMES>, PlainS3Fifo, FRAMES>(seed);
        evicts_the_same::<Greedy<FRAMES>, PlainGreedy, FRAMES>(seed);
    }
    let seeds = match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().expect("SEED is a number")],
        Err(_) => (0..4).collect(),
    };
    for seed in seeds {
        all::<1>(seed);
        all::<2>(seed);
        all::<9>(seed);
        all::<32>(seed);
        all::<64>(seed);
    }
}
