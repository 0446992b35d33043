//! The image: header, tables, first values, class records, code.

use std::collections::BTreeMap;
use std::fmt;

use norn_card_package::{Aid, KNOWN_CLASSES, KNOWN_METHODS, Version, format};

use super::class_start::{Starts, Value};
use super::emit::Imports;
use super::layout::{ClassLayout, Slot, kind_of};
use super::natives::Natives;
use super::package::{LinkError, Package};
use super::plan::Plan;
use super::reach::MethodIndex;
use crate::descriptor::ValueType;
use crate::refusal::{Reason, Refusal};

/// What the bytes of an image are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Header, imports, applets, tables of positions.
    pub tables: usize,
    /// Kinds and first values of static fields.
    pub statics: usize,
    /// Class records.
    pub classes: usize,
    /// Methods, with their heads and handlers.
    pub methods: usize,
    /// Each method by class, name and descriptor, with its bytes, in the order of the image.
    pub by_method: Vec<(String, usize)>,
    /// Classes and methods of the class files that are left out.
    pub left_out: (usize, usize),
}

impl fmt::Display for Sizes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.tables + self.statics + self.classes + self.methods;
        writeln!(out, "{whole:>6} bytes")?;
        writeln!(out, "{:>6} header and tables", self.tables)?;
        writeln!(out, "{:>6} static fields", self.statics)?;
        writeln!(out, "{:>6} class records", self.classes)?;
        writeln!(out, "{:>6} methods", self.methods)?;
        for (name, bytes) in &self.by_method {
            writeln!(out, "{bytes:>8} {name}")?;
        }
        write!(out, "{} classes and {} methods are left out", self.left_out.0, self.left_out.1)
    }
}

/// Writes the image around the code.
pub(super) fn image(
    package: &Package<'_>,
    plan: &Plan,
    starts: &Starts,
    code: &[(MethodIndex, Vec<u8>)],
    imports: &mut Imports,
) -> Result<(Vec<u8>, Sizes), LinkError> {
    let records = plan.classes.iter().map(|name| record(package, plan, &plan.layouts[name], imports));
    let records = records.collect::<Result<Vec<_>, _>>()?;
    let applets = applets(package, plan)?;
    let statics = statics(package, plan, starts)?;
    let imported = imports.versions();
    let tables = format::HEADER_BYTES as usize
        + imported.len() * format::IMPORT_BYTES as usize
        + applets.len()
        + (records.len() + code.len()) * format::POSITION_BYTES as usize;
    let starts_at = tables + plan.statics.len();
    let records_at = starts_at + statics.starts.len();
    let mut at = records_at;
    let class_positions = positions(&mut at, records.iter().map(Vec::len));
    let code_positions = positions(&mut at, code.iter().map(|(_, bytes)| bytes.len()));
    if at >= 1 << 24 {
        return Err(LinkError::Package("an image of more than 16 MiB".to_owned()));
    }
    let known = if package.config.natives == Natives::OfTheApi { known(plan) } else { Vec::new() };
    let known_at = if known.is_empty() { 0 } else { at };
    at += known.len();
    let placed: BTreeMap<MethodIndex, usize> = code.iter().map(|(index, _)| *index).zip(code_positions).collect();
    let mut image = header(package, plan, starts, imported.len());
    put_u24(&mut image, format::LENGTH, at);
    put_u24(&mut image, format::STARTS_AT, starts_at);
    put_u24(&mut image, format::RECORDS_AT, records_at);
    put_u24(&mut image, format::KNOWN_AT, known_at);
    for (aid, version) in imported {
        put_aid(&mut image, aid, version);
    }
    image.extend(applets);
    let by_number = plan.methods.iter().map(|index| placed[index]);
    for position in class_positions.into_iter().chain(by_number) {
        image.extend(&(position as u32).to_le_bytes()[..3]);
    }
    image.extend(statics.kinds);
    image.extend(statics.starts);
    image.extend(records.iter().flatten());
    image.extend(code.iter().flat_map(|(_, bytes)| bytes));
    let sizes = Sizes {
        tables: tables + known.len(),
        statics: records_at - tables,
        classes: records.iter().map(Vec::len).sum(),
        methods: code.iter().map(|(_, bytes)| bytes.len()).sum(),
        by_method: code.iter().map(|(index, bytes)| (method_name(package, *index), bytes.len())).collect(),
        left_out: left_out(package, plan),
    };
    image.extend(known);
    Ok((image, sizes))
}

fn positions(at: &mut usize, lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let place = |length| std::mem::replace(at, *at + length);
    lengths.map(place).collect()
}

fn method_name(package: &Package<'_>, (class, method): MethodIndex) -> String {
    let shape = &package.classes[class].shape;
    let method = &shape.methods[method];
    format!("{}.{}{}", shape.name.replace('/', "."), method.name, method.descriptor)
}

fn left_out(package: &Package<'_>, plan: &Plan) -> (usize, usize) {
    let with_code = package.classes.iter().flat_map(|class| class.shape.methods.iter());
    let with_code = with_code.filter(|method| !method.flags.is_abstract() && method.name != "<clinit>").count();
    (package.classes.len() - plan.classes.len(), with_code - plan.methods.len())
}

fn put_u24(image: &mut [u8], at: u32, value: usize) {
    image[at as usize..at as usize + 3].copy_from_slice(&(value as u32).to_le_bytes()[..3]);
}

fn aid_bytes(aid: Aid) -> Vec<u8> {
    let mut bytes = vec![aid.as_bytes().len() as u8];
    bytes.extend(aid.as_bytes());
    bytes.resize(format::AID_BYTES as usize, 0);
    bytes
}

fn put_aid(image: &mut Vec<u8>, aid: Aid, version: Version) {
    image.extend(aid_bytes(aid));
    image.extend([version.major, version.minor]);
}

fn header(package: &Package<'_>, plan: &Plan, starts: &Starts, imports: usize) -> Vec<u8> {
    let config = package.config;
    let mut header = vec![0; format::HEADER_BYTES as usize];
    let mut put = |at: u32, bytes: &[u8]| header[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    put(0, &format::MAGIC);
    put(format::FLAGS, &[if config.natives == Natives::OfTheApi { format::PACKAGE_NATIVE } else { 0 }]);
    put(format::VERSION, &[config.version.major, config.version.minor]);
    put(format::AID, &aid_bytes(config.aid));
    put(format::IMPORTS, &[imports as u8, config.applets.len() as u8, plan.classes.len() as u8]);
    put(format::METHODS, &(plan.methods.len() as u16).to_le_bytes());
    put(format::STATICS, &(plan.statics.len() as u16).to_le_bytes());
    put(format::ARRAYS, &(starts.arrays.len() as u16).to_le_bytes());
    put(format::STARTS, &(first_values(plan, starts).len() as u16).to_le_bytes());
    header
}

/// The numbers of what the virtual machine knows of its API.
fn known(plan: &Plan) -> Vec<u8> {
    let class = |name: &str| plan.layouts.get(name).filter(|layout| plan.classes.contains(&layout.shape.name));
    let classes = KNOWN_CLASSES.iter().map(|name| class(name).map_or(format::NONE, |layout| layout.number));
    let slot = |(name, method, descriptor): &(&str, &str, &str)| {
        let mut table = class(name)?.table.iter();
        let place = table.position(|slot| slot.key.0 == *method && slot.key.1 == *descriptor)?;
        u8::try_from(place).ok()
    };
    classes.chain(KNOWN_METHODS.iter().map(|method| slot(method).unwrap_or(format::NONE))).collect()
}

fn applets(package: &Package<'_>, plan: &Plan) -> Result<Vec<u8>, LinkError> {
    let mut bytes = Vec::new();
    for (aid, class) in &package.config.applets {
        let layout = &plan.layouts[class];
        let install = layout.methods[&("install".to_owned(), "([BSB)V".to_owned())];
        bytes.extend(aid_bytes(*aid));
        bytes.push(layout.number);
        bytes.extend(install.to_le_bytes());
    }
    match package.config.applets.len() {
        0..=255 => Ok(bytes),
        _ => Err(LinkError::Package("more than 255 applets in one package: split it".to_owned())),
    }
}

/// The section of static fields.
struct Statics {
    kinds: Vec<u8>,
    starts: Vec<u8>,
}

/// Static fields that do not start with zero or null, by number.
fn first_values(plan: &Plan, starts: &Starts) -> Vec<(u16, Value)> {
    let value = |(slot, (class, (name, descriptor))): (u16, &(String, (String, String)))| {
        let value = *starts.values.get(&(class.clone(), name.clone(), descriptor.clone()))?;
        (value != Value::Int(0) && value != Value::Null).then_some((slot, value))
    };
    (0..).zip(&plan.statics).filter_map(value).collect()
}

fn statics(package: &Package<'_>, plan: &Plan, starts: &Starts) -> Result<Statics, LinkError> {
    let mut kinds = Vec::new();
    for (class, (_, descriptor)) in &plan.statics {
        let value = ValueType::parse(descriptor).map_err(|reason| Refusal::of_class(class, reason))?;
        kinds.push(kind_of(&value));
    }
    let mut bytes = Vec::new();
    for array in &starts.arrays {
        bytes.push(array.kind);
        bytes.extend((array.elements.len() as u16).to_le_bytes());
        let width = format::width(array.kind).unwrap_or(4) as usize;
        bytes.extend(array.elements.iter().flat_map(|element| element.to_le_bytes().into_iter().take(width)));
    }
    for (slot, value) in first_values(plan, starts) {
        bytes.extend(slot.to_le_bytes());
        let (tag, number) = match value {
            Value::Int(value) => (format::START_INT, value),
            Value::Array(number) => (format::START_ARRAY, number as i32),
            Value::Null => continue,
        };
        bytes.push(tag);
        bytes.extend(number.to_le_bytes());
    }
    if starts.arrays.len() > 65_535 {
        let aid = package.config.aid;
        return Err(LinkError::Package(format!("more than 65535 arrays that static fields of {aid} start with")));
    }
    Ok(Statics { kinds, starts: bytes })
}

fn record(
    package: &Package<'_>,
    plan: &Plan,
    layout: &ClassLayout,
    imports: &mut Imports,
) -> Result<Vec<u8>, LinkError> {
    let shape = &layout.shape;
    let refused = |reason: Reason| LinkError::from(Refusal::of_class(&shape.name, reason));
    let is_interface = shape.flags.is_interface();
    let flags = [
        (is_interface, format::CLASS_INTERFACE),
        (shape.flags.is_abstract(), format::CLASS_ABSTRACT),
        (layout.is_shareable, format::CLASS_SHAREABLE),
    ];
    let flags = flags.iter().filter(|(is_set, _)| *is_set).fold(0, |flags, (_, flag)| flags | flag);
    let parent = match shape.parent.as_ref().filter(|_| !is_interface).map(|name| &plan.layouts[name]) {
        Some(parent) => [imports.number(parent.package)?, parent.number],
        None => [format::NONE; 2],
    };
    let interfaces = package.world.named_interfaces(shape).map_err(refused)?;
    let mut bytes = vec![flags, parent[0], parent[1], layout.kinds.len() as u8, layout.table.len() as u8];
    let Ok(count) = u8::try_from(interfaces.len()) else {
        return Err(LinkError::Package(format!("{} has more than 255 interfaces", shape.name.replace('/', "."))));
    };
    bytes.push(count);
    bytes.extend(&layout.kinds);
    for slot in layout.table.iter().filter(|_| !is_interface) {
        match slot.code {
            Some((aid, method)) => {
                bytes.push(imports.number(aid)?);
                bytes.extend(method.to_le_bytes());
            }
            None => bytes.extend([format::NONE; 3]),
        }
    }
    for interface in interfaces {
        let interface = &plan.layouts[&interface.name];
        bytes.extend([imports.number(interface.package)?, interface.number]);
        let methods = interface.table.iter().filter(|_| !is_interface);
        let slots = methods.map(|method| {
            let is_it = |slot: &Slot| slot.key == method.key && slot.flags.is_public();
            layout.table.iter().position(is_it).unwrap_or(usize::from(u8::MAX)) as u8
        });
        let slots: Vec<u8> = slots.collect();
        bytes.push(slots.len() as u8);
        bytes.extend(slots);
    }
    Ok(bytes)
}
