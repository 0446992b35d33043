//! Turns of tasks without deadlines, which share their tokens (paper, section 3.4.1): none starves another.
//!
//! A task that found no token *waits*: two tokens are left to it by all that came later, for a page and for the journal
//! that it may begin. So it has them when it asks again, however seldom it does, and the others take the rest. A task
//! that does not ask for a second waits no more, so that one that is gone holds up nobody.

/// Tasks that can be told apart.
const TASKS: usize = 8;
/// Tokens of a page, and of the journal.
const TOKENS_OF_PAGE: u32 = 2;
/// How long tokens are left to a task that does not ask again, in microseconds.
const PATIENCE_US: u64 = 1_000_000;

/// A task without deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackgroundTask(u8);

impl BackgroundTask {
    /// Whoever does not say who it is: all of these are one.
    pub const ANYBODY: BackgroundTask = BackgroundTask(0);
    /// The wear leveler.
    pub(crate) const LEVELER: BackgroundTask = BackgroundTask(1);
    /// Tasks that have a number.
    pub const COUNT: u8 = TASKS as u8 - 2;

    /// The task with a number below [`COUNT`](Self::COUNT).
    pub const fn new(number: u8) -> Option<Self> {
        if number < Self::COUNT { Some(BackgroundTask(number + 2)) } else { None }
    }
}

/// When a task began to wait, and when it asked last.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// Waits that began before this one.
    order: u64,
    asked_us: u64,
}

/// Who waits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shares {
    waits: [Option<Wait>; TASKS],
    begun: u64,
}

impl Shares {
    fn waiting(&self, now_us: u64) -> impl Iterator<Item = (usize, Wait)> + '_ {
        let waits = self.waits.iter().enumerate().filter_map(|(task, wait)| Some((task, (*wait)?)));
        waits.filter(move |(_, wait)| now_us.saturating_sub(wait.asked_us) <= PATIENCE_US)
    }

    /// Tokens that a task leaves to those that began to wait before it.
    pub fn left_to_others(&self, task: BackgroundTask, now_us: u64) -> u32 {
        let own = self.waits[usize::from(task.0)].map_or(u64::MAX, |wait| wait.order);
        let before = self.waiting(now_us).filter(|&(_, wait)| wait.order < own);
        before.count() as u32 * TOKENS_OF_PAGE
    }

    /// Tokens that all that wait need.
    pub fn wanted(&self, now_us: u64) -> u32 {
        self.waiting(now_us).count() as u32 * TOKENS_OF_PAGE
    }

    /// A task found no token: it waits.
    pub fn wait(&mut self, task: BackgroundTask, now_us: u64) {
        let is_waiting = self.waiting(now_us).any(|(other, _)| other == usize::from(task.0));
        let wait = &mut self.waits[usize::from(task.0)];
        match wait {
            Some(wait) if is_waiting => wait.asked_us = now_us,
            _ => {
                *wait = Some(Wait { order: self.begun, asked_us: now_us });
                self.begun += 1;
            }
        }
    }

    /// A task got its tokens.
    pub fn serve(&mut self, task: BackgroundTask) {
        self.waits[usize::from(task.0)] = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: BackgroundTask = BackgroundTask(2);
    const B: BackgroundTask = BackgroundTask(3);

    #[test]
    fn tokens_are_left_to_those_that_wait_longer() {
        let mut shares = Shares::default();
        shares.wait(A, 0);
        shares.wait(B, 0);
        shares.wait(A, 9);
        assert_eq!((shares.left_to_others(A, 9), shares.left_to_others(B, 9)), (0, 2));
        assert_eq!(shares.left_to_others(BackgroundTask::ANYBODY, 9), 4);
        assert_eq!(shares.wanted(9), 4);
        shares.serve(A);
        shares.wait(A, 9);
        assert_eq!((shares.left_to_others(A, 9), shares.left_to_others(B, 9)), (2, 0), "A had its turn");
    }

    #[test]
    fn a_task_that_is_gone_holds_up_nobody() {
        let mut shares = Shares::default();
        shares.wait(B, 0);
        assert_eq!(shares.left_to_others(A, PATIENCE_US), 2);
        assert_eq!(shares.left_to_others(A, PATIENCE_US + 1), 0);
        shares.wait(A, PATIENCE_US + 1);
        shares.wait(B, PATIENCE_US + 1);
        assert_eq!(shares.left_to_others(A, PATIENCE_US + 1), 0, "B came back later");
    }
}
