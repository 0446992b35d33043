//! Export tables: what other packages are linked against, and their text.
//!
//! A line is a word and what it needs, separated by single spaces. Names in Java have none; a class file whose names
//! have spaces is refused when its package is exported.

use std::fmt::Write;

use norn_card_package::{Aid, Version};

use super::layout::{ClassLayout, MemberKey, Slot};
use crate::descriptor::{Signature, ValueType};
use crate::shape::{ClassShape, FieldShape, Flags, MethodShape};

const FIRST_LINE: &str = "norn-card-exports 1";

/// What a package exports.
#[derive(Clone, Debug)]
pub struct ExportTable {
    /// The package.
    pub aid: Aid,
    /// Its version.
    pub version: Version,
    /// The packages that it imports itself, and the versions that it was linked against.
    pub imports: Vec<(Aid, Version)>,
    /// Exported classes, with those above them.
    pub classes: Vec<ClassLayout>,
}

impl ExportTable {
    /// The table as text.
    ///
    /// # Errors
    ///
    /// The name that has a space or no characters.
    pub fn to_text(&self) -> Result<String, String> {
        let mut lines = vec![FIRST_LINE.to_owned(), format!("package {} {}", self.aid, self.version)];
        lines.extend(self.imports.iter().map(|(aid, version)| format!("import {aid} {version}")));
        self.classes.iter().for_each(|class| class_lines(class, &mut lines));
        let mut text = String::new();
        for line in lines {
            let is_odd = |part: &str| part.is_empty() || part.contains(char::is_whitespace);
            if line.split(' ').any(is_odd) || line.split(' ').count() > 9 {
                return Err(line);
            }
            let _ = writeln!(text, "{line}");
        }
        match ExportTable::from_text(&text) {
            Ok(_) => Ok(text),
            Err(line) => Err(line),
        }
    }

    /// Reads a table's text.
    ///
    /// # Errors
    ///
    /// The line that is wrong, with its number.
    pub fn from_text(text: &str) -> Result<ExportTable, String> {
        let mut lines = (1..).zip(text.lines());
        let wrong = |number: usize, line: &str| format!("line {number} of the export table: `{line}`");
        match lines.next() {
            Some((_, FIRST_LINE)) => {}
            other => return Err(wrong(1, other.map_or("", |(_, line)| line))),
        }
        let (number, line) = lines.next().unwrap_or((2, ""));
        let package = match line.split(' ').collect::<Vec<_>>()[..] {
            ["package", aid, version] => aid_of(aid).zip(version_of(version)),
            _ => None,
        };
        let (aid, version) = package.ok_or_else(|| wrong(number, line))?;
        let mut table = ExportTable { aid, version, imports: Vec::new(), classes: Vec::new() };
        for (number, line) in lines {
            table.read_line(&line.split(' ').collect::<Vec<_>>()).ok_or_else(|| wrong(number, line))?;
        }
        Ok(table)
    }

    fn read_line(&mut self, words: &[&str]) -> Option<()> {
        match *words {
            ["import", aid, version] => self.imports.push((aid_of(aid)?, version_of(version)?)),
            ["class", number, flags, shareable, name, parent] => {
                let shape = ClassShape {
                    name: class_name(name)?,
                    parent: if parent == "-" { None } else { Some(class_name(parent)?) },
                    interfaces: Vec::new(),
                    flags: flags_of(flags)?,
                    fields: Vec::new(),
                    methods: Vec::new(),
                    nest_host: None,
                    nest_members: Vec::new(),
                };
                self.classes.push(ClassLayout {
                    shape,
                    package: self.aid,
                    number: number.parse().ok().filter(|number| *number < 255)?,
                    is_shareable: shareable == "shareable",
                    kinds: Vec::new(),
                    fields: Default::default(),
                    statics: Default::default(),
                    methods: Default::default(),
                    table: Vec::new(),
                });
            }
            _ => read_member(self.classes.last_mut()?, words)?,
        }
        Some(())
    }
}

fn class_lines(class: &ClassLayout, lines: &mut Vec<String>) {
    let shape = &class.shape;
    let (number, flags, name) = (class.number, shape.flags.0, &shape.name);
    let shareable = if class.is_shareable { "shareable" } else { "plain" };
    let parent = shape.parent.as_deref().unwrap_or("-");
    lines.push(format!("class {number} {flags:04x} {shareable} {name} {parent}"));
    lines.extend(shape.interfaces.iter().map(|name| format!("implements {name}")));
    lines.extend(class.kinds.iter().map(|kind| format!("kind {kind}")));
    for field in &shape.fields {
        let key = (field.name.clone(), field.descriptor.clone());
        let slot = class.fields.get(&key).map(|slot| u16::from(*slot)).or_else(|| class.statics.get(&key).copied());
        if let Some(slot) = slot {
            lines.push(format!("field {slot} {:04x} {} {}", field.flags.0, field.name, field.descriptor));
        }
    }
    for method in &shape.methods {
        let number = class.methods.get(&(method.name.clone(), method.descriptor.clone()));
        let number = number.map_or("-".to_owned(), u16::to_string);
        lines.push(format!("method {number} {:04x} {} {}", method.flags.0, method.name, method.descriptor));
    }
    for slot in &class.table {
        let (owner, flags, (name, descriptor)) = (&slot.owner, slot.flags.0, &slot.key);
        let (aid, method) =
            slot.code.map_or(("-".to_owned(), "-".to_owned()), |(aid, method)| (aid.to_string(), method.to_string()));
        lines.push(format!("slot {aid} {method} {flags:04x} {owner} {name} {descriptor}"));
    }
}

/// A line after that of a class; none where it is wrong.
fn read_member(class: &mut ClassLayout, words: &[&str]) -> Option<()> {
    match *words {
        ["implements", name] => class.shape.interfaces.push(class_name(name)?),
        ["kind", kind] => {
            let kind: u8 = kind.parse().ok()?;
            norn_card_package::format::width(kind)?;
            class.kinds.push(kind);
        }
        ["field", slot, flags, name, descriptor] => {
            let flags = flags_of(flags)?;
            let value = ValueType::parse(descriptor).ok()?;
            let key = (name.to_owned(), descriptor.to_owned());
            if flags.is_static() {
                class.statics.insert(key, slot.parse().ok()?);
            } else {
                let slot: u8 = slot.parse().ok()?;
                let kind = class.kinds.get(usize::from(slot))?;
                if *kind != super::layout::kind_of(&value) {
                    return None;
                }
                class.fields.insert(key, slot);
            }
            let field = FieldShape { name: name.to_owned(), descriptor: descriptor.to_owned(), value, flags };
            class.shape.fields.push(field);
        }
        ["method", number, flags, name, descriptor] => {
            let signature = Signature::parse(descriptor).ok()?;
            let flags = flags_of(flags)?;
            if number != "-" {
                class.methods.insert((name.to_owned(), descriptor.to_owned()), number.parse().ok()?);
            } else if !flags.is_abstract() {
                return None;
            }
            let method = MethodShape { name: name.to_owned(), descriptor: descriptor.to_owned(), signature, flags };
            class.shape.methods.push(method);
        }
        ["slot", aid, method, flags, owner, name, descriptor] => {
            Signature::parse(descriptor).ok()?;
            let code = if aid == "-" { None } else { Some((aid_of(aid)?, method.parse().ok()?)) };
            let key: MemberKey = (name.to_owned(), descriptor.to_owned());
            class.table.push(Slot { owner: class_name(owner)?, key, flags: flags_of(flags)?, code });
        }
        _ => return None,
    }
    Some(())
}

fn class_name(name: &str) -> Option<String> {
    crate::descriptor::is_class_name(name).then(|| name.to_owned())
}

fn flags_of(text: &str) -> Option<Flags> {
    u16::from_str_radix(text, 16).ok().map(Flags)
}

fn version_of(text: &str) -> Option<Version> {
    let (major, minor) = text.split_once('.')?;
    Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

fn aid_of(text: &str) -> Option<Aid> {
    let pairs = text.as_bytes().chunks(2).map(|pair| {
        let digits = std::str::from_utf8(pair).ok().filter(|digits| digits.len() == 2)?;
        u8::from_str_radix(digits, 16).ok()
    });
    Aid::new(&pairs.collect::<Option<Vec<u8>>>()?)
}
