//! Fields of scratch bits: what does not fit leaves everything as it was.

use norn_flash::EraseUnit;
use norn_flash_sim::{NorSim, catalogue};
use norn_nor_store::{Role, Store, StoreConfig, StoreError};

#[test]
fn a_field_that_finds_too_few_units_takes_none() {
    let settings = StoreConfig { log_units: 2, wear_period: 0, ..StoreConfig::default() };
    let mut store: Store<NorSim, 8> = Store::format(NorSim::new(catalogue::test_part(8, 512)), settings).unwrap();
    let roles = |store: &Store<NorSim, 8>| (0..8).map(|unit| store.role(EraseUnit(unit))).collect::<Vec<_>>();
    let unit_bits = 8 * (512 - 24);
    // Seven units are free, and one has to stay so.
    for _ in 0..3 {
        let before = roles(&store);
        let refused = store.scratch().begin(6 * unit_bits + 1).map(|_| ());
        assert_eq!(refused, Err(StoreError::Full));
        assert_eq!(roles(&store), before);
        let field = store.scratch().begin(6 * unit_bits).unwrap();
        assert!(roles(&store).iter().filter(|&&role| role == Role::ScratchInUse).count() == 6);
        store.scratch().end(field);
    }
}
