//! Tests of the bits and codes on flash.

use norn_flash::EraseUnit;

use super::*;
use crate::log_record::{Record, Tails};

/// Every torn state of a place, a subset of the bits that it was to clear, is no valid place.
#[test]
fn no_torn_place_is_whole() {
    let mut random = fastrand::Rng::with_seed(7);
    for granule_bytes in [4, 8, 16, 32] {
        for _ in 0..20_000 {
            let bytes: [u8; 2] = [random.u8(..), random.u8(..)];
            let bytes = if granule_bytes == 4 { &[][..] } else { &bytes };
            let content = random.u32(..1 << 27);
            let granule = &Place::encode(granule_bytes, content, bytes)[..granule_bytes as usize];
            assert!(matches!(Place::decode(granule), Place::Whole(found) if found == content));
            let torn: [u8; 32] = std::array::from_fn(|at| granule.get(at).map_or(0, |byte| byte | random.u8(..)));
            let torn = &torn[..granule_bytes as usize];
            let is_whole = matches!(Place::decode(torn), Place::Whole(_));
            assert_eq!(is_whole, torn == granule, "{content:#x} torn to {torn:x?}");
        }
    }
}

#[test]
fn what_is_encoded_is_decoded() {
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..10_000 {
        let owner = Owner { level: random.u8(0..5), index: random.u16(..) };
        let entry = Entry::from_bits(random.u32(..1 << 23));
        let unit = EraseUnit(random.u16(..));
        for record in [
            Record::Rewrite(owner),
            Record::Append(owner.index),
            Record::Root(entry),
            Record::Next(unit),
            Record::Found(entry),
            Record::End,
            Record::Quiet,
            Record::Note(owner.index, unit.0 as u8 % 33),
            Record::Replace(owner.index, unit.0 as u8 % 33),
            Record::Before(entry),
            Record::Done,
            Record::From(Granule(unit.0.into())),
            Record::Tails(Tails::Named),
            Record::Tails(Tails::Any),
            Record::Tails(Tails::From(owner.index >> 4)),
        ] {
            assert_eq!(Record::from_content(record.to_content()), Some(record));
        }
        let change = Change { digit: random.u32(..16), entry };
        assert_eq!(Change::from_content(change.to_content()), change);
        let header = Header {
            kind: [SectorKind::Uniform, SectorKind::Various, SectorKind::Headed, SectorKind::Node][random.usize(..4)],
            class: [Class::Object, Class::Array, Class::Split, Class::Section][random.usize(..4)],
            index: random.u16(..),
            generation: random.u16(..),
            count: random.u8(..),
            width: random.u8(..),
            tail: random.u8(..64),
        };
        assert_eq!(Header::decode(&header.encode()), Some(header));
    }
}
