//! Where a program's code is: its file, the addresses of its code section while it runs, and its functions.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, SymbolKind};

use super::failure::TraceError;

/// What valgrind adds to the addresses of a program that runs anywhere.
const VALGRIND_BASE: u64 = 0x10_8000;

/// The file of a program: a path, or a name in one of the directories of `PATH`.
pub fn find(program: &OsStr) -> Result<PathBuf, TraceError> {
    let path = Path::new(program);
    let found = if path.components().count() > 1 {
        Some(path.to_owned()).filter(|path| path.is_file())
    } else {
        let directories = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&directories).map(|directory| directory.join(path)).find(|path| path.is_file())
    };
    found.ok_or_else(|| TraceError::NoSuchProgram { program: path.to_owned() })
}

/// The addresses of its code section, as it runs under valgrind.
pub fn section(program: &Path) -> Result<Range<u64>, TraceError> {
    let bytes = fs::read(program).map_err(TraceError::file(program))?;
    let no_program = |problem: String| TraceError::NoProgramFile { program: program.to_owned(), problem };
    let file = object::File::parse(&*bytes).map_err(|error| no_program(error.to_string()))?;
    let base = match file.kind() {
        ObjectKind::Executable => 0,
        ObjectKind::Dynamic => VALGRIND_BASE,
        other => return Err(no_program(format!("{other:?}"))),
    };
    let text = file.section_by_name(".text").ok_or_else(|| no_program("no section .text".to_owned()))?;
    let start = base + text.address();
    if text.size() == 0 || text.size() > u64::from(u32::MAX) {
        return Err(no_program(format!("a section .text of {} bytes", text.size())));
    }
    Ok(start..start + text.size())
}

/// A program's code section and the functions in it.
#[derive(Clone, Debug)]
pub struct Functions {
    /// Bytes of the section.
    pub code_bytes: u64,
    /// The names of each function, by its offset in the section; several names of one function are sorted.
    pub names: BTreeMap<u32, Vec<String>>,
    /// Where the program begins, if that is in the section.
    pub entry: Option<u32>,
}

/// The functions that a program's symbols name.
pub fn functions(program: &Path) -> Result<Functions, TraceError> {
    let code = section(program)?;
    let bytes = fs::read(program).map_err(TraceError::file(program))?;
    let no_program =
        |error: object::Error| TraceError::NoProgramFile { program: program.to_owned(), problem: error.to_string() };
    let file = object::File::parse(&*bytes).map_err(no_program)?;
    let text = file.section_by_name(".text").map(|text| (text.index(), text.address()));
    let mut names: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let code_bytes = code.end - code.start;
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
        let Some((_, start)) = text.filter(|&(index, _)| symbol.section_index() == Some(index)) else { continue };
        let offset = symbol.address().checked_sub(start).filter(|&offset| offset < code_bytes);
        if let (Some(offset), Ok(name)) = (offset, symbol.name()) {
            names.entry(offset as u32).or_default().push(name.to_owned());
        }
    }
    names.values_mut().for_each(|names| names.sort());
    if names.is_empty() {
        return Err(TraceError::NoSymbols { program: program.to_owned() });
    }
    let entry = text.and_then(|(_, start)| file.entry().checked_sub(start)).filter(|&entry| entry < code_bytes);
    Ok(Functions { code_bytes, names, entry: entry.map(|entry| entry as u32) })
}
