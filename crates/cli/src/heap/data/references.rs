//! Which references objects of a document get.

use std::collections::{BTreeMap, BTreeSet};

use norn_heap::Ref;

/// The reference that a name says, as `#3.1`.
pub fn stated(name: &str) -> Option<Ref> {
    let (slot, generation) = name.strip_prefix('#')?.split_once('.')?;
    let reference = Ref::new(slot.parse().ok()?, generation.parse().ok().filter(|&generation| generation > 0)?);
    (reference.to_string() == name).then_some(reference)
}

/// The references of names, each with the slots that it takes: the stated ones, and for other names free slots from 1.
/// None if there are not so many.
pub fn assigned(names: &[(&str, u32)]) -> Option<BTreeMap<String, Ref>> {
    let mut taken: BTreeSet<u32> = BTreeSet::new();
    let mut references = BTreeMap::new();
    for (name, slots) in names {
        if let Some(reference) = stated(name) {
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
        let slot = u16::try_from(next).ok().filter(|_| next + slots <= Ref::SLOTS)?;
        references.insert((*name).to_owned(), Ref::new(slot, 1));
        next += slots;
    }
    Some(references)
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
        assert_eq!(assigned(&[("a", 40_000), ("b", 40_000)]), None);
    }

    #[test]
    fn only_references_are_stated() {
        assert_eq!(stated("#65535.7"), Some(Ref::new(65535, 7)));
        for name in ["#1", "#1.0", "1.1", "#01.1", "#1.+1", "#65536.1", "#"] {
            assert_eq!(stated(name), None, "{name}");
        }
    }
}
