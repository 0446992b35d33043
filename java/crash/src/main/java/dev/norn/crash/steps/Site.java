package dev.norn.crash.steps;

/**
 * A call in the store's code.
 *
 * @param method the class and the method that it is in, {@code RedoLog.append}; what is in a lambda is in the method
 *     around it
 * @param call the class and the method that is called, {@code LogFile.write}
 * @param ordinal the how many-th such call of the method, from 1
 */
record Site(String method, String call, int ordinal) {
    @Override
    public String toString() {
        return method + ">" + call + "#" + ordinal;
    }
}
