//! `norn heap convert`: a heap's copy in an image of the other engine, and what became of its references.

use std::fmt::Write;

use norn_heap_image::convert::{Conversion, Converted, Outcome, References, convert};

use crate::error::Error;
use crate::heap::arguments::ConvertArguments;

/// Converts a heap, and says what was copied. What cannot keep its reference is listed by `show` before it is refused.
///
/// # Errors
/// When an image cannot be opened, made or used, or references cannot be kept and have to be.
pub fn run(arguments: &ConvertArguments, show: impl FnOnce(&str) -> Result<(), Error>) -> Result<String, Error> {
    let ConvertArguments { old, new, part, new_references } = arguments;
    let references = if *new_references { References::KeptWherePossible } else { References::AllKept };
    let conversion = Conversion { old: old.clone(), new: new.clone(), part: part.clone(), references };
    match convert(&conversion)? {
        Outcome::Made(converted) => Ok(made_text(arguments, &converted)),
        Outcome::Refused { to, references } => {
            let lines = references.iter().map(|reference| format!("cannot be kept  {reference}\n"));
            show(&lines.collect::<String>())?;
            Err(Error::ReferencesNotKept { image: old.clone(), engine: to, count: references.len() })
        }
    }
}

fn made_text(arguments: &ConvertArguments, converted: &Converted) -> String {
    let Converted { from, to, error_detection, objects, arrays, roots, changed, stale_roots } = converted;
    let (old, new, to) = (arguments.old.display(), arguments.new.display(), to.format(*error_detection));
    let mut text = format!(
        "{new}: what {old} holds, converted from engine {from} to {to}: objects {objects}, arrays {arrays}, roots \
         {roots}\n"
    );
    for (before, now) in changed {
        let _ = writeln!(text, "changed  {before} is {now} now"); // A string takes everything.
    }
    for name in stale_roots {
        let _ = writeln!(text, "left out  root {}, which led to something deleted", name.escape_ascii());
    }
    text
}
