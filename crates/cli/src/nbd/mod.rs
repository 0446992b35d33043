//! `norn nbd`: block devices on simulated NAND flash in image files, made, checked, and served to NBD clients.

mod disk;
pub mod failure;
mod page_store;

use std::fmt::{self, Display};
use std::path::Path;
use std::time::{Duration, Instant};

use norn_flash::{Nand, NandPart};
use norn_flash_sim::{NandCounters, NandSim, NandSpec};
use norn_nand_ftl::inspection::OnFlash;
use norn_nand_ftl::{
    Ftl, FtlConfig, FtlCounters, FtlError, PageCounts, Place, Violation, logical_pages_limit, max_logical_pages,
};
use norn_nbd::{Address, Listener, Server};
use serde_json::{Value, json};

use crate::error::Error;
use crate::opening::Source;
use crate::report::Report;
use crate::stopping::stop_signals;
use disk::{Disk, Waits};
use failure::NbdFailure;
use page_store::{ImageFtl, PageStore};

/// A size is a multiple of this, which file systems like.
const SIZE_UNIT_BYTES: u64 = 4096;

/// A device to be made.
#[derive(Debug)]
pub struct Plan {
    /// The part.
    pub part: NandSpec,
    /// Bytes, or nine tenths of what fits.
    pub size: Option<u64>,
    /// Blocks that are bad from the start.
    pub bad_blocks: u16,
    /// Decides which.
    pub seed: u64,
}

impl Plan {
    /// Logical pages, if they fit beside the bad blocks that the maker allows for.
    fn logical_pages(&self) -> Result<u32, NbdFailure> {
        let part = &self.part.part;
        // A maker allows for some 2%; parts made up for tests promise nothing.
        let allowed_for = (part.block_count - part.good_blocks_min).min(part.block_count / 32);
        let bad_blocks = self.bad_blocks.max(allowed_for);
        let page_bytes = u64::from(part.page_bytes);
        let unit = SIZE_UNIT_BYTES.max(page_bytes);
        // No part is sold of which half is bad.
        let usable = bad_blocks <= part.block_count / 2;
        let max = if usable { u64::from(max_logical_pages(part, bad_blocks)) * page_bytes } else { 0 };
        let size = self.size.unwrap_or(max / 10 * 9 / unit * unit);
        let part = self.part.name.clone();
        if max < unit {
            return Err(NbdFailure::NoRoom { part, bad_blocks });
        }
        if size == 0 {
            return Err(NbdFailure::Nothing { unit, max: max / unit * unit });
        }
        if size > max {
            return Err(NbdFailure::Room { size, part, bad_blocks, max: max / unit * unit });
        }
        match size.is_multiple_of(unit) {
            true => Ok((size / page_bytes) as u32),
            false => Err(NbdFailure::Size { size, unit }),
        }
    }
}

/// Creates an image file with an empty device. It appears when the device is in it.
///
/// # Errors
/// When the file exists or cannot be made, or the device does not fit.
pub fn create(image: &Path, plan: &Plan) -> Result<String, Error> {
    let logical_pages = plan.logical_pages().map_err(|failure| in_image(failure, image))?;
    let (geometry, mut good_blocks) = (plan.part.part, 0);
    NandSim::create_image_with(image, plan.part.clone(), |part| {
        part.mark_random_bad(plan.bad_blocks, plan.seed);
        let memory = vec![0; ImageFtl::memory_bytes(&geometry, logical_pages)];
        let ftl = Ftl::format(part, memory, FtlConfig { logical_pages });
        good_blocks = ftl.map_err(|error| in_image(NbdFailure::Format(error), image))?.good_blocks();
        Ok::<_, Error>(())
    })?;
    Ok(format!(
        "{}: an empty block device of {} on {}, {good_blocks} of {} blocks good\n",
        image.display(),
        Size(u64::from(logical_pages) * u64::from(geometry.page_bytes)),
        plan.part.name,
        geometry.block_count,
    ))
}

/// A mounted device, with what mounting took.
struct Mounted {
    ftl: ImageFtl,
    took: Duration,
    memory_bytes: usize,
    loads: u64,
}

/// Memory for whatever device is on a part: how many logical pages there are is known when it is mounted.
fn tables_of(part: &NandPart) -> Vec<u8> {
    vec![0; ImageFtl::memory_bytes(part, logical_pages_limit(part))]
}

/// Mounts the device on a part in an image.
fn mount(image: &Path, part: NandSim) -> Result<Mounted, Error> {
    let geometry = Nand::part(&part);
    let memory = tables_of(&geometry);
    let (start, before) = (Instant::now(), part.counters());
    let ftl = ImageFtl::mount(Disk::new(part), memory).map_err(|error| in_image(NbdFailure::Mount(error), image))?;
    let memory_bytes = ImageFtl::memory_bytes(&geometry, ftl.logical_pages());
    let loads = (ftl.device().part().counters() - before).loads;
    Ok(Mounted { took: start.elapsed(), memory_bytes, loads, ftl })
}

impl Display for Mounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mounted { ftl, took, memory_bytes, loads } = self;
        let size = Size(u64::from(ftl.logical_pages()) * u64::from(ftl.page_bytes()));
        let (name, counts) = (&ftl.device().part().spec().name, ftl.page_counts());
        writeln!(f, "{size} on {name}, {} good blocks, pages of {} bytes", ftl.good_blocks(), ftl.page_bytes())?;
        let (live, erased, others) = (counts.live, counts.free, counts.dead());
        writeln!(
            f,
            "pages of the part: {live} in use, the checkpoint's included, {erased} erased, {others} to be erased \
             before they are written"
        )?;
        writeln!(f, "mounted in {took:.1?} by {loads} loads, {memory_bytes} bytes of tables")
    }
}

/// What a check found.
pub struct Findings {
    mounted: Mounted,
    /// The pages of the part as the image has them; as free, those that read as erased.
    on_flash: PageCounts,
    /// The first invariant that does not hold.
    pub violation: Option<Violation>,
}

impl Findings {
    /// For people and programs.
    pub fn report(&self) -> Report {
        let mut report = Report::new(0);
        report.text(self.mounted.to_string());
        let PageCounts { live, free, .. } = self.on_flash;
        let others = self.on_flash.dead();
        report.text(format!("in the image, before the mount: {live} in use, {free} erased, {others} others\n"));
        report.datum("before_mount", json!({ "pages_in_use": live, "pages_erased": free, "pages_to_erase": others }));
        let (ftl, counts) = (&self.mounted.ftl, self.mounted.ftl.page_counts());
        for (name, number) in [
            ("size_bytes", u64::from(ftl.logical_pages()) * u64::from(ftl.page_bytes())),
            ("page_bytes", ftl.page_bytes().into()),
            ("good_blocks", ftl.good_blocks().into()),
            ("pages_in_use", counts.live.into()),
            ("pages_erased", counts.free.into()),
            ("pages_to_erase", counts.dead().into()),
        ] {
            report.datum(name, number);
        }
        if self.violation.is_none() {
            report.text("sound\n");
        }
        let finding = |violation: &Violation| (violation.to_string(), place_value(violation));
        report.list("violations", "violation:", self.violation.iter().map(finding));
        report
    }
}

/// What programs see of a violation.
fn place_value(Violation { what, address }: &Violation) -> Value {
    let (block, page) = match address {
        Place::Mapped(_, page) | Place::Page(page) => (Some(page.block.0), Some(page.page)),
        Place::Block(block) => (Some(block.0), None),
        Place::Chunk(_) | Place::Device => (None, None),
    };
    json!({ "what": what, "block": block, "page": page })
}

/// Mounts the device in a file, which stays as it is, and checks every invariant.
///
/// # Errors
/// When it cannot be mounted or read.
pub fn check(source: &Source) -> Result<Findings, Error> {
    let (image, part) = (&source.image, source.read_nand()?);
    let failed = |error| in_image(NbdFailure::Ftl(error), image);
    let flash = OnFlash::read(part.clone(), tables_of(&Nand::part(&part)));
    let mut flash = flash.map_err(|error| in_image(NbdFailure::Mount(error), image))?;
    let on_flash = flash.page_counts(|part, block| !part.holds_pages(block)).map_err(failed)?;
    let mut mounted = mount(image, part)?;
    let violation = mounted.ftl.audit(&[]).map_err(failed)?;
    Ok(Findings { mounted, on_flash, violation })
}

/// What a server has done.
pub struct Served {
    image: String,
    ftl: FtlCounters,
    part: NandCounters,
    waits: Waits,
}

impl Display for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FtlCounters { written, copied, leveled, chunks, retired, .. } = self.ftl;
        writeln!(f, "{}: stopped; everything is on the host's disk", self.image)?;
        writeln!(f, "{written} pages written, {copied} copied, {leveled} for even wear, {chunks} of the checkpoint")?;
        writeln!(f, "{}; {retired} blocks went bad", self.part)?;
        let Waits { flushes, erases, barriers } = self.waits;
        writeln!(
            f,
            "waited for the host's disk: {flushes} times to flush, {erases} times before an erase, {barriers} times \
             before a page of the checkpoint"
        )
    }
}

/// Serves the device in an image until a signal says to stop. `ready` is called when clients can connect.
///
/// # Errors
/// When it cannot be mounted, listened to, or brought to the host's disk at the end.
pub fn serve(image: &Path, listen: &Address, ready: impl FnOnce(String) -> Result<(), Error>) -> Result<Served, Error> {
    let bound = |error| in_image(NbdFailure::Listen(listen.clone(), error), image);
    let mut signals = stop_signals().map_err(bound)?;
    let mounted = mount(image, NandSim::open_image(image)?)?;
    let before = mounted.ftl.device().part().counters();
    let listener = Listener::bind(listen).map_err(bound)?;
    let text = mounted.to_string();
    let server = Server::start(listener, PageStore::new(mounted.ftl)).map_err(bound)?;
    ready(format!("{}: {text}listening on {}\n", image.display(), server.address()))?;
    signals.forever().next();
    let mut ftl = server.stop().into_ftl();
    let flushed = ftl.flush().and_then(|()| ftl.device_mut().flush().map_err(FtlError::Device));
    flushed.map_err(|error| in_image(NbdFailure::Ftl(error), image))?;
    let (part, waits) = (ftl.device().part().counters() - before, ftl.device().waits());
    Ok(Served { image: image.display().to_string(), ftl: ftl.counters(), part, waits })
}

fn in_image(failure: NbdFailure, image: &Path) -> Error {
    Error::Nbd { image: image.to_owned(), failure }
}

/// Bytes, with the unit that a reader knows.
struct Size(u64);

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes ({:.1} MiB)", self.0, self.0 as f64 / f64::from(1 << 20))
    }
}

/// A number of bytes, with K, M or G after it if you like.
///
/// # Errors
/// Says what is accepted.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, shift) = match text.char_indices().next_back() {
        Some((at, 'K' | 'k')) => (&text[..at], 10),
        Some((at, 'M' | 'm')) => (&text[..at], 20),
        Some((at, 'G' | 'g')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| format!("{text:?} is not a size: write 4096, 64K, 12M or 1G"))
}

#[cfg(test)]
mod tests {
    use norn_flash_sim::nand_catalogue::{all, test_part};

    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(["512", "4K", "3m", "1G"].map(bytes), [Ok(512), Ok(4096), Ok(3 << 20), Ok(1 << 30)]);
        for text in ["", "K", "12X", "-1", "99999999999G", "1.5M", "µ"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn devices_fit_their_parts_or_are_refused() {
        let plan = |part, size, bad_blocks| Plan { part, size, bad_blocks, seed: 1 }.logical_pages();
        for part in all() {
            let pages = u64::from(plan(part.clone(), None, 0).unwrap());
            let share = pages * u64::from(part.part.page_bytes) * 100 / part.part.size_bytes();
            assert!((85..90).contains(&share), "{}: {share}%", part.name);
            assert!(matches!(plan(part.clone(), Some(part.part.size_bytes()), 0), Err(NbdFailure::Room { .. })));
            assert!(matches!(plan(part.clone(), Some(0), 0), Err(NbdFailure::Nothing { .. })));
            assert!(matches!(plan(part.clone(), Some(4097), 0), Err(NbdFailure::Size { .. })));
            assert!(matches!(plan(part, None, u16::MAX), Err(NbdFailure::NoRoom { .. })));
        }
        assert!(matches!(plan(test_part(4, 4, 64), None, 0), Err(NbdFailure::NoRoom { .. })));
    }
}
