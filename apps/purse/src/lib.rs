//! Electronic purses on an object heap, through any number of power cuts.
//!
//! In the order that a command flows: [`script`] says what to do, `decision` what that changes on the books of a
//! [`ledger`], `bank` keeps those on flash, [`run`](mod@run) does it all under power cuts and checks it.
//!
//! ```
//! use norn_purse::{Job, run};
//!
//! let directory = tempfile::tempdir().unwrap();
//! let script = directory.path().join("script.txt");
//! std::fs::write(&script, "open ann\nopen bob\ncredit ann 100\nrepeat 20\ntransfer ann bob 2\nend\n").unwrap();
//!
//! let job = Job { image: directory.path().join("purse.img"), script, part: None, cuts: Some((2006, 50)) };
//! let outcome = run(&job).unwrap();
//! assert!(outcome.is_clean() && outcome.tally.cuts > 0);
//! assert_eq!((outcome.ledger.accounts["ann"].balance, outcome.ledger.accounts["bob"].balance), (60, 40));
//! ```
#![forbid(unsafe_code)]

mod bank;
mod decision;
mod failure;
pub mod ledger;
pub mod run;
pub mod script;

use std::path::{Path, PathBuf};

use norn_flash_sim::{Cuts, NorSim, PartSpec, catalogue};
use norn_object_heap::Config;

use crate::bank::Bank;
pub use crate::decision::Refusal;
pub use crate::failure::{BankFailure, PurseError};
use crate::ledger::Ledger;
use crate::run::{Outcome, Run};
use crate::script::Script;

/// What to run, and on what.
pub struct Job {
    /// The image file; it is made if there is none.
    pub image: PathBuf,
    /// The script.
    pub script: PathBuf,
    /// The part of a new image, or what an old one has to be.
    pub part: Option<PartSpec>,
    /// Seed of the power cuts, and their mean distance in operations.
    pub cuts: Option<(u64, u32)>,
}

/// Runs a script of commands on an image.
///
/// # Errors
/// When the script has a mistake, before anything has changed; when the image or the heap cannot be used.
pub fn run(job: &Job) -> Result<Outcome, PurseError> {
    let text = std::fs::read_to_string(&job.script)
        .map_err(|source| PurseError::ScriptFile { script: job.script.clone(), source })?;
    let script = Script::parse(&job.script, &text)?;
    let (mut device, ledger) = prepare(job, &script)?;
    let mut run = Run::new(ledger, job.cuts.map(|(seed, every)| Cuts::new(seed, every)));
    run.complete(&mut device, &script).map_err(|failure| job.failure(failure, run.tally.cuts))
}

/// The device and the books on it. The script is rehearsed on the books, before a new image is made.
fn prepare(job: &Job, script: &Script) -> Result<(NorSim, Ledger), PurseError> {
    if !job.image.exists() {
        run::rehearse(script, Ledger::empty())?;
        let part = job.part.clone().unwrap_or_else(catalogue::tinystore);
        let device = norn_heap_image::create(&job.image, part, Config::tinystore_2006(), None)?;
        return open_bank(device, &job.image);
    }
    let mut device = NorSim::open_image(&job.image)?;
    expect_part(job, &device)?;
    let ledger = read_books(&mut device, &job.image)?;
    run::rehearse(script, ledger.clone())?;
    Ok((device, ledger))
}

/// Creates the bank in a new image. If it does not fit, the image is removed.
fn open_bank(mut device: NorSim, image: &Path) -> Result<(NorSim, Ledger), PurseError> {
    match read_books(&mut device, image) {
        Ok(ledger) => Ok((device, ledger)),
        Err(error) => {
            drop(device);
            // The missing room is the news; a file that stays can be gone on with, and fails in the same way.
            let _ = std::fs::remove_file(image);
            Err(error)
        }
    }
}

fn expect_part(job: &Job, device: &NorSim) -> Result<(), PurseError> {
    match &job.part {
        Some(wanted) if wanted.name != device.spec().name => Err(PurseError::OtherPart {
            image: job.image.clone(),
            found: device.spec().name.clone(),
            wanted: wanted.name.clone(),
        }),
        _ => Ok(()),
    }
}

/// The books on `device`, which have to be consistent for a run to prove anything.
fn read_books(device: &mut NorSim, image: &Path) -> Result<Ledger, PurseError> {
    let read = Bank::mount(device).and_then(|mut bank| bank.ledger());
    let ledger = read.map_err(|failure| match failure.is_lack_of_room() {
        true => PurseError::SmallUnits { image: image.to_owned(), failure },
        false => failure.in_image(image),
    })?;
    match ledger.inconsistency() {
        Some(inconsistency) => Err(BankFailure::NoBank(inconsistency).in_image(image)),
        None => Ok(ledger),
    }
}

impl Job {
    fn failure(&self, failure: BankFailure, cuts: u64) -> PurseError {
        match self.cuts {
            None => failure.in_image(&self.image),
            Some((seed, _)) => {
                PurseError::UnderCuts { image: self.image.clone(), failure, cuts, seed, replay: self.command_line() }
            }
        }
    }

    /// The command that does the same again, on the image as it was.
    pub fn command_line(&self) -> String {
        let mut line = format!("norn-purse {} {}", self.image.display(), self.script.display());
        if let Some(part) = &self.part {
            line += &format!(" --part {}", part.name);
        }
        if let Some((seed, every)) = self.cuts {
            line += &format!(" --cut-power {seed} --cuts-every {every}");
        }
        line
    }
}
