package dev.norn.crash.model;

/** In Java arrays of 32 numbers, which are filled in place. */
final class BlockRegister extends Register {
    private static final int WIDTH = 32;
    private long[][] blocks = new long[4][];
    private int count;

    @Override
    void put(int index, long id) {
        int block = index / WIDTH;
        if (block == blocks.length) {
            blocks = java.util.Arrays.copyOf(blocks, 2 * block);
        }
        if (index % WIDTH == 0) {
            blocks[block] = new long[WIDTH];
        }
        blocks[block][index % WIDTH] = id;
        count = index + 1;
    }

    @Override
    long[] all() {
        long[] all = new long[count];
        for (int i = 0; i < count; i++) {
            all[i] = blocks[i / WIDTH][i % WIDTH];
        }
        return all;
    }
}
