//! A store of packages that notes which bytecodes are carried out and which places are looked up.

use norn_card_package::{Image, Package, opcode};
use norn_card_vm::{AddError, Code, CodeError, PackageStore};

/// Bytes of a record of a trace: offset (4), bytes (2), instructions (2), little-endian.
const RECORD_BYTES: usize = 8;
/// Where images begin in a trace: at multiples of this, as pages of every size do.
const ALIGNMENT: u32 = 4096;

/// What was carried out, and what was looked up: records as the lab reads them.
#[derive(Clone, Debug, Default)]
pub struct CardTrace {
    /// The records.
    pub records: Vec<u8>,
    /// How often each bytecode was carried out, by its opcode.
    pub bytecodes: Vec<(u8, u64)>,
    /// Look-ups of the cache.
    pub look_ups: u64,
}

/// Bytecodes one after the other.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u32,
    bytes: u16,
    instructions: u16,
}

#[derive(Debug)]
struct Recorder {
    records: Vec<u8>,
    bytecodes: [u64; 256],
    look_ups: u64,
    run: Option<Run>,
}

impl Recorder {
    fn write(&mut self, Run { start, bytes, instructions }: Run) {
        let mut record = [0; RECORD_BYTES];
        record[..4].copy_from_slice(&start.to_le_bytes());
        record[4..6].copy_from_slice(&bytes.to_le_bytes());
        record[6..].copy_from_slice(&instructions.to_le_bytes());
        self.records.extend_from_slice(&record);
    }

    fn end_run(&mut self) {
        if let Some(run) = self.run.take() {
            self.write(run);
        }
    }

    /// A look-up: a byte without an instruction.
    fn look_up(&mut self, place: u32) {
        self.look_ups += 1;
        self.end_run();
        self.write(Run { start: place, bytes: 1, instructions: 0 });
    }

    fn bytecode(&mut self, place: u32, opcode: u8) {
        self.bytecodes[usize::from(opcode)] += 1;
        let length = opcode::length(opcode).unwrap_or(1) as u16;
        match &mut self.run {
            Some(run) if run.start + u32::from(run.bytes) == place && run.bytes < u16::MAX / 2 => {
                run.bytes += length;
                run.instructions += 1;
            }
            _ => {
                self.end_run();
                self.run = Some(Run { start: place, bytes: length, instructions: 1 });
            }
        }
    }
}

/// The image of a package of a [`Traced`] store.
#[derive(Debug)]
pub struct TracedImage<S, const TRACED: bool> {
    store: S,
    number: u8,
    recorder: Option<Box<Recorder>>,
}

impl<S: PackageStore, const TRACED: bool> TracedImage<S, TRACED> {
    /// Where a place of a package is in the trace: images are one after the other.
    fn place(&mut self, number: u8, at: u32) -> u32 {
        let before = (0..number).filter_map(|other| self.store.package(other).map(|(package, _)| package.length));
        before.map(|length| length.next_multiple_of(ALIGNMENT)).sum::<u32>() + at
    }
}

impl<S: PackageStore, const TRACED: bool> Image for TracedImage<S, TRACED> {
    type Error = CodeError<S>;

    fn window(&mut self, at: u32) -> Result<&[u8], Self::Error> {
        if TRACED && self.recorder.is_some() {
            let place = self.place(self.number, at);
            if let Some(recorder) = &mut self.recorder {
                recorder.look_up(place);
            }
        }
        match self.store.package(self.number) {
            Some((_, image)) => image.window(at),
            None => Ok(&[]),
        }
    }
}

/// A store of packages, and a trace while one is recorded; where `TRACED` is false, that costs nothing.
#[derive(Debug)]
pub struct Traced<S, const TRACED: bool> {
    image: TracedImage<S, TRACED>,
    /// The package that was asked for last, as long as none comes or goes.
    package: Option<(u8, Package)>,
}

impl<S: PackageStore, const TRACED: bool> Traced<S, TRACED> {
    pub fn new(store: S) -> Self {
        Traced { image: TracedImage { store, number: 0, recorder: None }, package: None }
    }

    pub fn store(&mut self) -> &mut S {
        self.package = None;
        &mut self.image.store
    }

    pub fn into_store(self) -> S {
        self.image.store
    }

    /// Records from now on.
    pub fn record(&mut self) {
        let recorder = Recorder { records: Vec::new(), bytecodes: [0; 256], look_ups: 0, run: None };
        self.image.recorder = Some(Box::new(recorder));
    }

    /// What was recorded since [`Traced::record`].
    pub fn take(&mut self) -> CardTrace {
        let Some(mut recorder) = self.image.recorder.take() else { return CardTrace::default() };
        recorder.end_run();
        let counts = (0..=u8::MAX).zip(recorder.bytecodes);
        CardTrace {
            records: recorder.records,
            bytecodes: counts.filter(|(_, count)| *count > 0).collect(),
            look_ups: recorder.look_ups,
        }
    }
}

impl<S: PackageStore, const TRACED: bool> Code for Traced<S, TRACED> {
    type Image = TracedImage<S, TRACED>;

    fn package(&mut self, number: u8) -> Option<(&Package, &mut Self::Image)> {
        if !matches!(self.package, Some((known, _)) if known == number) {
            self.package = Some((number, *self.image.store.package(number)?.0));
        }
        self.image.number = number;
        self.package.as_ref().map(|(_, package)| (package, &mut self.image))
    }

    fn import(&self, package: u8, import: u8) -> Option<u8> {
        self.image.store.import(package, import)
    }

    fn object_class(&self) -> (u8, u8) {
        self.image.store.object_class()
    }

    fn executes(&mut self, package: u8, position: u32, opcode: u8) {
        if !TRACED || self.image.recorder.is_none() {
            return;
        }
        let place = self.image.place(package, position);
        if let Some(recorder) = &mut self.image.recorder {
            recorder.bytecode(place, opcode);
        }
    }
}

impl<S: PackageStore, const TRACED: bool> PackageStore for Traced<S, TRACED> {
    fn open(&mut self, is_installed: impl Fn(u8) -> bool) -> Result<(), CodeError<Self>> {
        self.package = None;
        self.image.store.open(is_installed)
    }

    fn add(&mut self, image: &[u8]) -> Result<u8, AddError<CodeError<Self>>> {
        self.package = None;
        self.image.store.add(image)
    }

    fn remove(&mut self, number: u8) -> Result<(), CodeError<Self>> {
        self.package = None;
        self.image.store.remove(number)
    }
}
