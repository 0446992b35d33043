//! Objects, arrays and static fields on a heap.
//!
//! ```text
//! header of an object   5 │ package │ class │ owner       fields: 1, 2 or 4 bytes, as their kinds
//! header of an array    kind of the elements │ package and class of references │ owner
//! static fields         an object for each package, found by the root 's', number of the package
//! ```
//!
//! Bit 7 of the first byte marks what has no fields or elements: the heap keeps one byte there, which nothing uses.
//!
//! Invariant: a change that finds no room within a transaction leaves no transaction open, and nothing of it.

use norn_card_package::{Image, ImageError, Package, Start, format};

use crate::end::Failure;
use crate::heap::{HEADER_BYTES, PersistentHeap};
use crate::objects::{ClassId, Form, Objects, PACKAGE_OWNER, Standing};
use crate::values::Values;

/// In the first byte of a header: no fields, or no elements.
pub(crate) const EMPTY: u8 = 0x80;
/// Static fields that a package may have: the fields of an object of the heap.
pub const STATICS_MAX: u16 = 255;

/// Why objects cannot be read or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectError<E> {
    /// A number that leads to no object, as damaged code may use it, or to none of this kind.
    Reference(i32),
    /// A package without static fields.
    Package(u8),
    /// The heap fails.
    Heap(E),
}

/// Why a package's static fields are not made. Nothing is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticsError<E, I> {
    /// The card has no such number, or a package with it.
    Package(u8),
    /// More than [`STATICS_MAX`] static fields.
    TooMany(u16),
    /// A transaction is open.
    TransactionOpen,
    /// There is no room.
    NoRoom,
    /// The heap fails.
    Heap(E),
    /// The image cannot be read, or is damaged.
    Image(ImageError<I>),
}

/// Why a transaction does not begin or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionRefusal<E> {
    /// One is open: `TransactionException` with `IN_PROGRESS`.
    InProgress,
    /// None is open: `NOT_IN_PROGRESS`.
    NotInProgress,
    /// It was too large, and is undone: `BUFFER_FULL`.
    Full,
    /// The heap fails.
    Heap(E),
}

/// Objects on a heap, for at most `PACKAGES` packages. RAM: 8 bytes a package, 72 for values of fields that were read
/// lately, beside the heap.
#[derive(Debug)]
pub struct Persistent<H: PersistentHeap, const PACKAGES: usize> {
    heap: H,
    /// The object with each package's static fields; none where the package has none.
    statics: [Option<H::Reference>; PACKAGES],
    owner: u8,
    values: Values,
}

type Change<H> = Result<(), Failure<ObjectError<<H as PersistentHeap>::Error>>>;

impl<H: PersistentHeap, const PACKAGES: usize> Persistent<H, PACKAGES> {
    /// The objects that a mounted heap has. Cost: a look-up of a root for each package that there may be.
    ///
    /// # Errors
    ///
    /// If the heap fails.
    pub fn mount(heap: H) -> Result<Self, H::Error> {
        let mut objects = Persistent::unread(heap);
        objects.read_statics()?;
        Ok(objects)
    }

    /// Those of a heap that has not been looked at.
    pub(crate) fn unread(heap: H) -> Self {
        Persistent { heap, statics: [None; PACKAGES], owner: 0, values: Values::new() }
    }

    /// Looks which packages have static fields.
    pub(crate) fn read_statics(&mut self) -> Result<(), H::Error> {
        for (number, found) in (0..=u8::MAX).zip(&mut self.statics) {
            *found = self.heap.root(root(number))?;
        }
        Ok(())
    }

    /// The heap, of which the caller may change everything.
    pub fn heap(&mut self) -> &mut H {
        self.values.forget_all();
        &mut self.heap
    }

    /// The heap, for what changes no field that a program has read, deletes nothing and undoes nothing.
    pub(crate) fn keeper(&mut self) -> &mut H {
        &mut self.heap
    }

    /// The heap; what is open is lost with the card's RAM.
    pub fn into_heap(self) -> H {
        self.heap
    }

    /// Gives a package its static fields, with what they start with, all or none.
    ///
    /// # Errors
    ///
    /// [`StaticsError`].
    pub fn install<I: Image>(
        &mut self,
        number: u8,
        package: &Package,
        image: &mut I,
    ) -> Result<(), StaticsError<H::Error, I::Error>> {
        match self.statics.get(usize::from(number)) {
            Some(None) => {}
            _ => return Err(StaticsError::Package(number)),
        }
        if package.statics > STATICS_MAX {
            return Err(StaticsError::TooMany(package.statics));
        }
        if self.heap.in_transaction() {
            return Err(StaticsError::TransactionOpen);
        }
        self.heap.begin().map_err(StaticsError::Heap)?;
        let made = self.make_statics(number, package, image);
        match made {
            Ok(statics) => match self.heap.commit() {
                Ok(()) => {
                    self.statics[usize::from(number)] = Some(statics);
                    Ok(())
                }
                Err(Failure::Error(error)) => Err(StaticsError::Heap(error)),
                Err(_) => Err(StaticsError::NoRoom),
            },
            Err(refusal) => {
                self.heap().abort().map_err(StaticsError::Heap)?;
                Err(refusal)
            }
        }
    }

    fn make_statics<I: Image>(
        &mut self,
        number: u8,
        package: &Package,
        image: &mut I,
    ) -> Result<H::Reference, StaticsError<H::Error, I::Error>> {
        let mut widths = [1; STATICS_MAX as usize];
        for (slot, place) in (0..package.statics).zip(&mut widths) {
            *place = width(package.static_kind(image, slot).map_err(StaticsError::Image)?);
        }
        // One without static fields has an object nevertheless: it says that the package is installed.
        let empty = if package.statics == 0 { EMPTY } else { 0 };
        let header = [format::TYPE_CLASS | empty, number, format::NONE, 0];
        let widths = &widths[..usize::from(package.statics.max(1))];
        let statics = self.heap.create(widths, header).map_err(no_statics)?;
        self.heap.set_root(root(number), Some(statics)).map_err(no_statics)?;
        for place in 0..package.starts {
            let (slot, start) = package.start(image, place).map_err(StaticsError::Image)?;
            let value = match start {
                Start::Int(value) => value,
                Start::Array(array) => self.array_of_statics((number, array), package, image)?,
            };
            let kind = package.static_kind(image, slot).map_err(StaticsError::Image)?;
            let bytes = value.to_le_bytes();
            let bytes = &bytes[..usize::from(width(kind))];
            self.heap.write_field(statics, slot as u8, bytes).map_err(no_statics)?;
        }
        Ok(statics)
    }

    /// An array that a static field starts with, by its number in the image.
    fn array_of_statics<I: Image>(
        &mut self,
        (room, number): (u8, u16),
        package: &Package,
        image: &mut I,
    ) -> Result<i32, StaticsError<H::Error, I::Error>> {
        let mut at = package.first_array();
        for _ in 0..number {
            at = package.array(image, at).map_err(StaticsError::Image)?.next();
        }
        let start = package.array(image, at).map_err(StaticsError::Image)?;
        let width = width(start.kind);
        let header = array_header(start.kind, ClassId { package: 0, class: 0 }, PACKAGE_OWNER | room, start.length);
        let array = self.heap.create_array(start.length.max(1), width, header).map_err(no_statics)?;
        for index in 0..start.length {
            let mut element = [0; 4];
            let element = &mut element[..usize::from(width)];
            let place = start.at + u32::from(index) * u32::from(width);
            package.read(image, place, element).map_err(StaticsError::Image)?;
            self.heap.write_element(array, index, element).map_err(no_statics)?;
        }
        Ok(H::bits(array) as i32)
    }

    /// Whether a package has its static fields, which says that it is installed.
    pub(crate) fn has_statics(&self, number: u8) -> bool {
        self.statics.get(usize::from(number)).is_some_and(Option::is_some)
    }

    /// The object with a package's static fields.
    pub(crate) fn statics_of(&self, package: u8) -> Result<i32, ObjectError<H::Error>> {
        self.statics(package, 0).map(|(object, _)| H::bits(object) as i32)
    }

    /// Takes a package's static fields away: they are garbage then.
    pub(crate) fn forget(&mut self, number: u8) -> Change<H> {
        if self.has_statics(number) {
            let named = self.heap.set_root(root(number), None);
            self.refused(named)?;
            self.statics[usize::from(number)] = None;
        }
        Ok(())
    }

    /// Opens a transaction.
    ///
    /// # Errors
    ///
    /// [`TransactionRefusal::InProgress`], or if the heap fails.
    pub fn begin(&mut self) -> Result<(), TransactionRefusal<H::Error>> {
        if self.heap.in_transaction() {
            return Err(TransactionRefusal::InProgress);
        }
        self.heap.begin().map_err(TransactionRefusal::Heap)
    }

    /// Makes the changes since [`Persistent::begin`] permanent.
    ///
    /// # Errors
    ///
    /// [`TransactionRefusal::NotInProgress`], [`TransactionRefusal::Full`], or if the heap fails.
    pub fn commit(&mut self) -> Result<(), TransactionRefusal<H::Error>> {
        if !self.heap.in_transaction() {
            return Err(TransactionRefusal::NotInProgress);
        }
        let committed = self.heap.commit();
        committed.map_err(|failure| {
            self.values.forget_all();
            match failure {
                Failure::Error(error) => TransactionRefusal::Heap(error),
                Failure::NoRoom | Failure::TransactionFull => TransactionRefusal::Full,
            }
        })
    }

    /// Undoes the changes since [`Persistent::begin`]. References to objects that were made since then lead nowhere.
    ///
    /// # Errors
    ///
    /// [`TransactionRefusal::NotInProgress`], or if the heap fails.
    pub fn abort(&mut self) -> Result<(), TransactionRefusal<H::Error>> {
        if !self.heap.in_transaction() {
            return Err(TransactionRefusal::NotInProgress);
        }
        self.heap().abort().map_err(TransactionRefusal::Heap)
    }

    /// Whether a transaction is open.
    pub fn in_transaction(&self) -> bool {
        self.heap.in_transaction()
    }

    pub(crate) fn reference(&self, bits: i32) -> Result<H::Reference, ObjectError<H::Error>> {
        H::reference(bits as u32).ok_or(ObjectError::Reference(bits))
    }

    pub(crate) fn header(&mut self, reference: i32) -> Result<[u8; HEADER_BYTES], ObjectError<H::Error>> {
        let found = self.reference(reference)?;
        self.heap.header(found).map_err(|error| {
            if H::is_missing(&error) { ObjectError::Reference(reference) } else { ObjectError::Heap(error) }
        })
    }

    /// Elements of an array with a header; 0 for an object.
    pub(crate) fn length(
        &mut self,
        reference: i32,
        [first, ..]: [u8; HEADER_BYTES],
    ) -> Result<u16, ObjectError<H::Error>> {
        if first & EMPTY != 0 || first == format::TYPE_CLASS {
            return Ok(0);
        }
        let found = self.reference(reference)?;
        let count = self.heap.count(found).map_err(ObjectError::Heap)?;
        u16::try_from(count).map_err(|_| ObjectError::Reference(reference))
    }

    fn statics(&self, package: u8, slot: u16) -> Result<(H::Reference, u8), ObjectError<H::Error>> {
        match (self.statics.get(usize::from(package)), u8::try_from(slot)) {
            (Some(Some(statics)), Ok(slot)) => Ok((*statics, slot)),
            _ => Err(ObjectError::Package(package)),
        }
    }

    /// A field's value, from RAM where it is there.
    fn value_of(&mut self, object: H::Reference, slot: u8, kind: u8) -> Result<i32, ObjectError<H::Error>> {
        if let Some(value) = self.values.get(H::bits(object), slot) {
            return Ok(value);
        }
        let value = read(kind, |value| self.heap.read_field(object, slot, value)).map_err(ObjectError::Heap)?;
        self.values.keep(H::bits(object), slot, value);
        Ok(value)
    }

    fn set_value(&mut self, object: H::Reference, slot: u8, kind: u8, value: i32) -> Change<H> {
        self.values.forget(H::bits(object), slot);
        let (bytes, width) = bytes(kind, value);
        let changed = self.heap.write_field(object, slot, &bytes[..width]);
        self.refused(changed)
    }

    /// What a heap's refusal means; the transaction in which it happens is undone at once.
    pub(crate) fn refused<T>(
        &mut self,
        result: Result<T, Failure<H::Error>>,
    ) -> Result<T, Failure<ObjectError<H::Error>>> {
        match result {
            Ok(value) => Ok(value),
            Err(Failure::Error(error)) => Err(Failure::Error(ObjectError::Heap(error))),
            Err(_) if self.heap.in_transaction() => match self.heap().abort() {
                Ok(()) => Err(Failure::TransactionFull),
                Err(error) => Err(Failure::Error(ObjectError::Heap(error))),
            },
            Err(_) => Err(Failure::NoRoom),
        }
    }
}

/// What an object with a header is.
pub(crate) fn form([first, package, class, _]: [u8; HEADER_BYTES], length: u16) -> Form {
    let class = ClassId { package, class };
    match first & !EMPTY {
        format::TYPE_CLASS => Form::Object(class),
        kind => Form::Array { kind, class, length },
    }
}

fn root(package: u8) -> [u8; 2] {
    [b's', package]
}

/// Bytes of a kind; images are checked, and the card makes no others.
fn width(kind: u8) -> u8 {
    format::width(kind).map_or(1, |width| width as u8)
}

fn array_header(kind: u8, class: ClassId, owner: u8, length: u16) -> [u8; HEADER_BYTES] {
    let empty = if length == 0 { EMPTY } else { 0 };
    [kind | empty, class.package, class.class, owner]
}

fn no_statics<E, I>(failure: Failure<E>) -> StaticsError<E, I> {
    match failure {
        Failure::Error(error) => StaticsError::Heap(error),
        Failure::NoRoom | Failure::TransactionFull => StaticsError::NoRoom,
    }
}

/// A value of a kind, with its sign.
fn read<E>(kind: u8, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<i32, E> {
    let mut bytes = [0; 4];
    fill(&mut bytes[..usize::from(width(kind))])?;
    Ok(value(kind, &bytes))
}

/// A value of a kind, with its sign.
pub(crate) fn value(kind: u8, bytes: &[u8]) -> i32 {
    let mut whole = [0; 4];
    for (place, byte) in whole.iter_mut().zip(bytes) {
        *place = *byte;
    }
    let value = i32::from_le_bytes(whole);
    match kind {
        format::BOOLEAN | format::BYTE => i32::from(value as i8),
        format::SHORT => i32::from(value as i16),
        _ => value,
    }
}

/// The bytes of a value of a kind.
fn bytes(kind: u8, value: i32) -> ([u8; 4], usize) {
    let value = if kind == format::BOOLEAN { value & 1 } else { value };
    (value.to_le_bytes(), usize::from(width(kind)))
}

impl<H: PersistentHeap, const PACKAGES: usize> Objects for Persistent<H, PACKAGES> {
    type Error = ObjectError<H::Error>;

    fn create(&mut self, class: ClassId, kinds: &[u8]) -> Result<i32, Failure<Self::Error>> {
        let mut widths = [1; 255];
        for (place, kind) in widths.iter_mut().zip(kinds) {
            *place = width(*kind);
        }
        let empty = if kinds.is_empty() { EMPTY } else { 0 };
        let header = [format::TYPE_CLASS | empty, class.package, class.class, self.owner];
        let fields = kinds.len().clamp(1, widths.len());
        let made = self.heap.create(&widths[..fields], header);
        Ok(H::bits(self.refused(made)?) as i32)
    }

    fn create_array(&mut self, kind: u8, class: ClassId, length: u16) -> Result<i32, Failure<Self::Error>> {
        let header = array_header(kind, class, self.owner, length);
        let made = self.heap.create_array(length.max(1), width(kind), header);
        Ok(H::bits(self.refused(made)?) as i32)
    }

    fn form(&mut self, reference: i32) -> Result<Form, Self::Error> {
        let header = self.header(reference)?;
        Ok(form(header, self.length(reference, header)?))
    }

    fn standing(&mut self, reference: i32) -> Result<Standing, Self::Error> {
        let [_, _, _, owner] = self.header(reference)?;
        Ok(Standing { owner, is_global: false, needs_selection: false })
    }

    fn set_owner(&mut self, owner: u8) {
        self.owner = owner;
    }

    fn field(&mut self, reference: i32, slot: u8, kind: u8) -> Result<i32, Self::Error> {
        let object = self.reference(reference)?;
        self.value_of(object, slot, kind)
    }

    fn set_field(&mut self, reference: i32, slot: u8, kind: u8, value: i32) -> Change<H> {
        let object = self.reference(reference).map_err(Failure::Error)?;
        self.set_value(object, slot, kind, value)
    }

    fn element(&mut self, reference: i32, index: u16, kind: u8) -> Result<i32, Self::Error> {
        let array = self.reference(reference)?;
        read(kind, |value| self.heap.read_element(array, index, value)).map_err(ObjectError::Heap)
    }

    fn set_element(&mut self, reference: i32, index: u16, kind: u8, value: i32) -> Change<H> {
        let array = self.reference(reference).map_err(Failure::Error)?;
        let (bytes, width) = bytes(kind, value);
        let changed = self.heap.write_element(array, index, &bytes[..width]);
        self.refused(changed)
    }

    fn static_field(&mut self, package: u8, slot: u16, kind: u8) -> Result<i32, Self::Error> {
        let (statics, slot) = self.statics(package, slot)?;
        self.value_of(statics, slot, kind)
    }

    fn set_static_field(&mut self, package: u8, slot: u16, kind: u8, value: i32) -> Change<H> {
        let (statics, slot) = self.statics(package, slot).map_err(Failure::Error)?;
        self.set_value(statics, slot, kind, value)
    }
}
