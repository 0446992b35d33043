//! A heap as a document.

use std::collections::BTreeSet;
use std::path::Path;

use norn_heap::{Kind, Ref};
use norn_heap_image::{Content, Contents, HeapFailure, mount};
use serde::Serialize;
use serde_json::{Map, Value};

use super::classes::Typed;
use super::document::{ArrayEntry, DataError, Document, ObjectEntry, root_text};
use super::failure::shown;
use super::values::Type;
use crate::error::Error;
use crate::opening::Source;
use crate::report::digits_of;

/// A heap as JSON, and what a user should know of the classes that were to be used.
pub struct Exported {
    /// The document.
    pub text: String,
    /// The classes that no object is of, each with the reason.
    pub notes: Vec<String>,
}

/// The heap in a file as JSON, with the classes of another document, and others for what has none of them.
///
/// # Errors
/// When the heap cannot be opened or read, or the other document is none.
pub fn export(source: &Source, types: Option<&Path>) -> Result<Exported, Error> {
    let mut device = source.read_nor()?;
    let in_image = |failure: HeapFailure| failure.in_image(&source.image);
    let mut heap = mount(&mut device).map_err(in_image)?;
    let contents = Contents::read(&mut heap).map_err(|failure| in_image(failure.placed(&heap)))?;
    let classes = match types {
        Some(file) => typed(file).map_err(|failure| Error::Data { file: file.to_owned(), failure })?,
        None => Vec::new(),
    };
    let file = types.unwrap_or(&source.image).display();
    let notes = unused(&classes, &contents).iter().map(|note| format!("{file}: {note}")).collect();
    let document = Document { error_detection: heap.error_detection().is_on(), ..document_of(&contents, classes) };
    let text = serde_json::to_string_pretty(&document);
    let text = text.map_err(|error| Error::Data { file: source.image.clone(), failure: DataError::new(error) })? + "\n";
    Ok(Exported { text, notes })
}

/// The classes that no object gets, each with the reason.
fn unused(classes: &[Typed], contents: &Contents) -> Vec<String> {
    let objects = || contents.objects.values().filter(|content| content.kind == Kind::Object);
    let is_of = |class: &Typed, content: &Content| class.has(&content.widths, &content.header);
    let used: BTreeSet<usize> =
        objects().filter_map(|content| classes.iter().position(|class| is_of(class, content))).collect();
    let unused = classes.iter().enumerate().filter(|(index, _)| !used.contains(index));
    let note = |(_, class): (usize, &Typed)| match objects().any(|content| is_of(class, content)) {
        true => {
            format!("class {}: an earlier class takes its objects: they have the same widths", shown(&class.class.name))
        }
        false => {
            let widths = class.widths().iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
            let header = class
                .class
                .header
                .as_ref()
                .map_or(String::new(), |header| format!(" and the header {}", shown(header)));
            format!("class {}: no object has fields of {widths} bytes{header}", shown(&class.class.name))
        }
    };
    unused.map(note).collect()
}

/// The classes of a document.
fn typed(file: &Path) -> Result<Vec<Typed>, DataError> {
    Document::read(file, |_, object| *object = Value::Null)?.classes.iter().map(Typed::of).collect()
}

fn document_of(contents: &Contents, mut classes: Vec<Typed>) -> Document {
    let mut objects = Map::new();
    for (reference, content) in &contents.objects {
        let entry = match content.kind {
            Kind::Array => json_of(&array_entry(content)),
            Kind::Object => json_of(&object_entry(content, &mut classes)),
        };
        objects.insert(reference.to_string(), entry);
    }
    let root = |(name, reference): (&Vec<u8>, &Ref)| (root_text(name), reference.to_string());
    let classes = classes.into_iter().map(|typed| typed.class).collect();
    Document { classes, objects, roots: contents.roots.iter().map(root).collect(), ..Document::default() }
}

/// An entry of a document, whose values all have a form in JSON.
fn json_of(entry: &impl Serialize) -> Value {
    serde_json::to_value(entry).expect("entries have texts for names")
}

fn header_of(header: &[u8]) -> Option<String> {
    (!header.is_empty()).then(|| digits_of(header))
}

fn array_entry(content: &Content) -> ArrayEntry {
    let kind = Type::of_width(content.widths[0]);
    let elements = match kind {
        Type::Unsigned(1) => Value::from(digits_of(&content.values)),
        _ => content.values.chunks(kind.width().into()).map(|element| kind.to_json(element)).collect(),
    };
    ArrayEntry { array: kind.name(), header: header_of(&content.header), elements }
}

fn object_entry(content: &Content, classes: &mut Vec<Typed>) -> ObjectEntry {
    let typed = match classes.iter().find(|typed| typed.has(&content.widths, &content.header)) {
        Some(typed) => typed.clone(),
        None => {
            let mut number = classes.len() + 1;
            while classes.iter().any(|typed| typed.class.name == format!("class{number}")) {
                number += 1;
            }
            classes.push(Typed::of_widths(number, &content.widths));
            classes[classes.len() - 1].clone()
        }
    };
    let (mut fields, mut rest) = (Map::new(), &content.values[..]);
    for (field, kind) in typed.class.fields.iter().zip(&typed.types) {
        let (value, behind) = rest.split_at(kind.width().into());
        fields.insert(field.name.clone(), kind.to_json(value));
        rest = behind;
    }
    let header = if typed.header.is_some() { None } else { header_of(&content.header) };
    ObjectEntry { class: typed.class.name, header, fields }
}
