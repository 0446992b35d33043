//! A run of an applet's code: what the runtime knows of the card meanwhile, and of the command that it answers.

use crate::command::Command;
use crate::memory::{Contexts, INSTANCES_MAX};

/// The protocol between card and reader, as applets are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Bytes: an applet does not know whether its answer is wanted, and is told that 256 bytes are.
    T0,
    /// Blocks.
    T1,
}

/// Logical channels of a card.
pub const CHANNELS: u8 = 4;

/// An applet's instance, as it is known in RAM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instance {
    /// The applet; 0 where there is no instance.
    pub applet: i32,
    /// Its identifier, an object of the runtime's.
    pub aid: i32,
}

/// Whether a command selects the applet that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selecting {
    No,
    /// Another applet was selected on the channel, or none.
    Yes,
    /// It was selected already.
    Again,
}

/// An applet that is being installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Installing {
    /// What it was asked to be called.
    pub aid: norn_card_package::Aid,
    /// The package of it.
    pub package: u8,
    /// It has registered itself.
    pub is_registered: bool,
    /// The number of the instance that it becomes.
    pub instance: u8,
}

/// What the runtime knows between commands.
#[derive(Debug)]
pub(crate) struct State {
    pub instances: [Instance; INSTANCES_MAX as usize + 1],
    /// The instance that is selected on each channel; 0 for none.
    pub selected: [u8; CHANNELS as usize],
    /// Which channels are open.
    pub open: [bool; CHANNELS as usize],
    /// The channel of the command that is carried out.
    pub channel: u8,
    pub installing: Option<Installing>,
    /// Whether the applet that `process` is called on is being selected by this command.
    pub selecting: Selecting,
    pub deletion_requested: bool,
    pub protocol: Protocol,
}

impl State {
    pub fn new(protocol: Protocol) -> State {
        State {
            instances: [Instance::default(); INSTANCES_MAX as usize + 1],
            selected: [0; CHANNELS as usize],
            open: [true, false, false, false],
            channel: 0,
            installing: None,
            selecting: Selecting::No,
            deletion_requested: false,
            protocol,
        }
    }

    pub fn instance(&self, number: u8) -> Option<Instance> {
        self.instances.get(usize::from(number)).copied().filter(|instance| instance.applet != 0)
    }

    /// Whether an instance of a context is selected on a channel, other than one.
    pub fn is_active(&self, contexts: &Contexts, context: u8, except: Option<u8>) -> bool {
        (0..)
            .zip(self.selected)
            .any(|(channel, selected)| Some(channel) != except && selected != 0 && contexts.of(selected) == context)
    }

    /// Whether arrays of a context may be used that deselection clears: it is selected, or an applet of it is being
    /// installed.
    pub fn may_use_selected(&self, contexts: &Contexts, context: u8) -> bool {
        let is_installing = self.installing.is_some_and(|applet| contexts.of(applet.instance) == context);
        is_installing || self.is_active(contexts, context, None)
    }
}

/// A run: the state, the command, and the answer so far.
#[derive(Debug)]
pub(crate) struct Session<'a, K> {
    pub state: &'a mut State,
    pub crypto: &'a mut K,
    pub command: Command<'a>,
    pub response: &'a mut [u8],
    /// Bytes of the answer.
    pub sent: usize,
    /// Bytes of the command's data that the applet has received.
    pub received: usize,
    /// The applet has said that it answers so many bytes.
    pub length: usize,
    /// One of `APDU`'s states.
    pub apdu_state: i8,
}

impl<'a, K> Session<'a, K> {
    pub fn new((state, crypto): (&'a mut State, &'a mut K), command: Command<'a>, response: &'a mut [u8]) -> Self {
        Session { state, crypto, command, response, sent: 0, received: 0, length: 0, apdu_state: 0 }
    }
}
