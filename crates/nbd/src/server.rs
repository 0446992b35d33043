//! The server: a thread for each client, one lock around the store, one thread at the door, and one that keeps time.
//!
//! Stopping:
//! 1. no client is accepted any more;
//! 2. readers find the end of their connection; a request that has arrived is carried out and answered;
//! 3. all threads have ended, the slowest after [`MESSAGE_TIME`](crate::MESSAGE_TIME); the store is given back.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::clock::SystemClock;
use crate::conversation::converse;
use crate::export::Export;
use crate::places::{Place, Places};
use crate::socket::{Address, Listener, Stream};
use crate::store::BlockStore;

/// A running server.
pub struct Server<S> {
    export: Arc<Export<S>>,
    places: Arc<Places>,
    address: Address,
    /// Returns the threads of clients that may still be served.
    door: JoinHandle<Vec<JoinHandle<()>>>,
    timekeeper: JoinHandle<()>,
}

impl<S: BlockStore + 'static> Server<S> {
    /// Serves a store to all clients that connect.
    ///
    /// # Errors
    /// When the system has no thread or address.
    pub fn start(listener: Listener, store: S) -> io::Result<Self> {
        Self::start_with(listener, store, Places::new(Arc::new(SystemClock::new())))
    }

    pub(crate) fn start_with(listener: Listener, store: S, places: Arc<Places>) -> io::Result<Self> {
        let address = listener.address()?;
        let export = Arc::new(Export::new(store));
        let kept = places.clone();
        let timekeeper = thread::Builder::new().name("timekeeper".into()).spawn(move || kept.keep_time())?;
        let (served, taken) = (export.clone(), places.clone());
        let door = thread::Builder::new().name("door".into()).spawn(move || let_in(&listener, &served, &taken));
        let door = door.inspect_err(|_| places.close())?;
        Ok(Server { export, places, address, door, timekeeper })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Stops, and gives the store back. What was answered is done; it is the caller's to flush.
    pub fn stop(self) -> S {
        self.places.stop();
        // The door opens once more, and finds that it is to be shut.
        let _ = Stream::connect(&self.address);
        for client in self.door.join().expect("the door does not panic") {
            // A thread that panicked has been heard on stderr.
            let _ = client.join();
        }
        self.places.close();
        self.timekeeper.join().expect("the timekeeper does not panic");
        Arc::into_inner(self.export).expect("every thread has ended").into_store()
    }
}

/// Lets clients in until the server stops, and returns the threads of those that may still be served.
fn let_in<S: BlockStore + 'static>(
    listener: &Listener,
    export: &Arc<Export<S>>,
    places: &Arc<Places>,
) -> Vec<JoinHandle<()>> {
    let mut clients = Vec::new();
    while places.are_open() {
        let Ok(stream) = listener.accept() else {
            // The client was gone already, or the process is short of something: not at once again.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        let stream = Arc::new(stream);
        let Some(place) = places.take(stream.clone()) else { break };
        clients.retain(|client: &JoinHandle<()>| !client.is_finished());
        // Without a thread the place is free again, and the connection closed.
        clients.extend(serve(export.clone(), place, stream));
    }
    clients
}

/// Starts a client's thread.
fn serve<S: BlockStore + 'static>(
    export: Arc<Export<S>>,
    place: Place,
    stream: Arc<Stream>,
) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("client".into()).spawn(move || {
        // How it ended concerns the client alone: the connection is closed.
        let _ = converse(&*stream, &*stream, &export, &place);
    })
}
