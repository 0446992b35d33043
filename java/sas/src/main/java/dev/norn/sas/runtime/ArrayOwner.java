package dev.norn.sas.runtime;

/** Represents an array where an owner of a reference is required. */
record ArrayOwner(long reference) implements SasObject {
    @Override
    public long $sas$reference() {
        return reference;
    }

    @Override
    public Thread $sas$holder() {
        return Nobody.get();
    }

    @Override
    public void $sas$holder(Thread holder) {
        throw noHandle();
    }

    @Override
    public boolean $sas$isWritable() {
        return false;
    }

    @Override
    public long $sas$word() {
        return reference;
    }

    @Override
    public void $sas$bind(long its) {
        throw noHandle();
    }

    @Override
    public void $sas$leave(Thread holder, Thread next) {
        throw noHandle();
    }

    @Override
    public void $sas$load(long offset) {
        throw noHandle();
    }

    @Override
    public void $sas$save(long offset) {
        throw noHandle();
    }

    @Override
    public void $sas$store() {
        throw noHandle();
    }

    @Override
    public void $sas$settle() {
        throw noHandle();
    }

    @Override
    public void $sas$copy(SasObject from) {
        throw noHandle();
    }

    @Override
    public void $sas$drop() {
        throw noHandle();
    }

    private static UnsupportedOperationException noHandle() {
        return new UnsupportedOperationException("an array is no handle");
    }
}
