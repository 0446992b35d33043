//! What each operation takes from the stack and leaves there.

use super::members::Site;
use super::state::{State, shown, unverifiable};
use crate::class_file::{CellType, Constant, Element, Kind, Operands, Operation, Shuffle};
use crate::refusal::Reason;

impl Site<'_> {
    /// Carries an operation out on types.
    pub(super) fn apply(&self, at: u16, operation: &Operation, state: &mut State<'_>) -> Result<(), Reason> {
        match operation {
            Operation::Nop | Operation::Goto(_) => Ok(()),
            Operation::Null => state.push(CellType::Null),
            Operation::Constant(_) => state.push(CellType::Int),
            Operation::LoadConstant(entry) => self.load_constant(*entry, state),
            Operation::Load(kind, local) => load(*kind, *local, state),
            Operation::Store(kind, local) => store(*kind, *local, state),
            Operation::ArrayLoad(element) => array_load(*element, state),
            Operation::ArrayStore(element) => array_store(*element, state),
            Operation::Shuffle(shuffle) => apply_shuffle(*shuffle, state),
            Operation::Binary(_) => pop_ints(2, state).and_then(|()| state.push(CellType::Int)),
            Operation::Negate | Operation::ToByte | Operation::ToShort => {
                state.pop_int()?;
                state.push(CellType::Int)
            }
            Operation::Increment(local, _) => expect_int(state.local(*local)?),
            Operation::Branch(operands, _, _) => pop_operands(*operands, state),
            Operation::Switch(_) => state.pop_int(),
            Operation::Return(kind) => self.check_return(*kind, state),
            Operation::Field(access, entry) => self.field(*access, *entry, state),
            Operation::Invoke(kind, entry) => self.invoke(*kind, *entry, state),
            _ => self.apply_to_objects(at, operation, state),
        }
    }

    fn apply_to_objects(&self, at: u16, operation: &Operation, state: &mut State<'_>) -> Result<(), Reason> {
        match operation {
            Operation::New(entry) => {
                self.check_instantiable(*entry)?;
                state.push_uninitialized(at)
            }
            Operation::NewArray(code) => {
                state.pop_int()?;
                let element = match code {
                    4 => "[Z",
                    8 => "[B",
                    9 => "[S",
                    _ => "[I",
                };
                state.push(CellType::Reference(element.to_owned()))
            }
            Operation::NewReferenceArray(entry) => self.new_reference_array(*entry, state),
            Operation::ArrayLength => {
                check_array(state.pop_reference()?.as_deref(), |_| true)?;
                state.push(CellType::Int)
            }
            Operation::Throw => state.pop_instance("java/lang/Throwable").map(|_| ()),
            Operation::CheckCast(entry) => {
                state.pop_reference()?;
                state.push(CellType::Reference(self.named_type(*entry)?.to_owned()))
            }
            Operation::InstanceOf(entry) => {
                state.pop_reference()?;
                self.named_type(*entry)?;
                state.push(CellType::Int)
            }
            _ => Ok(()),
        }
    }

    fn load_constant(&self, entry: u16, state: &mut State<'_>) -> Result<(), Reason> {
        let (what, instead) = match self.class.pool.get(entry)? {
            Constant::Int(_) => return state.push(CellType::Int),
            Constant::Lacking("String") => ("string constants", "use a static final byte[]"),
            Constant::Class(_) => ("class literals, so no assert", "throw an exception instead"),
            Constant::Lacking(what) => (*what, "use int"),
            _ => return unverifiable(format!("entry {entry} is no constant that can be loaded")),
        };
        Err(Reason::NotOnCards { what: what.to_owned(), instead })
    }

    fn check_return(&self, kind: Option<Kind>, state: &mut State<'_>) -> Result<(), Reason> {
        match (&self.method.signature.result, kind) {
            (None, None) => state.check_constructed(),
            (Some(result), Some(kind)) => {
                if (CellType::of(result) == CellType::Int) != (kind == Kind::Int) {
                    return unverifiable("it returns another kind of value than it declares");
                }
                state.pop_value(result)
            }
            _ => unverifiable("it returns a value and declares none, or the other way round"),
        }
    }

    fn check_instantiable(&self, entry: u16) -> Result<(), Reason> {
        let name = self.named_type(entry)?;
        if name.starts_with('[') || self.world.class(name)?.flags.is_abstract() {
            return unverifiable(format!("`new` of {name}, which has no instances"));
        }
        Ok(())
    }

    fn new_reference_array(&self, entry: u16, state: &mut State<'_>) -> Result<(), Reason> {
        let name = self.named_type(entry)?;
        if name.starts_with('[') {
            let instead = "use one array and compute the index";
            return Err(Reason::NotOnCards { what: "arrays of arrays".to_owned(), instead });
        }
        state.pop_int()?;
        state.push(CellType::Reference(format!("[L{name};")))
    }
}

fn expect_int(cell: &CellType) -> Result<(), Reason> {
    if *cell == CellType::Int { Ok(()) } else { unverifiable(format!("{} where int is expected", shown(cell))) }
}

fn pop_ints(count: usize, state: &mut State<'_>) -> Result<(), Reason> {
    (0..count).try_for_each(|_| state.pop_int())
}

fn pop_operands(operands: Operands, state: &mut State<'_>) -> Result<(), Reason> {
    match operands {
        Operands::Zero => state.pop_int(),
        Operands::Ints => pop_ints(2, state),
        Operands::Null => state.pop_reference().map(|_| ()),
        Operands::References => state.pop_reference().and_then(|_| state.pop_reference()).map(|_| ()),
    }
}

fn load(kind: Kind, local: u16, state: &mut State<'_>) -> Result<(), Reason> {
    let cell = state.local(local)?.clone();
    match (&cell, kind) {
        (CellType::Int, Kind::Int) => state.push(cell),
        (CellType::Unusable | CellType::Int, _) | (_, Kind::Int) => {
            unverifiable(format!("local variable {local} holds {}", shown(&cell)))
        }
        _ => state.push(cell),
    }
}

/// What has no constructor yet stays on the stack, where javac leaves it.
fn store(kind: Kind, local: u16, state: &mut State<'_>) -> Result<(), Reason> {
    let cell = state.pop()?;
    match (&cell, kind) {
        (CellType::Int, Kind::Int) | (CellType::Null | CellType::Reference(_), Kind::Reference) => {
            state.set_local(local, cell)
        }
        _ => unverifiable(format!("{} is stored in local variable {local}", shown(&cell))),
    }
}

/// Whether an array's descriptor is one that operations on an element type take.
fn takes(element: Element, array: &str) -> bool {
    match element {
        Element::Byte => array == "[B" || array == "[Z",
        Element::Short => array == "[S",
        Element::Int => array == "[I",
        Element::Reference => array.starts_with("[L"),
    }
}

/// That a reference is null or an array of a kind.
fn check_array(found: Option<&str>, fits: impl Fn(&str) -> bool) -> Result<(), Reason> {
    match found {
        Some(name) if !name.starts_with('[') || !fits(name) => {
            unverifiable(format!("{name} where an array is expected"))
        }
        _ => Ok(()),
    }
}

fn array_load(element: Element, state: &mut State<'_>) -> Result<(), Reason> {
    state.pop_int()?;
    let array = state.pop_reference()?;
    check_array(array.as_deref(), |name| takes(element, name))?;
    match (element, array) {
        (Element::Reference, None) => state.push(CellType::Null),
        (Element::Reference, Some(array)) => {
            state.push(CellType::Reference(array[2..].trim_end_matches(';').to_owned()))
        }
        _ => state.push(CellType::Int),
    }
}

/// That a reference fits the array's elements is checked when it happens.
fn array_store(element: Element, state: &mut State<'_>) -> Result<(), Reason> {
    match element {
        Element::Reference => state.pop_reference().map(|_| ())?,
        _ => state.pop_int()?,
    }
    state.pop_int()?;
    check_array(state.pop_reference()?.as_deref(), |name| takes(element, name))
}

/// For each operation: how many cells it takes, and which of them it leaves, counted from the top.
fn apply_shuffle(shuffle: Shuffle, state: &mut State<'_>) -> Result<(), Reason> {
    let (taken, left): (usize, &[usize]) = match shuffle {
        Shuffle::Pop => (1, &[]),
        Shuffle::Pop2 => (2, &[]),
        Shuffle::Dup => (1, &[0, 0]),
        Shuffle::DupX1 => (2, &[0, 1, 0]),
        Shuffle::DupX2 => (3, &[0, 2, 1, 0]),
        Shuffle::Dup2 => (2, &[1, 0, 1, 0]),
        Shuffle::Dup2X1 => (3, &[1, 0, 2, 1, 0]),
        Shuffle::Dup2X2 => (4, &[1, 0, 3, 2, 1, 0]),
        Shuffle::Swap => (2, &[0, 1]),
    };
    let cells = (0..taken).map(|_| state.pop()).collect::<Result<Vec<_>, _>>()?;
    left.iter().try_for_each(|index| state.push(cells[*index].clone()))
}
