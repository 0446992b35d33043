//! Writes of the shape of a TPC-C block trace, made up from a seed.
//!
//! What was looked at is the trace of TPC-C that comes with MQSim: 2,618 writes on 217 GiB. Its shape, and that of
//! this one:
//!
//! | part of the space | share of the requests | what it is like |
//! |---|---|---|
//! | 0.9% | 8% | a hot table, at random |
//! | 28% | 53% | warm tables, at random |
//! | 22% | 21.5% | cool tables, at random |
//! | 9.5% | 2% | cold tables, at random |
//! | tails of the warm and cool tables | 10% | order lines, history: twelve places that move on by 1 to 63 database pages |
//! | the last 2% | 5.5% | the log: in sequence, 1 to 120 sectors |
//! | the rest | none | never written |
//!
//! A table's request has 16 sectors, one page of the database, and 32 in one of 25; in each table all requests start
//! at the same remainder modulo 16. The log's lengths have a logarithm that is uniform up to 160, cut off at 120.
//! `shape.rs` puts the statistics of both beside each other.

use std::ops::Range;

use super::trace::{BlockTrace, Request};

/// Sectors of the space that the trace was recorded on.
pub const RECORDED_SECTORS: u64 = 454_518_380;
/// Writes in it.
pub const RECORDED_REQUESTS: usize = 2618;

/// Requests in a thousand that go to the log, and to the places that move on; the others go to tables.
const LOG_PER_MILLE: u32 = 55;
const APPENDED_PER_MILLE: u32 = 100;
/// Tables: start and end in thousandths of the space, remainder modulo a database page, and requests in a thousand.
const TABLES: [(Range<u64>, u64, u32); 4] =
    [(205..214, 15, 80), (330..610, 10, 530), (615..835, 10, 215), (0..95, 0, 20)];
const TAILS: u64 = 12;
const DATABASE_PAGE: u64 = 16;
const LOG_FROM: u64 = 980;

/// An endless sequence of requests.
#[derive(Clone, Debug)]
pub struct Requests {
    random: fastrand::Rng,
    sectors: u64,
    log: u64,
    tails: Vec<u64>,
}

impl Requests {
    /// On a space of at least 4,000 sectors.
    pub fn new(seed: u64, sectors: u64) -> Requests {
        assert!(sectors >= 4000, "{sectors} sectors have no room for the tables");
        let mut random = fastrand::Rng::with_seed(seed);
        let (from, to) = (thousandths(sectors, TABLES[1].0.start), thousandths(sectors, TABLES[2].0.end));
        let each = (to - from) / TAILS;
        let tails = (0..TAILS).map(|tail| from + each * tail + random.u64(0..each)).collect();
        Requests { random, sectors, log: thousandths(sectors, LOG_FROM), tails }
    }

    fn logged(&mut self) -> Request {
        let from = thousandths(self.sectors, LOG_FROM);
        let sectors = (160_f64.powf(self.random.f64()) as u64).clamp(1, 120).min(self.sectors - from);
        if self.log + sectors > self.sectors {
            self.log = from;
        }
        let request = Request { sector: self.log, sectors: sectors as u32 };
        self.log += sectors;
        request
    }

    fn appended(&mut self) -> Request {
        let number = self.random.usize(0..self.tails.len());
        let step = self.random.u64(1..64).min(self.random.u64(1..64));
        let end = thousandths(self.sectors, TABLES[2].0.end) - DATABASE_PAGE;
        let start = thousandths(self.sectors, TABLES[1].0.start);
        let moved = self.tails[number] + step * DATABASE_PAGE;
        self.tails[number] = if moved > end { start } else { moved };
        Request { sector: self.tails[number], sectors: DATABASE_PAGE as u32 }
    }

    fn in_table(&mut self, table: usize) -> Request {
        let (range, remainder, _) = TABLES[table].clone();
        let pages = (thousandths(self.sectors, range.end) - thousandths(self.sectors, range.start)) / DATABASE_PAGE;
        // Two pages are not written beyond the table's end.
        let page = self.random.u64(0..pages.max(3) - 2);
        let first = thousandths(self.sectors, range.start) / DATABASE_PAGE * DATABASE_PAGE;
        let database_pages = if self.random.u8(0..25) == 0 { 2 } else { 1 };
        Request { sector: first + page * DATABASE_PAGE + remainder, sectors: (database_pages * DATABASE_PAGE) as u32 }
    }
}

fn thousandths(sectors: u64, part: u64) -> u64 {
    sectors * part / 1000
}

impl Iterator for Requests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let mut drawn = self.random.u32(0..1000);
        if drawn < LOG_PER_MILLE {
            return Some(self.logged());
        }
        drawn -= LOG_PER_MILLE;
        for (number, (_, _, share)) in TABLES.iter().enumerate() {
            if drawn < *share {
                return Some(self.in_table(number));
            }
            drawn -= share;
        }
        Some(self.appended())
    }
}

const _: () = {
    let tables = TABLES[0].2 + TABLES[1].2 + TABLES[2].2 + TABLES[3].2;
    assert!(LOG_PER_MILLE + APPENDED_PER_MILLE + tables == 1000);
};

/// A trace of some requests, on the space of the recorded one.
pub fn trace(seed: u64, requests: usize) -> BlockTrace {
    BlockTrace::new(Requests::new(seed, RECORDED_SECTORS).take(requests).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_stay_in_the_space_and_have_the_shares_that_are_documented() {
        for sectors in [4000, 16_384, RECORDED_SECTORS] {
            let requests: Vec<Request> = Requests::new(7, sectors).take(20_000).collect();
            assert!(requests.iter().all(|request| request.sector + u64::from(request.sectors) <= sectors), "{sectors}");
            let share = |from: u64, to: u64| {
                let inside = |request: &&Request| {
                    request.sector >= thousandths(sectors, from) && request.sector < thousandths(sectors, to)
                };
                requests.iter().filter(inside).count() as f64 / requests.len() as f64
            };
            assert!((share(LOG_FROM, 1001) - 0.055).abs() < 0.006, "the log of {sectors}");
            assert!((share(0, 96) - 0.02).abs() < 0.005, "the cold tables of {sectors}");
            assert!((share(330, 840) - 0.845).abs() < 0.02, "warm and cool tables and tails of {sectors}");
            assert_eq!(share(840, LOG_FROM), 0.0, "what is never written of {sectors}");
        }
    }

    #[test]
    fn the_log_is_a_sequence() {
        let from = thousandths(RECORDED_SECTORS, LOG_FROM);
        let log: Vec<Request> =
            Requests::new(7, RECORDED_SECTORS).take(5000).filter(|one| one.sector >= from).collect();
        assert!(log.windows(2).all(|pair| pair[1].sector == pair[0].sector + u64::from(pair[0].sectors)));
    }
}
