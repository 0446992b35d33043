//! `norn explore`: a page that shows what is on a chip, a picture of it, or a server of that page which follows the
//! image while another program uses it.

pub mod failure;
mod image;
mod serve;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use norn_explorer::open::{of_nand, of_nor};
use norn_explorer::page::{ImageFrom, page};
use norn_explorer::picture;
use norn_flash_sim::ImageKind;

use self::failure::ExploreError;
use self::image::{bytes_in_use, image_bytes, kind_of};
use crate::error::Error;
use crate::new_file::NewFile;
use crate::opening::{Opened, Source};
use crate::printable;

/// What to make of an image.
#[derive(Args, Debug)]
pub struct ExploreArguments {
    /// The image or dump.
    #[command(flatten)]
    pub source: Source,
    /// Page to write; the image's name with `.html` in this directory if left out. A file is never overwritten.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Picture to write instead of a page, as SVG.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    svg: Option<PathBuf>,
    /// Serve the page instead, on this address of the loopback, and follow the image read-only.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8474",
        conflicts_with_all = ["out", "svg"], value_parser = loopback)]
    serve: Option<SocketAddr>,
}

impl ExploreArguments {
    /// Whether the command goes on until it is stopped.
    pub fn goes_on(&self) -> bool {
        self.serve.is_some()
    }
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text.parse().map_err(|_| "no address such as 127.0.0.1:8474".to_owned())?;
    match address.ip().is_loopback() {
        true => Ok(address),
        false => Err("not an address of the loopback: whoever reaches the page reads the image".to_owned()),
    }
}

/// Does what is asked for; `say` prints what is done while the command goes on.
///
/// # Errors
/// When the image cannot be opened, or the file cannot be made.
pub fn run(arguments: &ExploreArguments, say: impl Fn(String)) -> Result<String, Error> {
    let source = &arguments.source;
    let name = source.image.file_name().unwrap_or_default().to_string_lossy();
    let name = printable::line(&name);
    if kind_of(&source.image)? == Some(ImageKind::Nand) && source.region.is_some() {
        source.read_nand()?;
    }
    if let Some(address) = arguments.serve {
        // It may be in use, but has to be there, and to be what the arguments say.
        bytes_in_use(source)?;
        let page = page(&name, ImageFrom::Server(serve::IMAGE_PATH)).map_err(ExploreError::NoProgram)?;
        return serve::serve(address, page, source, say);
    }
    if let Some(file) = &arguments.svg {
        let shown = match source.read()? {
            Opened::Nor(part) => of_nor(part),
            Opened::Nand(part) => of_nand(part),
        };
        let picture = shown.and_then(|mut shown| picture::svg(&mut *shown, &name));
        let picture = picture.map_err(|why| ExploreError::NoPicture { image: source.image.clone(), why })?;
        NewFile::write(file, picture.as_bytes())?;
        return Ok(format!("{}: a picture of {name}\n", file.display()));
    }
    let page = page(&name, ImageFrom::Page(&image_bytes(source)?)).map_err(ExploreError::NoProgram)?;
    let file = arguments.out.clone().unwrap_or_else(|| Path::new(&*name).with_extension("html"));
    NewFile::write(&file, page.as_bytes())?;
    Ok(format!("{}: a page of {} bytes that shows {name}\n", file.display(), page.len()))
}
