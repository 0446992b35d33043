//! The server's time, which tests bring themselves.

use std::time::{Duration, Instant};

/// A clock that deadlines are taken from.
pub(crate) trait Clock: Send + Sync {
    /// The time since a moment that never changes.
    fn now(&self) -> Duration;

    /// How long a thread that waits for `until` sleeps before it looks at this clock again. A clock that does not keep
    /// the processor's time answers with a short time.
    fn sleep_time(&self, until: Duration) -> Duration;
}

/// The processor's monotonic clock.
pub(crate) struct SystemClock {
    start: Instant,
}

impl SystemClock {
    pub fn new() -> Self {
        SystemClock { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep_time(&self, until: Duration) -> Duration {
        until.saturating_sub(self.now())
    }
}
