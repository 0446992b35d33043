package dev.norn.sas.store.log;

import java.io.IOException;

/**
 * Where the records of a log end, and whether that is because of damage. Records that were never synced may reach the
 * disk in any order, so a hole is what a loss of power leaves, and what follows it was not acknowledged. But every
 * record says up to where the log was durable when it was appended: a hole below that has lost what was.
 *
 * @param position after the last record that follows the beginning without a gap
 * @param synced the highest position that is known to have been durable
 * @param recordsBehind whole records that were found after the gap
 * @param end where the last of them ends
 */
record LogEnd(long position, long synced, int recordsBehind, long end) {
    /**
     * Reads the whole ring.
     *
     * @param synced a position that is known to have been durable
     */
    static LogEnd find(LogRecords records, LogFile.Header header, long synced) throws IOException {
        long position = header.beginning();
        for (int length; (length = records.find(position)) != 0; position += length) {
            // Without a gap.
        }
        // What a replay has begun to apply was synced before.
        synced = Math.max(synced, header.applied());
        int behind = 0;
        long end = position;
        for (long at = position; at < header.end();) {
            int length = records.findOfAnyRound(at);
            if (length == 0) {
                at += LogFile.WORD_BYTES;
                continue;
            }
            synced = Math.max(synced, records.synced());
            if (records.operations(length).hasRemaining()) {
                behind++;
                end = Math.max(end, records.position() + length);
            }
            at += length;
        }
        return new LogEnd(position, synced, behind, end);
    }

    /** Whether records are missing that were durable. */
    boolean isDamage() {
        return position < synced;
    }

    /** Bytes of the log after the gap, as far as they are known to have been used. */
    long bytesBehind() {
        return Math.max(end, synced) - position;
    }

    String describe(LogFile.Header header) {
        return "no valid record is at position " + position + " (byte "
                + (LogFile.HEADER_BYTES + position % header.ring()) + " of the file), and up to " + synced
                + " it was synced; " + recordsBehind + " whole records are after that, in " + bytesBehind() + " bytes";
    }
}
