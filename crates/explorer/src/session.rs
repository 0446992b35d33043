//! What the page asks, and the answers: JSON in both directions.

use norn_flash::Address;
use norn_flash_sim::{ImageKind, NandSim, NorSim, Tear, catalogue};
use norn_heap::Ref;
use norn_log_heap::{LogHeapIn, UnitRow};
use serde_json::{Value, json};

use crate::chip::Chip;
use crate::play::Play;
use crate::tour;
use crate::traced::Traced;

/// Most calls of a recording.
const CALLS_MAX: u64 = 2000;

/// Why a page opens no other files, and what does.
const NO_IMAGE: &str = "this is no image file; of a chip's dump (binary, Intel HEX, UF2 or ELF) `norn image import DUMP \
                        NEW.img` makes one, and `norn explore DUMP` a page";

/// An image that is shown, and what is played on it.
pub struct Session {
    opened: Opened,
    play: Option<Play>,
}

/// What the image is of.
enum Opened {
    Nor(Box<Chip>),
    Nand(Box<NandSim>),
}

impl Session {
    /// A session on the bytes of an image file.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn open(image: Vec<u8>) -> Result<Session, String> {
        let opened = match ImageKind::of_header(&image) {
            Some(ImageKind::Nand) => {
                Opened::Nand(Box::new(NandSim::from_image_bytes(image).map_err(|error| error.to_string())?))
            }
            None => return Err(NO_IMAGE.to_owned()),
            Some(ImageKind::Nor) => {
                let part = NorSim::from_image_bytes(image).map_err(|error| error.to_string())?;
                Opened::Nor(Box::new(Chip::of(part)))
            }
        };
        Ok(Session { opened, play: None })
    }

    /// A session on an empty heap on a part of the catalogue, for whoever has no image.
    ///
    /// # Errors
    /// If no part has this name, or no heap fits on it.
    pub fn empty(part: &str) -> Result<Session, String> {
        let spec = catalogue::by_name(part).ok_or_else(|| format!("no part is called {part}"))?;
        let rows = vec![UnitRow::UNUSED; usize::from(spec.part.unit_count)];
        let heap = LogHeapIn::format_in(Traced::new(NorSim::new(spec)), rows).map_err(|error| error.to_string())?;
        Ok(Session { opened: Opened::Nor(Box::new(Chip::of(heap.into_device().sim))), play: None })
    }

    /// The chip that is shown now.
    ///
    /// # Errors
    /// If the image is one of a NAND part.
    pub fn chip(&mut self) -> Result<&mut Chip, String> {
        match &mut self.opened {
            Opened::Nor(chip) => Ok(chip),
            Opened::Nand(_) => Err("this is a NAND part".to_owned()),
        }
    }

    fn show(&mut self, chip: Chip) {
        self.opened = Opened::Nor(Box::new(chip));
    }

    fn play(&self) -> Result<&Play, String> {
        self.play.as_ref().ok_or_else(|| "nothing is recorded".to_owned())
    }

    /// The answer to a question: what was asked for, or `{"error": why}`.
    pub fn answer(&mut self, question: &[u8]) -> Value {
        let question = serde_json::from_slice(question).map_err(|error| error.to_string());
        question.and_then(|question: Value| self.answered(&question)).unwrap_or_else(|why| json!({ "error": why }))
    }

    fn answered(&mut self, question: &Value) -> Result<Value, String> {
        let number = |key: &str| question[key].as_u64().ok_or_else(|| format!("the question has no number {key}"));
        let small = |key: &str| number(key).map(|number| u16::try_from(number).unwrap_or(u16::MAX));
        let address = || number("address").map(|number| Address(u32::try_from(number).unwrap_or(u32::MAX)));
        let reference = |key: &str| question[key].as_u64().and_then(|bits| Ref::from_bits(bits as u32));
        match question["ask"].as_str().unwrap_or_default() {
            "overview" => match &mut self.opened {
                Opened::Nor(chip) => Ok(chip.overview()),
                Opened::Nand(sim) => Ok(nand_overview(sim)),
            },
            "rows" => Ok(self.chip()?.rows(small("first")?, small("count")?, number("columns")?.clamp(1, 4096) as u32)),
            "unit" => self.chip()?.unit(small("unit")?),
            "at" => self.chip()?.at(address()?),
            "objects" => self.chip()?.objects(reference("after")),
            "object" => self.chip()?.object(reference("bits").ok_or("that is no reference")?),
            "mount" => {
                let mounted = self.chip()?.mounted();
                let texts = self.chip()?.mount_texts();
                self.show(mounted);
                Ok(json!({ "operations": texts }))
            }
            "record" => self.record(number("seed")?, number("calls")?.min(CALLS_MAX) as usize),
            "position" => {
                let position = number("operation")?;
                let (chip, (operation, call)) = (self.play()?.at(position), self.play()?.text(position));
                self.show(chip);
                Ok(json!({ "operation": operation, "call": call }))
            }
            "cut" => self.cut(number("operation")?, number("shape")? as usize, number("seed")?),
            "tour" => {
                let stop = tour::stop(number("step")? as usize)?;
                self.show(stop.chip);
                self.play = None;
                Ok(json!({ "title": stop.title, "text": stop.text, "look": stop.look.0 }))
            }
            other => Err(format!("nothing answers {other:?}")),
        }
    }

    fn record(&mut self, seed: u64, calls: usize) -> Result<Value, String> {
        let chip = self.chip()?.mounted();
        let heap = chip.heap().cloned().ok_or("there is no heap to play on")?;
        let mut play = Play::new(heap);
        play.draw(seed, calls);
        let (first, last) = play.range();
        let calls: Vec<Value> = play.calls().map(|(text, from, count)| json!([text, from, count])).collect();
        self.play = Some(play);
        self.show(chip);
        Ok(json!({ "first": first, "last": last, "calls": calls }))
    }

    fn cut(&mut self, operation: u64, shape: usize, seed: u64) -> Result<Value, String> {
        let tear = *Tear::allowed(seed).get(shape).ok_or("there is no such shape")?;
        let (text, call) = self.play()?.text(operation);
        let chip = self.play()?.cut(operation, tear)?;
        let (count, without) = (chip.mount_operations().len(), chip.heap().is_none());
        self.show(chip);
        Ok(json!({ "operation": text, "call": call, "tear": format!("{tear:?}"), "repairs": count, "lost": without }))
    }

    /// The bytes of the image file of what is shown.
    ///
    /// # Errors
    /// If the image is one of a NAND part.
    pub fn image(&mut self) -> Result<Vec<u8>, String> {
        Ok(self.chip()?.cells().image_bytes())
    }
}

/// A NAND part: its blocks, and how often each was erased.
fn nand_overview(sim: &NandSim) -> Value {
    let part = sim.spec().part;
    let units: Vec<Value> = sim.erase_counts().map(|erases| json!([erases, null, null])).collect();
    json!({
        "part": sim.spec().name, "unit_count": part.block_count, "units": units, "has_heap": false,
        "unit_bytes": u32::from(part.pages_per_block) * u32::from(part.page_bytes),
        "program_bytes": part.page_bytes, "content": "a NAND part", "is_nand": true,
        "erases": sim.counters().erases, "programs": sim.counters().programs, "operations": sim.operations(),
        "mount": { "operations": 0, "reads": 0 },
    })
}
