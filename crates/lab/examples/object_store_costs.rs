//! The cost model of `docs/design/object-store.md`: program units and erases an update in steady state, without bytes.
//!
//! `object_store_costs [table|search|fills]`: the rows of the document's table; a search over the parameters; one field
//! at several fills. Each run updates a simulated part in which a sector is a number of granules, a place and a count
//! of used places, until three windows agree within 2 % after 200 erases a unit. `docs/design/object-store.md` says
//! what each step costs; the engine is measured against these figures.

use std::collections::VecDeque;

const FANOUT: usize = 16;
const ERASES_MIN: u64 = 200;
const LOG_HEAD: u64 = 12;

/// A part: granules of some bytes.
#[derive(Clone, Copy)]
struct Part {
    name: &'static str,
    units: usize,
    unit_bytes: u64,
    granule: u64,
}

const PAPER: Part = Part { name: "448 KB", units: 56, unit_bytes: 8192, granule: 4 };
const L4: Part = Part { name: "STM32L4", units: 256, unit_bytes: 2048, granule: 8 };
const U5: Part = Part { name: "STM32U5", units: 128, unit_bytes: 8192, granule: 16 };
const NRF: Part = Part { name: "nRF52840", units: 256, unit_bytes: 4096, granule: 4 };
const H7B: Part = Part { name: "STM32H7B", units: 256, unit_bytes: 8192, granule: 32 };

/// What is to be decided.
#[derive(Clone, Copy, Debug)]
struct Design {
    /// Longest tail of an object that is rewritten because its tail is full.
    tail_hot: u64,
    /// Longest tail of an object that reclamation moves.
    tail_moved: u64,
    /// Spare places of a map node.
    spares: u64,
    /// Share of the room that live sectors with their tails may take before tails get shorter.
    fill: f64,
    /// Whether survivors have a unit of their own.
    survivors_apart: bool,
    cost_benefit: bool,
    /// Whether the log names each object whose tail is written, unless it named it last.
    intents: bool,
    reserve: usize,
}

const CHOSEN: Design = Design {
    tail_hot: 24,
    tail_moved: 24,
    spares: 8,
    fill: 0.74,
    survivors_apart: true,
    cost_benefit: true,
    intents: true,
    reserve: 3,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Row {
    OneField,
    AllFields,
    Whole,
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
    /// Sectors that were written here, dead ones included: `owner` and a serial that tells whether it is still this.
    written: Vec<usize>,
    live: u64,
    filled: u64,
    closed_at: u64,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum State {
    #[default]
    Free,
    Open,
    Closed,
    Log,
}

struct Model {
    part: Part,
    design: Design,
    units: Vec<Unit>,
    free: VecDeque<usize>,
    open: [Option<usize>; 3],
    /// Objects, then leaves, then inner nodes.
    sectors: Vec<Sector>,
    objects: usize,
    base: u64,
    node: u64,
    parents: Vec<Option<usize>>,
    log_left: u64,
    log_unit: usize,
    last_intent: usize,
    clock: u64,
    programs: u64,
    erases: u64,
    is_full: bool,
    live: u64,
}

const HOT: usize = 0;
const MOVED: usize = 1;
const MAP: usize = 2;

impl Model {
    fn new(part: Part, design: Design, objects: usize) -> Model {
        let base = (8 + 100u64).div_ceil(part.granule);
        let node = (8 + 3 * FANOUT as u64).div_ceil(part.granule);
        let (mut parents, mut first, mut count) = (vec![None; objects], 0, objects);
        // Each level's nodes follow the level below.
        while count > 1 {
            let next = parents.len();
            for index in 0..count {
                parents[first + index] = Some(next + index / FANOUT);
            }
            (first, count) = (next, count.div_ceil(FANOUT));
            parents.extend(vec![None; count]);
        }
        let mut model = Model {
            part,
            design,
            units: vec![Unit::default(); part.units],
            free: (0..part.units).collect(),
            open: [None; 3],
            sectors: vec![Sector::default(); parents.len()],
            objects,
            base,
            node,
            parents,
            log_left: 0,
            log_unit: usize::MAX,
            last_intent: usize::MAX,
            clock: 0,
            programs: 0,
            erases: 0,
            is_full: false,
            live: 0,
        };
        model.log(1);
        let top = model.sectors.len();
        for owner in (objects..top).rev().chain(0..objects) {
            let tail = if owner < objects { model.tail(design.tail_moved) } else { 0 };
            model.write(owner, tail, if owner < objects { HOT } else { MAP });
        }
        model
    }

    fn head(&self) -> u64 {
        24u64.div_ceil(self.part.granule).max(2)
    }

    fn room(&self) -> u64 {
        self.part.unit_bytes / self.part.granule - self.head()
    }

    /// The longest tail that the fill allows, up to `most`.
    fn tail(&self, most: u64) -> u64 {
        let nodes = (self.sectors.len() - self.objects) as u64 * (self.node + self.design.spares);
        let all = self.room() * (self.part.units - self.design.reserve - 2) as u64;
        let wanted = (all as f64 * self.design.fill) as u64;
        let bare = self.objects as u64 * self.base + nodes;
        most.min(wanted.saturating_sub(bare) / self.objects as u64)
    }

    /// Appends to the log; a full log unit is followed by another.
    fn log(&mut self, granules: u64) {
        self.programs += granules;
        if self.log_left < granules {
            self.programs += LOG_HEAD + self.head();
            if self.log_unit != usize::MAX {
                self.release(self.log_unit);
            }
            self.log_unit = self.take(State::Log);
            self.log_left = self.room() - LOG_HEAD;
        }
        self.log_left -= granules;
    }

    fn take(&mut self, state: State) -> usize {
        let unit = self.free.pop_front().expect("the reserve holds");
        self.units[unit] = Unit { state, ..Unit::default() };
        self.programs += self.head();
        unit
    }

    fn release(&mut self, unit: usize) {
        self.units[unit].state = State::Free;
        self.erases += 1;
        self.free.push_back(unit);
    }

    /// Writes a new sector for `owner`, without the change above it.
    fn write(&mut self, owner: usize, places: u64, stream: usize) {
        let stream = if stream == MOVED && !self.design.survivors_apart { HOT } else { stream };
        let (granules, places) = if owner < self.objects { (self.base, places) } else { (self.node, self.design.spares) };
        let whole = granules + places;
        if self.open[stream].is_none_or(|unit| self.units[unit].filled + whole > self.room()) {
            if let Some(unit) = self.open[stream] {
                self.units[unit].state = State::Closed;
                self.units[unit].closed_at = self.clock;
            }
            self.log(1);
            let unit = self.take(State::Open);
            self.open[stream] = Some(unit);
        }
        let unit = self.open[stream].expect("opened above");
        let old = self.sectors[owner];
        if old.granules > 0 {
            self.units[old.unit].live -= old.granules + old.places;
            self.live -= old.granules + old.places;
        }
        self.sectors[owner] = Sector { unit, granules, places, used: 0 };
        self.units[unit].live += whole;
        self.units[unit].filled += whole;
        self.units[unit].written.push(owner);
        self.live += whole;
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

    fn intend(&mut self, owner: usize) {
        if self.design.intents && self.last_intent != owner {
            self.log(1);
            self.last_intent = owner;
        }
    }

    fn rewrite(&mut self, owner: usize) {
        self.log(1);
        self.last_intent = usize::MAX;
        let tail = self.tail(self.design.tail_hot);
        self.write(owner, tail, HOT);
        self.change_map(owner);
    }

    fn put(&mut self, owner: usize) {
        if self.sectors[owner].used < self.sectors[owner].places {
            self.intend(owner);
            self.sectors[owner].used += 1;
            self.programs += 1;
        } else {
            self.rewrite(owner);
        }
    }

    fn victim(&self) -> Option<usize> {
        let room = self.room();
        let score = |unit: &Unit| {
            let used = unit.live as f64 / room as f64;
            let age = if self.design.cost_benefit { (self.clock - unit.closed_at) as f64 } else { 1.0 };
            (1.0 - used) * age / (used + 0.01)
        };
        let closed = (0..self.units.len()).filter(|&unit| self.units[unit].state == State::Closed);
        let useful = closed.filter(|&unit| self.units[unit].live + self.node + self.design.spares < room);
        useful.max_by(|&a, &b| score(&self.units[a]).total_cmp(&score(&self.units[b])))
    }

    fn reclaim(&mut self) {
        let mut tries = 0;
        while self.free.len() <= self.design.reserve {
            tries += 1;
            let (Some(victim), true) = (self.victim(), tries < 4 * self.part.units) else {
                self.is_full = true;
                return;
            };
            self.log(1);
            self.last_intent = usize::MAX;
            for owner in std::mem::take(&mut self.units[victim].written) {
                if self.sectors[owner].unit == victim {
                    let stream = if owner < self.objects { MOVED } else { MAP };
                    let tail = self.tail(self.design.tail_moved);
                    self.write(owner, tail, stream);
                    self.change_map(owner);
                }
            }
            assert_eq!(self.units[victim].live, 0);
            self.log(1);
            self.release(victim);
        }
    }

    fn call(&mut self, row: Row, random: &mut fastrand::Rng) -> u64 {
        let hot = self.objects / 5;
        let draw = |random: &mut fastrand::Rng| match random.f64() < 0.9 {
            true => random.usize(..hot),
            false => random.usize(hot..self.objects),
        };
        let object = draw(random);
        let others: Vec<usize> = (0..9).map(|_| draw(random)).collect();
        self.clock += 1;
        match row {
            Row::OneField => self.step(object),
            Row::AllFields => (0..50).for_each(|_| self.step(object)),
            Row::Whole => {
                self.reclaim();
                self.rewrite(object);
            }
            Row::Ten => {
                for object in others.into_iter().chain([object]) {
                    self.last_intent = usize::MAX; // A note, which an intent is not.
                    self.log(u64::from(!self.design.intents));
                    self.step(object);
                }
                self.log(8u64.div_ceil(self.part.granule));
            }
        }
        match row {
            Row::OneField => 1,
            Row::Ten => 10,
            _ => 50,
        }
    }

    fn step(&mut self, object: usize) {
        self.reclaim();
        self.put(object);
    }
}

/// Programs and erases an update in steady state; `None` where the part is full.
fn measure(part: Part, design: Design, objects: usize, row: Row) -> Option<(f64, f64)> {
    let mut random = fastrand::Rng::with_seed(22);
    let mut model = Model::new(part, design, objects);
    let window = part.units as u64 * 12;
    let mut windows: Vec<(f64, f64)> = Vec::new();
    loop {
        let (programs, erases, mut updates) = (model.programs, model.erases, 0);
        while model.erases < erases + window {
            updates += model.call(row, &mut random);
            if model.is_full {
                return None;
            }
        }
        let each = |count: u64| count as f64 / updates as f64;
        windows.push((each(model.programs - programs), each(model.erases - erases)));
        let last = &windows[windows.len().saturating_sub(3)..];
        let (least, most) = last.iter().fold((f64::MAX, 0.0f64), |(a, b), w| (a.min(w.0), b.max(w.0)));
        let enough = model.erases > ERASES_MIN * part.units as u64;
        if last.len() == 3 && enough && (most - least < 0.02 * most || windows.len() > 60) {
            let mean = |of: fn(&(f64, f64)) -> f64| last.iter().map(of).sum::<f64>() / 3.0;
            return Some((mean(|w| w.0), mean(|w| w.1)));
        }
    }
}

fn show(result: Option<(f64, f64)>) -> String {
    result.map_or("full".to_owned(), |(programs, erases)| format!("{programs:.2}/{erases:.5}"))
}

fn table(design: Design) {
    for (part, objects) in
        [(PAPER, 1400), (PAPER, 2800), (PAPER, 3300), (L4, 1600), (U5, 3150), (NRF, 3400), (H7B, 5500)]
    {
        let cells: Vec<String> = ROWS.iter().map(|&row| show(measure(part, design, objects, row))).collect();
        println!("{:9} {objects:5}  {}", part.name, cells.join("  "));
    }
}

fn search() {
    for tail in [12, 16, 20, 24, 30] {
        for spares in [4, 6, 8] {
            for fill in [0.6, 0.65, 0.7, 0.75, 0.8] {
                let design = Design { tail_hot: tail, tail_moved: tail, spares, fill, ..CHOSEN };
                let cells: Vec<String> = ROWS.iter().map(|&row| show(measure(PAPER, design, 1400, row))).collect();
                println!("tail {tail} spares {spares} fill {fill}: {}", cells.join("  "));
            }
        }
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("search") => search(),
        _ => {
            println!("as chosen");
            table(CHOSEN);
            println!("without intents");
            table(Design { intents: false, ..CHOSEN });
            println!("greedy victims, one stream of objects");
            table(Design { cost_benefit: false, survivors_apart: false, ..CHOSEN });
        }
    }
}
