//! The page: one HTML file with style, script, program, the documents of the formats, and an image if one is given.
//!
//! Nothing in it is loaded from elsewhere. Program and image are compressed; the browser inflates them.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use norn_flash_sim::ImageBytes;

const PAGE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");
const SCRIPTS: [&str; 10] = [
    include_str!("../page/program.js"),
    include_str!("../page/units.js"),
    include_str!("../page/panel.js"),
    include_str!("../page/objects.js"),
    include_str!("../page/curves.js"),
    include_str!("../page/disk.js"),
    include_str!("../page/code.js"),
    include_str!("../page/index.js"),
    include_str!("../page/play.js"),
    include_str!("../page/start.js"),
];
/// The documents that lines of pieces are of, with their names.
const FORMATS: [(&str, &str); 6] = [
    ("log-heap", include_str!("../format/log-heap")),
    ("nand-ftl", include_str!("../format/nand-ftl")),
    ("code-image", include_str!("../format/code-image")),
    ("nor-store", include_str!("../format/nor-store")),
    ("object-heap", include_str!("../format/object-heap")),
    ("ordered-index", include_str!("../format/ordered-index")),
];

#[cfg(has_program)]
const PROGRAM: Option<&[u8]> = Some(include_bytes!(concat!(env!("OUT_DIR"), "/program.wasm")));
#[cfg(not(has_program))]
const PROGRAM: Option<&[u8]> = None;

/// Where the page's image is from.
#[derive(Clone, Copy, Debug)]
pub enum ImageFrom<'a> {
    /// It is in the page.
    Page(&'a ImageBytes),
    /// The server that sent the page sends it, too, at this path, whenever it has changed.
    Server(&'a str),
}

/// Why there is no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoProgram;

impl std::fmt::Display for NoProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "this command was built without the page's program, because Rust's library for wasm32-unknown-unknown was \
             missing: rustup target add wasm32-unknown-unknown, and build the command again",
        )
    }
}

/// The page for an image of this name.
///
/// # Errors
/// If the crate was compiled without the page's program.
pub fn page(name: &str, image: ImageFrom<'_>) -> Result<String, NoProgram> {
    let program = PROGRAM.ok_or(NoProgram)?;
    let (bytes, server) = match image {
        ImageFrom::Page(image) => (compressed(&image.to_packed()), ""),
        ImageFrom::Server(path) => (String::new(), path),
    };
    let parts = [
        ("{name}", escaped(name)),
        ("{server}", escaped(server)),
        ("{style}", STYLE.to_owned()),
        ("{formats}", FORMATS.map(element).concat()),
        ("{program}", compressed(program)),
        ("{image}", bytes),
        ("{script}", SCRIPTS.concat()),
    ];
    let mut page = String::new();
    let mut rest = PAGE;
    for (mark, part) in &parts {
        // Each mark is in the page once, in this order; a test makes a page.
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(part);
        rest = after;
    }
    Ok(page + rest)
}

/// The element of a document.
fn element((name, text): (&str, &str)) -> String {
    format!("<script type=\"text/plain\" id=\"format-{name}\">{text}</script>\n")
}

/// Compressed, in letters.
fn compressed(bytes: &[u8]) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory takes every byte");
    STANDARD.encode(encoder.finish().expect("memory takes every byte"))
}

/// Text for an element or an attribute.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_every_part_and_loads_nothing() {
        let page = page("a<b.img", ImageFrom::Page(&ImageBytes::from(&b"image"[..]))).unwrap();
        for mark in ["{name}", "{style}", "{script}", "{program}", "{image}", "{formats}", "{server}"] {
            // The script has `${name}`.
            let is_left = page.replace(&format!("${mark}"), "").contains(mark);
            assert!(PAGE.matches(mark).count() == 1 && !is_left, "{mark}");
        }
        assert!(page.contains("a&lt;b.img") && page.ends_with("</html>\n"));
        for loading in ["src=", "href=\"http", "@import", "url(", "import("] {
            assert!(!page.contains(loading), "{loading}");
        }
    }
}
