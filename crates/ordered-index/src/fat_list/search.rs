//! Following soft pointers: finding the object of a key, predecessors and successors.
//!
//! Dereferencing a soft pointer probes the cells of one number in all blocks of a turnstile (the paper's Figures 7, 8
//! and 12). Of what is found there, the *target object* is the live object on the level whose low key is the least
//! above the current one's: between an object and its successor there is no other object of the level. The others are
//! its *buddy objects*. A search may continue to any object before the key. The low key never changes; it takes the
//! place of the paper's min-max area.
//!
//! Invariants: a search moves to higher low keys only, so that it ends on any flash content; a pointer leads to
//! something beyond the current object, or to the head, or the list is damaged.

use norn_flash::{EraseUnit, Nor};

use crate::error::{IndexError, Outcome};
use crate::fat_list::format::{Kind, LEVELS_MAX};
use crate::fat_list::ground::cells::Cells;
use crate::fat_list::ground::medium::Medium;
use crate::fat_list::ground::turnstile::Turnstiles;
use crate::fat_list::layout::{Cell, Layout};
use crate::fat_list::widths::Widths;

/// Whether flash says that the list was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Session {
    /// It does, and nothing has been changed since.
    Stopped,
    /// It does not: a mount that finds this looks for what a cut left.
    Open,
}

/// The outcome of pointers that were followed, in searches and steps of cursors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probes {
    /// Soft pointers that were followed.
    pub pointers: u32,
    /// Probes that led on.
    pub successful: u32,
    /// Probes of cells that are free or dead.
    pub null: u32,
    /// Probes of objects on lower levels only.
    pub low: u32,
    /// Probes of objects before the current one, or the current one.
    pub back: u32,
    /// Probes of objects beyond the key.
    pub over: u32,
}

/// An object that a search has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node<K> {
    pub cell: Cell,
    pub level: u8,
    /// Below its low key an object has nothing; the head has none, and is below all keys.
    pub low: Option<K>,
}

impl<K> Node<K> {
    pub fn kind(&self) -> Kind {
        if self.low.is_none() { Kind::Head } else { Kind::Object }
    }
}

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit<'a, K> {
    /// To the last object whose low key is below this key.
    Below(&'a K),
    /// To the last one whose low key is this key or below.
    AtMost(&'a K),
    /// To the last one.
    End,
}

impl<K: Ord> Limit<'_, K> {
    fn admits(&self, low: &K) -> bool {
        match self {
            Limit::Below(key) => low < key,
            Limit::AtMost(key) => low <= key,
            Limit::End => true,
        }
    }
}

/// The last object before a limit on each level.
pub(crate) type Path = [Cell; LEVELS_MAX];

/// The objects as their pointers link them, from the head on.
#[derive(Clone, Debug)]
pub(crate) struct SkipList<D, W: Widths> {
    pub turnstiles: Turnstiles<D, W>,
    head: Cell,
    session: Session,
    /// How many keys there are, if that is known.
    pub keys: Option<u32>,
    probes: Probes,
}

impl<D: Nor, W: Widths> SkipList<D, W> {
    /// A list whose head is where a format puts it.
    pub fn new(medium: Medium<D>, layout: Layout, widths: W) -> Self {
        let head = Cell { unit: EraseUnit(0), index: layout.cells_per_block - 1 };
        SkipList {
            turnstiles: Turnstiles::new(medium, layout, widths),
            head,
            session: Session::Open,
            keys: None,
            probes: Probes::default(),
        }
    }

    pub fn layout(&self) -> &Layout {
        self.turnstiles.layout()
    }

    pub fn cells(&mut self) -> &mut Cells<D, W> {
        self.turnstiles.cells()
    }

    pub fn head(&self) -> Cell {
        self.head
    }

    pub fn set_head(&mut self, head: Cell) {
        self.head = head;
    }

    pub fn probes(&self) -> Probes {
        self.probes
    }

    pub fn forget_probes(&mut self) {
        self.probes = Probes::default();
    }

    /// Returns the error that names damage in the head.
    pub fn head_damage<T>(&mut self, what: &'static str) -> Outcome<T, D> {
        let head = self.head;
        Err(self.cells().damage(head, 0, what))
    }

    /// Finds out whether the list was stopped, from its head.
    pub fn read_session(&mut self) -> Outcome<Session, D> {
        let head = self.head;
        let is_stopped = self.cells().stop_marks(head)?.cleared % 2 == 1;
        let is_current = is_stopped && self.turnstiles.blocks.is_current(head.unit)?;
        self.session = if is_current { Session::Stopped } else { Session::Open };
        Ok(self.session)
    }

    pub fn session(&self) -> Session {
        self.session
    }

    /// Says in the head that the list is stopped, if it is not and the head has room to say so and to open it again,
    /// and to say how many keys there are.
    pub fn stop(&mut self) -> Outcome<Session, D> {
        self.cells().expect_running()?;
        if self.session == Session::Open {
            let head = self.head;
            let marks = self.cells().stop_marks(head)?;
            if marks.left >= 2 && self.leave_key_count()? {
                self.cells().clear_stop_mark(head, marks.cleared)?;
                self.session = Session::Stopped;
            }
        }
        Ok(self.session)
    }

    /// Says in the head that the list is being changed, before the first change.
    pub fn open(&mut self) -> Outcome<(), D> {
        if self.session == Session::Stopped {
            self.known_keys()?;
            let head = self.head;
            let marks = self.cells().stop_marks(head)?;
            if marks.left == 0 {
                let offset = self.layout().bitmap_offset;
                return Err(self.cells().damage(head, offset, "a head without room for a mark"));
            }
            self.cells().clear_stop_mark(head, marks.cleared)?;
            self.session = Session::Open;
        }
        Ok(())
    }

    /// Moves a block to the spare one of its turnstile.
    pub fn rotate(&mut self, victim: EraseUnit) -> Outcome<(), D> {
        let spare = self.turnstiles.rotate(victim)?;
        if self.head.unit == victim {
            self.head.unit = spare;
        }
        Ok(())
    }

    #[inline(never)]
    pub fn head_node(&self) -> Node<W::Key> {
        Node { cell: self.head, level: self.layout().settings.levels - 1, low: None }
    }

    /// The live object in a cell.
    pub fn node(&mut self, cell: Cell) -> Outcome<Option<Node<W::Key>>, D> {
        let Some(stamp) = self.cells().live(cell)? else {
            return Ok(None);
        };
        let low = if stamp.kind == Kind::Head { None } else { Some(self.cells().low(cell)?) };
        Ok(Some(Node { cell, level: stamp.level, low }))
    }

    /// The last object before `limit`.
    pub fn descend(&mut self, limit: Limit<'_, W::Key>) -> Outcome<Node<W::Key>, D> {
        let mut path = [self.head; LEVELS_MAX];
        self.trace(limit, &mut path)
    }

    /// The last object on each level before the one whose range begins at `low`; at the list's end for the head.
    pub fn path_before(&mut self, low: Option<&W::Key>) -> Outcome<Path, D> {
        let mut path = [self.head; LEVELS_MAX];
        self.trace(low.map_or(Limit::End, Limit::Below), &mut path)?;
        Ok(path)
    }

    /// As [`descend`](Self::descend); `path` takes the last object before `limit` on each level.
    pub fn trace(&mut self, limit: Limit<'_, W::Key>, path: &mut Path) -> Outcome<Node<W::Key>, D> {
        let mut node = self.head_node();
        for level in (0..self.layout().settings.levels).rev() {
            while let Some(next) = self.skip(&node, level, limit)? {
                node = next;
            }
            path[usize::from(level)] = node.cell;
        }
        Ok(node)
    }

    /// Moves on from `node`, to the first object found that is before `limit` (Figure 8).
    fn skip(&mut self, node: &Node<W::Key>, level: u8, limit: Limit<'_, W::Key>) -> Outcome<Option<Node<W::Key>>, D> {
        let column = self.cells().pointer(node.cell, node.kind(), level)?;
        self.probes.pointers = self.probes.pointers.wrapping_add(1);
        let mut leads_on = false;
        for unit in self.layout().units_of(column.turnstile) {
            match self.probe(Cell { unit, index: column.index }, node, level)? {
                Probe::Ahead(next) if next.low.is_some_and(|low| limit.admits(&low)) => {
                    self.probes.successful = self.probes.successful.wrapping_add(1);
                    return Ok(Some(next));
                }
                Probe::Ahead(_) => {
                    self.probes.over = self.probes.over.wrapping_add(1);
                    leads_on = true;
                }
                Probe::Head => leads_on = true,
                Probe::Useless => {}
            }
        }
        match leads_on {
            true => Ok(None),
            false => Err(self.leads_nowhere(node)),
        }
    }

    fn leads_nowhere(&mut self, node: &Node<W::Key>) -> IndexError<D::Error> {
        let offset = self.layout().pool_offset;
        self.cells().damage(node.cell, offset, "a pointer that leads nowhere")
    }

    /// Looks at one cell that a pointer of `node` may mean (Figure 12).
    fn probe(&mut self, cell: Cell, node: &Node<W::Key>, level: u8) -> Outcome<Probe<W::Key>, D> {
        let Some(stamp) = self.cells().live(cell)? else {
            self.probes.null = self.probes.null.wrapping_add(1);
            return Ok(Probe::Useless);
        };
        if stamp.kind == Kind::Head {
            return Ok(Probe::Head);
        }
        if stamp.level < level {
            self.probes.low = self.probes.low.wrapping_add(1);
            return Ok(Probe::Useless);
        }
        let low = Some(self.cells().low(cell)?);
        if low <= node.low {
            self.probes.back = self.probes.back.wrapping_add(1);
            return Ok(Probe::Useless);
        }
        Ok(Probe::Ahead(Node { cell, level: stamp.level, low }))
    }

    /// The next object on `level`; `None` after the last one.
    pub fn successor(&mut self, node: &Node<W::Key>, level: u8) -> Outcome<Option<Node<W::Key>>, D> {
        let column = self.cells().pointer(node.cell, node.kind(), level)?;
        let (mut nearest, mut is_end) = (None::<Node<W::Key>>, false);
        for unit in self.layout().units_of(column.turnstile) {
            match self.probe(Cell { unit, index: column.index }, node, level)? {
                Probe::Ahead(next) if nearest.is_none_or(|nearest| next.low < nearest.low) => nearest = Some(next),
                Probe::Head => is_end = true,
                Probe::Ahead(_) | Probe::Useless => {}
            }
        }
        match nearest {
            None if !is_end => Err(self.leads_nowhere(node)),
            nearest => Ok(nearest),
        }
    }

    /// From any object to the head: to the right and to higher levels, and from the last object on one step further.
    /// `None` if damage or a cut leaves no way.
    ///
    /// Cost: as many objects as the levels' pointers skip, each with a probe of its column.
    pub fn climb(&mut self, start: Node<W::Key>) -> Outcome<Option<Cell>, D> {
        let mut node = start;
        loop {
            let level = node.level;
            let column = self.cells().pointer(node.cell, node.kind(), level)?;
            let (mut next, mut head) = (None, None);
            for unit in self.layout().units_of(column.turnstile) {
                let cell = Cell { unit, index: column.index };
                match self.probe(cell, &node, level)? {
                    Probe::Ahead(found) => {
                        next = Some(found);
                        break;
                    }
                    Probe::Head => head = Some(cell),
                    Probe::Useless => {}
                }
            }
            match next {
                Some(found) => node = found,
                None => return Ok(head),
            }
        }
    }
}

/// What a cell that a pointer may mean turns out to be.
enum Probe<K> {
    /// An object of the level beyond the current one.
    Ahead(Node<K>),
    /// The head: after the last object.
    Head,
    /// Nothing of the three.
    Useless,
}
