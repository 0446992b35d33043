//! The cost model of `docs/design/log-heap.md`: program units and erases an update in steady state, without bytes.
//!
//! `cost_model`: the document's table, as built and without each of its decisions. `cost_model search SECONDS`: tries
//! parameters at random and prints those that come closer to the bars at 1,400 and 2,800 objects.
//!
//! A sector is a place, a number of granules and a count of used places. A run ends when units were erased 200 times
//! on average and three windows agree within 2 %. `norn-lab run log-heap` measures the same rows.

use std::time::{Duration, Instant};

const FANOUT: usize = 16;
const ERASES_MIN: u64 = 200;

/// A part: granules of some bytes.
#[derive(Clone, Copy)]
struct Part {
    name: &'static str,
    units: usize,
    unit_bytes: u64,
    granule: u64,
}

const PAPER: Part = Part { name: "tinystore", units: 56, unit_bytes: 8192, granule: 4 };
const L4: Part = Part { name: "stm32l4", units: 256, unit_bytes: 2048, granule: 8 };
const U5: Part = Part { name: "stm32u5", units: 128, unit_bytes: 8192, granule: 16 };
const NRF: Part = Part { name: "nrf52840", units: 256, unit_bytes: 4096, granule: 4 };
const H7B: Part = Part { name: "stm32h7b", units: 256, unit_bytes: 8192, granule: 32 };

/// What is to be decided.
#[derive(Clone, Copy, Debug)]
struct Design {
    /// Most places of a tail; those of one that was full; those of one that was not used.
    tail_max: u64,
    tail_full: u64,
    tail_idle: u64,
    /// The least of an object that is replaced as a whole.
    tail_replaced: u64,
    /// Most places of a tail that reclamation moves.
    tail_moved: u64,
    /// Spare places of a map node.
    spares: u64,
    /// Shares of the capacity between which tails get shorter.
    fill_low: f64,
    fill_high: f64,
    /// Free units that reclamation keeps, and units more that hold nothing on a full part.
    reserve: usize,
    /// Whether what reclamation moves has a unit of its own.
    moved_apart: bool,
    /// Whether a victim's age counts.
    cost_benefit: bool,
    /// Whether the log names each object whose tail is written, unless it named it last, or only where the tail has
    /// no room for a seal after that.
    append_records: bool,
    /// Whether the log names each sector that reclamation moves.
    move_records: bool,
}

const BUILT: Design = Design {
    tail_max: 26,
    tail_full: 16,
    tail_idle: 2,
    tail_replaced: 0,
    tail_moved: 5,
    spares: 8,
    fill_low: 0.8,
    fill_high: 0.95,
    reserve: 2,
    moved_apart: true,
    cost_benefit: true,
    append_records: false,
    move_records: true,
};

impl Design {
    /// What the engine does otherwise on small units and with large granules.
    fn on(self, part: Part) -> Design {
        let reserve = if part.unit_bytes / part.granule < 512 { self.reserve + 2 } else { self.reserve };
        let spares = if part.granule < 32 { self.spares } else { self.spares / 2 };
        Design { reserve, spares, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Row {
    OneField,
    AllFields,
    Whole,
    /// One field in each of ten objects, in a transaction: a record of the log for each, and one for the commit.
    Ten,
}

const ROWS: [Row; 4] = [Row::OneField, Row::AllFields, Row::Whole, Row::Ten];

#[derive(Clone, Copy, Default)]
struct Sector {
    unit: usize,
    granules: u64,
    places: u64,
    used: u64,
}

#[derive(Clone, Default)]
struct Unit {
    /// Owners of the sectors that were written here, also of those that are elsewhere now.
    written: Vec<usize>,
    live: u64,
    filled: u64,
    opened: u64,
    is_open: bool,
    is_log: bool,
}

const UPDATED: usize = 0;
const MOVED: usize = 1;
const MAP: usize = 2;

struct Model {
    part: Part,
    design: Design,
    units: Vec<Unit>,
    open: [Option<usize>; 3],
    /// Objects, then leaves, then inner nodes.
    sectors: Vec<Sector>,
    parents: Vec<Option<usize>>,
    objects: usize,
    base: u64,
    node: u64,
    head: u64,
    room: u64,
    log_left: u64,
    last_append: Option<usize>,
    sequence: u64,
    programs: u64,
    erases: u64,
    is_full: bool,
    live: u64,
}

impl Model {
    fn new(part: Part, design: Design, objects: usize) -> Model {
        let granules = |bytes: u64| bytes.div_ceil(part.granule);
        let (mut parents, mut first, mut count) = (vec![None; objects], 0, objects);
        // The nodes of each level follow those of the level below.
        while count > 1 {
            let next = parents.len();
            (0..count).for_each(|index| parents[first + index] = Some(next + index / FANOUT));
            (first, count) = (next, count.div_ceil(FANOUT));
            parents.extend(vec![None; count]);
        }
        let mut model = Model {
            part,
            design,
            units: vec![Unit::default(); part.units],
            open: [None; 3],
            sectors: vec![Sector::default(); parents.len()],
            objects,
            base: granules(8 + 100),
            node: granules(8 + 3 * FANOUT as u64),
            head: granules(24),
            room: part.unit_bytes / part.granule - granules(24),
            parents,
            log_left: 0,
            last_append: None,
            sequence: 0,
            programs: 0,
            erases: 0,
            is_full: false,
            live: 0,
        };
        model.units[..3].iter_mut().for_each(|unit| unit.is_log = true);
        for owner in (objects..model.sectors.len()).rev().chain(0..objects) {
            model.make_room();
            let tail = model.granted(design.tail_idle);
            model.write(owner, tail, UPDATED);
        }
        model
    }

    fn capacity(&self) -> u64 {
        self.room * (self.part.units - self.design.reserve - 4) as u64
    }

    /// The tail that a new sector gets which is to have `wanted` places: fewer on a part that fills up.
    fn granted(&self, wanted: u64) -> u64 {
        let capacity = self.capacity() as f64;
        let (low, high) = (capacity * self.design.fill_low, capacity * self.design.fill_high);
        let share = (high - self.live as f64) / (high - low);
        (wanted.min(self.design.tail_max) as f64 * share.clamp(0.0, 1.0)) as u64
    }

    /// Appends to the log; a full log unit is followed by another of its three.
    fn log(&mut self, granules: u64) {
        if self.log_left < granules {
            self.programs += self.head + 5;
            self.erases += 1;
            self.sequence += 1;
            self.log_left = self.room - 5;
        }
        self.programs += granules;
        self.log_left -= granules;
    }

    fn is_free(&self, unit: usize) -> bool {
        let unit = &self.units[unit];
        unit.live == 0 && !unit.is_open && !unit.is_log
    }

    fn open(&mut self, stream: usize) -> usize {
        let unit = (0..self.units.len()).find(|&unit| self.is_free(unit)).expect("the reserve holds");
        if let Some(old) = self.open[stream].replace(unit) {
            self.units[old].is_open = false;
        }
        self.erases += 1;
        self.sequence += 1;
        self.programs += self.head;
        self.units[unit] = Unit { is_open: true, opened: self.sequence, ..Unit::default() };
        unit
    }

    /// Writes a sector anew, without the change above it.
    fn write(&mut self, owner: usize, tail: u64, stream: usize) {
        let (granules, places, stream) = match owner < self.objects {
            true if stream == MOVED && !self.design.moved_apart => (self.base, tail, UPDATED),
            true => (self.base, tail, stream),
            false => (self.node, self.design.spares, MAP),
        };
        let whole = granules + places;
        let fits = |unit: &usize| self.units[*unit].filled + whole <= self.room;
        let unit = match self.open[stream].filter(fits) {
            Some(unit) => unit,
            None => self.open(stream),
        };
        let old = std::mem::replace(&mut self.sectors[owner], Sector { unit, granules, places, used: 0 });
        self.units[old.unit].live -= old.granules + old.places;
        self.units[unit].live += whole;
        self.units[unit].filled += whole;
        self.units[unit].written.push(owner);
        self.live += whole;
        self.live -= old.granules + old.places;
        self.programs += granules;
    }

    /// Notes in the map that `owner` has moved.
    fn change_map(&mut self, owner: usize) {
        match self.parents[owner] {
            None => self.log(1),
            Some(node) if self.sectors[node].used < self.design.spares => {
                self.sectors[node].used += 1;
                self.programs += 1;
            }
            Some(node) => {
                self.write(node, 0, MAP);
                self.change_map(node);
            }
        }
    }

    fn rewrite(&mut self, owner: usize, wanted: u64) {
        self.log(1);
        self.last_append = None;
        self.write(owner, self.granted(wanted), UPDATED);
        self.change_map(owner);
    }

    fn put(&mut self, owner: usize) {
        self.make_room();
        if self.sectors[owner].used == self.sectors[owner].places {
            return self.rewrite(owner, self.design.tail_full.max(2 * self.sectors[owner].places));
        }
        let Sector { places, used, .. } = self.sectors[owner];
        if (self.design.append_records || used + 3 > places) && self.last_append != Some(owner) {
            self.log(1);
            self.last_append = Some(owner);
        }
        self.sectors[owner].used += 1;
        self.programs += 1;
    }

    fn victim(&self) -> Option<usize> {
        let worth = |unit: &Unit| {
            let age = if self.design.cost_benefit { self.sequence - unit.opened + 1 } else { 1 };
            (self.room - unit.live) as f64 * age as f64 / (unit.live + self.room / 64) as f64
        };
        let closed = |unit: &usize| self.units[*unit].live > 0 && !self.units[*unit].is_open;
        (0..self.units.len()).filter(closed).max_by(|&a, &b| worth(&self.units[a]).total_cmp(&worth(&self.units[b])))
    }

    fn make_room(&mut self) {
        let mut reclaimed = 0;
        while (0..self.units.len()).filter(|&unit| self.is_free(unit)).count() <= self.design.reserve {
            let (Some(victim), true) = (self.victim(), reclaimed < 2 * self.part.units) else {
                self.is_full = true;
                return;
            };
            reclaimed += 1;
            for owner in std::mem::take(&mut self.units[victim].written) {
                let Sector { unit, places, used, .. } = self.sectors[owner];
                if unit == victim {
                    self.log(u64::from(self.design.move_records));
                    self.last_append = None;
                    let tail =
                        self.granted(self.design.tail_idle.max(2 * used)).min(places).min(self.design.tail_moved);
                    self.write(owner, tail, MOVED);
                    self.change_map(owner);
                }
            }
        }
    }

    /// Makes a call; returns the number of fields that it updates.
    fn call(&mut self, row: Row, random: &mut fastrand::Rng) -> u64 {
        let (hot, objects) = (self.objects / 5, self.objects);
        let mut draw = || match random.f64() < 0.9 {
            true => random.usize(..hot),
            false => random.usize(hot..objects),
        };
        match row {
            Row::OneField => {
                self.put(draw());
                1
            }
            Row::AllFields => {
                let object = draw();
                (0..50).for_each(|_| self.put(object));
                50
            }
            Row::Whole => {
                self.make_room();
                let object = draw();
                self.rewrite(object, self.design.tail_replaced.max(2 * self.sectors[object].used));
                50
            }
            Row::Ten => {
                (0..10).for_each(|_| self.put(draw()));
                self.log(1 + 10 * u64::from(!self.design.append_records));
                10
            }
        }
    }
}

/// Programs and erases an update in steady state; `None` where the part is full.
fn measure(part: Part, design: Design, objects: usize, row: Row) -> Option<(f64, f64)> {
    let mut random = fastrand::Rng::with_seed(22);
    let mut model = Model::new(part, design, objects);
    let mut windows: Vec<(f64, f64)> = Vec::new();
    loop {
        let (programs, erases, mut updates) = (model.programs, model.erases, 0);
        while model.erases < erases + 12 * part.units as u64 {
            updates += model.call(row, &mut random);
            if model.is_full {
                return None;
            }
        }
        let each = |count: u64| count as f64 / updates as f64;
        windows.push((each(model.programs - programs), each(model.erases - erases)));
        let last = &windows[windows.len().saturating_sub(3)..];
        let (least, most) = last.iter().fold((f64::MAX, 0.0f64), |(a, b), w| (a.min(w.0), b.max(w.0)));
        let is_long = model.erases > ERASES_MIN * part.units as u64;
        if last.len() == 3 && is_long && (most - least < 0.02 * most || windows.len() > 60) {
            let mean = |of: fn(&(f64, f64)) -> f64| last.iter().map(of).sum::<f64>() / 3.0;
            return Some((mean(|w| w.0), mean(|w| w.1)));
        }
    }
}

fn show(result: Option<(f64, f64)>) -> String {
    result.map_or("full".to_owned(), |(programs, erases)| format!("{programs:.2}/{erases:.5}"))
}

fn table(title: &str, design: Design, populations: &[(Part, usize)]) {
    println!("{title}");
    for &(part, objects) in populations {
        let design = design.on(part);
        let cells: Vec<String> = ROWS.iter().map(|&row| show(measure(part, design, objects, row))).collect();
        println!("  {:9} {objects:5}  {}", part.name, cells.join("  "));
    }
}

/// The worst of each row's figure by its bar at 1,400 and at 2,800 objects.
fn distance(design: Design) -> Option<(f64, String)> {
    let bars = [
        (1400, [(3.5, 0.0018), (3.6, 0.0017), (0.85, 0.00045), (5.0, 0.0025)]),
        (2800, [(11.0, 0.0055), (6.0, 0.003), (1.5, 0.00075), (12.0, 0.006)]),
    ];
    let (mut worst, mut text): (f64, String) = (0.0, String::new());
    for (objects, bars) in bars {
        for (&row, bar) in ROWS.iter().zip(bars) {
            let (programs, erases) = measure(PAPER, design, objects, row)?;
            worst = worst.max(programs / bar.0).max(erases / bar.1);
            text += &format!("{programs:.2}/{erases:.5} ");
        }
    }
    Some((worst, text))
}

fn search(seconds: u64) {
    let (mut random, start) = (fastrand::Rng::new(), Instant::now());
    let mut best = (f64::MAX, BUILT);
    while start.elapsed() < Duration::from_secs(seconds) {
        let mut design = if random.u8(..4) > 0 { best.1 } else { BUILT };
        for _ in 0..random.usize(1..4) {
            match random.u8(..6) {
                0 => design.tail_max = random.u64(16..32),
                1 => design.tail_full = random.u64(1..28),
                2 => design.tail_idle = random.u64(0..12),
                3 => design.spares = random.u64(4..10),
                4 => design.fill_low = 0.6 + 0.3 * random.f64(),
                _ => design.fill_high = 0.8 + 0.2 * random.f64(),
            }
        }
        design.fill_low = design.fill_low.min(design.fill_high - 0.02);
        if let Some((worst, text)) = distance(design)
            && worst < best.0
        {
            best = (worst, design);
            println!("{worst:.3}  {text} {design:?}");
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == "search") {
        return search(arguments.get(1).map_or(60, |text| text.parse().expect("a number of seconds")));
    }
    let populations = [(PAPER, 1400), (PAPER, 2800), (PAPER, 3300), (L4, 1600), (U5, 3150), (NRF, 3400), (H7B, 5500)];
    table("as built", BUILT, &populations);
    table("a record of each append, and no sweep at the mount", Design { append_records: true, ..BUILT }, &populations);
    let first = &populations[..2];
    table("no record of moves", Design { move_records: false, ..BUILT }, first);
    table("one stream of objects", Design { moved_apart: false, ..BUILT }, first);
    table("victims by their live granules alone", Design { cost_benefit: false, ..BUILT }, first);
    table(
        "tails of 12 places whatever was used",
        Design { tail_idle: 12, tail_full: 12, tail_max: 12, ..BUILT },
        first,
    );
    table("4 spares in a node", Design { spares: 4, ..BUILT }, first);
}
