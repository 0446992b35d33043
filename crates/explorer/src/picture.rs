//! A chip as an SVG picture: a row for each unit, its areas in the colours of their kinds.

use std::fmt::Write;

use norn_flash::EraseUnit;

use crate::anatomy::{Kind, State};
use crate::chip::Chip;

const WIDTH: u32 = 800;
const LEFT: u32 = 60;
const RIGHT: u32 = 70;
const ROW: u32 = 14;
const TOP: u32 = 40;
/// What is in the legend.
const LEGEND: [(Kind, &str); 8] = [
    (Kind::Head, "head"),
    (Kind::Object, "object"),
    (Kind::Array, "array"),
    (Kind::Roots, "roots"),
    (Kind::Node, "map"),
    (Kind::Record, "log"),
    (Kind::Changes, "changes"),
    (Kind::Unknown, "torn"),
];
const STYLE: &str = "text{font:10px sans-serif;fill:#333}.row{fill:#eee}.head{fill:#555}.object{fill:#2a78c8}\
.array{fill:#0d9488}.roots{fill:#7c3aed}.map{fill:#c2410c}.log{fill:#b8860b}.changes{fill:#d6358a}.free{fill:#d3dfc4}\
.unknown{fill:#d00}.obsolete{opacity:.28}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.row{fill:#2a2a2a}.head{fill:#aaa}.free{fill:#414c38}}";

/// The picture of a chip.
pub fn svg(chip: &mut Chip, name: &str) -> String {
    let part = chip.part();
    let height = TOP + u32::from(part.unit_count) * ROW + 8;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n<title>{name}: {} \
         units of {} bytes</title>\n<style>{STYLE}</style>\n",
        part.unit_count, part.unit_size_bytes
    );
    for (number, (kind, text)) in (0..).zip(LEGEND) {
        let x = LEFT + number * 80;
        let _ = writeln!(
            svg,
            "<rect class=\"{}\" x=\"{x}\" y=\"8\" width=\"10\" height=\"10\"/><text x=\"{}\" y=\"17\">{text}</text>",
            kind.name(),
            x + 14
        );
    }
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"34\">pale: obsolete</text><text x=\"735\" y=\"34\">erases</text>");
    let erases: Vec<u32> = chip.cells().erase_counts().collect();
    for unit in 0..part.unit_count {
        row(chip, EraseUnit(unit), erases[usize::from(unit)], &mut svg);
    }
    svg + "</svg>\n"
}

fn row(chip: &mut Chip, unit: EraseUnit, erases: u32, svg: &mut String) {
    let (part, y) = (chip.part(), TOP + u32::from(unit.0) * ROW);
    let (start, width) = (part.start_of(unit), f64::from(WIDTH - LEFT - RIGHT));
    let x = |at: u32| f64::from(LEFT) + width * f64::from(at) / f64::from(part.unit_size_bytes);
    let _ = writeln!(svg, "<text x=\"8\" y=\"{}\">unit {}</text>", y + 10, unit.0);
    let _ = writeln!(svg, "<rect class=\"row\" x=\"{LEFT}\" y=\"{y}\" width=\"{width}\" height=\"12\"/>");
    for area in chip.areas(unit).iter().filter(|area| area.kind != Kind::Erased) {
        let from = area.at.0 - start.0;
        let state = if area.state == State::Obsolete { " obsolete" } else { "" };
        let _ = writeln!(
            svg,
            "<rect class=\"{}{state}\" x=\"{:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"12\"/>",
            area.kind.name(),
            x(from),
            x(from + area.bytes) - x(from)
        );
    }
    let _ = writeln!(svg, "<text x=\"735\" y=\"{}\">{erases}</text>", y + 10);
}
