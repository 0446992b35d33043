//! `norn parts`: the catalogue of simulated parts.

use norn_flash::Reprogramming;
use norn_flash_sim::{NandSpec, Nanoseconds, OperationTime, PartSpec, catalogue, nand_catalogue};

use norn_heap_image::UNITS_MAX;
use serde_json::{Value, json};

use crate::report::Report;
use crate::table::{Rows, Side, table};

/// The catalogue.
pub fn catalogue_report() -> Report {
    let columns =
        ["Name", "Size", "Unit", "Units", "Program unit", "Reprogramming", "Endurance", "Read", "Program", "Erase"];
    let mut parts = table(
        columns.map(|title| (title, if matches!(title, "Name" | "Reprogramming") { Side::Left } else { Side::Right })),
    );
    let mut sources = String::new();
    for spec in catalogue::all() {
        sources += &format!("{}: {}\n", spec.name, spec.source);
        parts.add_row_with(row(&spec), value(&spec));
    }
    let nand = nand_table(&mut sources);
    let note = format!(
        "test-UNITSxBYTES is a part of any geometry, of up to {UNITS_MAX} units, for tests; stm32l4:16 is 16 units of \
         a named part. Where reprogramming is limited, a heap of the engine tinystore is on a layer that keeps changes \
         beside the words."
    );
    let mut report = Report::default();
    report.table("nor", parts, "").text(format!("\n{note}\n\nNAND parts, for block devices\n"));
    report.table("nand", nand, "").text(format!("\nSources\n{sources}"));
    report
}

/// The NAND parts as a table; where their figures are from goes to `sources`.
fn nand_table(sources: &mut String) -> Rows {
    let columns = ["Name", "Size", "Block", "Blocks", "Page", "Good blocks", "Endurance", "Load", "Program", "Erase"];
    let mut parts = table(columns.map(|title| (title, if title == "Name" { Side::Left } else { Side::Right })));
    for NandSpec { name, part, timings, source } in nand_catalogue::all() {
        *sources += &format!("{name}: {source}\n");
        let value = json!({
            "name": name,
            "size_bytes": part.size_bytes(),
            "block_bytes": part.block_bytes(),
            "blocks": part.block_count,
            "page_bytes": part.page_bytes,
            "oob_bytes": part.oob_bytes,
            "good_blocks_min": part.good_blocks_min,
            "endurance_erases": part.endurance_erases,
            "load_ns": timings.load_ns,
            "program_ns": timings.program_ns,
            "erase_ns": timings.erase_ns,
            "source": source,
        });
        let cells = [
            name,
            format!("{} MiB", part.size_bytes() >> 20),
            kib(part.block_bytes()),
            part.block_count.to_string(),
            format!("{} + {} B", part.page_bytes, part.oob_bytes),
            part.good_blocks_min.to_string(),
            part.endurance_erases.map_or("unlimited".to_owned(), |erases| erases.to_string()),
            Nanoseconds(timings.load_ns.into()).to_string(),
            Nanoseconds(timings.program_ns.into()).to_string(),
            Nanoseconds(timings.erase_ns.into()).to_string(),
        ];
        parts.add_row_with(cells, value);
    }
    parts
}

fn row(spec: &PartSpec) -> [String; 10] {
    let part = &spec.part;
    [
        spec.name.clone(),
        kib(part.size_bytes()),
        kib(part.unit_size_bytes),
        part.unit_count.to_string(),
        format!("{} B", part.program_unit_bytes),
        reprogramming(part.reprogramming),
        part.endurance_erases.map_or("unlimited".to_owned(), |erases| erases.to_string()),
        time(&spec.timings.read),
        time(&spec.timings.program),
        Nanoseconds(spec.timings.erase_ns).to_string(),
    ]
}

/// What programs see of a part; null where there is no limit.
fn value(spec: &PartSpec) -> Value {
    let part = &spec.part;
    let programs_max = match part.reprogramming {
        Reprogramming::Unlimited => None,
        Reprogramming::Times(times) => Some(times),
        Reprogramming::Once => Some(1),
    };
    let time =
        |time: &OperationTime| json!({ "call_ns": time.call_ns, "word_ns": time.word_ns, "byte_ns": time.byte_ns });
    json!({
        "name": spec.name,
        "size_bytes": part.size_bytes(),
        "unit_bytes": part.unit_size_bytes,
        "units": part.unit_count,
        "program_unit_bytes": part.program_unit_bytes,
        "programs_of_a_word_max": programs_max,
        "endurance_erases": part.endurance_erases,
        "read": time(&spec.timings.read),
        "program": time(&spec.timings.program),
        "erase_ns": spec.timings.erase_ns,
        "source": spec.source,
    })
}

fn kib(bytes: u32) -> String {
    format!("{} KiB", bytes / 1024)
}

fn reprogramming(reprogramming: Reprogramming) -> String {
    match reprogramming {
        Reprogramming::Unlimited => "unlimited".to_owned(),
        Reprogramming::Times(times) => format!("{times} programs"),
        Reprogramming::Once => "once".to_owned(),
    }
}

/// The parts of a time that are not nothing: per call, word and byte.
fn time(time: &OperationTime) -> String {
    let parts = [(time.call_ns, "/call"), (time.word_ns, "/word"), (time.byte_ns, "/byte")];
    let written = parts.iter().filter(|(ns, _)| *ns > 0).map(|(ns, per)| format!("{}{per}", Nanoseconds(*ns)));
    written.collect::<Vec<_>>().join(" + ")
}
