//! `BigNumber`, `BCDUtil` and `ParityBit` against numbers of Rust's; tags, lengths and values against a reader and a
//! writer of their own.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use norn_card_linker::{LinkedPackage, link};
use norn_card_vm::Card;
use norn_conformance::seeds;

use crate::javac::sources;
use crate::{TestCard, aid, ask, config, linked, new_card, objects, read, select, send, status};

const VALUES: [u8; 7] = [0xF0, 0, 0, 0, 0x32, 0, 1];
const FAILED: u16 = 0x8000;
const MALFORMED_TAG: u16 = 5;
const MALFORMED: u16 = 6;
const LARGE_NUMBER: u16 = 9;
/// Constructed objects around another.
const DEPTH_MAX: usize = 4;
const LARGE_LENGTH: u16 = 11;

fn package() -> &'static LinkedPackage {
    static PACKAGE: OnceLock<LinkedPackage> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let linked = linked();
        let texts = [("values/Values.java", include_str!("../programs/card/values/Values.java"))];
        let (_, classes) = sources(&texts, &[&linked.lang, &linked.main]);
        let exports = std::slice::from_ref(&linked.api.exports);
        link(&read(&classes), exports, &config(&VALUES[..6], &[(&VALUES, "values/Values")]))
            .unwrap_or_else(|error| panic!("{error}"))
    })
}

fn card_with_values() -> TestCard {
    let mut card = new_card();
    card.install_package(&package().image).unwrap();
    card.install_applet(aid(&VALUES), aid(&VALUES), &[]).unwrap();
    assert_eq!(status(&mut card, &select(&VALUES)), 0x9000);
    card
}

fn command(card: &mut TestCard, head: [u8; 3], data: &[u8]) -> Vec<u8> {
    let [instruction, first, second] = head;
    let head_bytes = [0x80, instruction, first, second];
    let command = match data.len() {
        0 => [&head_bytes[..], &[0]].concat(),
        length => [&head_bytes[..], &[length as u8], data, &[0]].concat(),
    };
    let (answer, status) = send(card, &command).unwrap();
    assert_eq!(status, 0x9000, "{head:02x?} {data:02x?}");
    answer
}

/// A number's bytes, with zeros before it.
fn hexadecimal(number: u128, bytes: usize) -> Vec<u8> {
    number.to_be_bytes()[16 - bytes..].to_vec()
}

/// A number's decimals, with zeros before it.
fn decimal(number: u128, bytes: usize) -> Vec<u8> {
    let text = format!("{number:0width$}", width = 2 * bytes);
    let digit = |byte: &u8| byte - b'0';
    text.as_bytes().chunks(2).map(|pair| digit(&pair[0]) << 4 | digit(&pair[1])).collect()
}

const BYTES: usize = 12;

/// The number of the card, and the greatest that it may be.
struct Number {
    value: u128,
    maximum: u128,
}

impl Number {
    fn keep(&mut self, result: Option<u128>) -> Option<u16> {
        self.value = result.filter(|value| *value <= self.maximum)?;
        Some(0)
    }

    /// What an operation answers; none where it is refused.
    fn operate(&mut self, operation: u8, operand: u128) -> Option<u16> {
        let order = |one: u128, other: u128| one.cmp(&other) as i16;
        let fits = |bytes: u32| operand >> (8 * bytes) == 0;
        match operation {
            0 | 11 if !fits(BYTES as u32) || operand > self.maximum => None,
            0 => self.keep(Some(operand)),
            1..=3 if !fits(BYTES as u32) => None,
            1 => self.keep(self.value.checked_add(operand)),
            2 => self.keep(self.value.checked_sub(operand)),
            3 => self.keep(self.value.checked_mul(operand)),
            4 if !fits(BYTES as u32) || operand < self.value => None,
            4 => {
                self.maximum = operand;
                Some(0)
            }
            5 => Some(order(self.value, operand) as u16),
            6 if !fits(4) => None,
            6 | 7 => Some((order(self.value, operand) + 3 * order(operand, self.value)) as u16),
            8 => self.keep(Some(0)),
            9 => None,
            _ => Some(0),
        }
    }
}

#[test]
fn large_numbers_are_computed_as_in_the_model() {
    let mut card = card_with_values();
    let run = seeds(0..1, "-p norn-card-linker --test card large_numbers").next().unwrap();
    let mut random = run.random();
    let whole = u128::MAX >> (128 - 8 * BYTES);
    let mut model = Number { value: 0, maximum: whole };
    let mut seen: BTreeMap<(u8, bool), u32> = BTreeMap::new();
    for step in 0..1_500 {
        if step % 100 == 99 {
            // The power goes; what is on flash stays.
            card.reset().unwrap();
            assert_eq!(status(&mut card, &select(&VALUES)), 0x9000);
        }
        let operation = if step % 300 == 0 { 4 } else { random.u8(0..12) };
        let operand = match (random.u8(0..8), operation) {
            // The greatest value grows back now and then.
            (_, 4) if step % 300 == 0 => whole,
            (0, _) => model.value,
            (1, _) => model.maximum,
            (2, 3) => random.u128(0..3),
            (3, _) => random.u128(..) >> random.u8(24..128),
            (_, 3) => random.u128(..) >> random.u8(64..128),
            (_, 2) => random.u128(..=model.value.max(1)),
            _ => random.u128(..) >> random.u8(33..128),
        };
        let is_decimal = random.bool() && operand < 10u128.pow(36);
        let data = if is_decimal { decimal(operand, 18) } else { hexadecimal(operand, 16) };
        // Zeros before the number are left out, most of the time.
        let zeros = data.iter().take_while(|byte| **byte == 0).count().min(data.len() - 1);
        let data = if operation == 10 { vec![0, 12] } else { data[random.usize(0..=zeros)..].to_vec() };
        let expected = match operation {
            10 => Some(128),
            _ => model.operate(operation, operand),
        };
        let answer = command(&mut card, [1, operation, if is_decimal { 1 } else { 2 }], &data);
        let context = format!("step {step}: {operation} {operand}, {}", run.replay());
        assert_eq!(answer[..2], expected.unwrap_or(FAILED).to_be_bytes(), "{context}");
        *seen.entry((operation, expected.is_some())).or_default() += 1;
        assert_eq!(answer[2..2 + BYTES], hexadecimal(model.value, BYTES), "{context}");
        let digits = &answer[3 + BYTES..];
        assert_eq!(digits, decimal(model.value, digits.len()), "{context}");
        let bytes = |number: u128, base: u128| 1 + (1u32..).find(|at| number / base.pow(*at) == 0).unwrap() - 1;
        assert_eq!(u32::from(answer[2 + BYTES]), bytes(model.value, 256), "{context}");
        assert_eq!(digits.len() as u32, bytes(model.value, 100) + 1, "{context}");
    }
    for operation in 0..=6 {
        let refused = operation != 5;
        assert!(seen.contains_key(&(operation, true)), "{operation}: {seen:?}");
        assert_eq!(seen.contains_key(&(operation, false)), refused, "{operation}: {seen:?}");
    }
}

#[test]
fn what_is_no_number_is_refused() {
    let mut card = card_with_values();
    let refused = |card: &mut TestCard, head: [u8; 2], data: &[u8], reason: u16| {
        let answer = command(card, [1, head[0], head[1]], data);
        assert_eq!(answer[..2], reason.to_be_bytes(), "{head:?} {data:02x?}");
        assert_eq!(answer[2..14], [0; 12]);
    };
    for operation in 0..=7 {
        refused(&mut card, [operation, 1], &[0x1A], FAILED);
        refused(&mut card, [operation, 1], &[0xA1], FAILED);
        refused(&mut card, [operation, 2], &[], FAILED);
        refused(&mut card, [operation, 3], &[1], FAILED);
    }
    refused(&mut card, [12, 2], &[1; 7], FAILED + 1);
    for bytes in [[0, 0], [1, 1], [2, 0]] {
        refused(&mut card, [10, 2], &bytes, FAILED);
    }
    refused(&mut card, [10, 2], &[1, 0], 128);
}

#[test]
fn decimals_are_converted_both_ways() {
    let mut card = card_with_values();
    let run = seeds(0..1, "-p norn-card-linker --test card decimals_are").next().unwrap();
    let mut random = run.random();
    let without_zeros = |bytes: Vec<u8>| {
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count().min(bytes.len() - 1);
        bytes[zeros..].to_vec()
    };
    let edges = [0, 9, 10, 99, 100, 255, 256, u128::from(u32::MAX), 1 << 32, u128::from(u64::MAX), 1 << 64];
    for step in 0..400 {
        let number = edges.get(step).copied().unwrap_or_else(|| random.u128(..) >> random.u8(63..128));
        let to = random.u8(0..2);
        let answer = |result: Vec<u8>| [&(result.len() as u16).to_be_bytes()[..], &result].concat();
        let refused = FAILED.to_be_bytes().to_vec();
        let fits = number <= u128::from(u64::MAX);
        let from = without_zeros(hexadecimal(number, 16));
        let expected = if fits { answer(without_zeros(decimal(number, 20))) } else { refused.clone() };
        let zeros = vec![0; random.usize(0..3)];
        assert_eq!(command(&mut card, [2, 1, to], &[&zeros[..], &from].concat()), expected, "{number}");
        let from = without_zeros(decimal(number, 20));
        let expected = if fits { answer(without_zeros(hexadecimal(number, 16))) } else { refused };
        assert_eq!(command(&mut card, [2, 0, to], &[&zeros[..], &from].concat()), expected, "{number}");
    }
    for (data, result) in [(&[0x12, 0x99][..], 1), (&[0x1A], 0), (&[0xA1], 0), (&[], FAILED)] {
        let answer = command(&mut card, [2, 2, 0], data);
        assert_eq!(answer[..2], result.to_be_bytes(), "{data:02x?}");
    }
    assert_eq!(command(&mut card, [2, 0, 0], &[0x12, 0xB0]), FAILED.to_be_bytes());
    assert_eq!(command(&mut card, [2, 1, 0], &[]), FAILED.to_be_bytes());
}

#[test]
fn each_byte_gets_the_parity_that_is_asked_for() {
    let mut card = card_with_values();
    let all: Vec<u8> = (0..=127).collect();
    for (is_even, offset) in [(0, 0), (1, 0), (0, 128), (1, 128)] {
        let given: Vec<u8> = all.iter().map(|byte| byte + offset).collect();
        let answer = command(&mut card, [3, is_even, 0], &given);
        for (before, after) in given.iter().zip(answer) {
            assert_eq!(before >> 1, after >> 1);
            assert_eq!(after.count_ones() % 2, u32::from(is_even == 0), "{before:02x} to {after:02x}");
        }
    }
}

/// What a tag at the start of bytes is: its bytes and number, or the reason why it is none.
fn tag(bytes: &[u8]) -> Result<(usize, u32), u16> {
    let first = bytes.first().ok_or(FAILED + 0x100)?;
    if first & 0x1F != 0x1F {
        return Ok((1, u32::from(first & 0x1F)));
    }
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        if at == 1 && *byte == 0x80 {
            return Err(FAILED + MALFORMED_TAG);
        }
        number = number << 7 | u32::from(byte & 0x7F);
        if number > 32767 {
            return Err(FAILED + LARGE_NUMBER);
        }
        if byte & 0x80 == 0 {
            return Ok((at + 1, number));
        }
    }
    Err(FAILED + MALFORMED_TAG)
}

/// Lengths of tag and length, and of the value.
fn head(bytes: &[u8]) -> Result<(usize, usize), u16> {
    let (tag, _) = tag(bytes)?;
    let first = *bytes.get(tag).ok_or(FAILED + MALFORMED)?;
    if first < 0x80 {
        return Ok((tag + 1, usize::from(first)));
    }
    let more = usize::from(first & 0x7F);
    if !(1..=4).contains(&more) {
        return Err(FAILED + MALFORMED);
    }
    let mut length = 0;
    for at in 0..more {
        length = length << 8 | usize::from(*bytes.get(tag + 1 + at).ok_or(FAILED + MALFORMED)?);
        if length > 32767 {
            return Err(FAILED + LARGE_LENGTH);
        }
    }
    Ok((tag + 1 + more, length))
}

/// All of a range again, with the shortest lengths; or why it is not one after the other.
fn again(mut bytes: &[u8], depth: usize) -> Result<Vec<u8>, u16> {
    let mut written = Vec::new();
    while !bytes.is_empty() {
        let (head, length) = head(bytes)?;
        let value = bytes.get(head..head + length).ok_or(FAILED + MALFORMED)?;
        let value = match bytes[0] & 0x20 {
            0 => value.to_vec(),
            _ if depth == DEPTH_MAX => return Err(FAILED + MALFORMED),
            _ => again(value, depth + 1)?,
        };
        written.extend(encoded(&bytes[..tag(bytes)?.0], &value, 0));
        bytes = &bytes[head + length..];
    }
    Ok(written)
}

/// A value with its tag, and more bytes of the length than it takes.
fn encoded(tag: &[u8], value: &[u8], more: usize) -> Vec<u8> {
    let length = value.len();
    let shortest = if length < 0x80 {
        0
    } else if length < 0x100 {
        1
    } else {
        2
    };
    let bytes = &(length as u32).to_be_bytes()[4 - (shortest + more).min(4)..];
    let form = if bytes.is_empty() { vec![length as u8] } else { [&[0x80 | bytes.len() as u8], bytes].concat() };
    [tag, &form, value].concat()
}

/// A tag; `form` is 0x20 for a constructed one, else 0.
fn drawn_tag(random: &mut fastrand::Rng, form: u8) -> Vec<u8> {
    let first = random.u8(..) & 0xC0 | form;
    match random.u8(0..4) {
        0 => vec![first | 0x1F, random.u8(1..0x80)],
        1 => vec![first | 0x1F, random.u8(0x81..0x90), random.u8(..0x80)],
        2 => vec![first | 0x1F, 0x81, random.u8(0x80..), random.u8(..0x80)],
        _ => vec![first | random.u8(0..31)],
    }
}

fn drawn(random: &mut fastrand::Rng, depth: usize) -> Vec<u8> {
    let is_constructed = random.u8(0..10) < 7 && depth < 10;
    let tag = drawn_tag(random, if is_constructed { 0x20 } else { 0 });
    let value = match is_constructed {
        true => {
            let depths: Vec<usize> = (0..random.u8(0..4)).map(|_| depth + 1 + random.usize(0..3)).collect();
            depths.into_iter().flat_map(|depth| drawn(random, depth)).collect()
        }
        false => {
            let bytes = random.usize(0..4) * if random.u8(0..20) == 0 { 50 } else { 1 };
            (0..bytes).map(|_| random.u8(..)).collect::<Vec<u8>>()
        }
    };
    encoded(&tag, &value, if random.u8(0..8) == 0 { random.usize(1..4) } else { 0 })
}

#[test]
fn values_are_read_and_written_as_in_the_model() {
    let mut card = card_with_values();
    let run = seeds(0..1, "-p norn-card-linker --test card values_are_read").next().unwrap();
    let mut random = run.random();
    let before = objects(&mut card);
    let mut seen: BTreeMap<u16, u32> = BTreeMap::new();
    for step in 0..600 {
        let mut bytes = drawn(&mut random, 0);
        if bytes.len() > 200 {
            continue;
        }
        // Half of them are damaged, or cut, or longer than they say.
        match random.u8(0..9) {
            0 => {
                let at = random.usize(0..bytes.len());
                bytes[at] = random.u8(..);
            }
            3 | 4 => {
                // A length that is one more, in many of the cases.
                let at = random.usize(0..bytes.len());
                bytes[at] = bytes[at].wrapping_add(1);
            }
            1 => bytes.truncate(random.usize(1..=bytes.len())),
            2 => bytes.push(random.u8(..)),
            _ => {}
        }
        let first = head(&bytes).map(|(head, length)| head + length);
        let expected = match first {
            Err(reason) => Err(reason),
            Ok(end) if end != bytes.len() => Err(FAILED + MALFORMED),
            Ok(_) => again(&bytes, 0),
        };
        let context = format!("step {step}: {bytes:02x?}, {}", run.replay());
        let answer = command(&mut card, [4, 0, 0], &bytes);
        match expected {
            Ok(written) => {
                let (head_bytes, length) = head(&written).unwrap();
                assert_eq!(head_bytes + length, written.len());
                let lengths = [1, length as u16, head(&bytes).unwrap().1 as u16].map(u16::to_be_bytes).concat();
                assert_eq!(answer, [&lengths[..], &written].concat(), "{context}");
                *seen.entry(0).or_default() += 1;
            }
            Err(reason) => {
                let answered = u16::from_be_bytes([answer[2], answer[3]]);
                assert_eq!((&answer[..2], answered), (&[0, 0][..], reason), "{context}");
                *seen.entry(reason).or_default() += 1;
            }
        }
    }
    assert!(seen[&0] > 150, "{seen:x?}");
    for reason in [MALFORMED, LARGE_LENGTH, MALFORMED_TAG, LARGE_NUMBER] {
        let seldom = reason == MALFORMED_TAG || reason == LARGE_NUMBER;
        assert!(seldom || seen.contains_key(&(FAILED + reason)), "{reason}: {seen:x?}");
    }
    assert_eq!(objects(&mut card), before, "what was made is deleted on request");
}

#[test]
fn tags_of_all_forms_are_read() {
    let mut card = card_with_values();
    let run = seeds(0..1, "-p norn-card-linker --test card tags_of_all").next().unwrap();
    let mut random = run.random();
    let mut tags: Vec<Vec<u8>> = (0..=255).map(|first| vec![first, 0x02, 0, 0, 0]).collect();
    tags.extend((0..200).map(|_| {
        let is_constructed = random.bool();
        drawn_tag(&mut random, if is_constructed { 0x20 } else { 0 })
    }));
    tags.extend([vec![0x9F, 0x80, 0x01], vec![0x9F, 0x81, 0xFF, 0x7F], vec![0x9F, 0x82, 0x80, 0x00], vec![0x1F; 4]]);
    for mut bytes in tags {
        // The room of the applet goes on with zeros.
        bytes.resize(8, 0);
        let answer = command(&mut card, [5, 0, 0], &bytes);
        let (size, number) = match tag(&bytes) {
            Ok(found) => found,
            Err(reason) => {
                assert_eq!(answer, [&[0, 0][..], &reason.to_be_bytes()].concat(), "{bytes:02x?}");
                continue;
            }
        };
        let first = bytes[0];
        let form = [&[size as u8, first >> 6, first >> 5 & 1][..], &(number as u16).to_be_bytes()].concat();
        let shortest = match number {
            0..31 => vec![first & 0xE0 | number as u8],
            31..128 => vec![first | 0x1F, number as u8],
            128..0x4000 => vec![first | 0x1F, 0x80 | (number >> 7) as u8, number as u8 & 0x7F],
            _ => vec![first | 0x1F, 0x80 | (number >> 14) as u8, 0x80 | (number >> 7) as u8, number as u8 & 0x7F],
        };
        assert_eq!(answer, [&[0, 1][..], &form, &bytes[..size], &form, &shortest].concat(), "{bytes:02x?}");
    }
}

#[test]
fn values_of_objects_and_arrays_are_changed() {
    let mut card = card_with_values();
    let before = objects(&mut card);
    let mut nested = vec![0x6F, 7, 0x9F, 0x28, 1, 5, 4, 1, 7];
    nested.push(5);
    assert_eq!(ask(&mut card, 0x41), [&[0x7F, 0xFF][..], &nested].concat());
    assert_eq!(objects(&mut card), before);
    assert_eq!(ask(&mut card, 0x42), [0x07, 0xFF, 0, 11]);
}
