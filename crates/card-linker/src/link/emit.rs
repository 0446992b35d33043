//! Code with numbers in place of names, and branches of two bytes.

use norn_card_package::{Aid, Version, format, opcode as op};

use super::layout::{ClassLayout, MemberKey, Slot, class_of, kind_of};
use super::package::{LinkError, Package};
use super::plan::Plan;
use super::reach::MethodIndex;
use crate::class_file::{
    ClassFile, Code, Comparison, Constant, Element, FieldAccess, Invocation, Kind, Operands, Operation, Shuffle, Switch,
};
use crate::refusal::{Reason, Refusal};
use crate::shape::MethodShape;

/// Imported packages in the order in which they are first needed.
pub(super) struct Imports {
    own: Aid,
    known: Vec<(Aid, Version)>,
    used: Vec<(Aid, Version)>,
}

impl Imports {
    pub fn new(package: &Package<'_>) -> Imports {
        let known = package.imports.iter().map(|table| (table.aid, table.version)).collect();
        Imports { own: package.config.aid, known, used: Vec::new() }
    }

    /// The number of a package in the image.
    pub fn number(&mut self, aid: Aid) -> Result<u8, LinkError> {
        if aid == self.own {
            return Ok(0);
        }
        if let Some(place) = self.used.iter().position(|(used, _)| *used == aid) {
            return Ok(place as u8 + 1);
        }
        let known = self.known.iter().find(|(known, _)| *known == aid).ok_or(LinkError::Missing(aid))?;
        self.used.push(*known);
        if self.used.len() > 253 {
            return Err(LinkError::Package("more than 253 imported packages".to_owned()));
        }
        Ok(self.used.len() as u8)
    }

    pub fn versions(&self) -> Vec<(Aid, Version)> {
        self.used.clone()
    }
}

/// The code of each method, in the order of the image.
pub(super) fn code(
    package: &Package<'_>,
    plan: &Plan,
    imports: &mut Imports,
) -> Result<Vec<(MethodIndex, Vec<u8>)>, LinkError> {
    let mut written = Vec::new();
    for &(class, index) in &plan.order {
        let class_file = &package.classes[class];
        let method = &class_file.shape.methods[index];
        let bytes = match &class_file.code[index] {
            Some(code) => {
                Emitter { package, plan, imports, class: class_file, method, code, out: Vec::new() }.method()?
            }
            None => native(class_file, method),
        };
        written.push(((class, index), bytes));
    }
    Ok(written)
}

fn head(method: &MethodShape, flags: u8, locals: u8, stack: u8, code_bytes: u16, handlers: u8) -> Vec<u8> {
    let is_static = if method.flags.is_static() { format::METHOD_STATIC } else { 0 };
    let value = if method.signature.result.is_some() { format::METHOD_VALUE } else { 0 };
    let [low, high] = code_bytes.to_le_bytes();
    vec![flags | is_static | value, arguments(method), locals, stack, low, high, handlers]
}

/// Cells of a call, the object included. The reader allows 255 at most.
fn arguments(method: &MethodShape) -> u8 {
    (method.signature.parameters.len() + usize::from(!method.flags.is_static())) as u8
}

/// A method that is the virtual machine's; the natives' check has found its number.
fn native(class: &ClassFile, method: &MethodShape) -> Vec<u8> {
    let number = norn_card_package::native_number(&class.shape.name, &method.name, &method.descriptor).unwrap_or(0);
    let mut bytes = head(method, format::METHOD_NATIVE, arguments(method), 0, 2, 0);
    bytes.extend(number.to_le_bytes());
    bytes
}

/// A method that is being written.
struct Emitter<'a> {
    package: &'a Package<'a>,
    plan: &'a Plan,
    imports: &'a mut Imports,
    class: &'a ClassFile,
    method: &'a MethodShape,
    code: &'a Code,
    out: Vec<u8>,
}

/// Where a branch's distance is, where it counts from, and the position in the class file that it leads to.
struct Branch {
    distance_at: usize,
    from: usize,
    target: u16,
}

impl Emitter<'_> {
    fn method(mut self) -> Result<Vec<u8>, LinkError> {
        let (mut starts, mut branches) = (Vec::new(), Vec::new());
        for (at, operation) in &self.code.operations {
            starts.push((*at, self.out.len()));
            self.operation(*at, operation, &mut branches)?;
        }
        if self.out.len() > i16::MAX as usize {
            return self.room(None, "a method of more than 32767 bytes");
        }
        let length = self.out.len() as u16;
        let place = |at: u16| match starts.binary_search_by_key(&at, |(start, _)| *start) {
            Ok(found) => starts[found].1 as u16,
            Err(_) => length,
        };
        for branch in branches {
            let distance = i32::from(place(branch.target)) - branch.from as i32;
            self.out[branch.distance_at..branch.distance_at + 2].copy_from_slice(&(distance as i16).to_le_bytes());
        }
        let Ok(handlers) = u8::try_from(self.code.handlers.len()) else { return self.room(None, "255 handlers") };
        let (Ok(locals), Ok(stack)) = (u8::try_from(self.code.max_locals), u8::try_from(self.code.max_stack)) else {
            return self.room(None, "255 local variables or cells of operand stack");
        };
        let mut bytes = head(self.method, 0, locals, stack, length, handlers);
        bytes.append(&mut self.out);
        for handler in &self.code.handlers {
            for at in [handler.start, handler.end, handler.target] {
                bytes.extend(place(at).to_le_bytes());
            }
            let class = match handler.catches {
                Some(entry) => self.class_place(self.named(None, self.class.pool.class(entry))?)?,
                None => [format::NONE; 2],
            };
            bytes.extend(class);
        }
        Ok(bytes)
    }

    fn refusal(&self, at: Option<u16>, reason: Reason) -> LinkError {
        let member = format!("{}{}", self.method.name, self.method.descriptor);
        let refusal = Refusal::of_member(&self.class.shape.name, member, reason);
        Refusal { line: at.and_then(|at| self.code.line(at)), ..refusal }.into()
    }

    fn room<T>(&self, at: Option<u16>, what: &str) -> Result<T, LinkError> {
        let reason = Reason::NotOnCards { what: format!("room for {what}"), instead: "split the method" };
        Err(self.refusal(at, reason))
    }

    fn named<T>(&self, at: Option<u16>, found: Result<T, Reason>) -> Result<T, LinkError> {
        found.map_err(|reason| self.refusal(at, reason))
    }

    fn class_place(&mut self, name: &str) -> Result<[u8; 2], LinkError> {
        let (package, class) = self.layout(name).map(|layout| (layout.package, layout.number))?;
        Ok([self.imports.number(package)?, class])
    }

    fn layout(&self, name: &str) -> Result<&ClassLayout, LinkError> {
        let found = self.plan.layouts.get(name);
        found.ok_or_else(|| LinkError::Package(format!("{} has no number", name.replace('/', "."))))
    }

    fn branch(&mut self, from: usize, target: u16, branches: &mut Vec<Branch>) {
        branches.push(Branch { distance_at: self.out.len(), from, target });
        self.out.extend([0, 0]);
    }

    fn local(&self, at: u16, local: u16) -> Result<u8, LinkError> {
        u8::try_from(local).or_else(|_| self.room(Some(at), "255 local variables"))
    }

    fn operation(&mut self, at: u16, operation: &Operation, branches: &mut Vec<Branch>) -> Result<(), LinkError> {
        let from = self.out.len();
        match operation {
            Operation::Nop => {}
            Operation::Null => self.out.push(op::NULL),
            Operation::Constant(value) => self.constant(*value),
            Operation::LoadConstant(entry) => {
                if let Constant::Int(value) = self.named(Some(at), self.class.pool.get(*entry))? {
                    self.constant(*value);
                }
            }
            Operation::Load(_, local) => self.local_access(at, *local, op::LOAD, op::LOAD_0)?,
            Operation::Store(_, local) => self.local_access(at, *local, op::STORE, op::STORE_0)?,
            Operation::Increment(local, amount) => self.increment(at, *local, *amount)?,
            Operation::Branch(operands, comparison, target) => {
                self.out.push(branch_opcode(*operands, *comparison));
                self.branch(from, *target, branches);
            }
            Operation::Goto(target) => {
                self.out.push(op::GOTO);
                self.branch(from, *target, branches);
            }
            Operation::Switch(switch) => self.switch(from, switch, branches),
            Operation::Return(None) => self.out.push(op::RETURN),
            Operation::Return(Some(Kind::Int | Kind::Reference)) => self.out.push(op::RETURN_VALUE),
            Operation::Field(access, entry) => self.field(at, *access, *entry)?,
            Operation::Invoke(kind, entry) => self.invoke(at, *kind, *entry)?,
            Operation::New(entry) => self.typed(at, op::NEW, *entry)?,
            Operation::NewReferenceArray(entry) => self.typed(at, op::NEW_REFERENCE_ARRAY, *entry)?,
            Operation::CheckCast(entry) => self.type_test(at, op::CHECK_CAST, *entry)?,
            Operation::InstanceOf(entry) => self.type_test(at, op::INSTANCE_OF, *entry)?,
            Operation::NewArray(code) => self.out.extend([op::NEW_ARRAY, array_kind(*code)]),
            _ => self.out.push(plain_opcode(operation)),
        }
        Ok(())
    }

    fn constant(&mut self, value: i32) {
        if (-1..=5).contains(&value) {
            self.out.push((i32::from(op::CONSTANT_M1) + 1 + value) as u8);
        } else if let Ok(byte) = i8::try_from(value) {
            self.out.extend([op::PUSH_BYTE, byte as u8]);
        } else if let Ok(short) = i16::try_from(value) {
            self.out.push(op::PUSH_SHORT);
            self.out.extend(short.to_le_bytes());
        } else {
            self.out.push(op::PUSH_INT);
            self.out.extend(value.to_le_bytes());
        }
    }

    fn local_access(&mut self, at: u16, local: u16, long: u8, short: u8) -> Result<(), LinkError> {
        match self.local(at, local)? {
            local @ 0..=3 => self.out.push(short + local),
            local => self.out.extend([long, local]),
        }
        Ok(())
    }

    fn increment(&mut self, at: u16, local: u16, amount: i16) -> Result<(), LinkError> {
        let local = self.local(at, local)?;
        match i8::try_from(amount) {
            Ok(amount) => self.out.extend([op::INCREMENT, local, amount as u8]),
            Err(_) => {
                self.out.extend([op::INCREMENT_SHORT, local]);
                self.out.extend(amount.to_le_bytes());
            }
        }
        Ok(())
    }

    /// A table where that is not longer than keys with branches.
    fn switch(&mut self, from: usize, switch: &Switch, branches: &mut Vec<Branch>) {
        let cases = &switch.cases;
        let span = match (cases.first(), cases.last()) {
            (Some((first, _)), Some((last, _))) => i64::from(*last) - i64::from(*first) + 1,
            _ => i64::MAX,
        };
        if span <= 3 * cases.len() as i64 {
            self.out.push(op::TABLE_SWITCH);
            self.branch(from, switch.default, branches);
            self.out.extend(cases[0].0.to_le_bytes());
            self.out.extend((span as u16).to_le_bytes());
            let mut next = 0;
            for key in i64::from(cases[0].0)..i64::from(cases[0].0) + span {
                let is_case = i64::from(cases[next].0) == key;
                self.branch(from, if is_case { cases[next].1 } else { switch.default }, branches);
                next += usize::from(is_case);
            }
        } else {
            self.out.push(op::LOOKUP_SWITCH);
            self.branch(from, switch.default, branches);
            self.out.extend((cases.len() as u16).to_le_bytes());
            for (key, target) in cases {
                self.out.extend(key.to_le_bytes());
                self.branch(from, *target, branches);
            }
        }
    }

    fn field(&mut self, at: u16, access: FieldAccess, entry: u16) -> Result<(), LinkError> {
        let named = self.named(Some(at), self.class.pool.field(entry))?;
        let found = self.package.world.find_field(&named.class, &named.name, &named.descriptor);
        let (owner, field) = self.named(Some(at), found)?;
        let width = kind_of(&field.value).saturating_sub(1);
        let key = (named.name.clone(), named.descriptor.clone());
        let layout = self.layout(&owner.name)?;
        let lost = || LinkError::Package(format!("the field `{}` has no number", key.0));
        match access {
            FieldAccess::GetField | FieldAccess::PutField => {
                let slot = *layout.fields.get(&key).ok_or_else(lost)?;
                let first = if access == FieldAccess::GetField { op::GET_FIELD } else { op::PUT_FIELD };
                self.out.extend([first + width, slot]);
            }
            FieldAccess::GetStatic | FieldAccess::PutStatic => {
                let [low, high] = layout.statics.get(&key).ok_or_else(lost)?.to_le_bytes();
                let package = self.imports.number(layout.package)?;
                let first = if access == FieldAccess::GetStatic { op::GET_STATIC } else { op::PUT_STATIC };
                self.out.extend([first + width, package, low, high]);
            }
        }
        Ok(())
    }

    fn invoke(&mut self, at: u16, kind: Invocation, entry: u16) -> Result<(), LinkError> {
        let named = match self.named(Some(at), self.class.pool.get(entry))? {
            Constant::Method(named) | Constant::InterfaceMethod(named) => named,
            _ => return Ok(()),
        };
        let found = self.package.world.find_method(&named.class, &named.name, &named.descriptor);
        let (owner, method) = self.named(Some(at), found)?;
        let key = (named.name.clone(), named.descriptor.clone());
        match kind {
            Invocation::Static => self.call(op::INVOKE_STATIC, &owner.name, &key),
            Invocation::Special => self.call(op::INVOKE_DIRECT, &owner.name, &key),
            // A final method is called by slot, too: the firewall looks at the object of such a call.
            _ if method.flags.is_private() => self.call(op::INVOKE_DIRECT, &owner.name, &key),
            Invocation::Interface if owner.flags.is_interface() => self.call_interface(&owner.name, method, &key),
            Invocation::Interface => self.call_slot(&owner.name, &owner.name, method, &key),
            Invocation::Virtual => self.call_slot(&named.class, &owner.name, method, &key),
        }
    }

    fn call(&mut self, opcode: u8, owner: &str, key: &MemberKey) -> Result<(), LinkError> {
        let layout = self.layout(owner)?;
        let [low, high] = layout.methods.get(key).ok_or_else(|| lost_method(key))?.to_le_bytes();
        let package = self.imports.number(layout.package)?;
        self.out.extend([opcode, package, low, high]);
        Ok(())
    }

    fn call_interface(&mut self, owner: &str, method: &MethodShape, key: &MemberKey) -> Result<(), LinkError> {
        let [package, class] = self.class_place(owner)?;
        let place = self.layout(owner)?.table.iter().position(|slot| slot.key == *key);
        let place = place.ok_or_else(|| lost_method(key))? as u8;
        self.out.extend([op::INVOKE_INTERFACE, package, class, place, arguments(method)]);
        Ok(())
    }

    fn call_slot(&mut self, class: &str, owner: &str, method: &MethodShape, key: &MemberKey) -> Result<(), LinkError> {
        let table = &self.layout(class)?.table;
        let of_owner = |slot: &Slot| slot.key == *key && slot.owner == owner;
        let place = table.iter().position(of_owner).or_else(|| table.iter().position(|slot| slot.key == *key));
        let place = place.ok_or_else(|| lost_method(key))? as u8;
        self.out.extend([op::INVOKE_VIRTUAL, place, arguments(method)]);
        Ok(())
    }

    fn typed(&mut self, at: u16, opcode: u8, entry: u16) -> Result<(), LinkError> {
        let name = self.named(Some(at), self.class.pool.class(entry))?;
        let [package, class] = self.class_place(name)?;
        self.out.extend([opcode, package, class]);
        Ok(())
    }

    fn type_test(&mut self, at: u16, opcode: u8, entry: u16) -> Result<(), LinkError> {
        let name = self.named(Some(at), self.class.pool.class(entry))?;
        let (kind, [package, class]) = match (name.as_bytes(), class_of(name)) {
            ([b'[', ..], Some(element)) => (format::REFERENCE, self.class_place(element)?),
            (_, Some(class)) => (format::TYPE_CLASS, self.class_place(class)?),
            (b"[Z", None) => (format::BOOLEAN, [0; 2]),
            (b"[B", None) => (format::BYTE, [0; 2]),
            (b"[S", None) => (format::SHORT, [0; 2]),
            _ => (format::INT, [0; 2]),
        };
        self.out.extend([opcode, kind, package, class]);
        Ok(())
    }
}

fn lost_method(key: &MemberKey) -> LinkError {
    LinkError::Package(format!("the method `{}{}` has no number", key.0, key.1))
}

fn array_kind(code: u8) -> u8 {
    match code {
        4 => format::BOOLEAN,
        8 => format::BYTE,
        9 => format::SHORT,
        _ => format::INT,
    }
}

fn branch_opcode(operands: Operands, comparison: Comparison) -> u8 {
    let order = match comparison {
        Comparison::Equal => 0,
        Comparison::NotEqual => 1,
        Comparison::Less => 2,
        Comparison::GreaterOrEqual => 3,
        Comparison::Greater => 4,
        Comparison::LessOrEqual => 5,
    };
    match operands {
        Operands::Zero => op::IF_ZERO + order,
        Operands::Ints => op::IF_INTS + order,
        Operands::References => op::IF_SAME + order,
        Operands::Null => op::IF_NULL + order,
    }
}

/// The bytecode of an operation without operands.
fn plain_opcode(operation: &Operation) -> u8 {
    use crate::class_file::Binary;
    match operation {
        Operation::ArrayLoad(Element::Byte) => op::LOAD_BYTE,
        Operation::ArrayLoad(Element::Short) => op::LOAD_SHORT,
        Operation::ArrayLoad(Element::Int) => op::LOAD_INT,
        Operation::ArrayLoad(Element::Reference) => op::LOAD_REFERENCE,
        Operation::ArrayStore(Element::Byte) => op::STORE_BYTE,
        Operation::ArrayStore(Element::Short) => op::STORE_SHORT,
        Operation::ArrayStore(Element::Int) => op::STORE_INT,
        Operation::ArrayStore(Element::Reference) => op::STORE_REFERENCE,
        Operation::Shuffle(shuffle) => match shuffle {
            Shuffle::Pop => op::POP,
            Shuffle::Pop2 => op::POP2,
            Shuffle::Dup => op::DUP,
            Shuffle::DupX1 => op::DUP_X1,
            Shuffle::DupX2 => op::DUP_X2,
            Shuffle::Dup2 => op::DUP2,
            Shuffle::Dup2X1 => op::DUP2_X1,
            Shuffle::Dup2X2 => op::DUP2_X2,
            Shuffle::Swap => op::SWAP,
        },
        Operation::Binary(binary) => match binary {
            Binary::Add => op::ADD,
            Binary::Subtract => op::SUBTRACT,
            Binary::Multiply => op::MULTIPLY,
            Binary::Divide => op::DIVIDE,
            Binary::Remainder => op::REMAINDER,
            Binary::ShiftLeft => op::SHIFT_LEFT,
            Binary::ShiftRight => op::SHIFT_RIGHT,
            Binary::ShiftRightUnsigned => op::SHIFT_RIGHT_UNSIGNED,
            Binary::And => op::AND,
            Binary::Or => op::OR,
            Binary::ExclusiveOr => op::EXCLUSIVE_OR,
        },
        Operation::Negate => op::NEGATE,
        Operation::ToByte => op::TO_BYTE,
        Operation::ToShort => op::TO_SHORT,
        Operation::ArrayLength => op::ARRAY_LENGTH,
        Operation::Throw => op::THROW,
        _ => op::NOP,
    }
}
