//! Classes of a document, with types by which values are read and written.

use std::collections::BTreeMap;

use super::document::{Class, DataError, Field, bytes_of};
use super::failure::named;
use super::values::Type;

/// Most fields of an object.
const FIELDS_MAX: usize = 255;

/// A class whose types are known.
#[derive(Clone, Debug)]
pub struct Typed {
    /// As the document has it.
    pub class: Class,
    /// Its header, if it has one.
    pub header: Option<Vec<u8>>,
    /// The types of its fields.
    pub types: Vec<Type>,
}

impl Typed {
    /// A class of a document.
    ///
    /// # Errors
    /// When a type is none, the header is none, two fields have one name, or there are more or fewer than an object may
    /// have.
    pub fn of(class: &Class) -> Result<Typed, DataError> {
        let place = named("class", &class.name);
        let typed =
            |field: &Field| Type::named(&field.kind).map_err(|error| error.within(&named("field", &field.name)));
        let types = class.fields.iter().map(typed).collect::<Result<_, _>>().map_err(|error| error.within(&place))?;
        let header = class.header.as_deref().map(bytes_of).transpose();
        let header = header.map_err(|error| error.within("header").within(&place))?;
        if !(1..=FIELDS_MAX).contains(&class.fields.len()) {
            let problem = format!("{} fields: a class has from 1 to {FIELDS_MAX}", class.fields.len());
            return Err(DataError::new(problem).within(&place));
        }
        let names: BTreeMap<&str, ()> = class.fields.iter().map(|field| (&*field.name, ())).collect();
        match names.len() == class.fields.len() {
            true => Ok(Typed { class: class.clone(), header, types }),
            false => Err(DataError::new("two fields have the same name").within(&place)),
        }
    }

    /// The class that objects of these widths have where none is known.
    pub fn of_widths(number: usize, widths: &[u8]) -> Typed {
        let types: Vec<Type> = widths.iter().map(|&width| Type::of_width(width)).collect();
        let field = |(index, kind): (usize, &Type)| Field { name: index.to_string(), kind: kind.name() };
        let fields = types.iter().enumerate().map(field).collect();
        Typed { class: Class { name: format!("class{number}"), header: None, fields }, header: None, types }
    }

    /// Widths of its fields.
    pub fn widths(&self) -> Vec<u8> {
        self.types.iter().map(|kind| kind.width()).collect()
    }

    /// Whether an object with these widths and this header is of the class.
    pub fn has(&self, widths: &[u8], header: &[u8]) -> bool {
        self.header.as_deref().is_none_or(|own| own == header) && self.widths() == widths
    }
}
