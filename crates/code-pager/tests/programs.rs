//! Programs in two rooms without cuts of the power: which one boots when it is confirmed, on trial, rolled back or
//! damaged; bad and failing blocks in rooms and switch; what is refused, and that nothing has changed then. The power
//! is cut in `conformance/tests/programs.rs`.

use norn_code_pager::policy::Lru;
use norn_code_pager::{
    Boot, CodeAddress, Crc32c, Header, ImageError, ImageWriter, ImageWriterIn, Options, Pager, ProgramError, RollBack,
    Room, RoomName, Rooms, Standing, State, Uncoded, Version,
};
use norn_flash::{Block, Column, Nand};
use norn_flash_sim::{NandSim, NandSimError, Noise, Tear, nand_catalogue};

const ROOMS: Rooms = Rooms::split(Room { start: Block(0), blocks: 30 });
/// Rooms A and B, as `split` makes them.
const A: Block = Block(6);
const B: Block = Block(18);

type Failed = ProgramError<NandSimError>;

fn part() -> NandSim {
    NandSim::new(nand_catalogue::test_part(30, 4, 512))
}

fn code(patch: u32) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(u64::from(patch));
    (0..3_000 + 10 * patch as usize).map(|_| random.u8(..)).collect()
}

fn version(patch: u32) -> Version {
    Version { major: 1, minor: 0, patch }
}

fn update(part: &mut NandSim, patch: u32, standing: Standing) -> Result<Header, Failed> {
    let code = code(patch);
    let mut writer = ImageWriter::<64, 512, Crc32c>::new().with_version(version(patch));
    writer.update(part, &ROOMS, code.len() as u32, &mut &code[..], standing)
}

fn boot(part: &mut NandSim) -> Result<Boot, Failed> {
    ROOMS.boot::<_, Crc32c>(part, &mut [0; 64])
}

fn roll_back(part: &mut NandSim) -> Result<Header, Failed> {
    ROOMS.roll_back::<_, Crc32c>(part, &mut [0; 64])
}

/// Boots, and expects the program of this number, every byte of it.
fn expect_boot(part: &mut NandSim, patch: u32) -> Boot {
    let booted = boot(part).unwrap();
    assert_eq!(booted.header.version, version(patch));
    let (lru, options) = (Lru::default(), Options::default());
    let mut pager: Pager<_, Lru<4>, 4, 64, Crc32c> = Pager::over(part.clone(), booted.header.image, lru, options, ());
    let mut bytes = vec![0; code(patch).len()];
    pager.read(CodeAddress(0), &mut bytes).unwrap();
    assert!(bytes == code(patch), "program {patch} has other bytes");
    assert_eq!(part.refusals(), 0);
    booted
}

/// Damages more bits of a room's program than its code corrects.
fn damage(part: &mut NandSim, start: Block) {
    let page = Block(start.0 + 1).page(1);
    let cells = part.peek(page);
    part.poke(page, Column(0), &cells[..3].iter().map(|byte| !byte).collect::<Vec<u8>>());
}

#[test]
fn updates_go_to_the_rooms_in_turn() {
    let mut part = part();
    assert!(matches!(boot(&mut part), Err(ProgramError::NothingRuns { a: A })));
    for patch in 1..9 {
        let header = update(&mut part, patch, Standing::Confirmed).unwrap();
        let room = if patch % 2 == 1 { RoomName::A } else { RoomName::B };
        let expected = Boot { header, room, standing: Standing::Confirmed, roll_back: None };
        let operations = part.operations();
        assert_eq!(expect_boot(&mut part, patch), expected);
        assert_eq!(part.operations(), operations, "a boot of a confirmed program writes nothing");
    }
}

#[test]
fn a_program_on_trial_stays_if_it_is_confirmed_and_else_goes() {
    let mut part = part();
    update(&mut part, 1, Standing::TRIAL).unwrap();
    assert_eq!(expect_boot(&mut part, 1).standing, Standing::Confirmed, "there is none to go back to");

    update(&mut part, 2, Standing::Trial { boots_left: 3 }).unwrap();
    for boots_left in [2, 1, 0] {
        let Boot { standing, roll_back, room, .. } = expect_boot(&mut part, 2);
        assert_eq!((standing, roll_back, room), (Standing::Trial { boots_left }, None, RoomName::B));
        assert!(matches!(update(&mut part, 3, Standing::TRIAL), Err(ProgramError::OnTrial { room: RoomName::B })));
    }
    let Boot { standing, roll_back, room, .. } = expect_boot(&mut part, 1);
    assert_eq!((standing, roll_back, room), (Standing::Confirmed, Some(RollBack::NotConfirmed), RoomName::A));
    assert_eq!(expect_boot(&mut part, 1).roll_back, None, "it has gone back, and stays there");

    update(&mut part, 3, Standing::TRIAL).unwrap();
    expect_boot(&mut part, 3);
    ROOMS.confirm(&mut part).unwrap();
    for _ in 0..3 {
        assert_eq!(expect_boot(&mut part, 3).standing, Standing::Confirmed);
    }
    let operations = part.operations();
    ROOMS.confirm(&mut part).unwrap();
    assert_eq!(part.operations(), operations, "it was confirmed");
}

#[test]
fn a_roll_back_runs_the_other_program_and_back_again() {
    let mut part = part();
    assert!(matches!(roll_back(&mut part), Err(ProgramError::NothingRuns { .. })));
    update(&mut part, 1, Standing::Confirmed).unwrap();
    let none = roll_back(&mut part);
    assert!(matches!(none, Err(ProgramError::NoProgram { room: RoomName::B, reason: ImageError::NoImage { .. } })));
    expect_boot(&mut part, 1);
    // An update that was not booted yet is taken back.
    update(&mut part, 2, Standing::TRIAL).unwrap();
    for patch in [1, 2, 1] {
        assert_eq!(roll_back(&mut part).unwrap().version, version(patch));
        expect_boot(&mut part, patch);
    }
    damage(&mut part, B);
    let refused = roll_back(&mut part).unwrap_err();
    assert!(matches!(refused, ProgramError::NoProgram { room: RoomName::B, reason: ImageError::Damaged { .. } }));
    expect_boot(&mut part, 1);
}

#[test]
fn a_program_that_is_not_whole_gives_way_to_the_other() {
    for standing in [Standing::Confirmed, Standing::TRIAL, Standing::Trial { boots_left: 200 }] {
        let mut part = part();
        update(&mut part, 1, Standing::Confirmed).unwrap();
        update(&mut part, 2, standing).unwrap();
        damage(&mut part, B);
        assert_eq!(expect_boot(&mut part, 1).roll_back, Some(RollBack::NotWhole));
        assert_eq!(expect_boot(&mut part, 1).roll_back, None);
        // The next update goes to the damaged room.
        update(&mut part, 3, Standing::TRIAL).unwrap();
        assert_eq!(expect_boot(&mut part, 3).room, RoomName::B);

        damage(&mut part, A);
        assert_eq!(expect_boot(&mut part, 3).roll_back, None, "its trial is over, and there is none to go back to");
        damage(&mut part, B);
        assert!(matches!(boot(&mut part), Err(ProgramError::NoProgram { .. })));
    }
}

#[test]
fn an_update_leaves_the_program_alone_that_boots_would_run() {
    // The switch names B, which is damaged: A would run.
    let mut part = part();
    update(&mut part, 1, Standing::Confirmed).unwrap();
    update(&mut part, 2, Standing::Confirmed).unwrap();
    damage(&mut part, B);
    let a_before = part.peek(A.page(0));
    update(&mut part, 3, Standing::Confirmed).unwrap();
    assert_eq!(part.peek(A.page(0)), a_before);
    assert_eq!(expect_boot(&mut part, 3).room, RoomName::B);
    damage(&mut part, B);
    expect_boot(&mut part, 1);
}

#[test]
fn blocks_that_are_bad_or_fail_are_gone_around() {
    for seed in 0..40 {
        let mut part = part();
        let mut random = fastrand::Rng::with_seed(seed);
        part.mark_bad(&[Block(random.u16(1..6)), Block(random.u16(6..18)), Block(random.u16(18..30))]);
        part.set_noise(Noise { bits_max: (seed % 2) as u8, beyond_per_million: 0 });
        part.fail_after(random.u64(0..60));
        part.fail_after(random.u64(60..150));
        for patch in 1..9 {
            update(&mut part, patch, Standing::Confirmed).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            expect_boot(&mut part, patch);
        }
        assert!(!part.failed_blocks().is_empty(), "seed {seed}: the failures were planned too late");
    }
}

/// A header whose program was cut may read whole today and not tomorrow. A roll-back once took it for a program, and
/// the next update then went to the room of the last good one.
#[test]
fn an_update_that_was_cut_leaves_nothing_to_roll_back_to() {
    let mut part = part();
    update(&mut part, 1, Standing::Confirmed).unwrap();
    update(&mut part, 2, Standing::Confirmed).unwrap();
    let mut whole = part.clone();
    let before = whole.operations();
    update(&mut whole, 3, Standing::Confirmed).unwrap();
    let mut headers = 0;
    for cut in 0..whole.operations() - before {
        let mut part = part.clone();
        part.cut_power_after(cut, Tear::Complete);
        update(&mut part, 3, Standing::Confirmed).unwrap_err();
        part.power_on();
        let found = Header::find::<_, Crc32c>(&mut part, A, 64);
        headers += u32::from(found.is_ok_and(|header| header.version == version(3)));
        let boots = boot(&mut part).unwrap().header.version;
        match roll_back(&mut part) {
            // Before the update has touched anything, or when the switch is set.
            Ok(header) => {
                assert!((boots, header.version) == (version(2), version(1)) || boots == version(3), "cut {cut}")
            }
            Err(error) => {
                assert!(matches!(error, ProgramError::NoProgram { room: RoomName::A, .. }), "cut {cut}: {error}");
                assert_eq!(boots, version(2), "cut {cut}");
            }
        }
    }
    assert!(headers > 1, "no cut left a header that nothing was switched to");
}

/// A block that has failed may hide the header in it from the one who looks for the highest generation, and show it
/// later: an older program with the generation of the new one.
#[test]
fn an_old_header_in_a_block_that_failed_is_not_taken_for_the_program() {
    let mut part = part();
    for patch in 1..4 {
        update(&mut part, patch, Standing::Confirmed).unwrap();
    }
    let old = part.peek(B.page(0));
    part.poke(B.page(0), Column(0), &[0; 64]);
    part.fail_block(B);
    let header = update(&mut part, 4, Standing::Confirmed).unwrap();
    assert_eq!(header.image.header_page().block, Block(B.0 + 1));
    expect_boot(&mut part, 4);
    part.poke(B.page(0), Column(0), &old[..64]);
    assert_eq!(Header::find::<_, Crc32c>(&mut part, B, 64).unwrap().version, version(2), "the two have one generation");
    assert_eq!(expect_boot(&mut part, 4).roll_back, None);
    assert_eq!(roll_back(&mut part).unwrap().version, version(3));
    assert_eq!(roll_back(&mut part).unwrap().version, version(4));
}

#[test]
fn a_switch_wears_its_blocks_evenly_and_refuses_with_too_few() {
    let mut part = part();
    part.mark_bad(&[Block(2)]);
    update(&mut part, 1, Standing::Confirmed).unwrap();
    update(&mut part, 2, Standing::Confirmed).unwrap();
    for _ in 0..50 {
        roll_back(&mut part).unwrap();
    }
    let erases: Vec<u32> = part.erase_counts().take(6).collect();
    assert_eq!(erases[2], 0);
    let good = || erases.iter().enumerate().filter(|(at, _)| *at != 2).map(|(_, erases)| *erases);
    assert!(good().max().unwrap() - good().min().unwrap() <= 1, "{erases:?}");

    // Two blocks go bad: it works on. With three more there is no place for another record, and the last one counts.
    [Block(0), Block(1)].into_iter().for_each(|block| part.fail_block(block));
    roll_back(&mut part).unwrap();
    let runs = boot(&mut part).unwrap();
    [Block(3), Block(4), Block(5)].into_iter().for_each(|block| part.fail_block(block));
    let refused = roll_back(&mut part).unwrap_err();
    assert_eq!(refused, ProgramError::NoSwitchBlock { start: Block(0), blocks: 6 });
    assert_eq!(boot(&mut part).unwrap(), runs);
}

#[test]
fn a_status_changes_nothing() {
    let mut part = part();
    update(&mut part, 1, Standing::Confirmed).unwrap();
    update(&mut part, 2, Standing::TRIAL).unwrap();
    damage(&mut part, A);
    let operations = part.operations();
    let status = ROOMS.status::<_, Crc32c>(&mut part, &mut [0; 64]).unwrap();
    assert_eq!(status.state, Some(State { running: RoomName::B, standing: Standing::TRIAL }));
    assert!(matches!(status.a, Err(ImageError::Damaged { .. })));
    assert_eq!(status.b.unwrap().version, version(2));
    assert_eq!(part.operations(), operations);
}

#[test]
fn a_program_of_one_room_is_adopted_where_it_is() {
    let mut part = part();
    let code = code(7);
    let mut writer = ImageWriter::<64, 512, Crc32c>::new().with_version(version(7));
    writer.write(&mut part, ROOMS.a, code.len() as u32, &mut &code[..]).unwrap();
    assert!(boot(&mut part).unwrap_err().to_string().contains("can be adopted"));

    // Without that, nothing of it is erased, but no switch was ever set to it: it may not be whole tomorrow.
    let (mut updated, header) = (part.clone(), part.peek(A.page(0)));
    update(&mut updated, 8, Standing::TRIAL).unwrap();
    assert_eq!(expect_boot(&mut updated, 8).room, RoomName::B);
    assert!(matches!(roll_back(&mut updated), Err(ProgramError::NoProgram { room: RoomName::A, .. })));
    assert_eq!(updated.peek(A.page(0)), header);

    let adopted = ROOMS.adopt::<_, Crc32c>(&mut part, &mut [0; 64]).unwrap();
    assert_eq!(expect_boot(&mut part, 7).header, adopted);
    let again = ROOMS.adopt::<_, Crc32c>(&mut part, &mut [0; 64]);
    assert_eq!(again, Err(ProgramError::Adopted { room: RoomName::A }));
    update(&mut part, 8, Standing::TRIAL).unwrap();
    expect_boot(&mut part, 8);
    expect_boot(&mut part, 7);
}

#[test]
fn a_program_of_another_layout_that_was_not_adopted_is_left_alone() {
    let mut part = part();
    let code = code(7);
    ImageWriter::<128, 512>::new().write(&mut part, ROOMS.a, code.len() as u32, &mut &code[..]).unwrap();
    let header = part.peek(A.page(0));
    update(&mut part, 8, Standing::Confirmed).unwrap();
    assert_eq!(part.peek(A.page(0)), header);
    assert_eq!(expect_boot(&mut part, 8).room, RoomName::B);
}

#[test]
fn rooms_that_cannot_be_are_refused_with_the_reason() {
    let room = |start, blocks| Room { start: Block(start), blocks };
    let refuse = |rooms: Rooms, why: &str| {
        let mut part = part();
        let error = rooms.boot::<_, Crc32c>(&mut part, &mut [0; 64]).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        let code = code(1);
        let mut writer = ImageWriter::<64, 512, Crc32c>::new();
        let updated = writer.update(&mut part, &rooms, 3_000, &mut &code[..], Standing::Confirmed);
        assert_eq!((updated, part.operations()), (Err(error), 0));
    };
    refuse(Rooms { b: room(20, 11), ..ROOMS }, "rooms leave the part");
    refuse(Rooms { b: room(17, 12), ..ROOMS }, "rooms overlap");
    refuse(Rooms { a: room(5, 12), ..ROOMS }, "a room overlaps the switch");
    refuse(Rooms { switch: room(0, 2), ..ROOMS }, "a switch has 3 to 8 blocks");
    refuse(Rooms { switch: room(0, 9), a: room(10, 8), ..ROOMS }, "a switch has 3 to 8 blocks");
    refuse(Rooms::split(room(0, 9)), "one block for a header and one for a program");
    refuse(Rooms::split(room(u16::MAX, u16::MAX)), "rooms leave the part");

    let mut part = part();
    update(&mut part, 1, Standing::Confirmed).unwrap();
    let other = Rooms { b: room(20, 10), ..ROOMS };
    let error = other.boot::<_, Crc32c>(&mut part, &mut [0; 64]).unwrap_err();
    assert_eq!(error, ProgramError::OtherRooms { a: (A, 12), b: (B, 12) });
    assert!(error.to_string().contains("rooms of 12 blocks from block 6 on and 12 from block 18 on"), "{error}");
}

#[test]
fn a_program_that_does_not_fit_is_refused_before_anything_is_erased() {
    let mut part = part();
    update(&mut part, 1, Standing::Confirmed).unwrap();
    let operations = part.operations();
    let large = vec![0; 30_000];
    let mut writer = ImageWriter::<64, 512, Crc32c>::new();
    let refused = writer.update(&mut part, &ROOMS, 30_000, &mut &large[..], Standing::Confirmed).unwrap_err();
    assert!(matches!(refused, ProgramError::Image(ImageError::TooLarge { image_bytes: 30_000, .. })));
    let mut writer: ImageWriterIn<_, Crc32c> = ImageWriterIn::new(64, vec![0; 511]);
    let refused = writer.update(&mut part, &ROOMS, 3_000, &mut &large[..], Standing::Confirmed).unwrap_err();
    assert!(matches!(refused, ProgramError::Image(ImageError::TooSmall { needed: 512, given: 511, .. })));
    assert_eq!(part.operations(), operations);
    expect_boot(&mut part, 1);
}

#[test]
fn an_image_of_another_layout_boots_only_as_that() {
    let mut part = part();
    update(&mut part, 1, Standing::Confirmed).unwrap();
    let layout = ImageError::Layout { cache_page_bytes: 64, code_bytes: 4 };
    let none = Err(ProgramError::NoProgram { room: RoomName::A, reason: layout });
    assert_eq!(ROOMS.boot::<_, Uncoded>(&mut part, &mut [0; 64]), none);
    assert_eq!(ROOMS.boot::<_, Crc32c>(&mut part, &mut [0; 32]), none);
    let no_width = ROOMS.boot::<_, Crc32c>(&mut part, &mut []);
    assert!(matches!(no_width, Err(ProgramError::NoProgram { reason: ImageError::PageSize { .. }, .. })));
    expect_boot(&mut part, 1);
}

#[test]
fn a_part_whose_bits_err_boots_what_its_codes_correct() {
    let mut part = part();
    update(&mut part, 1, Standing::Confirmed).unwrap();
    update(&mut part, 2, Standing::Confirmed).unwrap();
    // Now and then a page has more wrong bits than its code corrects, and the next load does not.
    part.set_noise(Noise { bits_max: 1, beyond_per_million: 50_000 });
    for seed in 0..50 {
        part.reseed(seed);
        let booted = boot(&mut part).unwrap();
        assert_eq!((booted.header.version, booted.roll_back), (version(2), None), "seed {seed}");
    }
    assert_eq!(Nand::part(&part).correction.bits, 1);
}
