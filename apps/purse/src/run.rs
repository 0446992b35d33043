//! Running a script on a bank, with or without power cuts.
//!
//! 1. The script is run on the books in memory, which finds accounts that do not exist: nothing has changed yet.
//! 2. A *session* lasts from one power-on to the next cut: the bank is mounted, its books are compared with those in
//!    memory, and commands are carried out on both.
//! 3. When the power goes, the command in flight is remembered. The books at the next mount have to be those before it
//!    or those after it, in every balance and counter; in the former case it is carried out again.
//! 4. At the end a copy of the part is mounted, compared and audited.
//!
//! Invariant: `ledger` is what the bank holds without the command in flight.

use std::collections::BTreeMap;
use std::iter::Peekable;

use norn_flash_sim::{Counters, Cuts, NorSim};
use norn_heap_image::violations;

use crate::bank::Bank;
use crate::decision::{Decision, Refusal, decide};
use crate::failure::BankFailure;
use crate::ledger::{Change, Ledger};
use crate::script::{Problem, Script, ScriptError, Step};

/// The checker runs after one in this many recoveries, and at the end: it reads the whole part.
const AUDIT_PERIOD: u64 = 16;

/// What has been done so far.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Commands that took effect, or had nothing to do.
    pub run: u64,
    /// Commands that were refused, by the reason.
    pub refused: BTreeMap<Refusal, u64>,
    /// Losses of power.
    pub cuts: u64,
    /// Those of them that hit a mount.
    pub cuts_in_recovery: u64,
    /// Interrupted commands that had taken effect.
    pub found_whole: u64,
    /// Interrupted commands that had not, and were carried out again.
    pub found_absent: u64,
    /// Runs of the checker.
    pub audits: u64,
    /// What the checker reported.
    pub violations: Vec<String>,
    /// What was wrong with the books on flash; the run ends at the first.
    pub discrepancies: Vec<String>,
}

/// What a run came to.
pub struct Outcome {
    /// What was done.
    pub tally: Tally,
    /// The books on flash at the end, read from a copy of the part.
    pub ledger: Ledger,
    /// What the part did for the script, recoveries included, checks excluded.
    pub counters: Counters,
    /// Time that it took the part, not counting what was done before the run.
    pub elapsed_ns: u64,
    /// Erases of each unit of the part, those before the run included.
    pub erase_counts: Vec<u32>,
    /// Time that the part has been at work since the image was made.
    pub image_ns: u64,
}

impl Outcome {
    /// Whether every check passed.
    pub fn is_clean(&self) -> bool {
        self.tally.violations.is_empty() && self.tally.discrepancies.is_empty() && self.ledger.conserves_money()
    }
}

/// How a session ended.
enum SessionEnd {
    Finished,
    PowerLost,
    /// A check has failed: going on would only blur what is wrong.
    Broken,
}

/// A step with its number in the run.
type NumberedStep<'s> = (u64, Step<'s>);

/// A run in progress.
pub(crate) struct Run {
    ledger: Ledger,
    in_flight: Option<Change>,
    cuts: Option<Cuts>,
    /// Cuts since a command last got through.
    fruitless: u32,
    /// What has been done.
    pub tally: Tally,
}

/// Runs `script` on the books in memory.
///
/// # Errors
/// The first line that names an account that does not exist then.
pub(crate) fn rehearse(script: &Script, mut ledger: Ledger) -> Result<Ledger, ScriptError> {
    for (number, step) in (0..).zip(script.steps()) {
        let Ok(decision) = decide(&mut ledger, step.command, number);
        match decision {
            Decision::Change(change) => ledger.apply(&change),
            Decision::UnknownAccount(name) => return Err(script.error(step.line, Problem::UnknownAccount(name))),
            Decision::Nothing | Decision::Refused(_) => {}
        }
    }
    Ok(ledger)
}

impl Run {
    /// A run on a bank whose books are `ledger`.
    pub fn new(ledger: Ledger, cuts: Option<Cuts>) -> Run {
        Run { ledger, in_flight: None, cuts, fruitless: 0, tally: Tally::default() }
    }

    /// Runs `script` to its end, or to the first check that fails.
    ///
    /// # Errors
    /// When the heap fails for another reason than a loss of power.
    pub fn complete(&mut self, device: &mut NorSim, script: &Script) -> Result<Outcome, BankFailure> {
        let (counters, elapsed_ns) = (device.counters(), device.elapsed_ns());
        let mut steps = (0..).zip(script.steps()).peekable();
        loop {
            device.power_on();
            self.plan_cut(device);
            match self.session(device, &mut steps)? {
                SessionEnd::PowerLost => (self.tally.cuts, self.fruitless) = (self.tally.cuts + 1, self.fruitless + 1),
                SessionEnd::Finished | SessionEnd::Broken => break,
            }
        }
        let (counters, elapsed_ns) = (device.counters() - counters, device.elapsed_ns() - elapsed_ns);
        let ledger = self.inspect_copy(device)?;
        let (erase_counts, image_ns) = (device.erase_counts().collect(), device.elapsed_ns());
        Ok(Outcome { tally: self.tally.clone(), ledger, counters, elapsed_ns, erase_counts, image_ns })
    }

    fn plan_cut(&mut self, device: &mut NorSim) {
        if let Some(cuts) = &mut self.cuts {
            cuts.plan(device, self.fruitless);
        }
    }

    fn session<'s>(
        &mut self,
        device: &mut NorSim,
        steps: &mut Peekable<impl Iterator<Item = NumberedStep<'s>>>,
    ) -> Result<SessionEnd, BankFailure> {
        let mut bank = match Bank::mount(device) {
            Err(failure) if failure.is_power_loss() => {
                self.tally.cuts_in_recovery += 1;
                return Ok(SessionEnd::PowerLost);
            }
            mounted => mounted?,
        };
        let worked = self.work(&mut bank, steps);
        worked.map_err(|failure| bank.placed(failure))
    }

    /// Takes step after step until the power fails.
    fn work<'s>(
        &mut self,
        bank: &mut Bank<'_>,
        steps: &mut Peekable<impl Iterator<Item = NumberedStep<'s>>>,
    ) -> Result<SessionEnd, BankFailure> {
        self.recover(bank, steps)?;
        while self.tally.discrepancies.is_empty() {
            let Some(&(number, step)) = steps.peek() else {
                return Ok(SessionEnd::Finished);
            };
            let was_fruitless = self.fruitless > 0;
            match self.perform(bank, number, step) {
                Err(failure) if failure.is_power_loss() => return Ok(SessionEnd::PowerLost),
                performed => performed?,
            }
            if was_fruitless && self.fruitless == 0 {
                // The cut that was put off for this command is not put off for the next ones.
                self.plan_cut(bank.heap_mut().device_mut());
            }
            steps.next();
        }
        Ok(SessionEnd::Broken)
    }

    /// Finds out whether the interrupted command took effect, and takes its step then.
    fn recover<'s>(
        &mut self,
        bank: &mut Bank<'_>,
        steps: &mut Peekable<impl Iterator<Item = NumberedStep<'s>>>,
    ) -> Result<(), BankFailure> {
        let found = unseen_ledger(bank)?;
        if let Some(change) = self.in_flight.take() {
            if found.totals.sequence == change.totals.sequence {
                self.acknowledge(&change);
                self.tally.found_whole += 1;
                steps.next();
            } else {
                self.tally.found_absent += 1;
            }
        }
        self.compare(&found);
        if self.tally.cuts > 0 && self.tally.cuts.is_multiple_of(AUDIT_PERIOD) {
            self.audit(bank)?;
        }
        Ok(())
    }

    fn perform(&mut self, bank: &mut Bank<'_>, number: u64, step: Step<'_>) -> Result<(), BankFailure> {
        match decide(bank, step.command, number)? {
            Decision::Change(change) => {
                self.in_flight = Some(change.clone());
                bank.apply(&change)?;
                self.in_flight = None;
                self.acknowledge(&change);
            }
            Decision::Nothing => self.tally.run += 1,
            Decision::Refused(refusal) => *self.tally.refused.entry(refusal).or_default() += 1,
            Decision::UnknownAccount(name) => {
                self.discrepancy(format!("account {name} of line {} is missing", step.line));
            }
        }
        Ok(())
    }

    /// The heap has `change`.
    fn acknowledge(&mut self, change: &Change) {
        self.ledger.apply(change);
        self.tally.run += 1;
        self.fruitless = 0;
    }

    /// Compares the books on flash with those in memory, and looks whether they are consistent in themselves.
    fn compare(&mut self, found: &Ledger) {
        if let Some(inconsistency) = found.inconsistency() {
            self.discrepancy(inconsistency);
        }
        if let Some(difference) = found.difference(&self.ledger) {
            self.discrepancy(difference);
        }
    }

    fn discrepancy(&mut self, what: String) {
        self.tally.discrepancies.push(format!("after {} power cuts: {what}", self.tally.cuts));
    }

    fn audit(&mut self, bank: &mut Bank<'_>) -> Result<(), BankFailure> {
        let violations = violations(bank.heap_mut())?;
        self.tally.audits += 1;
        let cuts = self.tally.cuts;
        self.tally
            .violations
            .extend(violations.iter().map(|violation| format!("after {cuts} power cuts: {violation}")));
        Ok(())
    }

    /// Mounts a copy of the part, so that the last look leaves no trace, and returns its books.
    fn inspect_copy(&mut self, device: &NorSim) -> Result<Ledger, BankFailure> {
        let mut copy = device.clone();
        copy.power_on();
        let mut bank = Bank::mount(&mut copy)?;
        let found = bank.ledger().map_err(|failure| bank.placed(failure))?;
        self.compare(&found);
        self.audit(&mut bank)?;
        Ok(found)
    }
}

/// The books on flash. The device counts nothing meanwhile.
fn unseen_ledger(bank: &mut Bank<'_>) -> Result<Ledger, BankFailure> {
    bank.heap_mut().device_mut().freeze_counters();
    let ledger = bank.ledger();
    bank.heap_mut().device_mut().thaw_counters();
    ledger
}
