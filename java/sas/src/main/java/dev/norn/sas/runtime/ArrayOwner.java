package dev.norn.sas.runtime;

/** Stands for an array where the owner of a reference is asked for. */
record ArrayOwner(long reference) implements SasObject {
    @Override
    public long $sas$reference() {
        return reference;
    }

    @Override
    public Grant $sas$grant() {
        return Grant.NONE;
    }

    @Override
    public void $sas$grant(Grant grant) {
        throw new UnsupportedOperationException("an array has no grant");
    }

    @Override
    public void $sas$bind(long its) {
        throw new UnsupportedOperationException("an array is no handle");
    }

    @Override
    public void $sas$store(Promotion promotion) {
        throw new UnsupportedOperationException("an array is no handle");
    }

    @Override
    public void $sas$copy(SasObject from) {
        throw new UnsupportedOperationException("an array is no handle");
    }
}
