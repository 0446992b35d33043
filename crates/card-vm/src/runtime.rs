//! What a program meets of the card besides objects: its exceptions, native methods, contexts.

use crate::code::{Code, CodeError};
use crate::crypto::Crypto;
use crate::end::{Exception, Native, Stop, Trap};
use crate::heap::PersistentHeap;
use crate::memory::{Memory, MemoryError};
use crate::native;
use crate::objects::{Form, NativeCall, Objects, Runtime};
use crate::ram::known;
use crate::session::Session;
use crate::types;

/// The known class and reason of an exception of the virtual machine.
fn thrown(exception: Exception) -> (u8, i16) {
    const NO_RESOURCE: i16 = 5;
    const BUFFER_FULL: i16 = 3;
    match exception {
        Exception::Arithmetic => (const { known("java/lang/ArithmeticException") }, 0),
        Exception::Bounds => (const { known("java/lang/ArrayIndexOutOfBoundsException") }, 0),
        Exception::ArrayStore => (const { known("java/lang/ArrayStoreException") }, 0),
        Exception::ClassCast => (const { known("java/lang/ClassCastException") }, 0),
        Exception::NegativeSize => (const { known("java/lang/NegativeArraySizeException") }, 0),
        Exception::Null => (const { known("java/lang/NullPointerException") }, 0),
        Exception::Security => (const { known("java/lang/SecurityException") }, 0),
        Exception::NoRoom => (const { known("javacard/framework/SystemException") }, NO_RESOURCE),
        Exception::TransactionFull => (const { known("javacard/framework/TransactionException") }, BUFFER_FULL),
    }
}

impl<H: PersistentHeap, C: Code, K: Crypto, const PACKAGES: usize, const TRANSIENT: usize>
    Runtime<Memory<H, PACKAGES, TRANSIENT>, C> for Session<'_, K>
{
    fn exception(
        &mut self,
        objects: &mut Memory<H, PACKAGES, TRANSIENT>,
        exception: Exception,
    ) -> Result<i32, MemoryError<H>> {
        let (place, reason) = thrown(exception);
        Ok(objects.ram.exception(place, reason))
    }

    fn native(
        &mut self,
        call: NativeCall<'_, Memory<H, PACKAGES, TRANSIENT>, C>,
    ) -> Result<Native, Stop<MemoryError<H>, CodeError<C>>> {
        match native::carry_out(self, call) {
            Ok(end) => Ok(end),
            Err(Trap::Exception(exception)) => Ok(Native::Exception(exception)),
            Err(Trap::Throw(thrown)) => Ok(Native::Throws(thrown)),
            Err(Trap::Stop(stop)) => Err(stop),
        }
    }

    fn may_call(
        &mut self,
        memory: &mut Memory<H, PACKAGES, TRANSIENT>,
        code: &mut C,
        owner: u8,
    ) -> Result<bool, Stop<MemoryError<H>, CodeError<C>>> {
        let Some(instance) = self.state.instance(owner) else { return Ok(true) };
        let (context, channel) = (memory.contexts.of(owner), self.state.channel);
        let is_elsewhere = self.state.is_active(&memory.contexts, context, Some(channel));
        let selected = self.state.selected[usize::from(channel)];
        let is_here = selected != 0 && memory.contexts.of(selected) == context;
        if !is_elsewhere || is_here {
            return Ok(true);
        }
        let Form::Object(class) = memory.form(instance.applet).map_err(Stop::Objects)? else { return Ok(false) };
        let multiselectable = memory.ram.known.class(const { known("javacard/framework/MultiSelectable") });
        types::is_below(code, class, multiselectable).map_err(Stop::Image)
    }

    fn context(&self, objects: &Memory<H, PACKAGES, TRANSIENT>, owner: u8) -> u8 {
        objects.contexts.of(owner)
    }

    fn is_selected(&self, objects: &Memory<H, PACKAGES, TRANSIENT>, context: u8) -> bool {
        self.state.may_use_selected(&objects.contexts, context)
    }
}
