//! The switch: a record that says which of two rooms runs, whether that is settled or on trial, and which header is
//! that of each room's program.
//!
//! ```text
//! record, 64 bytes:
//! 0 "NSWI" │ 4 version 2 │ 5 room: 0, 1, 2 for none │ 6 on trial: 0 or 1 │ 7 boots left │ 8 sequence 4
//! 12 room A: start 2, blocks 2 │ 16 room B: start 2, blocks 2 │ 20 program of A 4 │ 24 program of B 4
//! 28 zeros │ 60 CRC-32C of bytes 0..60
//! ```
//!
//! A program is named by a checksum of its header (`Program`). So a header whose program was cut is no program, however
//! it reads, and neither is an older one in a block that has failed.
//!
//! Records are [copies](norn_flash::copies): each takes the first three pages of a block of the switch, in turn, and
//! the newest counts. So one write is one erase, and blocks wear evenly. A part without a record runs nothing, even if
//! there is an image in a room: its header may have been cut, and be there today and not tomorrow. A record that says
//! so follows the first one, if that was cut.

use norn_flash::copies::{Numbered, Reading, Survey, Written, read_nand_copy, write_nand_copy};
use norn_flash::{Block, Nand, PageAddress};

use crate::address::RoomName;
use crate::code::{Code, Crc32c};
use crate::error::{ImageError, ProgramError};
use crate::header::Program;
use crate::rooms::{Rooms, SWITCH_BLOCKS_MAX};

const RECORD_BYTES: usize = 64;
const CHECKED_BYTES: usize = RECORD_BYTES - Crc32c::BYTES;
const MAGIC: [u8; 4] = *b"NSWI";
pub(crate) const SWITCH_VERSION: u8 = 2;
/// The version whose records name no programs.
const UNNAMED_VERSION: u8 = 1;
/// What a record says where nothing runs.
const NO_ROOM: u8 = 2;

/// Whether a program stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Until another one is switched to.
    Confirmed,
    /// Until it has been booted this number of times more without a [confirmation](Rooms::confirm): the next boot then
    /// goes back to the other room.
    Trial {
        /// The number.
        boots_left: u8,
    },
}

impl Standing {
    /// A trial of one boot.
    pub const TRIAL: Standing = Standing::Trial { boots_left: 1 };
}

/// What the switch says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The room whose program is to run.
    pub running: RoomName,
    /// Whether it stays.
    pub standing: Standing,
}

impl State {
    /// The program of a room, settled.
    pub(crate) const fn confirmed(running: RoomName) -> State {
        State { running, standing: Standing::Confirmed }
    }
}

/// What the switch says, and which of its blocks have failed in the call at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switch {
    /// What runs.
    pub state: Option<State>,
    programs: [Program; 2],
    failed: u32,
}

impl Switch {
    /// The program of a room.
    pub fn program(&self, room: RoomName) -> Program {
        self.programs[room as usize]
    }

    /// Names the program of a room; nothing is written.
    pub fn set_program(&mut self, room: RoomName, program: Program) {
        self.programs[room as usize] = program;
    }
}

/// A record: a state with its number, and the rooms that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    version: u8,
    sequence: u32,
    state: Option<State>,
    /// Start and blocks of room A, then of room B.
    rooms: [u16; 4],
    /// Those of room A and of room B.
    programs: [Program; 2],
}

impl Numbered for Record {
    fn sequence(&self) -> u32 {
        self.sequence
    }
}

impl Record {
    fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        let running = self.state.map_or(NO_ROOM, |state| state.running as u8);
        let (on_trial, boots_left) = match self.state.map(|state| state.standing) {
            None | Some(Standing::Confirmed) => (0, 0),
            Some(Standing::Trial { boots_left }) => (1, boots_left),
        };
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&[self.version, running, on_trial, boots_left]);
        bytes[8..12].copy_from_slice(&self.sequence.to_le_bytes());
        for (place, number) in bytes[12..20].chunks_exact_mut(2).zip(self.rooms) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        for (place, program) in bytes[20..28].chunks_exact_mut(4).zip(self.programs) {
            place.copy_from_slice(&program.to_word().to_le_bytes());
        }
        let code = Crc32c::encode(&bytes[..CHECKED_BYTES]);
        bytes[CHECKED_BYTES..].copy_from_slice(&code);
        bytes
    }

    /// A record of any version, with a bit corrected.
    fn decode(mut bytes: [u8; RECORD_BYTES]) -> Option<Self> {
        let (checked, code) = bytes.split_at_mut(CHECKED_BYTES);
        Crc32c::correct(checked, [code[0], code[1], code[2], code[3]]).ok()?;
        let running = match bytes[5] {
            0 => Some(RoomName::A),
            1 => Some(RoomName::B),
            NO_ROOM => None,
            _ => return None,
        };
        let standing = match bytes[6] {
            0 => Standing::Confirmed,
            1 => Standing::Trial { boots_left: bytes[7] },
            _ => return None,
        };
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let program = |at| if bytes[4] == UNNAMED_VERSION { Program::Newest } else { Program::of_word(word(at)) };
        (bytes[..4] == MAGIC).then_some(Record {
            version: bytes[4],
            sequence: word(8),
            state: running.map(|running| State { running, standing }),
            rooms: [half(12), half(14), half(16), half(18)],
            programs: [program(20), program(24)],
        })
    }
}

/// The version of the record in a page, if there is one. Cost: a load.
pub(crate) fn record_version<D: Nand>(device: &mut D, page: PageAddress) -> Result<Option<u8>, D::Error> {
    let mut bytes = [0; RECORD_BYTES];
    device.load(page)?;
    device.fetch(&mut bytes)?;
    Ok(Record::decode(bytes).map(|record| record.version))
}

impl Rooms {
    fn numbers(&self) -> [u16; 4] {
        [self.a.start.0, self.a.blocks, self.b.start.0, self.b.blocks]
    }

    fn survey<D: Nand>(&self, device: &mut D, skipped: u32) -> Result<Survey<Record>, ProgramError<D::Error>> {
        let start = self.switch.start.0;
        let mut readings = [Reading::Nothing; SWITCH_BLOCKS_MAX];
        let readings = &mut readings[..usize::from(self.switch.blocks)];
        for (reading, place) in readings.iter_mut().zip(start..) {
            *reading = read_nand_copy(device, Block(place), Record::decode).map_err(ImageError::Device)?;
        }
        Ok(Survey::of(start, readings, skipped))
    }

    /// What a survey's newest record says.
    fn switch_of<E>(&self, survey: &Survey<Record>) -> Result<Switch, ProgramError<E>> {
        match survey.newest {
            None => Ok(Switch { state: None, programs: [Program::Newest; 2], failed: 0 }),
            Some(record) if record.version > SWITCH_VERSION => {
                Err(ProgramError::NewerSwitch { version: record.version })
            }
            Some(record) if record.rooms != self.numbers() => {
                let [a_start, a_blocks, b_start, b_blocks] = record.rooms;
                Err(ProgramError::OtherRooms { a: (Block(a_start), a_blocks), b: (Block(b_start), b_blocks) })
            }
            Some(Record { state, programs, .. }) => Ok(Switch { state, programs, failed: 0 }),
        }
    }

    /// What the switch says, without settling what a cut left. Cost: three loads for each of its blocks, 24 for one
    /// without a record.
    pub(crate) fn read_switch<D: Nand>(&self, device: &mut D) -> Result<Switch, ProgramError<D::Error>> {
        self.check(&device.part())?;
        let survey = self.survey(device, 0)?;
        self.switch_of(&survey)
    }

    /// What the switch says, now and from now on. Cost: as [`read_switch`](Self::read_switch); after
    /// a cut, a write.
    pub(crate) fn settle_switch<D: Nand>(&self, device: &mut D) -> Result<Switch, ProgramError<D::Error>> {
        self.check(&device.part())?;
        let survey = self.survey(device, 0)?;
        let mut switch = self.switch_of(&survey)?;
        if survey.is_doubtful {
            self.write_switch(device, &mut switch)?;
        }
        Ok(switch)
    }

    /// As [`settle_switch`](Self::settle_switch), where something runs: that beside the switch.
    pub(crate) fn settled<D: Nand>(&self, device: &mut D) -> Result<(Switch, State), ProgramError<D::Error>> {
        let switch = self.settle_switch(device)?;
        let state = switch.state.ok_or(ProgramError::NothingRuns { a: self.a.start })?;
        Ok((switch, state))
    }

    /// Sets what runs, from its return on; before that it is what it was. Cost: as
    /// [`write_switch`](Self::write_switch).
    pub(crate) fn set_state<D: Nand>(
        &self,
        device: &mut D,
        switch: &mut Switch,
        state: State,
    ) -> Result<(), ProgramError<D::Error>> {
        switch.state = Some(state);
        self.write_switch(device, switch)
    }

    /// Writes what a switch says. Blocks that fail are left alone for the rest of the call. Cost: two surveys of its
    /// blocks, an erase, three programs.
    pub(crate) fn write_switch<D: Nand>(
        &self,
        device: &mut D,
        switch: &mut Switch,
    ) -> Result<(), ProgramError<D::Error>> {
        loop {
            let Survey { next, sequence, .. } = self.survey(device, switch.failed)?;
            let place =
                next.ok_or(ProgramError::NoSwitchBlock { start: self.switch.start, blocks: self.switch.blocks })?;
            let Switch { state, programs, .. } = *switch;
            let record = Record { version: SWITCH_VERSION, sequence, state, rooms: self.numbers(), programs };
            let written = write_nand_copy(device, Block(place), &record.encode()).map_err(ImageError::Device)?;
            if written == Written::Whole {
                let read = read_nand_copy(device, Block(place), Record::decode).map_err(ImageError::Device)?;
                if read == Reading::Certain(record) {
                    return Ok(());
                }
            }
            switch.failed |= 1 << (place - self.switch.start.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_what_was_put_into_it_and_corrects_a_bit() {
        for running in [RoomName::A, RoomName::B] {
            for standing in [Standing::Confirmed, Standing::TRIAL, Standing::Trial { boots_left: 255 }] {
                let rooms = [6, 500, 506, 0xFFFF];
                let programs = [Program::of_word(0x1234_5678), Program::Nothing];
                let state =
                    (running != RoomName::B || standing != Standing::TRIAL).then_some(State { running, standing });
                let record = Record { version: SWITCH_VERSION, sequence: 0xDEAD_BEEF, state, rooms, programs };
                let bytes = record.encode();
                assert_eq!(Record::decode(bytes), Some(record));
                for bit in 0..8 * RECORD_BYTES {
                    let mut damaged = bytes;
                    damaged[bit / 8] ^= 1 << (bit % 8);
                    assert_eq!(Record::decode(damaged), Some(record), "bit {bit}");
                    damaged[(bit / 8 + 7) % RECORD_BYTES] ^= 0x10;
                    assert_eq!(Record::decode(damaged), None, "bit {bit} and another");
                }
            }
        }
        let programs = [Program::Newest; 2];
        let old = Record { version: UNNAMED_VERSION, sequence: 1, state: None, rooms: [6, 9, 15, 9], programs };
        let mut bytes = old.encode();
        bytes[20..28].fill(0);
        let code = Crc32c::encode(&bytes[..CHECKED_BYTES]);
        bytes[CHECKED_BYTES..].copy_from_slice(&code);
        assert_eq!(Record::decode(bytes), Some(old), "version 1 names no programs");
        assert_eq!(Record::decode([0; RECORD_BYTES]), None);
        assert_eq!(Record::decode([0xFF; RECORD_BYTES]), None);
    }
}
