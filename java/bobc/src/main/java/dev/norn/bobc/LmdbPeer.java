package dev.norn.bobc;

import static org.lmdbjava.DbiFlags.MDB_CREATE;

import dev.norn.bobc.rows.CustomerRow;
import dev.norn.bobc.rows.Keys;
import dev.norn.bobc.rows.NewOrderRow;
import dev.norn.bobc.rows.OrderLineRow;
import dev.norn.bobc.rows.OrderRow;
import dev.norn.bobc.rows.Row;
import dev.norn.bobc.rows.RowConsistency;
import dev.norn.bobc.rows.RowPopulation;
import dev.norn.bobc.rows.RowStream;
import dev.norn.bobc.rows.StockRow;
import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.lmdbjava.Cursor;
import org.lmdbjava.Dbi;
import org.lmdbjava.Env;
import org.lmdbjava.GetOp;
import org.lmdbjava.Txn;

/**
 * The same data as rows of bytes in LMDB: a tree for each table, keys of eight bytes, and a tree of customers' names.
 * One transaction writes at a time, and each commit is synced, as LMDB does by default. A row that was found is a copy,
 * and is put again when it has been changed.
 */
final class LmdbPeer implements Peer {
    /** Of addresses: the file grows as it is used. */
    private static final long MAP_BYTES = 64L << 30;
    private static final int ROW_BYTES_MAX = 4096;
    private static final int NAME_BYTES = 16;
    private static final int STEP = 10_000;

    private final Env<ByteBuffer> env;
    private final Map<Class<? extends Row>, Dbi<ByteBuffer>> trees = new HashMap<>();
    private final Dbi<ByteBuffer> names;

    LmdbPeer(Path directory) {
        try {
            Path made = Files.createDirectories(directory.resolve("lmdb"));
            env = Env.create().setMapSize(MAP_BYTES).setMaxDbs(RowPopulation.TYPES.size() + 1).open(made.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (Class<? extends Row> type : RowPopulation.TYPES) {
            trees.put(type, env.openDbi(type.getSimpleName(), MDB_CREATE));
        }
        names = env.openDbi("names", MDB_CREATE);
    }

    @Override
    public void populate(Scale scale, int warehouses, long seed) {
        try (Work work = new Work()) {
            work.txn = env.txnWrite();
            int[] count = {0};
            new RowPopulation(scale, seed, row -> {
                work.add(row);
                if (++count[0] % STEP == 0) {
                    work.txn.commit();
                    work.txn.close();
                    work.txn = env.txnWrite();
                }
            }).run(warehouses);
            work.txn.commit();
        }
    }

    /** A transaction with its buffers; one thread's. */
    private final class Work implements RowTransaction, AutoCloseable {
        private final ByteBuffer key = ByteBuffer.allocateDirect(env.getMaxKeySize());
        private final ByteBuffer value = ByteBuffer.allocateDirect(ROW_BYTES_MAX);
        private Txn<ByteBuffer> txn;

        private ByteBuffer key(long id) {
            return key.clear().putLong(id).flip();
        }

        private static <R extends Row> R read(Class<R> type, long id, ByteBuffer bytes) {
            try {
                R row = type.getConstructor().newInstance();
                row.id = id;
                row.pass(new RowStream.Reader(bytes));
                return row;
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(type + " has an open constructor without arguments", e);
            }
        }

        @Override
        public <R extends Row> R find(Class<R> type, long id) {
            ByteBuffer bytes = trees.get(type).get(txn, key(id));
            return bytes == null ? null : read(type, id, bytes);
        }

        /** There is one writer, so nothing has to be locked. */
        @Override
        public <R extends Row> R findToChange(Class<R> type, long id) {
            return find(type, id);
        }

        @Override
        public void add(Row row) {
            change(row);
            if (row instanceof CustomerRow customer) {
                key.clear().putLong(customer.district);
                putName(customer.last);
                putName(customer.first);
                names.put(txn, key.putLong(customer.id).flip(), value.clear().flip());
            }
        }

        private void putName(String name) {
            byte[] bytes = name.getBytes(StandardCharsets.ISO_8859_1);
            key.put(bytes).put(new byte[NAME_BYTES - bytes.length]);
        }

        @Override
        public void change(Row row) {
            value.clear();
            row.pass(new RowStream.Writer(value));
            trees.get(row.getClass()).put(txn, key(row.id), value.flip());
        }

        @Override
        public void remove(Row row) {
            trees.get(row.getClass()).delete(txn, key(row.id));
        }

        @Override
        public List<Long> customers(long district, String lastName) {
            List<Long> found = new ArrayList<>();
            key.clear().putLong(district);
            putName(lastName);
            byte[] prefix = new byte[key.position()];
            key.flip().get(0, prefix);
            try (Cursor<ByteBuffer> cursor = names.openCursor(txn)) {
                for (boolean is = cursor.get(key, GetOp.MDB_SET_RANGE); is; is = cursor.next()) {
                    byte[] its = new byte[prefix.length];
                    cursor.key().get(0, its);
                    if (!java.util.Arrays.equals(its, prefix)) {
                        break;
                    }
                    found.add(cursor.key().getLong(prefix.length + NAME_BYTES));
                }
            }
            return found;
        }

        /** Rows with keys of the range, as many as that at most. */
        private <R extends Row> void each(Class<R> type, long from, long to, int most, Consumer<R> consumer) {
            try (Cursor<ByteBuffer> cursor = trees.get(type).openCursor(txn)) {
                int count = 0;
                for (boolean is = cursor.get(key(from), GetOp.MDB_SET_RANGE); is && count < most; is = cursor.next()) {
                    long id = cursor.key().getLong(0);
                    if (id > to) {
                        break;
                    }
                    consumer.accept(read(type, id, cursor.val()));
                    count++;
                }
            }
        }

        @Override
        public NewOrderRow firstNewOrder(long from, long to) {
            List<NewOrderRow> found = new ArrayList<>();
            each(NewOrderRow.class, from, to, 1, found::add);
            return found.isEmpty() ? null : found.getFirst();
        }

        @Override
        public List<OrderLineRow> lines(long from, long to) {
            List<OrderLineRow> found = new ArrayList<>();
            each(OrderLineRow.class, from, to, Integer.MAX_VALUE, found::add);
            return found;
        }

        @Override
        public int lowStocks(int warehouse, long from, long to, int threshold) {
            Set<Integer> low = new HashSet<>();
            for (OrderLineRow line : lines(from, to)) {
                if (find(StockRow.class, Keys.stock(warehouse, line.item)).quantity < threshold) {
                    low.add(line.item);
                }
            }
            return low.size();
        }

        /** Rolls back what is not committed. */
        @Override
        public void close() {
            if (txn != null) {
                txn.close();
                txn = null;
            }
        }
    }

    @Override
    public Client client() {
        return new Client() {
            private final Work work = new Work();
            private final RowProfiles profiles = new RowProfiles(work);

            @Override
            public boolean run(Request request, StringBuilder screen) {
                boolean isRead = request.kind() == Request.Kind.ORDER_STATUS
                        || request.kind() == Request.Kind.STOCK_LEVEL;
                try (work) {
                    work.txn = isRead ? env.txnRead() : env.txnWrite();
                    boolean isDone = profiles.run(request);
                    if (isDone) {
                        work.txn.commit();
                    }
                    return isDone;
                }
            }

            @Override
            public long conflicts() {
                return 0;
            }
        };
    }

    @Override
    public List<String> inconsistencies() {
        try (Work work = new Work()) {
            work.txn = env.txnRead();
            return RowConsistency.check(new RowConsistency.Tables() {
                @Override
                public <R extends Row> void each(Class<R> type, Consumer<R> consumer) {
                    work.each(type, 0, Long.MAX_VALUE, Integer.MAX_VALUE, consumer);
                }
            });
        }
    }

    @Override
    public long orders() {
        try (Txn<ByteBuffer> txn = env.txnRead()) {
            return trees.get(OrderRow.class).stat(txn).entries;
        }
    }

    @Override
    public Counts counts() {
        return Counts.UNKNOWN;
    }

    @Override
    public void close() {
        env.close();
    }
}
