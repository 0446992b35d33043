//! The places of a server: which client holds one, what it does, and when it has to give it up.
//!
//! 1. There are [`CLIENTS_MAX`] places. While all are held, a new client waits for one.
//! 2. While one waits, the client that has been idle longest gives up its place. A client of whose request a byte has
//!    arrived is not idle.
//! 3. A stage in which the server waits for the client has a deadline from its beginning, which no byte postpones. At
//!    the deadline the connection is closed.
//!
//! So a new client waits until the first deadline at most, unless all others wait for the store. Only the time that the
//! store takes has no limit here.
//!
//! Invariants: a client that was dismissed starts nothing more; no deadline is earlier than `next_look`, or the
//! timekeeper was woken.

#[cfg(test)]
mod crowds;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Clock;
use crate::socket::Stream;
use crate::supervisor::{Dismissed, Stage, Supervisor};

/// Most clients at a time. Each takes a thread and at most 33 MiB: a request of 32 MiB while it arrives, is carried out
/// or is answered, else at most 320 KiB of buffers.
pub const CLIENTS_MAX: usize = 64;
/// Longest time of a handshake, with all its options and replies.
pub const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// Longest time from the first byte of a request to its last, and from the first byte of a reply to its last.
pub const MESSAGE_TIME: Duration = Duration::from_secs(30);

/// How far the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Clients are let in.
    Open,
    /// None is let in any more, and those who are in start nothing new.
    Stopping,
    /// All have left.
    Over,
}

/// All places.
pub(crate) struct Places {
    clock: Arc<dyn Clock>,
    table: Mutex<Table>,
    /// Signalled when a place may become free.
    room: Condvar,
    /// Signalled when the timekeeper has to look earlier than it wanted to.
    time: Condvar,
}

struct Table {
    phase: Phase,
    /// Those who hold places, by numbers that are never used again.
    holders: BTreeMap<u64, Holder>,
    next_number: u64,
    /// When the timekeeper looks at the deadlines again.
    next_look: Duration,
}

struct Holder {
    stream: Arc<Stream>,
    stage: Stage,
    since: Duration,
    standing: Standing,
}

/// Whether a client may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Served,
    Dismissed,
}

impl Holder {
    fn deadline(&self) -> Option<Duration> {
        match self.stage {
            _ if self.standing == Standing::Dismissed => None,
            Stage::Idle | Stage::Serving => None,
            Stage::Handshake => Some(self.since + HANDSHAKE_TIME),
            Stage::Receiving | Stage::Sending => Some(self.since + MESSAGE_TIME),
        }
    }

    /// Ends its conversation: waits for the client end now, the rest at the next stage.
    fn dismiss(&mut self) {
        self.standing = Standing::Dismissed;
        self.stream.hang_up();
    }
}

impl Table {
    /// Dismisses the client that has been idle longest. One that was dismissed before and is about to leave suffices.
    fn make_room(&mut self) {
        if self.holders.values().any(|holder| holder.standing == Standing::Dismissed) {
            return;
        }
        let idle = self.holders.values_mut().filter(|holder| holder.stage == Stage::Idle && !holder.stream.has_input());
        if let Some(longest) = idle.min_by_key(|holder| holder.since) {
            longest.dismiss();
        }
    }

    /// Dismisses those whose deadline has come, and returns the next deadline.
    fn dismiss_late(&mut self, now: Duration) -> Option<Duration> {
        let is_late = |holder: &&mut Holder| holder.deadline().is_some_and(|deadline| deadline <= now);
        self.holders.values_mut().filter(is_late).for_each(Holder::dismiss);
        self.holders.values().filter_map(Holder::deadline).min()
    }
}

impl Places {
    /// Free places.
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        let table = Table { phase: Phase::Open, holders: BTreeMap::new(), next_number: 0, next_look: Duration::MAX };
        Arc::new(Places { clock, table: Mutex::new(table), room: Condvar::new(), time: Condvar::new() })
    }

    /// Waits for a place for a client, whose handshake begins with it; `None` if the server stops.
    pub fn take(self: &Arc<Self>, stream: Arc<Stream>) -> Option<Place> {
        let mut table = self.lock();
        while table.phase == Phase::Open && table.holders.len() >= CLIENTS_MAX {
            table.make_room();
            table = self.room.wait(table).unwrap_or_else(PoisonError::into_inner);
        }
        if table.phase != Phase::Open {
            return None;
        }
        let number = table.next_number;
        table.next_number += 1;
        let (stage, since, standing) = (Stage::Handshake, self.clock.now(), Standing::Served);
        let holder = Holder { stream, stage, since, standing };
        self.wake_timekeeper(&table, &holder);
        table.holders.insert(number, holder);
        Some(Place { places: self.clone(), number })
    }

    /// Whether clients are let in.
    pub fn are_open(&self) -> bool {
        self.lock().phase == Phase::Open
    }

    /// Lets nobody in any more. What has arrived of requests is all that arrives: whole ones are carried out and
    /// answered.
    pub fn stop(&self) {
        let mut table = self.lock();
        table.phase = Phase::Stopping;
        table.holders.values().for_each(|holder| holder.stream.stop_reading());
        self.room.notify_all();
    }

    /// Ends [`keep_time`](Self::keep_time).
    pub fn close(&self) {
        self.lock().phase = Phase::Over;
        self.time.notify_all();
    }

    /// Dismisses clients at their deadlines, until the places are closed.
    pub fn keep_time(&self) {
        let mut table = self.lock();
        while table.phase != Phase::Over {
            let next = table.dismiss_late(self.clock.now());
            table.next_look = next.unwrap_or(Duration::MAX);
            let sleep_time = next.map_or(Duration::MAX, |deadline| self.clock.sleep_time(deadline));
            table = self.time.wait_timeout(table, sleep_time).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wake_timekeeper(&self, table: &Table, holder: &Holder) {
        if holder.deadline().is_some_and(|deadline| deadline < table.next_look) {
            self.time.notify_all();
        }
    }

    /// The table is never half changed.
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client's place. It is free, and the connection closed, when this is dropped.
pub(crate) struct Place {
    places: Arc<Places>,
    number: u64,
}

impl Supervisor for Place {
    fn enter(&self, stage: Stage) -> Result<(), Dismissed> {
        let mut table = self.places.lock();
        let begins_request = matches!(stage, Stage::Idle | Stage::Receiving);
        let is_stopping = table.phase != Phase::Open && begins_request;
        let now = self.places.clock.now();
        let holder = table.holders.get_mut(&self.number).expect("a place is held until it is dropped");
        if is_stopping || holder.standing == Standing::Dismissed {
            return Err(Dismissed);
        }
        (holder.stage, holder.since) = (stage, now);
        if stage == Stage::Idle {
            self.places.room.notify_one();
        }
        self.places.wake_timekeeper(&table, &table.holders[&self.number]);
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(holder) = self.places.lock().holders.remove(&self.number) {
            holder.stream.hang_up();
        }
        self.places.room.notify_one();
    }
}
