//! Block devices on NAND parts: blocks and pages, the logical map, tokens over time, and what a mount makes of a part.
//! [`page`] decodes pages, [`workload`] runs tasks, [`play`] records them.
//!
//! A part is shown as flash has it until it is mounted: which pages count, its checkpoint says and what follows that.
//!
//! Invariant: `cells` are never changed by a look. A mount works on a copy; [`mounted`](Shown::mounted) takes it over.

pub mod page;
pub mod play;
pub mod workload;

use std::rc::Rc;

use norn_flash::{Address, Block, Nand, NandPart, PageAddress};
use norn_flash_sim::{ImageBytes, NandSim, NandSpec, Tear};
use norn_nand_ftl::inspection::{BlockUse, OnFlash, Owner, PageContent};
use norn_nand_ftl::{
    Ftl, FtlConfig, Lba, PageCounts, logical_pages_limit, max_logical_pages, recognise, recognition_bytes,
};
use serde_json::{Value, json};

use self::page::{Pages, content_text};
use self::play::{History, Play};
use self::workload::{Device, Workload};
use crate::anatomy::{Area, ERASED, Found, Kind, State, UNKNOWN};
use crate::shown::{MountCalls, Overview, Recording, Shown, UnitOverview};
use crate::traced::Operation;
use crate::traced_nand::{Act, TracedNand};

const DATA: Kind = Kind::new(b'd', "page", "page of data");
const CHECKPOINT: Kind = Kind::new(b'c', "checkpoint", "page of the checkpoint");
const BEGUN: Kind = Kind::new(b'h', "head", "a format begins");
const FREE: Kind = Kind::new(b'f', "free", "free page");
const BAD: Kind = Kind::new(b'b', "bad", "bad block");
const KINDS: &[Kind] = &[DATA, CHECKPOINT, BEGUN, FREE, BAD, UNKNOWN, ERASED];
/// Most logical pages in one answer.
const LISTED_MAX: u32 = 200;
/// Most points of a curve in one answer.
const POINTS_MAX: usize = 2000;

/// A block device as it is shown.
#[derive(Clone)]
pub struct Disk {
    cells: NandSim,
    pages: Pages,
    /// What flash has, of a part that is not mounted; and its pages, once they were counted.
    flash: Option<Box<OnFlash<TracedNand, Vec<u8>>>>,
    counts: Option<PageCounts>,
    /// What a mount of a copy makes of it; or what is mounted.
    device: Option<Box<Device>>,
    /// Why there is no device.
    without: String,
    /// What the mount programmed and erased.
    mount: Vec<Operation<Act>>,
    /// Of a recording: what is drawn over time, and where in it this is.
    history: Option<(Rc<History>, u64)>,
}

impl Disk {
    /// Whether a part holds a block device of any version.
    ///
    /// # Errors
    /// The device's, in words.
    pub fn is_on(part: &NandSim) -> Result<bool, String> {
        let mut copy = part.clone();
        copy.freeze_counters();
        let mut buffer = vec![0; recognition_bytes(&copy.part())];
        recognise(&mut copy, &mut buffer).map(|found| found.is_some()).map_err(|error| error.to_string())
    }

    /// A part as flash has it, of which a copy is mounted.
    ///
    /// # Errors
    /// If the part can have no block device.
    pub fn of(cells: NandSim) -> Result<Disk, String> {
        let part = cells.part();
        let memory = || vec![0; Device::memory_bytes(&part, logical_pages_limit(&part))];
        let pages = Pages::of(&part).ok_or("fewer than 16 bytes out of band a code word")?;
        let mut disk = Disk::at_work(cells, pages, None);
        disk.flash = OnFlash::read(TracedNand::new(disk.cells.clone()), memory()).ok().map(Box::new);
        match Ftl::mount(TracedNand::new(disk.cells.clone()), memory()) {
            Ok(mut device) => {
                disk.mount = std::mem::take(&mut device.device_mut().operations);
                disk.device = Some(Box::new(device));
            }
            Err(error) => disk.without = error.to_string(),
        }
        Ok(disk)
    }

    /// A part with the device that is mounted: what it has in memory says which pages count.
    fn at_work(cells: NandSim, pages: Pages, device: Option<Box<Device>>) -> Disk {
        let (flash, counts, without, mount, history) = (None, None, String::new(), Vec::new(), None);
        Disk { cells, pages, flash, counts, device, without, mount, history }
    }

    /// The device whose pages are shown: as flash has it, until it is mounted.
    fn shown(&self) -> Option<&Device> {
        self.flash.as_ref().map(|flash| flash.device()).or(self.device.as_deref())
    }

    /// An empty device on seven tenths of what fits a part, so that it has room for tasks with deadlines.
    ///
    /// # Errors
    /// If none fits, in words.
    pub fn format(spec: NandSpec) -> Result<Disk, String> {
        let logical_pages = max_logical_pages(&spec.part, 0) / 10 * 7;
        let memory = vec![0; Device::memory_bytes(&spec.part, logical_pages)];
        let device = Ftl::format(TracedNand::new(NandSim::new(spec)), memory, FtlConfig { logical_pages });
        Disk::of(device.map_err(|error| error.to_string())?.into_device().sim)
    }

    fn part(&self) -> NandPart {
        self.cells.spec().part
    }

    fn block_bytes(&self) -> u32 {
        u32::from(self.part().pages_per_block) * u32::from(self.part().register_bytes())
    }

    fn content(&self, page: PageAddress) -> PageContent {
        self.pages.content(&self.cells.peek(page))
    }

    fn block_use(&self, block: Block) -> Option<BlockUse> {
        self.shown().map(|device| device.block_use(block))
    }

    /// What a block is used for, in a word. Before a mount no block is free or open.
    fn role(&self, block: Block) -> Option<&'static str> {
        Some(match self.block_use(block)? {
            BlockUse::Used if self.flash.is_some() && !self.cells.holds_pages(block) => "erased",
            BlockUse::Used => "used",
            BlockUse::Free => "free",
            BlockUse::Open(_) => "open",
            BlockUse::Bad => "bad",
        })
    }

    fn is_live(&self, page: PageAddress) -> bool {
        self.shown().is_some_and(|device| device.is_live(page))
    }

    /// What the device's pages are good for.
    fn page_counts(&mut self) -> Result<PageCounts, String> {
        if let (None, Some(flash)) = (self.counts, &mut self.flash) {
            let counts = flash.page_counts(|part, block| !part.sim.holds_pages(block));
            self.counts = Some(counts.map_err(|error| error.to_string())?);
        }
        let of_device = || self.device.as_ref().map(|device| device.page_counts());
        self.counts.or_else(of_device).ok_or_else(|| self.without.clone())
    }

    /// What a page is, for the picture.
    fn area(&self, page: PageAddress) -> Area {
        let (content, of_block) = (self.content(page), self.block_use(page.block));
        let kind = match content {
            PageContent::Whole(tag) => match tag.owner {
                Owner::Logical(_) => DATA,
                Owner::Chunk(_) => CHECKPOINT,
                Owner::FormatBegun => BEGUN,
            },
            PageContent::Erased if matches!(of_block, Some(BlockUse::Free | BlockUse::Open(_))) => FREE,
            PageContent::Erased => ERASED,
            PageContent::Unknown if of_block == Some(BlockUse::Bad) => BAD,
            PageContent::Unknown => UNKNOWN,
        };
        let is_obsolete = matches!(content, PageContent::Whole(_)) && !self.is_live(page);
        let state = if is_obsolete { State::Obsolete } else { State::Live };
        let text = format!("{page}: {}", if kind == FREE { "free".to_owned() } else { content_text(content) });
        Area { at: self.pages.address(page), bytes: self.part().register_bytes().into(), kind, state, text }
    }

    /// The logical map from a page on, and what the device's pages are good for.
    fn map(&mut self, first: u32) -> Result<Value, String> {
        let counts = self.page_counts()?;
        let device = self.shown().ok_or_else(|| self.without.clone())?;
        let all = device.logical_pages();
        if first >= all {
            return Err(format!("the device has no logical page {first}: it has {all}"));
        }
        let mut rows = Vec::new();
        for lba in first..all.min(first + LISTED_MAX) {
            let page = device.page_of(Lba(lba)).map_err(|error| error.to_string())?;
            rows.push(match page {
                Some(page) => json!([lba, self.pages.address(page).0, page.to_string()]),
                None => json!([lba, null, null]),
            });
        }
        let chunks: Vec<Value> = (0..)
            .zip(device.checkpoint_pages())
            .map(|(chunk, page)| match page {
                Some(page) => json!([chunk, self.pages.address(page).0, page.to_string()]),
                None => json!([chunk, null, null]),
            })
            .collect();
        let page_bytes = device.page_bytes();
        Ok(json!({
            "size_bytes": u64::from(all) * u64::from(page_bytes), "page_bytes": page_bytes, "logical_pages": all,
            "good_blocks": device.good_blocks(), "pages_in_use": counts.live, "pages_erased": counts.free,
            "pages_to_erase": counts.dead(), "rows": rows, "chunks": chunks,
        }))
    }

    /// Free pages and tokens over the recording that is played.
    fn tokens(&self) -> Value {
        let Some((history, at)) = &self.history else { return json!({ "names": [], "levels": [], "at": null }) };
        let every = history.levels.len().div_ceil(POINTS_MAX).max(1);
        let levels: Vec<Value> =
            history.levels.iter().step_by(every).map(|(operation, levels)| json!([operation, levels])).collect();
        json!({ "names": history.names, "levels": levels, "at": at })
    }
}

impl Shown for Disk {
    fn overview(&mut self) -> Overview {
        let part = self.part();
        let unit = |(block, erases)| UnitOverview { erases, role: self.role(block).map(str::to_owned), sequence: None };
        let content = match (&self.device, self.shown()) {
            (Some(_), Some(device)) => format!(
                "a block device of {} pages of {} bytes, {} blocks good",
                device.logical_pages(),
                device.page_bytes(),
                device.good_blocks()
            ),
            _ => self.without.clone(),
        };
        let counters = self.cells.counters();
        Overview {
            part: self.cells.spec().name.clone(),
            within: None,
            units_are: "blocks",
            units: part.blocks().zip(self.cells.erase_counts()).map(unit).collect(),
            unit_bytes: self.extent().1,
            content,
            formats: &["nand-ftl"],
            panels: &["map", "tokens"],
            tour: None,
            kinds: KINDS,
            erases: counters.erases,
            programs: counters.programs + counters.copies,
            is_mounted: self.device.is_some(),
            mount: MountCalls::of(self.mount.iter().map(|one| matches!(one.act, Act::Erase(_)))),
            has_image: true,
        }
    }

    fn extent(&self) -> (u16, u32) {
        (self.part().block_count, self.block_bytes())
    }

    fn areas(&mut self, unit: u16) -> Result<Vec<Area>, String> {
        let part = self.part();
        match unit < part.block_count {
            true => Ok((0..part.pages_per_block).map(|page| self.area(Block(unit).page(page))).collect()),
            false => Err(format!("the part has no block {unit}")),
        }
    }

    fn counts(&mut self, unit: u16, _: &[Area]) -> Value {
        match self.shown() {
            Some(device) => json!({ "live": device.live_pages(Block(unit)) }),
            None => json!({}),
        }
    }

    fn at(&mut self, address: Address) -> Result<(Found, Vec<u8>), String> {
        let page = self.pages.page_at(address).ok_or_else(|| format!("the part has no address {address}"))?;
        let (area, cells) = (self.area(page), self.cells.peek(page));
        let title = match area.state {
            State::Obsolete => format!("{}, obsolete", area.text),
            State::Live => area.text.clone(),
        };
        let pieces = self.pages.pieces(page, &cells);
        Ok((Found { title, pieces, ..Found::of(&area) }, cells))
    }

    fn ask(&mut self, question: &Value) -> Result<Value, String> {
        match question["ask"].as_str().unwrap_or_default() {
            "map" => {
                self.map(question["first"].as_u64().and_then(|first| u32::try_from(first).ok()).unwrap_or(u32::MAX))
            }
            "tokens" => Ok(self.tokens()),
            other => Err(format!("nothing answers {other:?}")),
        }
    }

    fn mounted(&self) -> Option<Box<dyn Shown>> {
        let device = self.device.clone()?;
        Some(Box::new(match self.flash {
            Some(_) => Disk::at_work(device.device().sim.clone(), self.pages, Some(device)),
            None => self.clone(),
        }))
    }

    fn mount_texts(&self) -> Vec<String> {
        let Some(device) = &self.device else { return Vec::new() };
        self.mount.iter().map(|one| text_of(&self.pages, one.act, &device.device().sim)).collect()
    }

    fn record(&self, seed: u64, calls: usize) -> Result<Box<dyn Recording>, String> {
        let device = self.device.as_deref().ok_or_else(|| self.without.clone())?;
        let (mut workload, alone) = Workload::start(device.clone(), seed);
        workload.fill();
        Ok(Box::new(Recorded { play: Play::record(workload, calls), pages: self.pages, alone }))
    }

    fn image(&self) -> Result<ImageBytes, String> {
        Ok(self.cells.image_bytes())
    }
}

/// An operation in words, as its page is on `after`.
fn text_of(pages: &Pages, act: Act, after: &NandSim) -> String {
    match act {
        Act::Erase(block) => format!("erase {block}"),
        Act::Program(page) => format!("program {page}: {}", content_text(pages.content(&after.peek(page)))),
    }
}

/// A recording, and the pages of the part that it was made on.
struct Recorded {
    play: Play,
    pages: Pages,
    /// Why no tasks run.
    alone: Option<String>,
}

impl Recording for Recorded {
    fn range(&self) -> (u64, u64) {
        self.play.range()
    }

    fn calls(&self) -> Vec<(&str, u64, u64)> {
        self.play.calls()
    }

    fn text(&self, operation: u64) -> (String, String) {
        let Some((act, after, step)) = self.play.operation(operation) else {
            let late = match (&self.alone, self.play.late()) {
                (Some(why), _) => format!("; no tasks ran: {why}"),
                (None, 0) => "; every task met its deadlines".to_owned(),
                (None, late) => {
                    format!("; {} late", if late == 1 { "1 job was".to_owned() } else { format!("{late} jobs were") })
                }
            };
            return (format!("the end of the recording{late}"), String::new());
        };
        (text_of(&self.pages, act, &after), step.to_owned())
    }

    fn at(&self, operation: u64) -> Box<dyn Shown> {
        let (cells, device) = self.play.at(operation);
        let history = Some((Rc::clone(&self.play.history), operation));
        Box::new(Disk { history, ..Disk::at_work(cells, self.pages, Some(Box::new(device))) })
    }

    fn tears(&self, seed: u64) -> Vec<Tear> {
        [&Tear::allowed(seed)[..], &Tear::allowed_on_nand(seed)].concat()
    }

    fn cut(&self, operation: u64, tear: Tear) -> Result<Box<dyn Shown>, String> {
        let bytes = self.play.cut(operation, tear)?.image_bytes();
        let part = NandSim::from_image_bytes(bytes).map_err(|error| error.to_string())?;
        let history = Some((Rc::clone(&self.play.history), operation));
        Ok(Box::new(Disk { history, ..Disk::of(part)? }))
    }
}
