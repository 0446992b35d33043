//! What is to be met: a bar, then a goal, for rows of updates, and for what is counted beside them.

use std::fmt;

use super::population::Update;

/// Program units, and erases if they are asked for, for each field updated, at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Program units.
    pub programs: f64,
    /// Units erased.
    pub erases: Option<f64>,
}

/// A row of updates and what it may cost.
#[derive(Clone, Copy, Debug)]
pub struct UpdateBar {
    /// A name of the catalogue.
    pub part: &'static str,
    /// Objects of 100 bytes.
    pub objects: usize,
    /// What is updated.
    pub update: Update,
    /// To be met.
    pub bar: Option<Cost>,
    /// To be wished for.
    pub goal: Option<Cost>,
}

const fn both(programs: f64, erases: f64) -> Option<Cost> {
    Some(Cost { programs, erases: Some(erases) })
}

const fn words(programs: f64) -> Option<Cost> {
    Some(Cost { programs, erases: None })
}

const fn on_paper(objects: usize, update: Update, bar: Option<Cost>, goal: Option<Cost>) -> UpdateBar {
    UpdateBar { part: "tinystore", objects, update, bar, goal }
}

const fn on_part(part: &'static str, objects: usize, bar: Option<Cost>) -> UpdateBar {
    UpdateBar { part, objects, update: Update::OneField, bar, goal: None }
}

/// Updates of fifty fields of two bytes.
pub const UPDATES: [UpdateBar; 12] = [
    on_paper(1400, Update::OneField, both(3.5, 0.0018), both(2.5, 0.0013)),
    on_paper(1400, Update::AllFields, both(3.6, 0.0017), both(2.6, 0.0013)),
    on_paper(1400, Update::WholeObject, both(0.85, 0.00045), both(0.72, 0.00036)),
    on_paper(1400, Update::TenObjects, both(5.0, 0.0025), both(3.8, 0.0019)),
    on_paper(2800, Update::OneField, words(11.0), words(8.0)),
    on_paper(2800, Update::AllFields, words(6.0), words(5.0)),
    on_paper(2800, Update::WholeObject, words(1.5), words(1.3)),
    on_paper(2800, Update::TenObjects, words(12.0), words(9.5)),
    on_part("stm32l4", 1600, both(3.0, 0.012)),
    on_part("stm32u5", 3150, both(2.7, 0.0055)),
    on_part("nrf52840", 3400, both(3.5, 0.0036)),
    on_part("stm32h7b", 5500, None),
];

/// Words that reading a field reads at 1,400 objects, whatever is updated: at most.
pub const WORST_READ: [f64; 2] = [60.0, 55.0];
/// Erases of the most worn unit by the mean: at most, after so many erases a unit.
pub const WEAR: f64 = 1.05;
pub const WEAR_ERASES: u64 = 500;
/// Bytes of RAM beside the device for 64 units: at most.
pub const RAM_BYTES: f64 = 512.0;

/// A population and how many of it have to fit.
#[derive(Clone, Copy, Debug)]
pub struct CapacityBar {
    /// A name of the catalogue.
    pub part: &'static str,
    /// Bytes of an object.
    pub object_bytes: u32,
    /// Objects, or hundredths of the part.
    pub bar: Room,
    /// To be wished for.
    pub goal: Room,
}

/// How much fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Room {
    /// Objects.
    Objects(usize),
    /// Hundredths of the part's bytes.
    Percent(f64),
}

/// What has to fit, at least.
pub const CAPACITIES: [CapacityBar; 6] = [
    fits("tinystore", 100, Room::Objects(3450), Room::Objects(3600)),
    fits("tinystore", 8, Room::Objects(14_000), Room::Objects(16_000)),
    fits("stm32l4", 100, Room::Percent(75.0), Room::Percent(78.0)),
    fits("stm32u5", 100, Room::Percent(70.0), Room::Percent(74.0)),
    fits("nrf52840", 100, Room::Percent(78.0), Room::Percent(82.0)),
    fits("stm32h7b", 100, Room::Percent(62.0), Room::Percent(66.0)),
];

const fn fits(part: &'static str, object_bytes: u32, bar: Room, goal: Room) -> CapacityBar {
    CapacityBar { part, object_bytes, bar, goal }
}

/// Whether something is met, in words.
pub struct Met(pub bool);

impl fmt::Display for Met {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 { "met" } else { "missed" })
    }
}

impl Cost {
    /// Whether a cost is within it.
    pub fn is_met(&self, programs: f64, erases: f64) -> bool {
        programs <= self.programs && self.erases.is_none_or(|most| erases <= most)
    }
}

impl Room {
    /// Whether so many objects, or so much of the part, are enough.
    pub fn is_met(&self, objects: usize, percent: f64) -> bool {
        match *self {
            Room::Objects(least) => objects >= least,
            Room::Percent(least) => percent >= least,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_met_by_words_and_erases_together() {
        let bar = both(3.5, 0.0018).unwrap();
        assert!(bar.is_met(3.5, 0.0018) && !bar.is_met(3.51, 0.0018) && !bar.is_met(3.5, 0.0019));
        assert!(words(11.0).unwrap().is_met(11.0, 1.0) && !words(11.0).unwrap().is_met(11.1, 0.0));
        assert!(Room::Objects(10).is_met(10, 0.0) && !Room::Objects(10).is_met(9, 99.0));
        assert!(Room::Percent(75.0).is_met(0, 75.0) && !Room::Percent(75.0).is_met(9999, 74.9));
    }
}
