package dev.norn.sas.runtime;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

/** What the holder of a handle says of its object, and when. */
class NobodyTest {
    private static SasObject heldBy(Thread holder) {
        return (SasObject) Proxy.newProxyInstance(NobodyTest.class.getClassLoader(), new Class<?>[] {SasObject.class},
                (proxy, method, arguments) -> {
                    assertTrue(method.getName().equals("$sas$holder"), method.getName());
                    return holder;
                });
    }

    @Test
    void aHandleIsOfCommittedOnlyAfterTheCommitOfItsTransaction() {
        Nobody nobody = Nobody.ofTransaction();
        SasObject handle = heldBy(nobody);
        assertFalse(Nobody.isOfCommitted(handle), "locks are free before the record has its place");
        nobody.isNowCommitted();
        assertTrue(Nobody.isOfCommitted(handle));
        assertFalse(Nobody.isOfCommitted(heldBy(Nobody.get())), "of others, nothing is known");
        assertFalse(Nobody.isOfCommitted(heldBy(Thread.currentThread())));
    }

    @Test
    void aHandleLeftByALargeTransactionIsOfTheStoreThatWasOpenThen() {
        SasObject handle = heldBy(Nobody.ofTransaction());
        assertFalse(Nobody.isOfClosedStore(handle));
        Nobody.renew();
        assertTrue(Nobody.isOfClosedStore(handle));
    }
}
