//! How the records of a unit read in a dump, in the terms of `docs/format/nor-store.md`.

use norn_nor_store::SectorPtr;
use norn_nor_store::format::{Entry, Identity, SectorKind};

/// An entry of the log, or an assignment: the name of its kind, and what its fields mean.
pub fn entry_text(entry: &Entry) -> String {
    match *entry {
        Entry::LogUnit { sequence } => format!("LogUnit: sequence number {sequence}"),
        Entry::DataUnit { logical, descriptors } => {
            format!("DataUnit: logical number {}, sparse prefix {descriptors}", logical.0)
        }
        Entry::Chain { first } => format!("Chain: from sequence number {first} on"),
        Entry::Setting { key, value } => format!("Setting: key {key}, value {value:#010x}"),
        Entry::Root { tree, height, node } => root_text(tree, height, node),
        Entry::Serial { serial } => format!("Serial: {serial}"),
        Entry::Ready => "Ready".to_owned(),
        Entry::Erase { unit, count } => format!("Erase: unit {unit}, erase count {count} afterwards"),
        Entry::Move { from, to } => format!("Move: from unit {from} to unit {to}"),
        Entry::New { a, b } => format!("New: {}", sectors_text(a, b)),
        Entry::Swap { node, freed: Some(freed) } => format!("Swap: node {node}, replaces {freed}"),
        Entry::Swap { node, freed: None } => format!("Swap: node {node}, replaces nothing"),
        Entry::Release { a, b } => format!("Release: {}", sectors_text(a, b)),
        Entry::ReleaseTree { node, height } => match height {
            0 => format!("ReleaseTree: the chain from {node} on"),
            height => format!("ReleaseTree: node {node}, height {height}"),
        },
        Entry::Link { last, new } => format!("Link: {new} after {last}"),
        Entry::Commit { serial } => format!("Commit: serial {serial}"),
        Entry::Abort { serial } => format!("Abort: serial {serial}"),
    }
}

fn root_text(tree: u8, height: u8, node: Option<SectorPtr>) -> String {
    let of = match tree {
        0 => " (references)",
        1 => " (names)",
        2 => " (pointers)",
        _ => "",
    };
    let node = node.map_or("no node".to_owned(), |node| format!("node {node}"));
    format!("Root: tree {tree}{of}, height {height}, {node}")
}

fn sectors_text(a: SectorPtr, b: Option<SectorPtr>) -> String {
    b.map_or(a.to_string(), |b| format!("{a} and {b}"))
}

/// What a unit says of itself.
pub fn identity_text(identity: &Identity) -> String {
    let Identity { version, unit_size_bytes, unit_count, erase_count } = identity;
    format!("version {version}, {unit_count} units of {unit_size_bytes} bytes, erase count {erase_count}")
}

/// What a sector holds, in a word.
pub fn kind_name(kind: SectorKind) -> &'static str {
    match kind {
        SectorKind::Leaf => "leaf",
        SectorKind::Record => "record",
        SectorKind::Node => "node",
        SectorKind::Opaque => "opaque",
    }
}

/// Bytes as pairs of hexadecimal digits, in the order of their addresses.
pub fn bytes_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    //! Proves that entries read as the example of the format's document does.
    use super::*;

    fn text(word: u64) -> String {
        entry_text(&Entry::decode(word.to_le_bytes()).unwrap())
    }

    #[test]
    fn entries_of_the_documented_example() {
        for (word, expected) in [
            (0x16E0_0100_6000_1022, "Root: tree 2 (pointers), height 1, node 1:6"),
            (0x6F00_0000_0000_001D, "LogUnit: sequence number 1"),
            (0x3300_0000_0000_001E, "DataUnit: logical number 1, sparse prefix 0"),
            (0xCF20_0000_0000_0014, "Chain: from sequence number 1 on"),
            (0xE700_0000_0400_2003, "Setting: key 0, value 0x00004002"),
            (0x7720_0000_0000_0012, "Root: tree 1 (names), height 0, no node"),
            (0x8EF0_0100_3000_1002, "Root: tree 0 (references), height 1, node 1:3"),
            (0x3730_0000_0000_0001, "Ready"),
            (0x6AD0_0100_2001_0017, "New: 1:1 and 1:2"),
            (0xCEE0_0000_0001_0037, "New: 1:3"),
            (0x4AE0_0100_2001_0038, "Swap: node 1:3, replaces 1:2"),
            (0x86E0_0100_4001_0019, "Release: 1:1 and 1:4"),
            (0xDAE0_0100_4001_001A, "Link: 1:4 after 1:1"),
            (0xD700_0000_0000_001B, "Commit: serial 1"),
        ] {
            assert_eq!(text(word), expected);
        }
    }
}
