//! The firewall: which context may use which object, and where a call changes the context.
//!
//! | bytecode | allowed beside the owner's context and the runtime's |
//! |---|---|
//! | fields | nothing |
//! | elements, length of an array | global arrays |
//! | call by slot | objects of the runtime: in its context |
//! | call through an interface | those; and through a Shareable one every object: in its owner's context |
//! | throw | objects of the runtime |
//! | checkcast, instanceof | objects of the runtime; as a Shareable interface, what has any |
//!
//! An applet that is active on another channel alone, and not multiselectable, is not called through its objects.
//! Arrays that deselection clears are used only while their context is selected. References to temporary objects of the
//! runtime are kept by no field and no element. A call to a method by its number keeps the context: code has `this`
//! only from a call that was allowed.
//!
//! Cost: the object's header, unless its owner is asked for again; none in the runtime's context.
//!
//! Source: Runtime Environment Specification, Java Card Platform, Classic Edition 3.0.5, section 6.2.8.

use norn_card_package::format;

use crate::code::Code;
use crate::end::{Exception, Trap};
use crate::machine::{Machine, Step};
use crate::objects::{ClassId, Objects, RUNTIME, Runtime, Standing, TEMPORARY_END};
use crate::types;

impl<O: Objects, C: Code, R: Runtime<O, C>> Machine<'_, O, C, R> {
    /// Refuses what the context may not use: fields and elements.
    pub(crate) fn usable(&mut self, reference: i32) -> Step<(), O, C> {
        match self.stranger(reference)? {
            None => Ok(()),
            Some(standing) if standing.is_global => Ok(()),
            Some(_) => Err(Trap::Exception(Exception::Security)),
        }
    }

    /// On whose behalf a method of an object runs that is called by slot, or through an interface.
    pub(crate) fn callable(&mut self, reference: i32, interface: Option<ClassId>) -> Step<u8, O, C> {
        let Some(standing) = self.stranger(reference)? else {
            // The runtime's own context takes the side of the object's owner.
            return Ok(match self.frame.owner {
                RUNTIME => self.objects.standing(reference).map_err(Trap::objects)?.owner,
                owner => owner,
            });
        };
        if standing.owner == RUNTIME {
            return Ok(RUNTIME);
        }
        let is_shared = match interface {
            Some(interface) => types::record(self.code, interface)?.is_shareable(),
            None => false,
        };
        if is_shared && self.runtime.may_call(self.objects, self.code, standing.owner).map_err(Trap::Stop)? {
            return Ok(standing.owner);
        }
        Err(Trap::Exception(Exception::Security))
    }

    /// Refuses to throw what the context may not use.
    pub(crate) fn throwable(&mut self, reference: i32) -> Step<(), O, C> {
        match self.stranger(reference)? {
            Some(standing) if standing.owner != RUNTIME => Err(Trap::Exception(Exception::Security)),
            _ => Ok(()),
        }
    }

    /// Refuses to look at the class of what the context may not use.
    pub(crate) fn castable(&mut self, reference: i32, kind: u8, class: ClassId) -> Step<(), O, C> {
        let Some(standing) = self.stranger(reference)? else { return Ok(()) };
        if standing.owner == RUNTIME || standing.is_global {
            return Ok(());
        }
        let named = types::record(self.code, class)?;
        if kind == format::TYPE_CLASS && named.is_interface() && named.is_shareable() {
            let form = self.objects.form(reference).map_err(Trap::objects)?;
            let of = types::class_of(self.code, form);
            if types::record(self.code, of)?.is_shareable() {
                return Ok(());
            }
        }
        Err(Trap::Exception(Exception::Security))
    }

    /// Refuses a reference to a temporary object as a field or element.
    pub(crate) fn storable(&mut self, kind: u8, value: i32) -> Step<(), O, C> {
        if kind == format::REFERENCE && (1..TEMPORARY_END).contains(&value) {
            return Err(Trap::Exception(Exception::Security));
        }
        Ok(())
    }

    /// What an object is to a context that is not its owner's; none where the context may use it.
    #[inline(never)]
    fn stranger(&mut self, reference: i32) -> Step<Option<Standing>, O, C> {
        if self.frame.owner == RUNTIME {
            return Ok(None);
        }
        let standing = self.objects.standing(reference).map_err(Trap::objects)?;
        if standing.owner != self.frame.owner || standing.needs_selection {
            let context = self.runtime.context(self.objects, self.frame.owner);
            if standing.owner == RUNTIME || self.runtime.context(self.objects, standing.owner) != context {
                return Ok(Some(standing));
            }
            if standing.needs_selection && !self.runtime.is_selected(self.objects, context) {
                return Err(Trap::Exception(Exception::Security));
            }
        }
        Ok(None)
    }
}
