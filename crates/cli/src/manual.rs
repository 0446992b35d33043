//! The manual's pages and the completions of shells, made from the definition of the command line.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::error::Error;

/// The script that completes the commands and options of `norn` in a shell.
pub fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "norn", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Writes a page for `norn` and one for each of its commands, and returns what to do with them.
///
/// # Errors
///
/// [`Error::Manual`] if the directory cannot be made or a page cannot be written.
pub fn write(directory: &Path) -> Result<String, Error> {
    let failed = |source| Error::Manual { directory: directory.to_owned(), source };
    fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(Arguments::command(), directory).map_err(failed)?;
    let page = directory.join("norn.1");
    Ok(format!("{}: the manual's pages; `man {}` shows the first\n", directory.display(), page.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_completes_the_commands() {
        for shell in [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
            let script = completions(shell);
            for command in ["heap", "convert", "nbd", "serve"] {
                assert!(script.contains(command), "{shell}: {command}");
            }
        }
    }

    #[test]
    fn each_command_has_a_page() {
        let directory = tempfile::tempdir().unwrap();
        write(&directory.path().join("man1")).unwrap();
        let page = fs::read_to_string(directory.path().join("man1/norn-heap-create.1")).unwrap();
        assert!(page.contains(r"\-\-engine"), "{page}");
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(write(&file).unwrap_err().to_string().contains("the manual's pages cannot be written"));
    }
}
