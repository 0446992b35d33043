//! `norn`: makes, checks and shows heaps in image files of simulated flash, serves
//! block devices, updates programs, and keeps a sensor's readings.
//!
//! Every command returns what it found; this file prints it and turns it into an exit code.
#![forbid(unsafe_code)]

mod arguments;
mod card;
mod code;
#[cfg(test)]
mod documented;
mod dump_arguments;
mod error;
mod explore;
mod heap;
mod image;
mod log;
mod look;
mod manual;
mod nbd;
mod new_file;
mod opening;
mod part_text;
mod parts;
mod printable;
mod progress;
mod report;
mod stopping;
mod table;

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::Parser;
use norn_flash::EraseUnit;

use crate::arguments::{
    Arguments, CodeCommand, Command, LogCommand, MeanArguments, NbdCommand, PlotArguments, ProgramArguments,
    ReadArguments,
};
use crate::card::arguments::{CardCommand, CardLook};
use crate::dump_arguments::DumpArguments;
use crate::error::{Error, words_of};
use crate::heap::arguments::{HeapCommand, HeapImportArguments, ShowArguments};
use crate::heap::dump::{Before, Extent};
use crate::heap::listing::Values;
use crate::image::arguments::ImageCommand;
use crate::log::follow::Notice;
use crate::look::Look;
use crate::new_file::NewFile;
use crate::opening::Source;
use crate::opening::explanation::explained;
use crate::report::{Form, Report};
use crate::stopping::clean_up_at_signals;

const EXIT_FINDINGS: u8 = 1;
const EXIT_ERROR: u8 = 2;

/// Whether only what was asked for is printed.
static QUIET: OnceLock<bool> = OnceLock::new();

fn main() -> ExitCode {
    let Arguments { quiet, command } = Arguments::parse();
    let _ = QUIET.set(quiet);
    let opening = command.opening();
    if !command.goes_on() {
        // Where the host refuses, a signal ends the command all the same.
        let _ = clean_up_at_signals();
    }
    if let Some((source, opener)) = opening.as_ref().filter(|_| !quiet && !command.goes_on()) {
        progress::start(format!("norn {opener}: {}", printable::line(&source.image.to_string_lossy())));
    }
    let executed = execute(command);
    progress::end();
    let executed = executed.map_err(|error| match opening {
        Some((source, opener)) => explained(error, &source, opener),
        None => error,
    });
    match executed {
        Ok(code) => code,
        // The reader of our output has closed the pipe.
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let advice = error.advice().map_or(String::new(), |advice| format!("; {advice}"));
            eprintln!("norn: {}", printable::line(&format!("{}{advice}", words_of(&error))));
            ExitCode::from(EXIT_ERROR)
        }
    }
}

fn execute(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Heap(HeapCommand::Create(arguments)) => say(&heap::create(&arguments)?),
        Command::Heap(HeapCommand::Check(look)) => {
            let findings = heap::audit::check(&look.source)?;
            print_findings(&findings.report(), look.form.form(), verdict_of(findings.violations.len()))
        }
        Command::Heap(HeapCommand::Convert(arguments)) => {
            let show = |listed: &str| print(&listed, Verdict::Sound).map(|_| ());
            say(&heap::convert::run(&arguments, show)?)
        }
        Command::Heap(HeapCommand::Export(arguments)) => {
            let exported = heap::data::export(&arguments.source, arguments.types.as_deref())?;
            let code = match &arguments.file {
                None => print(&exported.text, Verdict::Sound)?,
                Some(file) => NewFile::write(file, exported.text.as_bytes()).map(|()| ExitCode::SUCCESS)?,
            };
            exported.notes.iter().for_each(|note| remark(note));
            Ok(code)
        }
        Command::Heap(HeapCommand::Import(HeapImportArguments { data, create })) => {
            say(&heap::data::import(&data, &create)?)
        }
        Command::Heap(HeapCommand::Show(arguments)) => show(&arguments),
        Command::Heap(HeapCommand::Dump(arguments)) => dump(&arguments),
        Command::Nbd(command) => block_device(command),
        Command::Code(command) => programs(command),
        Command::Log(command) => keep_log(command),
        Command::Card(command) => cards(&command),
        Command::Image(command) => images(&command),
        Command::Explore(arguments) => say(&explore::run(&arguments, |text| {
            // Whoever reads our output may have gone; the page is served on.
            let _ = say(&text);
        })?),
        Command::Parts(form) => print(&parts::catalogue_report().shown(form.form()), Verdict::Sound),
        Command::Completions { shell } => print(&manual::completions(shell), Verdict::Sound),
        Command::Manual { directory } => say(&manual::write(&directory)?),
    }
}

/// What the exit code says.
enum Verdict {
    Sound,
    Findings,
}

/// Prints what a command found.
fn print(found: &impl Display, verdict: Verdict) -> Result<ExitCode, Error> {
    progress::end();
    printable::Output::new(io::stdout().lock()).print(found)?;
    Ok(match verdict {
        Verdict::Sound => ExitCode::SUCCESS,
        Verdict::Findings => ExitCode::from(EXIT_FINDINGS),
    })
}

/// Prints what was done, unless nobody wants to know.
fn say(done: &impl Display) -> Result<ExitCode, Error> {
    if QUIET.get() == Some(&true) { Ok(ExitCode::SUCCESS) } else { print(done, Verdict::Sound) }
}

/// Says on standard error what may be a mistake, unless nobody wants to know.
fn remark(note: &str) {
    if QUIET.get() != Some(&true) {
        progress::end();
        eprintln!("norn: {}", printable::line(note));
    }
}

/// Prints what a check found; what is sound, only if somebody wants to know.
fn print_findings(report: &Report, form: Form, verdict: Verdict) -> Result<ExitCode, Error> {
    match verdict {
        Verdict::Sound if form == Form::Text => say(report),
        verdict => print(&report.shown(form), verdict),
    }
}

/// What a number of violations means.
fn verdict_of(violations: usize) -> Verdict {
    if violations == 0 { Verdict::Sound } else { Verdict::Findings }
}

fn show(arguments: &ShowArguments) -> Result<ExitCode, Error> {
    let values = if arguments.fields { Values::Hexadecimal } else { Values::Hidden };
    print(&heap::listing::show(&arguments.source, values)?.shown(arguments.form.form()), Verdict::Sound)
}

/// What is done before a dump, and what is shown.
fn asked(arguments: &DumpArguments) -> (Before, Extent) {
    let before = if arguments.raw { Before::Nothing } else { Before::Mount };
    (before, arguments.unit.map_or(Extent::Units, |unit| Extent::Unit(EraseUnit(unit))))
}

fn dump(arguments: &DumpArguments) -> Result<ExitCode, Error> {
    let (before, extent) = asked(arguments);
    print(&heap::dump::dump(&arguments.source, before, extent)?.shown(arguments.form.form()), Verdict::Sound)
}

fn block_device(command: NbdCommand) -> Result<ExitCode, Error> {
    match command {
        NbdCommand::Create(arguments) => say(&nbd::create(&arguments.image, &arguments.plan())?),
        NbdCommand::Check(look) => {
            let findings = nbd::check(&look.source)?;
            print_findings(&findings.report(), look.form.form(), verdict_of(findings.violation.iter().count()))
        }
        NbdCommand::Serve(arguments) => {
            let ready = |text: String| say(&text).map(|_| ());
            say(&nbd::serve(&arguments.image, &arguments.listen, ready)?)
        }
    }
}

fn programs(command: CodeCommand) -> Result<ExitCode, Error> {
    let done = match command {
        CodeCommand::Create(arguments) => code::create(&arguments.image, &arguments.plan())?,
        CodeCommand::Install(ProgramArguments { image, file, program_version }) => {
            code::install(&image, &file, program_version)?
        }
        CodeCommand::Update(arguments) => {
            let ProgramArguments { image, file, program_version } = &arguments.program;
            code::update(image, file, *program_version, arguments.standing())?
        }
        CodeCommand::Boot(arguments) => code::boot(&arguments.image)?,
        CodeCommand::Confirm(arguments) => code::confirm(&arguments.image)?,
        CodeCommand::Rollback(arguments) => code::roll_back(&arguments.image)?,
        CodeCommand::Read(ReadArguments { source, file, room }) => code::read(&source, &file, room)?,
        CodeCommand::Status(Look { source, form }) => {
            let status = code::status(&source)?;
            let verdict = if status.is_sound() { Verdict::Sound } else { Verdict::Findings };
            return print(&status.report().shown(form.form()), verdict);
        }
    };
    say(&done)
}

fn images(command: &ImageCommand) -> Result<ExitCode, Error> {
    let done = match command {
        ImageCommand::Show(Look { source, form }) => {
            return print(&image::show(source)?.shown(form.form()), Verdict::Sound);
        }
        ImageCommand::Import(arguments) => image::import(&arguments.source, &arguments.new)?,
        ImageCommand::Export(arguments) => image::export::export(arguments)?,
    };
    say(&done)
}

fn cards(command: &CardCommand) -> Result<ExitCode, Error> {
    let in_card = |failure| Error::Card { card: command.card().clone(), failure: Box::new(failure) };
    let done = match command {
        CardCommand::New(arguments) => card::create(arguments),
        CardCommand::Install(arguments) => card::install(arguments),
        CardCommand::Delete(arguments) => card::delete(arguments),
        CardCommand::Ls(look) => return show_card(card::list(&look.card).map_err(in_card)?, look),
        CardCommand::Show(look) => return show_card(card::show(&look.card).map_err(in_card)?, look),
        CardCommand::Apdu(arguments) => return in_verdict(card::send(arguments).map_err(in_card)?),
        CardCommand::Trace(arguments) => return in_verdict(card::trace(arguments).map_err(in_card)?),
        CardCommand::Serve(arguments) => card::serve(arguments, |text| {
            // Whoever reads our output may have gone; the card is served on.
            let _ = say(&text);
        }),
        CardCommand::Check(CardLook { card, form }) => {
            let (report, violations) = card::check(card).map_err(in_card)?;
            return print_findings(&report, form.form(), verdict_of(violations));
        }
    };
    say(&done.map_err(in_card)?)
}

fn show_card(report: Report, look: &CardLook) -> Result<ExitCode, Error> {
    print(&report.shown(look.form.form()), Verdict::Sound)
}

fn in_verdict(sent: card::Sent) -> Result<ExitCode, Error> {
    print(&sent, if sent.is_expected() { Verdict::Sound } else { Verdict::Findings })
}

/// Prints an answer from a log, and says what is wrong with the log.
fn answer(source: &Source, answer: log::Answer) -> Result<ExitCode, Error> {
    let Some(first) = answer.violations.first() else {
        return print(&answer.text, Verdict::Sound);
    };
    let code = print(&answer.text, Verdict::Findings)?;
    let (image, count) = (source.image.display(), answer.violations.len());
    let damaged = format!(
        "{image}: the log is damaged, and readings may be missing from this answer: {}: {}; violations: {count}; \
         `norn log check {source}` lists them",
        first.address, first.what
    );
    eprintln!("norn: {}", printable::line(&damaged));
    Ok(code)
}

fn follow(image: &Path, file: &Path) -> Result<ExitCode, Error> {
    let [image_name, file_name] = [image, file].map(|path| printable::line(&path.to_string_lossy()).into_owned());
    let tally = log::follow::follow(image, file, |notice| {
        match notice {
            Notice::Following => {
                let text = format!("{image_name}: following {file_name}; SIGINT or SIGTERM stops it\n");
                return say(&text).map(|_| ());
            }
            Notice::Replaced => eprintln!("norn: {file_name}: replaced by another file, which is followed now"),
            Notice::Truncated => eprintln!("norn: {file_name}: has become shorter, and is read from its start"),
        }
        Ok(())
    })?;
    say(&tally)
}

fn keep_log(command: LogCommand) -> Result<ExitCode, Error> {
    match command {
        LogCommand::Create(arguments) => say(&log::create(&arguments.image, arguments.part)?),
        LogCommand::Append(arguments) if arguments.follow => follow(&arguments.image, &arguments.file),
        LogCommand::Append(arguments) => {
            let cuts = arguments.cut_power.map(|seed| (seed, arguments.cuts_every));
            let job = log::append::Job { image: arguments.image, file: arguments.file, cuts };
            say(&log::append::append(&job)?)
        }
        LogCommand::Mean(MeanArguments { of, form }) => {
            answer(&of.source, log::mean(&of.source, &of.span(), form.form())?)
        }
        LogCommand::Range(arguments) => answer(&arguments.source, log::range(&arguments.source, &arguments.span())?),
        LogCommand::Plot(PlotArguments { of, out, size, columns, rows }) => match out {
            Some(file) => answer(&of.source, log::picture::plot(&of.source, &of.span(), &file, size)?),
            None => answer(&of.source, log::plot(&of.source, &of.span(), (columns.into(), rows.into()))?),
        },
        LogCommand::Export(arguments) => {
            let exported = log::export::export(&arguments.source, &arguments.span(), &arguments.file)?;
            answer(&arguments.source, exported)
        }
        LogCommand::Show(Look { source, form }) => {
            let (report, violations) = log::listing::show(&source)?;
            answer(&source, log::Answer { text: report.shown(form.form()), violations })
        }
        LogCommand::Dump(arguments) => {
            let (before, extent) = asked(&arguments);
            print(&log::dump::dump(&arguments.source, before, extent)?.shown(arguments.form.form()), Verdict::Sound)
        }
        LogCommand::Check(look) => {
            let findings = log::check(&look.source)?;
            print_findings(&findings.report(), look.form.form(), verdict_of(findings.violations.len()))
        }
    }
}
