"""Images of flash memory with Norn's stores in them: heaps of persistent objects, sensor logs, block devices.

Each object has its part in memory. `open` reads a file and leaves it as it is; `save`, `replace` and `dump` write.
Costs are those on a chip, in operations of the part; here they take microseconds.

Every call may raise NornError where the simulated part fails, and CorruptedError, which names the place, where flash
holds something that no power cut leaves there. After such a failure open the image again.
"""

from os import PathLike
from types import TracebackType
from typing import Literal, Optional, Union, final

__all__ = [
    "BlockDevice",
    "CorruptedError",
    "FullError",
    "Heap",
    "ImageError",
    "Info",
    "NornError",
    "Reading",
    "Ref",
    "SensorLog",
    "StaleReferenceError",
    "Transaction",
    "nand_parts",
    "nor_parts",
]

_Path = Union[str, PathLike[str]]

class NornError(Exception):
    """What Norn fails with. The message names the image and the call."""

class ImageError(NornError):
    """A file is no image, or of another part; or there is no such store in it."""

class CorruptedError(NornError):
    """Flash holds something that no power cut leaves there. The message names the place."""

class FullError(NornError):
    """The part has no room for that. Nothing was changed."""

class StaleReferenceError(NornError):
    """A reference to something that was deleted."""

def nor_parts() -> list[str]:
    """The names of the NOR parts of the catalogue. "NAME:UNITS" is one with another number of erase units,
    "test-UNITSxBYTES" a part for tests."""

def nand_parts() -> list[str]:
    """The names of the NAND parts of the catalogue. "nandtest-BLOCKSxPAGESxBYTES" is a part for tests."""

@final
class Ref:
    """Names an object or array. It is a number of 32 bits, which fields may hold; 0 is the number of none."""

    def __new__(cls, bits: int) -> Ref:
        """The reference of a number. Raises ValueError for a number that no reference has."""
    @property
    def bits(self) -> int:
        """Its number."""
    @property
    def slot(self) -> int:
        """Its slot of the heap."""
    @property
    def generation(self) -> int:
        """Counts what the slot has held."""
    def __int__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __lt__(self, other: Ref, /) -> bool: ...
    def __le__(self, other: Ref, /) -> bool: ...
    def __gt__(self, other: Ref, /) -> bool: ...
    def __ge__(self, other: Ref, /) -> bool: ...

@final
class Info:
    """What an object or array is."""

    @property
    def kind(self) -> Literal["object", "array"]:
        """Which of them."""
    @property
    def count(self) -> int:
        """Number of fields or elements."""
    @property
    def widths(self) -> list[int]:
        """Bytes of each field; of an array the one width of its elements."""
    @property
    def data_bytes(self) -> int:
        """Bytes of all values together."""
    @property
    def header(self) -> bytes:
        """Bytes that the heap does not interpret."""

@final
class Transaction:
    """A transaction of a heap, for `with`: committed at the end, undone where an exception leaves it."""

    def __enter__(self) -> Heap: ...
    def __exit__(
        self,
        exception: Optional[type[BaseException]],
        _value: Optional[BaseException],
        _traceback: Optional[TracebackType],
    ) -> None: ...

@final
class Heap:
    """A log-structured heap of persistent objects on a NOR part. Each call is atomic and durable by itself."""

    @staticmethod
    def create(part: str, *, error_detection: Literal["off", "on"] = "off") -> Heap:
        """An empty heap on a part of this name. With error detection a flipped bit of what is read is an error.

        Raises ValueError for a name that no part has, ImageError for a part that is too small. Cost: an erase a unit.
        """
    @staticmethod
    def open(path: _Path, part: Optional[str] = None) -> Heap:
        """The heap in a simulator's file, or in a dump of the whole part that is named.

        What a power cut interrupted is completed or undone. Raises OSError; ImageError for another file, part or
        store, and for a dump whose part is not named; ValueError for a name that no part has. Cost: reads the head of
        each unit, and the log.
        """
    def save(self, path: _Path) -> None:
        """Writes the image to a new simulator's file. Raises FileExistsError, OSError; NornError within a
        transaction."""
    def replace(self, path: _Path) -> None:
        """Writes the image to a simulator's file, in place of what is there. Raises OSError; NornError within a
        transaction."""
    def dump(self) -> bytes:
        """The part's bytes, for a chip's programmer. Raises NornError within a transaction."""
    @property
    def part(self) -> str:
        """The part's name."""
    def create_object(self, widths: list[int], header: bytes = b"") -> Ref:
        """Creates an object of 1 to 255 fields of these widths, 1 to 255 bytes each; all zeros.

        Raises ValueError for widths or a header that no object has, FullError. Cost: programs about twice its bytes.
        """
    def create_array(self, count: int, width: int, header: bytes = b"") -> Ref:
        """Creates an array of zeros. Raises and costs as create_object."""
    def delete(self, reference: Ref) -> None:
        """Deletes an object or array. Raises StaleReferenceError, FullError. Cost: a few words programmed."""
    def objects(self) -> list[Ref]:
        """The references of all objects and arrays, in their order. Cost: reads the map of the heap."""
    def info(self, reference: Ref) -> Info:
        """What an object or array is. Raises StaleReferenceError."""
    def get_field(self, reference: Ref, index: int) -> bytes:
        """The value of a field. Raises StaleReferenceError, IndexError; ValueError for an array."""
    def put_field(self, reference: Ref, index: int, value: bytes) -> None:
        """Sets a field; `value` has its width.

        Raises StaleReferenceError, IndexError, FullError; ValueError for another width, and for an array. Cost: at
        best programs the value and a word, now and then the object; reclaims a unit where none is free.
        """
    def fields(self, reference: Ref) -> list[bytes]:
        """The values of all fields, in their order. Raises as get_field."""
    def put_fields(self, reference: Ref, first: int, values: bytes) -> None:
        """Sets the fields from `first` on at once; `values` are theirs one after the other. Raises as put_field."""
    def array_read(self, reference: Ref, first: int = 0, count: Optional[int] = None) -> bytes:
        """Elements of an array one after the other: `count` of them, or all to the end.

        Raises StaleReferenceError, IndexError; ValueError for an object.
        """
    def array_write(self, reference: Ref, first: int, values: bytes) -> None:
        """Sets elements of an array from `first` on: all or none.

        Raises StaleReferenceError, IndexError, FullError; ValueError where the values end within an element, and for
        an object. Cost: programs the sections of the array that change.
        """
    def write_header(self, reference: Ref, header: bytes) -> None:
        """Replaces the header of an object or array. Raises StaleReferenceError, FullError; ValueError if too long."""
    def roots(self) -> dict[bytes, Ref]:
        """All names, and what they lead to, deleted or not."""
    def root(self, name: bytes) -> Optional[Ref]:
        """What a name leads to; it may have been deleted. Raises ValueError for a name of no or over 32 bytes."""
    def set_root(self, name: bytes, reference: Optional[Ref]) -> None:
        """Makes a name of 1 to 32 bytes lead to an object or array, or to nothing.

        Raises StaleReferenceError, FullError; ValueError for another name.
        """
    def transaction(self) -> Transaction:
        """Makes what happens in a `with` statement one change: all of it, or nothing.

        `with` raises NornError where a transaction is open. One that the part has no room for is undone: FullError.
        """
    def check(self) -> list[str]:
        """What violates an invariant of the heap on flash, and where; nothing if all is well. Reads all that is
        live."""
    def __len__(self) -> int: ...
    def __contains__(self, reference: Ref, /) -> bool: ...

@final
class Reading:
    """A reading of a sensor."""

    def __new__(cls, at: int, milli: int) -> Reading:
        """A reading."""
    @property
    def at(self) -> int:
        """When it was taken, in seconds since 1970 or since any other start; 0 to 4,294,967,294."""
    @property
    def milli(self) -> int:
        """Thousandths of the sensor's unit."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class SensorLog:
    """A sensor's readings on a NOR part, sorted by time, one a second at most. The oldest make room for the new."""

    @staticmethod
    def create(part: str) -> SensorLog:
        """An empty log on a part of this name.

        Raises ValueError for a name that no part has; ImageError for a part whose words are programmed once or twice.
        """
    @staticmethod
    def open(path: _Path, part: Optional[str] = None) -> SensorLog:
        """The log in a simulator's file, or in a dump of the whole part that is named. Raises as Heap.open."""
    def save(self, path: _Path) -> None:
        """Writes the image to a new simulator's file. Raises FileExistsError, OSError."""
    def replace(self, path: _Path) -> None:
        """Writes the image to a simulator's file, in place of what is there. Raises OSError."""
    def dump(self) -> bytes:
        """The part's bytes, for a chip's programmer."""
    @property
    def part(self) -> str:
        """The part's name."""
    def append(self, at: int, milli: int) -> Literal["new", "replaced", "known"]:
        """Keeps a reading. "replaced": there was another of that second; "known": it was there already.

        Raises FullError for a reading older than all of a full log. Cost: programs some words; at times moves a block.
        """
    def readings(self, start: int = 0, end: int = 4_294_967_295) -> list[Reading]:
        """The readings from `start` on, up to `end`, which is exclusive; the oldest first. Reads no others."""
    @property
    def forgotten(self) -> int:
        """Old readings that had to make room since the log was opened."""
    def check(self) -> list[str]:
        """What violates an invariant of the log on flash, and where; nothing if all is well. Reads all that is in
        use."""

@final
class BlockDevice:
    """A block device on a NAND part. Its unit is the logical page."""

    @staticmethod
    def create(part: str, *, logical_pages: Optional[int] = None) -> BlockDevice:
        """A device that reads as zeros, by default of nine tenths of the pages that the part has room for.

        Raises ValueError for a name that no part has; ValueError or ImageError for no pages or too many.
        """
    @staticmethod
    def open(path: _Path, part: Optional[str] = None) -> BlockDevice:
        """The device in a simulator's file, or in a dump of the whole part that is named. Raises as Heap.open.

        A dump has all pages with their out-of-band areas. Cost: a load a block, and those of the checkpoint.
        """
    def save(self, path: _Path) -> None:
        """Writes the image to a new simulator's file. Raises FileExistsError, OSError."""
    def replace(self, path: _Path) -> None:
        """Writes the image to a simulator's file, in place of what is there. Raises OSError."""
    def dump(self) -> bytes:
        """The part's bytes, each page with its out-of-band area, for a chip's programmer."""
    @property
    def part(self) -> str:
        """The part's name."""
    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""
    @property
    def logical_pages(self) -> int:
        """Number of logical pages."""
    def read(self, page: int, count: int = 1) -> bytes:
        """The bytes of `count` pages from `page` on. Raises IndexError. Cost: a load a page."""
    def write(self, page: int, data: bytes) -> None:
        """Writes pages from `page` on, each whole or not at all; durable when it returns.

        Raises IndexError, FullError where too many blocks have gone bad; ValueError for a part of a page. Cost: a
        program a page, and copies of other pages where blocks have to be freed.
        """
    def trim(self, page: int, count: int = 1) -> None:
        """Says that `count` pages from `page` on are not needed: they read as zeros. Raises IndexError."""
    def check(self) -> list[str]:
        """What violates an invariant of the device on flash, and where: the first thing, or nothing if all is well."""
