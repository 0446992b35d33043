package dev.norn.bobc;

import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/**
 * The five transactions in SQL, with prepared statements. A row that is changed is changed first and read afterwards:
 * about once in a million times, H2's {@code select … for update} returns a row as it was before another transaction
 * changed it, and a New-Order then takes a number that is taken.
 */
final class SqlClient implements Peer.Client {
    private final Connection connection;
    private final SqlDialect dialect;
    private final Map<String, PreparedStatement> statements = new HashMap<>();
    private long conflicts;
    private boolean isOpen;

    SqlClient(Connection connection, SqlDialect dialect) {
        this.connection = connection;
        this.dialect = dialect;
    }

    private PreparedStatement prepare(String sql, Object... arguments) throws SQLException {
        PreparedStatement statement = statements.get(sql);
        if (statement == null) {
            statement = connection.prepareStatement(sql);
            statements.put(sql, statement);
        }
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i] instanceof Integer number) {
                statement.setInt(i + 1, number);
            } else if (arguments[i] instanceof Long number) {
                statement.setLong(i + 1, number);
            } else {
                statement.setString(i + 1, (String) arguments[i]);
            }
        }
        return statement;
    }

    /** The first row; null if there is none. Its columns are read before the next statement. */
    private Object[] row(String sql, Object... arguments) throws SQLException {
        try (ResultSet rows = prepare(sql, arguments).executeQuery()) {
            if (!rows.next()) {
                return null;
            }
            Object[] row = new Object[rows.getMetaData().getColumnCount()];
            for (int i = 0; i < row.length; i++) {
                row[i] = rows.getObject(i + 1);
            }
            return row;
        }
    }

    private void update(String sql, Object... arguments) throws SQLException {
        prepare(sql, arguments).executeUpdate();
    }

    private static int whole(Object number) {
        return ((Number) number).intValue();
    }

    @Override
    public boolean run(Request request, StringBuilder screen) {
        if (screen != null) {
            throw new IllegalArgumentException("screens are built for objects only");
        }
        for (;;) {
            try {
                begin(request.kind());
                boolean isDone = transact(request);
                end(isDone ? "commit" : "rollback");
                return isDone;
            } catch (SQLException e) {
                rollback();
                if (!dialect.isConflict(e)) {
                    throw new IllegalStateException(request.kind() + ": " + e.getMessage(), e);
                }
                conflicts++;
            }
        }
    }

    private void begin(Request.Kind kind) throws SQLException {
        String begin = dialect.begin(kind);
        isOpen = true;
        if (begin != null) {
            isOpen = false;
            prepare(begin).execute();
            isOpen = true;
        }
    }

    private void end(String how) throws SQLException {
        if (dialect.begin(Request.Kind.NEW_ORDER) != null) {
            prepare(how).execute();
        } else if (how.equals("commit")) {
            connection.commit();
        } else {
            connection.rollback();
        }
        isOpen = false;
    }

    private void rollback() {
        try {
            if (isOpen) {
                end("rollback");
            }
        } catch (SQLException e) {
            throw new IllegalStateException("cannot roll back", e);
        }
    }

    private boolean transact(Request request) throws SQLException {
        switch (request) {
            case Request.NewOrder it -> {
                return newOrder(it);
            }
            case Request.Payment it -> payment(it);
            case Request.OrderStatus it -> orderStatus(it);
            case Request.Delivery it -> delivery(it);
            case Request.StockLevel it -> stockLevel(it);
        }
        return true;
    }

    private boolean newOrder(Request.NewOrder in) throws SQLException {
        int w = in.warehouse();
        int d = in.district();
        row("select w_tax from warehouse where w_id = ?", w);
        update("update district set d_next_o_id = d_next_o_id + 1 where d_w_id = ? and d_id = ?", w, d);
        Object[] district = row("select d_tax, d_next_o_id from district where d_w_id = ? and d_id = ?", w, d);
        int order = whole(district[1]) - 1;
        row("select c_discount, c_last, c_credit from customer where c_w_id = ? and c_d_id = ? and c_id = ?",
                w, d, in.customer());
        boolean isLocal = in.lines().stream().allMatch(line -> line.supplier() == w);
        update("insert into orders values (?, ?, ?, ?, ?, null, ?, ?)", w, d, order, in.customer(), in.time(),
                in.lines().size(), isLocal ? 1 : 0);
        update("insert into new_order values (?, ?, ?)", w, d, order);
        String info = "s_dist_%02d".formatted(d);
        int number = 0;
        for (Request.Line line : in.lines()) {
            Object[] item = row("select i_price, i_name, i_data from item where i_id = ?", line.item());
            if (item == null) {
                return false;
            }
            update("update stock set s_quantity = s_quantity - ? + case when s_quantity - ? >= 10 then 0 else 91 end, "
                    + "s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ? "
                    + "where s_w_id = ? and s_i_id = ?", line.quantity(), line.quantity(), line.quantity(),
                    line.supplier() == w ? 0 : 1, line.supplier(), line.item());
            Object[] stock = row("select s_quantity, s_data, " + info + " from stock where s_w_id = ? and s_i_id = ?",
                    line.supplier(), line.item());
            update("insert into order_line values (?, ?, ?, ?, ?, ?, null, ?, ?, ?)", w, d, order, ++number,
                    line.item(), line.supplier(), line.quantity(), (long) whole(item[0]) * line.quantity(), stock[2]);
        }
        return true;
    }

    /** The number of the customer who is meant: the middle one of that name by first names. */
    private int customer(int w, int d, int number, String lastName) throws SQLException {
        if (lastName == null) {
            return number;
        }
        int count = whole(row("select count(*) from customer where c_w_id = ? and c_d_id = ? and c_last = ?",
                w, d, lastName)[0]);
        return whole(row("select c_id from customer where c_w_id = ? and c_d_id = ? and c_last = ? order by c_first "
                + "limit 1 offset ?", w, d, lastName, (count + 1) / 2 - 1)[0]);
    }

    private void payment(Request.Payment in) throws SQLException {
        int w = in.warehouse();
        int d = in.district();
        update("update warehouse set w_ytd = w_ytd + ? where w_id = ?", in.amount(), w);
        Object[] warehouse =
                row("select w_name, w_street_1, w_street_2, w_city, w_state, w_zip from warehouse where w_id = ?", w);
        update("update district set d_ytd = d_ytd + ? where d_w_id = ? and d_id = ?", in.amount(), w, d);
        Object[] district = row("select d_name, d_street_1, d_street_2, d_city, d_state, d_zip from district "
                + "where d_w_id = ? and d_id = ?", w, d);
        int cw = in.customersWarehouse();
        int cd = in.customersDistrict();
        int c = customer(cw, cd, in.customer(), in.lastName());
        update("update customer set c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, "
                + "c_payment_cnt = c_payment_cnt + 1 where c_w_id = ? and c_d_id = ? and c_id = ?", in.amount(),
                in.amount(), cw, cd, c);
        Object[] customer = row("select c_credit, c_data, c_first, c_last, c_balance from customer where c_w_id = ? "
                + "and c_d_id = ? and c_id = ?", cw, cd, c);
        if (customer[0].equals("BC")) {
            String told = c + " " + cd + " " + cw + " " + d + " " + w + " " + in.amount() + "|" + customer[1];
            update("update customer set c_data = ? where c_w_id = ? and c_d_id = ? and c_id = ?",
                    told.substring(0, Math.min(500, told.length())), cw, cd, c);
        }
        update("insert into history values (?, ?, ?, ?, ?, ?, ?, ?)", c, cd, cw, d, w, in.time(), in.amount(),
                warehouse[0] + "    " + district[0]);
    }

    private void orderStatus(Request.OrderStatus in) throws SQLException {
        int w = in.warehouse();
        int d = in.district();
        int c = customer(w, d, in.customer(), in.lastName());
        row("select c_balance, c_first, c_middle, c_last from customer where c_w_id = ? and c_d_id = ? and c_id = ?",
                w, d, c);
        Object[] order = row("select o_id, o_entry_d, o_carrier_id from orders where o_w_id = ? and o_d_id = ? "
                + "and o_c_id = ? order by o_id desc limit 1", w, d, c);
        try (ResultSet lines = prepare("select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d "
                + "from order_line where ol_w_id = ? and ol_d_id = ? and ol_o_id = ?", w, d, whole(order[0]))
                .executeQuery()) {
            while (lines.next()) {
                lines.getLong(4);
            }
        }
    }

    private void delivery(Request.Delivery in) throws SQLException {
        int w = in.warehouse();
        for (int d = 1; d <= Scale.DISTRICTS; d++) {
            if (!dialect.forUpdate().isEmpty()) {
                // Deliveries of one district take turns.
                row("select d_id from district where d_w_id = ? and d_id = ?" + dialect.forUpdate(), w, d);
            }
            Object[] oldest = row("select min(no_o_id) from new_order where no_w_id = ? and no_d_id = ?", w, d);
            if (oldest[0] == null) {
                continue;
            }
            int order = whole(oldest[0]);
            update("delete from new_order where no_w_id = ? and no_d_id = ? and no_o_id = ?", w, d, order);
            int c = whole(
                    row("select o_c_id from orders where o_w_id = ? and o_d_id = ? and o_id = ?", w, d, order)[0]);
            update("update orders set o_carrier_id = ? where o_w_id = ? and o_d_id = ? and o_id = ?",
                    in.carrier(), w, d, order);
            update("update order_line set ol_delivery_d = ? where ol_w_id = ? and ol_d_id = ? and ol_o_id = ?",
                    in.time(), w, d, order);
            long sum = ((Number) row("select sum(ol_amount) from order_line where ol_w_id = ? and ol_d_id = ? "
                    + "and ol_o_id = ?", w, d, order)[0]).longValue();
            update("update customer set c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 "
                    + "where c_w_id = ? and c_d_id = ? and c_id = ?", sum, w, d, c);
        }
    }

    private void stockLevel(Request.StockLevel in) throws SQLException {
        int end = whole(row("select d_next_o_id from district where d_w_id = ? and d_id = ?",
                in.warehouse(), in.district())[0]);
        row("select count(distinct s_i_id) from order_line, stock where ol_w_id = ? and ol_d_id = ? and ol_o_id < ? "
                + "and ol_o_id >= ? and s_w_id = ol_w_id and s_i_id = ol_i_id and s_quantity < ?", in.warehouse(),
                in.district(), end, end - 20, in.threshold());
    }

    @Override
    public long conflicts() {
        return conflicts;
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new IllegalStateException("cannot close a connection", e);
        }
    }
}
