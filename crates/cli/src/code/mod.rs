//! `norn code`: programs in two rooms of a simulated NAND part in an image file, installed, updated, booted, confirmed,
//! rolled back, and read out.
//!
//! The whole part is split into a switch and two rooms, and programs are in cache pages of 64 bytes with codes.

pub mod failure;

use std::fmt::{self, Display};
use std::fs;
use std::path::Path;

use norn_code_pager::policy::Lru;
use norn_code_pager::{
    Boot, CodeAddress, Crc32c, Header, ImageError, ImageWriterIn, Options, Pager, RollBack, Room, RoomContent,
    RoomName, Rooms, Standing, State, Version,
};
use norn_embedded::recognise_nand;
use norn_flash::{Block, Nand, NandPart, TenantKind};
use norn_flash_sim::{NandSim, NandSimError, NandSpec};
use norn_nand_ftl::recognition_bytes;
use serde_json::{Value, json};

use crate::error::Error;
use crate::new_file::NewFile;
use crate::opening::Source;
use crate::report::Report;
use failure::{CodeFailure, in_room};

/// Bytes of a cache page.
const CACHE_PAGE_BYTES: usize = 64;

/// A part to be made.
#[derive(Debug)]
pub struct Plan {
    /// The part.
    pub part: NandSpec,
    /// Blocks that are bad from the start.
    pub bad_blocks: u16,
    /// Decides which.
    pub seed: u64,
}

impl Plan {
    /// Where programs are on it, if it is large and good enough, and of how many bytes each is at most.
    fn rooms(&self) -> Result<(Rooms, u64), CodeFailure> {
        let (part, bad_blocks) = (&self.part.part, self.bad_blocks);
        let rooms = rooms_of(part);
        rooms.check(part)?;
        let bytes_max = rooms.a.program_bytes_max::<Crc32c>(part, CACHE_PAGE_BYTES).map_err(CodeFailure::Room)?;
        match bad_blocks <= part.block_count / 2 {
            true => Ok((rooms, bytes_max)),
            false => Err(CodeFailure::BadBlocks { bad_blocks, blocks: part.block_count }),
        }
    }
}

/// Where programs are on a part.
fn rooms_of(part: &NandPart) -> Rooms {
    Rooms::split(Room { start: Block(0), blocks: part.block_count })
}

/// A program, by what its header says.
fn describe(header: &Header) -> String {
    let check = header.check.map_or(String::new(), |check| format!(", CRC-32C {check:#010x}"));
    format!("program {}, {} bytes{check}", header.version, header.image.size_bytes())
}

/// Creates an image file of a part without a program.
///
/// # Errors
/// When the file exists or cannot be made, or the part is too small or bad.
pub fn create(image: &Path, plan: &Plan) -> Result<String, Error> {
    let (rooms, bytes_max) = in_image(image, plan.rooms())?;
    NandSim::create_image_with(image, plan.part.clone(), |part| {
        part.mark_random_bad(plan.bad_blocks, plan.seed);
        Ok::<_, Error>(())
    })?;
    Ok(format!(
        "{}: a {} for programs, with two rooms of {} blocks, each for a program of at most {bytes_max} bytes; `norn \
         code install` fills one\n",
        image.display(),
        plan.part.name,
        rooms.a.blocks,
    ))
}

/// An image that was opened, with what its part's programs take.
struct Opened {
    part: NandSim,
    rooms: Rooms,
    image: String,
}

impl Opened {
    fn open(image: &Path) -> Result<Self, Error> {
        Ok(Self::on(NandSim::open_image(image)?, image))
    }

    fn on(part: NandSim, image: &Path) -> Self {
        Opened { rooms: rooms_of(&Nand::part(&part)), part, image: image.display().to_string() }
    }

    /// What the switch says, and both rooms.
    fn status(&mut self) -> Result<norn_code_pager::Status<NandSimError>, CodeFailure> {
        let Opened { part, rooms, .. } = self;
        Ok(rooms.status::<_, Crc32c>(part, &mut [0; CACHE_PAGE_BYTES])?)
    }

    /// Writes the program in a file.
    fn update(&mut self, file: &Path, version: Version, standing: Standing) -> Result<Header, CodeFailure> {
        let code = fs::read(file).map_err(|error| CodeFailure::File { file: file.to_owned(), error })?;
        let length = u32::try_from(code.len()).ok().filter(|&length| length > 0);
        let length = length.ok_or_else(|| CodeFailure::Length { file: file.to_owned(), bytes: code.len() as u64 })?;
        let page = vec![0; usize::from(Nand::part(&self.part).page_bytes)];
        let mut writer: ImageWriterIn<_, Crc32c> = ImageWriterIn::new(CACHE_PAGE_BYTES, page).with_version(version);
        Ok(writer.update(&mut self.part, &self.rooms, length, &mut &code[..], standing)?)
    }

    /// Refuses a part that holds something else than programs in the rooms.
    fn expect_no_others(&mut self) -> Result<(), CodeFailure> {
        let Opened { part, rooms, .. } = self;
        let in_room =
            |part: &mut NandSim, room: Room| Header::find::<_, Crc32c>(part, room.start, CACHE_PAGE_BYTES).is_ok();
        let is_ours = in_room(part, rooms.a) || in_room(part, rooms.b);
        let (mut has_others, mut buffer) = (false, vec![0; recognition_bytes(&Nand::part(part))]);
        // A simulated part whose power is on loads every page that it has.
        let _ = recognise_nand(part, &mut buffer, |content| {
            let is_code = matches!(content.recognised, Ok(Some(recognised)) if recognised.kind == TenantKind::CODE);
            has_others |= !(is_code && is_ours);
        });
        if has_others { Err(CodeFailure::NotBlank) } else { Ok(()) }
    }
}

fn in_image<T>(image: &Path, result: Result<T, CodeFailure>) -> Result<T, Error> {
    result.map_err(|failure| Error::Code { image: image.to_owned(), failure })
}

/// Installs a part's first program.
///
/// # Errors
/// When a program is installed, the file cannot be read, or the program does not fit.
pub fn install(image: &Path, file: &Path, version: Version) -> Result<String, Error> {
    let mut opened = Opened::open(image)?;
    let installed = opened.status().and_then(|status| match status.state {
        Some(State { running, .. }) => Err(CodeFailure::Installed(running)),
        None => opened.expect_no_others(),
    });
    let header = in_image(image, installed.and_then(|()| opened.update(file, version, Standing::Confirmed)))?;
    Ok(format!("{}: {}: boots run it from now on\n", opened.image, describe(&header)))
}

/// Replaces the program that runs.
///
/// # Errors
/// When none is installed, the one that runs is on trial, the file cannot be read, or the program does not fit.
pub fn update(image: &Path, file: &Path, version: Version, standing: Standing) -> Result<String, Error> {
    let mut opened = Opened::open(image)?;
    let a = opened.rooms.a.start;
    let installed = opened
        .status()
        .and_then(|status| status.state.ok_or(CodeFailure::Program(norn_code_pager::ProgramError::NothingRuns { a })));
    let header = in_image(image, installed.and_then(|_| opened.update(file, version, standing)))?;
    let what_next = match standing {
        Standing::Confirmed => "boots run it from now on".to_owned(),
        Standing::Trial { boots_left } => format!(
            "on trial for {}: then boots go back to the one before, unless `norn code confirm {}` is called",
            boots(boots_left),
            opened.image
        ),
    };
    Ok(format!("{}: {}: {what_next}\n", opened.image, describe(&header)))
}

fn boots(count: u8) -> String {
    match count {
        1 => "1 boot".to_owned(),
        count => format!("{count} boots"),
    }
}

/// Does what a boot loader does: chooses the program that runs, and takes note of a boot on trial.
///
/// # Errors
/// When no room has a whole program.
pub fn boot(image: &Path) -> Result<String, Error> {
    let mut opened = Opened::open(image)?;
    let Opened { part, rooms, image: name } = &mut opened;
    let booted = rooms.boot::<_, Crc32c>(part, &mut [0; CACHE_PAGE_BYTES]).map_err(CodeFailure::from);
    let Boot { header, room, standing, roll_back } = in_image(image, booted)?;
    let reason = match roll_back {
        None => "",
        Some(RollBack::NotConfirmed) => "; rolled back: the program in the other room was not confirmed",
        Some(RollBack::NotWhole) => "; rolled back: the program in the other room is not whole",
    };
    let trial = match standing {
        Standing::Confirmed => String::new(),
        Standing::Trial { boots_left: 0 } => {
            format!("; on trial: the next boot goes back, unless `norn code confirm {name}` is called")
        }
        Standing::Trial { boots_left } => format!("; on trial for {} more", boots(boots_left)),
    };
    Ok(format!("{name}: {room} runs: {}{reason}{trial}\n", describe(&header)))
}

/// Makes the program that runs stay.
///
/// # Errors
/// When none is installed.
pub fn confirm(image: &Path) -> Result<String, Error> {
    let mut opened = Opened::open(image)?;
    let Opened { part, rooms, image: name } = &mut opened;
    in_image(image, rooms.confirm(part).map_err(CodeFailure::from))?;
    Ok(format!("{name}: the program that runs is confirmed\n"))
}

/// Goes back to the program in the other room.
///
/// # Errors
/// When there is no whole one.
pub fn roll_back(image: &Path) -> Result<String, Error> {
    let mut opened = Opened::open(image)?;
    let Opened { part, rooms, image: name } = &mut opened;
    let header = rooms.roll_back::<_, Crc32c>(part, &mut [0; CACHE_PAGE_BYTES]).map_err(CodeFailure::from);
    let header = in_image(image, header)?;
    Ok(format!("{name}: {}: boots run it from now on\n", describe(&header)))
}

/// Copies the program in a room, or the one that runs, to a new file.
///
/// # Errors
/// When none is installed, the room has no whole program, or there is such a file.
pub fn read(source: &Source, file: &Path, room: Option<RoomName>) -> Result<String, Error> {
    let Status { state, a, b, image: name, .. } = status(source)?;
    let image = &*source.image;
    let room = room.unwrap_or(state.running);
    let content = if room == RoomName::A { a } else { b };
    let header = in_image(image, content.map_err(|error| CodeFailure::NotRead { room, error }))?;
    let mut code = vec![0; header.image.size_bytes() as usize];
    let part = source.read_nand()?;
    let mut pager: Pager<_, Lru<1>, 1, CACHE_PAGE_BYTES, Crc32c> =
        Pager::over(part, header.image, Lru::default(), Options::default(), ());
    let copied = pager.read(CodeAddress(0), &mut code).map_err(|error| CodeFailure::Page { room, error });
    in_image(image, copied)?;
    NewFile::write(file, &code)?;
    Ok(format!("{name}: {room}: {}, copied to {}\n", describe(&header), file.display()))
}

/// What is in both rooms of an image.
pub struct Status {
    image: String,
    part: String,
    room_blocks: u16,
    state: State,
    a: RoomContent<NandSimError>,
    b: RoomContent<NandSimError>,
}

impl Status {
    /// Whether the program that runs is whole.
    pub fn is_sound(&self) -> bool {
        match self.state.running {
            RoomName::A => self.a.is_ok(),
            RoomName::B => self.b.is_ok(),
        }
    }

    fn line(&self, room: RoomName, program: &RoomContent<NandSimError>) -> String {
        let text = match program {
            Ok(header) => describe(header),
            Err(error) => in_room(error),
        };
        let mark = match self.state.standing {
            _ if self.state.running != room => "",
            Standing::Confirmed => " – runs",
            Standing::Trial { boots_left: 0 } => " – on trial: the next boot goes back, unless it is confirmed",
            Standing::Trial { boots_left } => {
                return format!("{room}: {text} – runs, on trial for {}", boots(boots_left));
            }
        };
        format!("{room}: {text}{mark}")
    }
}

impl Status {
    /// For people and programs.
    pub fn report(&self) -> Report {
        let mut report = Report::default();
        let trial_boots_left = match self.state.standing {
            Standing::Confirmed => None,
            Standing::Trial { boots_left } => Some(boots_left),
        };
        report.text(self.to_string()).datum("part", &*self.part).datum("room_blocks", self.room_blocks);
        report.datum("running", letter(self.state.running)).datum("trial_boots_left", trial_boots_left);
        report.datum("rooms", vec![room_value(RoomName::A, &self.a), room_value(RoomName::B, &self.b)]);
        report
    }
}

fn letter(room: RoomName) -> &'static str {
    match room {
        RoomName::A => "A",
        RoomName::B => "B",
    }
}

fn room_value(room: RoomName, program: &RoomContent<NandSimError>) -> Value {
    let (state, program, what) = match program {
        Ok(Header { image, version, check, .. }) => {
            let bytes = image.size_bytes();
            ("whole", Some(json!({ "version": version.to_string(), "bytes": bytes, "crc32c": check })), None)
        }
        Err(ImageError::NoImage { .. }) => ("no program", None, None),
        Err(error) => ("damaged", None, Some(in_room(error))),
    };
    json!({ "room": letter(room), "state": state, "program": program, "what": what })
}

impl Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: programs on a {}, in two rooms of {} blocks", self.image, self.part, self.room_blocks)?;
        writeln!(f, "{}", self.line(RoomName::A, &self.a))?;
        writeln!(f, "{}", self.line(RoomName::B, &self.b))
    }
}

/// Checks both rooms, and changes nothing.
///
/// # Errors
/// When no program is installed.
pub fn status(source: &Source) -> Result<Status, Error> {
    let image = &*source.image;
    let mut opened = Opened::on(source.read_nand()?, image);
    let a = opened.rooms.a.start;
    let norn_code_pager::Status { state, a: in_a, b: in_b } = in_image(image, opened.status())?;
    let state = state.ok_or(CodeFailure::Program(norn_code_pager::ProgramError::NothingRuns { a }));
    Ok(Status {
        state: in_image(image, state)?,
        part: opened.part.spec().name.clone(),
        room_blocks: opened.rooms.a.blocks,
        image: opened.image,
        a: in_a,
        b: in_b,
    })
}
