package dev.norn.bobc;

import dev.norn.bobc.model.Company;
import dev.norn.bobc.model.Consistency;
import dev.norn.bobc.model.Population;
import dev.norn.bobc.model.Profiles;
import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The same classes as temporary objects: the limit for everything else. A transaction locks its warehouses, in their
 * order. Nothing can be undone, so an order with an unused item is refused before it begins.
 */
final class PlainPeer implements Peer {
    private final Company company = new Company();
    private Scale scale;
    private Lock[] locks;

    @Override
    public void populate(Scale its, int warehouses, long seed) {
        scale = its;
        locks = new Lock[warehouses + 1];
        java.util.Arrays.setAll(locks, i -> new ReentrantLock());
        new Population(company, scale, seed, Runnable::run).run(warehouses);
    }

    private static TreeSet<Integer> warehousesOf(Request request) {
        TreeSet<Integer> its = new TreeSet<>();
        switch (request) {
            case Request.NewOrder it -> {
                its.add(it.warehouse());
                it.lines().forEach(line -> its.add(line.supplier()));
            }
            case Request.Payment it -> {
                its.add(it.warehouse());
                its.add(it.customersWarehouse());
            }
            case Request.OrderStatus it -> its.add(it.warehouse());
            case Request.Delivery it -> its.add(it.warehouse());
            case Request.StockLevel it -> its.add(it.warehouse());
        }
        return its;
    }

    private boolean run(Request request, StringBuilder screen) {
        if (request instanceof Request.NewOrder order && order.isInvalid()) {
            return false;
        }
        TreeSet<Integer> its = warehousesOf(request);
        its.forEach(number -> locks[number].lock());
        try {
            Profiles.run(company, request, screen);
            return true;
        } finally {
            its.forEach(number -> locks[number].unlock());
        }
    }

    @Override
    public Client client() {
        return new Client() {
            @Override
            public boolean run(Request request, StringBuilder screen) {
                return PlainPeer.this.run(request, screen);
            }

            @Override
            public long conflicts() {
                return 0;
            }
        };
    }

    @Override
    public List<String> inconsistencies() {
        return Consistency.check(company, scale, Runnable::run);
    }

    @Override
    public long orders() {
        return Consistency.orders(company);
    }

    @Override
    public Counts counts() {
        return new Counts(0, 0, 0);
    }

    @Override
    public void close() {}
}
