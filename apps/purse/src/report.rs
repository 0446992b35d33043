//! What a run of the purses came to, as text.

use std::fmt;

use norn_flash_sim::{Counters, Nanoseconds, WearSummary};
use norn_purse::ledger::{Entry, EntryKind, Ledger};
use norn_purse::run::{Outcome, Tally};
use norn_purse::{Job, PurseError};

/// Entries of the log that are shown.
const ENTRIES_SHOWN: usize = 6;

/// The outcome of a run, for people.
pub struct Report {
    outcome: Outcome,
    cuts: Option<(u64, u32)>,
    replay: String,
}

impl Report {
    /// Runs a script, and says what came of it.
    ///
    /// # Errors
    ///
    /// When the script has a mistake, before anything has changed; when the image or the heap cannot be used.
    pub fn of(job: &Job) -> Result<Report, PurseError> {
        Ok(Report { outcome: norn_purse::run(job)?, cuts: job.cuts, replay: job.command_line() })
    }

    /// Whether every check passed.
    pub fn is_clean(&self) -> bool {
        self.outcome.is_clean()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ledger = &self.outcome.ledger;
        writeln!(f, "{}", accounts_text(ledger))?;
        writeln!(f, "{}", log_text(ledger))?;
        self.write_run(f)?;
        writeln!(f, "\nOf the image so far:")?;
        write_money(f, ledger)?;
        writeln!(f, "erase counts     {}", WearSummary::of(self.outcome.erase_counts.iter().copied()))?;
        writeln!(f, "simulated time   {}", Nanoseconds(self.outcome.image_ns))?;
        if !self.is_clean() {
            self.write_findings(f)?;
        }
        Ok(())
    }
}

impl Report {
    fn write_run(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "In this run, recoveries included:")?;
        write_commands(f, &self.outcome.tally)?;
        self.write_cuts(f)?;
        self.write_part(f)
    }

    fn write_cuts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = &self.outcome.tally;
        if let Some((seed, every)) = self.cuts {
            writeln!(f, "power cuts       {}, {} of them during a recovery", tally.cuts, tally.cuts_in_recovery)?;
            writeln!(f, "                 seed {seed}, one in {every} words and erases on average")?;
            writeln!(f, "interrupted      {} found whole", tally.found_whole)?;
            writeln!(f, "                 {} found absent and repeated", tally.found_absent)?;
        }
        let audits = if tally.audits == 1 { "audit" } else { "audits" };
        writeln!(f, "violations       {} in {} {audits} of the heap", tally.violations.len(), tally.audits)
    }

    fn write_part(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { tally, counters, elapsed_ns, .. } = &self.outcome;
        writeln!(f, "part             {counters}")?;
        if let Some(averages) = averages(counters, *elapsed_ns, tally.run) {
            writeln!(f, "per command      {averages}")?;
        }
        writeln!(f, "simulated time   {}", Nanoseconds(*elapsed_ns))
    }

    fn write_findings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = &self.outcome.tally;
        writeln!(f)?;
        for finding in tally.discrepancies.iter().chain(&tally.violations) {
            writeln!(f, "WRONG: {finding}")?;
        }
        if let Some((seed, _)) = self.cuts {
            writeln!(f, "seed {seed}")?;
        }
        writeln!(f, "replay, on the image as it was before: {}", self.replay)
    }
}

fn accounts_text(ledger: &Ledger) -> String {
    let row = |name: &str, [balance, credits, debits]: [String; 3]| {
        format!(" {name:<12}  {balance:>10}  {credits:>8}  {debits:>8}\n")
    };
    let mut text = row("Account", ["Balance", "Credits", "Debits"].map(str::to_owned));
    for (name, account) in &ledger.accounts {
        text += &row(name, [account.balance, account.credits, account.debits].map(|figure| figure.to_string()));
    }
    if ledger.accounts.is_empty() { "No accounts.\n".to_owned() } else { text }
}

fn log_text(ledger: &Ledger) -> String {
    let mut text = format!(" {:>8}  {:<32}  {:>10}\n", "Log", "What", "Amount");
    let mut entries = 0;
    for entry in ledger.newest(ENTRIES_SHOWN) {
        let amount = if entry.amount == 0 { String::new() } else { entry.amount.to_string() };
        let row = format!(" {:>8}  {:<32}  {amount:>10}", entry.sequence, deed(ledger, &entry));
        text += &format!("{}\n", row.trim_end());
        entries += 1;
    }
    if entries == 0 { "The log is empty.\n".to_owned() } else { text }
}

/// What an entry says, with names for the accounts that are still open.
fn deed(ledger: &Ledger, entry: &Entry) -> String {
    let name = |number| match ledger.name_of(number) {
        Some(name) => name.to_owned(),
        None => format!("account {number}, closed"),
    };
    match entry.kind {
        EntryKind::Open => format!("open {}", name(entry.to)),
        EntryKind::Close => format!("close {}", name(entry.from)),
        EntryKind::Credit => format!("credit {}", name(entry.to)),
        EntryKind::Debit => format!("debit {}", name(entry.from)),
        EntryKind::Transfer => format!("transfer {} to {}", name(entry.from), name(entry.to)),
    }
}

fn write_commands(f: &mut fmt::Formatter<'_>, tally: &Tally) -> fmt::Result {
    let refused: u64 = tally.refused.values().sum();
    let reasons: Vec<String> = tally.refused.iter().map(|(refusal, count)| format!("{refusal}: {count}")).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    writeln!(f, "commands         {} run, {refused} refused{reasons}", tally.run)
}

fn write_money(f: &mut fmt::Formatter<'_>, ledger: &Ledger) -> fmt::Result {
    let (sum, credited, debited) = (ledger.balance_sum(), ledger.totals.credited, ledger.totals.debited);
    if ledger.conserves_money() {
        writeln!(f, "money conserved: yes (sum {sum} = {credited} credited − {debited} debited)")
    } else {
        writeln!(f, "money conserved: NO (sum {sum} ≠ {credited} credited − {debited} debited)")
    }
}

/// What a command cost on average; nothing if there was none.
fn averages(counters: &Counters, elapsed_ns: u64, commands: u64) -> Option<String> {
    let mean = |count: u64| count as f64 / commands as f64;
    let (reads, programs, erases) = (mean(counters.reads()), mean(counters.programs()), mean(counters.erases));
    let time = Nanoseconds(elapsed_ns.checked_div(commands)?);
    Some(format!("{reads:.1} words read, {programs:.1} programmed, {erases:.3} units erased, {time}"))
}
