//! Code images on NAND parts, in two rooms with a switch or alone, and a trace that runs through a cache of their
//! pages. [`anatomy`] decodes heads, [`trace`] draws programs and runs them.
//!
//! Invariant: nothing here changes cells: a program that runs from NAND programs nothing.

pub mod anatomy;
pub mod trace;

use std::collections::BTreeMap;
use std::rc::Rc;

use norn_code_pager::{
    CachePage, Crc32c, Header, Image, ImageWriterIn, Room, RoomName, Rooms, Standing, State as SwitchState, Uncoded,
    recognise,
};
use norn_flash::{Address, Block, Nand, NandPart, PageAddress, PageNumber};
use norn_flash_sim::{ImageBytes, NandSim, NandSpec, Tear};
use serde_json::{Value, json};

use self::anatomy::{HEAD_BYTES, Head, number};
use self::trace::{Cache, CodeName, Outcome, PolicyName, Served, draw, run};
use crate::anatomy::{Area, ERASED, Found, Kind, Piece, State, UNKNOWN, hexadecimal};
use crate::shown::{MountCalls, Overview, Recording, Shown, UnitOverview};

const CODE: Kind = Kind::new(b'p', "page", "cache page of code");
const CACHED: Kind = Kind::new(b'c', "cached", "the same, in the cache");
const HEAD: Kind = Kind::new(b'h', "head", "header of an image");
const SWITCH: Kind = Kind::new(b's', "log", "record of the switch");
const KINDS: &[Kind] = &[CODE, CACHED, HEAD, SWITCH, UNKNOWN, ERASED];
const COPY: &str = "2:A cache page has";

/// Frames of the cache at first.
const FRAMES: u8 = 16;
/// Bytes of a cache page, and of the programs, in the example.
const EXAMPLE: (usize, [u32; 2]) = (64, [20_000, 24_000]);
/// Widths of cache pages that are compared.
const WIDTHS: [usize; 4] = [32, 64, 128, 256];
/// Most requests of a trace from a file.
const REQUESTS_MAX: usize = 20_000;

/// A program in an image.
#[derive(Clone, Copy, Debug)]
struct Program {
    header: Header,
    code: CodeName,
    room: Option<RoomName>,
    /// Whether it is the one that runs.
    state: State,
}

impl Program {
    fn image(&self) -> Image {
        self.header.image
    }

    fn place(&self, page: u16) -> Option<(PageAddress, u16)> {
        let place = match self.code {
            CodeName::Uncoded => self.image().place_of::<Uncoded>(CachePage(page)),
            CodeName::Crc32c => self.image().place_of::<Crc32c>(CachePage(page)),
        };
        place.map(|(page, column)| (page, column.0))
    }

    fn stride(&self) -> u16 {
        self.image().cache_page_bytes() + self.code.bytes() as u16
    }

    fn text(&self) -> String {
        let room = self.room.map_or(format!("image at {}", self.image().start()), |room| room.to_string());
        format!("{room}, program {}", self.header.version)
    }
}

/// A trace, and what the cache did with it.
#[derive(Debug)]
struct Run {
    /// Addresses and routines; no routines of a trace from a file.
    requests: Vec<(u32, Option<u32>)>,
    cache: Cache,
    outcome: Outcome,
}

/// Code images as they are shown.
#[derive(Clone)]
pub struct Code {
    cells: NandSim,
    programs: Vec<Program>,
    switch: Option<SwitchState>,
    /// The program and the first cache page of each page of the part that has some.
    pages: BTreeMap<u32, (usize, u16)>,
    cache: Cache,
    /// A trace from a file.
    given: Option<Rc<Vec<u32>>>,
    /// A trace that runs, how many requests of it are done, and what the cache holds then.
    run: Option<(Rc<Run>, usize, Vec<u16>)>,
}

impl Code {
    /// Whether a part holds code images.
    ///
    /// # Errors
    /// The device's, in words.
    pub fn is_on(part: &NandSim) -> Result<bool, String> {
        let mut copy = part.clone();
        copy.freeze_counters();
        recognise(&mut copy).map(|found| found.is_some()).map_err(|error| error.to_string())
    }

    /// The images on a part.
    pub fn of(part: &NandSim) -> Code {
        // A part that is read from bytes has its pages there; a clone has them in memory.
        let cells = part.clone();
        let rooms = rooms_of(&cells.part());
        let mut copy = cells.clone();
        let status = rooms.check::<()>(&cells.part()).ok();
        let status = status.and_then(|()| rooms.status::<_, Crc32c>(&mut copy, &mut [0; EXAMPLE.0]).ok());
        let switch = status.and_then(|status| status.state);
        let mut programs: Vec<Program> = Vec::new();
        for block in cells.part().blocks() {
            let Some((start, width, code)) = header_of(&cells, block) else { continue };
            let found = match code {
                CodeName::Uncoded => Header::find::<_, Uncoded>(&mut copy, start, width).ok(),
                CodeName::Crc32c => Header::find::<_, Crc32c>(&mut copy, start, width).ok(),
            };
            let is_known = programs.iter().any(|program| program.image().start() == start);
            let Some(header) = found.filter(|_| !is_known) else { continue };
            let room = [RoomName::A, RoomName::B].into_iter().find(|&name| rooms.room(name).start == start);
            let room = room.filter(|_| switch.is_some());
            let runs = switch.is_none_or(|switch| room == Some(switch.running));
            programs.push(Program { header, code, room, state: if runs { State::Live } else { State::Obsolete } });
        }
        let mut pages = BTreeMap::new();
        for (number, program) in programs.iter().enumerate() {
            for cache_page in 0..program.image().cache_pages() as u16 {
                if let Some((page, 0)) = program.place(cache_page) {
                    pages.insert(cells.part().number_of(page).0, (number, cache_page));
                }
            }
        }
        let cache = Cache { policy: PolicyName::Lru, frames: FRAMES };
        Code { cells, programs, switch, pages, cache, given: None, run: None }
    }

    /// A part with a program in one room, and its update in the other.
    ///
    /// # Errors
    /// If they do not fit, in words.
    pub fn example(spec: NandSpec) -> Result<Code, String> {
        let (width, lengths) = EXAMPLE;
        let (page_bytes, rooms) = (usize::from(spec.part.page_bytes), rooms_of(&spec.part));
        let mut part = NandSim::new(spec);
        let mut random = fastrand::Rng::with_seed(1);
        for (minor, bytes) in (0..).zip(lengths) {
            let code: Vec<u8> = (0..bytes).map(|_| random.u8(..)).collect();
            let version = norn_code_pager::Version { major: 1, minor, patch: 0 };
            let writer: ImageWriterIn<_, Crc32c> = ImageWriterIn::new(width, vec![0; page_bytes]);
            let written =
                writer.with_version(version).update(&mut part, &rooms, bytes, &mut &code[..], Standing::Confirmed);
            written.map_err(|error| error.to_string())?;
        }
        Ok(Code::of(&part))
    }

    fn part(&self) -> NandPart {
        self.cells.spec().part
    }

    fn address(&self, page: PageAddress) -> Address {
        Address(self.part().number_of(page).0 * u32::from(self.part().register_bytes()))
    }

    fn page_at(&self, address: Address) -> Result<PageAddress, String> {
        let number = address.0 / u32::from(self.part().register_bytes());
        match number < self.part().page_count() {
            true => Ok(self.part().page_at(PageNumber(number))),
            false => Err(format!("the part has no address {address}")),
        }
    }

    fn program(&self) -> Result<&Program, String> {
        self.programs.iter().find(|program| program.state == State::Live).ok_or_else(|| "no program runs".to_owned())
    }
}

/// Where `norn code` has programs on a part.
fn rooms_of(part: &NandPart) -> Rooms {
    Rooms::split(Room { start: Block(0), blocks: part.block_count })
}

/// What a header at the start of a block says of where its room starts, how wide cache pages are, and of their code.
fn header_of(cells: &NandSim, block: Block) -> Option<(Block, usize, CodeName)> {
    let head = cells.peek(block.page(0));
    if Head::of(&head) != Some(Head::Header) {
        return None;
    }
    let code = if number(&head, 5, 1) == 0 { CodeName::Uncoded } else { CodeName::Crc32c };
    Some((Block(number(&head, 12, 2) as u16), number(&head, 6, 2) as usize, code))
}

impl Code {
    /// The areas of a page.
    fn add_areas(&self, page: PageAddress, areas: &mut Vec<Area>) {
        let (cells, start) = (self.cells.peek(page), self.address(page));
        let all = cells.len() as u32;
        let mut add = |from: u32, to: u32, kind, state, text: String| {
            if to > from {
                areas.push(Area { at: start.offset(from), bytes: to - from, kind, state, text });
            }
        };
        if let Some(&(number, first)) = self.pages.get(&self.part().number_of(page).0) {
            let program = &self.programs[number];
            let mut end = 0;
            for cache_page in first.. {
                let Some((_, column)) = program.place(cache_page).filter(|(place, _)| *place == page) else { break };
                end = u32::from(column + program.stride());
                let kind = if self.is_held(program, cache_page) { CACHED } else { CODE };
                let text = format!("cache page {cache_page} of {}", program.text());
                add(column.into(), end, kind, program.state, text);
            }
            add(end, all, ERASED, State::Live, "unused".to_owned());
            return;
        }
        let used = cells.iter().rposition(|&byte| byte != 0xFF).map_or(0, |last| last as u32 + 1);
        let (kind, text) = match Head::of(&cells) {
            Some(head) => (if head == Head::Header { HEAD } else { SWITCH }, head.text()),
            None => (UNKNOWN, "of no image that counts"),
        };
        add(0, used, kind, self.state_of_head(page, kind), format!("{page}: {text}"));
        add(used, all, ERASED, State::Live, format!("{page}: erased"));
    }

    /// A header counts if it is the one that was found; of the switch, the record with the highest number.
    fn state_of_head(&self, page: PageAddress, kind: Kind) -> State {
        let counts = match kind {
            HEAD => self.programs.iter().any(|program| program.image().header_page() == page),
            SWITCH => {
                let sequence = |page: PageAddress| {
                    let cells = self.cells.peek(page);
                    (Head::of(&cells) == Some(Head::Record)).then(|| number(&cells, 8, 4))
                };
                let records = self.part().blocks().take(8).filter_map(|block| sequence(block.page(0)));
                records.max() == sequence(page)
            }
            _ => false,
        };
        if counts { State::Live } else { State::Obsolete }
    }

    fn is_held(&self, program: &Program, page: u16) -> bool {
        let held = self.run.as_ref().map(|(_, _, held)| held);
        program.state == State::Live && held.is_some_and(|held| held.binary_search(&page).is_ok())
    }

    /// The bytes of the program that runs.
    fn bytes(&self, program: &Program) -> Vec<u8> {
        let (image, mut bytes) = (program.image(), Vec::new());
        for page in 0..image.cache_pages() as u16 {
            let Some((place, column)) = program.place(page) else { break };
            let cells = self.cells.peek(place);
            bytes.extend_from_slice(&cells[usize::from(column)..][..usize::from(image.cache_page_bytes())]);
        }
        bytes.truncate(image.size_bytes() as usize);
        bytes
    }

    /// Misses and loads of the trace by policy and width of cache pages, in the RAM of the cache.
    fn compared(&self) -> Result<Value, String> {
        let (run_now, ..) = self.run.as_ref().ok_or("no trace runs")?;
        let program = self.program()?;
        let (bytes, ram) = (self.bytes(program), self.ram_bytes(program));
        let spec = self.cells.spec();
        let mut widths = Vec::new();
        for width in WIDTHS {
            let Some(frames) = u8::try_from(ram / width).ok().filter(|&frames| frames > 0) else { continue };
            let mut part = NandSim::new(spec.clone());
            let (room, page) =
                (Room { start: Block(0), blocks: spec.part.block_count }, vec![0; spec.part.page_bytes.into()]);
            let written = match program.code {
                CodeName::Uncoded => ImageWriterIn::<_, Uncoded>::new(width, page).write(
                    &mut part,
                    room,
                    bytes.len() as u32,
                    &mut &bytes[..],
                ),
                CodeName::Crc32c => ImageWriterIn::<_, Crc32c>::new(width, page).write(
                    &mut part,
                    room,
                    bytes.len() as u32,
                    &mut &bytes[..],
                ),
            };
            // A width that the part does not take has no column.
            let Ok(image) = written else { continue };
            let addresses = || run_now.requests.iter().map(|(address, _)| *address);
            let by_policy: Vec<Value> = PolicyName::ALL
                .iter()
                .map(|&policy| {
                    match run(&part, (image, program.code), Cache { policy, frames }, addresses()) {
                        Ok(outcome) => json!([policy.name(), outcome.misses(), outcome.loads()]),
                        // More frames than the policy takes.
                        Err(_) => json!([policy.name(), null, null]),
                    }
                })
                .collect();
            widths.push(json!({ "page_bytes": width, "frames": frames, "policies": by_policy }));
        }
        Ok(json!({ "ram_bytes": ram, "requests": run_now.requests.len(), "widths": widths }))
    }

    fn ram_bytes(&self, program: &Program) -> usize {
        usize::from(self.cache.frames) * usize::from(program.image().cache_page_bytes())
    }

    /// The cache, and the trace up to where it is.
    fn cache(&self) -> Result<Value, String> {
        let policies = PolicyName::ALL.map(PolicyName::name);
        let programs: Vec<Value> = self
            .programs
            .iter()
            .map(|program| {
                let Header { image, version, check, .. } = program.header;
                json!({
                    "text": program.text(), "at": self.address(image.header_page()).0, "bytes": image.size_bytes(),
                    "version": version.to_string(), "crc32c": check, "page_bytes": image.cache_page_bytes(),
                    "pages": image.cache_pages(), "runs": program.state == State::Live,
                })
            })
            .collect();
        let mut answer = json!({
            "policies": policies, "policy": self.cache.policy.name(), "frames": self.cache.frames, "programs": programs,
            "run": null,
        });
        if let (Some((run, done, held)), Ok(program)) = (&self.run, self.program()) {
            let width = u32::from(program.image().cache_page_bytes());
            let letter = |served: &Served| match served {
                Served::Hit => 'h',
                Served::FromRegister => 'r',
                Served::Loaded => 'l',
            };
            let at = |page: u16| program.place(page).map(|(page, column)| self.address(page).0 + u32::from(column));
            let done_of = &run.outcome.served[..*done];
            let count = |wanted: Served| done_of.iter().filter(|&&served| served == wanted).count();
            answer["run"] = json!({
                "policy": run.cache.policy.name(), "frames": run.cache.frames, "done": done,
                "hits": count(Served::Hit), "misses": done - count(Served::Hit), "loads": count(Served::Loaded),
                "held": held.iter().map(|&page| json!([page, at(page)])).collect::<Vec<_>>(),
                "pages": run.requests.iter().map(|(address, _)| address / width).collect::<Vec<_>>(),
                "served": run.outcome.served.iter().map(letter).collect::<String>(),
            });
        }
        Ok(answer)
    }

    fn set_cache(&mut self, question: &Value) -> Result<Value, String> {
        let name = question["policy"].as_str().unwrap_or_default();
        let policy = PolicyName::named(name).ok_or_else(|| format!("no policy is called {name:?}"))?;
        let frames = question["frames"].as_u64().and_then(|frames| u8::try_from(frames).ok());
        let frames = frames.filter(|&frames| frames > 0).ok_or("a cache has 1 to 255 frames")?;
        // What the policy says of so many frames.
        let (program, cache) = (self.program()?, Cache { policy, frames });
        run(&self.cells, (program.image(), program.code), cache, std::iter::empty())?;
        self.cache = cache;
        Ok(json!({}))
    }

    fn set_trace(&mut self, question: &Value) -> Result<Value, String> {
        let text = question["text"].as_str().unwrap_or_default();
        let bytes = self.program()?.image().size_bytes();
        let mut addresses = Vec::new();
        for (line, word) in
            text.lines().enumerate().filter_map(|(line, text)| Some((line + 1, text.split_whitespace().next()?)))
        {
            let address = match word.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => word.parse().ok(),
            };
            let address = address.ok_or_else(|| format!("line {line} of the trace: {word:?} is no address"))?;
            if address >= bytes {
                return Err(format!("line {line} of the trace: {address} is beyond the program's {bytes} bytes"));
            }
            if addresses.len() == REQUESTS_MAX {
                return Err(format!("a trace has at most {REQUESTS_MAX} addresses"));
            }
            addresses.push(address);
        }
        let count = addresses.len();
        if count == 0 {
            return Err("the trace has no address".to_owned());
        }
        self.given = Some(Rc::new(addresses));
        Ok(json!({ "requests": count }))
    }
}

impl Shown for Code {
    fn overview(&mut self) -> Overview {
        let part = self.part();
        let unit = |(block, erases): (Block, u32)| {
            let head = Head::of(&self.cells.peek(block.page(0)));
            let page = self.part().number_of(block.page(0)).0;
            let role = match (head, self.pages.get(&page)) {
                (Some(Head::Record), _) => Some("switch".to_owned()),
                (Some(Head::Header), _) => Some("header".to_owned()),
                (None, Some((number, _))) => {
                    Some(self.programs[*number].room.map_or("code".to_owned(), |room| format!("code {}", letter(room))))
                }
                (None, None) => None,
            };
            UnitOverview { erases, role, sequence: None }
        };
        let content = match (self.switch, self.program()) {
            (Some(SwitchState { running, .. }), Ok(program)) => {
                format!("programs in two rooms, {running} runs: program {}", program.header.version)
            }
            (_, Ok(program)) => format!("a code image, program {}", program.header.version),
            (_, Err(_)) => "code images, none of which runs".to_owned(),
        };
        let counters = self.cells.counters();
        Overview {
            part: self.cells.spec().name.clone(),
            within: None,
            units_are: "blocks",
            units: part.blocks().zip(self.cells.erase_counts()).map(unit).collect(),
            unit_bytes: self.extent().1,
            content,
            formats: &["code-image"],
            panels: &["cache"],
            tour: None,
            kinds: KINDS,
            erases: counters.erases,
            programs: counters.programs + counters.copies,
            is_mounted: self.program().is_ok(),
            mount: MountCalls::default(),
            has_image: true,
        }
    }

    fn extent(&self) -> (u16, u32) {
        let part = self.part();
        (part.block_count, u32::from(part.pages_per_block) * u32::from(part.register_bytes()))
    }

    fn areas(&mut self, unit: u16) -> Result<Vec<Area>, String> {
        let part = self.part();
        if unit >= part.block_count {
            return Err(format!("the part has no block {unit}"));
        }
        let mut areas = Vec::new();
        (0..part.pages_per_block).for_each(|page| self.add_areas(Block(unit).page(page), &mut areas));
        Ok(areas)
    }

    fn at(&mut self, address: Address) -> Result<(Found, Vec<u8>), String> {
        let page = self.page_at(address)?;
        let mut areas = Vec::new();
        self.add_areas(page, &mut areas);
        let is_in = |area: &&Area| (area.at.0..area.at.0 + area.bytes).contains(&address.0);
        let area = areas.iter().find(is_in).ok_or_else(|| format!("the part has no address {address}"))?;
        let cells = self.cells.peek(page);
        let from = (area.at.0 - self.address(page).0) as usize;
        let bytes = cells[from..from + area.bytes as usize].to_vec();
        let pieces = match (area.kind, Head::of(&bytes)) {
            (HEAD | SWITCH, Some(head)) if bytes.len() >= HEAD_BYTES => {
                let block = |block: u32| {
                    let block = u16::try_from(block).ok().filter(|&block| block < self.part().block_count)?;
                    Some(self.address(Block(block).page(0)))
                };
                anatomy::pieces(head, area.at, &bytes, block)
            }
            (CODE | CACHED, _) => self.pieces_of_code(page, area, &bytes),
            _ => Vec::new(),
        };
        Ok((Found { pieces, ..Found::of(area) }, bytes))
    }

    fn ask(&mut self, question: &Value) -> Result<Value, String> {
        match question["ask"].as_str().unwrap_or_default() {
            "cache" => self.cache(),
            "compare" => self.compared(),
            "set-cache" => self.set_cache(question),
            "set-trace" => self.set_trace(question),
            other => Err(format!("nothing answers {other:?}")),
        }
    }

    fn mounted(&self) -> Option<Box<dyn Shown>> {
        Some(Box::new(self.clone()))
    }

    fn mount_texts(&self) -> Vec<String> {
        Vec::new()
    }

    fn record(&self, seed: u64, calls: usize) -> Result<Box<dyn Recording>, String> {
        let program = self.program()?;
        let requests: Vec<(u32, Option<u32>)> = match &self.given {
            Some(given) => given.iter().map(|&address| (address, None)).collect(),
            None => {
                let drawn = draw(seed, program.image().size_bytes(), calls);
                drawn.into_iter().map(|(address, routine)| (address, Some(routine))).collect()
            }
        };
        let addresses = requests.iter().map(|(address, _)| *address);
        let outcome = run(&self.cells, (program.image(), program.code), self.cache, addresses)?;
        Ok(Box::new(Recorded { run: Rc::new(Run { requests, cache: self.cache, outcome }), code: self.clone() }))
    }

    fn image(&self) -> Result<ImageBytes, String> {
        Ok(self.cells.image_bytes())
    }
}

impl Code {
    fn pieces_of_code(&self, page: PageAddress, area: &Area, bytes: &[u8]) -> Vec<Piece> {
        let Some(&(number, _)) = self.pages.get(&self.part().number_of(page).0) else { return Vec::new() };
        let width = u32::from(self.programs[number].image().cache_page_bytes());
        let (code, check) = bytes.split_at((width as usize).min(bytes.len()));
        let mut pieces =
            vec![Piece::new((area.at, width), "cache page", hexadecimal(&code[..code.len().min(16)]) + " …", COPY)];
        if !check.is_empty() {
            let place = (area.at.offset(width), check.len() as u32);
            pieces.push(Piece::new(place, "code", hexadecimal(check), "2:The code is CRC-32C"));
        }
        pieces
    }
}

fn letter(room: RoomName) -> &'static str {
    match room {
        RoomName::A => "A",
        RoomName::B => "B",
    }
}

/// A trace that was run, and the images that it ran on. Its operations are requests.
struct Recorded {
    run: Rc<Run>,
    code: Code,
}

impl Recording for Recorded {
    fn range(&self) -> (u64, u64) {
        (0, self.run.requests.len() as u64)
    }

    fn calls(&self) -> Vec<(&str, u64, u64)> {
        let request = |number: usize| ("request", number as u64, 1);
        (0..self.run.requests.len()).map(request).collect()
    }

    fn text(&self, operation: u64) -> (String, String) {
        let number = usize::try_from(operation).unwrap_or(usize::MAX);
        let (Some((address, routine)), Some(served), Ok(program)) =
            (self.run.requests.get(number), self.run.outcome.served.get(number), self.code.program())
        else {
            return ("the end of the trace".to_owned(), String::new());
        };
        let page = address / u32::from(program.image().cache_page_bytes());
        let served = match served {
            Served::Hit => "a hit",
            Served::FromRegister => "a miss, which the part's register serves",
            Served::Loaded => "a miss, for which a page of the part is loaded",
        };
        let routine = routine.map_or("a trace from a file".to_owned(), |routine| format!("routine {routine}"));
        (format!("code {address:#07x} in cache page {page}: {served}"), routine)
    }

    fn at(&self, operation: u64) -> Box<dyn Shown> {
        let done = self.run.requests.len().min(usize::try_from(operation).unwrap_or(usize::MAX));
        let mut code = self.code.clone();
        let held = code.program().ok().and_then(|program| {
            let addresses = self.run.requests[..done].iter().map(|(address, _)| *address);
            run(&code.cells, (program.image(), program.code), self.run.cache, addresses).ok()
        });
        code.run = Some((Rc::clone(&self.run), done, held.map(|outcome| outcome.held).unwrap_or_default()));
        Box::new(code)
    }

    fn cut(&self, _: u64, _: Tear) -> Result<Box<dyn Shown>, String> {
        Err("a program that runs from NAND programs nothing: there is no operation that a cut could tear".to_owned())
    }
}
