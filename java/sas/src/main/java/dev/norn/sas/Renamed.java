package dev.norn.sas;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Says what a field was called before, so that {@link Store#convert} takes its values over. It may stay when the store
 * is converted: a store that has a field of the new name takes no notice of it.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.FIELD)
public @interface Renamed {
    /**
     * The old name, which a store that has lost a field and does not have the new name must have; with the class before
     * it, {@code com.acme.Old.field}, if another class declared the field.
     */
    String value();
}
