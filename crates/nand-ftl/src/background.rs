//! Tasks without deadlines: their writes, the wear leveler, and the tokens that these take (paper, section 3.4).
//!
//! Invariants: no more than 2π tokens are theirs; they do not write with the last π of these, which a recycling may
//! take.

use norn_flash::Nand;

use crate::error::{FtlError, Outcome};
use crate::layout::Lba;
use crate::realtime::{BackgroundStep, RealTime, TaskError};
use crate::recycle::{LevelStep, RecycleStep, Recycling, WEAR_LAG};
use crate::shares::BackgroundTask;
use crate::tokens::take;

impl<D: Nand, M: AsRef<[u8]> + AsMut<[u8]>, const SLOTS: usize> RealTime<D, M, SLOTS> {
    /// Writes one logical page for a task without deadlines (section 3.4.1), whoever that is. Cost: one program; two if
    /// the journal is full.
    ///
    /// # Errors
    /// As [`background_write_as`](Self::background_write_as).
    pub fn background_write(&mut self, lba: Lba, data: &[u8]) -> Result<(), TaskError<D::Error>> {
        self.background_write_as(BackgroundTask::ANYBODY, lba, data)
    }

    /// Writes one logical page for one of several tasks without deadlines. They share the tokens: one that found none
    /// has two left to it by those that came later, as long as it asks once a second. Cost: one program; two if the
    /// journal is full.
    ///
    /// # Errors
    /// [`TaskError::NoToken`] until [`background_step`](Self::background_step) has made some; [`FtlError`].
    pub fn background_write_as(
        &mut self,
        task: BackgroundTask,
        lba: Lba,
        data: &[u8],
    ) -> Result<(), TaskError<D::Error>> {
        self.check_page(lba, data)?;
        self.pay_for_program(task)?;
        let written = self.ftl.write_page(lba.0, data);
        self.settle();
        Ok(written?)
    }

    /// Takes a token for a program without deadline, and another for the page of the checkpoint that will have it in
    /// its journal, unless that is paid for: so tasks pay only for journals that they fill by themselves.
    fn pay_for_program(&mut self, task: BackgroundTask) -> Result<(), TaskError<D::Error>> {
        let left = self.shares.left_to_others(task, self.now_us).min(self.pages_per_block() / 2);
        let paid = self.take_tokens_for_program(left);
        match paid {
            Ok(()) => self.shares.serve(task),
            Err(TaskError::NoToken) => self.shares.wait(task, self.now_us),
            Err(_) => {}
        }
        paid
    }

    fn take_tokens_for_program(&mut self, left: u32) -> Result<(), TaskError<D::Error>> {
        if self.pool.background <= self.pages_per_block() + left {
            return Err(TaskError::NoToken);
        }
        self.begin_journal()?;
        if self.pool.journal == 0 {
            self.take_background_token()?;
            self.pool.journal = 1;
        }
        self.take_background_token()
    }

    /// Makes room in the journal. Tasks pay for the page of the checkpoint if nobody else added to it.
    fn begin_journal(&mut self) -> Outcome<(), D> {
        self.ftl.make_journal_room()?;
        self.settle();
        Ok(())
    }

    fn take_background_token(&mut self) -> Result<(), TaskError<D::Error>> {
        if self.pool.background <= self.pages_per_block() {
            return Err(TaskError::NoToken);
        }
        take(&mut self.pool.background, 1);
        Ok(())
    }

    /// A step of the wear leveler, a task without deadlines (section 3.4.2). Cost: one copy, or nothing; one program
    /// more if the journal is full.
    ///
    /// # Errors
    /// As [`background_write`](Self::background_write).
    pub fn level_step(&mut self) -> Result<LevelStep, TaskError<D::Error>> {
        self.level_step_at_lag(WEAR_LAG)
    }

    /// The same for blocks whose erases lag by `lag` or more. With a larger one fewer pages are copied, and wear is
    /// less even. Writes of a device without tasks level at [`WEAR_LAG_OF_WRITES`](crate::WEAR_LAG_OF_WRITES). Cost: as
    /// [`level_step`](Self::level_step).
    ///
    /// # Errors
    /// As [`background_write`](Self::background_write).
    pub fn level_step_at_lag(&mut self, lag: u32) -> Result<LevelStep, TaskError<D::Error>> {
        self.pay_for_program(BackgroundTask::LEVELER)?;
        let step = self.ftl.level_step_at_lag(lag);
        if matches!(step, Ok(LevelStep::Idle | LevelStep::Unreadable)) {
            self.pool.background += 1;
        }
        self.settle();
        Ok(step?)
    }

    /// One step towards tokens for tasks without deadlines: a gift of at most π, or an operation of a recycling. Fills
    /// the reserve first. Before it begins a recycling, it writes the pages of a checkpoint of which one could not be
    /// read, a step and a token each. Cost: one copy, one erase or nothing; one program more if the journal is full.
    ///
    /// # Errors
    /// [`TaskError::NoToken`] if blocks failed, and the reserve is empty, too; [`FtlError`].
    pub fn background_step(&mut self) -> Result<BackgroundStep, TaskError<D::Error>> {
        self.ftl.check_running()?;
        let pages = self.pages_per_block();
        let Some(mut recycling) = self.background.take() else { return self.start_background() };
        if self.ftl.recycler().live_page_from(recycling.victim, 0).is_some()
            && let Err(error) = self.pay_for_copy()
        {
            self.background = Some(recycling);
            return Err(error);
        }
        let step = self.ftl.recycle_step(&mut recycling)?;
        match step {
            RecycleStep::Copied => self.background = Some(recycling),
            RecycleStep::Erased => {
                self.pool.background += pages;
                self.counters.background_recycled += 1;
                self.give_up_background();
            }
            RecycleStep::Retired => {}
        }
        self.settle();
        Ok(match step {
            RecycleStep::Copied => BackgroundStep::Copied,
            RecycleStep::Erased => BackgroundStep::Erased,
            RecycleStep::Retired => BackgroundStep::Retired,
        })
    }

    /// Takes the token of a page of the checkpoint, which leaves the journal empty.
    fn pay_for_round(&mut self) -> Result<(), TaskError<D::Error>> {
        if self.pool.journal == 0 {
            self.take_background_token()?;
            self.pool.journal = 1;
        }
        Ok(())
    }

    /// Takes the tokens of a copy without deadline; the reserve lends those that are lacking.
    fn pay_for_copy(&mut self) -> Result<(), TaskError<D::Error>> {
        self.begin_journal()?;
        let wanted = 2 - self.pool.journal;
        let lacking = wanted.saturating_sub(self.pool.background);
        let missing = self.pool.cover(lacking);
        self.pool.background += lacking - missing;
        if missing > 0 {
            return Err(TaskError::NoToken);
        }
        take(&mut self.pool.background, wanted);
        self.pool.journal = 1;
        Ok(())
    }

    fn start_background(&mut self) -> Result<BackgroundStep, TaskError<D::Error>> {
        if self.ftl.recycler().is_round_due() && self.pay_for_round().is_ok() {
            self.ftl.round_step()?;
            self.settle();
            return Ok(BackgroundStep::Checkpoint);
        }
        let (pages, wanted) = (self.pages_per_block(), self.reserve_wanted());
        let enough = pages + self.shares.wanted(self.now_us).min(pages / 2);
        if self.pool.background > enough && wanted == 0 {
            return Ok(BackgroundStep::Ready);
        }
        let spare = self.ftl.free_pages().saturating_sub(self.tokens());
        if spare > 0 {
            let to_reserve = wanted.min(spare);
            self.pool.reserve += to_reserve;
            self.pool.background += (spare - to_reserve).min(pages);
            self.give_up_background();
            self.settle();
            return Ok(BackgroundStep::Gift);
        }
        self.background = Some(self.best_to_recycle()?);
        self.background_step()
    }

    /// The best block to recycle. By (8) one has α dead pages; if that was lost, there may be none with so many.
    pub(crate) fn best_to_recycle(&mut self) -> Outcome<Recycling, D> {
        let best = self.ftl.start_recycling(self.config.alpha as u16);
        best.or_else(|| self.ftl.start_recycling(1)).ok_or(FtlError::NoSpace)
    }

    /// Tokens that the reserve lacks.
    fn reserve_wanted(&self) -> u32 {
        let blocks = u32::from(self.ftl.log().reserve()) + self.config.failure_budget;
        (blocks * self.pages_per_block()).saturating_sub(self.pool.reserve)
    }

    /// Tokens beyond 2π go to the reserve, as far as it lacks some, or are given up.
    fn give_up_background(&mut self) {
        let pages = self.pages_per_block();
        let to_reserve = self.reserve_wanted().min(self.pool.background.saturating_sub(pages));
        take(&mut self.pool.background, to_reserve);
        self.pool.reserve += to_reserve;
        self.pool.background = self.pool.background.min(2 * pages);
    }
}
