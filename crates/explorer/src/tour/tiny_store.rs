//! The tour of a heap with TinyStore's structure.

use norn_flash::Address;
use norn_flash_sim::{NorSim, catalogue};

use super::steps::{Event, Made, OF_AN_OBJECT, STEPS, Toured, calls_of_an_object, first_field, update_of_an_object};
use crate::objects::Call;
use crate::tiny_store::TinyStore;
use crate::traced::Act;

impl Toured for TinyStore {
    const TITLES: [&'static str; STEPS] = OF_AN_OBJECT;

    fn empty() -> Result<TinyStore, String> {
        TinyStore::format(NorSim::new(catalogue::test_part(12, 512)))
    }

    fn calls() -> [Vec<Call>; 3] {
        let [created, updated] = calls_of_an_object();
        [created, updated, vec![Call::Begin, Call::put_number(0, 0, 30), Call::Commit]]
    }

    /// A torn delta alone is passed over, without a repair: the power fails before a transaction counts.
    fn is_cut(_: Act, text: &str, _: Address) -> bool {
        text.contains("entry Commit")
    }

    fn later(number: usize) -> Call {
        update_of_an_object(number)
    }

    fn made(&self, mounted: &mut TinyStore) -> Result<Made, String> {
        first_field(self, mounted)
    }

    fn is_reclaimed(role: &str) -> bool {
        role.starts_with("data ")
    }

    fn text(event: &Event) -> String {
        match event {
            Event::Created(name) => format!(
                "The program called create: two fields of four bytes. An entry in the log said which sectors were \
                 about to be written; then a record for the values was programmed, and this descriptor of the object \
                 {name}. A slot in a node of a tree leads to the descriptor. It counts since the log has a Commit: \
                 until then a power cut would have left nothing of the object."
            ),
            Event::Updated => {
                "The program put 70 into field 0, which was 100. The record is not written again: the new value is a \
                 delta in a sector that is linked to it, and this one program made it count. The delta's word has a \
                 number of its zeros, so that a torn one is recognised. The last delta of a field counts."
                    .to_owned()
            }
            Event::Cut(at) => format!(
                "In a transaction, the program put 30 into field 0: a second delta, which is open as long as a bit \
                 of it is erased. Then it called commit, and the power failed in the log entry at {at} that says so. \
                 One bit of its first word was not cleared any more, and nothing of the second. Its codes do not \
                 agree: the transaction has not committed."
            ),
            Event::Mounted(calls, value) => format!(
                "The mount read the log to its end and found a change after the last Commit. In {calls} of the \
                 part it cleared a bit of the delta with 30, which makes it void, and wrote Abort into the log. \
                 Field 0 is {value}: the transaction is as if it had never begun."
            ),
            Event::Reclaimed(updates, unit) => format!(
                "After {updates}, {unit} is erased. Its sectors were obsolete, or had been copied to a \
                 free unit, which has the same logical number now, so that no pointer had to be changed. The log \
                 says that the erase has begun: a cut in it is repaired by erasing the unit again."
            ),
        }
    }
}
