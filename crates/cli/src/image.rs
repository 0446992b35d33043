//! What an image file holds, and which command opens it: the end of the message of a command that refuses the file.

use std::fmt::Display;
use std::path::Path;

use norn_code_pager::TWO_ROOMS;
use norn_embedded::{PartContent, recognise_nand, recognise_nor};
use norn_flash::{Address, Nand, Nor, Recognised, TenantKind};
use norn_flash_sim::{ImageKind, NandSim, NorSim};
use norn_nand_ftl::recognition_bytes;

/// A group of commands that opens images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    /// `norn heap`.
    Heap,
    /// `norn log`.
    Log,
    /// `norn nbd`.
    Nbd,
    /// `norn code`.
    Code,
}

impl Opener {
    fn image_kind(self) -> ImageKind {
        match self {
            Opener::Heap | Opener::Log => ImageKind::Nor,
            Opener::Nbd | Opener::Code => ImageKind::Nand,
        }
    }

    fn mounts(self, kind: TenantKind) -> bool {
        match self {
            Opener::Heap => matches!(kind, TenantKind::HEAP | TenantKind::REMAP),
            Opener::Log => kind == TenantKind::INDEX,
            Opener::Nbd => kind == TenantKind::DISK,
            Opener::Code => kind == TenantKind::CODE,
        }
    }
}

/// What the image at `image`, which `opener` refused, holds, and which command opens it. The file is left as it is.
pub fn explanation(image: &Path, opener: Opener) -> String {
    let (kind, contents) = match ImageKind::of(image) {
        Ok(Some(ImageKind::Nor)) => (ImageKind::Nor, NorSim::open_image(image).map(|mut part| nor_contents(&mut part))),
        Ok(Some(ImageKind::Nand)) => {
            (ImageKind::Nand, NandSim::open_image(image).map(|mut part| nand_contents(&mut part)))
        }
        Ok(None) | Err(_) => {
            return "no norn command opens it; `norn heap`, `log`, `nbd` and `code create` make images".to_owned();
        }
    };
    match contents {
        Ok(contents) => contents.explanation(image, opener),
        // The command itself has said why.
        Err(_) if kind == opener.image_kind() => "no norn command opens it as it is".to_owned(),
        Err(error) => format!("no norn command opens it as it is: {error}"),
    }
}

fn explanation_of(recognised: &Recognised, image: impl Display, opener: Opener) -> String {
    let command = match recognised.kind {
        _ if recognised.version != recognised.known_version => {
            return format!("it holds {recognised}, which this version of norn cannot open");
        }
        kind if opener.mounts(kind) => {
            return match opener {
                Opener::Heap => {
                    format!("it holds {recognised}: `norn heap dump {image} --raw` shows its cells as they are")
                }
                Opener::Code if recognised.what != TWO_ROOMS => {
                    format!("it holds {recognised} in a single room, which no norn command opens")
                }
                Opener::Log | Opener::Nbd | Opener::Code => {
                    format!("it holds {recognised}, which is damaged or of another geometry")
                }
            };
        }
        TenantKind::HEAP | TenantKind::REMAP => "norn heap check",
        TenantKind::INDEX => "norn log check",
        TenantKind::DISK => "norn nbd check",
        TenantKind::CODE if recognised.what == TWO_ROOMS => "norn code status",
        _ => return format!("it holds {recognised}, which no norn command opens"),
    };
    format!("it holds {recognised}: `{command} {image}` opens it")
}

enum Contents {
    /// Nothing is programmed on a part of this name.
    Blank(String),
    /// Nothing is recognised on a part of this name.
    Unknown(String),
    Known(Vec<PartContent>),
}

impl Contents {
    fn explanation(&self, image: &Path, opener: Opener) -> String {
        match self {
            Contents::Blank(part) => format!("it is a blank {part}: nothing has been written to it"),
            Contents::Unknown(part) => format!("it is a {part} with data of no format that norn knows"),
            Contents::Known(contents) => match &**contents {
                [PartContent { recognised: Ok(Some(recognised)), .. }] if recognised.kind != TenantKind::LABEL => {
                    explanation_of(recognised, image.display(), opener)
                }
                several => {
                    let texts: Vec<String> = several.iter().map(PartContent::to_string).collect();
                    format!("it holds {}; norn opens no part that has a partition table", texts.join(", "))
                }
            },
        }
    }

    fn of(found: Vec<PartContent>, part: String, is_blank: impl FnOnce() -> bool) -> Contents {
        match found.is_empty() {
            false => Contents::Known(found),
            true if is_blank() => Contents::Blank(part),
            true => Contents::Unknown(part),
        }
    }
}

fn nor_contents(part: &mut NorSim) -> Contents {
    part.freeze_counters();
    let mut found = Vec::new();
    // A simulated part whose power is on reads every address that it has.
    let _ = recognise_nor(part, |content| found.push(content));
    let size_bytes = part.part().size_bytes() as usize;
    Contents::of(found, part.spec().name.clone(), || part.peek(Address(0), size_bytes).iter().all(|&byte| byte == 0xFF))
}

fn nand_contents(part: &mut NandSim) -> Contents {
    part.freeze_counters();
    let mut found = Vec::new();
    let geometry = Nand::part(part);
    let mut buffer = vec![0; recognition_bytes(&geometry)];
    // As above.
    let _ = recognise_nand(part, &mut buffer, |content| found.push(content));
    let name = part.spec().name.clone();
    // The maker's mark is in a page of a bad block.
    let mut is_erased = |block| !part.holds_pages(block) || part.is_marked_bad(block) == Ok(true);
    Contents::of(found, name, || geometry.blocks().all(&mut is_erased))
}
