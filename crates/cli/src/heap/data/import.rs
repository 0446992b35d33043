//! An image of a document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use norn_heap::{Kind, Ref};
use norn_heap_image::{Content, Contents, ErrorDetection, FillError, create_filled};
use serde_json::Value;

use super::classes::Typed;
use super::document::{ArrayEntry, DataError, Document, Field, ObjectEntry, bytes_of, root_name, root_text};
use super::references::{assigned, stated};
use super::values::Type;
use crate::error::Error;
use crate::heap::arguments::CreateArguments;

/// An object or array, whose values wait for the references of all.
struct Entry {
    content: Content,
    values: Vec<Waiting>,
}

/// The value of a field or element, and where it is in the object.
struct Waiting {
    place: String,
    kind: Type,
    json: Value,
}

/// Makes an image with a heap of what a document says, and says how much that is.
///
/// # Errors
/// When the document is none, the image exists or cannot be made, or the heap does not take what is in it.
pub fn import(file: &Path, create: &CreateArguments) -> Result<String, Error> {
    let (image, part) = (&create.image, create.part.clone());
    let in_file = |failure: DataError| Error::Data { file: file.to_owned(), failure };
    let document = Document::read(file).map_err(in_file)?;
    let entries = entries_of(&document).map_err(in_file)?;
    let stated = if document.error_detection { ErrorDetection::On } else { ErrorDetection::Off };
    let (name, format) = (part.name.clone(), create.format(stated)?);
    let mut names = BTreeMap::new();
    let filled = create_filled(image, part, (format, create.spares), |slots| {
        let references = references_of(&entries, slots)?;
        names = references.iter().map(|(name, &reference)| (reference, name.clone())).collect();
        contents_of(&document, entries, &references)
    });
    let contents = filled.map_err(|error| match error {
        FillError::Contents(failure) => in_file(failure),
        FillError::Object { reference, failure } => {
            in_file(DataError::new(failure).within(&format!("object {}", names[&reference])))
        }
        FillError::Root { name, failure } => {
            in_file(DataError::new(failure).within(&format!("root {}", root_text(&name))))
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

fn not_given<'a>(names: impl Iterator<Item = &'a str>) -> DataError {
    let names: Vec<&str> = names.collect();
    DataError::new(format!(
        "the engine cannot give {}: its references have slots from 1 and generations up to 65534, and a long array \
         takes several slots",
        names.join(", ")
    ))
}

fn entries_of(document: &Document) -> Result<BTreeMap<String, Entry>, DataError> {
    let classes = document.classes.iter().map(Typed::of).collect::<Result<Vec<_>, _>>()?;
    let mut names = BTreeSet::new();
    if let Some(class) = document.classes.iter().find(|class| !names.insert(&*class.name)) {
        return Err(DataError::new(format!("two classes are called {:?}", class.name)));
    }
    let entry = |(name, value): (&String, &Value)| {
        if name.starts_with('#') && stated(name).is_none() {
            return Err(DataError::new(format!("object {name}: not a reference such as #3.1; other names have no #")));
        }
        let entry = if value.get("array").is_some() { array(value) } else { object(value, &classes) };
        entry.map(|entry| (name.clone(), entry)).map_err(|error| error.within(&format!("object {name}")))
    };
    document.objects.iter().map(entry).collect()
}

fn header_of(digits: &str) -> Result<Vec<u8>, DataError> {
    bytes_of(digits).map_err(|error| error.within("header"))
}

fn array(value: &Value) -> Result<Entry, DataError> {
    let ArrayEntry { array, header, elements } = ArrayEntry::of(value.clone())?;
    let kind = Type::named(&array).map_err(|error| error.within("array"))?;
    let values = match elements {
        Value::Array(values) => values,
        Value::String(digits) if kind == Type::Unsigned(1) => bytes_of(&digits)?.into_iter().map(Value::from).collect(),
        _ => return Err(DataError::new("elements are an array of values, or, of u8, hexadecimal digits")),
    };
    let header = header.as_deref().map_or(Ok(Vec::new()), header_of)?;
    let content =
        Content { kind: Kind::Array, widths: vec![kind.width()], count: values.len(), header, values: Vec::new() };
    let values = values.into_iter().enumerate();
    let values = values.map(|(index, json)| Waiting { place: format!("elements[{index}]"), kind, json });
    Ok(Entry { content, values: values.collect() })
}

fn object(value: &Value, classes: &[Typed]) -> Result<Entry, DataError> {
    let ObjectEntry { class, header, mut fields } = ObjectEntry::of(value.clone())?;
    let typed = classes.iter().find(|typed| typed.class.name == class);
    let typed = typed.ok_or_else(|| DataError::new(format!("no class is called {class:?}")))?;
    let header = match header {
        Some(digits) => header_of(&digits)?,
        None => typed.header.clone().unwrap_or_default(),
    };
    let zeros = |kind: &Type| Value::from(format!("hex:{}", "00".repeat(kind.width().into())));
    let values = typed.class.fields.iter().zip(&typed.types);
    let waiting = |(field, kind): (&Field, &Type)| {
        let json = fields.remove(&field.name).unwrap_or_else(|| zeros(kind));
        Waiting { place: format!("field {}", field.name), kind: *kind, json }
    };
    let values = values.map(waiting).collect();
    if let Some(unknown) = fields.keys().next() {
        return Err(DataError::new(format!("class {class} has no field {unknown:?}")));
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
    assigned(&names).ok_or_else(|| DataError::new("there are too many objects for one heap"))
}

/// What is to be in the heap, with the values' bytes.
fn contents_of(
    document: &Document,
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
            let placed = |error: DataError| error.within(&value.place).within(&format!("object {name}"));
            content.values.extend(bytes.map_err(placed)?);
        }
        contents.objects.insert(references[&name], content);
    }
    for (root, name) in &document.roots {
        let placed = |error: DataError| error.within(&format!("root {root}"));
        let missing = || placed(DataError::new(format!("no object is called {name:?}")));
        contents.roots.insert(root_name(root).map_err(placed)?, named(name).ok_or_else(missing)?);
    }
    Ok(contents)
}
