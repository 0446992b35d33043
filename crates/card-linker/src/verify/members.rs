//! What the bytecodes on fields and methods need: that the member exists, may be used, and fits the stack.

use super::state::{State, shown, unverifiable};
use crate::class_file::{CellType, ClassFile, Code, Constant, FieldAccess, Invocation, MemberName, Operation};
use crate::descriptor::Signature;
use crate::refusal::Reason;
use crate::shape::{ClassShape, FieldShape, Flags, MethodShape};
use crate::world::{World, spoken};

/// The method whose code is being verified.
pub(super) struct Site<'a> {
    pub(super) world: &'a World,
    pub(super) class: &'a ClassFile,
    pub(super) method: &'a MethodShape,
    pub(super) code: &'a Code,
}

impl Site<'_> {
    fn here(&self) -> &ClassShape {
        &self.class.shape
    }

    /// A class or array that the code names; its classes exist and may be named from here.
    pub(super) fn named_type(&self, entry: u16) -> Result<&str, Reason> {
        let name = self.class.pool.class(entry)?;
        let class = name.strip_prefix('[').map_or(Some(name), |array| array.strip_prefix('L')?.strip_suffix(';'));
        if let Some(class) = class {
            self.world.check_class_access(self.here(), self.world.class(class)?)?;
        }
        Ok(name)
    }

    /// The class that `new` at a position names.
    pub(super) fn class_made_at(&self, position: u16) -> Result<&str, Reason> {
        match self.code.operation_at(position).map(|index| &self.code.operations[index].1) {
            Some(Operation::New(entry)) => self.named_type(*entry),
            _ => unverifiable(format!("a frame says that {position} is `new`")),
        }
    }

    pub(super) fn field(&self, access: FieldAccess, entry: u16, state: &mut State<'_>) -> Result<(), Reason> {
        let named = self.class.pool.field(entry)?;
        let (owner, field) = self.find_field(named)?;
        let (is_static, writes) = match access {
            FieldAccess::GetStatic => (true, false),
            FieldAccess::PutStatic => (true, true),
            FieldAccess::GetField => (false, false),
            FieldAccess::PutField => (false, true),
        };
        if field.flags.is_static() != is_static {
            return unverifiable(format!("`{}` is taken for static, or for not static", field.name));
        }
        if writes {
            self.check_may_write(owner, field)?;
            state.pop_value(&field.value)?;
        }
        if !is_static {
            self.pop_holder(named, owner, field, access, state)?;
        }
        if writes { Ok(()) } else { state.push(CellType::of(&field.value)) }
    }

    fn find_field(&self, named: &MemberName) -> Result<(&ClassShape, &FieldShape), Reason> {
        self.check_named_class(&named.class)?;
        let (owner, field) = self.world.find_field(&named.class, &named.name, &named.descriptor)?;
        self.world.check_member_access(self.here(), owner, &field.name, field.flags)?;
        Ok((owner, field))
    }

    /// A final field is written by its own class, in a constructor or in `<clinit>`.
    fn check_may_write(&self, owner: &ClassShape, field: &FieldShape) -> Result<(), Reason> {
        let initializer = if field.flags.is_static() { "<clinit>" } else { "<init>" };
        if field.flags.is_final() && (owner.name != self.here().name || self.method.name != initializer) {
            return unverifiable(format!("`{}` is final and written outside {initializer}", field.name));
        }
        Ok(())
    }

    /// The object of a field. A constructor may write its class's own fields before it has called another.
    fn pop_holder(
        &self,
        named: &MemberName,
        owner: &ClassShape,
        field: &FieldShape,
        access: FieldAccess,
        state: &mut State<'_>,
    ) -> Result<(), Reason> {
        let mut ahead = state.clone();
        let is_early = access == FieldAccess::PutField && owner.name == self.here().name && named.class == owner.name;
        if is_early && ahead.pop()? == CellType::UninitializedThis {
            state.pop()?;
            return Ok(());
        }
        let found = state.pop_instance(&named.class)?;
        self.check_protected(owner, field.flags, found.as_deref())
    }

    fn check_named_class(&self, name: &str) -> Result<&ClassShape, Reason> {
        if name.starts_with('[') {
            return Err(Reason::Unresolved("arrays have no members on a card".to_owned()));
        }
        let class = self.world.class(name)?;
        self.world.check_class_access(self.here(), class)?;
        Ok(class)
    }

    /// A protected member of another package's class is used on objects of the own class alone.
    fn check_protected(&self, owner: &ClassShape, flags: Flags, object: Option<&str>) -> Result<(), Reason> {
        let (Some(object), here) = (object, self.here()) else { return Ok(()) };
        let asks = flags.is_protected() && !flags.is_public() && owner.package() != here.package();
        if asks && !self.world.is_assignable(object, &here.name)? {
            return unverifiable(format!("a protected member of {} on a {}", spoken(&owner.name), spoken(object)));
        }
        Ok(())
    }

    pub(super) fn invoke(&self, kind: Invocation, entry: u16, state: &mut State<'_>) -> Result<(), Reason> {
        let named = match (self.class.pool.get(entry)?, kind) {
            (Constant::Method(named), Invocation::Virtual | Invocation::Special | Invocation::Static)
            | (Constant::InterfaceMethod(named), Invocation::Interface) => named,
            _ => return unverifiable(format!("entry {entry} is no method for this call")),
        };
        let class = self.check_named_class(&named.class)?;
        if class.flags.is_interface() != (kind == Invocation::Interface) {
            return unverifiable(format!("{} is taken for an interface, or for none", spoken(&named.class)));
        }
        let signature = Signature::parse(&named.descriptor)?;
        if named.name == "<init>" && kind == Invocation::Special {
            self.pop_arguments(&signature, state)?;
            return self.construct(named, state);
        }
        let (owner, method) = self.find_method(named, kind)?;
        self.pop_arguments(&signature, state)?;
        if kind != Invocation::Static {
            self.pop_receiver(named, owner, method, kind, state)?;
        }
        match &signature.result {
            Some(result) => state.push(CellType::of(result)),
            None => Ok(()),
        }
    }

    fn find_method(&self, named: &MemberName, kind: Invocation) -> Result<(&ClassShape, &MethodShape), Reason> {
        if named.name.starts_with('<') {
            return unverifiable(format!("`{}` is called as if it were a method", named.name));
        }
        let (owner, method) = self.world.find_method(&named.class, &named.name, &named.descriptor)?;
        self.world.check_member_access(self.here(), owner, &method.name, method.flags)?;
        if method.flags.is_static() != (kind == Invocation::Static) {
            return unverifiable(format!("`{}` is taken for static, or for not static", method.name));
        }
        if kind == Invocation::Special && method.flags.is_abstract() {
            return unverifiable(format!("`{}` is called directly and has no code", method.name));
        }
        Ok((owner, method))
    }

    fn pop_arguments(&self, signature: &Signature, state: &mut State<'_>) -> Result<(), Reason> {
        for parameter in signature.parameters.iter().rev() {
            state.pop_value(parameter)?;
        }
        Ok(())
    }

    fn pop_receiver(
        &self,
        named: &MemberName,
        owner: &ClassShape,
        method: &MethodShape,
        kind: Invocation,
        state: &mut State<'_>,
    ) -> Result<(), Reason> {
        let here = self.here();
        if kind != Invocation::Special {
            let found = state.pop_instance(&named.class)?;
            return self.check_protected(owner, method.flags, found.as_deref());
        }
        if !self.world.is_subclass(&here.name, &named.class)? {
            return unverifiable(format!("{} is not above this class", spoken(&named.class)));
        }
        state.pop_instance(&here.name).map(|_| ())
    }

    /// The call of a constructor on what has none yet.
    fn construct(&self, named: &MemberName, state: &mut State<'_>) -> Result<(), Reason> {
        let here = self.here();
        let owner = self.world.class(&named.class)?;
        let Some(constructor) = owner.method("<init>", &named.descriptor) else {
            let class = spoken(&named.class);
            return Err(Reason::Unresolved(format!("{class} has no constructor `{}`", named.descriptor)));
        };
        self.world.check_member_access(here, owner, "<init>", constructor.flags)?;
        let raw = state.pop()?;
        let class = match &raw {
            CellType::UninitializedThis if self.is_own_or_above(&named.class) => &here.name,
            CellType::Uninitialized(position) if self.class_made_at(*position)? == named.class => {
                let flags = constructor.flags;
                if flags.is_protected() && owner.package() != here.package() {
                    return unverifiable(format!("the constructor of {} is protected", spoken(&owner.name)));
                }
                &named.class
            }
            _ => return unverifiable(format!("a constructor of {} on {}", spoken(&named.class), shown(&raw))),
        };
        state.construct(&raw, class);
        Ok(())
    }

    fn is_own_or_above(&self, class: &str) -> bool {
        class == self.here().name || Some(class) == self.here().parent.as_deref()
    }
}
