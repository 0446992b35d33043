package dev.norn.bobc;

import dev.norn.bobc.rows.NewOrderRow;
import dev.norn.bobc.rows.OrderLineRow;
import dev.norn.bobc.rows.Row;
import java.util.List;

/** What a store of rows does within one transaction of one thread. */
interface RowTransaction {
    /** The row; null if there is none. */
    <R extends Row> R find(Class<R> type, long id);

    /** The row, kept from other transactions to the end of this one, because it is going to be changed. */
    <R extends Row> R findToChange(Class<R> type, long id);

    void add(Row row);

    /** Says that a row that was found has been changed. */
    void change(Row row);

    void remove(Row row);

    /** Keys of a district's customers of that name, ordered by first names. */
    List<Long> customers(long district, String lastName);

    /** The first row with a key in the range; null if there is none. */
    NewOrderRow firstNewOrder(long from, long to);

    /** Lines with keys in the range, in their order. */
    List<OrderLineRow> lines(long from, long to);

    /** How many different items of these lines the warehouse has less of than the threshold. */
    int lowStocks(int warehouse, long from, long to, int threshold);
}
