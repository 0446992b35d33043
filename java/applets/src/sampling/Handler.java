package sampling;

/** What events are for. */
interface Handler {
    /** Takes an event with a value, at the time of the scheduler. */
    void handle(byte event, short value);
}
