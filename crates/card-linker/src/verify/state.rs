//! Locals and operand stack of a method at one position, as far as they are known before it runs.

use crate::class_file::{CellType, Frame};
use crate::descriptor::ValueType;
use crate::refusal::Reason;
use crate::world::{World, spoken};

/// A refusal of code.
pub(super) fn unverifiable<T>(what: impl Into<String>) -> Result<T, Reason> {
    Err(Reason::Unverifiable(what.into()))
}

/// What a method's cells hold. There are always as many locals as the method has.
#[derive(Clone)]
pub(super) struct State<'a> {
    world: &'a World,
    frame: Frame,
    max_stack: usize,
    /// Whether the constructor still has to call another, even if no cell holds `this`.
    is_unconstructed: bool,
}

impl<'a> State<'a> {
    /// The state that a frame describes.
    pub(super) fn new(
        world: &'a World,
        mut frame: Frame,
        max_locals: u16,
        max_stack: u16,
    ) -> Result<State<'a>, Reason> {
        if frame.locals.len() > usize::from(max_locals) || frame.stack.len() > usize::from(max_stack) {
            return unverifiable("a frame has more cells than the method");
        }
        let is_unconstructed = frame.locals.contains(&CellType::UninitializedThis);
        frame.locals.resize(usize::from(max_locals), CellType::Unusable);
        Ok(State { world, frame, max_stack: usize::from(max_stack), is_unconstructed })
    }

    /// What a handler starts with: these locals, and the exception alone on the stack.
    pub(super) fn caught(&self, class: &str) -> State<'a> {
        let stack = vec![CellType::Reference(class.to_owned())];
        State { frame: Frame { locals: self.frame.locals.clone(), stack }, ..self.clone() }
    }

    /// That code which expects `to` may go on from here.
    pub(super) fn check_leads_to(&self, to: &State<'_>) -> Result<(), Reason> {
        if self.is_unconstructed && !to.is_unconstructed {
            return unverifiable("a way leads around the call of another constructor");
        }
        if self.frame.stack.len() != to.frame.stack.len() {
            let (have, want) = (self.frame.stack.len(), to.frame.stack.len());
            return unverifiable(format!("{have} cells are on the stack where {want} are expected"));
        }
        let locals = self.frame.locals.iter().zip(&to.frame.locals);
        for (have, want) in locals.chain(self.frame.stack.iter().zip(&to.frame.stack)) {
            self.check_fits(have, want)?;
        }
        Ok(())
    }

    fn check_fits(&self, have: &CellType, want: &CellType) -> Result<(), Reason> {
        let fits = match (have, want) {
            (_, CellType::Unusable) | (CellType::Null, CellType::Reference(_)) => true,
            (CellType::Reference(have), CellType::Reference(want)) => self.world.is_assignable(have, want)?,
            _ => have == want,
        };
        if fits { Ok(()) } else { unverifiable(format!("{} where {} is expected", shown(have), shown(want))) }
    }

    pub(super) fn push(&mut self, cell: CellType) -> Result<(), Reason> {
        if self.frame.stack.len() == self.max_stack {
            return unverifiable(format!("more than the {} cells of the operand stack", self.max_stack));
        }
        self.frame.stack.push(cell);
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Result<CellType, Reason> {
        match self.frame.stack.pop() {
            Some(cell) => Ok(cell),
            None => unverifiable("the operand stack is empty"),
        }
    }

    pub(super) fn pop_int(&mut self) -> Result<(), Reason> {
        let cell = self.pop()?;
        self.check_fits(&cell, &CellType::Int)
    }

    /// A reference to something whose constructor was called, or null: the class, none for null.
    pub(super) fn pop_reference(&mut self) -> Result<Option<String>, Reason> {
        match self.pop()? {
            CellType::Null => Ok(None),
            CellType::Reference(name) => Ok(Some(name)),
            cell => unverifiable(format!("{} where a reference is expected", shown(&cell))),
        }
    }

    /// A value that a field or parameter of a type takes.
    pub(super) fn pop_value(&mut self, value: &ValueType) -> Result<(), Reason> {
        let cell = self.pop()?;
        self.check_fits(&cell, &CellType::of(value))
    }

    /// A reference that can be used as one to a class.
    pub(super) fn pop_instance(&mut self, class: &str) -> Result<Option<String>, Reason> {
        let found = self.pop_reference()?;
        if let Some(found) = &found {
            self.check_fits(&CellType::Reference(found.clone()), &CellType::Reference(class.to_owned()))?;
        }
        Ok(found)
    }

    pub(super) fn local(&self, index: u16) -> Result<&CellType, Reason> {
        let cell = self.frame.locals.get(usize::from(index));
        cell.ok_or_else(|| Reason::Unverifiable(format!("the method has no local variable {index}")))
    }

    pub(super) fn set_local(&mut self, index: u16, cell: CellType) -> Result<(), Reason> {
        self.local(index)?;
        self.frame.locals[usize::from(index)] = cell;
        Ok(())
    }

    /// Gives what `new` at a position makes a cell. Nothing else may claim to be it: locals that do are unusable.
    pub(super) fn push_uninitialized(&mut self, position: u16) -> Result<(), Reason> {
        let cell = CellType::Uninitialized(position);
        if self.frame.stack.contains(&cell) {
            return unverifiable("`new` while what it made before has not been constructed");
        }
        for local in self.frame.locals.iter_mut().filter(|local| **local == cell) {
            *local = CellType::Unusable;
        }
        self.push(cell)
    }

    /// Makes every copy of an object whose constructor was called a reference to its class.
    pub(super) fn construct(&mut self, raw: &CellType, class: &str) {
        let Frame { locals, stack } = &mut self.frame;
        for cell in locals.iter_mut().chain(stack).filter(|cell| *cell == raw) {
            *cell = CellType::Reference(class.to_owned());
        }
        if *raw == CellType::UninitializedThis {
            self.is_unconstructed = false;
        }
    }

    /// That a constructor has called another.
    pub(super) fn check_constructed(&self) -> Result<(), Reason> {
        if self.is_unconstructed { unverifiable("a constructor returns and has called no other") } else { Ok(()) }
    }
}

/// A cell's type for messages.
pub(super) fn shown(cell: &CellType) -> String {
    match cell {
        CellType::Unusable => "an unusable cell".to_owned(),
        CellType::Int => "int".to_owned(),
        CellType::Null => "null".to_owned(),
        CellType::UninitializedThis => "this before its constructor".to_owned(),
        CellType::Uninitialized(at) => format!("what `new` at {at} made, before its constructor"),
        CellType::Reference(name) => spoken(name),
    }
}
