//! Objects of a heap, of either engine: the panel that lists them, and the calls of a workload on them.

use norn_flash::Address;
use norn_flash_sim::SimError;
use norn_heap::{Kind, Layout, ObjectHeap, Ref};
use serde_json::{Value, json};

use crate::anatomy::hexadecimal;
use crate::content::Played;

/// Most objects in one answer, and most fields of one.
const LISTED_MAX: usize = 200;
/// Names of the workload's roots.
const ROOTS: [&str; 3] = ["ann", "bob", "eve"];

/// A mounted heap, and what the program on it knows.
#[derive(Clone)]
pub struct OnHeap<H> {
    /// The heap.
    pub heap: Box<H>,
    /// What the program knows.
    pub program: Program,
}

impl<H> OnHeap<H> {
    /// A heap of whose objects the program knows none.
    pub fn new(heap: H) -> OnHeap<H> {
        OnHeap { heap: Box::new(heap), program: Program::default() }
    }
}

impl<H: Objects + 'static> Played for OnHeap<H> {
    type Call = Call;

    fn ask(&mut self, question: &Value) -> Result<Value, String> {
        ask(&mut *self.heap, question)
    }

    fn draw(&self, random: &mut fastrand::Rng) -> Call {
        self.program.draw(&*self.heap, random)
    }

    fn last_call(&self) -> Option<Call> {
        self.heap.in_transaction().then_some(Call::Commit)
    }

    fn make(&mut self, call: &Call) -> Result<String, String> {
        self.program.make(&mut *self.heap, call)
    }
}

/// A heap whose values can be looked at where they are.
pub trait Objects: ObjectHeap<DeviceError = SimError> + Clone {
    /// What an object or array is kept in: the title of a column.
    const PIECES: &'static str;

    /// Where a value of an object or array is.
    ///
    /// # Errors
    /// In words.
    fn place_of(&mut self, reference: Ref, index: usize) -> Result<Place, String>;

    /// How many of them an object or array takes.
    ///
    /// # Errors
    /// In words.
    fn pieces_of(&mut self, reference: Ref) -> Result<usize, String>;
}

/// Where a value is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The sector by which the object is known.
    pub sector: Address,
    /// The value; for a default that no byte holds, what says so.
    pub value: Address,
    /// What it is in: `a delta`.
    pub is_in: &'static str,
    /// Its bytes.
    pub width: usize,
}

/// An error of the heap in words.
pub fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The answer to a question of the panel.
fn ask(heap: &mut impl Objects, question: &Value) -> Result<Value, String> {
    let reference = |key: &str| question[key].as_u64().and_then(|bits| Ref::from_bits(bits as u32));
    match question["ask"].as_str().unwrap_or_default() {
        "objects" => listed(heap, reference("after")),
        "object" => object(heap, reference("bits").ok_or("that is no reference")?),
        other => Err(format!("nothing answers {other:?}")),
    }
}

/// Named roots, and objects after one.
fn listed<H: Objects>(heap: &mut H, after: Option<Ref>) -> Result<Value, String> {
    let (mut roots, mut objects, mut last) = (Vec::new(), Vec::new(), after);
    let answer = |roots, objects: Vec<Value>, after: Option<Ref>| {
        let after = after.map(Ref::bits);
        json!({ "roots": roots, "objects": objects, "pieces": H::PIECES, "after": after })
    };
    heap.visit_roots(|name, reference| {
        let name = name.escape_ascii().to_string();
        roots.push(json!({ "root": name, "reference": reference.to_string(), "bits": reference.bits() }));
    })
    .map_err(words)?;
    while let Some(reference) = heap.next_object(last).map_err(words)? {
        if objects.len() == LISTED_MAX {
            return Ok(answer(roots, objects, last));
        }
        let info = heap.info(reference).map_err(words)?;
        objects.push(json!({
            "reference": reference.to_string(), "bits": reference.bits(),
            "kind": if info.kind == Kind::Object { "object" } else { "array" },
            "fields": info.count, "data_bytes": info.data_bytes, "header_bytes": info.header_bytes,
            "pieces": heap.pieces_of(reference)?,
        }));
        last = Some(reference);
    }
    Ok(answer(roots, objects, None))
}

/// An object or an array with its values, and where these are.
fn object(heap: &mut impl Objects, reference: Ref) -> Result<Value, String> {
    let info = heap.info(reference).map_err(words)?;
    let (mut fields, mut at) = (Vec::new(), None);
    for index in 0..info.count.min(LISTED_MAX) {
        let place = heap.place_of(reference, index)?;
        let mut value = vec![0; place.width];
        match info.kind {
            Kind::Object => heap.get_field(reference, index, &mut value),
            Kind::Array => heap.array_load(reference, index, &mut value),
        }
        .map_err(words)?;
        let names = value.first_chunk().and_then(|bits| Ref::from_bits(u32::from_le_bytes(*bits)));
        let names = names.filter(|names| value.len() == 4 && heap.info(*names).is_ok());
        fields.push(json!({
            "index": index, "value": hexadecimal(&value), "at": place.value.0, "in": place.is_in,
            "names": names.map(|names| json!({ "reference": names.to_string(), "bits": names.bits() })),
        }));
        at = at.or(Some(place.sector.0));
    }
    let mut header = vec![0; info.header_bytes];
    heap.read_header(reference, &mut header).map_err(words)?;
    Ok(json!({
        "reference": reference.to_string(), "fields": fields, "count": info.count, "at": at,
        "header": hexadecimal(&header),
    }))
}

/// A call of a program. Objects are numbered in the order of their creation.
#[derive(Clone, Debug)]
pub enum Call {
    /// An object with so many fields of so many bytes.
    Create(usize, u8),
    /// A root of this name leads to an object.
    SetRoot(&'static str, usize),
    /// A field of an object gets a value.
    Put(usize, usize, Vec<u8>),
    /// An object is deleted.
    Delete(usize),
    /// A transaction begins.
    Begin,
    /// It ends, and its changes count.
    Commit,
    /// It ends, and its changes are undone.
    Abort,
}

impl Call {
    /// A field of an object of four-byte fields gets a number.
    pub fn put_number(object: usize, field: usize, number: u32) -> Call {
        Call::Put(object, field, number.to_le_bytes().to_vec())
    }
}

/// What a program knows of the objects that it has created.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Each object with its number of fields, and whether it is there.
    created: Vec<(Ref, usize, Life)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Alive,
    Deleted,
}

impl Program {
    /// The object that was created as the one of this number.
    ///
    /// # Errors
    /// If fewer were.
    pub fn object(&self, number: usize) -> Result<Ref, String> {
        self.created.get(number).map(|created| created.0).ok_or_else(|| format!("no object {number} was created"))
    }

    /// The next call on a heap: most of them change a field.
    pub fn draw(&self, heap: &impl ObjectHeap, random: &mut fastrand::Rng) -> Call {
        let alive: Vec<(usize, usize)> = (0..)
            .zip(&self.created)
            .filter(|(_, created)| created.2 == Life::Alive)
            .map(|(number, created)| (number, created.1))
            .collect();
        let is_open = heap.in_transaction();
        let call = match random.u8(0..20) {
            _ if alive.len() < 3 => Call::Create(random.usize(2..9), 4),
            0..2 => Call::Create(random.usize(2..9), 4),
            2 if !is_open => Call::Begin,
            3..6 if is_open => Call::Commit,
            6 if is_open => Call::Abort,
            7 if !is_open && alive.len() > 6 => Call::Delete(alive[random.usize(..alive.len())].0),
            8 if !is_open => Call::SetRoot(ROOTS[random.usize(..ROOTS.len())], alive[0].0),
            _ => {
                let (object, fields) = alive[random.usize(..alive.len())];
                Call::put_number(object, random.usize(..fields), random.u32(..))
            }
        };
        // An abort takes back creations; the script creates outside of transactions only.
        if is_open && matches!(call, Call::Create(..)) { Call::Commit } else { call }
    }

    /// Makes a call. Returns it in words.
    ///
    /// # Errors
    /// The heap's, in words.
    pub fn make<H: ObjectHeap>(&mut self, heap: &mut H, call: &Call) -> Result<String, String>
    where
        H::DeviceError: std::fmt::Display,
    {
        match call {
            Call::Create(fields, width) => {
                let created = heap.create(Layout::uniform(*fields, *width)).map_err(words)?;
                self.created.push((created, *fields, Life::Alive));
                Ok(format!("create {created}: {fields} fields of {width} bytes"))
            }
            Call::SetRoot(name, object) => {
                let object = self.object(*object)?;
                heap.set_root(name.as_bytes(), Some(object)).map_err(words)?;
                Ok(format!("set root {name} to {object}"))
            }
            Call::Put(object, field, value) => {
                let object = self.object(*object)?;
                heap.put_field(object, *field, value).map_err(words)?;
                Ok(format!("put {} into field {field} of {object}", hexadecimal(value)))
            }
            Call::Delete(number) => {
                let object = self.object(*number)?;
                heap.delete(object).map_err(words)?;
                self.created[*number].2 = Life::Deleted;
                Ok(format!("delete {object}"))
            }
            Call::Begin => heap.begin().map(|()| "begin a transaction".to_owned()).map_err(words),
            Call::Commit => heap.commit().map(|()| "commit".to_owned()).map_err(words),
            Call::Abort => heap.abort().map(|()| "abort".to_owned()).map_err(words),
        }
    }
}
