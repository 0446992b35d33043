//! How many objects a store holds: how many can be created, and with how many updates go on.
//!
//! The latter is found by halving between what was refused and what was not, to one object in [`RESOLUTION`], with
//! runs of a tenth of the erases; what is found is run in full, and if that is refused, fewer are. There are as many
//! updates as objects, too, or a tenth: a store that erases fifty units a call would pass with few. It assumes that
//! what goes on with some objects goes on with fewer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::measure::{self, Population, Row, Stopped, part};
use crate::steady::{Figures, Length};
use crate::store::{Peer, Shape};

/// The search ends when what is refused is this part of all above what is not.
const RESOLUTION: usize = 400;

/// How many objects a store holds.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// Created with values before the first refusal.
    pub created: usize,
    /// The most with which updates of single fields go on until units were erased as often as for figures.
    pub in_use: usize,
    /// What those updates did.
    pub figures: Option<Figures>,
    /// What the least number that was refused came to.
    pub refusal: Option<Stopped>,
}

/// Numbers of objects that have been tried.
struct Search<'a> {
    peer: &'a Peer,
    shape: Shape,
    seed: u64,
    /// Erases a unit of a run in full.
    erases_min: u64,
    least_refused: usize,
    refusal: Option<Stopped>,
}

impl Search<'_> {
    fn population(&self, objects: usize) -> Population {
        Population { objects, shape: self.shape, seed: self.seed }
    }

    /// Objects that can be created.
    fn created(&self) -> usize {
        let most = part().part.size_bytes() as usize / self.shape.bytes();
        let fill = || measure::fill(self.peer, &self.population(most)).map_or_else(|(created, _)| created, |_| most);
        catch_unwind(AssertUnwindSafe(fill)).unwrap_or(0)
    }

    /// Whether updates go on with so many objects; notes that they do not.
    fn goes_on(&mut self, objects: usize, length: &Length) -> Option<Figures> {
        let calls_min = objects as u64 * length.erases_min / self.erases_min;
        let length = Length { calls_min, ..*length };
        let run = || {
            let running = measure::fill(self.peer, &self.population(objects));
            running.map_err(|(created, _)| Stopped::Filling(created))?.run(Row::OneField, &length)
        };
        match catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(Stopped::Panicked)) {
            Ok(figures) => Some(figures),
            Err(stopped) => {
                (self.least_refused, self.refusal) = (objects, Some(stopped));
                None
            }
        }
    }

    /// The most with which updates go on, below what is known to be refused: downwards in steps that double, then by
    /// halving until no more than `step` is left.
    fn most(&mut self, step: usize, length: &Length) -> (usize, Option<Figures>) {
        let mut below = 1;
        let mut found = loop {
            let objects = self.least_refused.saturating_sub(below);
            if objects == 0 {
                return (0, None);
            }
            if let Some(figures) = self.goes_on(objects, length) {
                break (objects, Some(figures));
            }
            below *= 2;
        };
        while self.least_refused - found.0 > step {
            let objects = (self.least_refused + found.0) / 2;
            if let Some(figures) = self.goes_on(objects, length) {
                found = (objects, Some(figures));
            }
        }
        found
    }
}

/// Finds how many objects a store holds.
pub fn capacity(peer: &Peer, shape: Shape, seed: u64, length: &Length) -> Capacity {
    let (least_refused, erases_min) = (0, length.erases_min);
    let mut search = Search { peer, shape, seed, erases_min, least_refused, refusal: None };
    let created = search.created();
    search.least_refused = created + 1;
    let step = (created / RESOLUTION).max(1);
    let (likely, _) = search.most(step, &short(length));
    search.least_refused = likely + 1;
    let (in_use, figures) = search.most(step, &to_the_end(length));
    Capacity { created, in_use, figures, refusal: search.refusal }
}

/// A tenth of the erases, and of the words read.
fn short(length: &Length) -> Length {
    let erases = (length.erases_min / 10).max(1);
    Length { erases_max: erases, erases_min: erases, words_read: length.words_read / 10, windows_max: 0, ..*length }
}

/// All of the erases, whether windows agree or not.
fn to_the_end(length: &Length) -> Length {
    Length { erases_max: length.erases_min, windows_max: 0, ..*length }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::store::{Failure, Kind, Opening, Record, Store, Update, Value};

    /// Takes 1,000 objects, and gets full by updates the sooner the more than 400 there are.
    struct Filling {
        device: Device,
        objects: usize,
        updates: u32,
    }

    impl Store for Filling {
        fn create(&mut self, object: usize, _: &[u8]) -> Result<(), Failure> {
            self.objects = object + 1;
            if object < 1_000 { Ok(()) } else { Err(Failure::Full) }
        }
        fn put_field(&mut self, _: Update) -> Result<(), Failure> {
            let erases_a_unit = self.updates / 56;
            if self.objects > 400 && erases_a_unit as usize >= 20_000 / (self.objects - 400) {
                return Err(Failure::Full);
            }
            self.updates += 1;
            self.device.erase_unit((self.updates % 56) as u16).map_err(Failure::of)
        }
        fn put_object(&mut self, _: usize, _: &[u8]) -> Result<(), Failure> {
            Ok(())
        }
        fn put_group(&mut self, _: &[Update]) -> Result<(), Failure> {
            Ok(())
        }
        fn get_field(&mut self, _: usize, _: usize) -> Result<Value, Failure> {
            Ok(Value::new(&[0, 0]))
        }
        fn get_object(&mut self, _: usize) -> Result<Record, Failure> {
            Ok(Record::new())
        }
        fn ram_bytes(&self) -> usize {
            0
        }
    }

    #[test]
    fn a_store_that_fills_up_late_is_not_said_to_hold_what_it_held_for_a_while() {
        let open = |device, _: Opening| -> Result<Box<dyn Store>, Failure> {
            Ok(Box::new(Filling { device, objects: 0, updates: 0 }))
        };
        let peer = Peer { kind: Kind::Peer, name: "filling", version: "", notes: "", open: Box::new(open), fill: None };
        let capacity = capacity(&peer, Shape::STANDARD, 7, &Length { window_calls: 1, ..Length::full(200) });
        // With 500 objects it is full after 200 erases a unit.
        assert_eq!(capacity.created, 1_000);
        assert!((498..=500).contains(&capacity.in_use), "{capacity:?}");
        assert!(capacity.figures.is_some_and(|figures| figures.erases_a_unit >= 200.0));
        assert!(matches!(capacity.refusal, Some(Stopped::Failed { failure: Failure::Full, .. })));
    }
}
