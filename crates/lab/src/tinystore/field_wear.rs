//! How long the EEPROM heap's fields last, its log left out of account.
//!
//! The bytes of a small log wear out long before any field, so that a run which ends with the log shows little of them.
//! A field is written where it is, once an update. So its lifetime is counted from the draws alone, which go on where
//! the run ended, once the run has shown that the bytes outside the log were written exactly as often as drawn.

use norn_flash::Address;

use super::costs::{Run, first_value};
use super::subject::EepromSubject;
use super::workload::{Update, Updates};

/// Updates until a field has been written `limit` times. `updates` are those of the run, from its beginning, of objects
/// with `fields` fields each.
///
/// # Errors
/// Says that the part counted other writes outside the log than were drawn.
pub fn field_lifetime(
    run: &Run<'_, EepromSubject>,
    updates: Updates,
    objects: usize,
    fields: usize,
    limit: u32,
) -> Result<u64, String> {
    let mut drawn = Drawn::new(updates, objects, fields);
    let mut at_limit = None;
    while drawn.updates < run.done() {
        drawn.update();
        if at_limit.is_none() && drawn.most >= limit {
            at_limit = Some(drawn.updates);
        }
    }
    let log = run.heap().log_range();
    let bytes = (0..).map(Address).zip(run.heap().device().writes_by_byte());
    let counted = bytes.filter(|(address, _)| !log.contains(address)).map(|(_, writes)| writes).max().unwrap_or(0);
    if counted != drawn.most {
        return Err(format!(
            "a field was drawn {} times, but a byte outside the log written {counted} times",
            drawn.most
        ));
    }
    while at_limit.is_none() {
        drawn.update();
        at_limit = (drawn.most >= limit).then_some(drawn.updates);
    }
    Ok(at_limit.unwrap_or(drawn.updates))
}

/// Fields that are drawn, and how often each would have been written.
struct Drawn {
    draws: Updates,
    fields: usize,
    /// Value and writes of each.
    cells: Vec<(u16, u32)>,
    most: u32,
    updates: u64,
}

impl Drawn {
    fn new(draws: Updates, objects: usize, fields: usize) -> Drawn {
        let cells = (0..objects).flat_map(|_| (0..fields).map(|field| (first_value(field), 0))).collect();
        Drawn { draws, fields, cells, most: 0, updates: 0 }
    }

    /// A field that already has the value is not written.
    fn update(&mut self) {
        let Update { object, field, value } = self.draws.draw();
        let (held, writes) = &mut self.cells[object * self.fields + field];
        if *held != value {
            (*held, *writes) = (value, *writes + 1);
            self.most = self.most.max(*writes);
        }
        self.updates += 1;
    }
}
