//! Numbers of classes, fields, methods and static fields.
//!
//! What other packages may name comes first, in the order of the last version that exported it, so that its numbers
//! stay; what is new follows. A class whose fields or slots change needs a new major version, since objects and
//! subclasses elsewhere are laid out by them.

use std::collections::{BTreeMap, BTreeSet};

use norn_card_package::{Aid, Version};

use super::exports::ExportTable;
use super::layout::{ClassLayout, MemberKey, Slot, kind_of};
use super::package::{LinkConfig, LinkError, Package};
use super::reach::{MethodIndex, Reached, is_exported};
use crate::class_file::ClassFile;
use crate::refusal::{Reason, Refusal};
use crate::shape::{ClassShape, MethodShape};
use crate::world::{overridable, spoken};

/// The numbers of everything that stays.
pub(super) struct Plan {
    /// Own classes and imported ones, by name.
    pub layouts: BTreeMap<String, ClassLayout>,
    /// Own classes by number.
    pub classes: Vec<String>,
    /// Own methods with code or native, by number.
    pub methods: Vec<MethodIndex>,
    /// The same, in the order of the image.
    pub order: Vec<MethodIndex>,
    /// Own static fields by number: class and field.
    pub statics: Vec<(String, MemberKey)>,
    exported: BTreeSet<String>,
}

pub(super) fn plan(package: &Package<'_>, reached: &Reached) -> Result<Plan, LinkError> {
    let mut planner =
        Planner { package, reached, exported: BTreeSet::new(), layouts: BTreeMap::new(), numbers: BTreeMap::new() };
    for table in package.imports {
        planner.layouts.extend(table.classes.iter().map(|class| (class.shape.name.clone(), class.clone())));
    }
    let classes = planner.order_classes()?;
    let methods = planner.number_methods()?;
    let statics = planner.number_statics()?;
    for name in parents_first(package, &classes) {
        planner.lay_out(&name, &classes, &statics)?;
    }
    planner.check_previous()?;
    let order = reached.order.iter().copied().filter(|index| has_body(package, *index)).collect();
    Ok(Plan { layouts: planner.layouts, classes, methods, order, statics, exported: planner.exported })
}

impl Plan {
    /// What other packages are linked against.
    pub fn exports(&self, config: &LinkConfig, imports: Vec<(Aid, Version)>) -> ExportTable {
        let classes = self.classes.iter().filter(|name| self.exported.contains(*name));
        let classes = classes.map(|name| published(&self.layouts[name])).collect();
        ExportTable { aid: config.aid, version: config.version, imports, classes }
    }
}

/// A layout with what other packages may know of it.
fn published(layout: &ClassLayout) -> ClassLayout {
    let mut layout = layout.clone();
    let shape = &mut layout.shape;
    shape.fields.retain(|field| is_exported(field.flags));
    shape
        .methods
        .retain(|method| method.name != "<clinit>" && (is_exported(method.flags) || method.flags.is_abstract()));
    (shape.nest_host, shape.nest_members) = (None, Vec::new());
    let fields: BTreeSet<_> = shape.fields.iter().map(|field| (field.name.clone(), field.descriptor.clone())).collect();
    let methods: BTreeSet<_> =
        shape.methods.iter().map(|method| (method.name.clone(), method.descriptor.clone())).collect();
    shape.fields.retain(|field| {
        let key = (field.name.clone(), field.descriptor.clone());
        layout.fields.contains_key(&key) || layout.statics.contains_key(&key)
    });
    layout.fields.retain(|key, _| fields.contains(key));
    layout.statics.retain(|key, _| fields.contains(key));
    layout.methods.retain(|key, _| methods.contains(key));
    layout
}

fn has_body(package: &Package<'_>, (class, method): MethodIndex) -> bool {
    let class = &package.classes[class];
    class.shape.methods[method].name != "<clinit>" && !class.shape.methods[method].flags.is_abstract()
}

fn parents_first(package: &Package<'_>, classes: &[String]) -> Vec<String> {
    let mut ordered: Vec<String> = Vec::new();
    let mut waiting: Vec<&str> = classes.iter().rev().map(String::as_str).collect();
    while let Some(name) = waiting.pop() {
        let Some((_, class)) = package.own(name).filter(|_| !ordered.iter().any(|done| done == name)) else { continue };
        let above: Vec<&str> = class.shape.parent.iter().chain(&class.shape.interfaces).map(String::as_str).collect();
        let is_open = |above: &&str| package.own(above).is_some() && !ordered.iter().any(|done| done == above);
        let open: Vec<&str> = above.into_iter().filter(is_open).collect();
        if open.is_empty() {
            ordered.push(name.to_owned());
        } else {
            waiting.push(name);
            waiting.extend(open);
        }
    }
    ordered
}

struct Planner<'a> {
    package: &'a Package<'a>,
    reached: &'a Reached,
    exported: BTreeSet<String>,
    layouts: BTreeMap<String, ClassLayout>,
    /// Numbers of own methods.
    numbers: BTreeMap<MethodIndex, u16>,
}

/// What a card has no room for.
fn too_many<T>(what: &str, most: usize) -> Result<T, LinkError> {
    Err(LinkError::Package(format!("more than {most} {what} in one package: split it")))
}

fn key(method: &MethodShape) -> MemberKey {
    (method.name.clone(), method.descriptor.clone())
}

impl Planner<'_> {
    fn previous(&self, class: &str) -> Option<&ClassLayout> {
        self.package.config.previous.as_ref()?.classes.iter().find(|layout| layout.shape.name == class)
    }

    /// Exported classes in the order of their last numbers, new ones, then the package's own.
    fn order_classes(&mut self) -> Result<Vec<String>, LinkError> {
        let mut waiting: Vec<&ClassFile> = Vec::new();
        for name in &self.reached.classes {
            let class = self.package.own(name).map(|(_, class)| class);
            let shareable = |class: &&ClassFile| {
                class.shape.flags.is_interface() && self.package.world.is_shareable(&class.shape).unwrap_or(false)
            };
            waiting.extend(class.filter(|class| class.shape.flags.is_public() || shareable(class)));
        }
        while let Some(class) = waiting.pop() {
            if self.exported.insert(class.shape.name.clone()) {
                let above = class.shape.parent.iter().chain(&class.shape.interfaces);
                waiting.extend(above.filter_map(|name| self.package.own(name)).map(|(_, class)| class));
            }
        }
        let mut ordered: Vec<String> = Vec::new();
        let previous = self.package.config.previous.iter().flat_map(|table| &table.classes);
        for layout in previous {
            let name = &layout.shape.name;
            if !self.exported.contains(name) {
                return vanished(&format!("the class {}", spoken(name)));
            }
            ordered.push(name.clone());
        }
        let fresh =
            self.exported.iter().chain(self.reached.classes.iter().filter(|name| !self.exported.contains(*name)));
        let fresh: Vec<_> = fresh.filter(|name| !ordered.contains(name)).cloned().collect();
        ordered.extend(fresh);
        if ordered.len() > 254 { too_many("classes", 254) } else { Ok(ordered) }
    }

    /// Numbers methods; those that others may call, by name or by slot, first.
    fn number_methods(&mut self) -> Result<Vec<MethodIndex>, LinkError> {
        let body = |index: &&MethodIndex| has_body(self.package, **index);
        let (first, rest): (Vec<MethodIndex>, Vec<MethodIndex>) =
            self.reached.methods.iter().filter(body).partition(|(class, method)| {
                let shape = &self.package.classes[*class].shape;
                self.exported.contains(&shape.name) && !shape.methods[*method].flags.is_private()
            });
        let mut last: BTreeMap<u16, MethodIndex> = BTreeMap::new();
        for layout in self.package.config.previous.iter().flat_map(|table| &table.classes) {
            for (method, number) in &layout.methods {
                let found = first.iter().find(|(class, index)| {
                    let shape = &self.package.classes[*class].shape;
                    shape.name == layout.shape.name && key(&shape.methods[*index]) == *method
                });
                let Some(found) = found else { return vanished(&format!("`{}{}`", method.0, method.1)) };
                last.insert(*number, *found);
            }
        }
        let mut fresh: Vec<MethodIndex> =
            first.into_iter().filter(|index| !last.values().any(|old| old == index)).collect();
        fresh.extend(rest);
        fresh.reverse();
        let mut methods = Vec::new();
        while !last.is_empty() || !fresh.is_empty() {
            let next = last.remove(&(methods.len() as u16)).or_else(|| fresh.pop());
            let Some(next) = next else { return vanished("what had the numbers of methods between others") };
            self.numbers.insert(next, methods.len() as u16);
            methods.push(next);
        }
        if methods.len() > 65_535 { too_many("methods", 65_535) } else { Ok(methods) }
    }

    fn number_statics(&self) -> Result<Vec<(String, MemberKey)>, LinkError> {
        let mut found: Vec<(String, MemberKey)> = Vec::new();
        for (class, name, descriptor) in &self.reached.fields {
            let shape = self.package.own(class).map(|(_, class)| &class.shape);
            let field = shape.and_then(|shape| shape.field(name, descriptor));
            if field.is_some_and(|field| field.flags.is_static()) {
                found.push((class.clone(), (name.clone(), descriptor.clone())));
            }
        }
        let mut last: BTreeMap<u16, (String, MemberKey)> = BTreeMap::new();
        for layout in self.package.config.previous.iter().flat_map(|table| &table.classes) {
            for (field, slot) in &layout.statics {
                last.insert(*slot, (layout.shape.name.clone(), field.clone()));
            }
        }
        if let Some((_, (_, gone))) = last.iter().find(|(_, field)| !found.contains(field)) {
            return vanished(&format!("the static field `{}`", gone.0));
        }
        let is_exported = |(class, (name, descriptor)): &(String, MemberKey)| {
            let field = self.package.own(class).and_then(|(_, class)| class.shape.field(name, descriptor));
            self.exported.contains(class) && field.is_some_and(|field| is_exported(field.flags))
        };
        found.retain(|field| !last.values().any(|old| old == field));
        let (mut fresh, rest): (Vec<_>, Vec<_>) = found.into_iter().partition(is_exported);
        fresh.extend(rest);
        fresh.reverse();
        let mut statics = Vec::new();
        while !last.is_empty() || !fresh.is_empty() {
            let next = last.remove(&(statics.len() as u16)).or_else(|| fresh.pop());
            let Some(next) = next else { return vanished("what had the numbers of static fields between others") };
            statics.push(next);
        }
        if statics.len() > 65_535 { too_many("static fields", 65_535) } else { Ok(statics) }
    }

    fn lay_out(&mut self, name: &str, classes: &[String], statics: &[(String, MemberKey)]) -> Result<(), LinkError> {
        let Some((index, class)) = self.package.own(name) else { return Ok(()) };
        let shape = &class.shape;
        let refused = |reason| LinkError::from(Refusal::of_class(name, reason));
        let parent = shape.parent.as_ref().and_then(|parent| self.layouts.get(parent));
        let mut kinds = parent.map_or(Vec::new(), |parent| parent.kinds.clone());
        let mut fields = BTreeMap::new();
        for field in shape.fields.iter().filter(|field| !field.flags.is_static()) {
            let member = (field.name.clone(), field.descriptor.clone());
            if self.reached.fields.contains(&(name.to_owned(), member.0.clone(), member.1.clone())) {
                let slot = u8::try_from(kinds.len()).ok().filter(|slot| *slot < 255);
                let Some(slot) = slot else { return too_many("fields of an object", 255) };
                fields.insert(member, slot);
                kinds.push(kind_of(&field.value));
            }
        }
        let own_statics = statics.iter().zip(0..).filter(|((class, _), _)| class == name);
        let layout = ClassLayout {
            shape: shape.clone(),
            package: self.package.config.aid,
            number: classes.iter().position(|class| class == name).unwrap_or(0) as u8,
            is_shareable: self.package.world.is_shareable(shape).map_err(refused)?,
            kinds,
            fields,
            statics: own_statics.map(|((_, field), slot)| (field.clone(), slot)).collect(),
            methods: self.methods_of(index, shape),
            table: self.table(index, shape).map_err(refused)?,
        };
        if layout.table.len() > 255 {
            return too_many("methods of an object that are called by slot", 255);
        }
        self.layouts.insert(name.to_owned(), layout);
        Ok(())
    }

    fn methods_of(&self, class: usize, shape: &ClassShape) -> BTreeMap<MemberKey, u16> {
        let number = |(index, method): (usize, &MethodShape)| Some((key(method), *self.numbers.get(&(class, index))?));
        shape.methods.iter().enumerate().filter_map(number).collect()
    }

    /// The methods that an object of the class is asked for by slot: those of the class above, in their slots; new
    /// ones; and those that an interface asks for and no class has yet.
    fn table(&self, class: usize, shape: &ClassShape) -> Result<Vec<Slot>, Reason> {
        let parent = shape.parent.as_ref().filter(|_| !shape.flags.is_interface());
        let mut table =
            parent.and_then(|parent| self.layouts.get(parent)).map_or(Vec::new(), |above| above.table.clone());
        for (index, method) in shape.methods.iter().enumerate() {
            let flags = method.flags;
            let has_slot = !flags.is_static() && !flags.is_private() && !method.name.starts_with('<');
            if !has_slot || !self.reached.methods.contains(&(class, index)) {
                continue;
            }
            let code = self.numbers.get(&(class, index)).map(|number| (self.package.config.aid, *number));
            let slot = Slot { owner: shape.name.clone(), key: key(method), flags, code };
            let mut is_new = true;
            for above in table.iter_mut().filter(|above| above.key == slot.key) {
                let owner = self.package.world.class(&above.owner)?;
                let declared = MethodShape { flags: above.flags, ..method.clone() };
                if overridable(owner, &declared, shape) {
                    *above = slot.clone();
                    is_new = false;
                }
            }
            if is_new {
                table.push(slot);
            }
        }
        if !shape.flags.is_interface() {
            self.add_open_slots(shape, &mut table)?;
        }
        Ok(table)
    }

    /// Slots for what interfaces ask for and no class of the line declares.
    fn add_open_slots(&self, shape: &ClassShape, table: &mut Vec<Slot>) -> Result<(), Reason> {
        for interface in self.package.world.named_interfaces(shape)? {
            let Some(layout) = self.layouts.get(&interface.name) else { continue };
            for method in &layout.table {
                if !table.iter().any(|slot| slot.key == method.key && slot.flags.is_public()) {
                    table.push(method.clone());
                }
            }
        }
        Ok(())
    }

    /// That exported classes keep the fields and slots that they had.
    fn check_previous(&self) -> Result<(), LinkError> {
        for (name, now) in self.layouts.iter().filter(|(name, _)| self.exported.contains(*name)) {
            let Some(before) = self.previous(name) else { continue };
            let keys = |layout: &ClassLayout| layout.table.iter().map(|slot| slot.key.clone()).collect::<Vec<_>>();
            let (slots, last_slots) = (keys(now), keys(before));
            let grows =
                slots.starts_with(&last_slots) && (slots.len() == last_slots.len() || now.shape.flags.is_final());
            let fields_stay = before.fields.iter().all(|(field, slot)| now.fields.get(field) == Some(slot));
            if now.kinds != before.kinds || !fields_stay || !grows {
                return vanished(&format!("the layout of {}", spoken(name)));
            }
        }
        Ok(())
    }
}

/// What other packages rely on is not there any more.
fn vanished<T>(what: &str) -> Result<T, LinkError> {
    Err(LinkError::Package(format!("{what} has changed since the last version: raise the major version")))
}
