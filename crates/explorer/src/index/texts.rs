//! What heads of blocks and stamps of cells say, in words: for the page, and for `norn log dump`.

use norn_flash::EraseUnit;
use norn_ordered_index::fat_list::format::{CellState, Kind, Stamp};
use norn_ordered_index::fat_list::inspection::Role;

/// What a block is; of one whose cells another one holds, which.
pub fn role_text(role: Role, successor: Option<EraseUnit>) -> String {
    match (role, successor) {
        (Role::NoIdentity, _) => "no identity".to_owned(),
        (Role::OtherVersion(version), _) => format!("of version {version}"),
        (Role::Void, _) => "void".to_owned(),
        (Role::Spare, _) => "spare".to_owned(),
        (Role::MoveBegun, _) => "torn".to_owned(),
        (Role::Filling(filling), _) => format!("moved from {}, not complete", filling.from),
        (Role::InUse(_), Some(unit)) => format!("moved to {}, to be erased", unit.0),
        (Role::InUse(_), None) => "in use".to_owned(),
    }
}

/// What a cell is, in a word or two.
pub fn state_name(state: CellState) -> &'static str {
    match state {
        CellState::Free => "free",
        CellState::Unsealed => "not sealed",
        CellState::Dead => "dead",
        CellState::Malformed => "malformed",
        CellState::Batch => "batch of changes",
        CellState::Live(Stamp { kind, .. }) => match kind {
            Kind::Head => "head",
            Kind::Object => "object",
            Kind::Right => "right half",
            Kind::Merged => "merged",
        },
    }
}

/// The same with its level and flags.
pub fn state_text(state: CellState) -> String {
    let CellState::Live(Stamp { level, settled, doomed, .. }) = state else { return state_name(state).to_owned() };
    let settled = if settled { "" } else { ", not settled" };
    let doomed = if doomed { ", doomed" } else { "" };
    format!("{}, level {level}{settled}{doomed}", state_name(state))
}
