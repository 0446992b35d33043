//! Keys sort as their bytes do, and keys and values come back as they were; bytes that are nothing of a type say so.

use std::cmp::Reverse;
use std::fmt::Debug;
use std::time::Duration;

use norn_conformance::seeds;
use norn_ordered_index::{Key, Text, TooLong, Value};

fn bytes_of<T: Value>(value: &T) -> Vec<u8> {
    let mut bytes = vec![0xA5; T::BYTES]; // all of them are written
    value.encode(&mut bytes).unwrap();
    bytes
}

/// Each with each.
fn sorts_as_its_bytes<K: Key + Debug>(keys: &[K]) {
    for key in keys {
        assert_eq!(K::decode(&bytes_of(key)).as_ref(), Some(key));
        for other in keys {
            assert_eq!(bytes_of(key).cmp(&bytes_of(other)), key.cmp(other), "{key:?} and {other:?}");
        }
    }
}

/// Numbers that are near each other, near a power of 2, or anything.
fn number(random: &mut fastrand::Rng) -> u128 {
    match random.u8(0..3) {
        0 => random.u128(0..4),
        1 => (1 << random.u32(0..128)) - random.u128(0..2),
        _ => random.u128(..) >> random.u32(0..128),
    }
}

#[test]
fn numbers_sort_as_their_bytes() {
    for run in seeds(0..20, "-p norn-ordered-index --test suite typed_keys::numbers") {
        let mut random = run.random();
        let numbers: Vec<u128> = (0..60).map(|_| number(&mut random)).collect();
        macro_rules! try_all {
            ($($number:ty)*) => {$(
                let keys: Vec<$number> = numbers.iter().flat_map(|&number| {
                    [number as $number, !number as $number, <$number>::MIN, <$number>::MAX]
                }).collect();
                sorts_as_its_bytes(&keys);
                sorts_as_its_bytes(&keys.into_iter().map(Reverse).collect::<Vec<_>>());
            )*};
        }
        try_all!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);
    }
    assert_eq!(bytes_of(&0x0102_i16), [0x81, 2]);
    assert_eq!(bytes_of(&-1_i8), [0x7F]);
}

#[test]
fn what_is_made_of_others_sorts_by_the_first_one_first() {
    for run in seeds(0..20, "-p norn-ordered-index --test suite made_of_others") {
        let mut random = run.random();
        let mut keys = || {
            let pair = (number(&mut random) as i16, random.bool());
            let name = Text::<5>::new(&"Verðandi"[..[0, 1, 3, 5][random.usize(0..4)]]).unwrap();
            let time = Duration::new(random.u64(0..3), random.u32(0..1_000_000_000));
            ((pair, Reverse(name), random.char('\u{70}'..'\u{90}')), (time, [random.u8(..), 7], 1_u8, random.u8(..2)))
        };
        let keys: Vec<_> = (0..60).map(|_| keys()).collect();
        sorts_as_its_bytes(&keys.iter().map(|key| key.0).collect::<Vec<_>>());
        sorts_as_its_bytes(&keys.iter().map(|key| key.1).collect::<Vec<_>>());
        sorts_as_its_bytes(&keys);
        sorts_as_its_bytes(&keys.into_iter().map(Reverse).collect::<Vec<_>>());
    }
}

#[test]
fn texts_are_names() {
    let texts: Vec<_> = ["", "U", "Urd", "Urdr", "urd", "Ürd"].map(|text| Text::<4>::new(text).unwrap()).into();
    sorts_as_its_bytes(&texts);
    assert!(texts.is_sorted());
    assert_eq!(format!("{} {:?}", texts[2], texts[5]), "Urd \"Ürd\"");
    assert_eq!((Text::<4>::new("Skuld"), Text::<4>::new("a\0"), Text::<3>::new("Ürd")), (None, None, None));
}

#[test]
fn bytes_that_are_nothing_of_a_type_say_so() {
    assert_eq!(bool::decode(&[2]), None);
    assert_eq!(char::decode(&0xD800_u32.to_be_bytes()), None);
    assert_eq!(Duration::decode(&bytes_of(&(1_u64, 1_000_000_000_u32))), None);
    assert_eq!(Text::<2>::decode(&[0xC3, 0]), None, "half a character");
    assert_eq!(Text::<3>::decode(b"a\0b"), None);
    assert_eq!(<(bool, u8)>::decode(&[3, 0]), None);
    assert_eq!((u32::decode(&[0; 3]), <(u8, u8)>::decode(&[0; 3]), <()>::decode(&[0])), (None, None, None));
    assert_eq!(
        (<(u8, u8)>::decode(&[0]), Reverse::<u8>::decode(&[0; 200]), Text::<2>::decode(&[0])),
        (None, None, None)
    );
}

#[test]
fn values_come_back() {
    for number in [0.0, -0.0, 1.5e300, f64::MIN, f64::INFINITY] {
        assert_eq!(f64::decode(&bytes_of(&number)).map(f64::to_bits), Some(number.to_bits()));
    }
    assert_eq!(f32::decode(&bytes_of(&-21.5_f32)), Some(-21.5));
    let value = ((), (1_u8, 2_i32, 0.5_f32), [3; 4], true);
    assert_eq!(Value::decode(&bytes_of(&value)), Some(value));
}

#[cfg(feature = "zerocopy")]
#[test]
fn structures_are_values_as_they_lie_in_memory() {
    use norn_ordered_index::Plain;
    use zerocopy::little_endian::U16;
    use zerocopy::{Immutable, IntoBytes, TryFromBytes};

    #[derive(Clone, Copy, Debug, PartialEq, Eq, IntoBytes, TryFromBytes, Immutable)]
    #[repr(u8)]
    enum State {
        Off = 1,
        On = 2,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, IntoBytes, TryFromBytes, Immutable)]
    #[repr(C)]
    struct Lamp {
        state: State,
        brightness: U16,
    }

    let lamp = Plain(Lamp { state: State::On, brightness: U16::new(0x0102) });
    assert_eq!(bytes_of(&lamp), [2, 2, 1]);
    assert_eq!(Value::decode(&[2, 2, 1]), Some(lamp));
    assert_eq!((Plain::<Lamp>::decode(&[3, 2, 1]), Plain::<Lamp>::decode(&[1, 2])), (None, None));
    assert_eq!(Plain::<Lamp>::decode(&[1, 0, 0]), Some(Plain(Lamp { state: State::Off, brightness: U16::new(0) })));
}

#[cfg(feature = "postcard")]
#[test]
fn what_serde_serialises_is_a_value_within_its_bytes() {
    use norn_ordered_index::Postcard;

    type Names = Postcard<Option<(u32, Text12)>, 12>;
    type Text12 = std::string::String;
    let names = |text: &str| Postcard(Some((300, text.to_owned())));
    let found: Names = Value::decode(&bytes_of::<Names>(&names("Urd"))).unwrap();
    assert_eq!(found, names("Urd"));
    assert_eq!(bytes_of::<Names>(&names("Urd")), [1, 0xAC, 2, 3, b'U', b'r', b'd', 0, 0, 0, 0, 0]);
    assert_eq!(bytes_of::<Names>(&names("Verdandi")).len(), 12, "just fits");
    assert_eq!(Names::encode(&names("Verdandi!"), &mut [0; 12]), Err(TooLong));
    assert_eq!(Names::decode(&[2; 12]), None);
}

#[cfg(not(feature = "postcard"))]
#[test]
fn a_value_of_a_fixed_length_fits() {
    assert_eq!(7_u8.encode(&mut [0]), Ok::<(), TooLong>(()));
}
