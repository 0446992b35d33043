package dev.norn.bobc.rows;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;

/** What the company sells. */
@Entity(name = "Item")
public class ItemRow extends Row {
    public int image;
    public int price;
    @Column(length = 24)
    public String name;
    @Column(length = 50)
    public String data;

    @Override
    public void pass(RowStream stream) {
        image = stream.pass(image);
        price = stream.pass(price);
        name = stream.pass(name);
        data = stream.pass(data);
    }
}
