package pending;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISOException;
import javacard.framework.JCSystem;
import javacard.framework.Util;

/** Changes what the keeper has while it is installed; its parameter says how the installation ends. */
public final class Newcomer extends Applet {
    private static final byte REGISTERS = 0;
    private static final byte THROWS = 1;
    private static final byte RETURNS = 2;
    private static final byte REGISTERS_AND_THROWS = 3;
    private static final byte ABORTS = 4;
    private static final byte LEAVES_OPEN = 5;
    private static final byte REGISTERS_AGAIN = 6;

    private static final byte REGISTERS_AS_ANOTHERS = 7;
    private static final byte[] FOREIGN = {(byte) 0xF0, 0, 0, 0, 0x21, 0, 2};

    private final byte[] own = new byte[4];

    public static void install(byte[] parameters, short offset, byte length) {
        byte mode = parameters[(short) (offset + length - 1)];
        Newcomer newcomer = new Newcomer();
        newcomer.change();
        switch (mode) {
            case REGISTERS:
                newcomer.register();
                break;
            case THROWS:
                ISOException.throwIt((short) 0x6A01);
                break;
            case RETURNS:
                break;
            case REGISTERS_AND_THROWS:
                newcomer.register();
                ISOException.throwIt((short) 0x6A02);
                break;
            case ABORTS:
            case REGISTERS_AGAIN:
                JCSystem.beginTransaction();
                Keeper.keeper.field = 77;
                newcomer.register();
                JCSystem.abortTransaction();
                if (mode == REGISTERS_AGAIN) {
                    newcomer.register();
                }
                break;
            case REGISTERS_AS_ANOTHERS:
                newcomer.register(FOREIGN, (short) 0, (byte) FOREIGN.length);
                break;
            default:
                JCSystem.beginTransaction();
                Keeper.keeper.field = 77;
                newcomer.register();
        }
    }

    private void change() {
        for (byte times = 0; times < 3; times++) {
            Keeper.count++;
        }
        own[0] = Keeper.count;
        Keeper.numbers[1] = 300;
        JCSystem.beginTransaction();
        Keeper.keeper.field = 500;
        Util.arrayCopy(own, (short) 0, Keeper.keeper.bytes, (short) 1, (short) 2);
        JCSystem.commitTransaction();
        JCSystem.beginTransaction();
        Keeper.keeper.bytes[0] = 9;
        JCSystem.abortTransaction();
        Keeper.keeper.named = own;
    }

    public void process(APDU apdu) {
    }
}
