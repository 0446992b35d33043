//! The server: a thread for each client, one lock around the store.
//!
//! Stopping:
//! 1. no client is accepted any more;
//! 2. readers find the end of their connection; a request that has arrived is carried out and answered;
//! 3. all threads have ended, the slowest after [`MESSAGE_TIME`]; the store is given back.
//!
//! Invariant: at most [`CLIENTS_MAX`] clients at a time; one more is hung up on.

use std::io::{self, BufReader, Read};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::end::{Broken, End};
use crate::handshake::{Outcome, shake_hands};
use crate::socket::{Address, Listener, Stream};
use crate::store::BlockStore;
use crate::transmission::serve_requests;

/// Most clients at a time. Each holds at most one request of 32 MiB in memory.
pub const CLIENTS_MAX: usize = 16;
/// Longest time of a handshake.
pub const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// Longest time that a client may stall within a message.
pub const MESSAGE_TIME: Duration = Duration::from_secs(30);

const READ_AHEAD_BYTES: usize = 64 << 10;

/// What all threads see.
struct Shared<S> {
    store: Mutex<S>,
    stopping: AtomicBool,
    /// Those who are in, and some who have left.
    clients: Mutex<Vec<Client>>,
}

/// A client that is let in.
struct Client {
    stream: Arc<Stream>,
    thread: JoinHandle<()>,
}

/// A running server.
pub struct Server<S> {
    shared: Arc<Shared<S>>,
    address: Address,
    door: JoinHandle<()>,
}

impl<S: BlockStore + 'static> Server<S> {
    /// Serves a store to all clients that connect.
    ///
    /// # Errors
    /// When the system has no thread or address.
    pub fn start(listener: Listener, store: S) -> io::Result<Self> {
        let address = listener.address()?;
        let shared =
            Arc::new(Shared { store: Mutex::new(store), stopping: AtomicBool::new(false), clients: Mutex::default() });
        let inside = shared.clone();
        let door = thread::Builder::new().name("door".into()).spawn(move || inside.let_in(&listener))?;
        Ok(Server { shared, address, door })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Stops, and gives the store back. What was answered is done; it is the caller's to flush.
    pub fn stop(self) -> S {
        self.shared.stopping.store(true, Ordering::Release);
        // The door opens once more, and finds that it is to be shut.
        let _ = Stream::connect(&self.address);
        self.door.join().expect("the door does not panic");
        let clients = mem::take(&mut *lock(&self.shared.clients));
        clients.iter().for_each(|client| client.stream.stop_reading());
        for client in clients {
            // A thread that panicked has been heard on stderr.
            let _ = client.thread.join();
        }
        let shared = Arc::into_inner(self.shared).expect("every thread has ended");
        shared.store.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: BlockStore + 'static> Shared<S> {
    /// Lets clients in until the server stops.
    fn let_in(self: Arc<Self>, listener: &Listener) {
        loop {
            let accepted = listener.accept();
            if self.stopping.load(Ordering::Acquire) {
                return;
            }
            match accepted {
                Ok(stream) => self.clone().admit(Arc::new(stream)),
                // The client was gone already, or the process is short of something: not at once again.
                Err(_) => thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// Starts a client's thread, if there is room for it.
    fn admit(self: Arc<Self>, stream: Arc<Stream>) {
        let shared = self.clone();
        let mut clients = lock(&self.clients);
        clients.retain(|client| !client.thread.is_finished());
        if clients.len() >= CLIENTS_MAX {
            return;
        }
        let served = stream.clone();
        let started = thread::Builder::new().name("client".into()).spawn(move || {
            // How it ended concerns the client alone: the connection is closed.
            let _ = shared.serve(&served);
            served.hang_up();
        });
        if let Ok(thread) = started {
            clients.push(Client { stream, thread });
        }
    }

    fn serve(&self, stream: &Stream) -> Result<End, Broken> {
        stream.set_write_timeout(HANDSHAKE_TIME)?;
        let mut patience = Patience { stream, until: Instant::now() + HANDSHAKE_TIME };
        match shake_hands(&mut patience, &mut { stream }, &self.store)? {
            Outcome::Ended(end) => return Ok(end),
            Outcome::Taken => {}
        }
        stream.set_read_timeout(MESSAGE_TIME)?;
        stream.set_write_timeout(MESSAGE_TIME)?;
        let mut reader = BufReader::with_capacity(READ_AHEAD_BYTES, stream);
        serve_requests(&mut reader, &mut { stream }, &self.store, &self.stopping)
    }
}

/// Nothing that a lock of clients guards is ever half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reader that ends at a time, however many bytes trickle in before.
struct Patience<'a> {
    stream: &'a Stream,
    until: Instant,
}

impl Read for Patience<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(left)?;
        let mut stream = self.stream;
        stream.read(buffer)
    }
}
