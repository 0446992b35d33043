//! For tools on a host: where on the part a value is.

use norn_flash::{Address, Nor};
use norn_heap::{AccessError, Kind, Listener, Ref};
use norn_nor_store::{Features, SectorKind, UnitRows};

use crate::heap::HeapIn;

/// Where the value of a field or an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValuePlace {
    /// The first byte of the leaf by which the object, or the element's section, is known.
    pub leaf: Address,
    /// The first byte of the value; `None` for a default value, which no byte holds.
    pub value: Option<Address>,
    /// Its bytes.
    pub width: u32,
    /// Kind of the sector that holds it: a record, or an opaque one of deltas.
    pub is_in: SectorKind,
}

impl<D: Nor, M: UnitRows, L: Listener, F: Features> HeapIn<D, M, L, F> {
    /// Where the value of a field or an element is.
    ///
    /// Cost: as of reading it.
    ///
    /// # Errors
    /// `Stale`, `WrongKind`, `OutOfRange`; the store's.
    pub fn whereabouts(
        &mut self,
        reference: Ref,
        kind: Kind,
        index: usize,
    ) -> Result<ValuePlace, AccessError<D::Error>> {
        let (list, index) = self.list_of(reference, kind, index)?;
        let field = self.descriptors().field(&list, index)?;
        let holder = self.lists().find_value(&list, &field)?;
        let leaf = self.sectors().get(list.leaf)?.address;
        Ok(ValuePlace {
            leaf,
            value: holder.as_ref().map(|holder| holder.sector.address.offset(holder.at)),
            width: field.width,
            is_in: holder.map_or(SectorKind::Leaf, |holder| holder.sector.kind),
        })
    }
}
