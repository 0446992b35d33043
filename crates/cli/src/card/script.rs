//! `norn card apdu` and `trace`: commands from arguments or a script, with power cuts, or with a trace.

use std::fmt::{self, Display};
use std::fs;
use std::path::Path;

use norn_card_image::{CardFailure, CardImage, CardOf, CardTrace, Power, TracedCard};
use norn_flash_sim::Tear;

use super::arguments::{ApduArguments, Bytes, Commands, Given, TraceArguments, bytes};
use super::bytecodes::kinds;

/// Bytes of the longest answer: data and status word.
const ANSWER_MAX: usize = 32_767 + 2;

/// A line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Command(Vec<u8>, Option<u16>),
    Reset,
}

/// What was sent, and what was answered.
#[derive(Debug, Default)]
pub struct Sent {
    text: String,
    cuts: u32,
    unexpected: u32,
}

impl Sent {
    /// Whether every status word was the expected one.
    pub fn is_expected(&self) -> bool {
        self.unexpected == 0
    }
}

impl Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if self.cuts > 0 {
            writeln!(f, "power cuts: {}", self.cuts)?;
        }
        if self.unexpected > 0 {
            writeln!(f, "unexpected status words: {}", self.unexpected)?;
        }
        Ok(())
    }
}

/// Sends commands, and says what was answered.
///
/// # Errors
/// When a script has a mistake, before anything is sent; when the card cannot be opened, or its memory fails.
pub fn send(arguments: &ApduArguments) -> Result<Sent, CardFailure> {
    let lines = lines(&arguments.commands)?;
    let mut card = CardImage::open(&arguments.commands.card)?;
    send_lines(&mut card, lines, arguments.cut_power.map(|seed| (seed, arguments.cuts_every)))
}

/// Sends commands, records what code they carry out, and says what was answered.
///
/// # Errors
/// As [`send`]; when the trace's file cannot be written.
pub fn trace(arguments: &TraceArguments) -> Result<Sent, CardFailure> {
    let lines = lines(&arguments.commands)?;
    let mut card = TracedCard::open(&arguments.commands.card)?;
    card.start_trace()?;
    let mut sent = send_lines(&mut card, lines, None)?;
    let CardTrace { records, bytecodes, look_ups } = card.take_trace()?;
    let out = &arguments.out;
    fs::write(out, &records).map_err(|error| CardFailure::File { file: out.clone(), error })?;
    sent.text += &kinds(&bytecodes);
    sent.text +=
        &format!("look-ups of the cache: {look_ups}\ntrace: {}, {} records\n", out.display(), records.len() / 8);
    Ok(sent)
}

/// Sends commands; the power is cut at operations that are drawn from a seed, one in so many on average.
fn send_lines<const TRACED: bool>(
    card: &mut CardOf<TRACED>,
    lines: Vec<Line>,
    cuts: Option<(u64, u32)>,
) -> Result<Sent, CardFailure> {
    let mut random = cuts.map(|(seed, every)| (fastrand::Rng::with_seed(seed), every));
    let (mut sent, mut response) = (Sent::default(), vec![0; ANSWER_MAX]);
    let mut plan = |card: &CardOf<TRACED>| {
        if let Some((random, every)) = &mut random {
            let operations = random.u64(0..2 * u64::from(*every));
            card.cut_power_after(operations, Tear::draw(random));
        }
    };
    plan(card);
    sent.text.extend(card.lost_packages()?.iter().map(|lost| format!("-- {lost}\n")));
    for line in lines {
        let (command, expected) = match line {
            Line::Reset => {
                card.reset()?;
                sent.text += "-- reset\n";
                continue;
            }
            Line::Command(command, expected) => (command, expected),
        };
        sent.text += &format!("> {}\n", Hexadecimal(&command));
        match card.send(&command, &mut response) {
            Ok(length) => {
                let (data, status) = response[..length].split_at(length.saturating_sub(2));
                let status = u16::from_be_bytes([status[0], status[1]]);
                let wrong = expected.filter(|expected| *expected != status);
                sent.unexpected += u32::from(wrong.is_some());
                let wrong = wrong.map_or(String::new(), |expected| format!(", expected {expected:04X}"));
                let separator = if data.is_empty() { "" } else { " " };
                sent.text += &format!("< {}{separator}{status:04X}{wrong}\n", Hexadecimal(data));
            }
            Err(CardFailure::PowerLost) => {
                sent.cuts += 1;
                sent.text += "-- the power was cut; the card is reset\n";
                card.reset()?;
                plan(card);
            }
            Err(failure) => return Err(failure),
        }
        debug_assert_eq!(card.power(), Power::On);
    }
    Ok(sent)
}

fn lines(arguments: &Commands) -> Result<Vec<Line>, CardFailure> {
    let mut lines = Vec::new();
    for given in &arguments.commands {
        match given {
            Given::Command(Bytes(bytes)) => lines.push(Line::Command(bytes.clone(), None)),
            Given::Script(path) => lines.extend(script(path)?),
        }
    }
    if let Some(path) = &arguments.script {
        lines.extend(script(path)?);
    }
    Ok(lines)
}

fn script(path: &Path) -> Result<Vec<Line>, CardFailure> {
    let failed = |error| CardFailure::File { file: path.to_owned(), error };
    let text = fs::read_to_string(path).map_err(failed)?;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let wrong =
            |message: String| CardFailure::Jar { file: path.to_owned(), message: format!("line {number}: {message}") };
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        if line == "reset" {
            lines.push(Line::Reset);
            continue;
        }
        let (command, expected) = match line.split_once('=') {
            None => (line, None),
            Some((command, status)) => {
                let status = u16::from_str_radix(status.trim(), 16)
                    .map_err(|_| wrong(format!("`{}` is not a status word of four digits", status.trim())))?;
                (command, Some(status))
            }
        };
        let Bytes(command) = bytes(command).map_err(wrong)?;
        lines.push(Line::Command(command, expected));
    }
    Ok(lines)
}

/// Bytes for people.
struct Hexadecimal<'a>(&'a [u8]);

impl Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}
