//! A share of a run's jobs, so that several machines carry out one run.
//!
//! Jobs are dealt out in turn, the longest first, by what is to be done and not by what is on disk: shards 1/N to N/N
//! have each job once, whatever was measured before. A result is a file of its own (`archive.rs`), so that the
//! directories of all machines, copied over each other, are the results of the whole run.

use std::fmt;
use std::str::FromStr;

/// One share of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 1 on.
    number: usize,
    /// How many there are.
    count: usize,
}

impl Shard {
    /// All jobs.
    pub const WHOLE: Shard = Shard { number: 1, count: 1 };

    /// Whether it has the job that is dealt out after `place` others.
    pub fn has(self, place: usize) -> bool {
        place % self.count == self.number - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers =
            text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        match numbers {
            Some((number, count)) if (1..=count).contains(&number) => Ok(Shard { number, count }),
            _ => Err(format!("{text:?} is no share: write 1/4 to 4/4, on four machines")),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_each_job_once() {
        for count in 1..5 {
            let shards: Vec<Shard> = (1..=count).map(|number| format!("{number}/{count}").parse().unwrap()).collect();
            assert!((0..20).all(|place| shards.iter().filter(|shard| shard.has(place)).count() == 1), "{count}");
        }
        assert_eq!("1/1".parse(), Ok(Shard::WHOLE));
        for text in ["", "3", "0/4", "5/4", "1/0", "a/b", "-1/2", "1/2/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
