//! Which references objects of a document get.

use std::collections::{BTreeMap, BTreeSet};

use norn_heap::Ref;

use super::failure::{DataError, named};

/// The reference that a name says, as `#3.1`.
pub fn stated(name: &str) -> Option<Ref> {
    let (slot, generation) = name.strip_prefix('#')?.split_once('.')?;
    let reference = Ref::new(slot.parse().ok()?, generation.parse().ok().filter(|&generation| generation > 0)?);
    (reference.to_string() == name).then_some(reference)
}

/// The references of names, each with the slots that it takes: the stated ones, and for other names free slots from 1.
///
/// # Errors
/// When there are not so many, or two names state one slot.
pub fn assigned(names: &[(&str, u32)]) -> Result<BTreeMap<String, Ref>, DataError> {
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    let mut references = BTreeMap::new();
    let mut stated_slots: BTreeMap<u16, &str> = BTreeMap::new();
    for (name, slots) in names {
        if let Some(reference) = stated(name) {
            if let Some(other) = stated_slots.insert(reference.slot(), name) {
                let problem = format!("slot {} is that of {other}, too", reference.slot());
                return Err(DataError::new(problem).within(&named("object", name)));
            }
            let first = u32::from(reference.slot());
            taken.extend(first..first + slots);
            references.insert((*name).to_owned(), reference);
        }
    }
    let mut next = 1;
    for (name, slots) in names.iter().filter(|(name, _)| stated(name).is_none()) {
        while let Some(last) = taken.range(next..next + slots).next_back() {
            next = last + 1;
        }
        let slot = u16::try_from(next).ok().filter(|_| next + slots <= Ref::SLOTS);
        let slot = slot.ok_or_else(|| DataError::new("there are too many objects for one heap"))?;
        references.insert((*name).to_owned(), Ref::new(slot, 1));
        next += slots;
    }
    Ok(references)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_free_slots_around_the_stated_ones() {
        let names = [("ann", 1), ("#2.9", 1), ("rows", 3), ("#5.1", 2), ("bob", 1)];
        let found = assigned(&names).unwrap();
        let expected = [("#2.9", (2, 9)), ("#5.1", (5, 1)), ("ann", (1, 1)), ("bob", (10, 1)), ("rows", (7, 1))];
        let expected = expected.map(|(name, (slot, generation))| (name.to_owned(), Ref::new(slot, generation)));
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
        let refused = |names: &[(&str, u32)]| assigned(names).unwrap_err().to_string();
        assert_eq!(refused(&[("a", 40_000), ("b", 40_000)]), "there are too many objects for one heap");
        assert_eq!(refused(&[("#3.1", 1), ("#3.2", 1)]), "object #3.2: slot 3 is that of #3.1, too");
    }

    #[test]
    fn only_references_are_stated() {
        assert_eq!(stated("#65535.7"), Some(Ref::new(65535, 7)));
        for name in ["#1", "#1.0", "1.1", "#01.1", "#1.+1", "#65536.1", "#"] {
            assert_eq!(stated(name), None, "{name}");
        }
    }
}
