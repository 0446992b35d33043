package dev.norn.sas.store.heap;

/** An entry of the directory as it was read. What its numbers say, {@link DirectoryFormat} has. */
public record DirectoryEntry(long reference, String text, long first, long second, long third) {
    /** Which list it is in. */
    public enum Kind {
        CONTAINER(16), ROOT(24), CLASS(32);

        private final int head;

        Kind(int head) {
            this.head = head;
        }

        /** Where the directory has the list's first entry. */
        public int head() {
            return head;
        }
    }

    /** The first line of the text. */
    public String name() {
        int end = text.indexOf('\n');
        return end < 0 ? text : text.substring(0, end);
    }
}
