//! The forms of dumps, by the first bytes of a file.

use std::fmt;

use super::uf2;

/// How a file has its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The bytes alone.
    Binary,
    /// Intel HEX.
    Hex,
    /// UF2 blocks.
    Uf2,
    /// The segments of an ELF file, at the addresses where they are loaded.
    Elf,
}

impl Form {
    /// What the first bytes of a file are of.
    pub fn of(file: &[u8]) -> Form {
        match file {
            _ if uf2::is_uf2(file) => Form::Uf2,
            [0x7F, b'E', b'L', b'F', ..] => Form::Elf,
            [b':', rest @ ..] if rest.iter().take(10).all(u8::is_ascii_hexdigit) => Form::Hex,
            _ => Form::Binary,
        }
    }

    /// In a word, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Form::Binary => "binary",
            Form::Hex => "hex",
            Form::Uf2 => "uf2",
            Form::Elf => "elf",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Binary => "binary dump",
            Form::Hex => "Intel HEX file",
            Form::Uf2 => "UF2 file",
            Form::Elf => "ELF file",
        })
    }
}
