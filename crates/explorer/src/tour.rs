//! The guided tour: five steps on a small part, each of which is played when it is asked for.

use norn_flash::{Address, EraseUnit};
use norn_flash_sim::{NorSim, Tear, catalogue};
use norn_log_heap::format::Stream;

use crate::chip::{Chip, Play};
use crate::content::{Cells, Content};
use crate::log_heap::LogHeap;
use crate::objects::{Call, words};
use crate::traced::Act;

/// Units of the part, and bytes of each.
const PART: (u16, u32) = (12, 512);
/// Calls after which a unit must have been reclaimed.
const UPDATES_MAX: usize = 4000;

/// One step.
pub struct Stop {
    /// What happens.
    pub title: &'static str,
    /// What is to be seen of it.
    pub text: String,
    /// The part then.
    pub chip: Chip<LogHeap>,
    /// Where to look.
    pub look: Address,
}

/// Titles of the steps, in order.
pub const TITLES: [&str; 5] =
    ["An object is created", "A field is updated", "The power fails", "The mount repairs", "A unit is reclaimed"];

/// The step of this number, from 0.
///
/// # Errors
/// If there is none.
pub fn stop(number: usize) -> Result<Stop, String> {
    let title = *TITLES.get(number).ok_or_else(|| format!("the tour has {} steps", TITLES.len()))?;
    let mut play = Play::new(LogHeap::format(NorSim::new(catalogue::test_part(PART.0, PART.1)))?);
    play.call(Call::Create(2, 4))?;
    if number == 0 {
        let look = value_of(&play)?.0;
        let text = format!(
            "The program called create: two fields of four bytes. A record in the log said what was about to be \
             written, then the sector was programmed, then a node of the map that leads to it. The object is {}. Only \
             when the map led to it, it was there: until then a power cut would have left nothing of it.",
            play.end().program.object(0)?
        );
        return Ok(Stop { title, text, chip: Chip::of(play.end().device().sim.clone()), look });
    }
    play.call(Call::SetRoot("ann", 0))?;
    // A new object has no tail here, or a short one: with the first update it gets one that has room.
    play.call(Call::Put(0, 0, 100_u32.to_le_bytes().to_vec()))?;
    play.call(Call::Put(0, 0, 70_u32.to_le_bytes().to_vec()))?;
    if number == 1 {
        let (_, delta) = value_of(&play)?;
        let text = "The program put 70 into field 0, which was 100. The sector is not written again: the new value is a \
                    delta in the places after it. Each place has a check in the same word, so that a torn one is recognised. The \
                    last delta of a field counts."
            .to_owned();
        return Ok(Stop { title, text, chip: Chip::of(play.end().device().sim.clone()), look: delta });
    }
    if number < 4 {
        return torn(number, title, &mut play);
    }
    reclaimed(title, &mut play)
}

/// Where the first object's sector is, and where the value of its first field.
fn value_of(play: &Play<LogHeap>) -> Result<(Address, Address), String> {
    let LogHeap { mut heap, program } = play.end().clone();
    let place = heap.place_of_value(program.object(0)?, 0).map_err(words)?;
    Ok((place.sector, place.delta.unwrap_or(place.value)))
}

/// The power fails while a second update programs its delta; then the mount.
fn torn(number: usize, title: &'static str, play: &mut Play<LogHeap>) -> Result<Stop, String> {
    play.call(Call::Put(0, 0, 30_u32.to_le_bytes().to_vec()))?;
    let (_, delta) = value_of(play)?;
    let programs = |act: Act| matches!(act, Act::Program(at, bytes) if (at.0..at.0 + bytes).contains(&delta.0));
    let operation = play.operations().copied().rfind(|one| programs(one.act));
    let at = operation.ok_or("the update programs a delta")?.first;
    let cut = play.chip_cut(at, Tear::AllButOneBit(3))?;
    if number == 2 {
        let text = format!(
            "The program was putting 30 into field 0 when the power failed, at {delta}. One bit of the word was not \
             cleared any more. Its check does not agree, so that the place counts as torn. The value 70 before it is \
             whole."
        );
        return Ok(Stop { title, text, chip: cut, look: delta });
    }
    let count = cut.mount_operations().len();
    let chip = cut.after_mount();
    let object = play.end().program.object(0)?;
    let mut heap = chip.content()?.heap.clone();
    let place = heap.place_of_value(object, 0).map_err(words)?;
    let mut value = [0; 4];
    heap.get_field(object, 0, &mut value).map_err(words)?;
    let text = format!(
        "The mount read the last record of the log, which named the object whose tail was in doubt. In {count} calls of \
         the part it began a new log, wrote the object anew as it was read, and led the map there. Field 0 is {}: the \
         update that was cut is as if it had never begun. Whatever the next boot reads, it stays so.",
        u32::from_le_bytes(value)
    );
    Ok(Stop { title, text, chip, look: place.sector })
}

/// Updates until a unit with obsolete sectors is erased and used again.
fn reclaimed(title: &'static str, play: &mut Play<LogHeap>) -> Result<Stop, String> {
    for number in 0..UPDATES_MAX {
        play.forget();
        let before = play.end().device().sim.clone();
        play.call(Call::Put(0, number % 2, (number as u32).to_le_bytes().to_vec()))?;
        let erased = play.operations().find_map(|one| match one.act {
            Act::Erase(unit) if is_of_objects(&before, unit) => Some((unit, one.first)),
            _ => None,
        });
        if let Some((unit, first)) = erased {
            let (chip, look) = (play.chip_at(first + 1), before.spec().part.start_of(unit));
            let text = format!(
                "After {} more updates, {unit} is erased: every sector in it was obsolete, or had been copied to \
                 another unit before, and the map leads to nothing in it. It is erased only now that it is needed, and \
                 is used again at once.",
                number + 1
            );
            return Ok(Stop { title, text, chip, look });
        }
    }
    Err(format!("no unit was reclaimed in {UPDATES_MAX} updates"))
}

fn is_of_objects(device: &NorSim, unit: EraseUnit) -> bool {
    let part = device.spec().part;
    let bytes = device.peek(part.start_of(unit), LogHeap::HEAD_BYTES as usize);
    let (role, _) = LogHeap::role(Cells { whole: device, unit, bytes: &bytes });
    role.is_some_and(|role| role != Stream::Log.to_string())
}
