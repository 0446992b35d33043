//! `norn heap check`: the heap's own checker, and what it found in figures.

use norn_flash::Nor;
use norn_flash_sim::NorSim;
use norn_heap::{Kind, ObjectHeap, Violation};
use norn_heap_image::{Audited, Engine, HeapFailure, ImageHeap, audit, mount};
use norn_nor_store::Role;

use crate::error::Error;
use crate::opening::Source;
use crate::report::{Report, finding};
use norn_flash_sim::WearSummary;

/// What a check found.
pub struct Findings {
    engine: Engine,
    error_detection: bool,
    objects: usize,
    arrays: usize,
    roots: usize,
    used_bytes: u64,
    free_units: usize,
    units: usize,
    wear: WearSummary,
    /// What is wrong, and where.
    pub violations: Vec<Violation>,
    /// What reads as it should, but may be a sign of damage.
    pub notices: Vec<Violation>,
}

impl Findings {
    /// For people and programs.
    pub fn report(&self) -> Report {
        let mut report = Report::new(17);
        report.value("engine", self.engine);
        let detection = if self.error_detection { "on" } else { "off" };
        report.described("error detection", detection, self.error_detection);
        for (title, count) in [("objects", self.objects), ("arrays", self.arrays), ("roots", self.roots)] {
            report.number(title, count as u64);
        }
        let included = match self.engine {
            Engine::Log => "tails and map nodes",
            Engine::TinyStore => "descriptors",
        };
        report.measure("bytes in use", self.used_bytes, format!(", with {included}"));
        report.measure("free units", self.free_units as u64, format!(" of {}", self.units));
        report.wear("erase counts", self.wear).line("violations", self.violations.len());
        report.list("violations", "violation:", self.violations.iter().map(finding));
        report.list("notices", "notice:", self.notices.iter().map(finding));
        report
    }
}

/// Mounts and audits the heap in a file, which stays as it is.
///
/// # Errors
/// When the image or the heap cannot be opened or read.
pub fn check(source: &Source) -> Result<Findings, Error> {
    let mut device = source.read_nor()?;
    let wear = WearSummary::of(device.erase_counts());
    Ok(findings(&mut device, wear).map_err(|failure| failure.in_image(&source.image))?)
}

fn findings(device: &mut NorSim, wear: WearSummary) -> Result<Findings, HeapFailure> {
    let mut heap = mount(device)?;
    let Audited { violations, notices } = audit(&mut heap)?;
    let units = usize::from(heap.device().part().unit_count);
    let (used_bytes, free_units) = use_of(&heap);
    let (engine, error_detection) = (heap.engine(), heap.error_detection().is_on());
    let mut findings = Findings {
        engine,
        error_detection,
        objects: 0,
        arrays: 0,
        roots: 0,
        used_bytes,
        free_units,
        units,
        wear,
        violations,
        notices,
    };
    // A heap with violations may not let itself be counted; they are the news then.
    match count(&mut heap, &mut findings) {
        Err(failure) if findings.violations.is_empty() => Err(failure.placed(&heap)),
        _ => Ok(findings),
    }
}

/// Bytes in use, and free units.
fn use_of(heap: &ImageHeap<'_>) -> (u64, usize) {
    match heap {
        ImageHeap::Log(heap) => (heap.live_bytes(), heap.free_units() as usize),
        ImageHeap::TinyStore(tinystore) => {
            let is_free = |&unit: &_| tinystore.store().role(unit) == Role::Free;
            (tinystore.store().used_bytes(), norn_heap_image::units(heap).filter(is_free).count())
        }
    }
}

fn count(heap: &mut ImageHeap<'_>, findings: &mut Findings) -> Result<(), HeapFailure> {
    heap.visit_roots(|_, _| findings.roots += 1)?;
    let mut after = None;
    while let Some(reference) = heap.next_object(after)? {
        match heap.info(reference)?.kind {
            Kind::Object => findings.objects += 1,
            Kind::Array => findings.arrays += 1,
        }
        after = Some(reference);
    }
    Ok(())
}
