//! An image of a document.
//!
//! A value in JSON takes many times the memory of its bytes. So the elements of an array become bytes as soon as the
//! array is read, before the next one is, unless they are references, which wait for those of all objects.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use norn_heap::{Kind, Ref};
use norn_heap_image::{Content, Contents, ErrorDetection, FillError, create_filled};
use serde_json::{Map, Value};

use super::classes::Typed;
use super::document::{ArrayEntry, Class, DataError, Document, Field, ObjectEntry, bytes_of, root_name, root_text};
use super::failure::{named as place_of, quoted, shown};
use super::references::{assigned, stated};
use super::values::Type;
use crate::error::Error;
use crate::heap::arguments::CreateArguments;
use crate::report::digits_of;

/// An object or array, whose values wait for the references of all.
struct Entry {
    content: Content,
    values: Vec<Waiting>,
}

/// The value of a field or element, and where it is in the object.
struct Waiting {
    place: Place,
    kind: Type,
    json: Value,
}

/// Where a value is in its object.
enum Place {
    Field(String),
    Element(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Field(name) => f.write_str(&place_of("field", name)),
            Place::Element(index) => write!(f, "elements[{index}]"),
        }
    }
}

/// Makes an image with a heap of what a document says, and says how much that is.
///
/// # Errors
/// When the document is none, the image exists or cannot be made, or the heap does not take what is in it.
pub fn import(file: &Path, create: &CreateArguments) -> Result<String, Error> {
    let (image, part) = (&create.image, create.part.clone());
    let in_file = |failure: DataError| Error::Data { file: file.to_owned(), failure };
    let mut packed = BTreeMap::new();
    let document = Document::read(file, |name, object| pack(&mut packed, name, object)).map_err(in_file)?;
    let stated = if document.error_detection { ErrorDetection::On } else { ErrorDetection::Off };
    let roots = document.roots;
    let entries = entries_of(&document.classes, document.objects, packed).map_err(in_file)?;
    let (name, format) = (part.name.clone(), create.format(stated)?);
    let mut names = BTreeMap::new();
    let filled = create_filled(image, part, (format, create.spares), |slots| {
        let references = references_of(&entries, slots)?;
        names = references.iter().map(|(name, &reference)| (reference, name.clone())).collect();
        contents_of(&roots, entries, &references)
    });
    let contents = filled.map_err(|error| match error {
        FillError::Contents(failure) => in_file(failure),
        FillError::Object { reference, failure } => {
            in_file(DataError::new(failure).within(&place_of("object", &names[&reference])))
        }
        FillError::Root { name, failure } => {
            in_file(DataError::new(failure).within(&place_of("root", &root_text(&name))))
        }
        FillError::References(references) => in_file(not_given(references.iter().map(|reference| &*names[reference]))),
        FillError::Image(error) => error.into(),
        FillError::Differs(what) => Error::Differs { image: image.clone(), what },
    })?;
    let arrays = contents.objects.values().filter(|content| content.kind == Kind::Array).count();
    let (objects, roots) = (contents.objects.len() - arrays, contents.roots.len());
    Ok(format!(
        "{}: what {} says, on {name}, engine {format}: objects {objects}, arrays {arrays}, roots {roots}\n",
        image.display(),
        file.display()
    ))
}

/// References that a message lists.
const REFERENCES_LISTED: usize = 10;

fn not_given<'a>(names: impl Iterator<Item = &'a str>) -> DataError {
    let names: Vec<&str> = names.collect();
    let listed = names.iter().take(REFERENCES_LISTED).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    let others = match names.len().saturating_sub(REFERENCES_LISTED) {
        0 => String::new(),
        1 => " and 1 other".to_owned(),
        others => format!(" and {others} others"),
    };
    DataError::new(format!(
        "the engine cannot give {listed}{others}: its references have slots from 1 and generations up to 65534, and a \
         long array takes several slots"
    ))
}

/// Bytes of the elements of arrays, by the arrays' names.
type Packed = BTreeMap<String, Vec<u8>>;

/// Takes the elements out of an array whose elements all have bytes by themselves. Of any other member nothing: what is
/// wrong with it is found later.
fn pack(packed: &mut Packed, name: &str, object: &mut Value) {
    let kind = object.get("array").and_then(Value::as_str).and_then(|kind| Type::named(kind).ok());
    let (Some(kind), Some(elements)) = (kind, object.get_mut("elements")) else { return };
    if let Some(bytes) = packed_elements(kind, elements) {
        *elements = Value::Null;
        packed.insert(name.to_owned(), bytes);
    }
}

fn packed_elements(kind: Type, elements: &Value) -> Option<Vec<u8>> {
    match elements {
        Value::Array(values) => {
            let mut bytes = Vec::with_capacity(values.len() * usize::from(kind.width()));
            for value in values {
                bytes.extend(kind.to_bytes(value, &|_| None).ok()?);
            }
            Some(bytes)
        }
        Value::String(digits) if kind == Type::Unsigned(1) => bytes_of(digits).ok(),
        _ => None,
    }
}

fn entries_of(
    classes: &[Class],
    objects: Map<String, Value>,
    mut packed: Packed,
) -> Result<BTreeMap<String, Entry>, DataError> {
    let typed = classes.iter().map(Typed::of).collect::<Result<Vec<_>, _>>()?;
    let mut names = BTreeSet::new();
    if let Some(class) = classes.iter().find(|class| !names.insert(&*class.name)) {
        return Err(DataError::new(format!("two classes are called {}", quoted(&class.name))));
    }
    let entry = |(name, value): (String, Value)| {
        if name.starts_with('#') && stated(&name).is_none() {
            let problem = DataError::new("not a reference such as #3.1; other names have no #");
            return Err(problem.within(&place_of("object", &name)));
        }
        let is_array = value.get("array").is_some();
        let entry = if is_array { array(value, packed.remove(&name)) } else { object(value, &typed) };
        entry.map_err(|error| error.within(&place_of("object", &name))).map(|entry| (name, entry))
    };
    objects.into_iter().map(entry).collect()
}

fn header_of(digits: &str) -> Result<Vec<u8>, DataError> {
    bytes_of(digits).map_err(|error| error.within("header"))
}

fn not_elements() -> DataError {
    DataError::new("elements are an array of values, or, of u8, hexadecimal digits")
}

/// An array, whose elements are in `value` unless they are `packed`.
fn array(value: Value, packed: Option<Vec<u8>>) -> Result<Entry, DataError> {
    let ArrayEntry { array, header, elements } = ArrayEntry::of(value)?;
    let kind = Type::named(&array).map_err(|error| error.within("array"))?;
    let waiting = match elements {
        _ if packed.is_some() => Vec::new(),
        Value::Array(values) => values,
        // Digits would be packed.
        Value::String(digits) if kind == Type::Unsigned(1) => return bytes_of(&digits).and(Err(not_elements())),
        _ => return Err(not_elements()),
    };
    let header = header.as_deref().map_or(Ok(Vec::new()), header_of)?;
    let values = packed.unwrap_or_default();
    let count = waiting.len() + values.len() / usize::from(kind.width());
    let content = Content { kind: Kind::Array, widths: vec![kind.width()], count, header, values };
    let waiting = waiting.into_iter().enumerate();
    let waiting = waiting.map(|(index, json)| Waiting { place: Place::Element(index), kind, json });
    Ok(Entry { content, values: waiting.collect() })
}

fn object(value: Value, classes: &[Typed]) -> Result<Entry, DataError> {
    let ObjectEntry { class, header, mut fields } = ObjectEntry::of(value)?;
    let typed = classes.iter().find(|typed| typed.class.name == class);
    let typed = typed.ok_or_else(|| DataError::new(format!("no class is called {}", quoted(&class))))?;
    let stated = header.as_deref().map(header_of).transpose()?;
    let header = match (stated, &typed.header) {
        (Some(stated), Some(own)) if stated != *own => {
            let problem = format!("it is not the header of class {}, {}", shown(&class), digits_of(own));
            return Err(DataError::new(problem).within("header"));
        }
        (Some(header), _) => header,
        (None, own) => own.clone().unwrap_or_default(),
    };
    let zeros = |kind: &Type| Value::from(format!("hex:{}", "00".repeat(kind.width().into())));
    let values = typed.class.fields.iter().zip(&typed.types);
    let waiting = |(field, kind): (&Field, &Type)| {
        let json = fields.remove(&field.name).unwrap_or_else(|| zeros(kind));
        Waiting { place: Place::Field(field.name.clone()), kind: *kind, json }
    };
    let values = values.map(waiting).collect();
    if let Some(unknown) = fields.keys().next() {
        return Err(DataError::new(format!("class {} has no field {}", shown(&class), quoted(unknown))));
    }
    let widths = typed.widths();
    let content = Content { kind: Kind::Object, count: widths.len(), widths, header, values: Vec::new() };
    Ok(Entry { content, values })
}

/// The reference of each object and array by its name.
fn references_of(
    entries: &BTreeMap<String, Entry>,
    slots: &dyn Fn(&Content) -> u32,
) -> Result<BTreeMap<String, Ref>, DataError> {
    let names: Vec<(&str, u32)> = entries.iter().map(|(name, entry)| (&**name, slots(&entry.content))).collect();
    assigned(&names)
}

/// What is to be in the heap, with the values' bytes.
fn contents_of(
    roots: &BTreeMap<String, String>,
    entries: BTreeMap<String, Entry>,
    references: &BTreeMap<String, Ref>,
) -> Result<Contents, DataError> {
    let named = |name: &str| references.get(name).copied();
    // A field may hold a reference to what was deleted.
    let in_field = |name: &str| named(name).or_else(|| stated(name));
    let mut contents = Contents::default();
    for (name, Entry { mut content, values }) in entries {
        for value in values {
            let bytes = value.kind.to_bytes(&value.json, &in_field);
            let placed = |error: DataError| error.within(&value.place.to_string()).within(&place_of("object", &name));
            content.values.extend(bytes.map_err(placed)?);
        }
        contents.objects.insert(references[&name], content);
    }
    for (root, name) in roots {
        let placed = |error: DataError| error.within(&place_of("root", root));
        let missing = || placed(DataError::new(format!("no object is called {}", quoted(name))));
        let bytes = root_name(root).map_err(placed)?;
        if contents.roots.insert(bytes, named(name).ok_or_else(missing)?).is_some() {
            return Err(placed(DataError::new("the name is there twice, once as hexadecimal digits")));
        }
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 31,000 arrays of 400 numbers took 3 GB.
    #[test]
    fn elements_are_bytes_before_the_next_array_is_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = r#"{ "objects": {
            "numbers": { "array": "u16", "elements": [1, 2, 770] }, "digits": { "array": "u8", "elements": "0aff" },
            "wrong": { "array": "u16", "elements": [1, 65536] }, "nulls": { "array": "u8", "elements": null },
            "references": { "array": "ref", "elements": ["numbers"] } } }"#;
        std::fs::write(&file, text).unwrap();
        let mut packed = Packed::new();
        let document = Document::read(file.path(), |name, object| pack(&mut packed, name, object)).unwrap();
        let expected = [("numbers".to_owned(), vec![1, 0, 2, 0, 2, 3]), ("digits".to_owned(), vec![10, 255])];
        assert_eq!(packed, Packed::from(expected));
        let kept = |name: &str| !document.objects[name]["elements"].is_null();
        assert_eq!(["numbers", "digits", "wrong", "references"].map(kept), [false, false, true, true]);
        assert!(array(document.objects["nulls"].clone(), None).is_err());
        let wrong = array(document.objects["wrong"].clone(), None).unwrap();
        assert_eq!((wrong.content.count, wrong.values.len()), (2, 2));
        let numbers = array(document.objects["numbers"].clone(), packed.remove("numbers")).unwrap();
        assert_eq!((numbers.content.count, numbers.content.values), (3, vec![1, 0, 2, 0, 2, 3]));
    }
}
