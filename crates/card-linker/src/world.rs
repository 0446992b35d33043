//! The classes that can be named: those that are being linked and those of imported packages.
//!
//! Names are resolved, members found and access checked as chapters 5.4.3 and 5.4.4 of the Java virtual machine's
//! specification say. Walks up a hierarchy are bounded by the number of classes, so that a circle ends.

use std::collections::{BTreeMap, BTreeSet};

use crate::descriptor::ValueType;
use crate::refusal::Reason;
use crate::shape::{ClassShape, FieldShape, Flags, MethodShape};

const OBJECT: &str = "java/lang/Object";
const SHAREABLE: &str = "javacard/framework/Shareable";

/// Classes by their internal names.
#[derive(Clone, Debug, Default)]
pub struct World {
    classes: BTreeMap<String, ClassShape>,
}

impl World {
    /// Adds a class.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where there is one of its name already.
    pub fn add(&mut self, shape: ClassShape) -> Result<(), Reason> {
        let name = shape.name.clone();
        match self.classes.insert(name.clone(), shape) {
            None => Ok(()),
            Some(_) => Err(Reason::Unresolved(format!("there are two classes {}", spoken(&name)))),
        }
    }

    /// The same classes with one more, which takes the place of that of its name.
    #[must_use]
    pub fn with(&self, shape: ClassShape) -> World {
        let mut classes = self.classes.clone();
        classes.insert(shape.name.clone(), shape);
        World { classes }
    }

    /// A class by its name.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where no package has it.
    pub fn class(&self, name: &str) -> Result<&ClassShape, Reason> {
        self.classes.get(name).ok_or_else(|| {
            let hint = hint(name);
            Reason::Unresolved(format!("{} is in none of the packages that are linked or imported{hint}", spoken(name)))
        })
    }

    /// Checks that a class's parents exist, may be its parents, and that it defines what they ask for.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] for missing classes, [`Reason::Malformed`] for circles and what parents forbid.
    pub fn check_hierarchy(&self, shape: &ClassShape) -> Result<(), Reason> {
        self.check_parent(shape)?;
        for name in &shape.interfaces {
            let interface = self.class(name)?;
            self.check_class_access(shape, interface)?;
            if !interface.flags.is_interface() {
                return Err(Reason::Malformed(format!("{} is implemented but no interface", spoken(name))));
            }
        }
        let ancestors = self.all_ancestors(shape)?;
        for method in &shape.methods {
            self.check_overriding(shape, method, &ancestors)?;
        }
        if shape.flags.is_abstract() {
            return Ok(());
        }
        for ancestor in ancestors {
            self.check_implemented(shape, ancestor)?;
        }
        Ok(())
    }

    fn check_parent(&self, shape: &ClassShape) -> Result<(), Reason> {
        let Some(parent) = &shape.parent else {
            return if shape.name == OBJECT { Ok(()) } else { Err(Reason::Malformed("no class above it".to_owned())) };
        };
        let parent = self.class(parent)?;
        self.check_class_access(shape, parent)?;
        if shape.name == OBJECT || parent.flags.is_final() || parent.flags.is_interface() {
            return Err(Reason::Malformed(format!("it cannot extend {}", spoken(&parent.name))));
        }
        if shape.flags.is_interface() && parent.name != OBJECT {
            return Err(Reason::Malformed(format!("an interface that extends {}", spoken(&parent.name))));
        }
        Ok(())
    }

    /// Every class and interface above a class, itself excluded.
    fn all_ancestors(&self, shape: &ClassShape) -> Result<Vec<&ClassShape>, Reason> {
        let mut found = BTreeMap::new();
        let mut waiting: Vec<&str> = shape.parent.iter().chain(&shape.interfaces).map(String::as_str).collect();
        while let Some(name) = waiting.pop() {
            if name == shape.name {
                return Err(Reason::Malformed("it is among its own ancestors".to_owned()));
            }
            let ancestor = self.class(name)?;
            if found.insert(name, ancestor).is_none() {
                waiting.extend(ancestor.parent.iter().chain(&ancestor.interfaces).map(String::as_str));
            }
        }
        Ok(found.into_values().collect())
    }

    /// That a method takes the place of none that is final, and is static where it would be.
    fn check_overriding(
        &self,
        shape: &ClassShape,
        method: &MethodShape,
        ancestors: &[&ClassShape],
    ) -> Result<(), Reason> {
        if method.name.starts_with('<') || method.flags.is_private() {
            return Ok(());
        }
        for ancestor in ancestors {
            let Some(above) = ancestor.method(&method.name, &method.descriptor) else { continue };
            if !overridable(ancestor, above, shape) {
                continue;
            }
            if above.flags.is_final() || above.flags.is_static() != method.flags.is_static() {
                let (class, name) = (spoken(&ancestor.name), &method.name);
                return Err(Reason::Malformed(format!("`{name}` cannot take the place of that of {class}")));
            }
        }
        Ok(())
    }

    /// That a class with instances has code for each method that an ancestor leaves open.
    fn check_implemented(&self, shape: &ClassShape, ancestor: &ClassShape) -> Result<(), Reason> {
        for open in ancestor.methods.iter().filter(|method| method.flags.is_abstract()) {
            let (_, found) = self.find_method(&shape.name, &open.name, &open.descriptor)?;
            let public = !ancestor.flags.is_interface() || found.flags.is_public();
            if found.flags.is_abstract() || found.flags.is_static() || !public {
                let (class, name) = (spoken(&ancestor.name), &open.name);
                return Err(Reason::Malformed(format!("it has no code for `{name}` of {class}")));
            }
        }
        Ok(())
    }

    /// A class and those above it, up to `java/lang/Object`.
    fn line_of(&self, name: &str) -> impl Iterator<Item = Result<&ClassShape, Reason>> {
        let mut next = Some(name.to_owned());
        let classes = std::iter::from_fn(move || {
            let found = self.class(&next.take()?);
            next = found.as_ref().ok().and_then(|class| class.parent.clone());
            Some(found)
        });
        classes.take(self.classes.len() + 1)
    }

    /// Whether a class is another or below it.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where a class of the line is missing.
    pub fn is_subclass(&self, name: &str, of: &str) -> Result<bool, Reason> {
        for class in self.line_of(name) {
            if class?.name == of {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a reference of one type may be used as another's. An interface takes every object, as for the Java
    /// virtual machine; a call through it is checked when it happens.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where a class is missing.
    pub fn is_assignable(&self, from: &str, to: &str) -> Result<bool, Reason> {
        if from == to || to == OBJECT {
            return Ok(true);
        }
        match (from.strip_prefix('['), to.strip_prefix('[')) {
            (Some(from), Some(to)) => match (element(from), element(to)) {
                (Some(from), Some(to)) => self.is_assignable(from, to),
                _ => Ok(false),
            },
            // What javac calls the common type of two arrays, whether there is a class of that name or not.
            (Some(_), None) => Ok(to == "java/io/Serializable" || to == "java/lang/Cloneable"),
            (None, None) => Ok(self.class(to)?.flags.is_interface() || self.is_subclass(from, to)?),
            _ => Ok(false),
        }
    }

    /// That the classes of a type exist.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where one does not.
    pub fn check_type(&self, value: &ValueType) -> Result<(), Reason> {
        match value {
            ValueType::Reference(name) => match name.strip_prefix('[') {
                None => self.class(name).map(|_| ()),
                Some(array) => element(array).map_or(Ok(()), |name| self.class(name).map(|_| ())),
            },
            _ => Ok(()),
        }
    }

    /// The field that a name means, and the class that declares it.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where there is none.
    pub fn find_field(&self, class: &str, name: &str, descriptor: &str) -> Result<(&ClassShape, &FieldShape), Reason> {
        self.search(class, |shape| shape.field(name, descriptor))?
            .ok_or_else(|| Reason::Unresolved(format!("{} has no field `{name}` of that type", spoken(class))))
    }

    /// The method that a name means, and the class that declares it.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where there is none.
    pub fn find_method(
        &self,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Result<(&ClassShape, &MethodShape), Reason> {
        self.search(class, |shape| shape.method(name, descriptor))?
            .ok_or_else(|| Reason::Unresolved(format!("{} has no method `{name}{descriptor}`", spoken(class))))
    }

    /// The first that `member` finds: in the classes of a line, then in their interfaces.
    fn search<'a, T>(
        &'a self,
        class: &str,
        member: impl Fn(&'a ClassShape) -> Option<&'a T>,
    ) -> Result<Option<(&'a ClassShape, &'a T)>, Reason> {
        let mut interfaces: Vec<&str> = Vec::new();
        for shape in self.line_of(class) {
            let shape = shape?;
            if let Some(found) = member(shape) {
                return Ok(Some((shape, found)));
            }
            interfaces.extend(shape.interfaces.iter().map(String::as_str));
        }
        let mut seen = BTreeSet::new();
        while let Some(name) = interfaces.pop() {
            let shape = self.class(name)?;
            if let Some(found) = member(shape) {
                return Ok(Some((shape, found)));
            }
            if seen.insert(name) {
                interfaces.extend(shape.interfaces.iter().map(String::as_str));
            }
        }
        Ok(None)
    }

    /// Whether a class or interface is `javacard.framework.Shareable` or below it.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where a class above it is missing.
    pub fn is_shareable(&self, shape: &ClassShape) -> Result<bool, Reason> {
        Ok(shape.name == SHAREABLE || self.all_ancestors(shape)?.iter().any(|above| above.name == SHAREABLE))
    }

    /// The interfaces that a class names, and those above them.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where one is missing.
    pub(crate) fn named_interfaces(&self, shape: &ClassShape) -> Result<Vec<&ClassShape>, Reason> {
        let mut found: Vec<&ClassShape> = Vec::new();
        let mut waiting: Vec<&str> = shape.interfaces.iter().rev().map(String::as_str).collect();
        while let Some(name) = waiting.pop() {
            let interface = self.class(name)?;
            if !found.iter().any(|known| known.name == interface.name) {
                found.push(interface);
                waiting.extend(interface.interfaces.iter().map(String::as_str));
            }
        }
        Ok(found)
    }

    /// Whether a method takes the place of one of a class or interface that is not the package's own.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where a class above it is missing.
    pub(crate) fn overrides_beyond(
        &self,
        shape: &ClassShape,
        method: &MethodShape,
        is_own: impl Fn(&str) -> bool,
    ) -> Result<bool, Reason> {
        Ok(self.all_ancestors(shape)?.into_iter().filter(|above| !is_own(&above.name)).any(|above| {
            above.method(&method.name, &method.descriptor).is_some_and(|found| overridable(above, found, shape))
        }))
    }

    /// That a class may be named by another.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where it is in another package and not public.
    pub fn check_class_access(&self, from: &ClassShape, to: &ClassShape) -> Result<(), Reason> {
        if to.flags.is_public() || from.package() == to.package() {
            return Ok(());
        }
        Err(Reason::Unresolved(format!("{} is not public{}", spoken(&to.name), hint(&to.name))))
    }

    /// That a class may use a member that another declares; what `protected` asks of the object is apart.
    ///
    /// # Errors
    ///
    /// [`Reason::Unresolved`] where it may not.
    pub fn check_member_access(
        &self,
        from: &ClassShape,
        owner: &ClassShape,
        name: &str,
        flags: Flags,
    ) -> Result<(), Reason> {
        let near = from.package() == owner.package();
        let granted = if flags.is_private() {
            from.name == owner.name || self.share_nest(from, owner)
        } else {
            flags.is_public() || near || flags.is_protected() && self.is_subclass(&from.name, &owner.name)?
        };
        if granted {
            return Ok(());
        }
        Err(Reason::Unresolved(format!("`{name}` of {} may not be used from here", spoken(&owner.name))))
    }

    /// Whether two classes are of one nest: host and members name each other.
    fn share_nest(&self, one: &ClassShape, other: &ClassShape) -> bool {
        self.nest_host(one) == self.nest_host(other)
    }

    fn nest_host<'a>(&'a self, class: &'a ClassShape) -> &'a str {
        let claimed = class.nest_host.as_deref().and_then(|host| self.classes.get(host));
        let accepted =
            claimed.filter(|host| host.nest_members.contains(&class.name) && host.package() == class.package());
        accepted.map_or(&class.name, |host| &host.name)
    }
}

/// The class of a descriptor of an array's element; none for primitives.
fn element(descriptor: &str) -> Option<&str> {
    descriptor.strip_prefix('L')?.strip_suffix(';')
}

/// Whether a class below would take the place of a method above.
pub(crate) fn overridable(owner: &ClassShape, method: &MethodShape, below: &ClassShape) -> bool {
    let near = owner.package() == below.package();
    !method.flags.is_private() && (method.flags.is_public() || method.flags.is_protected() || near)
}

/// A class's name as Java writes it.
pub(crate) fn spoken(name: &str) -> String {
    name.replace('/', ".")
}

/// What to use for classes that programs for other machines name.
fn hint(name: &str) -> &'static str {
    match name {
        "java/lang/String" | "java/lang/StringBuilder" | "java/lang/StringBuffer" => {
            "; a card has no strings: use byte[] constants"
        }
        "java/lang/System" => "; use javacard.framework.Util to copy arrays",
        "java/lang/Math" => "; write the arithmetic out on short or int",
        "java/lang/Integer" | "java/lang/Short" | "java/lang/Byte" | "java/lang/Boolean" | "java/lang/Character" => {
            "; a card has no boxes: use the primitive types"
        }
        "java/lang/Thread" | "java/lang/Runnable" => "; a card has no threads: one command runs at a time",
        "java/lang/Class" | "java/lang/AssertionError" => {
            "; a card has no assert and no reflection: throw an exception"
        }
        "java/util/Objects" => {
            "; for inner classes compile with javac --release 8, or with -XDnullCheckOuterThis=false"
        }
        _ => "",
    }
}
