//! Crowds of idle and slow clients, whom a server has to serve a new one beside. Time is the test's own: it passes when
//! a test says so, so that only the order of events is asserted.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::*;
use crate::ram::RamStore;
use crate::server::Server;
use crate::socket::{Address, Listener};
use crate::store::{BlockStore, Holes, StoreError};
use crate::wire::REQUEST_BYTES_MAX;

const READ: u16 = 0;
const WRITE: u16 = 1;
const SECOND: Duration = Duration::from_secs(1);

/// A clock that a test moves.
#[derive(Default)]
struct ManualClock(Mutex<Duration>);

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn sleep_time(&self, _: Duration) -> Duration {
        Duration::from_millis(1)
    }
}

/// A store of zeros, whose flush begins by saying so and ends when it is told to.
struct Gate {
    ram: RamStore,
    begun: SyncSender<()>,
    end: Receiver<()>,
}

impl BlockStore for Gate {
    fn size_bytes(&self) -> u64 {
        self.ram.size_bytes()
    }

    fn preferred_bytes(&self) -> u32 {
        self.ram.preferred_bytes()
    }

    fn read(&mut self, at: u64, data: &mut [u8]) -> Result<(), StoreError> {
        self.ram.read(at, data)
    }

    fn write(&mut self, at: u64, data: &[u8]) -> Result<(), StoreError> {
        self.ram.write(at, data)
    }

    fn write_zeroes(&mut self, at: u64, len: u32, holes: Holes) -> Result<(), StoreError> {
        self.ram.write_zeroes(at, len, holes)
    }

    fn trim(&mut self, at: u64, len: u32) -> Result<(), StoreError> {
        self.ram.trim(at, len)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.begun.send(()).unwrap();
        self.end.recv().unwrap();
        self.ram.flush()
    }
}

/// A server with a clock of the test's.
struct Crowd<S> {
    server: Server<S>,
    places: Arc<Places>,
    clock: Arc<ManualClock>,
}

impl<S: BlockStore + 'static> Crowd<S> {
    fn before(store: S) -> Self {
        let clock = Arc::new(ManualClock::default());
        let places = Places::new(clock.clone());
        let listener = Listener::bind(&Address::Tcp(([127, 0, 0, 1], 0).into())).unwrap();
        let server = Server::start_with(listener, store, places.clone()).unwrap();
        Crowd { server, places, clock }
    }

    fn pass(&self, time: Duration) {
        *self.clock.0.lock().unwrap() += time;
    }

    /// Waits until the given number of clients are in a stage.
    fn wait_for(&self, stage: Stage, count: usize) {
        let in_stage = || self.places.lock().holders.values().filter(|holder| holder.stage == stage).count();
        // Endless waits fail, too; how long they take is not asserted.
        let mut found = (0..600_000).map(|_| in_stage()).inspect(|_| thread::sleep(Duration::from_millis(1)));
        assert!(found.any(|found| found == count), "{} clients are in {stage:?}, not {count}", in_stage());
    }

    /// A client that has connected.
    fn connected(&self) -> Client {
        let Address::Tcp(address) = self.server.address() else { unreachable!() };
        let stream = TcpStream::connect(address).unwrap();
        // A server that wrongly stays silent fails a test by this. No test waits so long otherwise.
        stream.set_read_timeout(Some(Duration::from_secs(600))).unwrap();
        Client(stream)
    }

    /// A client that has taken the export.
    fn client(&self) -> Client {
        let mut client = self.connected();
        client.take_export();
        client
    }

    /// As many clients as there are places, each idle a second longer than the next.
    fn idle_clients(&self) -> Vec<Client> {
        let idle = |number| {
            let mut client = self.client();
            client.read_byte();
            self.wait_for(Stage::Idle, number + 1);
            self.pass(SECOND);
            client
        };
        (0..CLIENTS_MAX).map(idle).collect()
    }
}

struct Client(TcpStream);

impl Client {
    fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    fn receive(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    fn take_export(&mut self) {
        self.receive(18);
        self.send(&[&3u32.to_be_bytes()[..], b"IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0"].concat());
        self.receive(32 + 20);
    }

    fn read_byte(&mut self) {
        self.send(&request(READ, 1));
        assert_eq!(self.receive(17)[4..8], [0; 4]);
    }

    /// Asserts that the server closes the connection, and returns how many bytes it said before.
    fn said_until_hang_up(&mut self) -> usize {
        let mut bytes = Vec::new();
        match self.0.read_to_end(&mut bytes) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => panic!("not closed: {error}"),
            _ => bytes.len(),
        }
    }
}

fn request(command: u16, len: u32) -> Vec<u8> {
    let numbers = [&0x2560_9513_u32.to_be_bytes()[..], &[0; 2], &command.to_be_bytes(), &[0; 16], &len.to_be_bytes()];
    numbers.concat()
}

#[test]
fn idle_clients_give_way_to_new_ones_the_longest_idle_first() {
    let crowd = Crowd::before(RamStore::new(4096));
    let mut clients = crowd.idle_clients();
    // The first is the one that sent a request last.
    clients[0].read_byte();
    crowd.wait_for(Stage::Idle, CLIENTS_MAX);
    for longest_idle in [1, 2] {
        let mut new = crowd.client();
        new.read_byte();
        assert_eq!(clients[longest_idle].said_until_hang_up(), 0);
        crowd.wait_for(Stage::Idle, CLIENTS_MAX);
        crowd.pass(SECOND);
        clients.push(new);
    }
    clients.remove(2);
    clients.remove(1);
    clients.iter_mut().for_each(Client::read_byte);
    crowd.server.stop();
}

#[test]
fn a_client_whose_request_has_begun_keeps_its_place() {
    let crowd = Crowd::before(RamStore::new(4096));
    let mut clients = crowd.idle_clients();
    let message = request(READ, 1);
    clients[0].send(&message[..1]);
    crowd.wait_for(Stage::Receiving, 1);
    let mut new = crowd.client();
    assert_eq!(clients[1].said_until_hang_up(), 0);
    clients[0].send(&message[1..]);
    assert_eq!(clients[0].receive(17)[4..8], [0; 4]);
    new.read_byte();
    crowd.server.stop();
}

#[test]
fn a_client_whose_request_lies_unread_keeps_its_place() {
    let places = Places::new(Arc::new(ManualClock::default()));
    let holder = |(number, since)| {
        let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        let stream = Arc::new(Stream::Unix(near));
        let standing = Standing::Served;
        let holder = Holder { stream, stage: Stage::Idle, since: SECOND * since, standing };
        places.lock().holders.insert(number, holder);
        far
    };
    let mut clients: Vec<_> = [(0, 5), (1, 3), (2, 4)].into_iter().map(holder).collect();
    clients[1].write_all(b"%").unwrap();
    let dismissed = || {
        places.lock().make_room();
        let table = places.lock();
        let dismissed = table.holders.iter().filter(|(_, holder)| holder.standing == Standing::Dismissed);
        dismissed.map(|(&number, _)| number).collect::<Vec<u64>>()
    };
    assert_eq!(dismissed(), [2]);
    assert_eq!(dismissed(), [2], "one that is about to leave is room enough");
    places.lock().holders.remove(&2);
    assert_eq!(dismissed(), [0]);
    places.lock().holders.remove(&0);
    assert_eq!(dismissed(), []);
}

#[test]
fn clients_that_send_a_byte_now_and_then_lose_their_places() {
    let crowd = Crowd::before(RamStore::new(4096));
    let write = [request(WRITE, 4096), vec![7; 4096]].concat();
    let mut slow: Vec<Client> = (0..CLIENTS_MAX).map(|_| crowd.client()).collect();
    let mut send_all = |byte: u8| {
        slow.iter_mut().for_each(|client| client.send(&[byte]));
        crowd.wait_for(Stage::Receiving, CLIENTS_MAX);
        crowd.pass(5 * SECOND);
    };
    send_all(write[0]);
    // Now that none of them is idle, none gives way.
    let mut new = crowd.connected();
    write[1..6].iter().for_each(|&byte| send_all(byte));
    assert!(slow.iter_mut().all(|client| client.said_until_hang_up() == 0));
    new.take_export();
    new.read_byte();
    crowd.server.stop();
}

#[test]
fn a_new_client_waits_until_one_of_the_busy_is_idle() {
    let crowd = Crowd::before(RamStore::new(4096));
    let message = request(READ, 1);
    let mut busy: Vec<Client> = (0..CLIENTS_MAX).map(|_| crowd.client()).collect();
    busy.iter_mut().for_each(|client| client.send(&message[..27]));
    crowd.wait_for(Stage::Receiving, CLIENTS_MAX);
    let mut new = crowd.connected();
    busy[5].send(&message[27..]);
    // The answer, and then the end.
    assert_eq!(busy[5].said_until_hang_up(), 17);
    new.take_export();
    new.read_byte();
    busy.remove(5);
    for client in &mut busy {
        client.send(&message[27..]);
        client.receive(17);
    }
    crowd.server.stop();
}

#[test]
fn handshakes_end_at_their_deadline_and_idle_clients_have_none() {
    let crowd = Crowd::before(RamStore::new(4096));
    let mut idle = crowd.client();
    crowd.wait_for(Stage::Idle, 1);
    let mut silent = crowd.connected();
    silent.receive(18);
    let mut options = crowd.connected();
    options.receive(18);
    options.send(&3u32.to_be_bytes());
    for _ in 0..2 {
        options.send(b"IHAVEOPT\0\0\0\x03\0\0\0\0");
        options.receive(24 + 20);
        crowd.pass(HANDSHAKE_TIME / 2);
    }
    assert_eq!((silent.said_until_hang_up(), options.said_until_hang_up()), (0, 0));
    crowd.pass(1000 * MESSAGE_TIME);
    let mut late = crowd.connected();
    late.receive(18);
    crowd.pass(HANDSHAKE_TIME);
    // Deadlines have been looked at since.
    assert_eq!(late.said_until_hang_up(), 0);
    idle.read_byte();
    crowd.server.stop();
}

#[test]
fn a_reply_has_to_be_taken_until_its_deadline() {
    let crowd = Crowd::before(RamStore::new(REQUEST_BYTES_MAX as usize));
    let mut client = crowd.client();
    client.send(&request(READ, REQUEST_BYTES_MAX));
    crowd.wait_for(Stage::Sending, 1);
    for _ in 0..6 {
        client.receive(4096);
        crowd.wait_for(Stage::Sending, 1);
        crowd.pass(MESSAGE_TIME / 6);
    }
    assert!(client.said_until_hang_up() < REQUEST_BYTES_MAX as usize - 6 * 4096);
    crowd.server.stop();
}

#[test]
fn the_time_that_the_store_takes_is_not_the_clients() {
    let (begun, has_begun) = sync_channel(0);
    let (end, ends) = sync_channel(0);
    let crowd = Crowd::before(Gate { ram: RamStore::new(4096), begun, end: ends });
    let mut first = crowd.client();
    first.send(&request(3, 0));
    has_begun.recv().unwrap();
    // This one waits for the first one's request.
    let mut second = crowd.client();
    second.send(&request(READ, 1));
    crowd.wait_for(Stage::Serving, 2);
    // A handshake does not wait for the store, and shows that the deadlines were looked at.
    crowd.pass(1000 * MESSAGE_TIME);
    let mut late = crowd.connected();
    late.receive(18);
    crowd.pass(HANDSHAKE_TIME);
    assert_eq!(late.said_until_hang_up(), 0);
    end.send(()).unwrap();
    assert_eq!(first.receive(16)[4..8], [0; 4]);
    assert_eq!(second.receive(17)[4..8], [0; 4]);
    crowd.server.stop();
}

#[test]
fn a_server_stops_while_a_client_waits_for_a_place() {
    let crowd = Crowd::before(RamStore::new(4096));
    let mut busy: Vec<Client> = (0..CLIENTS_MAX).map(|_| crowd.client()).collect();
    busy.iter_mut().for_each(|client| client.send(&request(READ, 1)[..1]));
    crowd.wait_for(Stage::Receiving, CLIENTS_MAX);
    let mut new = crowd.connected();
    crowd.server.stop();
    assert_eq!(new.said_until_hang_up(), 0);
    assert!(busy.iter_mut().all(|client| client.said_until_hang_up() == 0));
    busy[0].0.shutdown(Shutdown::Both).ok();
}
