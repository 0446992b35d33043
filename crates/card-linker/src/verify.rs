//! The verifier: whatever the bytecode does, it does to cells of the right type, and never beyond its stack and locals.
//!
//! It is the type checker of chapter 4.10.1 of the Java virtual machine's specification, for a card's types:
//!
//! 1. Each operation is carried out on types, in the order of the code, starting from the method's parameters.
//! 2. Where the `StackMapTable` has a frame, what comes before has to fit it, and the code goes on from the frame.
//! 3. Every target of a branch and of a handler has a frame, which each way to it has to fit.
//! 4. Code that is not reached from the operation before starts with a frame; the last operation does not run on.
//!
//! It is stricter than the specification where javac is: code that has not been reached from `new` to the constructor
//! keeps the object on the stack, and final methods, missing code and access are checked here, not when a call happens.
//!
//! Cost: linear in the code, times the handlers that cover an operation.

mod effect;
mod members;
mod state;

use std::collections::BTreeMap;

use self::members::Site;
use self::state::{State, unverifiable};
use crate::class_file::{ClassFile, Code, Constant, Handler, Operation, first_frame};
use crate::descriptor::ValueType;
use crate::refusal::{Reason, Refusal};
use crate::shape::{FieldShape, MethodShape};
use crate::world::World;

const THROWABLE: &str = "java/lang/Throwable";

/// Verifies a class, all of whose methods' code it reads. `world` has the class itself and those that it names.
///
/// # Errors
///
/// The first rule that it breaks, with method and line.
pub fn verify(class: &ClassFile, world: &World) -> Result<(), Refusal> {
    let shape = &class.shape;
    world.check_hierarchy(shape).map_err(|reason| Refusal::of_class(&shape.name, reason))?;
    for (field, initial) in shape.fields.iter().zip(&class.initial) {
        check_field(class, world, field, *initial)
            .map_err(|reason| Refusal::of_member(&shape.name, field.name.clone(), reason))?;
    }
    for (method, code) in shape.methods.iter().zip(&class.code) {
        let member = || format!("{}{}", method.name, method.descriptor);
        check_signature(world, method).map_err(|reason| Refusal::of_member(&shape.name, member(), reason))?;
        let Some(code) = code else { continue };
        let flow = Flow { site: Site { world, class, method, code }, frames: BTreeMap::new() };
        flow.verify().map_err(|(at, reason)| Refusal {
            line: at.and_then(|at| code.line(at)),
            ..Refusal::of_member(&shape.name, member(), reason)
        })?;
    }
    Ok(())
}

fn check_field(class: &ClassFile, world: &World, field: &FieldShape, initial: Option<u16>) -> Result<(), Reason> {
    world.check_type(&field.value)?;
    if class.shape.flags.is_interface() && !(field.flags.is_static() && field.flags.is_final()) {
        return Err(Reason::Malformed("a field of an interface that is not static and final".to_owned()));
    }
    match initial.map(|entry| class.pool.get(entry)).transpose()? {
        None => Ok(()),
        Some(Constant::Int(value)) => check_range(&field.value, *value),
        Some(Constant::Lacking("String")) => {
            Err(Reason::NotOnCards { what: "string constants".to_owned(), instead: "use a static final byte[]" })
        }
        Some(_) => Err(Reason::Malformed("a ConstantValue that is no int".to_owned())),
    }
}

fn check_range(value: &ValueType, constant: i32) -> Result<(), Reason> {
    let fits = match value {
        ValueType::Boolean => (0..=1).contains(&constant),
        ValueType::Byte => i8::try_from(constant).is_ok(),
        ValueType::Short => i16::try_from(constant).is_ok(),
        ValueType::Int => true,
        ValueType::Reference(_) => false,
    };
    if fits { Ok(()) } else { Err(Reason::Malformed(format!("a ConstantValue of {constant} for its type"))) }
}

fn check_signature(world: &World, method: &MethodShape) -> Result<(), Reason> {
    method.signature.parameters.iter().chain(&method.signature.result).try_for_each(|value| world.check_type(value))
}

/// A method on its way through the verifier.
struct Flow<'a> {
    site: Site<'a>,
    /// What the code at a position expects, for each frame of the `StackMapTable`.
    frames: BTreeMap<u16, State<'a>>,
}

/// A reason with the position that it belongs to.
type Located<T> = Result<T, (Option<u16>, Reason)>;

impl<'a> Flow<'a> {
    fn verify(mut self) -> Located<()> {
        self.read_frames()?;
        let handlers = self.site.code.handlers.iter().map(|handler| self.check_handler(handler));
        let handlers = handlers.collect::<Result<Vec<_>, _>>().map_err(|reason| (None, reason))?;
        let mut reached = Some(self.first().map_err(|reason| (None, reason))?);
        for (at, operation) in &self.site.code.operations {
            let step = self.step(reached, *at, operation, &handlers);
            reached = step.map_err(|reason| (Some(*at), reason))?;
        }
        match reached {
            None => Ok(()),
            Some(_) => unverifiable("the code runs on after its end").map_err(|reason| (None, reason)),
        }
    }

    fn first(&self) -> Result<State<'a>, Reason> {
        self.state(first_frame(&self.site.class.shape.name, self.site.method))
    }

    fn state(&self, frame: crate::class_file::Frame) -> Result<State<'a>, Reason> {
        let Code { max_locals, max_stack, .. } = self.site.code;
        State::new(self.site.world, frame, *max_locals, *max_stack)
    }

    fn read_frames(&mut self) -> Located<()> {
        for (at, frame) in &self.site.code.frames {
            let located = |reason| (Some(*at), reason);
            if self.site.code.operation_at(*at).is_none() {
                return unverifiable(format!("a frame at {at}, where no operation starts")).map_err(located);
            }
            let state = self.state(frame.clone()).map_err(located)?;
            self.frames.insert(*at, state);
        }
        Ok(())
    }

    /// A handler whose range and class are right, with that class.
    fn check_handler(&self, handler: &'a Handler) -> Result<(&'a Handler, &'a str), Reason> {
        let code = self.site.code;
        let starts = |at| code.operation_at(at).is_some();
        let ends = handler.end == code.length || starts(handler.end);
        if handler.start >= handler.end || !starts(handler.start) || !ends || !starts(handler.target) {
            return unverifiable("a handler whose range is none of whole operations");
        }
        let class = match handler.catches {
            Some(entry) => self.site.class.pool.class(entry)?,
            None => THROWABLE,
        };
        if handler.catches.is_some_and(|entry| self.site.named_type(entry).is_err())
            || !self.site.world.is_assignable(class, THROWABLE)?
        {
            return unverifiable(format!("a handler of {class}, which cannot be thrown"));
        }
        Ok((handler, class))
    }

    /// One operation; the state after it, none where the code does not go on to the next.
    fn step(
        &self,
        reached: Option<State<'a>>,
        at: u16,
        operation: &Operation,
        handlers: &[(&Handler, &str)],
    ) -> Result<Option<State<'a>>, Reason> {
        let mut state = match (reached, self.frames.get(&at)) {
            (Some(reached), Some(frame)) => {
                reached.check_leads_to(frame)?;
                frame.clone()
            }
            (Some(reached), None) => reached,
            (None, Some(frame)) => frame.clone(),
            (None, None) => return unverifiable("code after a jump has no frame"),
        };
        for (handler, class) in handlers.iter().filter(|(handler, _)| (handler.start..handler.end).contains(&at)) {
            self.check_branch(&state.caught(class), handler.target)?;
        }
        self.site.apply(at, operation, &mut state)?;
        match operation {
            Operation::Branch(_, _, target) | Operation::Goto(target) => self.check_branch(&state, *target)?,
            Operation::Switch(switch) => {
                self.check_branch(&state, switch.default)?;
                switch.cases.iter().try_for_each(|(_, target)| self.check_branch(&state, *target))?;
            }
            _ => {}
        }
        Ok(if operation.ends_flow() { None } else { Some(state) })
    }

    fn check_branch(&self, state: &State<'a>, target: u16) -> Result<(), Reason> {
        match self.frames.get(&target) {
            Some(frame) => state.check_leads_to(frame),
            None => unverifiable(format!("the target {target} has no frame")),
        }
    }
}
