//! `norn log append --follow`: the readings of a file that grows, until a signal says to stop.
//!
//! Every reading is durable when it is appended. A signal ends the waiting: what is in the file by then is appended,
//! and the log is stopped, so that the next mount is fast. A second signal ends it after the lines at hand.

use std::path::Path;
use std::thread;
use std::time::Duration;

use norn_flash_sim::NorSim;
use norn_sensor_log::SensorLog;
use signal_hook::iterator::Signals;

use crate::error::Error;
use crate::log::Log;
use crate::log::append::Tally;
use crate::log::failure::{LogError, LogFailure};
use crate::log::readings::parse;
use crate::log::tail::{Found, Tail};
use crate::stopping::stop_signals;

/// How long a file is left alone after a look that found nothing.
const PAUSE: Duration = Duration::from_millis(100);
/// Looks in a row that find nothing when there is nothing more: a file that was replaced is given up at the second one.
const FRUITLESS_LOOKS: u32 = 2;

/// What happens while a file is followed.
pub enum Notice {
    /// It has begun.
    Following,
    /// The file was replaced by another one.
    Replaced,
    /// The file has become shorter.
    Truncated,
}

/// Appends the readings of a file as they come, until SIGINT or SIGTERM. `notify` hears what happens meanwhile.
///
/// # Errors
/// A line that is no reading, after those before it are appended; when the file cannot be read, or the image or the log
/// cannot be used.
pub fn follow(image: &Path, file: &Path, notify: impl FnMut(Notice) -> Result<(), Error>) -> Result<Tally, Error> {
    let signals = stop_signals().map_err(|source| LogError::File { file: file.to_owned(), source })?;
    let mut device = NorSim::open_image(image)?;
    let (before, before_ns) = (device.counters(), device.elapsed_ns());
    let in_image = |failure: LogFailure| failure.in_image(image);
    let mut log = SensorLog::mount(&mut device).map_err(LogFailure::Mount).map_err(in_image)?;
    let mut following = Following { image, file, tail: Tail::of(file), tally: Tally::default(), signals };
    let followed = following.run(&mut log, notify);
    let stopped = log.sleep().map_err(|error| in_image(LogFailure::Index(error).placed(log.corruption())));
    followed?;
    stopped?;
    let Following { tail, mut tally, .. } = following;
    tally.has_partial_line = tail.has_partial_line();
    tally.end(device.counters() - before, device.elapsed_ns() - before_ns);
    Ok(tally)
}

/// A run in progress.
struct Following<'a> {
    image: &'a Path,
    file: &'a Path,
    tail: Tail,
    tally: Tally,
    signals: Signals,
}

impl Following<'_> {
    fn run(&mut self, log: &mut Log<'_>, mut notify: impl FnMut(Notice) -> Result<(), Error>) -> Result<(), Error> {
        let (mut signals, mut fruitless) = (0, 0);
        notify(Notice::Following)?;
        while signals < 2 && (signals == 0 || fruitless < FRUITLESS_LOOKS) {
            let found = self.tail.look();
            let found = found.map_err(|source| LogError::File { file: self.file.to_owned(), source })?;
            fruitless = if found == Found::Nothing { fruitless + 1 } else { 0 };
            match found {
                Found::Lines(lines, first) => self.append(log, &lines, first)?,
                Found::Nothing => thread::sleep(PAUSE),
                Found::Replaced => notify(Notice::Replaced)?,
                Found::Truncated => notify(Notice::Truncated)?,
            }
            signals += self.signals.pending().count();
        }
        Ok(())
    }

    fn append(&mut self, log: &mut Log<'_>, lines: &[u8], first: u64) -> Result<(), Error> {
        let (readings, wrong) = parse(lines, first);
        for reading in readings {
            let forgotten = log.forgotten();
            let appended = log.append(reading);
            let appended =
                appended.map_err(|error| LogFailure::Index(error).placed(log.corruption()).in_image(self.image))?;
            self.tally.forget(log.forgotten() - forgotten);
            self.tally.count(appended);
        }
        wrong.map_or(Ok(()), |wrong| {
            let problem = Box::new(wrong.in_file(self.file));
            Err(LogError::Followed { problem, readings: self.tally.readings() }.into())
        })
    }
}
