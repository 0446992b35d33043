package dev.norn.bobc;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Accounts as rows of SQLite, which has one writer at a time. */
final class HotSqlite implements HotPeer {
    private final String url;

    static void create(Path directory, int objects) {
        try (Connection connection = DriverManager.getConnection(url(directory));
                Statement statement = connection.createStatement()) {
            statement.execute("create table account (id integer primary key, balance integer not null)");
            statement.execute("with recursive ids (id) as (select 1 union all select id + 1 from ids where id < "
                    + objects + ") insert into account select id, 0 from ids");
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private static String url(Path directory) {
        return SqlDialect.SQLITE.url(directory);
    }

    private static IllegalStateException failed(SQLException e) {
        return new IllegalStateException("SQLite failed: " + e.getMessage(), e);
    }

    HotSqlite(Path directory) {
        url = url(directory);
    }

    @Override
    public Client client() {
        try {
            return new SqliteClient(DriverManager.getConnection(url));
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    private static final class SqliteClient implements Client {
        private final Connection connection;
        private final PreparedStatement update;

        SqliteClient(Connection connection) throws SQLException {
            this.connection = connection;
            update = connection.prepareStatement("update account set balance = balance + 1 where id = ?");
        }

        @Override
        public int increment(int account) {
            try {
                update.setInt(1, account + 1);
                update.executeUpdate();
                return 1;
            } catch (SQLException e) {
                throw failed(e);
            }
        }

        @Override
        public void close() {
            try {
                connection.close();
            } catch (SQLException e) {
                throw failed(e);
            }
        }
    }

    private String ask(String query) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getString(1);
        } catch (SQLException e) {
            throw failed(e);
        }
    }

    @Override
    public long sum() {
        return Long.parseLong(ask("select sum(balance) from account"));
    }

    @Override
    public long syncs() {
        return -1;
    }

    @Override
    public List<String> findings() {
        String found = ask("pragma integrity_check");
        return found.equals("ok") ? List.of() : List.of(found);
    }

    @Override
    public void close() {}
}
