//! The checker: walks the headers, states and tables, and reports each invariant that does not hold.

use norn_flash::{Auditor, EraseUnit, Nor, Violation};

use crate::format::{Representation, Role, State};
use crate::homes::RemapRows;
use crate::remap::RemapIn;

impl<D: Nor, M: RemapRows> RemapIn<D, M> {
    /// Reports every violation, by the start of its physical unit. Cost: reads headers, the spare, and all tables and
    /// bases.
    ///
    /// # Errors
    /// The device's.
    pub fn audit(&mut self, auditor: &mut impl Auditor) -> Result<(), D::Error> {
        let part = self.layout.part;
        let mut fail = |unit, what| auditor.violation(Violation { address: part.start_of(unit), what });
        for number in 0..self.virtual_units() {
            let (unit, home) = (EraseUnit(number), self.homes.home(EraseUnit(number)));
            let header = self.read_header(home)?;
            match header {
                Some(header) if header.role != Role::Home(number) => fail(home, "a home of another virtual unit"),
                Some(header) if header.generation > self.generation => fail(home, "a generation beyond the newest"),
                Some(_) => {}
                None => fail(home, "a home without a header"),
            }
            let rivals = self.homes_from(number, header.map_or(0, |header| header.generation))?;
            if rivals != 1 {
                fail(home, "two homes of one virtual unit, and the table has not the newest");
            }
            if self.is_retired(home) {
                fail(home, "a retired unit that is a home");
            }
            if self.layout.representation == Representation::Deltas {
                if self.count_records(home)? > self.homes.records(unit) {
                    fail(home, "more delta records than are counted");
                }
                if self.has_stray_record(home)? {
                    fail(home, "a delta record over an erased cell, or beyond the unit");
                }
            }
        }
        if let Some(spare) = self.spare() {
            if self.is_home(spare) || self.is_retired(spare) {
                fail(spare, "a spare that is a home, or retired");
            }
            if !self.reads_erased(spare)? {
                fail(spare, "a spare that is not erased");
            }
            self.audit_state(spare, &mut fail)?;
        }
        Ok(())
    }

    /// Checks that flash says of the spare what RAM does.
    fn audit_state(
        &mut self,
        spare: EraseUnit,
        fail: &mut impl FnMut(EraseUnit, &'static str),
    ) -> Result<(), D::Error> {
        let Some(newest) = self.read_header(self.newest)? else {
            fail(self.newest, "a newest home without a header");
            return Ok(());
        };
        match self.read_last_state(&newest)?.0 {
            State::Ready(unit, _) if unit != spare || !self.says_ready => fail(spare, "another spare is said ready"),
            State::Erasing(..) if self.says_ready => fail(spare, "a ready spare is said to be erased"),
            State::Ready(..) | State::Erasing(..) => {}
        }
        Ok(())
    }

    /// Units with a header that makes them home of a virtual unit, of this generation or a higher one.
    fn homes_from(&mut self, number: u16, generation: u32) -> Result<u32, D::Error> {
        let mut count = 0;
        for unit in self.units() {
            let header = self.read_header(unit)?;
            count += u32::from(
                header.is_some_and(|header| header.role == Role::Home(number) && header.generation >= generation),
            );
        }
        Ok(count)
    }
}
