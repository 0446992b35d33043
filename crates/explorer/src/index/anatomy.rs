//! A block of an ordered index in areas and pieces, decoded from the cells; each piece with the line of
//! `docs/format/ordered-index.md` that describes it.

use norn_flash::{Address, EraseUnit};
use norn_flash_sim::NorSim;
use norn_ordered_index::fat_list::format::{CELLS_OFFSET, CellState, Identity, Kind as CellKind, Stamp};
use norn_ordered_index::fat_list::inspection::{Field, PoolEntry, RawBlock, RawCell, RawSlot, Role, SlotState};

use super::texts::{role_text, state_text};
use crate::anatomy::{Area, ERASED, FREE, Found, HEAD, Kind, Piece, State, UNKNOWN, hexadecimal};
use crate::content::Cells;

const LIST_HEAD: Kind = Kind::new(b'l', "list-head", "head of the list");
const OBJECT: Kind = Kind::new(b'o', "object", "object: stamp, low key, header");
const POINTERS: Kind = Kind::new(b'p', "pointers", "soft pointers");
/// What holds entries.
pub const ENTRIES: Kind = Kind::new(b'k', "entries", "keys and values");
const BATCH: Kind = Kind::new(b'b', "batch", "batch of changes");
/// Kinds of areas.
pub const KINDS: &[Kind] = &[HEAD, LIST_HEAD, OBJECT, POINTERS, ENTRIES, BATCH, FREE, UNKNOWN, ERASED];

/// The block in an erase unit.
pub fn block<'c>(cells: Cells<'c>) -> RawBlock<'c> {
    RawBlock::new(cells.part(), cells.unit, cells.bytes)
}

/// The block in use that holds the cells of this one, so that this one is to be erased.
pub fn successor(whole: &NorSim, block: &RawBlock<'_>) -> Option<EraseUnit> {
    let part = &whole.spec().part;
    let (_, mut units) = block.turnstile()?;
    units.find(|&unit| {
        let head = whole.peek(part.start_of(unit), CELLS_OFFSET as usize);
        RawBlock::new(part, unit, &head).holds_cells_of(block)
    })
}

/// What a block is used for, with its turnstile.
pub fn role(cells: Cells<'_>) -> Option<String> {
    let block = block(cells);
    let role = role_text(block.role(), successor(cells.whole, &block));
    match (block.role(), block.turnstile()) {
        (Role::NoIdentity, _) => None,
        (_, Some((turnstile, _))) => Some(format!("turnstile {turnstile}: {role}")),
        (_, None) => Some(role),
    }
}

/// Why no live cell of a block counts, to be added to what each of them is; nothing where they count.
fn standing(whole: &NorSim, block: &RawBlock<'_>) -> String {
    match (block.role(), successor(whole, block)) {
        (Role::InUse(_), None) => String::new(),
        (Role::InUse(_), Some(unit)) => {
            format!("; a copy of it in unit {} counts, and this block is to be erased", unit.0)
        }
        (Role::Filling(filling), _) => {
            format!("; a copy that does not count yet, of the cell of this number in unit {}", filling.from)
        }
        (role, successor) => format!("; its block is {}", role_text(role, successor)),
    }
}

/// What a cell is; of one that would count in another block, also why it does not.
fn text_of(cell: &RawCell<'_>, standing: &str) -> String {
    let text = state_text(cell.state());
    match cell.state() {
        CellState::Live(_) | CellState::Batch => text + standing,
        _ => text,
    }
}

/// The areas of a block, without gaps: the head, and each cell in its parts.
pub fn areas(cells: Cells<'_>) -> Vec<Area> {
    let block = block(cells);
    let standing = standing(cells.whole, &block);
    let is_in_use = standing.is_empty();
    let head = format!("head: {}", role(cells).unwrap_or_default());
    let mut divided = Divided { areas: Vec::new(), next: block.start(), cells, standing };
    divided.add(CELLS_OFFSET, HEAD, State::Live, head);
    for cell in block.cells() {
        divided.add_cell(&cell, if is_in_use { State::Live } else { State::Obsolete });
    }
    let end = cells.start().0 + cells.bytes.len() as u32;
    divided.add_rest(end - divided.next.0, "after the last cell");
    divided.areas
}

/// Areas so far, and where the next one begins.
struct Divided<'c> {
    areas: Vec<Area>,
    next: Address,
    cells: Cells<'c>,
    /// Why none of the cells counts.
    standing: String,
}

impl Divided<'_> {
    /// Adds an area; one of erased bytes becomes part of one before it.
    fn add(&mut self, bytes: u32, kind: Kind, state: State, text: String) {
        let at = self.next;
        self.next = at.offset(bytes);
        match self.areas.last_mut() {
            _ if bytes == 0 => {}
            Some(last) if kind == ERASED && last.kind == ERASED => last.bytes += bytes,
            _ => self.areas.push(Area { at, bytes, kind, state, text }),
        }
    }

    fn is_erased(&self, from: u32, bytes: u32) -> bool {
        let from = (from - self.cells.start().0) as usize;
        self.cells.bytes[from..from + bytes as usize].iter().all(|&byte| byte == 0xFF)
    }

    /// Adds bytes that should be erased.
    fn add_rest(&mut self, bytes: u32, what: &str) {
        match self.is_erased(self.next.0, bytes) {
            true => self.add(bytes, ERASED, State::Live, "erased".to_owned()),
            false => self.add(bytes, UNKNOWN, State::Obsolete, format!("programmed {what}")),
        }
    }

    fn add_cell(&mut self, cell: &RawCell<'_>, state: State) {
        let name = format!("cell {}: {}", cell.number, text_of(cell, &self.standing));
        let state = match cell.state() {
            CellState::Live(_) | CellState::Batch => state,
            _ => State::Obsolete,
        };
        match cell.state() {
            CellState::Free => self.add_rest(cell.size_bytes(), "in a free cell"),
            CellState::Unsealed | CellState::Malformed => self.add(cell.size_bytes(), UNKNOWN, state, name),
            CellState::Batch => {
                self.add(cell.extent(Field::Slots).0.0 - cell.address.0, BATCH, state, name);
                self.add_slots(cell, BATCH, state);
            }
            CellState::Live(_) | CellState::Dead => {
                let kind = if cell.is_head() { LIST_HEAD } else { OBJECT };
                self.add(cell.extent(Field::Pool).0.0 - cell.address.0, kind, state, name);
                self.add_pool(cell, state);
                self.add_slots(cell, ENTRIES, state);
            }
        }
    }

    fn add_pool(&mut self, cell: &RawCell<'_>, state: State) {
        let (start, bytes) = cell.extent(Field::Pool);
        let kind_of = |entry: PoolEntry| match entry {
            PoolEntry::Erased => FREE,
            PoolEntry::Torn => UNKNOWN,
            PoolEntry::Pointer(..) | PoolEntry::KeyCount(_) => POINTERS,
        };
        let kinds: Vec<Kind> = cell.pool().map(|(_, entry)| kind_of(entry)).collect();
        for same in kinds.chunk_by(|one, next| one == next) {
            let what = match same[0] {
                FREE => "room for pointers",
                UNKNOWN => "torn pointers",
                _ => "soft pointers",
            };
            let text = format!("{what} of cell {}: {}", cell.number, same.len());
            self.add(4 * same.len() as u32, same[0], state, text);
        }
        // The head's cell may have some bytes over.
        self.add_rest(start.0 + bytes - self.next.0, "after the pointers");
    }

    fn add_slots(&mut self, cell: &RawCell<'_>, kind: Kind, state: State) {
        let end = cell.address.0 + cell.size_bytes();
        for slot in cell.slots() {
            self.add_free(slot.at.0 - self.next.0, cell, state);
            // Of a record whose length is torn, nothing says how far it reaches.
            let (kind, state) = match slot.state {
                SlotState::Counts => (kind, state),
                SlotState::Obsolete if kind == ENTRIES => (kind, State::Obsolete),
                SlotState::Obsolete => (kind, state),
                SlotState::Torn => (UNKNOWN, state),
            };
            let key = hexadecimal(slot.key);
            self.add(slot.bytes, kind, state, format!("slot {} of cell {}: key {key}", slot.number, cell.number));
        }
        self.add_free(end - self.next.0, cell, state);
    }

    fn add_free(&mut self, bytes: u32, cell: &RawCell<'_>, state: State) {
        match self.is_erased(self.next.0, bytes) {
            true => self.add(bytes, FREE, state, format!("free slots of cell {}", cell.number)),
            false => self.add(bytes, UNKNOWN, State::Obsolete, format!("torn after the slots of cell {}", cell.number)),
        }
    }
}

/// What is at an address of a block with an identity.
pub fn at(cells: Cells<'_>, address: Address) -> Found {
    let block = block(cells);
    if address.0 < block.start().0 + CELLS_OFFSET {
        let title = format!("the block's head: {}", role(cells).unwrap_or_default());
        let pieces = block.identity().map_or(Vec::new(), |identity| head_pieces(&block, &identity));
        return Found { title, at: block.start(), bytes: CELLS_OFFSET, object: None, pieces };
    }
    let is_in = |cell: &RawCell<'_>| (cell.address.0..cell.address.0 + cell.size_bytes()).contains(&address.0);
    if let Some(cell) = block.cells().find(is_in).filter(|cell| cell.state() != CellState::Free) {
        let text = text_of(&cell, &standing(cells.whole, &block));
        let title = format!("cell {}.{}: {text}", cells.unit.0, cell.number);
        let pieces = cell_pieces(&cell);
        return Found { title, at: cell.address, bytes: cell.size_bytes(), object: None, pieces };
    }
    let area = areas(cells).into_iter().find(|area| (area.at.0..area.at.0 + area.bytes).contains(&address.0));
    match area {
        Some(area) => Found::of(&area),
        None => Found { title: "nothing".to_owned(), at: address, bytes: 1, object: None, pieces: Vec::new() },
    }
}

fn head_pieces(block: &RawBlock<'_>, identity: &Identity) -> Vec<Piece> {
    let start = block.start();
    let piece = |at, bytes, name, value: String, line| Piece::new((start.offset(at), bytes), name, value, line);
    let [blocks, levels, slots, keys, pool] = identity.settings;
    let settings =
        format!("turnstiles of {blocks} blocks, {levels} levels, {slots} slots, {keys} keys, pools of {pool}");
    let varies = identity.log_bytes > 0;
    let values = if varies { "vary".to_owned() } else { format!("of {}", identity.value_bytes) };
    let mut pieces = vec![
        piece(0, 4, "format", "NFAT".to_owned(), "2:0..4"),
        piece(4, 1, "version", "1".to_owned(), "2:4"),
        piece(5, 2, "widths", format!("keys of {} bytes, values {values}", identity.key_bytes), "2:5, 6"),
        piece(7, 5, "settings", settings, "2:7..12"),
        piece(12, 1, "program unit", identity.program_unit_bytes.to_string(), "2:12"),
        piece(13, 1, "values vary", if varies { "yes" } else { "no" }.to_owned(), "2:13"),
        piece(14, 2, "erase units", identity.unit_count.to_string(), "2:14..16"),
        piece(16, 4, "bytes of a unit", identity.unit_size_bytes.to_string(), "2:16..20"),
        piece(20, 4, "erases", identity.erase_count.to_string(), "2:20..24"),
    ];
    if varies {
        pieces.push(piece(24, 2, "bytes of a log", identity.log_bytes.to_string(), "2:24..26"));
        pieces.push(piece(26, 2, "longest value", identity.value_bytes.to_string(), "2:26..28"));
    }
    pieces.push(piece(28, 2, "zeros", "of bytes 0..28".to_owned(), "2:28..30"));
    pieces.push(piece(30, 2, "CRC-16", "of bytes 0..28".to_owned(), "2:30..32"));
    let (void, filling, active) = match block.role() {
        Role::InUse(filling) if filling.from == block.unit().0 => ("no", "nothing was moved here".to_owned(), "yes"),
        Role::InUse(filling) => ("no", moved(filling.from, filling.erase_count, "was"), "yes"),
        Role::Filling(filling) => ("no", moved(filling.from, filling.erase_count, "is being"), "no"),
        Role::Void => ("yes", "not looked at".to_owned(), "not looked at"),
        Role::MoveBegun => ("no", "torn".to_owned(), "no"),
        _ => ("no", "erased".to_owned(), "no"),
    };
    pieces.push(piece(32, 4, "void", void.to_owned(), "2:32..36"));
    pieces.push(piece(36, 8, "filling", filling, "2:36..44"));
    pieces.push(piece(44, 4, "active", active.to_owned(), "2:44..48"));
    pieces
}

fn moved(from: u16, erase_count: u32, verb: &str) -> String {
    format!("unit {from} {verb} moved here, after {erase_count} erases of it")
}

fn cell_pieces(cell: &RawCell<'_>) -> Vec<Piece> {
    let state = cell.state();
    let name_text =
        |name: Option<(u16, u16)>| name.map_or("none".to_owned(), |(unit, cell)| format!("cell {unit}.{cell}"));
    let to = |name: Option<(u16, u16)>| name.and_then(|(unit, number)| cell.address_of(unit, number));
    let low_key = if cell.is_head() { "ones, in the head".to_owned() } else { hexadecimal(cell.low_key()) };
    let bits = cell.slots().filter(|slot| slot.state == SlotState::Counts).count();
    let bitmap = match state {
        _ if cell.is_head() => "marks of stops".to_owned(),
        CellState::Batch => "slots of keys to take away are cleared".to_owned(),
        _ if bits == 1 => "1 slot counts".to_owned(),
        _ => format!("{bits} slots count"),
    };
    let piece = |field, name: &str, value: String, line| Piece::new(cell.extent(field), name, value, line);
    let mut pieces = vec![
        piece(Field::Stamp, "stamp", state_text(state), "3:stamp"),
        piece(Field::LowKey, "low key", low_key, "3:low key"),
        piece(Field::HeaderCode, "header code", "of low key, level, kind and names".to_owned(), "3:header"),
        Piece {
            to: to(cell.replaces()),
            ..piece(Field::Replaces, "replaces", name_text(cell.replaces()), "3:A cell is named")
        },
        Piece {
            to: to(cell.partner()),
            ..piece(Field::Partner, "partner", name_text(cell.partner()), "3:A cell is named")
        },
        piece(Field::Bitmap, "bitmap", bitmap, if cell.is_head() { "3:**Marks of stops**" } else { "3:bitmap" }),
    ];
    pieces.extend(cell.pool().map(|(at, entry)| pool_piece(at, entry)));
    pieces.extend(cell.slots().flat_map(|slot| slot_pieces(&slot, state)));
    pieces
}

fn pool_piece(at: Address, entry: PoolEntry) -> Piece {
    let (name, value, line) = match entry {
        PoolEntry::Erased => ("pointer", "erased".to_owned(), "3:pool"),
        PoolEntry::Torn => ("pointer", "torn".to_owned(), "4:The last whole entry"),
        PoolEntry::Pointer(level, to) => {
            let value = format!("level {level}: turnstile {}, cell {}", to.turnstile, to.index);
            ("pointer", value, "4:The last whole entry")
        }
        PoolEntry::KeyCount(keys) => {
            let value = keys.map_or("unknown".to_owned(), |keys| keys.to_string());
            ("number of keys", value, "4:**Number of keys**")
        }
    };
    Piece::new((at, 4), name, value, line)
}

fn slot_pieces(slot: &RawSlot<'_>, cell: CellState) -> Vec<Piece> {
    let says = match (slot.state, cell) {
        (SlotState::Torn, _) => ", torn",
        (SlotState::Obsolete, CellState::Batch) => ", to take away",
        (SlotState::Obsolete, _) => ", obsolete",
        (SlotState::Counts, _) => "",
    };
    let varies = slot.length_bytes > 0;
    let [key_line, value_line, code_line] =
        if varies { ["3:key", "3:value", "3:code"] } else { ["3:**Slots** are written"; 3] };
    let (key_at, key) = (slot.at.offset(slot.length_bytes), slot.key.len() as u32);
    let (value_at, value) = (key_at.offset(key), slot.value.len() as u32);
    let name = |what: &str| format!("{what} of slot {}{says}", slot.number);
    let mut pieces = Vec::new();
    if varies {
        let length = if slot.state == SlotState::Torn { "of the value".to_owned() } else { value.to_string() };
        pieces.push(Piece::new((slot.at, slot.length_bytes), name("length"), length, "3:length"));
    }
    pieces.push(Piece::new((key_at, key), name("key"), hexadecimal(slot.key), key_line));
    if value > 0 {
        pieces.push(Piece::new((value_at, value), name("value"), hexadecimal(slot.value), value_line));
    }
    if varies && slot.state == SlotState::Torn {
        return pieces;
    }
    let code_at = value_at.offset(value);
    pieces.push(Piece::new((code_at, 2), name("code"), "zeros and CRC".to_owned(), code_line));
    let padding = slot.at.0 + slot.bytes - code_at.0 - 2;
    if padding > 0 {
        pieces.push(Piece::new((code_at.offset(2), padding), name("padding"), "erased", "3:slots"));
    }
    pieces
}

/// The letter of a cell in a picture of turnstiles.
pub fn cell_letter(state: CellState) -> char {
    match state {
        CellState::Free => 'f',
        CellState::Unsealed => 'u',
        CellState::Dead => 'd',
        CellState::Malformed => 'x',
        CellState::Batch => 'b',
        CellState::Live(Stamp { kind: CellKind::Head, .. }) => 'h',
        CellState::Live(_) => 'o',
    }
}

/// How many cells of a block are live, dead or not whole, and free: of one whose cells count, or may.
pub fn counts(block: &RawBlock<'_>) -> [usize; 3] {
    let mut counts = [0; 3];
    for cell in block.cells() {
        counts[match cell.state() {
            CellState::Live(_) => 0,
            CellState::Free => 2,
            _ => 1,
        }] += 1;
    }
    counts
}
