package keep;

/** An object with a field of each kind. */
public class Box implements Plain {
    public boolean flag;
    public byte small;
    public short number;
    public int wide;
    public Object other;

    public short plain() {
        return number;
    }
}
