//! One erase unit in full: its header, and every descriptor or entry of its body.

use crate::heap::entry_text::{bytes_text, entry_text, identity_text, kind_name};
use crate::heap::raw_unit::{DescriptorPlace, DescriptorSays, Purpose, RawSector, RawUnit, SectorState};
use crate::report::Report;
use crate::table::{Rows, Side, table};

/// The unit, for people and programs.
pub fn unit(raw: &RawUnit<'_>) -> Report {
    let mut report = Report::new(12);
    report_header(raw, &mut report);
    report.text("\n");
    report_body(raw, &mut report);
    report
}

fn report_header(raw: &RawUnit<'_>, report: &mut Report) {
    let identity = raw.identity().map_or("none whole".to_owned(), |identity| identity_text(&identity));
    let assignment = match (raw.purpose(), raw.assignment()) {
        (Purpose::Free, _) => "erased: a free unit, or the target of a move that is not complete".to_owned(),
        (_, Some(entry)) => entry_text(&entry),
        (_, None) => "none whole".to_owned(),
    };
    let (number, start, size) = (raw.unit().0, raw.start(), raw.size_bytes());
    let identity_bytes = bytes_text(&raw.identity_bytes());
    let assignment_bytes = bytes_text(&raw.assignment_bytes());
    report.measure("unit", number.into(), format!(", {size} bytes at {start}"));
    report.datum("address", start.to_string()).datum("bytes", size);
    report.value("identity", identity).text(format!("            {identity_bytes}\n"));
    report.value("assignment", assignment).text(format!("            {assignment_bytes}\n"));
    report.datum("identity_bytes", identity_bytes).datum("assignment_bytes", assignment_bytes);
}

fn report_body(raw: &RawUnit<'_>, report: &mut Report) {
    match (raw.purpose(), raw.first_programmed()) {
        (Purpose::Log(_), _) => report.table("entries", log_table(raw), "No entries."),
        (Purpose::Data(_), _) => report.table("descriptors", descriptor_table(raw), "No descriptors."),
        (Purpose::Scratch, _) => report.text("The body holds scratch bits.\n"),
        (_, None) => report.text("The body is erased.\n"),
        (_, Some(address)) => report.text(format!("The body is not erased from {address} on.\n")),
    };
}

/// Every place of a log unit up to the log's end, with its bytes.
pub fn log_table(raw: &RawUnit<'_>) -> Rows {
    let mut places =
        table([("Place", Side::Right), ("Address", Side::Right), ("Bytes", Side::Left), ("Entry", Side::Left)]);
    for (number, place) in raw.log().enumerate() {
        let nothing = if place.bytes.iter().all(|&byte| byte == 0) { "void" } else { "torn or damaged" };
        let says = place.entry.map_or(nothing.to_owned(), |entry| entry_text(&entry));
        places.add_row([number.to_string(), place.address.to_string(), bytes_text(&place.bytes), says]);
    }
    places
}

fn descriptor_table(raw: &RawUnit<'_>) -> Rows {
    let mut descriptors = table([
        ("Number", Side::Right),
        ("Descriptor", Side::Right),
        ("Kind", Side::Left),
        ("Sector", Side::Right),
        ("Bytes", Side::Right),
        ("State", Side::Left),
    ]);
    for place in raw.descriptors() {
        descriptors.add_row(descriptor_row(raw, &place));
    }
    descriptors
}

fn descriptor_row(raw: &RawUnit<'_>, place: &DescriptorPlace) -> [String; 6] {
    let (number, address) = (place.number.to_string(), place.address.to_string());
    let stateless = |state: &str| ["", "", "", state].map(str::to_owned);
    let [kind, start, bytes, state] = match &place.says {
        DescriptorSays::Erased => stateless("erased"),
        DescriptorSays::Void => stateless("void"),
        DescriptorSays::Sector(sector) => [
            kind_name(sector.kind).to_owned(),
            raw.start().offset(sector.offset).to_string(),
            sector.bytes.to_string(),
            state_text(raw, sector),
        ],
    };
    [number, address, kind, start, bytes, state]
}

/// Live or obsolete, and whether a sector can be there at all.
fn state_text(raw: &RawUnit<'_>, sector: &RawSector) -> String {
    let state = match sector.state {
        SectorState::Live => "live",
        SectorState::Obsolete => "obsolete",
    };
    let is_inside = sector.bytes > 0 && sector.offset + sector.bytes <= raw.size_bytes();
    if is_inside { state.to_owned() } else { format!("{state}, at an impossible place") }
}
