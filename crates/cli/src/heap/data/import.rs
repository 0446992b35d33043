//! An image of a document.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use norn_heap::{Kind, Ref};
use norn_heap_image::{Content, Contents, ErrorDetection, create_filled};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::classes::Typed;
use super::document::{ArrayEntry, DataError, Document, ObjectEntry, bytes_of, root_name};
use super::references::{assigned, stated};
use super::values::Type;
use crate::error::Error;
use crate::heap::arguments::CreateArguments;

/// An object or array, whose values wait for the references of all.
struct Entry {
    content: Content,
    types: Vec<Type>,
    values: Vec<Value>,
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
    let contents: Contents = create_filled(image, part, (format, create.spares), |slots| {
        contents_of(&document, entries, slots).map_err(in_file)
    })?;
    let arrays = contents.objects.values().filter(|content| content.kind == Kind::Array).count();
    let (objects, roots) = (contents.objects.len() - arrays, contents.roots.len());
    Ok(format!(
        "{}: what {} says, on {name}, engine {format}: objects {objects}, arrays {arrays}, roots {roots}\n",
        image.display(),
        file.display()
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

fn parsed<T: DeserializeOwned>(value: &Value) -> Result<T, DataError> {
    serde_json::from_value(value.clone()).map_err(DataError::new)
}

fn array(value: &Value) -> Result<Entry, DataError> {
    let ArrayEntry { array, header, elements } = parsed(value)?;
    let kind = Type::named(&array)?;
    let values = match elements {
        Value::Array(values) => values,
        Value::String(digits) if kind == Type::Unsigned(1) => bytes_of(&digits)?.into_iter().map(Value::from).collect(),
        _ => return Err(DataError::new("elements are a row of values, or, of u8, hexadecimal digits")),
    };
    let header = header.as_deref().map_or(Ok(Vec::new()), bytes_of)?;
    let content =
        Content { kind: Kind::Array, widths: vec![kind.width()], count: values.len(), header, values: Vec::new() };
    Ok(Entry { content, types: vec![kind; values.len()], values })
}

fn object(value: &Value, classes: &[Typed]) -> Result<Entry, DataError> {
    let ObjectEntry { class, header, mut fields } = parsed(value)?;
    let typed = classes.iter().find(|typed| typed.class.name == class);
    let typed = typed.ok_or_else(|| DataError::new(format!("no class is called {class:?}")))?;
    let header = match header {
        Some(digits) => bytes_of(&digits)?,
        None => typed.header.clone().unwrap_or_default(),
    };
    let zeros = |kind: &Type| Value::from(format!("hex:{}", "00".repeat(kind.width().into())));
    let values = typed.class.fields.iter().zip(&typed.types);
    let values = values.map(|(field, kind)| fields.remove(&field.name).unwrap_or_else(|| zeros(kind))).collect();
    if let Some(unknown) = fields.keys().next() {
        return Err(DataError::new(format!("class {class} has no field {unknown:?}")));
    }
    let widths = typed.widths();
    let content = Content { kind: Kind::Object, count: widths.len(), widths, header, values: Vec::new() };
    Ok(Entry { content, types: typed.types.clone(), values })
}

/// What is to be in the heap, with the values' bytes.
fn contents_of(
    document: &Document,
    entries: BTreeMap<String, Entry>,
    slots: &dyn Fn(&Content) -> u32,
) -> Result<Contents, DataError> {
    let names: Vec<(&str, u32)> = entries.iter().map(|(name, entry)| (&**name, slots(&entry.content))).collect();
    let references = assigned(&names).ok_or_else(|| DataError::new("there are too many objects for one heap"))?;
    let named = |name: &str| references.get(name).copied();
    // A field may hold a reference to what was deleted.
    let in_field = |name: &str| named(name).or_else(|| stated(name));
    let mut contents = Contents::default();
    for (name, Entry { mut content, types, values }) in entries {
        for (index, (kind, value)) in types.iter().zip(&values).enumerate() {
            let bytes = kind.to_bytes(value, &in_field);
            content.values.extend(
                bytes.map_err(|error| error.within(&format!("value {index}")).within(&format!("object {name}")))?,
            );
        }
        contents.objects.insert(references[&name], content);
    }
    for (root, name) in &document.roots {
        let reference: Option<Ref> = named(name);
        let missing = || DataError::new(format!("no object is called {name:?}")).within(&format!("root {root}"));
        contents.roots.insert(root_name(root)?, reference.ok_or_else(missing)?);
    }
    Ok(contents)
}
