//! Updates: a program is written to the room that does not run, and then switched to.
//!
//! 1. Find out which room runs: the one that the switch names, if its program is whole; else the other, if that is.
//! 2. Have the switch say that the other one has no program any more: its header may be there today and not tomorrow,
//!    once its erase has begun.
//! 3. Write the new program to the other one, and read all of it back.
//! 4. Set the switch, which names the new program's header.
//!
//! A cut before the switch is set leaves the old program, and one after it the new.

use norn_flash::Nand;

use crate::address::RoomName;
use crate::code::Code;
use crate::error::{ImageError, ProgramError};
use crate::header::{Header, Program};
use crate::policy::ByteLane;
use crate::rooms::Rooms;
use crate::switch::{Standing, State, Switch};
use crate::writer::{ImageWriter, ImageWriterIn, Source};

/// Whether a program has one to go back to.
enum Successor {
    First,
    Second,
}

impl<M: ByteLane, C: Code> ImageWriterIn<M, C> {
    /// Writes a program of `image_bytes` to the room that does not run, and switches to it: from its return on, boots
    /// run the new program, and before that the old one. A part's first program is confirmed at once, since there is
    /// none to go back to. Cost: as [`write`](Self::write), and a load of each page of both programs more; two writes of
    /// the switch.
    ///
    /// # Errors
    /// If the program that runs is on trial: the other room has the one that was confirmed. If the image cannot be
    /// written; what ran before runs then. As [`Rooms::boot`].
    ///
    /// # Panics
    /// If `source` is a slice of fewer bytes.
    pub fn update<D: Nand>(
        &mut self,
        device: &mut D,
        rooms: &Rooms,
        image_bytes: u32,
        source: &mut impl Source,
        standing: Standing,
    ) -> Result<Header, ProgramError<D::Error>> {
        rooms.check(&device.part())?;
        self.plan(&device.part(), rooms.a, image_bytes)?;
        self.plan(&device.part(), rooms.b, image_bytes)?;
        let mut switch = rooms.settle_switch(device)?;
        let (target, successor) = match switch.state {
            Some(State { running, standing: Standing::Trial { .. } }) => {
                return Err(ProgramError::OnTrial { room: running });
            }
            Some(State { running, .. }) => self.target(device, rooms, &mut switch, running)?,
            // A program that may be in room A, and was not adopted, is left alone.
            None => match Header::find::<D, C>(device, rooms.a.start, self.cache_page().len()) {
                Err(ImageError::NoImage { .. }) => (RoomName::A, Successor::First),
                Err(ImageError::Device(error)) => return Err(ImageError::Device(error).into()),
                _ => (RoomName::B, Successor::First),
            },
        };
        switch.set_program(target, Program::Nothing);
        match switch.state {
            Some(_) => rooms.write_switch(device, &mut switch)?,
            None => switch.set_program(target.other(), Program::Nothing),
        }
        let (_, program) = self.write_program(device, rooms.room(target), image_bytes, source)?;
        let whole = rooms.whole::<D, C>(device, target, program, self.cache_page())?;
        let (header, _) = whole.map_err(|reason| ProgramError::NoProgram { room: target, reason })?;
        switch.set_program(target, program);
        let standing = if let Successor::First = successor { Standing::Confirmed } else { standing };
        rooms.set_state(device, &mut switch, State { running: target, standing })?;
        Ok(header)
    }

    /// The room to write to (step 1). If no program is whole, a damaged one is left alone. A whole one is named, if the
    /// switch does not do so yet.
    fn target<D: Nand>(
        &mut self,
        device: &mut D,
        rooms: &Rooms,
        switch: &mut Switch,
        running: RoomName,
    ) -> Result<(RoomName, Successor), ProgramError<D::Error>> {
        let other = running.other();
        let first = rooms.whole::<D, C>(device, running, switch.program(running), self.cache_page())?;
        if let Ok((_, program)) = first {
            switch.set_program(running, program);
            return Ok((other, Successor::Second));
        }
        let second = rooms.whole::<D, C>(device, other, switch.program(other), self.cache_page())?;
        Ok(match (first, second) {
            (_, Ok((_, program))) => {
                switch.set_program(other, program);
                (running, Successor::Second)
            }
            (Err(ImageError::NoImage { .. }), _) => (running, Successor::First),
            _ => (other, Successor::First),
        })
    }
}

impl<const PAGE: usize, const BUFFER: usize, C: Code> ImageWriter<PAGE, BUFFER, C> {
    /// As [`ImageWriterIn::update`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn update<D: Nand>(
        &mut self,
        device: &mut D,
        rooms: &Rooms,
        image_bytes: u32,
        source: &mut impl Source,
        standing: Standing,
    ) -> Result<Header, ProgramError<D::Error>> {
        self.0.update(device, rooms, image_bytes, source, standing)
    }
}
