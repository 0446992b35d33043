//! What the page calls: plain exports of a WebAssembly module, without imports.
//!
//! 1. `norn_room(n)` gives the address of `n` bytes; the page writes its question or image there.
//! 2. `norn_open()` takes them for an image as [`ImageBytes`] packs it, `norn_empty()` for the name of a part,
//!    `norn_ask()` for a question, `norn_image()` needs none. Each returns the length of its answer, JSON but for the
//!    image's, which is packed, too.
//! 3. `norn_answer()` gives the address of the answer, which is there up to the next call.

use std::cell::RefCell;

use norn_flash_sim::ImageBytes;
use serde_json::{Value, json};

use crate::session::Session;

/// The page's side of the memory.
#[derive(Default)]
struct Desk {
    question: Vec<u8>,
    answer: Vec<u8>,
    session: Option<Session>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

impl Desk {
    fn put(&mut self, answer: &Value) -> usize {
        self.answer = answer.to_string().into_bytes();
        self.answer.len()
    }

    fn take(&mut self, opened: Result<Session, String>) -> usize {
        match opened {
            Ok(session) => {
                self.session = Some(session);
                self.put(&json!({}))
            }
            Err(why) => self.put(&json!({ "error": why })),
        }
    }
}

fn at_desk<T>(work: impl FnOnce(&mut Desk) -> T) -> T {
    DESK.with(|desk| work(&mut desk.borrow_mut()))
}

/// Room for a question of so many bytes: its address.
#[unsafe(no_mangle)]
pub extern "C" fn norn_room(bytes: usize) -> *mut u8 {
    at_desk(|desk| {
        desk.question = vec![0; bytes];
        desk.question.as_mut_ptr()
    })
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn norn_answer() -> *const u8 {
    at_desk(|desk| desk.answer.as_ptr())
}

/// Opens the packed image in the room.
#[unsafe(no_mangle)]
pub extern "C" fn norn_open() -> usize {
    at_desk(|desk| {
        let packed = std::mem::take(&mut desk.question);
        desk.take(ImageBytes::from_packed(&packed).map_err(str::to_owned).and_then(Session::open))
    })
}

/// Begins on an empty heap, on the part whose name is in the room.
#[unsafe(no_mangle)]
pub extern "C" fn norn_empty() -> usize {
    at_desk(|desk| {
        let name = String::from_utf8_lossy(&desk.question).into_owned();
        desk.take(Session::empty(&name))
    })
}

/// Answers the question in the room.
#[unsafe(no_mangle)]
pub extern "C" fn norn_ask() -> usize {
    at_desk(|desk| {
        let question = std::mem::take(&mut desk.question);
        let answer = match &mut desk.session {
            Some(session) => session.answer(&question),
            None => json!({ "error": "no image is open" }),
        };
        desk.put(&answer)
    })
}

/// The image file of what is shown, packed; no bytes where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn norn_image() -> usize {
    at_desk(|desk| {
        let image = desk.session.as_ref().and_then(|session| session.image().ok());
        desk.answer = image.map_or_else(Vec::new, |image| image.to_packed());
        desk.answer.len()
    })
}
