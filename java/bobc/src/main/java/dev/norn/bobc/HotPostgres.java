package dev.norn.bobc;

import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Accounts as rows of PostgreSQL, which pgbench raises. Client and server share the processors, and pgbench takes less
 * of them than a driver in a JVM.
 */
final class HotPostgres {
    private static final String UPDATE = "update account set balance = balance + 1 where id = ";
    private static final Pattern PROCESSED = Pattern.compile("transactions actually processed: (\\d+)");
    private static final Pattern FAILED = Pattern.compile("failed transactions: (\\d+)");
    private static final Pattern RATE = Pattern.compile("tps = ([0-9.]+) \\(without");

    private HotPostgres() {}

    /** A run in a cluster of its own. Half of each page is left free, so that new versions of rows have room there. */
    static HotOutcome run(HotRow row, HotDrive.Time time, long seed, Path directory)
            throws IOException, InterruptedException {
        try (PostgresCluster cluster = new PostgresCluster(directory, row.clients())) {
            cluster.execute("create table account (id integer primary key, balance bigint not null)"
                    + " with (fillfactor = 50); insert into account select id, 0 from generate_series(1, "
                    + row.objects() + ") id");
            cluster.execute("vacuum analyze account");
            long before = 0;
            if (time.warmUp() > 0) {
                before = number(PROCESSED, cluster.bench(script(row), row.clients(), time.warmUp(), seed, new Waits()));
            }
            long syncs = syncs(cluster);
            Waits waits = new Waits();
            String said = cluster.bench(script(row), row.clients(), time.seconds(), seed + 1, waits);
            syncs = syncs < 0 ? syncs : syncs(cluster) - syncs;
            long commits = number(PROCESSED, said);
            double seconds = commits / decimal(RATE, said);
            long failed = number(FAILED, said);
            return new HotOutcome(seconds, commits, commits, failed, before + commits, syncs, -1, waits).requireSum(
                    Long.parseLong(cluster.execute("select sum(balance) from account")));
        }
    }

    private static String script(HotRow row) {
        return row.objects() == 1 ? UPDATE + "1;\n"
                : "\\set id random_zipfian(1, %d, %s)\n%s:id;\n".formatted(row.objects(), Popularity.EXPONENT, UPDATE);
    }

    /** Syncs of the log; -1 if this version counts them elsewhere. */
    private static long syncs(PostgresCluster cluster) throws IOException, InterruptedException {
        try {
            return Long.parseLong(cluster.execute("select wal_sync from pg_stat_wal"));
        } catch (RunFailed e) {
            return -1;
        }
    }

    private static double decimal(Pattern pattern, String said) {
        Matcher matcher = pattern.matcher(said);
        if (!matcher.find()) {
            throw new RunFailed("pgbench does not say \"" + pattern + "\": " + said);
        }
        return Double.parseDouble(matcher.group(1));
    }

    private static long number(Pattern pattern, String said) {
        return (long) decimal(pattern, said);
    }
}
