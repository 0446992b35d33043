//! The engines of heaps in image files: which one a part holds, and what a new image is formatted for.

use std::fmt;

use norn_flash::Nor;
use norn_object_heap::{Config, ErrorDetection};

/// A structure that keeps objects on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The log-structured heap, whose program units are programmed once.
    Log,
    /// TinyStore's structure, below a layer of its own on parts whose words are programmed once or twice.
    TinyStore,
}

impl Engine {
    /// The engine of new images.
    pub const DEFAULT: Engine = Engine::Log;

    /// The engine whose heap a part holds; TinyStore's where neither is recognised, so that its mount says what is
    /// wrong.
    ///
    /// # Errors
    /// The device's.
    pub fn of<D: Nor>(device: &mut D) -> Result<Engine, D::Error> {
        // Formatting for TinyStore erases every unit, so that the head of a log-structured heap's is from later. The
        // other way round, units of what was there before may be left.
        Ok(if norn_log_heap::recognise(device)?.is_some() { Engine::Log } else { Engine::TinyStore })
    }

    /// What a new image of this engine is formatted for; all other settings are the engine's defaults.
    pub fn format(self, error_detection: ErrorDetection) -> Format {
        match self {
            Engine::Log => Format::Log(error_detection),
            Engine::TinyStore => Format::TinyStore(Config { error_detection, ..Config::default() }),
        }
    }

    /// The engine that a heap of this one is converted to.
    pub const fn other(self) -> Engine {
        match self {
            Engine::Log => Engine::TinyStore,
            Engine::TinyStore => Engine::Log,
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Log => "log",
            Engine::TinyStore => "tinystore",
        })
    }
}

/// What a new image is formatted for.
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// A log-structured heap, with error detection or without.
    Log(ErrorDetection),
    /// TinyStore's structure with these settings.
    TinyStore(Config),
}

impl Format {
    /// The engine.
    pub const fn engine(&self) -> Engine {
        match self {
            Format::Log(_) => Engine::Log,
            Format::TinyStore(_) => Engine::TinyStore,
        }
    }

    /// Whether flipped bits are noticed.
    pub const fn error_detection(&self) -> ErrorDetection {
        match self {
            Format::Log(detection) => *detection,
            Format::TinyStore(config) => config.error_detection,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detection = if self.error_detection().is_on() { ", with error detection" } else { "" };
        write!(f, "{}{detection}", self.engine())
    }
}

impl From<Engine> for Format {
    fn from(engine: Engine) -> Format {
        engine.format(ErrorDetection::Off)
    }
}

impl From<Config> for Format {
    fn from(config: Config) -> Format {
        Format::TinyStore(config)
    }
}
