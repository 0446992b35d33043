//! Commands: logical channels, selection, and what goes to an applet.
//!
//! | command | who answers |
//! |---|---|
//! | of a class that no channel has | 6881 |
//! | MANAGE CHANNEL | the runtime |
//! | SELECT by name, of an applet that is there | the applet, after `select` |
//! | anything else, where an applet is selected on the channel | the applet |
//! | anything else | 6999 |
//!
//! Source: Runtime Environment Specification, Java Card Platform, Classic Edition 3.0.5, chapter 4.

use norn_card_package::{ImageError, known_method};

use crate::applet_card::{AppletCard, CardError, DONE, Ended, ErrorOf, status};
use crate::command::{Command, WRONG_LENGTH};
use crate::crypto::Crypto;
use crate::heap::PersistentHeap;
use crate::memory::INSTANCES_MAX;
use crate::objects::{Form, Objects};
use crate::package_store::PackageStore;
use crate::ram::{APDU, APDU_BUFFER_BYTES, known};
use crate::session::{CHANNELS, Protocol, Selecting};
use crate::types;

const CHANNEL_NOT_SUPPORTED: u16 = 0x6881;
const CONDITIONS: u16 = 0x6985;
const NOT_SELECTED: u16 = 0x6999;
const NOT_SUPPORTED: u16 = 0x6A81;
const WRONG_P1_P2: u16 = 0x6A86;
const WRONG_CLASS: u16 = 0x6E00;

const MANAGE_CHANNEL: u8 = 0x70;
const SELECT: u8 = 0xA4;
const BY_NAME: u8 = 4;
const NEXT: u8 = 2;

const MULTISELECTABLE: u8 = known("javacard/framework/MultiSelectable");

/// A known method's place, while a constant is made.
const fn method(class: &str, name: &str, descriptor: &str) -> u8 {
    match known_method(class, name, descriptor) {
        Some(place) => place,
        None => panic!("the list of known methods has it"),
    }
}

const PROCESS: u8 = method("javacard/framework/Applet", "process", "(Ljavacard/framework/APDU;)V");
const APPLET_SELECT: u8 = method("javacard/framework/Applet", "select", "()Z");
const APPLET_DESELECT: u8 = method("javacard/framework/Applet", "deselect", "()V");
const MULTI_SELECT: u8 = method("javacard/framework/MultiSelectable", "select", "(Z)Z");
const MULTI_DESELECT: u8 = method("javacard/framework/MultiSelectable", "deselect", "(Z)V");

/// The channel that a class byte names; none for one that a card of four channels does not have. Proprietary classes
/// from C0 on, of which some cards give sixteen to channels that there are not, name the first one.
fn channel_of(class: u8) -> Option<u8> {
    match class {
        0x00..=0x1F | 0x80..=0xBF => Some(class & 3),
        0xC0..=0xFE => Some(0),
        _ => None,
    }
}

impl<H: PersistentHeap, S: PackageStore, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize, const CELLS: usize>
    AppletCard<H, S, K, PACKAGES, TRANSIENT, CELLS>
{
    /// Carries a command out, and says how many bytes it answers, and the status word.
    pub(crate) fn carry_out(
        &mut self,
        command: Command<'_>,
        response: &mut [u8],
    ) -> Result<(usize, u16), ErrorOf<H, S>> {
        let [class, instruction, p1, p2] = command.header;
        if class == 0xFF {
            return Ok((0, WRONG_CLASS));
        }
        let Some(channel) = channel_of(class) else { return Ok((0, CHANNEL_NOT_SUPPORTED)) };
        let is_selection = class & 0xFC == 0 && instruction == SELECT && p1 == BY_NAME && p2 & !NEXT == 0;
        if !self.state.open[usize::from(channel)] && !is_selection {
            return Ok((0, CHANNEL_NOT_SUPPORTED));
        }
        self.state.channel = channel;
        self.put_header(command);
        if class & 0xFC == 0 && instruction == MANAGE_CHANNEL {
            return self.manage_channel(channel, (p1, p2), response);
        }
        let after = (p2 == NEXT).then(|| self.state.selected[usize::from(channel)]);
        let found = if is_selection { self.matching(command.data, after)? } else { None };
        if let Some(found) = found {
            self.state.open[usize::from(channel)] = true;
            let was_selected = self.state.selected[usize::from(channel)] == found;
            return match self.select(channel, found)? {
                DONE => {
                    self.state.selecting = if was_selected { Selecting::Again } else { Selecting::Yes };
                    let answered = self.forward(channel, command, response);
                    self.state.selecting = Selecting::No;
                    answered
                }
                refusal => Ok((0, refusal)),
            };
        }
        match self.state.selected[usize::from(channel)] {
            0 => Ok((0, NOT_SELECTED)),
            _ => self.forward(channel, command, response),
        }
    }

    /// Puts a command's header into the cleared APDU buffer, and what comes with it.
    fn put_header(&mut self, command: Command<'_>) {
        let buffer: &mut [u8; APDU_BUFFER_BYTES] = &mut self.memory.ram.buffer;
        buffer.fill(0);
        buffer[..4].copy_from_slice(&command.header);
        let expected = command.expected.unwrap_or(0);
        match (command.is_extended, command.data.len()) {
            (false, 0) => buffer[4] = expected as u8,
            (false, length) => {
                buffer[4] = length as u8;
                // Blocks bring short data with the header: some applets look at it without asking for it.
                if self.state.protocol == Protocol::T1
                    && let Some(place) = buffer.get_mut(5..5 + length)
                {
                    place.copy_from_slice(command.data);
                }
            }
            (true, 0) => buffer[5..7].copy_from_slice(&expected.to_be_bytes()),
            (true, length) => buffer[5..7].copy_from_slice(&(length as u16).to_be_bytes()),
        }
    }

    /// Whether an instance's class is below a known one.
    fn is_of(&mut self, instance: u8, place: u8) -> Result<bool, ErrorOf<H, S>> {
        let Some(instance) = self.state.instance(instance) else { return Ok(false) };
        let Form::Object(class) = self.memory.form(instance.applet).map_err(Self::objects)? else { return Ok(false) };
        let of = self.memory.ram.known.class(place);
        match types::is_below(&mut self.packages, class, of) {
            Ok(is) => Ok(is),
            Err(ImageError::Read(error)) => Err(CardError::Packages(error)),
            Err(ImageError::Wrong { .. }) => Ok(false),
        }
    }

    /// Has the selected applet carry a command out.
    fn forward(
        &mut self,
        channel: u8,
        command: Command<'_>,
        response: &mut [u8],
    ) -> Result<(usize, u16), ErrorOf<H, S>> {
        let number = self.state.selected[usize::from(channel)];
        let Some(instance) = self.state.instance(number) else { return Ok((0, NOT_SELECTED)) };
        if command.is_extended && !self.is_of(number, const { known("javacardx/apdu/ExtendedLength") })? {
            return Ok((0, WRONG_LENGTH));
        }
        let (ended, sent) = self.call((command, response), (number, None, PROCESS), &[instance.applet, APDU])?;
        Ok((sent, status(ended)))
    }

    /// The instance whose identifier is, or starts with, a name; or the first one after another whose identifier starts
    /// with it.
    fn matching(&mut self, name: &[u8], after: Option<u8>) -> Result<Option<u8>, ErrorOf<H, S>> {
        let first = after.unwrap_or(0) + 1;
        let mut partial = None;
        for number in first..=INSTANCES_MAX {
            let Some((aid, _)) = self.instance(number)? else { continue };
            if aid.as_bytes() == name && after.is_none() {
                return Ok(Some(number));
            }
            if aid.as_bytes().starts_with(name) {
                partial = partial.or(Some(number));
            }
        }
        Ok(partial)
    }

    /// Runs a method of an instance that takes no part in the answer.
    fn tell(&mut self, number: u8, of: (Option<u8>, u8), arguments: &[i32]) -> Result<Ended, ErrorOf<H, S>> {
        let nobody = (Command::none(), &mut [][..]);
        let (class, place) = of;
        self.call(nobody, (number, class, place), arguments).map(|(ended, _)| ended)
    }

    /// Deselects what is selected on a channel, whatever it throws.
    fn deselect(&mut self, channel: u8) -> Result<(), ErrorOf<H, S>> {
        let number = self.state.selected[usize::from(channel)];
        let Some(instance) = self.state.instance(number) else { return Ok(()) };
        let context = self.memory.contexts.of(number);
        let is_elsewhere = self.state.is_active(&self.memory.contexts, context, Some(channel));
        if is_elsewhere && self.is_of(number, MULTISELECTABLE)? {
            let stays = self.is_selected_elsewhere(channel, number);
            self.tell(number, (Some(MULTISELECTABLE), MULTI_DESELECT), &[instance.applet, i32::from(stays)])?;
        } else {
            self.tell(number, (None, APPLET_DESELECT), &[instance.applet])?;
        }
        self.state.selected[usize::from(channel)] = 0;
        if !is_elsewhere {
            self.memory.ram.deselect(context);
        }
        Ok(())
    }

    fn is_selected_elsewhere(&self, channel: u8, number: u8) -> bool {
        (0..).zip(self.state.selected).any(|(other, selected)| other != channel && selected == number)
    }

    /// Selects an instance on a channel in place of what is selected there; 9000, or why not.
    fn select(&mut self, channel: u8, number: u8) -> Result<u16, ErrorOf<H, S>> {
        let context = self.memory.contexts.of(number);
        let is_elsewhere = self.state.is_active(&self.memory.contexts, context, Some(channel));
        let is_multiselectable = self.is_of(number, MULTISELECTABLE)?;
        if is_elsewhere && !is_multiselectable {
            return Ok(CONDITIONS);
        }
        self.deselect(channel)?;
        let Some(instance) = self.state.instance(number) else { return Ok(NOT_SELECTED) };
        self.state.selected[usize::from(channel)] = number;
        let is_active = i32::from(self.is_selected_elsewhere(channel, number));
        let ended = match is_elsewhere {
            true => self.tell(number, (Some(MULTISELECTABLE), MULTI_SELECT), &[instance.applet, is_active])?,
            false => self.tell(number, (None, APPLET_SELECT), &[instance.applet])?,
        };
        if ended == Ended::Returned(1) {
            return Ok(DONE);
        }
        self.state.selected[usize::from(channel)] = 0;
        if !is_elsewhere {
            self.memory.ram.deselect(context);
        }
        Ok(NOT_SELECTED)
    }

    /// Opens a channel, with what is selected on the one that asks, or closes one.
    fn manage_channel(
        &mut self,
        channel: u8,
        (p1, p2): (u8, u8),
        response: &mut [u8],
    ) -> Result<(usize, u16), ErrorOf<H, S>> {
        match (p1, p2) {
            (0x00, 0..CHANNELS) => {
                let is_free = |other: &u8| !self.state.open[usize::from(*other)];
                let found = match p2 {
                    0 => (1..CHANNELS).find(is_free),
                    wanted => Some(wanted).filter(is_free),
                };
                let Some(found) = found else {
                    return Ok((0, if p2 == 0 { NOT_SUPPORTED } else { CHANNEL_NOT_SUPPORTED }));
                };
                // The basic channel passes nothing on: there is no applet that is selected by itself.
                let selected = if channel == 0 { 0 } else { self.state.selected[usize::from(channel)] };
                self.state.open[usize::from(found)] = true;
                let status = if selected == 0 { DONE } else { self.select(found, selected)? };
                if status != DONE {
                    self.state.open[usize::from(found)] = false;
                    return Ok((0, status));
                }
                match (p2, response.first_mut()) {
                    (0, Some(answer)) => {
                        *answer = found;
                        Ok((1, DONE))
                    }
                    _ => Ok((0, DONE)),
                }
            }
            (0x80, 1..CHANNELS) => {
                if !self.state.open[usize::from(p2)] {
                    return Ok((0, CHANNEL_NOT_SUPPORTED));
                }
                self.deselect(p2)?;
                self.state.open[usize::from(p2)] = false;
                Ok((0, DONE))
            }
            (0x00 | 0x80, _) => Ok((0, CHANNEL_NOT_SUPPORTED)),
            _ => Ok((0, WRONG_P1_P2)),
        }
    }
}
