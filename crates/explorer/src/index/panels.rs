//! What the panels of an ordered index ask: levels in the order of keys, cells of turnstiles, entries, and a search
//! with the words that it reads.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use norn_flash::{Address, EraseUnit, NorPart};
use norn_flash_sim::NorSim;
use norn_ordered_index::fat_list::format::{CELLS_OFFSET, Column};
use norn_ordered_index::fat_list::inspection::{Linked, RawBlock, Role, SlotState};
use serde_json::{Value, json};

use super::anatomy::{cell_letter, counts, successor};
use super::list::{Index, ListWidths};
use super::texts::role_text;
use crate::anatomy::hexadecimal;
use crate::content::{Cells, Content};
use crate::objects::words;

/// Most objects of the picture of levels.
const OBJECTS_MAX: usize = 24;
/// Most entries in one answer.
const ENTRIES_MAX: usize = 100;
/// Most blocks of the picture of turnstiles, unless one turnstile has more.
const BLOCKS_MAX: usize = 32;

/// The answer to a question of a panel on a mounted list.
///
/// # Errors
/// In words.
pub fn ask<W: ListWidths>(index: &mut Index<W>, question: &Value) -> Result<Value, String> {
    let key_bytes = index.widths.key_bytes();
    let key = |name: &str| question[name].as_str().filter(|text| !text.is_empty()).map(|text| parsed(text, key_bytes));
    match question["ask"].as_str().unwrap_or_default() {
        "levels" => levels(index, key("from").transpose()?.as_deref()),
        "keys" => keys(index, key("from").transpose()?.as_deref(), key("to").transpose()?.as_deref()),
        "find" => find(index, &key("key").ok_or("a search needs a key")??),
        other => Err(format!("nothing answers {other:?}")),
    }
}

/// A key as it is typed: hexadecimal digits, of which leading zeros may be left out, or text in quotes.
fn parsed(text: &str, key_bytes: usize) -> Result<Vec<u8>, String> {
    let text = text.trim();
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let (mut key, is_text) = match quoted {
        Some(quoted) => (quoted.as_bytes().to_vec(), true),
        None => {
            let digits = text.strip_prefix("0x").unwrap_or(text);
            let digit = |digit: char| digit.to_digit(16).map(|digit| digit as u8);
            let digits: Option<Vec<u8>> = digits.chars().rev().map(digit).collect();
            let digits = digits.ok_or_else(|| format!("{text:?} is no key: hexadecimal digits, or text in quotes"))?;
            let byte = |pair: &[u8]| pair[0] | pair.get(1).copied().unwrap_or_default() << 4;
            (digits.chunks(2).map(byte).rev().collect(), false)
        }
    };
    if key.len() > key_bytes {
        return Err(format!("{text} has more than the {key_bytes} bytes of a key"));
    }
    let missing = vec![0; key_bytes - key.len()];
    match is_text {
        true => key.extend(missing),
        false => drop(key.splice(..0, missing)),
    }
    Ok(key)
}

/// The raw cell of an object: its slots that count, those that do not, and room for more.
fn slots_of(sim: &NorSim, unit: EraseUnit, number: u16) -> Vec<(SlotState, Vec<u8>, Address)> {
    let part = &sim.spec().part;
    let bytes = sim.peek(part.start_of(unit), part.unit_size_bytes as usize);
    let cell = RawBlock::new(part, unit, &bytes).cells().find(|cell| cell.number == number);
    let slots = cell.into_iter().flat_map(|cell| cell.slots().collect::<Vec<_>>());
    slots.map(|slot| (slot.state, slot.key.to_vec(), slot.at)).collect()
}

/// Objects from that of a key on, and what links them on each level.
fn levels<W: ListWidths>(index: &mut Index<W>, from: Option<&[u8]>) -> Result<Value, String> {
    let settings = index.list.settings();
    let mut window: Vec<Linked<W::Key>> = Vec::new();
    let mut next = None;
    let visit = |linked: Linked<W::Key>| {
        if window.len() == OBJECTS_MAX {
            next = linked.low;
            return ControlFlow::Break(());
        }
        window.push(linked);
        ControlFlow::Continue(())
    };
    index.list.visit_level(0, from, visit).map_err(words)?;
    let last = window.last().and_then(|linked| linked.low);
    let mut links = Vec::new();
    for level in 0..settings.levels {
        let mut linked = Vec::new();
        let visit = |one: Linked<W::Key>| {
            // One beyond the window is what the last pointer in it leads to.
            let is_beyond = one.low > last;
            linked.push(json!([one.address.0, name(one.unit, one.number), text(one.pointer)]));
            if is_beyond { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        index.list.visit_level(level, from, visit).map_err(words)?;
        links.push(linked);
    }
    let sim = &index.device().sim;
    let objects = window.iter().map(|one| {
        let slots = slots_of(sim, one.unit, one.number);
        let keys = slots.iter().filter(|(state, ..)| *state == SlotState::Counts).count();
        json!({
            "at": one.address.0, "cell": name(one.unit, one.number), "level": one.level,
            "low": one.low.map(|low| hexadecimal(low.as_ref())), "keys": keys, "slots": slots.len(),
        })
    });
    let objects: Vec<Value> = objects.collect();
    Ok(json!({
        "levels": settings.levels, "slots": settings.slots, "objects": objects, "links": links,
        "key_bytes": index.widths.key_bytes(), "next": next.map(|low| hexadecimal(low.as_ref())),
    }))
}

fn name(unit: EraseUnit, number: u16) -> String {
    format!("{}.{number}", unit.0)
}

fn text(column: Column) -> String {
    format!("{}.{}", column.turnstile, column.index)
}

/// Entries from a key on, each with where it is.
fn keys<W: ListWidths>(index: &mut Index<W>, from: Option<&[u8]>, to: Option<&[u8]>) -> Result<Value, String> {
    let [lower, upper] = [from, to].map(|bound| bound.map_or(Bound::Unbounded, Bound::Included));
    let range = index.list.range(lower, upper).map_err(words)?;
    let entries = range.take(ENTRIES_MAX + 1).collect::<Result<Vec<_>, _>>().map_err(words)?;
    let last = entries.last().map(|(key, _)| *key);
    let mut objects = Vec::new();
    let visit = |one: Linked<W::Key>| {
        let is_beyond = last.is_none_or(|last| one.low > Some(last));
        objects.push((one.unit, one.number));
        if is_beyond { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    index.list.visit_level(0, from, visit).map_err(words)?;
    let sim = &index.device().sim;
    let mut places = BTreeMap::new();
    for (unit, number) in objects {
        for (state, key, at) in slots_of(sim, unit, number) {
            if state == SlotState::Counts {
                places.insert(key, (at, name(unit, number)));
            }
        }
    }
    let rows = entries.iter().take(ENTRIES_MAX).map(|(key, value)| {
        let place = places.get(key.as_ref());
        json!([
            hexadecimal(key.as_ref()),
            hexadecimal(value.as_ref()),
            place.map(|(at, _)| at.0),
            place.map(|(_, cell)| cell),
        ])
    });
    let next = entries.get(ENTRIES_MAX).map(|(key, _)| hexadecimal(key.as_ref()));
    Ok(json!({ "entries": rows.collect::<Vec<_>>(), "next": next, "key_bytes": index.widths.key_bytes() }))
}

/// Looks a key up, and lists what that reads, one line for each visit of a cell.
fn find<W: ListWidths>(index: &mut Index<W>, key: &[u8]) -> Result<Value, String> {
    let (probes, words_read) = (index.list.probes(), index.device().sim.counters().reads());
    index.device_mut().reads = Some(Vec::new());
    let value = index.widths.get(&mut index.list, key).map_err(words)?;
    let reads = index.device_mut().reads.take().unwrap_or_default();
    let words_read = index.device().sim.counters().reads() - words_read;
    let now = index.list.probes();
    let sim = &index.device().sim;
    let mut steps: Vec<(String, Address, Vec<String>, u32)> = Vec::new();
    let mut at = None;
    for (address, bytes) in reads {
        let found = found_at::<W>(sim, address);
        let covered = |piece: &&crate::anatomy::Piece| (address.0..address.0 + bytes).contains(&piece.at.0);
        let mut names: Vec<String> = found.pieces.iter().filter(covered).map(|piece| piece.name.clone()).collect();
        if let Some(piece) = found.piece_at(address).filter(|piece| !names.contains(&piece.name)) {
            names.insert(0, piece.name.clone());
        }
        match steps.last_mut().filter(|step| step.1 == found.at) {
            Some(step) => {
                names.retain(|name| !step.2.contains(name));
                step.2.append(&mut names);
                step.3 += bytes;
            }
            None => steps.push((found.title, found.at, names, bytes)),
        }
        at = Some(address);
    }
    let steps = steps.iter().map(|(title, at, names, bytes)| json!([at.0, title, names, bytes]));
    Ok(json!({
        "key": hexadecimal(key), "value": value.map(|value| hexadecimal(&value)), "at": at.map(|at| at.0),
        "steps": steps.collect::<Vec<_>>(), "words": words_read,
        "pointers": now.pointers - probes.pointers, "successful": now.successful - probes.successful,
        "null": now.null - probes.null, "low": now.low - probes.low, "back": now.back - probes.back,
        "over": now.over - probes.over,
    }))
}

fn found_at<W: ListWidths>(sim: &NorSim, address: Address) -> crate::anatomy::Found {
    let part = &sim.spec().part;
    let unit = EraseUnit((address.0 / part.unit_size_bytes) as u16);
    let bytes = sim.peek(part.start_of(unit), part.unit_size_bytes as usize);
    Index::<W>::at(Cells { whole: sim, unit, bytes: &bytes }, address)
}

/// The blocks and cells of turnstiles, from one of a number on.
///
/// # Errors
/// If there is none of it.
pub fn turnstiles(whole: &NorSim, question: &Value) -> Result<Value, String> {
    let part = whole.spec().part;
    let first = question["first"].as_u64().unwrap_or_default();
    let mut blocks: Vec<Value> = Vec::new();
    let (mut next, mut count) = (None, 0);
    // A block whose erase was cut has no identity: those of its turnstile say where it belongs.
    let mut turnstile_of = BTreeMap::new();
    for unit in (0..part.unit_count).map(EraseUnit) {
        let head = whole.peek(part.start_of(unit), CELLS_OFFSET as usize);
        if let Some((turnstile, units)) = RawBlock::new(&part, unit, &head).turnstile() {
            turnstile_of.extend(units.map(|unit| (unit.0, turnstile)));
            count = count.max(u64::from(turnstile) + 1);
        }
    }
    for (unit, turnstile) in turnstile_of {
        if u64::from(turnstile) < first || next.is_some() {
            continue;
        }
        let is_new = blocks.last().is_none_or(|block| block["turnstile"] != turnstile);
        if is_new && blocks.len() >= BLOCKS_MAX {
            next = Some(turnstile);
            continue;
        }
        blocks.push(block_value(whole, &part, EraseUnit(unit), turnstile));
    }
    match blocks.is_empty() && first > 0 {
        true => Err(format!("there are {count} turnstiles")),
        false => Ok(json!({ "blocks": blocks, "next": next, "count": count })),
    }
}

fn block_value(whole: &NorSim, part: &NorPart, unit: EraseUnit, turnstile: u8) -> Value {
    let bytes = whole.peek(part.start_of(unit), part.unit_size_bytes as usize);
    let block = RawBlock::new(part, unit, &bytes);
    let successor = successor(whole, &block);
    let is_in_use = matches!(block.role(), Role::InUse(_)) && successor.is_none();
    let letters: String = block.cells().map(|cell| cell_letter(cell.state())).collect();
    let cell_bytes = block.cells().next().map_or(0, |cell| cell.size_bytes());
    let [live, dead, free] = counts(&block);
    json!({
        "turnstile": turnstile, "unit": unit.0, "role": role_text(block.role(), successor),
        "counts": is_in_use, "erases": block.identity().map(|identity| identity.erase_count), "cells": letters,
        "at": block.start().0 + CELLS_OFFSET, "cell_bytes": cell_bytes, "live": live, "dead": dead, "free": free,
    })
}
