//! Calls on a sorted map and cuts of its power, as bytes say, beside a map in memory.

use std::collections::BTreeMap;
use std::ops::Bound;

use norn_flash::Collected;
use norn_flash_sim::Tear;
use norn_ordered_index::{Change, IndexError, OrderedIndex};

use crate::either_list::SimList;
use crate::index_image::EMPTY;

type Key = [u8; 2];
type Value = [u8; 3];
type Model = BTreeMap<Key, Value>;
type Outcome = Result<(), IndexError<norn_flash_sim::SimError>>;

/// Makes a call; returns what the model is if it succeeds.
fn perform(list: &mut SimList, model: &Model, kind: u8, key: Key, value: Value) -> (Outcome, Model) {
    let mut after = model.clone();
    let neighbour = [key[0], key[1].wrapping_add(3)];
    let outcome = match kind % 6 {
        0 | 1 => {
            after.insert(key, value);
            list.put(&key, &value)
        }
        2 => {
            after.remove(&key);
            match list.remove(&key) {
                Err(IndexError::KeyAbsent) => Ok(()),
                outcome => outcome,
            }
        }
        3 => {
            after.insert(key, value);
            after.remove(&neighbour);
            list.apply(&[Change::Put(key, value), Change::Remove(neighbour)])
        }
        4 => list.reclaim_step().map(|_| ()),
        _ => list.stop(),
    };
    (outcome, after)
}

fn contents(list: &mut SimList) -> Model {
    let mut found: Collected = Collected::default();
    list.audit(&mut found).expect("a whole list");
    assert!(found.violations.is_empty(), "{:?}", found.violations);
    list.range(Bound::Unbounded, Bound::Unbounded).map(|entry| entry.expect("a whole list")).collect()
}

/// Makes the calls that `bytes` say: of each six bytes the first says which part, call and cut, the others key, value
/// and place of the cut.
///
/// # Panics
/// If a call happens neither wholly nor not at all, or an invariant does not hold after it.
pub fn try_operations(bytes: &[u8]) {
    let Some((&variant, calls)) = bytes.split_first() else {
        return;
    };
    let (mut list, mut model) = (EMPTY[usize::from(variant) % EMPTY.len()].clone(), Model::new());
    for call in calls.chunks_exact(6) {
        // Where values vary, their lengths follow from them.
        let (key, value) = ([call[1] & 1, call[2]], [call[3]; 3]);
        if call[0] & 0x80 != 0 {
            let tear = if call[5] == 0 { Tear::Nothing } else { Tear::Subset(call[5].into()) };
            list.device_mut().cut_power_after(call[4].into(), tear);
        }
        let (outcome, after) = perform(&mut list, &model, call[0] & 0x7F, key, value);
        let mut device = list.into_device();
        device.power_on();
        list = SimList::mount(device).expect("a list that was cut or is whole");
        let found = contents(&mut list);
        match outcome {
            Ok(()) => assert_eq!(found, after),
            Err(IndexError::Device(_)) => assert!(found == model || found == after, "{found:?}"),
            Err(IndexError::Full) => assert_eq!(found, model),
            Err(error) => panic!("{error}"),
        }
        model = found;
    }
}
