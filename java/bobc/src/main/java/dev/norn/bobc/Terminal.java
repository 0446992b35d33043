package dev.norn.bobc;

import dev.norn.bobc.workload.Draw;
import dev.norn.bobc.workload.Request.Kind;
import dev.norn.bobc.workload.Request;
import dev.norn.bobc.workload.Scale;
import java.util.ArrayList;
import java.util.List;

/**
 * A terminal of a warehouse: what it asks for, in the mix of clause 5.2.3, from a deck of cards so that the shares are
 * exact over a hundred.
 */
final class Terminal {
    private static final int[] CARDS = {45, 43, 4, 4, 4};

    private final Draw draw;
    private final int warehouse;
    private final int warehouses;
    private final int stockLevelDistrict;
    private final int invalidItem;
    private final List<Kind> deck = new ArrayList<>();
    private final boolean newOrdersOnly;

    Terminal(Draw draw, Scale scale, int number, int warehouses, Mix mix) {
        this.draw = draw;
        this.warehouse = number % warehouses + 1;
        this.warehouses = warehouses;
        stockLevelDistrict = number / warehouses % Scale.DISTRICTS + 1;
        invalidItem = scale.items() + 1;
        newOrdersOnly = mix == Mix.NEW_ORDERS;
    }

    /** The specification's mix, or New-Orders alone, to compare with figures that count these. */
    enum Mix {
        SPECIFIED, NEW_ORDERS
    }

    private Kind deal() {
        if (newOrdersOnly) {
            return Kind.NEW_ORDER;
        }
        if (deck.isEmpty()) {
            for (Kind kind : Kind.values()) {
                deck.addAll(java.util.Collections.nCopies(CARDS[kind.ordinal()], kind));
            }
        }
        int card = draw.number(0, deck.size() - 1);
        Kind dealt = deck.get(card);
        deck.set(card, deck.getLast());
        deck.removeLast();
        return dealt;
    }

    Request next() {
        return switch (deal()) {
            case NEW_ORDER -> newOrder();
            case PAYMENT -> payment();
            case ORDER_STATUS -> orderStatus();
            case DELIVERY -> new Request.Delivery(warehouse, draw.number(1, 10), System.currentTimeMillis());
            case STOCK_LEVEL -> new Request.StockLevel(warehouse, stockLevelDistrict, draw.number(10, 20));
        };
    }

    private int otherWarehouse() {
        int other = draw.number(1, warehouses - 1);
        return other >= warehouse ? other + 1 : other;
    }

    private Request newOrder() {
        int count = draw.number(5, 15);
        boolean isInvalid = draw.oneIn(100);
        List<Request.Line> lines = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int item = isInvalid && i == count - 1 ? invalidItem : draw.item();
            lines.add(new Request.Line(item, warehouses > 1 && draw.oneIn(100) ? otherWarehouse() : warehouse,
                    draw.number(1, 10)));
        }
        return new Request.NewOrder(warehouse, draw.number(1, Scale.DISTRICTS), draw.customer(), lines, isInvalid,
                System.currentTimeMillis());
    }

    private Request payment() {
        int district = draw.number(1, Scale.DISTRICTS);
        boolean isRemote = warehouses > 1 && draw.percent(15);
        String lastName = draw.percent(60) ? draw.lastNameToAskFor() : null;
        return new Request.Payment(warehouse, district, isRemote ? otherWarehouse() : warehouse,
                isRemote ? draw.number(1, Scale.DISTRICTS) : district, lastName == null ? draw.customer() : 0, lastName,
                draw.amount(100, 500_000), System.currentTimeMillis());
    }

    private Request orderStatus() {
        String lastName = draw.percent(60) ? draw.lastNameToAskFor() : null;
        return new Request.OrderStatus(warehouse, draw.number(1, Scale.DISTRICTS),
                lastName == null ? draw.customer() : 0, lastName);
    }

    double think(Kind kind) {
        return draw.think(kind.thinking);
    }
}
