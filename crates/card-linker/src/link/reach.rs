//! What a package needs of itself: everything else is left out of the image.
//!
//! Roots are the public and protected members of public classes, the applets' `install`, and the methods of Shareable
//! interfaces. From there on: what code names; and of each class that is needed, the methods whose name and descriptor
//! something calls by slot, and those that take the place of an imported class's or interface's. That errs on the side
//! of keeping: classes are not told apart by whether they have instances.

use std::collections::BTreeSet;

use super::layout::{MemberKey, class_of};
use super::package::{LinkError, Package};
use crate::class_file::{ClassFile, Constant, Invocation, MemberName, Operation};
use crate::refusal::{Reason, Refusal};
use crate::shape::{Flags, MethodShape};

/// A method by class and place among the class's methods.
pub(super) type MethodIndex = (usize, usize);

/// What stays.
#[derive(Debug, Default)]
pub(super) struct Reached {
    /// Classes by name.
    pub classes: BTreeSet<String>,
    /// Own fields: class, name, descriptor.
    pub fields: BTreeSet<(String, String, String)>,
    /// Methods, without order.
    pub methods: BTreeSet<MethodIndex>,
    /// Methods in the order in which calls reach them, which is that of the code in the image.
    pub order: Vec<MethodIndex>,
    /// What is called by slot.
    called: BTreeSet<MemberKey>,
    waiting: Vec<MethodIndex>,
}

/// Finds what stays.
pub(super) fn reach(package: &Package<'_>) -> Result<Reached, LinkError> {
    let mut walk = Walk { package, reached: Reached::default() };
    walk.roots()?;
    loop {
        while let Some(index) = walk.reached.waiting.pop() {
            walk.reached.order.push(index);
            walk.scan(index)?;
        }
        let before = walk.reached.methods.len();
        walk.called_methods()?;
        if walk.reached.methods.len() == before {
            return Ok(walk.reached);
        }
    }
}

pub(super) fn is_exported(flags: Flags) -> bool {
    flags.is_public() || flags.is_protected()
}

struct Walk<'a> {
    package: &'a Package<'a>,
    reached: Reached,
}

impl Walk<'_> {
    fn roots(&mut self) -> Result<(), LinkError> {
        for (number, class) in self.package.classes.iter().enumerate().rev() {
            let shape = &class.shape;
            let is_shareable = self.refused(class, None, self.package.world.is_shareable(shape))?;
            if shape.flags.is_public() || shape.flags.is_interface() && is_shareable {
                self.class(&shape.name)?;
                self.export(number, class);
            }
        }
        for (_, class) in self.package.config.applets.iter().rev() {
            let Some((number, found)) = self.package.own(class) else {
                return Err(LinkError::Package(format!("the applet's class {} is not there", class.replace('/', "."))));
            };
            self.applet(number, found)?;
        }
        Ok(())
    }

    fn applet(&mut self, number: usize, class: &ClassFile) -> Result<(), LinkError> {
        let name = class.shape.name.replace('/', ".");
        let below = self.refused(class, None, self.package.world.is_subclass(&class.shape.name, APPLET))?;
        if !below || class.shape.flags.is_abstract() {
            return Err(LinkError::Package(format!("{name} is no applet: it does not extend Applet, or is abstract")));
        }
        let install =
            class.shape.methods.iter().position(|method| {
                method.name == "install" && method.descriptor == "([BSB)V" && method.flags.is_static()
            });
        let Some(install) = install else {
            return Err(LinkError::Package(format!("{name} has no `static void install(byte[], short, byte)`")));
        };
        self.class(&class.shape.name)?;
        self.method((number, install));
        Ok(())
    }

    fn export(&mut self, number: usize, class: &ClassFile) {
        for (index, method) in class.shape.methods.iter().enumerate().rev() {
            if method.name == "<clinit>" || !is_exported(method.flags) && !method.flags.is_abstract() {
                continue;
            }
            self.method((number, index));
            if !method.flags.is_static() {
                self.reached.called.insert((method.name.clone(), method.descriptor.clone()));
            }
        }
        for (field, initial) in class.shape.fields.iter().zip(&class.initial) {
            let is_constant = initial.is_some() && field.flags.is_static() && field.flags.is_final();
            if is_exported(field.flags) && !is_constant {
                let key = (class.shape.name.clone(), field.name.clone(), field.descriptor.clone());
                self.reached.fields.insert(key);
            }
        }
    }

    fn refused<T>(
        &self,
        class: &ClassFile,
        method: Option<&MethodShape>,
        found: Result<T, Reason>,
    ) -> Result<T, LinkError> {
        found.map_err(|reason| {
            let refusal = match method {
                Some(method) => {
                    Refusal::of_member(&class.shape.name, format!("{}{}", method.name, method.descriptor), reason)
                }
                None => Refusal::of_class(&class.shape.name, reason),
            };
            refusal.into()
        })
    }

    fn method(&mut self, index: MethodIndex) {
        if self.reached.methods.insert(index) {
            self.reached.waiting.push(index);
        }
    }

    /// A class that is named, with those above it; imported ones are there anyway.
    fn class(&mut self, name: &str) -> Result<(), LinkError> {
        let mut waiting = vec![name.to_owned()];
        while let Some(name) = waiting.pop() {
            let Some((_, class)) = self.package.own(&name) else { continue };
            if self.reached.classes.insert(name) {
                waiting.extend(class.shape.parent.iter().chain(&class.shape.interfaces).cloned());
            }
        }
        Ok(())
    }

    /// The methods of needed classes that are called by slot, or from the packages that are imported.
    fn called_methods(&mut self) -> Result<(), LinkError> {
        let classes = self.package.classes;
        for (number, class) in classes.iter().enumerate() {
            if !self.reached.classes.contains(&class.shape.name) {
                continue;
            }
            // A method that is inherited may be what an imported interface asks for.
            for interface in self.refused(class, None, self.package.world.named_interfaces(&class.shape))? {
                if self.package.own(&interface.name).is_none() {
                    let keys = interface.methods.iter().map(|method| (method.name.clone(), method.descriptor.clone()));
                    self.reached.called.extend(keys);
                }
            }
            for (index, method) in class.shape.methods.iter().enumerate() {
                let flags = method.flags;
                if flags.is_static() || flags.is_private() || method.name.starts_with('<') {
                    continue;
                }
                let key = (method.name.clone(), method.descriptor.clone());
                let imported =
                    self.package.world.overrides_beyond(&class.shape, method, |name| self.package.own(name).is_some());
                if self.reached.called.contains(&key) || self.refused(class, Some(method), imported)? {
                    self.method((number, index));
                }
            }
        }
        Ok(())
    }

    fn scan(&mut self, (number, index): MethodIndex) -> Result<(), LinkError> {
        let class = &self.package.classes[number];
        self.class(&class.shape.name)?;
        let Some(code) = &class.code[index] else { return Ok(()) };
        for handler in &code.handlers {
            if let Some(entry) = handler.catches {
                self.class_entry(class, entry)?;
            }
        }
        for (_, operation) in code.operations.iter().rev() {
            self.operation(class, &class.shape.methods[index], operation)?;
        }
        Ok(())
    }

    fn operation(&mut self, class: &ClassFile, method: &MethodShape, operation: &Operation) -> Result<(), LinkError> {
        match operation {
            Operation::Field(_, entry) => {
                let named = self.refused(class, Some(method), class.pool.field(*entry))?;
                self.field(class, method, named)
            }
            Operation::Invoke(kind, entry) => match self.refused(class, Some(method), class.pool.get(*entry))? {
                Constant::Method(named) | Constant::InterfaceMethod(named) => self.call(class, method, named, *kind),
                _ => Ok(()),
            },
            Operation::New(entry)
            | Operation::NewReferenceArray(entry)
            | Operation::CheckCast(entry)
            | Operation::InstanceOf(entry) => self.class_entry(class, *entry),
            _ => Ok(()),
        }
    }

    fn class_entry(&mut self, class: &ClassFile, entry: u16) -> Result<(), LinkError> {
        let name = self.refused(class, None, class.pool.class(entry))?;
        class_of(name).map_or(Ok(()), |name| self.class(name))
    }

    fn field(&mut self, class: &ClassFile, method: &MethodShape, named: &MemberName) -> Result<(), LinkError> {
        let found = self.package.world.find_field(&named.class, &named.name, &named.descriptor);
        let owner = self.refused(class, Some(method), found)?.0.name.clone();
        self.class(&owner)?;
        self.reached.fields.insert((owner, named.name.clone(), named.descriptor.clone()));
        Ok(())
    }

    fn call(
        &mut self,
        class: &ClassFile,
        method: &MethodShape,
        named: &MemberName,
        kind: Invocation,
    ) -> Result<(), LinkError> {
        let found = self.package.world.find_method(&named.class, &named.name, &named.descriptor);
        let (owner, found) = self.refused(class, Some(method), found)?;
        let (owner, by_slot) = (owner.name.clone(), !found.flags.is_private());
        self.class(&named.class)?;
        self.class(&owner)?;
        if matches!(kind, Invocation::Virtual | Invocation::Interface) && by_slot {
            self.reached.called.insert((named.name.clone(), named.descriptor.clone()));
        }
        if let Some((number, own)) = self.package.own(&owner) {
            let is = |method: &MethodShape| method.name == named.name && method.descriptor == named.descriptor;
            if let Some(index) = own.shape.methods.iter().position(is) {
                self.method((number, index));
            }
        }
        Ok(())
    }
}

/// What every applet extends.
const APPLET: &str = "javacard/framework/Applet";
