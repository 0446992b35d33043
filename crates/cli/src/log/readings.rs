//! Files of readings: CSV with a timestamp and a value a line, and a header or none; or Arrow IPC.

use std::io::{self, Write};
use std::path::Path;

use crate::log::arrow_file;
use crate::log::failure::LogError;
use crate::log::milli::Milli;
use crate::log::moment::Timestamp;
use norn_sensor_log::Reading;

/// The first line of files that `norn log` writes.
const HEADER: &str = "timestamp,value";

/// The readings of a file, in its order; all of it is read before anything is done with it. A file that begins as Arrow
/// IPC files do is read as one.
///
/// # Errors
/// If the file cannot be read, or a line or row is no reading: which one, and why.
pub fn read(file: &Path) -> Result<Vec<Reading>, LogError> {
    let bytes = std::fs::read(file).map_err(|source| LogError::File { file: file.to_owned(), source })?;
    if bytes.starts_with(arrow_file::MAGIC) {
        return arrow_file::read(bytes).map_err(|problem| LogError::Contents { file: file.to_owned(), problem });
    }
    let (readings, wrong) = parse(&bytes, 1);
    wrong.map_or(Ok(readings), |wrong| Err(wrong.in_file(file)))
}

/// A line that is no reading.
#[derive(Debug, PartialEq, Eq)]
pub struct WrongLine {
    /// Its number, from 1 on.
    pub line: u64,
    /// What is wrong with it.
    pub problem: String,
}

impl WrongLine {
    /// The same with its file.
    pub fn in_file(self, file: &Path) -> LogError {
        LogError::Line { file: file.to_owned(), line: self.line, problem: self.problem }
    }
}

/// The readings of a text whose first line has the number `first`, up to the first line that is none, and that line.
pub fn parse(text: &[u8], first: u64) -> (Vec<Reading>, Option<WrongLine>) {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(text);
    let (mut readings, mut record, mut is_first) = (Vec::new(), csv::StringRecord::new(), first == 1);
    loop {
        let wrong = |position, problem| Some(WrongLine { line: first - 1 + line_at(text, position), problem });
        match reader.read_record(&mut record) {
            Ok(false) => return (readings, None),
            Ok(true) => {}
            Err(error) => return (readings, wrong(error.position(), "text that is not UTF-8".to_owned())),
        }
        let is_header = is_first && record.iter().eq(HEADER.split(','));
        is_first = false;
        if !is_header {
            match reading(&record) {
                Ok(reading) => readings.push(reading),
                Err(problem) => return (readings, wrong(record.position(), problem)),
            }
        }
    }
}

/// The line, from 1, of the record that is read from `position` on. Blank lines before it are not its own, wherever the
/// reader counts them.
fn line_at(text: &[u8], position: Option<&csv::Position>) -> u64 {
    let from = position.map_or(0, |position| position.byte() as usize).min(text.len());
    let blank = text[from..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    1 + text[..from + blank].iter().filter(|&&byte| byte == b'\n').count() as u64
}

fn reading(record: &csv::StringRecord) -> Result<Reading, String> {
    let (Some(timestamp), Some(value), 2) = (record.get(0), record.get(1), record.len()) else {
        return Err(wrong_fields(record));
    };
    if timestamp.contains(SEPARATORS) {
        return Err(wrong_fields(record));
    }
    let timestamp: Timestamp = timestamp.parse()?;
    Ok(Reading { at: timestamp.0, milli: milli(value)? })
}

/// What other programs put between fields.
const SEPARATORS: [char; 3] = [';', '\t', '|'];

fn wrong_fields(record: &csv::StringRecord) -> String {
    let wanted = "a timestamp and a value with a comma between";
    match record.iter().next().and_then(|first| first.matches(SEPARATORS).next()) {
        Some(found) => format!("{found:?} between fields instead of {wanted}; the value's decimals follow a point"),
        None if record.len() == 1 => format!("1 field instead of {wanted}"),
        None => format!("{} fields instead of {wanted}", record.len()),
    }
}

/// A decimal number in thousandths, rounded.
fn milli(text: &str) -> Result<i32, String> {
    let value: f64 = text.parse().map_err(|_| format!("value {text:?} is not a number"))?;
    let milli = Milli::of(value).ok_or_else(|| format!("value {text:?} is not within ±2,147,483"))?;
    Ok(milli.0)
}

/// Writes readings as CSV.
///
/// # Errors
/// When they cannot be written.
pub fn write_csv(out: &mut impl Write, readings: &[Reading]) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    readings.iter().try_for_each(|reading| writeln!(out, "{},{}", Timestamp(reading.at), Milli(reading.milli)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_those_that_are_no_readings_are_named() {
        let text = "timestamp,value\n60, 21.5\n1970-01-01T00:02:00Z,-0.0404\n\n180,1e3\n";
        let expected = [(60, 21_500), (120, -40), (180, 1_000_000)].map(|(at, milli)| Reading { at, milli });
        assert_eq!(parse(text.as_bytes(), 1), (expected.to_vec(), None));
        let wrong = [
            ("1,2\n3\n", 2, "1 field instead"),
            ("1,2,3\n", 1, "3 fields"),
            ("60;1\n", 1, "\";\" between fields instead of a timestamp and a value with a comma between"),
            ("1,2\n2026-11-21T10:00:00Z;1,5\n", 2, "\";\" between fields"),
            ("timestamp\tvalue\n60\t1\n", 1, "\"\\t\" between fields"),
            ("2026-13-01T00:00:00Z,1\n", 1, "timestamp \"2026-13-01T00:00:00Z\" is no time: "),
            ("1,2\n\n\n2,warm\n", 4, "\"warm\" is not a number"),
            ("1,nan\n", 1, "\"nan\" is not within"),
            ("1,3000000\n", 1, "not within"),
            ("1,2\ntimestamp,value\n", 2, "timestamp \"timestamp\""),
            ("-5,2\n", 1, "between 1970 and 2106"),
        ];
        for (text, line, problem) in wrong {
            let wrong = parse(text.as_bytes(), 1).1.unwrap();
            assert!(wrong.line == line && wrong.problem.contains(problem), "{text:?}: {wrong:?}");
        }
        let (readings, wrong) = parse(b"1,2\n2,\xFF\n3,4\n", 1);
        assert_eq!(readings, [Reading { at: 1, milli: 2000 }], "what comes before the line is there");
        assert_eq!(wrong, Some(WrongLine { line: 2, problem: "text that is not UTF-8".to_owned() }));
        let wrong = parse(b"1,2\ntimestamp,value\n", 41).1.unwrap();
        assert_eq!(wrong.line, 42, "lines are numbered from the first one on, and a header is one at the start only");
    }
}
