//! The bank on flash: the ledger's accounts, totals and log as objects of a heap.
//!
//! ```text
//! root "purses" ─▶ directory: array of 16 references; element 0 is the next directory, the others accounts
//! root "bank"   ─▶ totals:    object of six fields of 8 bytes: credited, debited, sequence, transfers, opened, closed
//! root "log"    ─▶ ring:      array of 32 entries of 16 bytes:
//!                             kind 1 · zeros 3 · from 2 · to 2 · amount 4 · sequence 4
//! account                     object of four fields of 4 bytes: balance, number, credits, debits; its header, the name
//! ```
//!
//! Numbers are little-endian; references are a `Ref`'s bits, 0 for none. An entry of zeros is none, as it has no kind.
//! The place in the ring is the sequence modulo 32, so that the two cannot disagree.
//!
//! Invariant: every change is one transaction of the heap.

use std::collections::BTreeMap;

use norn_flash_sim::NorSim;
use norn_heap::{AccessError, Info, Kind, Layout, ObjectHeap, Ref};
use norn_heap_image::{ImageHeap, PartError, mount};

use crate::failure::BankFailure;
use crate::ledger::{Account, Books, Change, Entry, EntryKind, Ledger, RING_LENGTH, Totals};
use crate::script::NAME_BYTES_MAX;

const ROOT_PURSES: &[u8] = b"purses";
const ROOT_BANK: &[u8] = b"bank";
const ROOT_LOG: &[u8] = b"log";

const DIRECTORY_SLOTS: usize = 16;
const TOTALS_FIELDS: usize = 6;
const ACCOUNT_FIELDS: usize = 4;
const ENTRY_BYTES: usize = 16;

/// Where an account is: its object, and the directory slot that names it.
#[derive(Clone, Copy)]
struct Place {
    account: Ref,
    slot: Slot,
}

#[derive(Clone, Copy)]
struct Slot {
    directory: Ref,
    index: usize,
}

/// The objects that the roots name.
#[derive(Clone, Copy)]
struct Roots {
    purses: Ref,
    bank: Ref,
    log: Ref,
}

/// A mounted bank. It knows from its mount where every account is, and keeps that up to date.
pub struct Bank<'a> {
    heap: ImageHeap<'a>,
    roots: Roots,
    places: BTreeMap<String, Place>,
    vacant: Vec<Slot>,
    last_directory: Ref,
}

impl<'a> Bank<'a> {
    /// Mounts the heap of `device` and finds the bank in it; a heap without one is given an empty one.
    ///
    /// # Errors
    /// What is wrong with the heap, or with the bank in it.
    pub fn mount(device: &'a mut NorSim) -> Result<Bank<'a>, BankFailure> {
        let mut heap = mount(device)?;
        let roots = open(&mut heap).map_err(|failure| failure.placed(&heap))?;
        let last_directory = roots.purses;
        let mut bank = Bank { heap, roots, places: BTreeMap::new(), vacant: Vec::new(), last_directory };
        bank.survey().map_err(|failure| failure.placed(&bank.heap))?;
        Ok(bank)
    }

    /// The same failure with the place, where the heap is corrupted.
    pub fn placed(&self, failure: BankFailure) -> BankFailure {
        failure.placed(&self.heap)
    }

    /// The heap that the bank is in.
    pub fn heap_mut(&mut self) -> &mut ImageHeap<'a> {
        &mut self.heap
    }

    /// Everything that is on flash.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn ledger(&mut self) -> Result<Ledger, BankFailure> {
        let mut ledger = Ledger::empty();
        ledger.totals = self.totals()?;
        for name in self.names() {
            if let Some(account) = self.account(&name)? {
                ledger.accounts.insert(name, account);
            }
        }
        for (place, entry) in ledger.ring.iter_mut().enumerate() {
            let mut bytes = [0; ENTRY_BYTES];
            self.heap.array_load(self.roots.log, place, &mut bytes)?;
            *entry = decode_entry(bytes);
        }
        Ok(ledger)
    }

    /// Carries out `change` atomically.
    ///
    /// # Errors
    /// The heap's; after any but a loss of power nothing has changed.
    pub fn apply(&mut self, change: &Change) -> Result<(), BankFailure> {
        self.heap.begin()?;
        for (name, account) in &change.accounts {
            match (account, self.places.get(name).copied()) {
                (Some(account), Some(place)) => self.update(place.account, account)?,
                (Some(account), None) => self.open(name, account)?,
                (None, Some(place)) => self.close(name, place)?,
                (None, None) => {}
            }
        }
        self.write_totals(&change.totals)?;
        let entry = &change.entry;
        self.heap.array_store(self.roots.log, entry.place(), &encode_entry(entry))?;
        Ok(self.heap.commit()?)
    }

    /// Finds every account and every vacant slot of the directories.
    fn survey(&mut self) -> Result<(), BankFailure> {
        let mut directory = Some(self.roots.purses);
        let mut seen = 0;
        while let Some(reference) = directory {
            expect_shape(&mut self.heap, reference, "a directory", Kind::Array, DIRECTORY_SLOTS, 4)?;
            // A chain that is longer than references go around leads in a circle.
            seen += 1;
            if seen > 0xFFFF {
                return Err(BankFailure::NoBank("its directories form a circle".to_owned()));
            }
            self.last_directory = reference;
            for index in 1..DIRECTORY_SLOTS {
                self.survey_slot(Slot { directory: reference, index })?;
            }
            directory = load_reference(&mut self.heap, Slot { directory: reference, index: 0 })?;
        }
        // Slots are taken from the end: the first one first.
        self.vacant.reverse();
        Ok(())
    }

    fn survey_slot(&mut self, slot: Slot) -> Result<(), BankFailure> {
        let Some(account) = load_reference(&mut self.heap, slot)? else {
            self.vacant.push(slot);
            return Ok(());
        };
        expect_shape(&mut self.heap, account, "an account", Kind::Object, ACCOUNT_FIELDS, 4)?;
        let mut bytes = [0; NAME_BYTES_MAX];
        let length = self.heap.read_header(account, &mut bytes)?;
        let name = bytes.get(..length).and_then(|name| std::str::from_utf8(name).ok());
        let name = name.ok_or_else(|| BankFailure::NoBank(format!("account {account} has an impossible name")))?;
        match self.places.insert(name.to_owned(), Place { account, slot }) {
            Some(_) => Err(BankFailure::NoBank(format!("two accounts are called {name}"))),
            None => Ok(()),
        }
    }

    /// Programs the fields that differ.
    fn update(&mut self, account: Ref, values: &Account) -> Result<(), BankFailure> {
        let old = account_fields(&self.read_account(account)?);
        for (index, (old, new)) in old.into_iter().zip(account_fields(values)).enumerate() {
            if old != new {
                self.heap.put_field(account, index, &new.to_le_bytes())?;
            }
        }
        Ok(())
    }

    fn open(&mut self, name: &str, values: &Account) -> Result<(), BankFailure> {
        let layout = Layout::uniform(ACCOUNT_FIELDS, 4).with_header(name.as_bytes());
        let account = self.heap.create(layout)?;
        for (index, value) in account_fields(values).into_iter().enumerate().filter(|&(_, value)| value != 0) {
            self.heap.put_field(account, index, &value.to_le_bytes())?;
        }
        if self.vacant.is_empty() {
            self.add_directory()?;
        }
        let slot = self.vacant.pop().expect("a new directory has vacant slots");
        self.heap.array_store(slot.directory, slot.index, &account.bits().to_le_bytes())?;
        self.places.insert(name.to_owned(), Place { account, slot });
        Ok(())
    }

    fn add_directory(&mut self) -> Result<(), BankFailure> {
        let directory = self.heap.create_array(DIRECTORY_SLOTS, 4, &[])?;
        self.heap.array_store(self.last_directory, 0, &directory.bits().to_le_bytes())?;
        self.vacant.extend((1..DIRECTORY_SLOTS).rev().map(|index| Slot { directory, index }));
        self.last_directory = directory;
        Ok(())
    }

    fn close(&mut self, name: &str, place: Place) -> Result<(), BankFailure> {
        self.heap.array_store(place.slot.directory, place.slot.index, &[0; 4])?;
        self.heap.delete(place.account)?;
        self.places.remove(name);
        self.vacant.push(place.slot);
        Ok(())
    }

    fn read_account(&mut self, account: Ref) -> Result<Account, BankFailure> {
        let mut field = |index| -> Result<u32, AccessError<PartError>> {
            let mut bytes = [0; 4];
            self.heap.get_field(account, index, &mut bytes)?;
            Ok(u32::from_le_bytes(bytes))
        };
        Ok(Account { balance: field(0)?, number: field(1)?, credits: field(2)?, debits: field(3)? })
    }

    /// Programs the fields that differ.
    fn write_totals(&mut self, totals: &Totals) -> Result<(), BankFailure> {
        let old = totals_fields(&self.totals()?);
        for (index, (old, new)) in old.into_iter().zip(totals_fields(totals)).enumerate() {
            if old != new {
                self.heap.put_field(self.roots.bank, index, &new.to_le_bytes())?;
            }
        }
        Ok(())
    }
}

impl Books for Bank<'_> {
    type Error = BankFailure;

    fn account(&mut self, name: &str) -> Result<Option<Account>, BankFailure> {
        match self.places.get(name) {
            Some(place) => Ok(Some(self.read_account(place.account)?)),
            None => Ok(None),
        }
    }

    fn totals(&mut self) -> Result<Totals, BankFailure> {
        let mut fields = [0; TOTALS_FIELDS];
        for (index, field) in fields.iter_mut().enumerate() {
            let mut bytes = [0; 8];
            self.heap.get_field(self.roots.bank, index, &mut bytes)?;
            *field = u64::from_le_bytes(bytes);
        }
        let [credited, debited, sequence, transfers, opened, closed] = fields;
        Ok(Totals { credited, debited, sequence, transfers, opened, closed })
    }

    fn names(&self) -> Vec<String> {
        self.places.keys().cloned().collect()
    }
}

/// The roots of the bank; a heap without one is given an empty one.
fn open(heap: &mut ImageHeap<'_>) -> Result<Roots, BankFailure> {
    let roots = match find_roots(heap)? {
        Some(roots) => roots,
        None => create(heap)?,
    };
    expect_shape(heap, roots.bank, "the bank", Kind::Object, TOTALS_FIELDS, 8)?;
    expect_shape(heap, roots.log, "the log", Kind::Array, RING_LENGTH, ENTRY_BYTES)?;
    Ok(roots)
}

/// The bank's objects, `None` if there are none, neither whole nor in part.
fn find_roots(heap: &mut ImageHeap<'_>) -> Result<Option<Roots>, BankFailure> {
    match (heap.root(ROOT_PURSES)?, heap.root(ROOT_BANK)?, heap.root(ROOT_LOG)?) {
        (Some(purses), Some(bank), Some(log)) => Ok(Some(Roots { purses, bank, log })),
        (None, None, None) => Ok(None),
        _ => Err(BankFailure::NoBank("it has only some of the roots purses, bank and log".to_owned())),
    }
}

/// An empty bank, in one transaction.
fn create(heap: &mut ImageHeap<'_>) -> Result<Roots, BankFailure> {
    heap.begin()?;
    let purses = heap.create_array(DIRECTORY_SLOTS, 4, &[])?;
    let bank = heap.create(Layout::uniform(TOTALS_FIELDS, 8))?;
    let log = heap.create_array(RING_LENGTH, ENTRY_BYTES as u8, &[])?;
    for (name, reference) in [(ROOT_PURSES, purses), (ROOT_BANK, bank), (ROOT_LOG, log)] {
        heap.set_root(name, Some(reference))?;
    }
    heap.commit()?;
    Ok(Roots { purses, bank, log })
}

/// A sound heap may still hold something else under our names.
fn expect_shape(
    heap: &mut ImageHeap<'_>,
    reference: Ref,
    what: &str,
    kind: Kind,
    count: usize,
    width: usize,
) -> Result<(), BankFailure> {
    let Info { kind: found_kind, count: found, data_bytes, .. } = heap.info(reference)?;
    if (found_kind, found, data_bytes as usize) == (kind, count, count * width) {
        return Ok(());
    }
    Err(BankFailure::NoBank(format!(
        "{what}, {reference}, is an {found_kind:?} of {found} fields and {data_bytes} bytes, not an {kind:?} of \
         {count} fields and {} bytes",
        count * width
    )))
}

fn load_reference(heap: &mut ImageHeap<'_>, slot: Slot) -> Result<Option<Ref>, BankFailure> {
    let mut bytes = [0; 4];
    heap.array_load(slot.directory, slot.index, &mut bytes)?;
    Ok(Ref::from_bits(u32::from_le_bytes(bytes)))
}

fn account_fields(account: &Account) -> [u32; ACCOUNT_FIELDS] {
    [account.balance, account.number, account.credits, account.debits]
}

fn totals_fields(totals: &Totals) -> [u64; TOTALS_FIELDS] {
    [totals.credited, totals.debited, totals.sequence, totals.transfers, totals.opened, totals.closed]
}

fn encode_entry(entry: &Entry) -> [u8; ENTRY_BYTES] {
    let mut bytes = [0; ENTRY_BYTES];
    bytes[0] = match entry.kind {
        EntryKind::Open => 1,
        EntryKind::Close => 2,
        EntryKind::Credit => 3,
        EntryKind::Debit => 4,
        EntryKind::Transfer => 5,
    };
    bytes[4..6].copy_from_slice(&entry.from.to_le_bytes());
    bytes[6..8].copy_from_slice(&entry.to.to_le_bytes());
    bytes[8..12].copy_from_slice(&entry.amount.to_le_bytes());
    bytes[12..16].copy_from_slice(&entry.sequence.to_le_bytes());
    bytes
}

/// The entry, or `None` for one that was never written; the ledger misses it if it should be there.
fn decode_entry(bytes: [u8; ENTRY_BYTES]) -> Option<Entry> {
    let kind = match bytes[0] {
        1 => EntryKind::Open,
        2 => EntryKind::Close,
        3 => EntryKind::Credit,
        4 => EntryKind::Debit,
        5 => EntryKind::Transfer,
        _ => return None,
    };
    Some(Entry {
        kind,
        from: u16::from_le_bytes([bytes[4], bytes[5]]),
        to: u16::from_le_bytes([bytes[6], bytes[7]]),
        amount: u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]),
        sequence: u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]),
    })
}
