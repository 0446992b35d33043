//! `JCSystem` and `Applet`: transient arrays, transactions, applets and contexts.

use norn_card_package::{Aid, format, known_method, native_number};

use super::{Natives, SYSTEM_EXCEPTION, Step, numbers};
use crate::code::Code;
use crate::crypto::Crypto;
use crate::end::{Exception, Failure, Native, NativeCalls, Trap};
use crate::heap::PersistentHeap;
use crate::memory::{INSTANCES_MAX, TRANSIENT_DESELECT, TRANSIENT_RESET};
use crate::objects::{ClassId, Form, Objects, Runtime};
use crate::ram::known;
use crate::session::{Installing, Instance, Selecting};
use crate::types;

numbers! {
    REGISTER = "javacard/framework/Applet" "register" "()V";
    REGISTER_AS = "javacard/framework/Applet" "register" "([BSB)V";
    RE_SELECTING_APPLET = "javacard/framework/Applet" "reSelectingApplet" "()Z";
    FREE_BYTES = "javacard/framework/JCSystem" "freeBytes" "()I";
    MAKE_TRANSIENT_INTS = "javacardx/framework/util/intx/JCint" "makeTransientIntArray" "(SB)[I";
    SELECTING_APPLET = "javacard/framework/Applet" "selectingApplet" "()Z";
    IS_TRANSIENT = "javacard/framework/JCSystem" "isTransient" "(Ljava/lang/Object;)B";
    MAKE_TRANSIENT_BOOLEANS = "javacard/framework/JCSystem" "makeTransientBooleanArray" "(SB)[Z";
    MAKE_TRANSIENT_BYTES = "javacard/framework/JCSystem" "makeTransientByteArray" "(SB)[B";
    MAKE_TRANSIENT_SHORTS = "javacard/framework/JCSystem" "makeTransientShortArray" "(SB)[S";
    MAKE_TRANSIENT_OBJECTS = "javacard/framework/JCSystem" "makeTransientObjectArray" "(SB)[Ljava/lang/Object;";
    MAKE_GLOBAL = "javacard/framework/JCSystem" "makeGlobalArray" "(BS)Ljava/lang/Object;";
    GET_VERSION = "javacard/framework/JCSystem" "getVersion" "()S";
    GET_AID = "javacard/framework/JCSystem" "getAID" "()Ljavacard/framework/AID;";
    LOOKUP_AID = "javacard/framework/JCSystem" "lookupAID" "([BSB)Ljavacard/framework/AID;";
    BEGIN_TRANSACTION = "javacard/framework/JCSystem" "beginTransaction" "()V";
    ABORT_TRANSACTION = "javacard/framework/JCSystem" "abortTransaction" "()V";
    COMMIT_TRANSACTION = "javacard/framework/JCSystem" "commitTransaction" "()V";
    GET_TRANSACTION_DEPTH = "javacard/framework/JCSystem" "getTransactionDepth" "()B";
    GET_UNUSED_COMMIT_CAPACITY = "javacard/framework/JCSystem" "getUnusedCommitCapacity" "()S";
    GET_MAX_COMMIT_CAPACITY = "javacard/framework/JCSystem" "getMaxCommitCapacity" "()S";
    GET_PREVIOUS_CONTEXT_AID = "javacard/framework/JCSystem" "getPreviousContextAID" "()Ljavacard/framework/AID;";
    GET_AVAILABLE_MEMORY = "javacard/framework/JCSystem" "getAvailableMemory" "(B)S";
    GET_SHAREABLE = "javacard/framework/JCSystem" "getAppletShareableInterfaceObject"
        "(Ljavacard/framework/AID;B)Ljavacard/framework/Shareable;";
    IS_DELETION_SUPPORTED = "javacard/framework/JCSystem" "isObjectDeletionSupported" "()Z";
    REQUEST_DELETION = "javacard/framework/JCSystem" "requestObjectDeletion" "()V";
    GET_ASSIGNED_CHANNEL = "javacard/framework/JCSystem" "getAssignedChannel" "()B";
    IS_APPLET_ACTIVE = "javacard/framework/JCSystem" "isAppletActive" "(Ljavacard/framework/AID;)Z";
}

/// Java Card 3.0.5.
const VERSION: i32 = 0x0305;

/// Reasons of `SystemException`.
const ILLEGAL_VALUE: i16 = 1;
const NO_TRANSIENT_SPACE: i16 = 2;
const ILLEGAL_TRANSIENT: i16 = 3;
const ILLEGAL_AID: i16 = 4;

/// `JCSystem.CLEAR_ON_RESET` and `CLEAR_ON_DESELECT`, which are also kinds of memory.
const CLEAR_ON_RESET: i32 = 1;
const CLEAR_ON_DESELECT: i32 = 2;

/// Kinds of elements, from `JCSystem.ARRAY_TYPE_BOOLEAN` on, which is 1.
const ARRAY_TYPES: [u8; 5] = [format::BOOLEAN, format::BYTE, format::SHORT, format::INT, format::REFERENCE];

/// `Applet.getShareableInterfaceObject`, by its place in the list of known methods.
const GET_SHAREABLE_OBJECT: u8 = match known_method(
    "javacard/framework/Applet",
    "getShareableInterfaceObject",
    "(Ljavacard/framework/AID;B)Ljavacard/framework/Shareable;",
) {
    Some(place) => place,
    None => panic!("the list of known methods has it"),
};

impl<H: PersistentHeap, C: Code, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize>
    Natives<'_, '_, H, C, K, PACKAGES, TRANSIENT>
{
    pub(super) fn of_system(&mut self, number: u16, arguments: [i32; 5]) -> Step<Option<Native>, H, C> {
        let [first, second, third, fourth, _] = arguments;
        let value = match number {
            REGISTER => self.register(first, None)?,
            REGISTER_AS => {
                let from = self.bytes(second, third, fourth)?;
                let (bytes, count) = self.chunk::<17>(from, 0)?;
                let Some(aid) = Aid::new(&bytes[..count]).filter(|_| usize::from(from.count) == count) else {
                    return self.throw(SYSTEM_EXCEPTION, ILLEGAL_VALUE);
                };
                self.register(first, Some(aid))?
            }
            SELECTING_APPLET => i32::from(self.session.state.selecting != Selecting::No),
            RE_SELECTING_APPLET => i32::from(self.session.state.selecting == Selecting::Again),
            FREE_BYTES => self.memory.heap().free_bytes().min(i32::MAX as u32) as i32,
            IS_TRANSIENT => match first {
                0 => 0,
                reference => match self.memory.transience(reference).map_err(Trap::objects)? {
                    TRANSIENT_RESET => CLEAR_ON_RESET,
                    TRANSIENT_DESELECT => CLEAR_ON_DESELECT,
                    _ => 0,
                },
            },
            MAKE_TRANSIENT_BOOLEANS => self.make_transient(format::BOOLEAN, first, second)?,
            MAKE_TRANSIENT_BYTES => self.make_transient(format::BYTE, first, second)?,
            MAKE_TRANSIENT_SHORTS => self.make_transient(format::SHORT, first, second)?,
            MAKE_TRANSIENT_INTS => self.make_transient(format::INT, first, second)?,
            MAKE_TRANSIENT_OBJECTS => self.make_transient(format::REFERENCE, first, second)?,
            MAKE_GLOBAL => self.make_global(first, second)?,
            GET_VERSION => VERSION,
            GET_AID => self.aid_of(self.owner),
            GET_PREVIOUS_CONTEXT_AID => match self.previous {
                same if same == self.owner => 0,
                previous => self.aid_of(previous),
            },
            LOOKUP_AID => {
                let from = self.bytes(first, second, third)?;
                let (bytes, count) = self.chunk::<17>(from, 0)?;
                let found = if usize::from(from.count) == count { self.find(&bytes[..count])? } else { 0 };
                self.aid_of(found)
            }
            BEGIN_TRANSACTION => {
                let begun = self.memory.persistent.begin();
                return self.transaction(begun);
            }
            COMMIT_TRANSACTION => {
                let ended = self.memory.commit();
                return self.transaction(ended);
            }
            ABORT_TRANSACTION => {
                let ended = self.memory.abort();
                self.look_at_registration()?;
                return self.transaction(ended);
            }
            GET_TRANSACTION_DEPTH => i32::from(self.memory.persistent.in_transaction()),
            GET_UNUSED_COMMIT_CAPACITY | GET_MAX_COMMIT_CAPACITY => self.free_bytes(),
            GET_AVAILABLE_MEMORY => match first {
                0 => self.free_bytes(),
                CLEAR_ON_RESET | CLEAR_ON_DESELECT => i32::from(self.memory.free_transient().min(i16::MAX as u16)),
                _ => return self.throw(SYSTEM_EXCEPTION, ILLEGAL_VALUE),
            },
            GET_SHAREABLE => return self.shareable(first, second).map(Some),
            IS_DELETION_SUPPORTED => 1,
            REQUEST_DELETION => {
                self.session.state.deletion_requested = true;
                0
            }
            GET_ASSIGNED_CHANNEL => i32::from(self.session.state.channel),
            IS_APPLET_ACTIVE => {
                let aid = self.aid(first)?;
                let found = self.find(aid.as_bytes())?;
                i32::from(found != 0 && self.session.state.selected.contains(&found))
            }
            _ => return Ok(None),
        };
        Ok(Some(Native::Returns(value)))
    }

    fn free_bytes(&mut self) -> i32 {
        self.memory.heap().free_bytes().min(i16::MAX as u32) as i32
    }

    fn aid_of(&self, owner: u8) -> i32 {
        self.session.state.instance(owner).map_or(0, |instance| instance.aid)
    }

    /// The number of the instance with an identifier; 0 for none.
    pub(super) fn find(&mut self, aid: &[u8]) -> Step<u8, H, C> {
        for number in 1..=INSTANCES_MAX {
            let Some(instance) = self.session.state.instance(number) else { continue };
            if self.bytes_of_aid(instance.aid)?.as_bytes() == aid {
                return Ok(number);
            }
        }
        Ok(0)
    }

    fn register(&mut self, applet: i32, aid: Option<Aid>) -> Step<i32, H, C> {
        let Some(installing) = self.session.state.installing.filter(|applet| !applet.is_registered) else {
            return self.throw(SYSTEM_EXCEPTION, ILLEGAL_AID);
        };
        if let Some(aid) = aid {
            // The first five bytes say whose package and applet are.
            let of_package = self.code.package(installing.package).map(|(package, _)| package.aid);
            if of_package.is_none_or(|of_package| of_package.as_bytes().get(..5) != aid.as_bytes().get(..5)) {
                return self.throw(SYSTEM_EXCEPTION, ILLEGAL_AID);
            }
        }
        let aid = aid.unwrap_or(installing.aid);
        if self.find(aid.as_bytes())? != 0 {
            return self.throw(SYSTEM_EXCEPTION, ILLEGAL_AID);
        }
        let number = installing.instance;
        let registered = self.memory.register(number, (applet, installing.package), aid);
        let instance = self.changed(registered)?;
        let state = &mut self.session.state;
        state.instances[usize::from(number)] = instance;
        state.installing = Some(Installing { is_registered: true, ..installing });
        Ok(0)
    }

    /// After an abort: an applet that has registered itself in the transaction has not.
    fn look_at_registration(&mut self) -> Step<(), H, C> {
        let Some(installing) = self.session.state.installing.filter(|applet| applet.is_registered) else {
            return Ok(());
        };
        let number = installing.instance;
        if !self.memory.is_registered(number).map_err(Trap::objects)? {
            let state = &mut self.session.state;
            state.instances[usize::from(number)] = Instance::default();
            state.installing = Some(Installing { is_registered: false, ..installing });
        }
        Ok(())
    }

    fn make_transient(&mut self, kind: u8, length: i32, event: i32) -> Step<i32, H, C> {
        let Ok(length) = u16::try_from(length) else { return Err(Trap::Exception(Exception::NegativeSize)) };
        let context = self.memory.contexts.of(self.owner);
        let event = match event {
            CLEAR_ON_RESET => TRANSIENT_RESET,
            CLEAR_ON_DESELECT => TRANSIENT_DESELECT,
            _ => return self.throw(SYSTEM_EXCEPTION, ILLEGAL_VALUE),
        };
        let is_selected = self.session.state.may_use_selected(&self.memory.contexts, context);
        if event == TRANSIENT_DESELECT && !is_selected {
            return self.throw(SYSTEM_EXCEPTION, ILLEGAL_TRANSIENT);
        }
        let class = match kind {
            format::REFERENCE => self.memory.ram.known.class(const { known("java/lang/Object") }),
            _ => ClassId { package: 0, class: 0 },
        };
        match self.memory.create_transient((kind, class), length, event) {
            Err(Failure::NoRoom) => self.throw(SYSTEM_EXCEPTION, NO_TRANSIENT_SPACE),
            made => self.changed(made),
        }
    }

    fn make_global(&mut self, of: i32, length: i32) -> Step<i32, H, C> {
        let place = usize::try_from(of - 1).ok();
        let Some(kind) = place.and_then(|place| ARRAY_TYPES.get(place)).copied() else {
            return self.throw(SYSTEM_EXCEPTION, ILLEGAL_VALUE);
        };
        let Ok(length) = u16::try_from(length) else { return Err(Trap::Exception(Exception::NegativeSize)) };
        match self.memory.create_global(kind, length) {
            None => self.throw(SYSTEM_EXCEPTION, NO_TRANSIENT_SPACE),
            Some(array) => Ok(array),
        }
    }

    /// Asks another applet for an object to share.
    fn shareable(&mut self, server: i32, parameter: i32) -> Step<Native, H, C> {
        let aid = self.aid(server)?;
        let found = self.find(aid.as_bytes())?;
        let Some(instance) = self.session.state.instance(found) else { return Ok(Native::Returns(0)) };
        if !self.session.may_call(self.memory, self.code, found).map_err(Trap::Stop)? {
            return Err(Trap::Exception(Exception::Security));
        }
        let Form::Object(class) = self.memory.form(instance.applet).map_err(Trap::objects)? else {
            return Ok(Native::Returns(0));
        };
        let slot = self.memory.ram.known.slot(GET_SHAREABLE_OBJECT);
        let (package, method) = types::entry(self.code, class, slot)?;
        let client = self.aid_of(self.owner);
        let arguments = [instance.applet, client, parameter];
        Ok(Native::Calls(NativeCalls { owner: found, package, method, arguments }))
    }
}
