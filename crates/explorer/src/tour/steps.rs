//! The five steps of a guided tour, on a small part: something is created, it is updated, the power fails, a mount
//! repairs, a unit is reclaimed. Each step is played when it is asked for.

use norn_flash::{Address, EraseUnit};
use norn_flash_sim::{NorSim, Tear};

use crate::anatomy::counted;
use crate::chip::{Chip, Play};
use crate::content::{Cells, Content};
use crate::objects::{Call, Objects, OnHeap, words};
use crate::shown::Shown;
use crate::traced::{Act, Operation};

/// Steps of a tour.
pub const STEPS: usize = 5;
/// Calls after which a unit must have been reclaimed.
const CALLS_MAX: usize = 4000;
/// Titles of the steps on an object.
pub const OF_AN_OBJECT: [&str; STEPS] =
    ["An object is created", "A field is updated", "The power fails", "The mount repairs", "A unit is reclaimed"];

/// The calls of the first two steps on an object: it gets fields, and a new value in one of them.
pub fn calls_of_an_object() -> [Vec<Call>; 2] {
    let updates = vec![Call::SetRoot("ann", 0), Call::put_number(0, 0, 100), Call::put_number(0, 0, 70)];
    [vec![Call::Create(2, 4)], updates]
}

/// One of the updates after which a unit is reclaimed.
pub fn update_of_an_object(number: usize) -> Call {
    Call::put_number(0, number % 2, number as u32)
}

/// What a tour needs of a format, beside what it is shown by.
pub trait Toured: Content {
    /// Titles of the steps.
    const TITLES: [&'static str; STEPS];

    /// Empty, on a small part.
    ///
    /// # Errors
    /// In words.
    fn empty() -> Result<Self, String>;

    /// The calls up to the end of the first step, of the second, and the call that is cut.
    fn calls() -> [Vec<Self::Call>; 3];

    /// The call of this number of those after which a unit is reclaimed.
    fn later(number: usize) -> Self::Call;

    /// Whether an operation is one in which the power may fail: it does in the last of them. `text` says what it
    /// programs, `value` is where the value is after the call.
    fn is_cut(act: Act, text: &str, value: Address) -> bool {
        let _ = text;
        matches!(act, Act::Program(from, bytes) if (from.0..from.0 + bytes).contains(&value.0))
    }

    /// What the calls of this program have made, as it is in an image that is mounted.
    ///
    /// # Errors
    /// In words.
    fn made(&self, mounted: &mut Self) -> Result<Made, String>;

    /// Whether an erase of a unit with this role is what the last step shows.
    fn is_reclaimed(role: &str) -> bool;

    /// What is to be seen.
    fn text(event: &Event) -> String;
}

/// What the calls have made.
pub struct Made {
    /// Its name.
    pub name: String,
    /// Where its value is.
    pub at: Address,
    /// The value.
    pub value: u32,
}

/// What has happened in a step.
pub enum Event {
    /// Something of this name was created.
    Created(String),
    /// It was updated.
    Updated,
    /// The power failed in a program here.
    Cut(Address),
    /// The mount has made so many calls of the part, in words, and the value is this one.
    Mounted(String, u32),
    /// After so many further calls of the program, in words, this unit was erased.
    Reclaimed(String, EraseUnit),
}

/// One step.
pub struct Stop {
    /// What happens.
    pub title: &'static str,
    /// What is to be seen of it.
    pub text: String,
    /// The part then.
    pub shown: Box<dyn Shown>,
    /// Where to look.
    pub look: Address,
}

/// The step of this number, from 0.
///
/// # Errors
/// If there is none.
pub fn played<C: Toured>(number: usize) -> Result<Stop, String> {
    let title = *C::TITLES.get(number).ok_or_else(|| format!("the tour has {STEPS} steps"))?;
    let mut play = Play::new(C::empty()?);
    let [created, updated, cut] = C::calls();
    call_all(&mut play, created)?;
    if number > 0 {
        call_all(&mut play, updated)?;
    }
    let (event, chip, look) = match number {
        0 => {
            let made = made(&play)?;
            (Event::Created(made.name), now(&play), made.at)
        }
        1 => (Event::Updated, now(&play), made(&play)?.at),
        2 | 3 => {
            call_all(&mut play, cut)?;
            torn(&play, number)?
        }
        _ => reclaimed(&mut play)?,
    };
    Ok(Stop { title, text: C::text(&event), shown: Box::new(chip), look })
}

fn call_all<C: Content>(play: &mut Play<C>, calls: Vec<C::Call>) -> Result<(), String> {
    calls.into_iter().try_for_each(|call| play.call(call))
}

/// The part after the last call.
fn now<C: Content>(play: &Play<C>) -> Chip<C> {
    Chip::of(play.end().device().sim.clone())
}

fn made<C: Toured>(play: &Play<C>) -> Result<Made, String> {
    play.end().made(&mut play.end().clone())
}

/// The power fails in the last call; then the mount.
fn torn<C: Toured>(play: &Play<C>, number: usize) -> Result<(Event, Chip<C>, Address), String> {
    let (value, chip) = (made(play)?.at, now(play));
    let is_cut = |one: &Operation| C::is_cut(one.act, &chip.text_of(one), value);
    let operation = play.operations().copied().rfind(is_cut).ok_or("no call has the operation that is cut")?;
    let Act::Program(at, _) = operation.act else { return Err("no program is cut".to_owned()) };
    let cut = play.chip_cut(operation.first, Tear::AllButOneBit(3))?;
    if number == 2 {
        return Ok((Event::Cut(at), cut, at));
    }
    let (count, chip) = (cut.mount_operations().len(), cut.after_mount());
    let made = play.end().made(&mut chip.content()?.clone())?;
    Ok((Event::Mounted(counted(count, "call"), made.value), chip, made.at))
}

/// Calls until a unit is erased and used again.
fn reclaimed<C: Toured>(play: &mut Play<C>) -> Result<(Event, Chip<C>, Address), String> {
    for number in 0..CALLS_MAX {
        play.forget();
        let before = play.end().device().sim.clone();
        play.call(C::later(number))?;
        let erased = play.operations().find_map(|one| match one.act {
            Act::Erase(unit) if is_reclaimed::<C>(&before, unit) => Some((unit, one.first)),
            _ => None,
        });
        if let Some((unit, first)) = erased {
            let look = before.spec().part.start_of(unit);
            let updates = counted(number + 1, "more update");
            return Ok((Event::Reclaimed(updates, unit), play.chip_at(first + 1), look));
        }
    }
    Err(format!("no unit was reclaimed in {CALLS_MAX} calls"))
}

fn is_reclaimed<C: Toured>(device: &NorSim, unit: EraseUnit) -> bool {
    let bytes = device.peek(device.spec().part.start_of(unit), C::HEAD_BYTES as usize);
    C::role(Cells { whole: device, unit, bytes: &bytes }).0.is_some_and(|role| C::is_reclaimed(&role))
}

/// Field 0 of the first object that a program has created.
///
/// # Errors
/// In words.
pub fn first_field<H: Objects + 'static>(made: &OnHeap<H>, mounted: &mut OnHeap<H>) -> Result<Made, String> {
    let object = made.program.object(0)?;
    let mut value = [0; 4];
    mounted.heap.get_field(object, 0, &mut value).map_err(words)?;
    let at = mounted.heap.place_of(object, 0)?.value;
    Ok(Made { name: object.to_string(), at, value: u32::from_le_bytes(value) })
}
