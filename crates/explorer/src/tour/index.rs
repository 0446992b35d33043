//! The tour of an ordered index.

use norn_flash::Address;
use norn_flash_sim::{NorSim, catalogue};
use serde_json::json;

use super::steps::{Event, Made, STEPS, Toured};
use crate::anatomy::hexadecimal;
use crate::content::{Content, Played};
use crate::index::list::{FixedWidths, Index, example};
use crate::index::program::Call;
use crate::traced::Traced;

/// The key that the tour is about.
const KEY: u32 = 7;

fn put(key: u32, value: u32) -> Call {
    Call::Put(key.to_be_bytes().to_vec(), value.to_be_bytes().to_vec())
}

impl Toured for Index<FixedWidths> {
    const TITLES: [&'static str; STEPS] =
        ["A key is put", "Its value changes", "The power fails", "The mount repairs", "A block is reclaimed"];

    fn empty() -> Result<Self, String> {
        Self::mount(Traced::new(example(NorSim::new(catalogue::test_part(12, 1024)))?))
    }

    fn calls() -> [Vec<Call>; 3] {
        [vec![put(KEY, 100)], vec![put(KEY + 4, 1), put(KEY, 70)], vec![put(KEY, 30)]]
    }

    fn later(number: usize) -> Call {
        put(KEY + number as u32 % 4, number as u32)
    }

    fn made(&self, mounted: &mut Self) -> Result<Made, String> {
        let key = hexadecimal(&KEY.to_be_bytes());
        let found = mounted.ask(&json!({ "ask": "keys", "from": key, "to": key }))?;
        let entry = &found["entries"][0];
        let value = entry[1].as_str().and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let at = entry[2].as_u64().ok_or("the key is in no cell")?;
        Ok(Made { name: format!("key {KEY}"), at: Address(at as u32), value: value.ok_or("the key has no value")? })
    }

    fn is_reclaimed(_: &str) -> bool {
        true
    }

    fn text(event: &Event) -> String {
        match event {
            Event::Created(name) => format!(
                "The program put {name} with the value 100, 0x64. The list was empty: a cell of a block became an \
                 object, with a level that was drawn, and pointers of the head were programmed to lead to it. The \
                 entry is in the object's first slot, with a code of its own: before the slot was whole, the key was \
                 not there."
            ),
            Event::Updated => {
                "The program put key 11, and then key 7 again with the value 70, 0x46. The new entry is in the next \
                 free slot of the object. Then one bit of the bitmap was cleared, and the slot with 100 counts no \
                 more. Of a cut between these two, a mount would have cleared that bit."
                    .to_owned()
            }
            Event::Cut(at) => format!(
                "The program was putting key 7 with the value 30, 0x1e, when the power failed in the slot at {at}. \
                 One bit of the first word was not cleared any more, and nothing of the words after it. The slot's \
                 code does not agree, so that the slot is torn, and the one with 70 before it is whole."
            ),
            Event::Mounted(calls, value) => format!(
                "The mount read the slots of each object and found a torn one. All that it programmed is that slot's \
                 bit of the bitmap ({calls} of the part); the slot will not be used again. Key 7 has the \
                 value {value}: the update that was cut is as if it had never begun."
            ),
            Event::Reclaimed(updates, unit) => format!(
                "After {updates}, {unit} is erased, and becomes the spare block of its turnstile: the \
                 block that was the spare one has taken its place. Live cells are copied there first, each to the \
                 same number, so that pointers, which name a turnstile and a number, stay as they are. This block \
                 had dead cells only."
            ),
        }
    }
}
