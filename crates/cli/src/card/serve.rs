//! `norn card serve`: the card in a reader of pcscd's, until a signal says to stop.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use norn_card_image::{CardFailure, CardImage, ServedCard};
use norn_card_transport::{CardIo, Link, T0, T1, VpcdError, serve as converse};

use super::arguments::{Protocol, ServeArguments};
use crate::stopping::stop_signals;

/// An answer to reset that offers T=1 alone, and one of T=0.
const ATR_T1: [u8; 4] = [0x3B, 0x80, 0x01, 0x81];
const ATR_T0: [u8; 2] = [0x3B, 0x00];
/// How long a peer may be silent within a message.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long to wait before one who does not listen is dialled again.
const RETRY: Duration = Duration::from_millis(200);
/// How long to wait before vpcd is dialled again: sooner it takes the card for the last one.
const PAUSE: Duration = Duration::from_millis(1500);

/// Serves a card; `tell` is given what people should know. Returns what there is to say at the end.
///
/// # Errors
/// When the card cannot be opened, or there is no peer.
pub fn serve(arguments: &ServeArguments, tell: impl Fn(&str)) -> Result<String, CardFailure> {
    let atr: &[u8] = if arguments.protocol == Protocol::T1 { &ATR_T1 } else { &ATR_T0 };
    let mut card = CardImage::open(&arguments.card)?;
    card.set_protocol(match arguments.protocol {
        Protocol::T0 => norn_card_image::Protocol::T0,
        Protocol::T1 => norn_card_image::Protocol::T1,
    });
    let mut card = ServedCard::new(card, atr);
    let ending = Ending::watch().map_err(|error| failed(&error))?;
    let name = arguments.card.display();
    let sessions = match (arguments.vpcd, arguments.tcp) {
        (Some(address), _) => {
            tell(&format!("{name}: in the reader of the vpcd at {address}; SIGINT or SIGTERM takes it out\n"));
            let dial = || Link::dial(address, PATIENCE);
            ending.serve_all(&mut card, arguments.protocol, dial, &tell)
        }
        (None, port) => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)));
            let listener = listener.map_err(|error| failed(&error))?;
            let address = listener.local_addr().map_err(|error| failed(&error))?;
            ending.wake_by(address);
            tell(&format!("{name}: readers may come to {address}; SIGINT or SIGTERM ends it\n"));
            ending.serve_all(&mut card, arguments.protocol, || Link::accept(&listener, PATIENCE), &tell)
        }
    };
    let sessions = sessions.map_err(|error| failed(&error))?;
    Ok(format!("{name}: taken out after {sessions} sessions\n"))
}

fn failed(error: &io::Error) -> CardFailure {
    CardFailure::Damaged(error.to_string())
}

/// Whether a signal has come, and the connection that it ends.
struct Ending {
    is_over: Arc<AtomicBool>,
    link: Arc<Mutex<Option<Arc<Link>>>>,
    wake: Arc<Mutex<Option<std::net::SocketAddr>>>,
}

impl Ending {
    fn watch() -> io::Result<Ending> {
        let ending = Ending { is_over: Arc::default(), link: Arc::default(), wake: Arc::default() };
        let mut signals = stop_signals()?;
        let (is_over, link, wake) = (ending.is_over.clone(), ending.link.clone(), ending.wake.clone());
        thread::spawn(move || {
            for _ in signals.forever() {
                is_over.store(true, Ordering::SeqCst);
                if let Some(link) = link.lock().ok().and_then(|link| link.clone()) {
                    // It may be closed already.
                    let _ = link.pull_out();
                }
                if let Some(address) = wake.lock().ok().and_then(|address| *address) {
                    // What waits for a reader is told by one that goes at once.
                    let _ = std::net::TcpStream::connect(address);
                }
            }
        });
        Ok(ending)
    }

    fn wake_by(&self, address: std::net::SocketAddr) {
        if let Ok(mut wake) = self.wake.lock() {
            *wake = Some(address);
        }
    }

    fn keep(&self, link: Option<Arc<Link>>) {
        if let Ok(mut kept) = self.link.lock() {
            *kept = link;
        }
    }

    /// Serves one peer after the other, until a signal comes or there is none.
    fn serve_all(
        &self,
        card: &mut ServedCard,
        protocol: Protocol,
        connect: impl Fn() -> io::Result<Link>,
        tell: &impl Fn(&str),
    ) -> io::Result<u32> {
        let (mut sessions, mut is_told) = (0, false);
        loop {
            let link = match connect() {
                _ if self.is_over.load(Ordering::SeqCst) => return Ok(sessions),
                Ok(link) => Arc::new(link),
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    if !is_told {
                        tell("nobody listens there: waiting for pcscd with the driver vpcd\n");
                    }
                    is_told = true;
                    thread::sleep(RETRY);
                    continue;
                }
                Err(error) => return Err(error),
            };
            is_told = false;
            self.keep(Some(link.clone()));
            let ended = match protocol {
                Protocol::T1 => session(&link, &mut T1::new(&mut *card)),
                Protocol::T0 => session(&link, &mut T0::new(&mut *card)),
            };
            self.keep(None);
            sessions += 1;
            if let Err(error) = ended {
                tell(&format!("the reader went away: {error}\n"));
            }
            if let Some(failure) = card.take_failure() {
                tell(&format!("the card failed: {failure}\n"));
            }
            if self.is_over.load(Ordering::SeqCst) {
                return Ok(sessions);
            }
            thread::sleep(PAUSE);
        }
    }
}

fn session(link: &Link, card: &mut impl CardIo) -> Result<(), VpcdError> {
    converse(link, link, card).map(|_| ())
}
