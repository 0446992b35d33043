//! `ArrayLogic` and `SensitiveArrays` against a model; objects of one use; keys that share a curve.

use std::sync::OnceLock;

use norn_card_linker::{LinkedPackage, link};
use norn_card_vm::Card;

use crate::javac::sources;
use crate::{TestCard, aid, ask, config, linked, new_card, objects, read, seeds, select, send, status};

const ARRAYS: [u8; 7] = [0xF0, 0, 0, 0, 0x31, 0, 1];
/// Bytes of an element of each array, on flash and in RAM in turn; null; of booleans.
const WIDTHS: [usize; 8] = [1, 1, 2, 2, 4, 4, 0, 0];
const NULL: usize = 6;
const BYTES: usize = 24;

const BOUNDS: u16 = 0x8001;
const IS_NULL: u16 = 0x8002;
const ILLEGAL_VALUE: u16 = 0x8011;
const MISMATCHED: u16 = 0x8012;

fn package() -> &'static LinkedPackage {
    static PACKAGE: OnceLock<LinkedPackage> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let linked = linked();
        let texts = [("arrays/Arrays.java", include_str!("../programs/card/arrays/Arrays.java"))];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let exports = std::slice::from_ref(&linked.api.exports);
        link(&read(&classes), exports, &config(&ARRAYS[..6], &[(&ARRAYS, "arrays/Arrays")]))
            .unwrap_or_else(|error| panic!("{error}"))
    })
}

fn card_with_arrays() -> TestCard {
    let mut card = new_card();
    card.install_package(&package().image).unwrap();
    card.install_applet(aid(&ARRAYS), aid(&ARRAYS), &[]).unwrap();
    assert_eq!(status(&mut card, &select(&ARRAYS)), 0x9000);
    card
}

/// A call: array, first element, elements, other array, first element there; a value to find.
#[derive(Clone, Copy, Debug)]
struct Call {
    array: usize,
    first: i16,
    count: i16,
    other: usize,
    start: i16,
    value: [u8; 4],
}

/// The arrays as big-endian bytes.
type Arrays = [[u8; BYTES]; 6];

fn range(array: usize, first: i16, count: i16) -> Result<std::ops::Range<usize>, u16> {
    let width = WIDTHS[array];
    match (usize::try_from(first), usize::try_from(count)) {
        (Ok(first), Ok(count)) if (first + count) * width <= BYTES => Ok(first * width..(first + count) * width),
        _ => Err(BOUNDS),
    }
}

fn width(array: usize) -> Result<usize, u16> {
    match WIDTHS[array] {
        0 if array == NULL => Err(IS_NULL),
        0 => Err(ILLEGAL_VALUE),
        width => Ok(width),
    }
}

/// What a call answers and does.
fn operate(arrays: &mut Arrays, operation: u8, call: Call) -> Result<u16, u16> {
    let Call { array, first, count, other, start, value } = call;
    match operation {
        1 | 2 => {
            let (from, to) = (width(array)?, width(other)?);
            let source = range(array, first, count)?;
            if source.len() % to != 0 {
                return Err(ILLEGAL_VALUE);
            }
            let moved = (source.len() / to) as i16;
            let target = range(other, start, moved)?;
            assert!(from > 0);
            let bytes = arrays[array][source].to_vec();
            arrays[other][target].copy_from_slice(&bytes);
            Ok((start + moved) as u16)
        }
        3 | 4 => {
            if width(array)? != width(other)? {
                return Err(MISMATCHED);
            }
            let target = range(array, first, count)?;
            let value = arrays[other][range(other, start, 1)?].to_vec();
            arrays[array][target].chunks_mut(value.len()).for_each(|element| element.copy_from_slice(&value));
            Ok((first + count) as u16)
        }
        5 => {
            let of = width(array)?;
            if of != width(other)? {
                return Err(MISMATCHED);
            }
            let one = arrays[array][range(array, first, count)?].to_vec();
            let other = &arrays[other][range(other, start, count)?];
            // Bytes without a sign, others with one.
            let flip = if of == 1 { 0 } else { 0x80 };
            let key = |bytes: &[u8]| -> Vec<u8> {
                (0..).zip(bytes).map(|(at, byte)| if at % of == 0 { byte ^ flip } else { *byte }).collect()
            };
            Ok(key(&one).cmp(&key(other)) as i8 as i16 as u16)
        }
        6 => {
            let of = width(array)?;
            let from = range(array, first, 0)?.start;
            let found = arrays[array][from..].chunks(of).position(|element| *element == value[..of]);
            Ok(found.map_or(0xFFFF, |at| (from / of + at) as u16))
        }
        _ => {
            let of = width(array)?;
            arrays[array] = [0; BYTES];
            Ok((BYTES / of) as u16)
        }
    }
}

#[test]
fn arrays_of_all_types_are_as_in_the_model() {
    let mut card = card_with_arrays();
    let run = seeds(0..1, "-p norn-card-linker --test card arrays_of_all").next().unwrap();
    let mut random = run.random();
    let mut model: Arrays = [[0; BYTES]; 6];
    let mut seen = std::collections::BTreeMap::new();
    for step in 0..1_500 {
        let bound = |array: usize| BYTES / WIDTHS[array].max(1);
        let (array, other) = (random.usize(0..8), random.usize(0..8));
        let edge = |random: &mut fastrand::Rng, most: usize| match random.u8(0..20) {
            0 => random.i16(..),
            _ => random.i16(0..=most as i16),
        };
        let first = edge(&mut random, bound(array) / 2);
        let count = edge(&mut random, bound(array) / 2);
        let start = edge(&mut random, bound(other) / 2);
        let mut value = [0; 4];
        random.fill(&mut value);
        if array < NULL && random.bool() {
            let at = random.usize(0..bound(array)) * WIDTHS[array];
            value[..WIDTHS[array]].copy_from_slice(&model[array][at..at + WIDTHS[array]]);
        }
        let call = Call { array, first, count, other, start, value };
        let operation = random.u8(1..8);
        if operation == 7 && array >= NULL {
            // Others are cleared, too, which the model has none of.
            continue;
        }
        let is_undone = random.u8(0..4) == 0;
        let before = model;
        let expected = operate(&mut model, operation, call).unwrap_or_else(|error| error);
        let changed = if matches!(operation, 1 | 2) { other } else { array };
        if is_undone && matches!(operation, 1 | 3 | 7) && changed < NULL && changed % 2 == 0 {
            model = before;
        }
        let [first, count, start] = [first, count, start].map(i16::to_be_bytes);
        let data = [&[array as u8][..], &first, &count, &[other as u8], &start, &value].concat();
        let head = [0x80, 3, operation | if is_undone { 0x40 } else { 0 }, 0, data.len() as u8];
        let (answer, status) = send(&mut card, &[&head[..], &data, &[0]].concat()).unwrap();
        assert_eq!(status, 0x9000, "step {step}: {operation} {call:?}");
        let answered = u16::from_be_bytes([answer[0], answer[1]]);
        assert_eq!(answered, expected, "step {step}: {operation} {call:?}");
        *seen.entry((operation, answered.max(0x7FFF))).or_insert(0) += 1;
        if changed < NULL {
            assert_eq!(
                send(&mut card, &[0x80, 2, changed as u8, 0, 0]).unwrap().0,
                model[changed],
                "step {step}: {operation} {call:?}, undone: {is_undone}"
            );
        }
        if step % 100 == 0 {
            // New contents, and what RAM has is gone with the power.
            card.reset().unwrap();
            status_of_new(&mut card, &mut model, &mut random);
        }
    }
    for operation in 1..=6 {
        for outcome in [0x7FFF, BOUNDS, IS_NULL, ILLEGAL_VALUE] {
            assert!(seen.contains_key(&(operation, outcome)), "{operation} never ended with {outcome:04x}: {seen:x?}");
        }
    }
}

fn status_of_new(card: &mut TestCard, model: &mut Arrays, random: &mut fastrand::Rng) {
    assert_eq!(status(card, &select(&ARRAYS)), 0x9000);
    for (number, array) in model.iter_mut().enumerate() {
        if number % 2 == 1 {
            *array = [0; BYTES];
            assert_eq!(send(card, &[0x80, 2, number as u8, 0, 0]).unwrap().0, *array);
        }
        // Few values, so that some are equal.
        array.iter_mut().for_each(|byte| *byte = [0, 1, 0x7F, 0x80, 0xFF][random.usize(0..5)]);
        let command = [&[0x80, 1, number as u8, 0, BYTES as u8][..], array].concat();
        assert_eq!(status(card, &command), 0x9000);
    }
}

#[test]
fn objects_of_one_use_do_what_others_do_and_leave_nothing() {
    let mut card = card_with_arrays();
    assert_eq!(ask(&mut card, 4), 0x3FFu16.to_be_bytes());
    let before = objects(&mut card);
    for _ in 0..10 {
        assert_eq!(ask(&mut card, 4), 0x3FFu16.to_be_bytes());
    }
    assert_eq!(objects(&mut card), before);
}

#[test]
fn keys_share_the_curve_of_another() {
    let mut card = card_with_arrays();
    for _ in 0..2 {
        assert_eq!(ask(&mut card, 5), 0x3FFu16.to_be_bytes());
    }
}

#[test]
fn classes_of_commands_are_read_as_in_iso_7816() {
    let mut card = card_with_arrays();
    for class in 0..=255u8 {
        let is_further = class & 0x40 != 0;
        let channel = if is_further { 4 + (class & 15) } else { class & 3 };
        let is_secure = class & if is_further { 0x20 } else { 0x0C } != 0;
        let is_valid = class != 0xFF && class >> 5 != 1;
        let flags = u8::from(is_secure)
            | u8::from(class & 0x10 != 0) << 1
            | u8::from(class < 0x80) << 2
            | u8::from(is_valid) << 3;
        assert_eq!(send(&mut card, &[0x80, 6, class, 0, 2]).unwrap(), (vec![channel, flags], 0x9000), "{class:02x}");
    }
}
