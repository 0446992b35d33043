package dev.norn.sas.replica;

import dev.norn.sas.store.replica.RecordBatch;
import dev.norn.sas.store.replica.ReplicaStore;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/**
 * Sends a leader's records to the group, a batch at a time: while one is under way, the next one collects. It asks only
 * the server of its own process, so nothing that it sends gets into the log by another leader. Whatever fails ends the
 * leadership of the store.
 */
final class Shipper implements GroupMachine.Sending {
    /** A batch that is shorter takes one more record. */
    static final int BATCH_BYTES = 1 << 20;
    /** While so many are under way, the next one collects. */
    private static final int UNDER_WAY_MAX = 2;
    private static final long IDLE_NANOS = 100_000_000;
    /** Without a majority, a batch waits for one: as long as the caller of a commit may be kept waiting. */
    private static final long BATCH_NANOS_MAX = 20_000_000_000L;
    private static final long READY_MILLIS = 10;

    private final ReplicaStore replica;
    private final RaftGroupId group;
    private final ClientId client = ClientId.randomId();
    private RaftServer server;
    private RaftServer.Division division;
    private Thread thread;
    private volatile long epoch;
    private volatile boolean isClosed;
    private final Semaphore underWay = new Semaphore(UNDER_WAY_MAX);
    /** When a batch was answered last, or was sent while none was under way. */
    private volatile long progressNanos;
    private long calls;

    Shipper(ReplicaStore replica, RaftGroupId group) {
        this.replica = replica;
        this.group = group;
    }

    synchronized void connect(RaftServer its) {
        server = its;
        notifyAll();
    }

    @Override
    public long epoch() {
        return isClosed ? 0 : epoch;
    }

    /** Whether it has led, or was about to, and does not any more. */
    @Override
    public boolean isOver() {
        return isClosed;
    }

    /** The member is elected, and has applied all entries of earlier terms. */
    @Override
    public synchronized void begin() {
        if (thread == null && !isClosed) {
            thread = Thread.ofPlatform().daemon().name("sas-shipper").start(this::run);
        }
    }

    /** Another one leads. A store that has led is to be opened again before it leads again. */
    @Override
    public void end() {
        if (epoch != 0 && !isClosed) {
            isClosed = true;
            replica.lose();
        }
    }

    /** Sends nothing more; a batch that is under way stays so until the server is closed. */
    void close() {
        isClosed = true;
        replica.lose();
        synchronized (this) {
            notifyAll();
        }
    }

    /** Waits until nothing uses the store. */
    void join() throws InterruptedException {
        Thread its;
        synchronized (this) {
            its = thread;
        }
        if (its != null) {
            its.join();
        }
    }

    private void run() {
        try {
            RaftServer its = server();
            if (its == null) {
                return;
            }
            division = its.getDivision(group);
            epoch = division.getInfo().getCurrentTerm();
            if (isClosed || !begin(ReplicaStore.beginning(epoch)) || !replica.isLeader()) {
                return;
            }
            while (!isClosed && replica.isLeader() && isAnswered()) {
                if (!underWay.tryAcquire(IDLE_NANOS, TimeUnit.NANOSECONDS)) {
                    continue;
                }
                RecordBatch batch = replica.next(BATCH_BYTES, IDLE_NANOS);
                if (batch == null) {
                    underWay.release();
                } else {
                    send(batch);
                }
            }
        } catch (IOException | RuntimeException e) {
            System.err.println("sas: the member " + replica + " stops leading: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lose();
        }
    }

    /** A timer for each batch would cost two changes of threads a commit. */
    private boolean isAnswered() {
        return underWay.availablePermits() == UNDER_WAY_MAX || System.nanoTime() - progressNanos < BATCH_NANOS_MAX;
    }

    private void lose() {
        isClosed = true;
        replica.lose();
    }

    private synchronized RaftServer server() throws InterruptedException {
        while (server == null && !isClosed) {
            wait();
        }
        return server;
    }

    /** Returns whether it was applied here, after a majority had it. */
    private boolean begin(RecordBatch beginning) throws IOException, InterruptedException {
        RaftClientReply reply = submitAndWait(beginning);
        while (reply != null && reply.getLeaderNotReadyException() != null && !isClosed) {
            // Nothing was appended.
            Thread.sleep(READY_MILLIS);
            reply = submitAndWait(beginning);
        }
        return reply != null && reply.isSuccess();
    }

    private RaftClientReply submitAndWait(RecordBatch batch) throws IOException {
        return submit(batch).orTimeout(BATCH_NANOS_MAX, TimeUnit.NANOSECONDS).exceptionally(e -> null).join();
    }

    /** Sends a batch. If one fails, no more are sent. */
    private void send(RecordBatch batch) throws IOException {
        if (isClosed) {
            return;
        }
        if (underWay.availablePermits() == UNDER_WAY_MAX - 1) {
            progressNanos = System.nanoTime();
        }
        submit(batch).thenAccept(reply -> {
            if (reply == null || !reply.isSuccess()) {
                lose();
            }
            progressNanos = System.nanoTime();
            underWay.release();
        });
    }

    /**
     * When this returns, the batch is the last one in the server's log, or its reply says already that it is not there.
     * The reply is null if it is unknown what becomes of the batch. The server itself would hand the request to another
     * thread and wait for it; its part for the group does not.
     */
    private CompletableFuture<RaftClientReply> submit(RecordBatch batch) throws IOException {
        RaftClientRequest request = RaftClientRequest.newBuilder().setClientId(client).setServerId(server.getId())
                .setGroupId(group).setCallId(++calls).setType(RaftClientRequest.writeRequestType())
                .setMessage(Message.valueOf(ByteString.copyFrom(batch.encode()))).build();
        return ((RaftClientAsynchronousProtocol) division).submitClientRequestAsync(request)
                .exceptionally(e -> null);
    }
}
