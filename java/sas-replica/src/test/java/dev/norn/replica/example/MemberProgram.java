package dev.norn.replica.example;

import dev.norn.sas.Group;
import dev.norn.sas.Member;
import dev.norn.sas.Store;
import dev.norn.sas.Transaction;
import dev.norn.sas.exception.OutcomeUnknown;
import dev.norn.sas.exception.SASException;
import dev.norn.sas.exception.StorageWriteFailure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Collectors;

/**
 * A member with clients, each of which counts wherever it leads, and one that reads, if there are any: {@code DIRECTORY
 * NAME PEERS CLIENTS LOGBYTES}. Says each count that is acknowledged, with the total that it has seen and when it began
 * and ended, each whose outcome is unknown, and the total of each fresh read. From its input: {@code stop} ends the
 * clients, {@code number} says the member's number, {@code describe N} the state with at least that number, {@code
 * outcome EPOCH NUMBER}, {@code fresh} a fresh read, {@code leads} whether it leads, {@code how} how it is, {@code hold
 * SECONDS} keeps it from being opened again, {@code big COUNT} what becomes of a transaction that adds so many
 * accounts, {@code bench CLIENTS SECONDS} how many additions to accounts are acknowledged meanwhile, and how long each
 * took, in microseconds.
 */
public final class MemberProgram {
    private static final long READ_MILLIS = 20;
    private static final long RETRY_MILLIS = 5;
    private static final List<Thread> CLIENTS = new ArrayList<>();
    private static final AtomicLong NAMES = new AtomicLong();
    private static final ReentrantReadWriteLock OPEN = new ReentrantReadWriteLock();
    private static volatile boolean isStopped;
    private static volatile Store store;
    private static volatile Member member;
    private static Path directory;
    private static String name;
    private static final Map<String, String> PEERS = new TreeMap<>();
    private static long logBytes;

    private MemberProgram() {}

    public static void main(String[] arguments) throws Exception {
        directory = Path.of(arguments[0]);
        name = arguments[1];
        for (String peer : arguments[2].split(",")) {
            PEERS.put(peer.split("=")[0], peer.split("=")[1]);
        }
        logBytes = Long.parseLong(arguments[4]);
        open();
        int clients = Integer.parseInt(arguments[3]);
        for (int i = 0; i < clients; i++) {
            CLIENTS.add(Thread.ofPlatform().daemon().start(MemberProgram::runClient));
        }
        if (clients > 0) {
            // Each of its reads has the leader ask a majority, which additions to accounts would be measured with.
            Thread.ofPlatform().daemon().start(MemberProgram::runReader);
        }
        Thread.ofPlatform().daemon().start(MemberProgram::reopenWhenLost);
        var input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] asked = line.split(" ");
            Thread.ofPlatform().daemon().start(() -> answerOnce(asked));
        }
    }

    private static void answerOnce(String[] asked) {
        try {
            say(switch (asked[0]) {
                case "stop" -> stop();
                case "bench" -> "bench " + bench(Integer.parseInt(asked[1]), Integer.parseInt(asked[2]));
                case "how" -> "how " + how();
                case "hold" -> hold(Integer.parseInt(asked[1]));
                case "big" -> "big " + addAccounts(Integer.parseInt(asked[1]));
                default -> answer(asked);
            });
        } catch (InterruptedException | RuntimeException e) {
            say("failed " + e);
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static void open() throws Exception {
        store = Store.open(directory.resolve("store"), new Group(name, PEERS).withLogBytes(logBytes));
        member = store.member();
        say("open");
    }

    /** Asks again while the member cannot answer. It may have to be opened again first: nothing waits in the lock. */
    private static String answer(String[] asked) {
        String before = null;
        try {
            for (;; Thread.sleep(RETRY_MILLIS)) {
                OPEN.readLock().lock();
                try {
                    String said = member.isUsable() ? tryToAnswer(asked) : null;
                    if (said != null) {
                        return said;
                    }
                } catch (SASException e) {
                    String reason = e + (e.getCause() == null ? "" : ", since " + e.getCause());
                    if (!reason.equals(before)) {
                        System.err.println(String.join(" ", asked) + ": " + reason);
                    }
                    before = reason;
                } finally {
                    OPEN.readLock().unlock();
                }
            }
        } catch (InterruptedException | RuntimeException e) {
            return "failed " + e;
        }
    }

    /** Keeps the member from being opened again, as a program does that goes on to use the store. */
    private static String hold(int seconds) throws InterruptedException {
        OPEN.readLock().lock();
        say("hold");
        try {
            Thread.sleep(Duration.ofSeconds(seconds));
        } finally {
            OPEN.readLock().unlock();
        }
        return "held";
    }

    /** What becomes of a transaction that adds so many, of a leader. */
    private static String addAccounts(int count) {
        try {
            Transaction.run(() -> store.root("accounts", Accounts.class).open(count));
            return "COMMITTED";
        } catch (OutcomeUnknown | StorageWriteFailure e) {
            System.err.println("big: " + e);
            return "UNDONE";
        }
    }

    /** Answered also while whoever opens the member again holds the lock, or waits for it. */
    private static String how() throws InterruptedException {
        if (!OPEN.readLock().tryLock(RETRY_MILLIS, TimeUnit.MILLISECONDS)) {
            return OPEN.isWriteLocked() ? "is being opened again"
                    : "is to be opened again, and " + OPEN.getReadLockCount() + " calls are under way";
        }
        try {
            return (member.isUsable() ? "usable" : "not usable") + (member.isLeader() ? ", leader" : ", follower")
                    + " of epoch " + member.epoch() + ", record " + member.number();
        } finally {
            OPEN.readLock().unlock();
        }
    }

    /** Null if there is no answer yet. */
    private static String tryToAnswer(String[] asked) {
        return switch (asked[0]) {
            case "number" -> "number " + member.number();
            case "describe" -> member.number() < Long.parseLong(asked[1]) ? null
                    : "state " + Transaction.read(() -> store.root("tallies", Tallies.class).describe());
            case "outcome" -> "outcome " + member.outcome(Long.parseLong(asked[1]), Long.parseLong(asked[2]));
            case "leads" -> "leads " + member.isLeader();
            case "sum" -> "sum " + member.readFresh(() -> store.root("accounts", Accounts.class).sum());
            default -> "fresh " + member.readFresh(() -> store.root("tallies", Tallies.class).describe());
        };
    }

    /** Returns when all clients have ended. */
    private static String stop() throws InterruptedException {
        isStopped = true;
        for (Thread client : CLIENTS) {
            client.join();
        }
        return "stopped";
    }

    /** A client whose outcome is unknown goes on under another name. */
    private static void runClient() {
        String client = null;
        long count = 0;
        while (!isStopped) {
            if (client == null) {
                client = name + "-" + ProcessHandle.current().pid() + "-" + NAMES.incrementAndGet();
                count = 0;
            }
            OPEN.readLock().lock();
            try {
                if (!member.isLeader()) {
                    Thread.sleep(5);
                    continue;
                }
                String its = client;
                long start = System.nanoTime();
                long total = Transaction.call(() -> store.root("tallies", Tallies.class).count(its));
                say("ack " + client + " " + ++count + " " + total + " " + start + " " + System.nanoTime());
            } catch (OutcomeUnknown e) {
                say("unknown " + client + " " + (count + 1) + " " + e.epoch() + " " + e.number());
                client = null;
            } catch (InterruptedException | SASException e) {
                // It did not begin, or was undone, or what it has read is not acknowledged.
            } finally {
                OPEN.readLock().unlock();
            }
        }
    }

    /** Reads the total fresh, at any member. */
    private static void runReader() {
        while (!isStopped) {
            OPEN.readLock().lock();
            try {
                Thread.sleep(READ_MILLIS);
                long start = System.nanoTime();
                long total = member.readFresh(() -> store.root("tallies", Tallies.class).total());
                say("read " + total + " " + start + " " + System.nanoTime());
            } catch (InterruptedException | SASException e) {
                // No leader answers, or the member is to be opened again.
            } finally {
                OPEN.readLock().unlock();
            }
        }
    }

    private static String bench(int clients, int seconds) throws InterruptedException {
        Accounts accounts = Transaction.<Accounts, RuntimeException>read(() -> store.root("accounts", Accounts.class));
        int size = Transaction.<Integer, RuntimeException>read(accounts::size);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        List<List<Long>> micros = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            List<Long> its = new ArrayList<>();
            micros.add(its);
            threads.add(Thread.ofPlatform().daemon().start(() -> add(accounts, size, end, its)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return micros.stream().flatMap(List::stream).map(Object::toString).collect(Collectors.joining(","));
    }

    private static void add(Accounts accounts, int size, long end, List<Long> micros) {
        for (long start = System.nanoTime(); start < end;) {
            int account = ThreadLocalRandom.current().nextInt(size);
            Transaction.run(() -> accounts.add(account, 1));
            long now = System.nanoTime();
            micros.add((now - start) / 1000);
            start = now;
        }
    }

    /** While there is no room on the disk, it fails. */
    private static void reopen() throws Exception {
        for (;;) {
            try {
                if (Store.isOpen()) {
                    Store.current().close();
                }
                open();
                return;
            } catch (SASException | IOException e) {
                System.err.println("opens again: " + e);
                Thread.sleep(200);
            }
        }
    }

    private static void reopenWhenLost() {
        try {
            for (;;) {
                Thread.sleep(20);
                if (!member.isUsable()) {
                    OPEN.writeLock().lock();
                    try {
                        reopen();
                    } finally {
                        OPEN.writeLock().unlock();
                    }
                }
            }
        } catch (Exception | Error e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(3);
        }
    }
}
