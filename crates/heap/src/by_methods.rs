//! The trait's implementation by an engine's own methods.

/// The body of an implementation of [`PhysicalPointers`](crate::PhysicalPointers) by methods of the same names, for an
/// engine with this listener.
#[macro_export]
macro_rules! physical_pointers_by_methods {
    ($listener:ty) => {
        type Listener = $listener;

        fn listener_mut(&mut self) -> &mut $listener {
            self.listener_mut()
        }

        fn field_pointer(
            &mut self,
            object: $crate::Ref,
            index: usize,
        ) -> Result<$crate::PhysicalPointer, $crate::PointerError<Self::DeviceError>> {
            self.field_pointer(object, index)
        }

        fn array_pointer(
            &mut self,
            array: $crate::Ref,
            index: usize,
        ) -> Result<$crate::PhysicalPointer, $crate::PointerError<Self::DeviceError>> {
            self.array_pointer(array, index)
        }

        fn header_pointer(
            &mut self,
            of: $crate::Ref,
        ) -> Result<Option<$crate::PhysicalPointer>, $crate::PointerError<Self::DeviceError>> {
            self.header_pointer(of)
        }
    };
}

/// The body of an implementation of [`ObjectHeap`](crate::ObjectHeap) by methods of the same names, for an engine with
/// this device error.
///
/// An engine has methods of its own, so that programs need no trait, and its documentation says what each costs there.
#[macro_export]
macro_rules! object_heap_by_methods {
    ($error:ty) => {
        type DeviceError = $error;

        fn in_transaction(&self) -> bool {
            self.in_transaction()
        }

        fn corruption(&self) -> Option<$crate::Violation> {
            self.corruption()
        }

        $crate::object_heap_by_methods! { $error;
            create(layout: $crate::Layout<'_>) -> $crate::Ref, CreateError;
            create_array(count: usize, width: u8, header: &[u8]) -> $crate::Ref, CreateError;
            delete(reference: $crate::Ref) -> (), AccessError;
            next_object(after: Option<$crate::Ref>) -> Option<$crate::Ref>, AccessError;
            info(reference: $crate::Ref) -> $crate::Info, AccessError;
            get_field(reference: $crate::Ref, index: usize, buffer: &mut [u8]) -> (), AccessError;
            put_field(reference: $crate::Ref, index: usize, value: &[u8]) -> (), AccessError;
            put_fields(reference: $crate::Ref, first: usize, values: &[u8]) -> (), AccessError;
            array_load(reference: $crate::Ref, index: usize, buffer: &mut [u8]) -> (), AccessError;
            array_store(reference: $crate::Ref, index: usize, value: &[u8]) -> (), AccessError;
            array_read(array: $crate::Ref, first: usize, buffer: &mut [u8]) -> (), AccessError;
            array_write(array: $crate::Ref, first: usize, values: &[u8]) -> (), AccessError;
            array_fill_non_atomic(to: $crate::Elements, value: &[u8]) -> (), AccessError;
            array_copy_non_atomic(from: $crate::Elements, to: ($crate::Ref, usize)) -> (), AccessError;
            array_copy(from: $crate::Elements, to: ($crate::Ref, usize)) -> (), AccessError;
            array_compare(from: $crate::Elements, to: ($crate::Ref, usize)) -> core::cmp::Ordering, AccessError;
            read_header(reference: $crate::Ref, buffer: &mut [u8]) -> usize, AccessError;
            write_header(reference: $crate::Ref, header: &[u8]) -> (), AccessError;
            set_root(name: &[u8], reference: Option<$crate::Ref>) -> (), AccessError;
            root(name: &[u8]) -> Option<$crate::Ref>, AccessError;
            visit_roots(visit: impl FnMut(&[u8], $crate::Ref)) -> (), AccessError;
            begin() -> (), TransactionError;
            commit() -> (), TransactionError;
            abort() -> (), TransactionError;
        }
    };
    ($error:ty; $($name:ident($($argument:ident: $type:ty),*) -> $value:ty, $family:ident;)*) => {
        $(
            fn $name(&mut self, $($argument: $type),*) -> Result<$value, $crate::$family<$error>> {
                self.$name($($argument),*)
            }
        )*
    };
}
