//! Bytecodes for people: how many of each kind.

use norn_card_package::opcode as op;

use crate::table::{Side, table, text};

fn kind(opcode: u8) -> &'static str {
    match opcode {
        op::LOAD_INT..=op::LOAD_SHORT | op::STORE_INT..=op::STORE_SHORT => "elements of arrays",
        op::LOAD..=op::LOAD_3 | op::STORE..=op::STORE_3 | op::INCREMENT | op::INCREMENT_SHORT => "local variables",
        op::ADD..=op::EXCLUSIVE_OR | op::TO_BYTE..=op::TO_SHORT => "arithmetic",
        op::IF_ZERO..=op::LOOKUP_SWITCH | op::IF_NULL | op::IF_NOT_NULL => "branches",
        op::INVOKE_VIRTUAL | op::INVOKE_INTERFACE => "calls by slot and through interfaces",
        op::INVOKE_DIRECT | op::INVOKE_STATIC => "calls by number",
        op::RETURN_VALUE..=op::RETURN => "returns",
        op::GET_FIELD..op::GET_STATIC => "fields",
        op::GET_STATIC.. => "static fields",
        op::NEW..=op::NEW_REFERENCE_ARRAY => "new objects and arrays",
        op::ARRAY_LENGTH | op::THROW | op::CHECK_CAST | op::INSTANCE_OF => "types, lengths, exceptions",
        _ => "constants and stack",
    }
}

/// A table of how many bytecodes of each kind there are, the most frequent first.
pub fn kinds(bytecodes: &[(u8, u64)]) -> String {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for (opcode, count) in bytecodes {
        match counts.iter_mut().find(|(known, _)| *known == kind(*opcode)) {
            Some((_, sum)) => *sum += count,
            None => counts.push((kind(*opcode), *count)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut rows = table([("Bytecodes", Side::Left), ("Carried out", Side::Right)]);
    for (kind, count) in &counts {
        rows.add_row([(*kind).to_owned(), count.to_string()]);
    }
    rows.add_row(["all".to_owned(), counts.iter().map(|(_, count)| count).sum::<u64>().to_string()]);
    text(&rows)
}
