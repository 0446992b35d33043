package dev.norn.bobc.rows;

import jakarta.persistence.Id;
import jakarta.persistence.MappedSuperclass;

/**
 * A row of a table, found by its key (see {@link Keys}). Mapped by Hibernate, and written field by field for stores of
 * bytes.
 */
@MappedSuperclass
public abstract class Row {
    @Id
    public long id;

    /** Lets every field but the key pass through the stream, which reads or writes it. */
    public abstract void pass(RowStream stream);
}
