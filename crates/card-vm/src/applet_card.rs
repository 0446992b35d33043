//! A card: packages, applets and their objects, and what a reader or a host asks of them.
//!
//! Every call of an applet's code is a run of its own: on behalf of the instance, with so many bytecodes at most. A
//! transaction that is open when it ends is undone. An `ISOException` ends it with its reason, anything else with 6F00;
//! so does the limit, which no handler catches.
//!
//! A package is installed if its static fields are there, or an object in their place. It is in the store before they
//! are made, and leaves it after they went: when power comes, the store is asked for those that are installed alone.
//!
//! Source: Runtime Environment Specification, Java Card Platform, Classic Edition 3.0.5, chapters 3 and 4.

use core::marker::PhantomData;

use norn_card_package::{Aid, ImageError, Package, check};

use crate::calls::Callee;
use crate::card::{Card, InstallError};
use crate::code::CodeError;
use crate::command::{Command, WRONG_LENGTH};
use crate::crypto::Crypto;
use crate::end::{End, Failure, Stop};
use crate::heap::{PersistentHeap, Tracer};
use crate::machine::Machine;
use crate::memory::{INSTANCES_MAX, Memory, MemoryError};
use crate::objects::{Form, Objects};
use crate::package_store::{AddError, PackageStore};
use crate::persistent::{ObjectError, StaticsError, TransactionRefusal};
use crate::ram::{APDU_BUFFER, Known, known};
use crate::session::{Installing, Protocol, Session, State};
use crate::trace::{self, Used, Users};
use crate::types;

/// Bytes of `bArray` at most: its length is a byte.
const INSTALL_BYTES: usize = 127;
/// 9000.
pub(crate) const DONE: u16 = 0x9000;
/// What an applet's failure is to a reader.
pub(crate) const UNKNOWN: u16 = 0x6F00;

/// Why a memory of the card fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardError<H, C> {
    /// The heap.
    Heap(H),
    /// What keeps the packages.
    Packages(C),
    /// What the runtime keeps of its own on the heap is damaged.
    Damaged,
    /// There is no room to undo an installation that the power has cut.
    NoRoom,
}

/// The errors of a card's memories.
pub type ErrorOf<H, S> = CardError<<H as PersistentHeap>::Error, CodeError<S>>;

/// How a run of an applet's code has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It returned.
    Returned(i32),
    /// It failed, with this status word.
    Status(u16),
}

/// A card over a heap, a store of packages and algorithms. `CELLS` are those of frames and operand stacks.
///
/// RAM: 4 bytes a cell, `TRANSIENT` bytes of arrays, 8 bytes a package, and some 700 more, beside heap and store.
#[derive(Debug)]
pub struct AppletCard<
    H: PersistentHeap,
    S: PackageStore,
    K,
    const PACKAGES: usize,
    const TRANSIENT: usize,
    const CELLS: usize,
> {
    pub(crate) memory: Memory<H, PACKAGES, TRANSIENT>,
    pub(crate) packages: S,
    crypto: K,
    pub(crate) state: State,
    cells: [i32; CELLS],
    bytecodes: u32,
}

impl<H: PersistentHeap, S: PackageStore, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize, const CELLS: usize>
    AppletCard<H, S, K, PACKAGES, TRANSIENT, CELLS>
{
    /// The card that a mounted heap and a store have. A run of an applet's code may take so many bytecodes.
    ///
    /// # Errors
    ///
    /// If a memory fails.
    pub fn mount(heap: H, packages: S, crypto: K, bytecodes: u32) -> Result<Self, ErrorOf<H, S>> {
        let mut card = AppletCard::off(heap, packages, crypto, bytecodes);
        card.power_up()?;
        Ok(card)
    }

    /// The same card without power: [`Card::reset`] has to be its first call. It is made in the caller's memory,
    /// without a second copy on the stack.
    #[inline]
    pub fn off(heap: H, packages: S, crypto: K, bytecodes: u32) -> Self {
        let (memory, state) = (Memory::unread(heap), State::new(Protocol::T1));
        AppletCard { memory, packages, crypto, state, cells: [0; CELLS], bytecodes }
    }

    /// Says which protocol applets are told of; T=1 before.
    pub fn set_protocol(&mut self, protocol: Protocol) {
        self.state.protocol = protocol;
    }

    /// The packages' store.
    pub fn packages(&mut self) -> &mut S {
        &mut self.packages
    }

    /// The heap.
    pub fn heap(&mut self) -> &mut H {
        self.memory.forget();
        self.memory.persistent.heap()
    }

    /// Heap and store; what is in RAM is lost.
    pub fn into_parts(self) -> (H, S) {
        (self.memory.persistent.into_heap(), self.packages)
    }

    /// The identifier and the package of an instance, by a number from 1 to [`INSTANCES_MAX`].
    ///
    /// # Errors
    ///
    /// If the heap fails.
    pub fn instance(&mut self, number: u8) -> Result<Option<(Aid, u8)>, ErrorOf<H, S>> {
        let Some(instance) = self.state.instance(number) else { return Ok(None) };
        let aid = self.memory.aid_bytes(instance.aid).map_err(Self::objects)?;
        Ok(Some((aid, self.memory.contexts.of(number))))
    }

    /// What a power cut has left half done is undone, and what RAM knows of the card is read.
    fn power_up(&mut self) -> Result<(), ErrorOf<H, S>> {
        if self.memory.persistent.in_transaction() {
            self.abort()?;
        }
        self.memory.ram.reset();
        self.memory.persistent.read_statics().map_err(CardError::Heap)?;
        self.memory.read_used().map_err(Self::objects)?;
        self.state = State::new(self.state.protocol);
        let statics = &self.memory.persistent;
        self.packages.open(|number| statics.has_statics(number)).map_err(CardError::Packages)?;
        for number in 0..PACKAGES as u8 {
            // Left by an installation that has failed. What the power has cut is in no room that was opened.
            if !statics.has_statics(number) && self.packages.package(number).is_some() {
                self.packages.remove(number).map_err(CardError::Packages)?;
            }
        }
        self.read_known()?;
        self.settle_installation()?;
        self.state.instances = self.memory.instances().map_err(Self::objects)?;
        self.finish_old_keys()
    }

    /// Undoes an installation that the power has cut, with the room of what it has made where there is no other.
    fn settle_installation(&mut self) -> Result<(), ErrorOf<H, S>> {
        for _ in 0..2 {
            match self.memory.settle_installation() {
                Ok(()) => return Ok(()),
                Err(Failure::Error(error)) => return Err(Self::objects(error)),
                Err(_) => _ = self.collect()?,
            }
        }
        Err(CardError::NoRoom)
    }

    /// Whether a package of a number is installed; its image may be missing, where a memory has lost it.
    pub fn is_installed(&self, number: u8) -> bool {
        self.memory.persistent.has_statics(number)
    }

    /// Looks for the API, the one package with native methods.
    fn read_known(&mut self) -> Result<(), ErrorOf<H, S>> {
        for number in 0..PACKAGES as u8 {
            let Some((package, image)) = self.packages.package(number) else { continue };
            if package.has_natives {
                let package = *package;
                match Known::read(number, &package, image) {
                    Ok(known) => self.memory.ram.known = known,
                    Err(ImageError::Read(error)) => return Err(CardError::Packages(error)),
                    // The image has been checked when it was installed: nothing is known of a damaged one.
                    Err(ImageError::Wrong { .. }) => {}
                }
            }
        }
        Ok(())
    }

    pub(crate) fn objects(error: MemoryError<H>) -> ErrorOf<H, S> {
        match error {
            ObjectError::Heap(error) => CardError::Heap(error),
            // A damaged registry: nothing of the runtime's own is read otherwise.
            ObjectError::Reference(_) | ObjectError::Package(_) => CardError::Damaged,
        }
    }

    fn abort(&mut self) -> Result<(), ErrorOf<H, S>> {
        match self.memory.abort() {
            Err(TransactionRefusal::Heap(error)) => Err(CardError::Heap(error)),
            _ => Ok(()),
        }
    }

    /// Runs a method of an object, by the place of its slot among the known ones.
    pub(crate) fn call(
        &mut self,
        (command, response): (Command<'_>, &mut [u8]),
        (instance, class, place): (u8, Option<u8>, u8),
        arguments: &[i32],
    ) -> Result<(Ended, usize), ErrorOf<H, S>> {
        let Some(&applet) = arguments.first() else { return Ok((Ended::Status(UNKNOWN), 0)) };
        let Form::Object(of) = self.memory.form(applet).map_err(Self::objects)? else {
            return Ok((Ended::Status(UNKNOWN), 0));
        };
        let number = self.memory.ram.known.slot(place);
        let callee = match class {
            None => Callee::in_slot(of, number),
            Some(interface) => Callee::through(self.memory.ram.known.class(interface), of, number),
        };
        match types::code_of(&mut self.packages, callee) {
            Ok(Some(method)) => self.run((command, response), instance, method, arguments),
            Err(ImageError::Read(error)) => Err(CardError::Packages(error)),
            Ok(None) | Err(ImageError::Wrong { .. }) => Ok((Ended::Status(UNKNOWN), 0)),
        }
    }

    /// Runs a method, and says how it ended and how many bytes it answered.
    fn run(
        &mut self,
        (command, response): (Command<'_>, &mut [u8]),
        owner: u8,
        method: (u8, u16),
        arguments: &[i32],
    ) -> Result<(Ended, usize), ErrorOf<H, S>> {
        let mut session = Session::new((&mut self.state, &mut self.crypto), command, response);
        let (objects, code) = (&mut self.memory, &mut self.packages);
        let mut machine = Machine::new(objects, code, &mut session, &mut self.cells, self.bytecodes);
        let end = machine.run(owner, method, arguments);
        let (sent, fits) = (session.sent, session.sent <= session.response.len());
        let ended = match end {
            Ok(End::Returned(value)) if fits => Ended::Returned(value.unwrap_or(0)),
            Ok(End::Thrown(thrown)) if fits => Ended::Status(self.status_of(thrown)?),
            Err(Stop::Objects(ObjectError::Heap(error))) if !H::is_misuse(&error) => {
                return Err(CardError::Heap(error));
            }
            Err(Stop::Image(ImageError::Read(error))) => return Err(CardError::Packages(error)),
            _ => Ended::Status(UNKNOWN),
        };
        self.memory.ram.end_globals();
        if self.memory.persistent.in_transaction() {
            self.abort()?;
        }
        let sent = if matches!(ended, Ended::Status(UNKNOWN)) { 0 } else { sent };
        Ok((ended, sent))
    }

    /// The status word that an exception answers: its reason, where it is an `ISOException`.
    fn status_of(&mut self, thrown: i32) -> Result<u16, ErrorOf<H, S>> {
        let iso = self.memory.ram.known.class(const { known("javacard/framework/ISOException") });
        let Ok(Form::Object(class)) = self.memory.form(thrown) else { return Ok(UNKNOWN) };
        match types::is_below(&mut self.packages, class, iso) {
            Ok(true) => {}
            Ok(false) | Err(ImageError::Wrong { .. }) => return Ok(UNKNOWN),
            Err(ImageError::Read(error)) => return Err(CardError::Packages(error)),
        }
        match self.memory.field(thrown, 0, norn_card_package::format::SHORT) {
            Ok(reason) => Ok(reason as u16),
            Err(ObjectError::Heap(error)) => Err(CardError::Heap(error)),
            Err(_) => Ok(UNKNOWN),
        }
    }

    /// Deletes what nothing reaches.
    ///
    /// # Errors
    ///
    /// If a memory fails.
    pub fn collect(&mut self) -> Result<u32, ErrorOf<H, S>> {
        let expected = self.expect_deleted_keys(None)?;
        let deleted = self.collect_garbage()?;
        self.settle_deleted_keys(expected)?;
        Ok(deleted)
    }

    fn collect_garbage(&mut self) -> Result<u32, ErrorOf<H, S>> {
        let Memory { persistent, ram, .. } = &mut self.memory;
        let packages = &mut self.packages;
        let mut tracer = trace::Objects::<H, _, TRANSIENT> { packages, ram, used: Used::default(), heap: PhantomData };
        let collected = persistent.heap().collect(&mut tracer);
        let used = tracer.used;
        self.memory.forget();
        match collected {
            Ok(Some(deleted)) => {
                let end = if used.bytes < used.end { self.memory.compact() } else { Ok(used.end) };
                match end.and_then(|end| self.memory.set_used(end).map(|()| end)) {
                    Ok(end) => self.memory.ram.clear_from(end),
                    Err(Failure::Error(error)) => return Err(Self::objects(error)),
                    // The next collection finds more.
                    Err(_) => {}
                }
                Ok(deleted)
            }
            // Garbage stays where there is no room for marks, or where an image is damaged.
            Ok(None) | Err(Failure::NoRoom | Failure::TransactionFull) => Ok(0),
            Err(Failure::Error(error)) => Err(CardError::Heap(error)),
        }
    }

    /// Whether an object that is not an instance's own refers to one that is.
    fn is_used(&mut self, instance: u8) -> Result<bool, ErrorOf<H, S>> {
        let own = self.memory.heap().root(crate::registry::root(instance)).map_err(CardError::Heap)?.map(H::bits);
        let mut after = None;
        while let Some(object) = self.memory.heap().next_object(after).map_err(CardError::Heap)? {
            after = Some(object);
            let [_, _, _, owner] = self.memory.heap().header(object).map_err(CardError::Heap)?;
            if owner == instance || Some(H::bits(object)) == own {
                continue;
            }
            let Memory { persistent, ram, .. } = &mut self.memory;
            let mut users = Users { heap: persistent.keeper(), owner: instance, found: false };
            let packages = &mut self.packages;
            let mut tracer =
                trace::Objects::<H, _, TRANSIENT> { packages, ram, used: Used::default(), heap: PhantomData };
            tracer.trace(&mut users, object).map_err(CardError::Heap)?;
            if users.found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn applet(&mut self, aid: Aid) -> Result<Option<(u8, u16)>, ErrorOf<H, S>> {
        for number in 0..PACKAGES as u8 {
            let Some((package, image)) = self.packages.package(number) else { continue };
            let package: Package = *package;
            for place in 0..package.applets {
                match package.applet(image, place) {
                    Ok(applet) if applet.aid == aid => return Ok(Some((number, applet.install))),
                    Err(ImageError::Read(error)) => return Err(CardError::Packages(error)),
                    _ => {}
                }
            }
        }
        Ok(None)
    }

    fn find_instance(&mut self, aid: Aid) -> Result<Option<u8>, ErrorOf<H, S>> {
        for number in 1..=INSTANCES_MAX {
            if self.instance(number)?.is_some_and(|(found, _)| found == aid) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    fn delete_instance(&mut self, number: u8) -> Result<(), InstallError<ErrorOf<H, S>>> {
        const EVENT: u8 = known("javacard/framework/AppletEvent");
        if self.state.selected.contains(&number) {
            return Err(InstallError::InUse);
        }
        let Some(instance) = self.state.instance(number) else { return Err(InstallError::Unsupported) };
        let form = self.memory.form(instance.applet).map_err(Self::objects).map_err(InstallError::Memory)?;
        let event = self.memory.ram.known.class(EVENT);
        let Form::Object(class) = form else { return Err(InstallError::Unsupported) };
        if types::is_below(&mut self.packages, class, event).unwrap_or(false) {
            let none = (Command::none(), &mut [][..]);
            self.call(none, (number, Some(EVENT), UNINSTALL), &[instance.applet]).map_err(InstallError::Memory)?;
        }
        self.collect().map_err(InstallError::Memory)?;
        if self.is_used(number).map_err(InstallError::Memory)? {
            return Err(InstallError::InUse);
        }
        self.expect_deleted_keys(Some(number)).map_err(InstallError::Memory)?;
        self.memory.unregister(number).map_err(|failure| no_room(failure, Self::objects))?;
        self.state.instances[usize::from(number)] = Default::default();
        self.memory.contexts.0[usize::from(number)] = norn_card_package::format::NONE;
        self.collect().map_err(InstallError::Memory)?;
        Ok(())
    }

    fn delete_package(&mut self, number: u8) -> Result<(), InstallError<ErrorOf<H, S>>> {
        let has_instance = (1..=INSTANCES_MAX)
            .any(|instance| self.state.instance(instance).is_some() && self.memory.contexts.of(instance) == number);
        let is_imported = (0..PACKAGES as u8).any(|other| {
            let imports = self.packages.package(other).map_or(0, |(package, _)| package.imports);
            (0..imports).any(|import| self.packages.import(other, import) == Some(number))
        });
        if has_instance || is_imported {
            return Err(InstallError::InUse);
        }
        self.memory.persistent.forget(number).map_err(|failure| no_room(failure, Self::objects))?;
        self.packages.remove(number).map_err(|error| InstallError::Memory(CardError::Packages(error)))?;
        self.read_known().map_err(InstallError::Memory)?;
        self.collect().map_err(InstallError::Memory)?;
        Ok(())
    }
}

/// `AppletEvent.uninstall`, by its place in the list of known methods.
const UNINSTALL: u8 = match norn_card_package::known_method("javacard/framework/AppletEvent", "uninstall", "()V") {
    Some(place) => place,
    None => panic!("the list of known methods has it"),
};

fn no_room<E, F>(failure: Failure<E>, error: impl FnOnce(E) -> F) -> InstallError<F> {
    match failure {
        Failure::NoRoom | Failure::TransactionFull => InstallError::NoRoom,
        Failure::Error(failed) => InstallError::Memory(error(failed)),
    }
}

impl<H: PersistentHeap, S: PackageStore, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize, const CELLS: usize>
    Card for AppletCard<H, S, K, PACKAGES, TRANSIENT, CELLS>
{
    type Error = ErrorOf<H, S>;

    fn install_package(&mut self, image: &[u8]) -> Result<(), InstallError<Self::Error>> {
        let number = match self.packages.add(image) {
            Ok(number) => number,
            Err(AddError::NoRoom) => return Err(InstallError::NoRoom),
            Err(AddError::Exists(aid)) => return Err(InstallError::Exists(aid)),
            Err(AddError::Import(aid)) => return Err(InstallError::Import(aid)),
            Err(AddError::Image(ImageError::Wrong { .. })) => return Err(InstallError::Image),
            Err(AddError::Image(ImageError::Read(error))) => {
                return Err(InstallError::Memory(CardError::Packages(error)));
            }
        };
        let made = match self.packages.package(number) {
            Some((_, image)) if usize::from(number) < PACKAGES => match check(image) {
                Ok(package) => self.memory.persistent.install(number, &package, image),
                Err(error) => Err(StaticsError::Image(error)),
            },
            _ => Err(StaticsError::NoRoom),
        };
        let refusal = match made {
            Ok(()) => return self.read_known().map_err(InstallError::Memory),
            // Whether the package is installed is not known: when power comes it is.
            Err(StaticsError::Heap(error)) => return Err(InstallError::Memory(CardError::Heap(error))),
            Err(StaticsError::Image(ImageError::Read(error))) => {
                return Err(InstallError::Memory(CardError::Packages(error)));
            }
            Err(StaticsError::Image(_)) => InstallError::Image,
            Err(_) => InstallError::NoRoom,
        };
        self.packages.remove(number).map_err(|error| InstallError::Memory(CardError::Packages(error)))?;
        Err(refusal)
    }

    fn install_applet(
        &mut self,
        applet: Aid,
        instance: Aid,
        parameters: &[u8],
    ) -> Result<(), InstallError<Self::Error>> {
        let found = self.applet(applet).map_err(InstallError::Memory)?;
        let Some((package, install)) = found else { return Err(InstallError::Missing(applet)) };
        if self.find_instance(instance).map_err(InstallError::Memory)?.is_some() {
            return Err(InstallError::Exists(instance));
        }
        let Some(number) = (1..=INSTANCES_MAX).find(|number| self.state.instance(*number).is_none()) else {
            return Err(InstallError::NoRoom);
        };
        let name = instance.as_bytes();
        let length = 3 + name.len() + parameters.len();
        if length > INSTALL_BYTES {
            return Err(InstallError::TooLong(length - INSTALL_BYTES));
        }
        let buffer = &mut self.memory.ram.buffer;
        buffer.fill(0);
        buffer[0] = name.len() as u8;
        buffer[1..=name.len()].copy_from_slice(name);
        buffer[name.len() + 2] = parameters.len() as u8;
        buffer[name.len() + 3..length].copy_from_slice(parameters);
        self.memory.contexts.0[usize::from(number)] = package;
        self.state.installing = Some(Installing { aid: instance, package, is_registered: false, instance: number });
        self.memory.installing = number;
        let none = (Command::none(), &mut [][..]);
        let ran = self.run(none, number, (package, install), &[APDU_BUFFER, 0, length as i32]);
        self.state.installing = None;
        let (ended, _) = ran.map_err(InstallError::Memory)?;
        let is_registered = self.memory.is_registered(number).map_err(Self::objects).map_err(InstallError::Memory)?;
        self.settle_installation().map_err(InstallError::Memory)?;
        if is_registered {
            return self.erase_old_keys().map_err(InstallError::Memory);
        }
        self.state.instances[usize::from(number)] = Default::default();
        self.memory.contexts.0[usize::from(number)] = norn_card_package::format::NONE;
        self.collect().map_err(InstallError::Memory)?;
        Err(InstallError::Refused(match ended {
            Ended::Returned(_) => UNKNOWN,
            Ended::Status(status) => status,
        }))
    }

    fn delete(&mut self, aid: Aid) -> Result<(), InstallError<Self::Error>> {
        if let Some(number) = self.find_instance(aid).map_err(InstallError::Memory)? {
            return self.delete_instance(number);
        }
        let of_package = |number: &u8| self.packages.package(*number).is_some_and(|(package, _)| package.aid == aid);
        match (0..PACKAGES as u8).find(of_package) {
            Some(number) => self.delete_package(number),
            None => Err(InstallError::Missing(aid)),
        }
    }

    fn reset(&mut self) -> Result<(), Self::Error> {
        self.power_up()
    }

    fn process(&mut self, command: &[u8], response: &mut [u8]) -> Result<usize, Self::Error> {
        let Some((body, _)) = response.split_last_chunk_mut::<2>() else { return Ok(0) };
        let room = body.len();
        let (sent, status) = match Command::parse(command) {
            Some(command) => self.carry_out(command, body)?,
            None => (0, WRONG_LENGTH),
        };
        if self.state.deletion_requested {
            self.state.deletion_requested = false;
            self.collect()?;
        }
        self.erase_old_keys()?;
        let sent = sent.min(room);
        response[sent..sent + 2].copy_from_slice(&status.to_be_bytes());
        Ok(sent + 2)
    }
}

/// A status word for how a run has ended.
pub(crate) fn status(ended: Ended) -> u16 {
    match ended {
        Ended::Returned(_) => DONE,
        Ended::Status(status) => status,
    }
}
