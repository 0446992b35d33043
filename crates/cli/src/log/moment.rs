//! When something was: what a user writes, and seconds since 1970, UTC.
//!
//! A log has no clock but its readings: *today* is the day of the newest one.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp as Instant, ToSpan};

use norn_sensor_log::Seconds;

/// Seconds since 1970; shown as UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp(pub Seconds);

impl Timestamp {
    fn instant(self) -> Instant {
        Instant::from_second(self.0.into()).expect("2106 is not the end of time")
    }

    fn day(self) -> Date {
        self.instant().to_zoned(TimeZone::UTC).date()
    }

    /// The day, as 2026-11-20.
    pub fn date_text(self) -> String {
        self.day().to_string()
    }

    /// The time of the day, as 10:00:00.
    pub fn time_text(self) -> String {
        self.instant().to_zoned(TimeZone::UTC).time().to_string()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.instant())
    }
}

impl FromStr for Timestamp {
    type Err = String;

    /// Seconds since 1970, or a date and time, UTC if it does not say.
    fn from_str(text: &str) -> Result<Timestamp, String> {
        if let Ok(seconds) = text.parse::<i64>() {
            return of_seconds(seconds).ok_or_else(|| format!("timestamp {text:?} is not between 1970 and 2106"));
        }
        let instant = text.parse::<Instant>().or_else(|_| text.parse::<DateTime>().map(utc));
        let instant = instant.map_err(|error| match text.split_once('-') {
            Some((year, _)) if year.len() == 4 && year.parse::<u16>().is_ok() => {
                format!("timestamp {text:?} is no time: {error}")
            }
            _ => format!("timestamp {text:?} is neither seconds since 1970 nor like 2026-11-21T10:00:00Z"),
        })?;
        of_seconds(instant.as_second()).ok_or_else(|| format!("timestamp {text:?} is not between 1970 and 2106"))
    }
}

/// The timestamp of this number of seconds, if a log takes it.
pub fn of_seconds(seconds: i64) -> Option<Timestamp> {
    // The last second is kept as the end of spans.
    Seconds::try_from(seconds).ok().filter(|&seconds| seconds < Seconds::MAX).map(Timestamp)
}

fn utc(civil: DateTime) -> Instant {
    civil.to_zoned(TimeZone::UTC).map_or(Instant::MIN, |zoned| zoned.timestamp())
}

/// A moment as a user writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// By itself.
    Absolute(Timestamp),
    /// A time of day, a given number of days before the day of the newest reading.
    Relative {
        /// 0 for today, 1 for yesterday.
        days_before: u8,
        /// The time of that day.
        time: Time,
    },
}

impl Moment {
    /// In seconds, if that can be: `newest` is when the newest reading was taken.
    pub fn seconds(&self, newest: Timestamp) -> Option<Seconds> {
        match self {
            Moment::Absolute(timestamp) => Some(timestamp.0),
            Moment::Relative { days_before, time } => {
                let day = newest.day().checked_sub(i64::from(*days_before).days()).ok()?;
                of_seconds(utc(day.to_datetime(*time)).as_second()).map(|timestamp| timestamp.0)
            }
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::Absolute(timestamp) => write!(f, "{timestamp}"),
            Moment::Relative { days_before: 0, time } => write!(f, "today {time}"),
            Moment::Relative { time, .. } => write!(f, "yesterday {time}"),
        }
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Moment, String> {
        for (day, days_before) in [("yesterday", 1), ("today", 0)] {
            if let Some(rest) = text.strip_prefix(day) {
                let time = rest.trim_start_matches(['T', ' ']);
                let time = if time.is_empty() { Ok(Time::midnight()) } else { time.parse() };
                let time = time.map_err(|_| format!("{text:?}: {rest:?} is not a time of day, such as 10:00"))?;
                return Ok(Moment::Relative { days_before, time });
            }
        }
        if let Ok(date) = text.parse::<Date>()
            && !text.contains(':')
        {
            return of_seconds(utc(date.to_datetime(Time::midnight())).as_second())
                .map(Moment::Absolute)
                .ok_or_else(|| format!("{text:?} is not between 1970 and 2106"));
        }
        text.parse().map(Moment::Absolute).map_err(|problem| format!("{problem}, yesterdayT10:00, today or 2026-11-21"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_in_every_form() {
        let newest: Timestamp = "2026-11-21T08:30:00Z".parse().unwrap();
        let seconds = |text: &str| text.parse::<Moment>().unwrap().seconds(newest).unwrap();
        assert_eq!(seconds("1795168800"), 1_795_168_800);
        assert_eq!(Timestamp(1_795_168_800).to_string(), "2026-11-20T10:00:00Z");
        for same in
            ["2026-11-20T10:00:00Z", "2026-11-20T10:00", "2026-11-20 10:00", "yesterdayT10:00", "yesterday 10:00"]
        {
            assert_eq!(seconds(same), 1_795_168_800, "{same}");
        }
        assert_eq!(seconds("2026-11-20T11:00:00+01:00"), 1_795_168_800);
        assert_eq!((seconds("today"), seconds("2026-11-21")), (1_795_219_200, 1_795_219_200));
    }

    #[test]
    fn what_is_no_moment_is_named() {
        for wrong in
            ["", "noon", "yesterday noon", "2026-13-01", "-1", "4294967295", "1969-12-31T23:59:59Z", "2107-01-01"]
        {
            let problem = wrong.parse::<Moment>().unwrap_err();
            assert!(problem.contains(&format!("{wrong:?}")), "{problem}");
        }
        let midnight = Moment::Relative { days_before: 1, time: Time::midnight() };
        assert_eq!(midnight.seconds(Timestamp(5)), None, "the day before 1970-01-01");
    }
}
