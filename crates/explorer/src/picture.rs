//! A chip as an SVG picture: a row for each unit, its areas in the colours of their kinds.

use std::fmt::Write;

use crate::anatomy::{ERASED, State};
use crate::page::escaped;
use crate::shown::{Overview, Shown};

const WIDTH: u32 = 800;
const LEFT: u32 = 60;
const RIGHT: u32 = 70;
const ROW: u32 = 14;
const TOP: u32 = 40;
const STYLE: &str = "text{font:10px sans-serif;fill:#333}.row{fill:#eee}.head{fill:#555}.object{fill:#2a78c8}\
.array{fill:#0d9488}.roots{fill:#7c3aed}.map{fill:#c2410c}.log{fill:#b8860b}.changes{fill:#d6358a}.free{fill:#d3dfc4}\
.unknown{fill:#d00}.page{fill:#2a78c8}.checkpoint{fill:#b8860b}.cached{fill:#7c3aed}.bad{fill:#3c3c3a}\
.descriptor{fill:#8d6e63}.leaf{fill:#2a78c8}.record{fill:#0d9488}.node{fill:#c2410c}\
.opaque{fill:#7c3aed}.scratch{fill:#d6358a}.list-head{fill:#7c3aed}.pointers{fill:#c2410c}\
.entries{fill:#0d9488}.batch{fill:#d6358a}.obsolete{opacity:.28}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.row{fill:#2a2a2a}.head{fill:#aaa}\
.free{fill:#414c38}.bad{fill:#c9c9c4}}";

/// The picture of a chip.
///
/// # Errors
/// If one of its units cannot be shown.
pub fn svg(chip: &mut dyn Shown, name: &str) -> Result<String, String> {
    let (overview, name) = (chip.overview(), escaped(name));
    let height = TOP + overview.units.len() as u32 * ROW + 8;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n<title>{name}: {} \
         {} of {} bytes</title>\n<style>{STYLE}</style>\n",
        overview.units.len(),
        overview.units_are,
        overview.unit_bytes
    );
    for (number, kind) in (0..).zip(overview.kinds.iter().filter(|&&kind| kind != ERASED)) {
        let (x, name) = (LEFT + number * 76, kind.name);
        let _ = writeln!(
            svg,
            "<rect class=\"{name}\" x=\"{x}\" y=\"8\" width=\"10\" height=\"10\"/><text x=\"{}\" \
             y=\"17\">{name}</text>",
            x + 14
        );
    }
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"34\">pale: obsolete</text><text x=\"735\" y=\"34\">erases</text>");
    for unit in 0..overview.units.len() as u16 {
        row(chip, &overview, unit, &mut svg)?;
    }
    Ok(svg + "</svg>\n")
}

fn row(chip: &mut dyn Shown, overview: &Overview, unit: u16, svg: &mut String) -> Result<(), String> {
    let y = TOP + u32::from(unit) * ROW;
    let width = f64::from(WIDTH - LEFT - RIGHT);
    let x = |at: u32| f64::from(LEFT) + width * f64::from(at) / f64::from(overview.unit_bytes);
    let _ = writeln!(svg, "<text x=\"8\" y=\"{}\">{} {unit}</text>", y + 10, overview.units_are.trim_end_matches('s'));
    let _ = writeln!(svg, "<rect class=\"row\" x=\"{LEFT}\" y=\"{y}\" width=\"{width}\" height=\"12\"/>");
    for area in chip.areas(unit)?.iter().filter(|area| area.kind != ERASED) {
        let from = area.at.0 - u32::from(unit) * overview.unit_bytes;
        let state = if area.state == State::Obsolete { " obsolete" } else { "" };
        let _ = writeln!(
            svg,
            "<rect class=\"{}{state}\" x=\"{:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"12\"/>",
            area.kind.name,
            x(from),
            x(from + area.bytes) - x(from)
        );
    }
    let erases = overview.units[usize::from(unit)].erases;
    let _ = writeln!(svg, "<text x=\"735\" y=\"{}\">{erases}</text>", y + 10);
    Ok(())
}
