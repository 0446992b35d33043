package dev.norn.bobc.rows;

import dev.norn.bobc.workload.Draw;
import dev.norn.bobc.workload.Scale;
import java.util.List;
import java.util.function.Consumer;

/**
 * Makes the rows that are there at first (clause 4.3.3). Of an order the lines come after it; a customer knows its last
 * order already.
 */
public final class RowPopulation {
    /** Every table. */
    public static final List<Class<? extends Row>> TYPES = List.of(ItemRow.class, WarehouseRow.class, DistrictRow.class,
            CustomerRow.class, HistoryRow.class, OrderRow.class, NewOrderRow.class, OrderLineRow.class, StockRow.class);

    private final Scale scale;
    private final Draw draw;
    private final Consumer<Row> sink;
    private final long time = System.currentTimeMillis();

    public RowPopulation(Scale scale, long seed, Consumer<Row> sink) {
        this.scale = scale;
        this.draw = new Draw(seed, scale);
        this.sink = sink;
    }

    public void run(int warehouses) {
        for (int number = 1; number <= scale.items(); number++) {
            ItemRow item = new ItemRow();
            item.id = number;
            item.image = draw.number(1, 10_000);
            item.price = draw.number(100, 10_000);
            item.name = draw.text(14, 24);
            item.data = draw.data();
            sink.accept(item);
        }
        for (int number = 1; number <= warehouses; number++) {
            warehouse(number);
        }
    }

    private void address(AddressPart to) {
        to.street1 = draw.text(10, 20);
        to.street2 = draw.text(10, 20);
        to.city = draw.text(10, 20);
        to.state = draw.text(2, 2);
        to.zip = draw.digits(4) + "11111";
    }

    private void warehouse(int number) {
        WarehouseRow warehouse = new WarehouseRow();
        warehouse.id = number;
        warehouse.tax = draw.number(0, 2000);
        warehouse.year = 1000L * scale.customers() * Scale.DISTRICTS;
        warehouse.name = draw.text(6, 10);
        address(warehouse.address);
        sink.accept(warehouse);
        for (int item = 1; item <= scale.items(); item++) {
            StockRow stock = new StockRow();
            stock.id = Keys.stock(number, item);
            stock.quantity = draw.number(10, 100);
            stock.data = draw.data();
            stock.drawDistricts(draw);
            sink.accept(stock);
        }
        for (int district = 1; district <= Scale.DISTRICTS; district++) {
            district(number, Keys.district(number, district));
        }
    }

    private void district(int warehouse, long id) {
        DistrictRow district = new DistrictRow();
        district.id = id;
        district.tax = draw.number(0, 2000);
        district.year = 1000L * scale.customers();
        district.nextOrder = scale.customers() + 1;
        district.name = draw.text(6, 10);
        address(district.address);
        sink.accept(district);
        int[] customers = draw.permutation(scale.customers());
        int[] orders = new int[customers.length + 1];
        for (int i = 0; i < customers.length; i++) {
            orders[customers[i]] = i + 1;
        }
        for (int number = 1; number <= scale.customers(); number++) {
            customer(id, number, Keys.order(id, orders[number]));
        }
        for (int number = 1; number <= scale.customers(); number++) {
            order(warehouse, id, number, Keys.customer(id, customers[number - 1]));
        }
    }

    private void customer(long district, int number, long lastOrder) {
        CustomerRow customer = new CustomerRow();
        customer.id = Keys.customer(district, number);
        customer.district = district;
        customer.discount = draw.number(0, 5000);
        customer.first = draw.text(8, 16);
        customer.middle = "OE";
        customer.last = draw.lastNameOf(number);
        customer.phone = draw.digits(16);
        customer.credit = draw.oneIn(10) ? "BC" : "GC";
        address(customer.address);
        customer.since = time;
        customer.creditMax = 5_000_000;
        customer.balance = -1000;
        customer.paid = 1000;
        customer.payments = 1;
        customer.data = draw.text(300, 500);
        customer.lastOrder = lastOrder;
        sink.accept(customer);
        HistoryRow history = new HistoryRow();
        history.id = Keys.history(customer.id, 1);
        history.customer = customer.id;
        history.district = district;
        history.amount = 1000;
        history.time = time;
        history.data = draw.text(12, 24);
        sink.accept(history);
    }

    private void order(int warehouse, long district, int number, long customer) {
        boolean isDelivered = number <= scale.customers() - scale.newOrders();
        OrderRow order = new OrderRow();
        order.id = Keys.order(district, number);
        order.customer = customer;
        order.time = time;
        order.carrier = isDelivered ? draw.number(1, 10) : 0;
        order.lineCount = draw.number(5, Keys.LINES_MAX);
        order.isLocal = 1;
        sink.accept(order);
        for (int i = 1; i <= order.lineCount; i++) {
            OrderLineRow line = new OrderLineRow();
            line.id = Keys.line(order.id, i);
            line.item = draw.number(1, scale.items());
            line.supplier = warehouse;
            line.delivered = isDelivered ? time : 0;
            line.quantity = 5;
            line.amount = isDelivered ? 0 : draw.number(1, 999_999);
            line.info = draw.text(24, 24);
            sink.accept(line);
        }
        if (!isDelivered) {
            NewOrderRow entry = new NewOrderRow();
            entry.id = order.id;
            sink.accept(entry);
        }
    }
}
