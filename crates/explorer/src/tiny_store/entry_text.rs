//! How the records of a unit read in a dump, in the terms of `docs/format/nor-store.md`.

use std::fmt::{self, Display};
use std::iter;

use norn_nor_store::SectorPtr;
use norn_nor_store::format::{Entry, Identity, SectorKind};
use serde_json::{Value, json};

/// A record as a dump shows it: the name of its kind, and what its fields mean.
#[derive(Debug)]
pub struct RecordText {
    kind: &'static str,
    /// What it says: names, what people read, and what programs do.
    fields: Vec<(&'static str, String, Value)>,
}

impl RecordText {
    /// A record that says nothing more.
    pub fn of(kind: &'static str) -> RecordText {
        RecordText { kind, fields: Vec::new() }
    }

    /// With a field, which people read after its name.
    pub fn with(self, name: &'static str, value: impl Into<Value>) -> RecordText {
        let value = value.into();
        let text = match &value {
            Value::String(text) => format!("{name} {text}"),
            value => format!("{name} {value}"),
        };
        self.with_text(name, text, value)
    }

    /// With a field, which people read in words of its own.
    pub fn with_text(mut self, name: &'static str, text: String, value: impl Into<Value>) -> RecordText {
        self.fields.push((name, text, value.into()));
        self
    }

    /// What programs see.
    pub fn value(&self) -> Value {
        let fields = self.fields.iter().map(|(name, _, value)| (name.replace(' ', "_"), value.clone()));
        let kind = ("kind".to_owned(), Value::from(self.kind.replace(' ', "_")));
        Value::Object(iter::once(kind).chain(fields).collect())
    }
}

impl Display for RecordText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        for (number, (_, text, _)) in self.fields.iter().enumerate() {
            write!(f, "{} {text}", if number == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

/// An entry of the log, or an assignment.
pub fn entry_text(entry: &Entry) -> RecordText {
    let of = RecordText::of;
    match *entry {
        Entry::LogUnit { sequence } => of("LogUnit").with("sequence number", sequence),
        Entry::DataUnit { logical, descriptors } => {
            of("DataUnit").with("logical number", logical.0).with("sparse prefix", descriptors)
        }
        Entry::Chain { first } => {
            of("Chain").with_text("first sequence number", format!("from sequence number {first} on"), first)
        }
        Entry::Setting { key, value } => {
            of("Setting").with("key", key).with_text("value", format!("value {value:#010x}"), value)
        }
        Entry::Root { tree, height, node } => root_text(tree, height, node),
        Entry::Serial { serial } => of("Serial").with("serial", serial),
        Entry::Ready => of("Ready"),
        Entry::Erase { unit, count } => {
            of("Erase").with("unit", unit).with_text("erase count", format!("erase count {count} afterwards"), count)
        }
        Entry::Move { from, to } => of("Move").with("from unit", from).with("to unit", to),
        Entry::New { a, b } => with_sectors(of("New"), a, b),
        Entry::Swap { node, freed } => {
            let replaced = freed.map_or("nothing".to_owned(), |freed| freed.to_string());
            let swap = of("Swap").with("node", node.to_string());
            swap.with_text("replaced", format!("replaces {replaced}"), freed.map(|freed| freed.to_string()))
        }
        Entry::Release { a, b } => with_sectors(of("Release"), a, b),
        Entry::ReleaseTree { node, height: 0 } => {
            of("ReleaseTree").with_text("node", format!("the chain from {node} on"), node.to_string())
        }
        Entry::ReleaseTree { node, height } => of("ReleaseTree").with("node", node.to_string()).with("height", height),
        Entry::Link { last, new } => of("Link").with("new", new.to_string()).with("after", last.to_string()),
        Entry::Commit { serial } => of("Commit").with("serial", serial),
        Entry::Abort { serial } => of("Abort").with("serial", serial),
    }
}

fn root_text(tree: u8, height: u8, node: Option<SectorPtr>) -> RecordText {
    let of = match tree {
        0 => " (references)",
        1 => " (names)",
        2 => " (pointers)",
        _ => "",
    };
    let root = RecordText::of("Root").with_text("tree", format!("tree {tree}{of}"), tree);
    let text = node.map_or("no node".to_owned(), |node| format!("node {node}"));
    root.with("height", height).with_text("node", text, node.map(|node| node.to_string()))
}

fn with_sectors(record: RecordText, a: SectorPtr, b: Option<SectorPtr>) -> RecordText {
    let sectors: Vec<String> = iter::once(a).chain(b).map(|sector| sector.to_string()).collect();
    record.with_text("sectors", sectors.join(" and "), sectors)
}

/// What a unit says of itself.
pub fn identity_text(identity: &Identity) -> String {
    let Identity { version, unit_size_bytes, unit_count, erase_count } = identity;
    format!("version {version}, {unit_count} units of {unit_size_bytes} bytes, erase count {erase_count}")
}

/// The same for programs.
pub fn identity_value(identity: &Identity) -> Value {
    let Identity { version, unit_size_bytes, unit_count, erase_count } = identity;
    json!({ "version": version, "units": unit_count, "unit_bytes": unit_size_bytes, "erase_count": erase_count })
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

#[cfg(test)]
mod tests {
    //! Proves that entries read as the example of the format's document does.
    use super::*;

    fn text(word: u64) -> String {
        entry_text(&Entry::decode(word.to_le_bytes()).unwrap()).to_string()
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
            (0xDAE0_0100_4001_001A, "Link: new 1:4, after 1:1"),
            (0xD700_0000_0000_001B, "Commit: serial 1"),
        ] {
            assert_eq!(text(word), expected);
        }
    }

    #[test]
    fn programs_see_the_fields_of_entries() {
        for (word, expected) in [
            (0xE700_0000_0400_2003, r#"{"kind":"Setting","key":0,"value":16386}"#),
            (0x7720_0000_0000_0012, r#"{"kind":"Root","tree":1,"height":0,"node":null}"#),
            (0x6AD0_0100_2001_0017, r#"{"kind":"New","sectors":["1:1","1:2"]}"#),
            (0x4AE0_0100_2001_0038, r#"{"kind":"Swap","node":"1:3","replaced":"1:2"}"#),
        ] {
            assert_eq!(entry_text(&Entry::decode(u64::to_le_bytes(word)).unwrap()).value().to_string(), expected);
        }
    }
}
