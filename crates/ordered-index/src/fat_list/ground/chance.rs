//! Random numbers: random blocks and cells, and the levels of objects.

/// Random numbers (xorshift), and the level that was drawn for the next object.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    random: u32,
    /// Drawn once, so that a step that is begun again does not change the odds.
    drawn_level: Option<u8>,
}

impl Default for Chance {
    fn default() -> Self {
        Chance { random: 0x2011_0803, drawn_level: None }
    }
}

impl Chance {
    /// Lets the random numbers depend on `seed`.
    pub fn stir(&mut self, seed: u32) {
        self.random ^= seed;
    }

    /// A random number.
    pub fn draw(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random >> 8
    }

    /// The level of the next object in a list of `levels`: *i* with probability 4⁻ⁱ.
    pub fn level(&mut self, levels: u8) -> u8 {
        if let Some(level) = self.drawn_level {
            return level;
        }
        let mut level = 0;
        while level + 1 < levels && self.draw() & 3 == 0 {
            level += 1;
        }
        self.drawn_level = Some(level);
        level
    }

    /// Notes that an object of the drawn level was written.
    pub fn use_level(&mut self) {
        self.drawn_level = None;
    }
}
