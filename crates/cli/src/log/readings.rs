//! Files of readings: CSV with a timestamp and a value a line, and a header or none.

use std::path::Path;

use crate::log::failure::LogError;
use crate::log::moment::Timestamp;
use norn_sensor_log::Reading;

/// The first line of files that `norn log` writes.
pub const HEADER: &str = "timestamp,value";

/// The readings of a file, in its order; all of it is read before anything is done with it.
///
/// # Errors
/// If the file cannot be read, or a line is no reading: which one, and why.
pub fn read(file: &Path) -> Result<Vec<Reading>, LogError> {
    let text = std::fs::read(file).map_err(|source| LogError::File { file: file.to_owned(), source })?;
    parse(&text).map_err(|(line, problem)| LogError::Line { file: file.to_owned(), line, problem })
}

/// The readings of a text, or the first line that is none, and why.
fn parse(text: &[u8]) -> Result<Vec<Reading>, (u64, String)> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(text);
    let (mut readings, mut record, mut is_first) = (Vec::new(), csv::StringRecord::new(), true);
    loop {
        match reader.read_record(&mut record) {
            Ok(false) => return Ok(readings),
            Ok(true) => {}
            Err(error) => {
                return Err((line_at(text, error.position()), "text that is not UTF-8".to_owned()));
            }
        }
        let is_header = is_first && record.iter().eq(HEADER.split(','));
        is_first = false;
        if !is_header {
            readings.push(reading(&record).map_err(|problem| (line_at(text, record.position()), problem))?);
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
        let fields = if record.len() == 1 { "1 field".to_owned() } else { format!("{} fields", record.len()) };
        return Err(format!("{fields} instead of a timestamp and a value with a comma between"));
    };
    let timestamp: Timestamp = timestamp.parse()?;
    Ok(Reading { at: timestamp.0, milli: milli(value)? })
}

/// A decimal number in thousandths, rounded.
fn milli(text: &str) -> Result<i32, String> {
    let value: f64 = text.parse().map_err(|_| format!("value {text:?} is not a number"))?;
    let milli = (value * 1e3).round();
    match milli.is_finite() && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&milli) {
        true => Ok(milli as i32),
        false => Err(format!("value {text:?} is not within ±2,147,483")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_those_that_are_no_readings_are_named() {
        let text = "timestamp,value\n60, 21.5\n1970-01-01T00:02:00Z,-0.0404\n\n180,1e3\n";
        let expected = [(60, 21_500), (120, -40), (180, 1_000_000)].map(|(at, milli)| Reading { at, milli });
        assert_eq!(parse(text.as_bytes()).unwrap(), expected);
        let wrong = [
            ("1,2\n3\n", 2, "1 field instead"),
            ("1,2,3\n", 1, "3 fields"),
            ("1,2\n\n\n2,warm\n", 4, "\"warm\" is not a number"),
            ("1,nan\n", 1, "\"nan\" is not within"),
            ("1,3000000\n", 1, "not within"),
            ("1,2\ntimestamp,value\n", 2, "timestamp \"timestamp\""),
            ("-5,2\n", 1, "between 1970 and 2106"),
        ];
        for (text, line, problem) in wrong {
            let (found, said) = parse(text.as_bytes()).unwrap_err();
            assert!(found == line && said.contains(problem), "{text:?}: {found}: {said}");
        }
        assert_eq!(parse(b"1,2\n2,\xFF\n").unwrap_err(), (2, "text that is not UTF-8".to_owned()));
    }
}
