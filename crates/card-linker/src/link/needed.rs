//! Which of the packages at hand a package is linked against: those that export a class that it names, those that its
//! configuration requires, and those that these import themselves.
//!
//! A card holds packages of owners who know nothing of each other, so that two of them may have a package of Java's of
//! one name, and even classes of one name. What a package does not need is none of its business: it is left out.

use std::collections::BTreeSet;

use norn_card_package::Aid;

use super::exports::ExportTable;
use super::package::{LinkConfig, LinkError};
use crate::class_file::{ClassFile, Constant};
use crate::world::spoken;

/// Picks from `imports`, in their order. Cost: the names in the classes' constant pools, each looked up in the tables.
///
/// # Errors
///
/// [`LinkError::Package`] where several packages export a class, and nothing says which is meant.
pub(super) fn needed<'a>(
    classes: &[ClassFile],
    imports: &'a [ExportTable],
    config: &LinkConfig,
) -> Result<Vec<&'a ExportTable>, LinkError> {
    let mut chosen = BTreeSet::new();
    let mut ambiguous = Vec::new();
    for (aid, _) in &config.requires {
        choose(&mut chosen, imports, *aid);
    }
    for name in names(classes) {
        let exporters: Vec<_> = imports.iter().filter(|table| exports(table, &name)).collect();
        match exporters[..] {
            [] => {}
            [only] => choose(&mut chosen, imports, only.aid),
            _ => ambiguous.push((name, exporters)),
        }
    }
    for (name, exporters) in ambiguous {
        if !exporters.iter().any(|table| chosen.contains(&table.aid)) {
            let aids: Vec<String> = exporters.iter().map(|table| table.aid.to_string()).collect();
            let (name, aids) = (spoken(&name), aids.join(" and "));
            return Err(LinkError::Package(format!(
                "packages {aids} both have {name}: which one is meant is not known"
            )));
        }
    }
    Ok(imports.iter().filter(|table| chosen.contains(&table.aid)).collect())
}

fn exports(table: &ExportTable, name: &str) -> bool {
    table.classes.iter().any(|class| class.shape.name == name)
}

/// Takes a package and those that it imports. One that is not at hand is missed when versions are checked.
fn choose(chosen: &mut BTreeSet<Aid>, imports: &[ExportTable], aid: Aid) {
    let mut waiting = vec![aid];
    while let Some(aid) = waiting.pop() {
        let Some(table) = imports.iter().find(|table| table.aid == aid) else { continue };
        if chosen.insert(aid) {
            waiting.extend(table.imports.iter().map(|(imported, _)| *imported));
        }
    }
}

/// The names of other classes in class files: in constant pools, and in the types of members.
fn names(classes: &[ClassFile]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for class in classes {
        let shape = &class.shape;
        names.extend(shape.parent.iter().chain(&shape.interfaces).cloned());
        let members = shape.fields.iter().map(|field| &field.descriptor);
        members
            .chain(shape.methods.iter().map(|method| &method.descriptor))
            .for_each(|descriptor| names.extend(of_descriptor(descriptor)));
        for constant in class.pool.constants() {
            match constant {
                Constant::Class(name) => names.extend(of_class(name)),
                Constant::Field(member) | Constant::Method(member) | Constant::InterfaceMethod(member) => {
                    names.extend(of_class(&member.class).chain(of_descriptor(&member.descriptor)));
                }
                Constant::Int(_) | Constant::Lacking(_) => {}
            }
        }
    }
    for class in classes {
        names.remove(&class.shape.name);
    }
    names
}

/// The class of a name that may be an array's descriptor.
fn of_class(name: &str) -> impl Iterator<Item = String> {
    let class = (!name.starts_with('[')).then(|| name.to_owned());
    class.into_iter().chain(of_descriptor(if name.starts_with('[') { name } else { "" }))
}

/// The classes of a descriptor: what is between each `L` that begins a type, and its semicolon.
fn of_descriptor(descriptor: &str) -> impl Iterator<Item = String> {
    descriptor.split_inclusive(';').filter_map(|part| {
        let class = part.strip_suffix(';')?;
        let start = class.find('L')? + 1;
        Some(class[start..].to_owned())
    })
}
