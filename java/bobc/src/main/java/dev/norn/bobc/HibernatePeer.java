package dev.norn.bobc;

import dev.norn.bobc.rows.NewOrderRow;
import dev.norn.bobc.rows.OrderLineRow;
import dev.norn.bobc.rows.Row;
import dev.norn.bobc.rows.RowConsistency;
import dev.norn.bobc.rows.RowPopulation;
import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import jakarta.persistence.LockModeType;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.cfg.Configuration;

/**
 * The same data as entities of Hibernate in H2: a session for each transaction, rows that are going to be changed
 * locked in the database, writes in batches, statements cached by H2, no second-level cache. Columns that never change
 * are not written again.
 */
final class HibernatePeer implements Peer {
    private static final int BATCH = 50;
    private static final int STEP = 1000;
    /**
     * H2 keeps eight prepared statements of a session unless it is configured otherwise; Hibernate prepares them each
     * time.
     */
    private static final String STATEMENT_CACHE = ";QUERY_CACHE_SIZE=256";

    private final String url;
    private final SessionFactory factory;

    HibernatePeer(Path directory) {
        Logger.getLogger("org.hibernate").setLevel(Level.SEVERE);
        url = SqlDialect.H2.url(directory) + STATEMENT_CACHE;
        Configuration configuration = new Configuration();
        RowPopulation.TYPES.forEach(configuration::addAnnotatedClass);
        configuration.setProperty("hibernate.connection.url", url)
                .setProperty("hibernate.connection.pool_size", "1")
                .setProperty("hibernate.hbm2ddl.auto", "update")
                .setProperty("hibernate.jdbc.batch_size", Integer.toString(BATCH))
                .setProperty("hibernate.order_inserts", "true")
                .setProperty("hibernate.order_updates", "true")
                .setProperty("hibernate.connection.provider_disables_autocommit", "true")
                .setProperty("hibernate.connection.autocommit", "false")
                .setProperty("hibernate.cache.use_second_level_cache", "false")
                .setProperty("hibernate.jakarta.persistence.validation.mode", "none");
        factory = configuration.buildSessionFactory();
    }

    private Connection connect() {
        try {
            Connection connection = DriverManager.getConnection(url);
            try (Statement statement = connection.createStatement()) {
                for (String setting : SqlDialect.H2.settings()) {
                    statement.execute(setting);
                }
            }
            connection.setAutoCommit(false);
            return connection;
        } catch (SQLException e) {
            throw new IllegalStateException("cannot connect to " + url, e);
        }
    }

    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new IllegalStateException("cannot close a connection", e);
        }
    }

    @Override
    public void populate(Scale scale, int warehouses, long seed) {
        Connection connection = connect();
        try (Session session = factory.withOptions().connection(connection).openSession()) {
            session.beginTransaction();
            int[] count = {0};
            new RowPopulation(scale, seed, row -> {
                session.persist(row);
                if (++count[0] % STEP == 0) {
                    session.flush();
                    session.clear();
                    session.getTransaction().commit();
                    session.beginTransaction();
                }
            }).run(warehouses);
            session.getTransaction().commit();
        } finally {
            close(connection);
        }
    }

    /** What a transaction does, in its session. */
    private record Work(Session session) implements RowTransaction {
        @Override
        public <R extends Row> R find(Class<R> type, long id) {
            return session.find(type, id);
        }

        @Override
        public <R extends Row> R findToChange(Class<R> type, long id) {
            return session.find(type, id, LockModeType.PESSIMISTIC_WRITE);
        }

        @Override
        public void add(Row row) {
            session.persist(row);
        }

        /** Hibernate sees by itself what has changed. */
        @Override
        public void change(Row row) {}

        @Override
        public void remove(Row row) {
            session.remove(row);
        }

        @Override
        public List<Long> customers(long district, String lastName) {
            String query = "select id from Customer where district = ?1 and last = ?2 order by first";
            return session.createSelectionQuery(query, Long.class)
                    .setParameter(1, district).setParameter(2, lastName).getResultList();
        }

        @Override
        public NewOrderRow firstNewOrder(long from, long to) {
            String query = "select min(id) from NewOrder where id between ?1 and ?2";
            Long first = session.createSelectionQuery(query, Long.class)
                    .setParameter(1, from).setParameter(2, to).getSingleResult();
            return first == null ? null : session.find(NewOrderRow.class, first);
        }

        @Override
        public List<OrderLineRow> lines(long from, long to) {
            String query = "from OrderLine where id between ?1 and ?2 order by id";
            return session.createSelectionQuery(query, OrderLineRow.class)
                    .setParameter(1, from).setParameter(2, to).getResultList();
        }

        @Override
        public int lowStocks(int warehouse, long from, long to, int threshold) {
            String query = "select count(distinct s.id) from OrderLine l join Stock s on s.id = ?1 + l.item "
                    + "where l.id between ?2 and ?3 and s.quantity < ?4";
            return session.createSelectionQuery(query, Long.class)
                    .setParameter(1, dev.norn.bobc.rows.Keys.stock(warehouse, 0))
                    .setParameter(2, from).setParameter(3, to)
                    .setParameter(4, threshold).getSingleResult().intValue();
        }
    }

    private final class HibernateClient implements Client {
        private final Connection connection = connect();
        private long conflicts;

        @Override
        public boolean run(Request request, StringBuilder screen) {
            for (;;) {
                try (Session session = factory.withOptions().connection(connection).openSession()) {
                    session.beginTransaction();
                    boolean isDone = false;
                    try {
                        isDone = new RowProfiles(new Work(session)).run(request);
                        if (isDone) {
                            session.getTransaction().commit();
                        }
                    } finally {
                        if (session.getTransaction().isActive()) {
                            session.getTransaction().rollback();
                        }
                    }
                    return isDone;
                } catch (RuntimeException e) {
                    if (!isConflict(e)) {
                        throw new IllegalStateException(request.kind() + ": " + e.getMessage(), e);
                    }
                    conflicts++;
                }
            }
        }

        private static boolean isConflict(Throwable thrown) {
            for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
                if (cause instanceof SQLException sql && SqlDialect.H2.isConflict(sql)) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public long conflicts() {
            return conflicts;
        }

        @Override
        public void close() {
            HibernatePeer.close(connection);
        }
    }

    @Override
    public Client client() {
        return new HibernateClient();
    }

    @Override
    public List<String> inconsistencies() {
        Connection connection = connect();
        try (StatelessSession session = factory.openStatelessSession(connection)) {
            return RowConsistency.check(new RowConsistency.Tables() {
                @Override
                public <R extends Row> void each(Class<R> type, Consumer<R> consumer) {
                    String entity = type.getAnnotation(jakarta.persistence.Entity.class).name();
                    try (var all = session.createSelectionQuery("from " + entity, type).getResultStream()) {
                        all.forEach(consumer);
                    }
                }
            });
        } finally {
            close(connection);
        }
    }

    @Override
    public long orders() {
        Connection connection = connect();
        try (StatelessSession session = factory.openStatelessSession(connection)) {
            return session.createSelectionQuery("select count(*) from CustomerOrder", Long.class).getSingleResult();
        } finally {
            close(connection);
        }
    }

    @Override
    public Counts counts() {
        return Counts.UNKNOWN;
    }

    @Override
    public void close() {
        factory.close();
    }
}
