//! What a file holds that a class does not open, and what opens it: the end of the message.

use std::path::Path;

use norn_embedded::{recognise_nand, recognise_nor};
use norn_flash::{Nand, Recognised, TenantKind};
use norn_flash_sim::{ImageKind, NandSim, NorSim};
use norn_nand_ftl::{FORMAT_CUT_SHORT, NO_CHECKPOINT, recognition_bytes};
use pyo3::prelude::*;

use crate::failure::{Exception, Failure, ImageError};
use crate::image::{self, Part};

/// The part in a file, as [`image::open`] has it.
///
/// # Errors
/// As that; the message says what a foreign file is.
pub fn open<P: Part>(path: &Path, part: Option<&str>) -> PyResult<P> {
    image::open(path, part).map_err(|refused| {
        let is_foreign = path.is_dir() || Python::attach(|py| refused.is_instance_of::<ImageError>(py));
        match explanation(path, part).filter(|_| is_foreign) {
            Some(explanation) => {
                let said = Python::attach(|py| refused.value(py).to_string());
                Exception::Image.with(format!("{said}; {explanation}"))
            }
            None => refused,
        }
    })
}

/// The exception for a file in which the store of a class does not mount, with what it holds instead.
pub fn not_mounted(failure: impl Failure, path: &Path, part: Option<&str>) -> PyErr {
    let said = format!("{}: mount: {failure}", path.display());
    failure.exception().with(match (failure.exception(), explanation(path, part)) {
        (Exception::Image, Some(explanation)) => format!("{said}; {explanation}"),
        _ => said,
    })
}

/// What the file holds and what opens it, for a message; nothing where that is not known.
fn explanation(path: &Path, part: Option<&str>) -> Option<String> {
    if path.join("nor.img").is_file() {
        return Some(format!("it is a card: `norn card show {}` opens it", path.display()));
    }
    let found = found(path, part)?;
    let [recognised] = &found[..] else {
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        let image = path.display();
        return (!texts.is_empty())
            .then(|| format!("it holds {}: `norn image show {image}` says more", texts.join(", ")));
    };
    let (reader, what) = (reader_of(recognised, path), recognised);
    Some(format!("it holds {what}{reader}"))
}

/// What is recognised on the part in a file.
fn found(path: &Path, part: Option<&str>) -> Option<Vec<Recognised>> {
    let is_nand = match (ImageKind::of(path).ok()?, part) {
        (Some(kind), _) => kind == ImageKind::Nand,
        (None, part) => NandSim::spec_by_name(part?).is_ok(),
    };
    let mut found = Vec::new();
    if is_nand {
        let mut device: NandSim = image::open(path, part).ok()?;
        let mut buffer = vec![0; recognition_bytes(&Nand::part(&device))];
        recognise_nand(&mut device, &mut buffer, |content| found.extend(content.recognised.ok().flatten())).ok()?;
    } else {
        let mut device: NorSim = image::open(path, part).ok()?;
        recognise_nor(&mut device, |content| found.extend(content.recognised.ok().flatten())).ok()?;
    }
    Some(found)
}

fn reader_of(recognised: &Recognised, path: &Path) -> String {
    let image = path.display();
    match recognised.kind {
        _ if recognised.version != recognised.known_version => ", which this version cannot open".to_owned(),
        TenantKind::HEAP if recognised.what == LOG_STRUCTURED => ": Heap.open opens it".to_owned(),
        TenantKind::HEAP | TenantKind::REMAP => {
            format!(": `norn heap convert {image} NEW.img` makes a log-structured heap of it, which Heap.open opens")
        }
        TenantKind::INDEX => ": SensorLog.open opens it, if it is a sensor log".to_owned(),
        TenantKind::DISK if ![FORMAT_CUT_SHORT, NO_CHECKPOINT].contains(&recognised.what) => {
            ": BlockDevice.open opens it".to_owned()
        }
        TenantKind::CODE => format!(": `norn code status {image}` opens it"),
        _ => format!(": `norn image show {image}` says more"),
    }
}

/// What the heap that [`Heap`](crate::heap::Heap) opens is called by those who recognise it.
const LOG_STRUCTURED: &str = "a log-structured heap";
