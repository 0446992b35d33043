//! The tour of a log-structured heap.

use norn_flash_sim::{NorSim, catalogue};
use norn_log_heap::format::Stream;

use super::steps::{Event, Made, OF_AN_OBJECT, STEPS, Toured, calls_of_an_object, first_field, update_of_an_object};
use crate::log_heap::LogHeap;
use crate::objects::Call;

impl Toured for LogHeap {
    const TITLES: [&'static str; STEPS] = OF_AN_OBJECT;

    fn empty() -> Result<LogHeap, String> {
        LogHeap::format(NorSim::new(catalogue::test_part(12, 512)))
    }

    fn calls() -> [Vec<Call>; 3] {
        // A new object has no tail here, or a short one: with the first update it gets one that has room.
        let [created, updated] = calls_of_an_object();
        [created, updated, vec![Call::put_number(0, 0, 30)]]
    }

    fn later(number: usize) -> Call {
        update_of_an_object(number)
    }

    fn made(&self, mounted: &mut LogHeap) -> Result<Made, String> {
        first_field(self, mounted)
    }

    fn is_reclaimed(role: &str) -> bool {
        role != Stream::Log.to_string()
    }

    fn text(event: &Event) -> String {
        match event {
            Event::Created(name) => format!(
                "The program called create: two fields of four bytes. A record in the log said what was about to be \
                 written, then the sector was programmed, then a node of the map that leads to it. The object is \
                 {name}. Only when the map led to it, it was there: until then a power cut would have left nothing \
                 of it."
            ),
            Event::Updated => {
                "The program put 70 into field 0, which was 100. The sector is not written again: the new value is a \
                 delta in the places after it. Each place has a check in the same word, so that a torn one is \
                 recognised. The last delta of a field counts."
                    .to_owned()
            }
            Event::Cut(at) => format!(
                "The program was putting 30 into field 0 when the power failed, at {at}. One bit of the word was not \
                 cleared any more. Its check does not agree, so that the place counts as torn. The value 70 before \
                 it is whole."
            ),
            Event::Mounted(calls, value) => format!(
                "The mount read the last record of the log, which named the object whose tail was in doubt. In \
                 {calls} of the part it began a new log, wrote the object anew as it was read, and led the map \
                 there. Field 0 is {value}: the update that was cut is as if it had never begun. Whatever the next \
                 boot reads, it stays so."
            ),
            Event::Reclaimed(updates, unit) => format!(
                "After {updates}, {unit} is erased: every sector in it was obsolete, or had been copied \
                 to another unit before, and the map leads to nothing in it. It is erased only now that it is \
                 needed, and is used again at once."
            ),
        }
    }
}
