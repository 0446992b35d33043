//! `norn log plot --out`: the readings of a span of time as a PNG or SVG, where the command is built with the feature
//! `plots`.

#[cfg(not(feature = "plots"))]
mod absent;
#[cfg(feature = "plots")]
mod drawing;
mod form;

use std::fs::File;
use std::io;
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

/// Draws the readings of a span into a new file, and says how many they are.
///
/// # Errors
/// When there is a file of this name, or of none that says its kind; when it cannot be drawn, in which case it is
/// removed; when there is no reading in the span, or no log in the image.
pub fn plot(image: &Path, span: &Span, file: &Path, size: Size) -> Result<Answer, Error> {
    let contents = |problem: String| LogError::Contents { file: file.to_owned(), problem };
    let kind = Kind::of(file).ok_or_else(|| contents("a picture is named .png or .svg".to_owned()))?;
    let (readings, violations): (Vec<Reading>, Vec<Violation>) = checked_readings(image, span)?;
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else {
        return Err(contents("there are no readings to draw".to_owned()).into());
    };
    let mut plot = Plot::new(first.at..last.at.saturating_add(1), size.width as usize);
    readings.iter().for_each(|&reading| plot.add(reading));
    File::create_new(file).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => contents("there is such a file; it is never overwritten".to_owned()),
        _ => LogError::File { file: file.to_owned(), source: error },
    })?;
    draw(&plot, file, kind, size).map_err(|problem| {
        // The failure to draw is the news; a file that stays is refused by name the next time.
        let _ = std::fs::remove_file(file);
        contents(problem)
    })?;
    Ok(Answer { text: format!("{}: {} readings\n", file.display(), readings.len()), violations })
}
