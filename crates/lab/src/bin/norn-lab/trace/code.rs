//! Where a program's code is: its file, and the addresses of its code section while it runs.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::{Object, ObjectKind, ObjectSection};

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
