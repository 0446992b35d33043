//! One erase unit in full: its header, and every descriptor or entry of its body.

use norn_explorer::tiny_store::entry_text::{RecordText, entry_text, identity_text, identity_value, kind_name};
use serde_json::{Value, json};

use crate::heap::entry_text::{add_record, bytes_text};
use crate::heap::raw_unit::{DescriptorPlace, DescriptorSays, Purpose, RawSector, RawUnit, SectorState};
use crate::report::{Report, digits_of};
use crate::table::{Rows, Side, table};

/// The unit, for people and programs.
pub fn unit(raw: &RawUnit) -> Report {
    let mut report = Report::new(12);
    report_header(raw, &mut report);
    report.text("\n");
    report_body(raw, &mut report);
    report
}

fn report_header(raw: &RawUnit, report: &mut Report) {
    let identity = raw.identity();
    let identity_shown = identity.as_ref().map_or("none whole".to_owned(), identity_text);
    let assignment = raw.assignment().map(|entry| entry_text(&entry));
    let assignment_shown = match (raw.purpose(), &assignment) {
        (Purpose::Free, _) => "erased: a free unit, or the target of a move that is not complete".to_owned(),
        (_, Some(entry)) => entry.to_string(),
        (_, None) => "none whole".to_owned(),
    };
    let (number, start, size) = (raw.unit().0, raw.start(), raw.size_bytes());
    let identity_bytes = bytes_text(&raw.identity_bytes());
    let assignment_bytes = bytes_text(&raw.assignment_bytes());
    report.measure("unit", number.into(), format!(", {size} bytes at {start}"));
    report.datum("address", start.0).datum("bytes", size).datum("role", raw.purpose().name());
    let (identity, assignment) = (identity.as_ref().map(identity_value), assignment.map(|entry| entry.value()));
    report.described("identity", identity_shown, identity).text(format!("            {identity_bytes}\n"));
    report.described("assignment", assignment_shown, assignment).text(format!("            {assignment_bytes}\n"));
    report.datum("identity_bytes", digits_of(&raw.identity_bytes()));
    report.datum("assignment_bytes", digits_of(&raw.assignment_bytes()));
}

fn report_body(raw: &RawUnit, report: &mut Report) {
    match (raw.purpose(), raw.first_programmed()) {
        (Purpose::Log(_), _) => report.table("entries", log_table(raw), "No entries."),
        (Purpose::Data(_), _) => report.table("descriptors", descriptor_table(raw), "No descriptors."),
        (Purpose::Scratch, _) => report.text("The body holds scratch bits.\n"),
        (_, None) => report.text("The body is erased.\n"),
        (_, Some(address)) => {
            report.text(format!("The body is not erased from {address} on.\n")).datum("not_erased_from", address.0)
        }
    };
}

/// Every place of a log unit up to the log's end, with its bytes.
pub fn log_table(raw: &RawUnit) -> Rows {
    let mut places =
        table([("Place", Side::Right), ("Address", Side::Right), ("Bytes", Side::Left), ("Entry", Side::Left)]);
    for (number, place) in raw.log().enumerate() {
        let is_void = place.bytes.iter().all(|&byte| byte == 0);
        let none = || RecordText::of(if is_void { "void" } else { "torn or damaged" });
        let says = place.entry.map_or_else(none, |entry| entry_text(&entry));
        add_record(&mut places, "entry", (number, place.address), &place.bytes, &says);
    }
    places
}

fn descriptor_table(raw: &RawUnit) -> Rows {
    let mut descriptors = table([
        ("Number", Side::Right),
        ("Descriptor", Side::Right),
        ("Kind", Side::Left),
        ("Sector", Side::Right),
        ("Bytes", Side::Right),
        ("State", Side::Left),
    ]);
    for place in raw.descriptors() {
        let (cells, value) = (descriptor_row(raw, &place), descriptor_value(raw, &place));
        descriptors.add_row_with(cells, value);
    }
    descriptors
}

fn descriptor_row(raw: &RawUnit, place: &DescriptorPlace) -> [String; 6] {
    let (number, address) = (place.number.to_string(), place.address.to_string());
    let stateless = |state: &str| ["", "", "", state].map(str::to_owned);
    let [kind, start, bytes, state] = match &place.says {
        DescriptorSays::Erased => stateless("erased"),
        DescriptorSays::Void => stateless("void"),
        DescriptorSays::Sector(sector) => {
            let state = state_name(sector.state);
            [
                kind_name(sector.kind).to_owned(),
                raw.start().offset(sector.offset).to_string(),
                sector.bytes.to_string(),
                if is_possible(raw, sector) { state.to_owned() } else { format!("{state}, at an impossible place") },
            ]
        }
    };
    [number, address, kind, start, bytes, state]
}

fn descriptor_value(raw: &RawUnit, place: &DescriptorPlace) -> Value {
    let (number, address) = (place.number, place.address.0);
    match &place.says {
        DescriptorSays::Erased => json!({ "number": number, "descriptor": address, "state": "erased" }),
        DescriptorSays::Void => json!({ "number": number, "descriptor": address, "state": "void" }),
        DescriptorSays::Sector(sector) => json!({
            "number": number,
            "descriptor": address,
            "state": state_name(sector.state),
            "kind": kind_name(sector.kind),
            "sector": raw.start().offset(sector.offset).0,
            "bytes": sector.bytes,
            "is_possible": is_possible(raw, sector),
        }),
    }
}

fn state_name(state: SectorState) -> &'static str {
    match state {
        SectorState::Live => "live",
        SectorState::Obsolete => "obsolete",
    }
}

/// Whether a sector can be there at all.
fn is_possible(raw: &RawUnit, sector: &RawSector) -> bool {
    sector.bytes > 0 && sector.offset + sector.bytes <= raw.size_bytes()
}
