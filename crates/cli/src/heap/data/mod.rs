//! `norn heap export` and `import`: a heap as a JSON document, and an image made of one.
//!
//! `docs/format/heap-json.md` has every member of the document.
//!
//! A heap has no classes, only fields of some width. A document gives them names and [types](values); `export --types`
//! takes those of another document. An object is named by its reference, `#SLOT.GENERATION`, which it then gets, or by
//! any other word, and gets a free one ([`references`]).

mod classes;
pub mod document;
mod export;
mod failure;
mod import;
mod members;
mod references;
mod syntax;
mod values;

pub use export::export;
pub use import::import;
