//! That a device was asked for nothing outside of the part.

use std::fmt::Debug;

/// What a simulated part says of places that it does not have.
const OUTSIDE: [&str; 4] = ["OutOfRange { address", "NoSuchPage", "NoSuchBlock", "OutOfRegister"];

/// An error is a right answer to damage, but for one of a device that was asked for a place outside of the part.
pub(crate) fn expect_within<T, E: Debug>(result: &Result<T, E>) {
    if let Err(error) = result {
        let text = format!("{error:?}");
        assert!(!OUTSIDE.iter().any(|outside| text.contains(outside)), "{text}");
    }
}
