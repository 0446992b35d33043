package sampling;

import javacard.framework.APDU;
import javacard.framework.Applet;
import javacard.framework.ISO7816;
import javacard.framework.ISOException;
import javacard.framework.MultiSelectable;
import javacard.framework.Util;

/**
 * An application that samples a sensor, and forwards what it finds. A command is an interrupt: how many ticks passed,
 * what the converter reads, and what the radio has received. The answer is the frame that goes out.
 */
abstract class Application extends Applet implements MultiSelectable, Handler {
    private static final byte INTERRUPT = 0x10;
    private static final byte RECEIVED = 0x20;
    private static final byte COUNTS = 0x30;
    private static final byte SETTINGS = 0x40;
    private static final byte HISTORY = 0x50;
    private static final short ROOM = 24;
    private static final byte SAMPLE = 1;
    private static final byte REPORT = 2;

    final Scheduler scheduler = new Scheduler();
    final Statistics statistics = new Statistics();
    final Samples samples = new Samples(ROOM);
    private final Frame frame = new Frame();
    private final Coder coder = new Coder();
    private final History history = new History();
    private final Radio radio;
    private final Sensor sensor;
    private final Filter filter;
    private final Detector detector;
    private final byte sampling;
    private final byte reporting;
    private short reading;

    Application(byte address, Sensor sensor, Filter filter, Detector detector) {
        this.sensor = sensor;
        this.filter = filter;
        this.detector = detector;
        radio = new Radio(scheduler, address);
        sampling = scheduler.timers.add(this, SAMPLE);
        reporting = scheduler.timers.add(this, REPORT);
    }

    /** Ticks between samples. */
    abstract short samplingTicks();

    /** Ticks between reports. */
    abstract short reportingTicks();

    /** What the application adds to a report. */
    abstract short extra();

    /** Whether a value is kept to be sent. */
    abstract boolean keeps(short value);

    public boolean select() {
        powerUp();
        return true;
    }

    public boolean select(boolean appInstAlreadyActive) {
        powerUp();
        return true;
    }

    public void deselect(boolean appInstStillActive) {
    }

    private void powerUp() {
        filter.reset();
        statistics.reset();
        scheduler.start(sampling, samplingTicks());
        scheduler.start(reporting, reportingTicks());
        radio.powerUp();
    }

    public void process(APDU apdu) {
        if (selectingApplet()) {
            return;
        }
        byte[] buffer = apdu.getBuffer();
        short length = apdu.setIncomingAndReceive();
        switch (buffer[ISO7816.OFFSET_INS]) {
            case INTERRUPT:
                reading = Util.getShort(buffer, ISO7816.OFFSET_CDATA);
                scheduler.advance(buffer[ISO7816.OFFSET_P1]);
                break;
            case RECEIVED:
                receive(buffer, ISO7816.OFFSET_CDATA, length);
                scheduler.advance(buffer[ISO7816.OFFSET_P1]);
                break;
            case COUNTS:
                apdu.setOutgoingAndSend((short) 0, counts(buffer));
                return;
            case SETTINGS:
                set(buffer, ISO7816.OFFSET_CDATA, length);
                break;
            case HISTORY:
                short from = Util.getShort(buffer, ISO7816.OFFSET_CDATA);
                apdu.setOutgoingAndSend((short) 0, history.copy(from, buffer, (short) 0, (short) 200));
                return;
            default:
                ISOException.throwIt(ISO7816.SW_INS_NOT_SUPPORTED);
        }
        apdu.setOutgoingAndSend((short) 0, radio.take(buffer, (short) 0));
    }

    /** A beacon of a neighbour, or an acknowledgement with its number. */
    private void receive(byte[] buffer, short offset, short length) {
        short end = (short) (offset + length - 2);
        if (length < 5 || Util.getShort(buffer, end) != Checksum.of(buffer, offset, (short) (length - 2))) {
            ISOException.throwIt(ISO7816.SW_WRONG_DATA);
        }
        radio.routes.heard(buffer[offset], buffer[(short) (offset + 1)]);
        if (length > 5) {
            radio.acknowledged(buffer[(short) (offset + 3)]);
        }
    }

    private short counts(byte[] buffer) {
        Util.setShort(buffer, (short) 0, detector.found());
        Util.setShort(buffer, (short) 2, scheduler.queue.lost());
        Util.setShort(buffer, (short) 4, history.warmest());
        return Util.setShort(buffer, (short) 6, samples.count());
    }

    /** Settings: each is a tag, a length of 2, and a value. */
    private void set(byte[] buffer, short offset, short length) {
        short end = (short) (offset + length);
        while (offset < end) {
            if (end - offset < 4 || buffer[(short) (offset + 1)] != 2) {
                ISOException.throwIt(ISO7816.SW_WRONG_DATA);
            }
            short value = Util.getShort(buffer, (short) (offset + 2));
            switch (buffer[offset]) {
                case 1:
                    if (value < 1) {
                        ISOException.throwIt(ISO7816.SW_WRONG_DATA);
                    }
                    scheduler.start(sampling, value);
                    break;
                case 2:
                    if (value < 10) {
                        ISOException.throwIt(ISO7816.SW_WRONG_DATA);
                    }
                    scheduler.start(reporting, value);
                    break;
                case 3:
                    statistics.reset();
                    filter.reset();
                    break;
                default:
                    ISOException.throwIt(ISO7816.SW_FUNC_NOT_SUPPORTED);
            }
            offset += 4;
        }
    }

    public void handle(byte event, short value) {
        if (event == SAMPLE) {
            sample();
        } else {
            report();
        }
    }

    private void sample() {
        short value = filter.apply(sensor.sample(reading));
        if (!sensor.isReady()) {
            return;
        }
        statistics.add(value);
        if (keeps(value)) {
            samples.add(value);
        }
        if (detector.looks(value)) {
            alarm(value);
        } else if (samples.count() == ROOM && radio.isIdle()) {
            forward();
        }
    }

    private void alarm(short value) {
        frame.begin(radio.address, Frame.ALARM);
        frame.put(scheduler.now());
        frame.put(value);
        frame.put(detector.found());
        radio.sends(frame);
    }

    private void forward() {
        frame.begin(radio.address, Frame.SAMPLES);
        frame.put(scheduler.now());
        frame.grow(coder.encode(samples, frame.bytes, (short) (Frame.PAYLOAD + 2), (short) (Frame.PAYLOAD_MAX - 2)));
        radio.sends(frame);
    }

    private void report() {
        frame.begin(radio.address, Frame.SUMMARY);
        short least = statistics.range((short) 0);
        short most = statistics.range((short) 1);
        frame.put(statistics.range((short) 2));
        frame.put(least);
        frame.put(most);
        frame.put(statistics.mean());
        frame.put(statistics.deviation());
        frame.put(extra());
        history.keep(scheduler.now(), statistics.mean(), least, most);
        if (radio.sends(frame)) {
            statistics.reset();
        }
    }
}
