//! Programs in two rooms, as a boot loader sees them: which one runs, when it stays, and when the other one does again.
//!
//! A boot:
//! 1. settle the switch, if a cut left it doubtful;
//! 2. if the program was on trial, and its boots are used up, it was not confirmed: the other one is first in line;
//! 3. run the first program in line that is whole, every byte checked;
//! 4. before that, record what has changed: a boot of the trial, or that the other program runs.
//!
//! | the switch says | its room is whole | what runs | the switch says then |
//! |---|---|---|---|
//! | nothing | | nothing | the same |
//! | X, confirmed | yes | X | the same; nothing is written |
//! | X, confirmed | no | the other, if whole | the other, confirmed |
//! | X, on trial, n boots left | yes | X | X, n − 1 boots left |
//! | X, on trial, n boots left | no | the other, if whole | the other, confirmed |
//! | X, on trial, none left | yes or no | the other, if whole, else X | the other, confirmed; or the same |
//!
//! The program of a room is the one that the switch names: no other header in the room is looked at, whole or not.
//!
//! Invariant: a room that a boot may have to go back to is not written to.

use norn_flash::Nand;

use crate::address::RoomName;
use crate::code::Code;
use crate::error::{ImageError, ProgramError};
use crate::header::{Header, Program};
use crate::rooms::Rooms;
use crate::switch::{Standing, State, Switch};

/// How often a room is read before it is taken for damaged: bits may err at random.
const READS_MAX: u32 = 2;

/// Why a boot went back to the other room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RollBack {
    /// The program was on trial, and was not confirmed.
    NotConfirmed,
    /// The program is not whole, or there is none.
    NotWhole,
}

/// A program that was chosen to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boot {
    /// Where it is, and which one it is: a pager is made over [`Header::image`].
    pub header: Header,
    /// Its room.
    pub room: RoomName,
    /// Whether it stays: one on trial has to be [confirmed](Rooms::confirm).
    pub standing: Standing,
    /// Why it is not the program that the switch named.
    pub roll_back: Option<RollBack>,
}

/// The program in a room, every byte of which was checked, or why there is none.
pub type RoomContent<E> = Result<Header, ImageError<E>>;

/// The same, and how to name it.
pub(crate) type NamedContent<E> = Result<(Header, Program), ImageError<E>>;

/// What is in both rooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status<E> {
    /// What the switch says; nothing, if no program was ever switched to.
    pub state: Option<State>,
    /// The program in room A.
    pub a: RoomContent<E>,
    /// The program in room B.
    pub b: RoomContent<E>,
}

impl Rooms {
    /// The program to run, in cache pages of the width of `cache_page`, which is used to read it. Cost: three loads for
    /// each block of the switch, 24 for one without a record; a load for each page of the program, the transfer of its
    /// bytes, and the instructions of [`Header::verify`]; on trial and after a cut, a write of the switch.
    ///
    /// ```
    /// use norn_code_pager::policy::Lru;
    /// use norn_code_pager::{CodeAddress, Crc32c, ImageWriter, Options, Pager, Room, Rooms, Standing};
    /// use norn_flash::Block;
    /// # use norn_flash_sim::NandSim;
    /// # use norn_flash_sim::nand_catalogue::{Bus, k9f1208q0b};
    /// # let mut part = NandSim::new(k9f1208q0b(Bus::Mhz33Bits8));
    /// # let (old, new) = (vec![1; 20_000], vec![2; 30_000]);
    ///
    /// const ROOMS: Rooms = Rooms::split(Room { start: Block(0), blocks: 40 });
    /// let mut writer: ImageWriter<64, 512, Crc32c> = ImageWriter::new().with_version("1.0.0".parse().unwrap());
    /// writer.update(&mut part, &ROOMS, 20_000, &mut &old[..], Standing::Confirmed).unwrap();
    ///
    /// // The program gets a successor, which has one boot to prove itself.
    /// let mut writer = writer.with_version("1.1.0".parse().unwrap());
    /// writer.update(&mut part, &ROOMS, 30_000, &mut &new[..], Standing::TRIAL).unwrap();
    ///
    /// // The boot loader, after any cut of the power.
    /// let boot = ROOMS.boot::<_, Crc32c>(&mut part, &mut [0; 64]).unwrap();
    /// assert_eq!(boot.header.version.to_string(), "1.1.0");
    /// let mut pager: Pager<_, Lru<32>, 32, 64, Crc32c> =
    ///     Pager::over(part, boot.header.image, Lru::default(), Options::default(), ());
    /// assert_eq!(pager.view(CodeAddress(0)).unwrap()[0], 2);
    ///
    /// // The program, once it knows that it works; else the next boot runs 1.0.0 again.
    /// pager.with_device(|part| ROOMS.confirm(part)).unwrap();
    /// ```
    ///
    /// # Errors
    /// If nothing was ever switched to, or no room has a whole program; if the rooms are not those of the switch, or
    /// cannot be; if the device fails, or no block of the switch is good.
    pub fn boot<D: Nand, C: Code>(
        &self,
        device: &mut D,
        cache_page: &mut [u8],
    ) -> Result<Boot, ProgramError<D::Error>> {
        let (mut switch, state) = self.settled(device)?;
        let is_expired = state.standing == Standing::Trial { boots_left: 0 };
        let first = if is_expired { state.running.other() } else { state.running };
        let (room, header) = match self.whole::<D, C>(device, first, switch.program(first), cache_page)? {
            Ok((header, _)) => (first, header),
            Err(reason) => {
                let other = first.other();
                match self.whole::<D, C>(device, other, switch.program(other), cache_page)? {
                    Ok((header, _)) => (other, header),
                    Err(_) => return Err(ProgramError::NoProgram { room: first, reason }),
                }
            }
        };
        let next = state.after_boot(room);
        if next != state {
            self.set_state(device, &mut switch, next)?;
        }
        let reason = if is_expired { RollBack::NotConfirmed } else { RollBack::NotWhole };
        let roll_back = (room != state.running).then_some(reason);
        Ok(Boot { header, room, standing: next.standing, roll_back })
    }

    /// Makes the program that runs stay. Cost: loads of the switch as for [`boot`](Self::boot), and a write of the
    /// switch if the program was on trial.
    ///
    /// # Errors
    /// If the rooms are not those of the switch, the device fails, or no block of the switch is good.
    pub fn confirm<D: Nand>(&self, device: &mut D) -> Result<(), ProgramError<D::Error>> {
        let (mut switch, state) = self.settled(device)?;
        match state.standing {
            Standing::Confirmed => Ok(()),
            Standing::Trial { .. } => self.set_state(device, &mut switch, State::confirmed(state.running)),
        }
    }

    /// Makes the other room's program the one that the next boot runs, and stays. Returns it. Cost: as that of
    /// [`boot`](Self::boot), and a write of the switch.
    ///
    /// # Errors
    /// If the other room has no whole program that was switched to, which is so after an update that was cut or failed;
    /// nothing has changed then. As [`confirm`](Self::confirm).
    pub fn roll_back<D: Nand, C: Code>(
        &self,
        device: &mut D,
        cache_page: &mut [u8],
    ) -> Result<Header, ProgramError<D::Error>> {
        let (switch, state) = self.settled(device)?;
        self.switch_to::<D, C>(device, switch, state.running.other(), cache_page)
    }

    /// Makes a program run that was written to room A without a switch: an image of one room, in format 1, too. Returns
    /// it. It has to have been written completely, as one has that was running. Nothing is copied. Cost: as that of
    /// [`roll_back`](Self::roll_back).
    ///
    /// # Errors
    /// If the switch names a room already, or room A has no whole program; nothing has changed then. As
    /// [`confirm`](Self::confirm).
    pub fn adopt<D: Nand, C: Code>(
        &self,
        device: &mut D,
        cache_page: &mut [u8],
    ) -> Result<Header, ProgramError<D::Error>> {
        let mut switch = self.settle_switch(device)?;
        if let Some(State { running, .. }) = switch.state {
            return Err(ProgramError::Adopted { room: running });
        }
        switch.set_program(RoomName::B, Program::Nothing);
        self.switch_to::<D, C>(device, switch, RoomName::A, cache_page)
    }

    /// Makes the program of a room run and stay, if it is whole.
    fn switch_to<D: Nand, C: Code>(
        &self,
        device: &mut D,
        mut switch: Switch,
        room: RoomName,
        cache_page: &mut [u8],
    ) -> Result<Header, ProgramError<D::Error>> {
        let whole = self.whole::<D, C>(device, room, switch.program(room), cache_page)?;
        let (header, program) = whole.map_err(|reason| ProgramError::NoProgram { room, reason })?;
        switch.set_program(room, program);
        self.set_state(device, &mut switch, State::confirmed(room))?;
        Ok(header)
    }

    /// What the switch says, and what is in both rooms. Writes nothing, not even after a cut, where a boot would settle
    /// what this only finds. Cost: as that of [`boot`](Self::boot), for both rooms.
    ///
    /// # Errors
    /// If the rooms are not those of the switch, or the device fails.
    pub fn status<D: Nand, C: Code>(
        &self,
        device: &mut D,
        cache_page: &mut [u8],
    ) -> Result<Status<D::Error>, ProgramError<D::Error>> {
        let switch = self.read_switch(device)?;
        let mut content = |room| {
            let whole = self.whole::<D, C>(device, room, switch.program(room), cache_page)?;
            Ok::<_, ProgramError<D::Error>>(whole.map(|(header, _)| header))
        };
        let (a, b) = (content(RoomName::A)?, content(RoomName::B)?);
        Ok(Status { state: switch.state, a, b })
    }

    /// The program of a room.
    pub(crate) fn whole<D: Nand, C: Code>(
        &self,
        device: &mut D,
        room: RoomName,
        program: Program,
        cache_page: &mut [u8],
    ) -> Result<NamedContent<D::Error>, ProgramError<D::Error>> {
        let mut read = Err(ImageError::Empty);
        for _ in 0..READS_MAX {
            read = self.read_whole::<D, C>(device, room, program, cache_page);
            match read {
                Ok(_) => break,
                Err(ImageError::Device(_)) => return Err(read.expect_err("it is an error").into()),
                Err(_) => {}
            }
        }
        Ok(read)
    }

    fn read_whole<D: Nand, C: Code>(
        &self,
        device: &mut D,
        room: RoomName,
        program: Program,
        cache_page: &mut [u8],
    ) -> NamedContent<D::Error> {
        let start = self.room(room).start;
        let (header, program) = Header::find_program::<D, C>(device, start, cache_page.len(), program)?;
        header.verify::<D, C>(device, cache_page)?;
        Ok((header, program))
    }
}

impl State {
    /// What the switch has to say when the program of `room` has been chosen to run.
    fn after_boot(self, room: RoomName) -> State {
        match self.standing {
            _ if room != self.running => State::confirmed(room),
            Standing::Trial { boots_left } => {
                State { standing: Standing::Trial { boots_left: boots_left.saturating_sub(1) }, ..self }
            }
            Standing::Confirmed => self,
        }
    }
}
