//! `norn log export`: the readings of a span of time as a file, of the kind that its name says.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::error::Error;
use crate::log::failure::LogError;
use crate::log::readings::write_csv;
use crate::log::{Answer, Span, arrow_file, checked_readings};
use crate::new_file::NewFile;
use crate::opening::Source;

/// A kind of file.
#[derive(Clone, Copy)]
enum Kind {
    Csv,
    Arrow,
}

impl Kind {
    fn of(file: &Path) -> Result<Kind, LogError> {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Ok(Kind::Csv),
            Some("arrow") => Ok(Kind::Arrow),
            _ => Err(contents(file, "a file of readings is named .csv or .arrow".to_owned())),
        }
    }
}

/// Writes the readings of a span to a new file, and says how many they are.
///
/// # Errors
/// When there is a file of this name, or of none that says its kind; when it cannot be written, in which case it is
/// removed; when the image or the log cannot be read.
pub fn export(source: &Source, span: &Span, file: &Path) -> Result<Answer, Error> {
    let kind = Kind::of(file)?;
    let (readings, violations) = checked_readings(source, span)?;
    let written = match kind {
        Kind::Csv => write_new(file, |out| write_csv(out, &readings).map_err(|error| error.to_string())),
        Kind::Arrow => write_new(file, |out| arrow_file::write(out, &readings)),
    };
    written?;
    Ok(Answer { text: format!("{}: {} readings\n", file.display(), readings.len()), violations })
}

/// Makes a file and lets `write` fill it.
///
/// # Errors
/// When there is such a file, or it cannot be filled: then there is none.
fn write_new(file: &Path, write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), String>) -> Result<(), Error> {
    let made = NewFile::begin(file)?;
    let mut out = BufWriter::new(made.file());
    let written = write(&mut out).and_then(|()| out.flush().map_err(|error| error.to_string()));
    written.map_err(|problem| contents(file, problem))?;
    drop(out);
    made.publish()
}

fn contents(file: &Path, problem: String) -> LogError {
    LogError::Contents { file: file.to_owned(), problem }
}
