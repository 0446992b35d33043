package javacard.framework;

/** Numbers of ISO/IEC 7816-3 and 7816-4. */
public interface ISO7816 {
    /** Status word 9000: success. */
    short SW_NO_ERROR = (short) 0x9000;

    /** Status word 6100: as many bytes wait as the low byte says. */
    short SW_BYTES_REMAINING_00 = 0x6100;

    /** Status word 6200: a warning; nothing has changed. */
    short SW_WARNING_STATE_UNCHANGED = 0x6200;

    /** Status word 6700: a wrong length. */
    short SW_WRONG_LENGTH = 0x6700;

    /** Status word 6881: no such channel. */
    short SW_LOGICAL_CHANNEL_NOT_SUPPORTED = 0x6881;

    /** Status word 6882: no secure messaging. */
    short SW_SECURE_MESSAGING_NOT_SUPPORTED = 0x6882;

    /** Status word 6883: the last command of a chain is missing. */
    short SW_LAST_COMMAND_EXPECTED = 0x6883;

    /** Status word 6884: no chains of commands. */
    short SW_COMMAND_CHAINING_NOT_SUPPORTED = 0x6884;

    /** Status word 6982: not authorised. */
    short SW_SECURITY_STATUS_NOT_SATISFIED = 0x6982;

    /** Status word 6983: an invalid file, or a blocked PIN. */
    short SW_FILE_INVALID = 0x6983;

    /** Status word 6984: invalid data. */
    short SW_DATA_INVALID = 0x6984;

    /** Status word 6985: conditions of use do not hold. */
    short SW_CONDITIONS_NOT_SATISFIED = 0x6985;

    /** Status word 6986: not allowed now. */
    short SW_COMMAND_NOT_ALLOWED = 0x6986;

    /** Status word 6999: no applet is selected. */
    short SW_APPLET_SELECT_FAILED = 0x6999;

    /** Status word 6A80: wrong data. */
    short SW_WRONG_DATA = 0x6A80;

    /** Status word 6A81: no such function. */
    short SW_FUNC_NOT_SUPPORTED = 0x6A81;

    /** Status word 6A82: no such file. */
    short SW_FILE_NOT_FOUND = 0x6A82;

    /** Status word 6A83: no such record. */
    short SW_RECORD_NOT_FOUND = 0x6A83;

    /** Status word 6A84: no room. */
    short SW_FILE_FULL = 0x6A84;

    /** Status word 6A86: wrong parameters P1 and P2. */
    short SW_INCORRECT_P1P2 = 0x6A86;

    /** Status word 6B00: parameters P1 and P2 out of range. */
    short SW_WRONG_P1P2 = 0x6B00;

    /** Status word 6C00: the right length is the low byte. */
    short SW_CORRECT_LENGTH_00 = 0x6C00;

    /** Status word 6D00: no such instruction. */
    short SW_INS_NOT_SUPPORTED = 0x6D00;

    /** Status word 6E00: no such class. */
    short SW_CLA_NOT_SUPPORTED = 0x6E00;

    /** Status word 6F00: no precise reason. */
    short SW_UNKNOWN = 0x6F00;

    /** Where the class is in the APDU buffer. */
    byte OFFSET_CLA = 0;

    /** Where the instruction is in the APDU buffer. */
    byte OFFSET_INS = 1;

    /** Where the first parameter is in the APDU buffer. */
    byte OFFSET_P1 = 2;

    /** Where the second parameter is in the APDU buffer. */
    byte OFFSET_P2 = 3;

    /** Where the length of the data is in the APDU buffer. */
    byte OFFSET_LC = 4;

    /** Where the data is in the APDU buffer. */
    byte OFFSET_CDATA = 5;

    /** Where the data of an extended command is in the APDU buffer. */
    byte OFFSET_EXT_CDATA = 7;

    /** The class of ISO's own commands. */
    byte CLA_ISO7816 = 0x00;

    /** The instruction SELECT. */
    byte INS_SELECT = (byte) 0xA4;

    /** The instruction EXTERNAL AUTHENTICATE. */
    byte INS_EXTERNAL_AUTHENTICATE = (byte) 0x82;
}
