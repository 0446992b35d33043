package dev.norn.bobc;

import dev.norn.bobc.workload.Draw;
import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * The same data as tables of an embedded database, with the specification's columns and an index for each way that the
 * transactions search.
 */
final class SqlPeer implements Peer {
    private static final int BATCH = 1000;
    private static final String[] TABLES = {
        "item (i_id int primary key, i_im_id int, i_name varchar(24), i_price int, i_data varchar(50))",
        "warehouse (w_id int primary key, w_name varchar(10), w_street_1 varchar(20), w_street_2 varchar(20), "
                + "w_city varchar(20), w_state varchar(2), w_zip varchar(9), w_tax int, w_ytd bigint)",
        "district (d_w_id int, d_id int, d_name varchar(10), d_street_1 varchar(20), d_street_2 varchar(20), "
                + "d_city varchar(20), d_state varchar(2), d_zip varchar(9), d_tax int, d_ytd bigint, d_next_o_id int, "
                + "primary key (d_w_id, d_id))",
        "customer (c_w_id int, c_d_id int, c_id int, c_first varchar(16), c_middle varchar(2), c_last varchar(16), "
                + "c_street_1 varchar(20), c_street_2 varchar(20), c_city varchar(20), c_state varchar(2), "
                + "c_zip varchar(9), c_phone varchar(16), c_since bigint, c_credit varchar(2), c_credit_lim bigint, "
                + "c_discount int, c_balance bigint, c_ytd_payment bigint, c_payment_cnt int, c_delivery_cnt int, "
                + "c_data varchar(500), primary key (c_w_id, c_d_id, c_id))",
        "history (h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int, h_w_id int, h_date bigint, h_amount bigint, "
                + "h_data varchar(24))",
        "orders (o_w_id int, o_d_id int, o_id int, o_c_id int, o_entry_d bigint, o_carrier_id int, o_ol_cnt int, "
                + "o_all_local int, primary key (o_w_id, o_d_id, o_id))",
        "new_order (no_w_id int, no_d_id int, no_o_id int, primary key (no_w_id, no_d_id, no_o_id))",
        "order_line (ol_w_id int, ol_d_id int, ol_o_id int, ol_number int, ol_i_id int, ol_supply_w_id int, "
                + "ol_delivery_d bigint, ol_quantity int, ol_amount bigint, ol_dist_info varchar(24), "
                + "primary key (ol_w_id, ol_d_id, ol_o_id, ol_number))",
        "stock (s_w_id int, s_i_id int, s_quantity int, s_dist_01 varchar(24), s_dist_02 varchar(24), "
                + "s_dist_03 varchar(24), s_dist_04 varchar(24), s_dist_05 varchar(24), s_dist_06 varchar(24), "
                + "s_dist_07 varchar(24), s_dist_08 varchar(24), s_dist_09 varchar(24), s_dist_10 varchar(24), "
                + "s_ytd int, s_order_cnt int, s_remote_cnt int, s_data varchar(50), primary key (s_w_id, s_i_id))"};
    private static final String[] INDEXES = {"customer_name on customer (c_w_id, c_d_id, c_last, c_first)",
            "order_customer on orders (o_w_id, o_d_id, o_c_id, o_id)"};

    private final SqlDialect dialect;
    private final String url;
    private final Connection keeper;

    SqlPeer(SqlDialect dialect, java.nio.file.Path directory) {
        this.dialect = dialect;
        url = dialect.url(directory);
        try {
            keeper = connect();
        } catch (SQLException e) {
            throw new IllegalStateException("cannot open " + url, e);
        }
    }

    private Connection connect() throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        try (Statement statement = connection.createStatement()) {
            for (String setting : dialect.settings()) {
                statement.execute(setting);
            }
        }
        connection.setAutoCommit(dialect.begin(Request.Kind.NEW_ORDER) != null);
        return connection;
    }

    /** Commits what the keeper did, unless its transactions are begun by hand. */
    private void commit() throws SQLException {
        if (!keeper.getAutoCommit()) {
            keeper.commit();
        }
    }

    @Override
    public void populate(Scale scale, int warehouses, long seed) {
        try (Statement statement = keeper.createStatement()) {
            for (String table : TABLES) {
                boolean hasKey = table.contains("primary key (");
                statement.execute("create table " + table + (hasKey ? dialect.keyedTable() : ""));
            }
            commit();
            if (keeper.getAutoCommit()) {
                statement.execute("begin");
            }
            fill(scale, warehouses, new Draw(seed, scale));
            if (keeper.getAutoCommit()) {
                statement.execute("commit");
            }
            for (String index : INDEXES) {
                statement.execute("create index " + index);
            }
            commit();
        } catch (SQLException e) {
            throw new IllegalStateException("cannot fill " + url, e);
        }
    }

    /** Rows for a table, written in batches. */
    private final class Rows implements AutoCloseable {
        private final PreparedStatement insert;
        private int count;

        Rows(String table, int columns) throws SQLException {
            insert = keeper.prepareStatement("insert into " + table + " values (" + "?,".repeat(columns - 1) + "?)");
        }

        void add(Object... values) throws SQLException {
            for (int i = 0; i < values.length; i++) {
                insert.setObject(i + 1, values[i]);
            }
            insert.addBatch();
            if (++count % BATCH == 0) {
                insert.executeBatch();
                commit();
            }
        }

        @Override
        public void close() throws SQLException {
            insert.executeBatch();
            insert.close();
            commit();
        }
    }

    private void fill(Scale scale, int warehouses, Draw draw) throws SQLException {
        try (Rows items = new Rows("item", 5)) {
            for (int i = 1; i <= scale.items(); i++) {
                items.add(i, draw.number(1, 10_000), draw.text(14, 24), draw.number(100, 10_000), draw.data());
            }
        }
        for (int w = 1; w <= warehouses; w++) {
            try (Rows rows = new Rows("warehouse", 9); Rows districts = new Rows("district", 11);
                    Rows stocks = new Rows("stock", 17)) {
                rows.add(w, draw.text(6, 10), draw.text(10, 20), draw.text(10, 20), draw.text(10, 20), draw.text(2, 2),
                        draw.digits(4) + "11111", draw.number(0, 2000), 10_000L * scale.customers());
                for (int d = 1; d <= Scale.DISTRICTS; d++) {
                    districts.add(w, d, draw.text(6, 10), draw.text(10, 20), draw.text(10, 20), draw.text(10, 20),
                            draw.text(2, 2), draw.digits(4) + "11111", draw.number(0, 2000), 1000L * scale.customers(),
                            scale.customers() + 1);
                }
                for (int i = 1; i <= scale.items(); i++) {
                    Object[] row = new Object[17];
                    row[0] = w;
                    row[1] = i;
                    row[2] = draw.number(10, 100);
                    for (int d = 0; d < Scale.DISTRICTS; d++) {
                        row[3 + d] = draw.text(24, 24);
                    }
                    row[13] = row[14] = row[15] = 0;
                    row[16] = draw.data();
                    stocks.add(row);
                }
            }
            for (int d = 1; d <= Scale.DISTRICTS; d++) {
                fill(scale, w, d, draw);
            }
        }
    }

    private void fill(Scale scale, int w, int d, Draw draw) throws SQLException {
        long time = System.currentTimeMillis();
        try (Rows customers = new Rows("customer", 21); Rows histories = new Rows("history", 8)) {
            for (int c = 1; c <= scale.customers(); c++) {
                customers.add(w, d, c, draw.text(8, 16), "OE", draw.lastNameOf(c), draw.text(10, 20), draw.text(10, 20),
                        draw.text(10, 20), draw.text(2, 2), draw.digits(4) + "11111", draw.digits(16), time,
                        draw.oneIn(10) ? "BC" : "GC", 5_000_000L, draw.number(0, 5000), -1000L, 1000L, 1, 0,
                        draw.text(300, 500));
                histories.add(c, d, w, d, w, time, 1000L, draw.text(12, 24));
            }
        }
        int[] customers = draw.permutation(scale.customers());
        try (Rows orders = new Rows("orders", 8); Rows lines = new Rows("order_line", 10);
                Rows fresh = new Rows("new_order", 3)) {
            for (int o = 1; o <= scale.customers(); o++) {
                boolean isDelivered = o <= scale.customers() - scale.newOrders();
                int count = draw.number(5, 15);
                orders.add(w, d, o, customers[o - 1], time, isDelivered ? draw.number(1, 10) : null, count, 1);
                for (int line = 1; line <= count; line++) {
                    lines.add(w, d, o, line, draw.number(1, scale.items()), w, isDelivered ? time : null, 5,
                            isDelivered ? 0L : draw.amount(1, 999_999), draw.text(24, 24));
                }
                if (!isDelivered) {
                    fresh.add(w, d, o);
                }
            }
        }
    }

    @Override
    public Client client() {
        try {
            return new SqlClient(connect(), dialect);
        } catch (SQLException e) {
            throw new IllegalStateException("cannot connect to " + url, e);
        }
    }

    /** Each gives rows where its condition does not hold. */
    private static final String[] CONDITIONS = {
        "1: select w_id from warehouse where w_ytd <> (select sum(d_ytd) from district where d_w_id = w_id)",
        "2: select d_id from district where d_next_o_id - 1 <> (select max(o_id) from orders where o_w_id = d_w_id "
                + "and o_d_id = d_id)",
        "2: select d_id from district where d_next_o_id - 1 <> (select max(no_o_id) from new_order "
                + "where no_w_id = d_w_id and no_d_id = d_id)",
        "3: select no_d_id from new_order group by no_w_id, no_d_id having max(no_o_id) - min(no_o_id) + 1 <> count(*)",
        "4: select d_id from district where (select sum(o_ol_cnt) from orders where o_w_id = d_w_id and o_d_id = d_id) "
                + "<> (select count(*) from order_line where ol_w_id = d_w_id and ol_d_id = d_id)",
        "5: select o_id from orders where (case when o_carrier_id is null then 1 else 0 end) <> (select count(*) "
                + "from new_order where no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id)",
        "6: select o_id from orders where o_ol_cnt <> (select count(*) from order_line where ol_w_id = o_w_id "
                + "and ol_d_id = o_d_id and ol_o_id = o_id)",
        "7: select o_id from orders, order_line where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id "
                + "and (ol_delivery_d is null) <> (o_carrier_id is null)",
        "8: select w_id from warehouse where w_ytd <> (select sum(h_amount) from history where h_w_id = w_id)",
        "9: select d_id from district where d_ytd <> (select sum(h_amount) from history where h_w_id = d_w_id "
                + "and h_d_id = d_id)",
        "12: select c_id from customer left join (select o_w_id w, o_d_id d, o_c_id c, sum(ol_amount) s "
                + "from orders, order_line where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id "
                + "and ol_delivery_d is not null group by o_w_id, o_d_id, o_c_id) t on w = c_w_id and d = c_d_id "
                + "and c = c_id where c_balance + c_ytd_payment <> coalesce(s, 0)",
        "10: select c_id from customer left join (select h_c_w_id w, h_c_d_id d, h_c_id c, sum(h_amount) s "
                + "from history group by h_c_w_id, h_c_d_id, h_c_id) t on w = c_w_id and d = c_d_id and c = c_id "
                + "where c_ytd_payment <> coalesce(s, 0)"};

    @Override
    public List<String> inconsistencies() {
        List<String> findings = new ArrayList<>();
        try (Statement statement = keeper.createStatement()) {
            for (String condition : CONDITIONS) {
                try (ResultSet rows = statement.executeQuery(condition.substring(condition.indexOf(':') + 1))) {
                    if (rows.next()) {
                        findings.add("condition " + condition.substring(0, condition.indexOf(':'))
                                + " does not hold for " + rows.getObject(1));
                    }
                }
            }
            commit();
        } catch (SQLException e) {
            throw new IllegalStateException("cannot check " + url, e);
        }
        return findings;
    }

    @Override
    public long orders() {
        try (Statement statement = keeper.createStatement();
                ResultSet rows = statement.executeQuery("select count(*) from orders")) {
            rows.next();
            long count = rows.getLong(1);
            commit();
            return count;
        } catch (SQLException e) {
            throw new IllegalStateException("cannot count the orders of " + url, e);
        }
    }

    @Override
    public Counts counts() {
        return Counts.UNKNOWN;
    }

    @Override
    public void close() {
        try {
            keeper.close();
        } catch (SQLException e) {
            throw new IllegalStateException("cannot close " + url, e);
        }
    }
}
