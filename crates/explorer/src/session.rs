//! What the page asks, and the answers: JSON in both directions.

use norn_flash::Address;
use norn_flash_sim::{ImageBytes, NorSim, catalogue, nand_catalogue};
use serde_json::{Value, json};

use crate::chip::Chip;
use crate::code::Code;
use crate::disk::Disk;
use crate::index::list;
use crate::log_heap::LogHeap;
use crate::open::{of_nor, open};
use crate::shown::{self, Recording, Shown};
use crate::tour;

/// Most calls of a recording.
const CALLS_MAX: u64 = 2000;

/// An image that is shown, and what is played on it.
pub struct Session {
    shown: Box<dyn Shown>,
    play: Option<Box<dyn Recording>>,
}

impl Session {
    /// A session on the bytes of an image file.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn open(image: ImageBytes) -> Result<Session, String> {
        Ok(Session { shown: open(image)?, play: None })
    }

    /// A session on an example, for whoever has no image: on a NOR part an empty heap, or an empty sorted map if
    /// `index on ` precedes the part's name; on a NAND part an empty block device, or programs with `code on `.
    ///
    /// # Errors
    /// If no part has this name, or is large enough.
    pub fn empty(part: &str) -> Result<Session, String> {
        if let Some(spec) = part.strip_prefix("code on ").and_then(nand_catalogue::by_name) {
            return Ok(Session { shown: Box::new(Code::example(spec)?), play: None });
        }
        if let Some(spec) = nand_catalogue::by_name(part) {
            return Ok(Session { shown: Box::new(Disk::format(spec)?), play: None });
        }
        let (name, is_index) = part.strip_prefix("index on ").map_or((part, false), |name| (name, true));
        let spec = catalogue::by_name(name).ok_or_else(|| format!("no part is called {part}"))?;
        if is_index {
            return Ok(Session { shown: of_nor(list::example(NorSim::new(spec))?)?, play: None });
        }
        let heap = LogHeap::format(NorSim::new(spec))?;
        Ok(Session { shown: Box::new(Chip::<LogHeap>::of(heap.heap.into_device().sim)), play: None })
    }

    fn play(&self) -> Result<&dyn Recording, String> {
        self.play.as_deref().ok_or_else(|| "nothing is recorded".to_owned())
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
        let shown = &mut *self.shown;
        match question["ask"].as_str().unwrap_or_default() {
            "overview" => Ok(shown.overview().to_json()),
            "rows" => {
                let (first, count) = (small("first")?, small("count")?);
                shown::rows(shown, first..first.saturating_add(count), number("columns")?.clamp(1, 4096) as u32)
            }
            "unit" => shown::unit(shown, small("unit")?),
            "at" => shown::at(shown, address()?),
            "mount" => {
                let texts = shown.mount_texts();
                self.shown = shown.mounted().ok_or("no mount succeeds")?;
                Ok(json!({ "operations": texts }))
            }
            "record" => self.record(number("seed")?, number("calls")?.min(CALLS_MAX) as usize),
            "position" => {
                let position = number("operation")?;
                let (shown, (operation, call)) = (self.play()?.at(position), self.play()?.text(position));
                self.shown = shown;
                let without = self.play()?.without_operation(position);
                Ok(json!({ "operation": operation, "call": call, "without_operation": without }))
            }
            "cut" => self.cut(number("operation")?, number("shape")? as usize, number("seed")?),
            "tour" => {
                let tour = shown.overview().tour.ok_or("there is no tour of such an image")?;
                let stop = tour::stop(tour, number("step")? as usize)?;
                self.shown = stop.shown;
                self.play = None;
                Ok(json!({ "title": stop.title, "text": stop.text, "look": stop.look.0 }))
            }
            _ => shown.ask(question),
        }
    }

    fn record(&mut self, seed: u64, calls: usize) -> Result<Value, String> {
        let play = self.shown.record(seed, calls)?;
        let (first, last) = play.range();
        let calls: Vec<Value> = play.calls().iter().map(|(text, from, count)| json!([text, from, count])).collect();
        self.shown = play.at(first);
        self.play = Some(play);
        Ok(json!({ "first": first, "last": last, "calls": calls }))
    }

    fn cut(&mut self, operation: u64, shape: usize, seed: u64) -> Result<Value, String> {
        let tear = *self.play()?.tears(seed).get(shape).ok_or("there is no such shape")?;
        let (text, call) = self.play()?.text(operation);
        self.shown = self.play()?.cut(operation, tear)?;
        let is_lost = !self.shown.overview().is_mounted;
        Ok(json!({ "operation": text, "call": call, "tear": format!("{tear:?}"), "lost": is_lost }))
    }

    /// The bytes of the image file of what is shown.
    ///
    /// # Errors
    /// If the page makes no file of this kind.
    pub fn image(&self) -> Result<ImageBytes, String> {
        self.shown.image()
    }
}
