//! What a conversation reports of its progress, so that whoever supervises it can set deadlines and end it.

/// What a conversation does. The client alone decides how long a stage takes, except [`Serving`](Stage::Serving).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Shaking hands, with all options and their replies. Every conversation begins with it.
    Handshake,
    /// Waiting for the first byte of a request.
    Idle,
    /// Waiting for the rest of a request.
    Receiving,
    /// Carrying a request out.
    Serving,
    /// Sending a reply, which the client has to take.
    Sending,
}

/// The supervisor ends the conversation: nothing further is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dismissed;

/// One conversation's supervisor. It also has to end waits for the client, by closing the connection: a conversation
/// asks only when it enters a stage.
pub trait Supervisor {
    /// Called when a stage begins, and once for each: bytes that arrive within a stage are not reported.
    ///
    /// # Errors
    /// [`Dismissed`]: the conversation ends.
    fn enter(&self, stage: Stage) -> Result<(), Dismissed>;
}

/// Lets a conversation go on for ever.
#[derive(Clone, Copy, Debug)]
pub struct Unsupervised;

impl Supervisor for Unsupervised {
    fn enter(&self, _: Stage) -> Result<(), Dismissed> {
        Ok(())
    }
}
