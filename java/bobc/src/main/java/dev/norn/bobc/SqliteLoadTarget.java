package dev.norn.bobc;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A table, whose key is the number: rows are found by it, so references need no index. */
final class SqliteLoadTarget implements LoadTarget {
    private final Connection connection;
    private final PreparedStatement insert;

    SqliteLoadTarget(Path directory) throws SQLException {
        connection = DriverManager.getConnection(SqlDialect.SQLITE.url(directory));
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table node (number integer primary key, first int, second int, third int)");
        }
        connection.setAutoCommit(false);
        insert = connection.prepareStatement("insert into node values (?, ?, ?, ?)");
    }

    @Override
    public void begin() {
        // The first statement does.
    }

    @Override
    public void add(int number, int first, int second, int third) throws SQLException {
        insert.setInt(1, number);
        insert.setInt(2, first);
        insert.setInt(3, second);
        insert.setInt(4, third);
        insert.addBatch();
    }

    @Override
    public void commit() throws SQLException {
        insert.executeBatch();
        connection.commit();
    }

    @Override
    public Sums sums() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select count(*), sum(number), "
                        + "sum(max(first, 0) + max(second, 0) + max(third, 0)) from node")) {
            row.next();
            return new Sums(row.getLong(1), row.getLong(2), row.getLong(3));
        }
    }

    @Override
    public void close() throws SQLException {
        insert.close();
        connection.close();
    }
}
