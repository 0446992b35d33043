//! The methods that the virtual machine carries out itself, by number.
//!
//! The linker turns a native method of the API into its number here, and refuses any other; the virtual machine carries
//! the number out. New ones are appended, since images name them by number.

use crate::known::place;

/// Class, name and descriptor of each native method; its number is its place.
pub const NATIVES: [(&str, &str, &str); 95] = [
    ("javacard/framework/AID", "getBytes", "([BS)B"),
    ("javacard/framework/AID", "equals", "(Ljava/lang/Object;)Z"),
    ("javacard/framework/AID", "equals", "([BSB)Z"),
    ("javacard/framework/AID", "partialEquals", "([BSB)Z"),
    ("javacard/framework/AID", "RIDEquals", "(Ljavacard/framework/AID;)Z"),
    ("javacard/framework/AID", "getPartialBytes", "(S[BSB)B"),
    ("javacard/framework/APDU", "getBuffer", "()[B"),
    ("javacard/framework/APDU", "getInBlockSize", "()S"),
    ("javacard/framework/APDU", "getOutBlockSize", "()S"),
    ("javacard/framework/APDU", "getProtocol", "()B"),
    ("javacard/framework/APDU", "getNAD", "()B"),
    ("javacard/framework/APDU", "setOutgoing", "()S"),
    ("javacard/framework/APDU", "setOutgoingNoChaining", "()S"),
    ("javacard/framework/APDU", "setOutgoingLength", "(S)V"),
    ("javacard/framework/APDU", "receiveBytes", "(S)S"),
    ("javacard/framework/APDU", "setIncomingAndReceive", "()S"),
    ("javacard/framework/APDU", "sendBytes", "(SS)V"),
    ("javacard/framework/APDU", "sendBytesLong", "([BSS)V"),
    ("javacard/framework/APDU", "setOutgoingAndSend", "(SS)V"),
    ("javacard/framework/APDU", "getCurrentState", "()B"),
    ("javacard/framework/APDU", "getCurrentAPDU", "()Ljavacard/framework/APDU;"),
    ("javacard/framework/APDU", "getCurrentAPDUBuffer", "()[B"),
    ("javacard/framework/APDU", "getCLAChannel", "()B"),
    ("javacard/framework/APDU", "waitExtension", "()V"),
    ("javacard/framework/APDU", "isCommandChainingCLA", "()Z"),
    ("javacard/framework/APDU", "isSecureMessagingCLA", "()Z"),
    ("javacard/framework/APDU", "isISOInterindustryCLA", "()Z"),
    ("javacard/framework/APDU", "isValidCLA", "()Z"),
    ("javacard/framework/APDU", "getIncomingLength", "()S"),
    ("javacard/framework/APDU", "getOffsetCdata", "()S"),
    ("javacard/framework/APDUException", "throwIt", "(S)V"),
    ("javacard/framework/Applet", "register", "()V"),
    ("javacard/framework/Applet", "register", "([BSB)V"),
    ("javacard/framework/Applet", "selectingApplet", "()Z"),
    ("javacard/framework/CardException", "throwIt", "(S)V"),
    ("javacard/framework/CardRuntimeException", "throwIt", "(S)V"),
    ("javacard/framework/ISOException", "throwIt", "(S)V"),
    ("javacard/framework/JCSystem", "isTransient", "(Ljava/lang/Object;)B"),
    ("javacard/framework/JCSystem", "makeTransientBooleanArray", "(SB)[Z"),
    ("javacard/framework/JCSystem", "makeTransientByteArray", "(SB)[B"),
    ("javacard/framework/JCSystem", "makeTransientShortArray", "(SB)[S"),
    ("javacard/framework/JCSystem", "makeTransientObjectArray", "(SB)[Ljava/lang/Object;"),
    ("javacard/framework/JCSystem", "getVersion", "()S"),
    ("javacard/framework/JCSystem", "getAID", "()Ljavacard/framework/AID;"),
    ("javacard/framework/JCSystem", "lookupAID", "([BSB)Ljavacard/framework/AID;"),
    ("javacard/framework/JCSystem", "beginTransaction", "()V"),
    ("javacard/framework/JCSystem", "abortTransaction", "()V"),
    ("javacard/framework/JCSystem", "commitTransaction", "()V"),
    ("javacard/framework/JCSystem", "getTransactionDepth", "()B"),
    ("javacard/framework/JCSystem", "getUnusedCommitCapacity", "()S"),
    ("javacard/framework/JCSystem", "getMaxCommitCapacity", "()S"),
    ("javacard/framework/JCSystem", "getPreviousContextAID", "()Ljavacard/framework/AID;"),
    ("javacard/framework/JCSystem", "getAvailableMemory", "(B)S"),
    (
        "javacard/framework/JCSystem",
        "getAppletShareableInterfaceObject",
        "(Ljavacard/framework/AID;B)Ljavacard/framework/Shareable;",
    ),
    ("javacard/framework/JCSystem", "isObjectDeletionSupported", "()Z"),
    ("javacard/framework/JCSystem", "requestObjectDeletion", "()V"),
    ("javacard/framework/JCSystem", "getAssignedChannel", "()B"),
    ("javacard/framework/JCSystem", "isAppletActive", "(Ljavacard/framework/AID;)Z"),
    ("javacard/framework/PINException", "throwIt", "(S)V"),
    ("javacard/framework/SystemException", "throwIt", "(S)V"),
    ("javacard/framework/TransactionException", "throwIt", "(S)V"),
    ("javacard/framework/UserException", "throwIt", "(S)V"),
    ("javacard/framework/Util", "arrayCopy", "([BS[BSS)S"),
    ("javacard/framework/Util", "arrayCopyNonAtomic", "([BS[BSS)S"),
    ("javacard/framework/Util", "arrayFillNonAtomic", "([BSSB)S"),
    ("javacard/framework/Util", "arrayCompare", "([BS[BSS)B"),
    ("javacard/framework/Util", "makeShort", "(BB)S"),
    ("javacard/framework/Util", "getShort", "([BS)S"),
    ("javacard/framework/Util", "setShort", "([BSS)S"),
    ("javacard/security/CryptoException", "throwIt", "(S)V"),
    ("javacardx/framework/util/UtilException", "throwIt", "(S)V"),
    ("javacard/security/Algorithms", "digestUpdate", "(B[B[BSS)V"),
    ("javacard/security/Algorithms", "digestFinish", "(B[B[BS)S"),
    ("javacardx/crypto/BlockCipher", "blocks", "(B[BBZ[BSS[BS)V"),
    ("javacard/security/Algorithms", "random", "([BSS)V"),
    ("javacard/security/Algorithms", "generate", "(B[B[B)V"),
    ("javacard/security/Algorithms", "sign", "(B[B[BSS[BS)S"),
    ("javacard/security/Algorithms", "verify", "(B[B[BSS[BSS)Z"),
    ("javacard/security/Algorithms", "agree", "(BZ[B[BSS[BS)S"),
    ("javacard/security/Algorithms", "parameter", "(BB[BS)S"),
    ("javacard/security/Algorithms", "curves", "(SB[BSS)S"),
    ("javacard/security/Algorithms", "blocks", "(B[BBZ[BSS[BS)V"),
    ("javacard/security/Algorithms", "hasRsa", "()Z"),
    ("javacard/security/Algorithms", "raise", "(Z[BS[BSS[BS)Z"),
    ("javacard/security/Algorithms", "generateRsa", "(Z[B[BS)Z"),
    ("javacard/framework/Applet", "reSelectingApplet", "()Z"),
    ("javacard/framework/JCSystem", "freeBytes", "()I"),
    ("javacardx/framework/util/intx/JCint", "makeTransientIntArray", "(SB)[I"),
    ("javacard/framework/JCSystem", "makeGlobalArray", "(BS)Ljava/lang/Object;"),
    ("javacardx/framework/util/ArrayLogic", "setAtOnce", "(Ljava/lang/Object;SI)V"),
    ("javacardx/framework/tlv/TLVException", "throwIt", "(S)V"),
    ("javacard/security/Algorithms", "makeKey", "(S)[B"),
    ("javacard/security/Algorithms", "noteOldKey", "()V"),
    ("javacard/security/Algorithms", "require", "(S)V"),
    ("javacardx/crypto/BlockCipher", "require", "(S)V"),
];

/// The number of a native method, by internal name of the class, name and descriptor. Cost: the table is read through.
#[must_use]
pub const fn native_number(class: &str, name: &str, descriptor: &str) -> Option<u16> {
    match place(&NATIVES, class, name, descriptor) {
        Some(number) => Some(number as u16),
        None => None,
    }
}

/// The method of a number.
#[must_use]
pub fn native_name(number: u16) -> Option<(&'static str, &'static str, &'static str)> {
    NATIVES.get(usize::from(number)).copied()
}
