//! What static fields start with: `<clinit>`, evaluated.
//!
//! What an initializer may do is compute ints, make arrays of primitives, fill them, and keep both in its own class's
//! static fields. Branches, calls, objects and other classes' fields are refused, with their line.

use std::collections::BTreeMap;

use norn_card_package::format;

use super::layout::kind_of;
use super::package::{LinkError, Package};
use super::reach::Reached;
use crate::class_file::{Binary, ClassFile, Code, Constant, Element, FieldAccess, Operation, Shuffle};
use crate::refusal::{Reason, Refusal};

/// A value while an initializer runs: an int, or an array by its number; null is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Int(i32),
    Null,
    Array(usize),
}

/// An array that static fields start with.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub kind: u8,
    pub elements: Vec<i32>,
}

/// What static fields of all classes start with.
#[derive(Debug, Default)]
pub(super) struct Starts {
    pub arrays: Vec<Array>,
    /// By class, name and descriptor.
    pub values: BTreeMap<(String, String, String), Value>,
}

pub(super) fn starts(package: &Package<'_>, reached: &Reached) -> Result<Starts, LinkError> {
    let mut starts = Starts::default();
    for class in package.classes.iter().filter(|class| reached.classes.contains(&class.shape.name)) {
        for (field, initial) in class.shape.fields.iter().zip(&class.initial) {
            if let (Some(entry), true) = (initial, field.flags.is_static())
                && let Ok(Constant::Int(value)) = class.pool.get(*entry)
            {
                let key = (class.shape.name.clone(), field.name.clone(), field.descriptor.clone());
                starts.values.insert(key, Value::Int(*value));
            }
        }
        let Some(index) = class.shape.methods.iter().position(|method| method.name == "<clinit>") else { continue };
        let Some(code) = &class.code[index] else { continue };
        let mut run = Run { class, starts: &mut starts, stack: Vec::new(), locals: BTreeMap::new() };
        run.code(code)?;
    }
    starts.values.retain(|key, _| reached.fields.contains(key));
    starts.drop_unused();
    Ok(starts)
}

impl Starts {
    /// Leaves out arrays that no field starts with.
    fn drop_unused(&mut self) {
        let mut numbers = BTreeMap::new();
        let mut kept = Vec::new();
        for value in self.values.values_mut() {
            if let Value::Array(number) = value {
                let arrays = &self.arrays;
                *number = *numbers.entry(*number).or_insert_with(|| {
                    kept.push(arrays[*number].clone());
                    kept.len() - 1
                });
            }
        }
        self.arrays = kept;
    }
}

/// An initializer that runs.
struct Run<'a> {
    class: &'a ClassFile,
    starts: &'a mut Starts,
    stack: Vec<Value>,
    locals: BTreeMap<u16, Value>,
}

/// Why an initializer is not evaluated.
fn refused<T>(what: &str) -> Result<T, Reason> {
    let instead = "set static fields to constants and arrays of primitives, and the rest in install";
    Err(Reason::NotOnCards { what: format!("{what} when classes are initialized"), instead })
}

impl Run<'_> {
    fn code(&mut self, code: &Code) -> Result<(), Refusal> {
        for (at, operation) in &code.operations {
            if *operation == Operation::Return(None) {
                return Ok(());
            }
            self.step(operation).map_err(|reason| {
                let refusal = Refusal::of_member(&self.class.shape.name, "<clinit>()V".to_owned(), reason);
                Refusal { line: code.line(*at), ..refusal }
            })?;
        }
        Ok(())
    }

    fn step(&mut self, operation: &Operation) -> Result<(), Reason> {
        match operation {
            Operation::Nop => Ok(()),
            Operation::Null => self.push(Value::Null),
            Operation::Constant(value) => self.push(Value::Int(*value)),
            Operation::LoadConstant(entry) => match self.class.pool.get(*entry)? {
                Constant::Int(value) => self.push(Value::Int(*value)),
                _ => refused("other constants than ints"),
            },
            Operation::Load(_, local) => match self.locals.get(local) {
                Some(value) => self.push(*value),
                None => refused("local variables without value"),
            },
            Operation::Store(_, local) => {
                let value = self.pop()?;
                self.locals.insert(*local, value);
                Ok(())
            }
            Operation::Shuffle(Shuffle::Pop) => self.pop().map(|_| ()),
            Operation::Shuffle(Shuffle::Dup) => {
                let value = self.pop()?;
                self.push(value)?;
                self.push(value)
            }
            Operation::Binary(binary) => self.binary(*binary),
            Operation::Negate => self.unary(i32::wrapping_neg),
            Operation::ToByte => self.unary(|value| i32::from(value as i8)),
            Operation::ToShort => self.unary(|value| i32::from(value as i16)),
            Operation::Field(access, entry) => self.field(*access, *entry),
            Operation::NewArray(code) => self.new_array(*code),
            Operation::ArrayStore(element) => self.store(*element),
            Operation::ArrayLoad(_) => self.load(),
            Operation::ArrayLength => match self.pop()? {
                Value::Array(number) => self.push(Value::Int(self.starts.arrays[number].elements.len() as i32)),
                _ => refused("exceptions"),
            },
            Operation::Invoke(..) => refused("calls"),
            Operation::New(_) | Operation::NewReferenceArray(_) => refused("objects"),
            _ => refused("branches, casts and exceptions"),
        }
    }

    fn push(&mut self, value: Value) -> Result<(), Reason> {
        self.stack.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Result<Value, Reason> {
        self.stack.pop().ok_or_else(|| Reason::Unverifiable("the operand stack is empty".to_owned()))
    }

    fn int(&mut self) -> Result<i32, Reason> {
        match self.pop()? {
            Value::Int(value) => Ok(value),
            _ => Err(Reason::Unverifiable("a reference where int is expected".to_owned())),
        }
    }

    fn unary(&mut self, apply: impl FnOnce(i32) -> i32) -> Result<(), Reason> {
        let value = self.int()?;
        self.push(Value::Int(apply(value)))
    }

    fn binary(&mut self, binary: Binary) -> Result<(), Reason> {
        let (right, left) = (self.int()?, self.int()?);
        let value = match binary {
            Binary::Divide | Binary::Remainder if right == 0 => return refused("division by zero"),
            Binary::Add => left.wrapping_add(right),
            Binary::Subtract => left.wrapping_sub(right),
            Binary::Multiply => left.wrapping_mul(right),
            Binary::Divide => left.wrapping_div(right),
            Binary::Remainder => left.wrapping_rem(right),
            Binary::ShiftLeft => left.wrapping_shl(right as u32),
            Binary::ShiftRight => left.wrapping_shr(right as u32),
            Binary::ShiftRightUnsigned => (left as u32).wrapping_shr(right as u32) as i32,
            Binary::And => left & right,
            Binary::Or => left | right,
            Binary::ExclusiveOr => left ^ right,
        };
        self.push(Value::Int(value))
    }

    fn field(&mut self, access: FieldAccess, entry: u16) -> Result<(), Reason> {
        let named = self.class.pool.field(entry)?;
        let own =
            self.class.shape.field(&named.name, &named.descriptor).filter(|_| named.class == self.class.shape.name);
        let Some(field) = own else { return refused("static fields of other classes") };
        let key = (named.class.clone(), named.name.clone(), named.descriptor.clone());
        match access {
            FieldAccess::GetStatic => {
                let zero = if kind_of(&field.value) == format::REFERENCE { Value::Null } else { Value::Int(0) };
                self.push(self.starts.values.get(&key).copied().unwrap_or(zero))
            }
            FieldAccess::PutStatic => {
                let value = match self.pop()? {
                    Value::Int(value) => Value::Int(narrowed(kind_of(&field.value), value)),
                    reference => reference,
                };
                self.starts.values.insert(key, value);
                Ok(())
            }
            _ => refused("fields of objects"),
        }
    }

    fn new_array(&mut self, code: u8) -> Result<(), Reason> {
        let kind = match code {
            4 => format::BOOLEAN,
            8 => format::BYTE,
            9 => format::SHORT,
            _ => format::INT,
        };
        let Ok(length) = u16::try_from(self.int()?) else { return refused("arrays of that length") };
        self.starts.arrays.push(Array { kind, elements: vec![0; usize::from(length)] });
        self.push(Value::Array(self.starts.arrays.len() - 1))
    }

    fn place(&mut self) -> Result<(usize, usize), Reason> {
        let index = self.int()?;
        let Value::Array(array) = self.pop()? else { return refused("exceptions") };
        let index = usize::try_from(index).ok().filter(|index| *index < self.starts.arrays[array].elements.len());
        index.map_or_else(|| refused("exceptions"), |index| Ok((array, index)))
    }

    fn store(&mut self, element: Element) -> Result<(), Reason> {
        if element == Element::Reference {
            return refused("arrays of references");
        }
        let value = self.int()?;
        let (array, index) = self.place()?;
        let array = &mut self.starts.arrays[array];
        array.elements[index] = narrowed(array.kind, value);
        Ok(())
    }

    fn load(&mut self) -> Result<(), Reason> {
        let (array, index) = self.place()?;
        self.push(Value::Int(self.starts.arrays[array].elements[index]))
    }
}

/// An int as a field or element of a kind holds it.
fn narrowed(kind: u8, value: i32) -> i32 {
    match kind {
        format::BOOLEAN => value & 1,
        format::BYTE => i32::from(value as i8),
        format::SHORT => i32::from(value as i16),
        _ => value,
    }
}
