//! `norn log plot --out`: the readings of a span of time as a PNG or SVG, where the command is built with the feature
//! `plots`.

#[cfg(not(feature = "plots"))]
mod absent;
#[cfg(feature = "plots")]
mod drawing;
mod form;

use std::path::Path;

use norn_flash::Violation;
use norn_sensor_log::Reading;

#[cfg(not(feature = "plots"))]
use absent::draw;
#[cfg(feature = "plots")]
use drawing::draw;
use form::Kind;
pub use form::Size;

use crate::error::Error;
use crate::log::failure::LogError;
use crate::log::plot::Plot;
use crate::log::{Answer, Span, checked_readings};
use crate::new_file::NewFile;
use crate::opening::Source;

/// Draws the readings of a span into a new file, and says how many they are.
///
/// # Errors
/// When there is a file of this name, or of none that says its kind; when it cannot be drawn; when
/// there is no reading in the span, or no log in the image.
pub fn plot(source: &Source, span: &Span, file: &Path, size: Size) -> Result<Answer, Error> {
    let contents = |problem: String| LogError::Contents { file: file.to_owned(), problem };
    let kind = Kind::of(file).ok_or_else(|| contents("a picture is named .png or .svg".to_owned()))?;
    let (readings, violations): (Vec<Reading>, Vec<Violation>) = checked_readings(source, span)?;
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else {
        return Err(contents("there are no readings to draw".to_owned()).into());
    };
    let mut plot = Plot::new(first.at..last.at.saturating_add(1), size.width as usize);
    readings.iter().for_each(|&reading| plot.add(reading));
    NewFile::write(file, &draw(&plot, kind, size).map_err(contents)?)?;
    Ok(Answer { text: format!("{}: {} readings\n", file.display(), readings.len()), violations })
}
