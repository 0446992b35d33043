//! Where a server listens: TCP on a loopback address, or a socket in the file system; and one shape for both.
//!
//! The protocol is neither encrypted nor authenticated here, so other addresses are refused. A client that can connect
//! to a loopback address, or may write to the socket's file, may read and write the store.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::io::ioctl_fionread;

/// The port that NBD is registered for.
const PORT: u16 = 10809;

/// Where to listen: `127.0.0.1:10809`, `[::1]:10809`, `localhost:10809`, or `unix:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A loopback address; with port 0, one that is free.
    Tcp(SocketAddr),
    /// A path in the file system.
    Unix(PathBuf),
}

/// Why a text is no address to listen on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is none at all.
    #[error("{0:?} is not an address: write 127.0.0.1:10809, [::1]:10809, localhost:10809 or unix:PATH")]
    Form(String),
    /// Others could connect.
    #[error("{0} is not a loopback address: any client that can connect may read and write everything")]
    NotLoopback(SocketAddr),
}

impl Default for Address {
    fn default() -> Self {
        Address::Tcp((Ipv4Addr::LOCALHOST, PORT).into())
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Address::Unix(path.into()));
        }
        let numeric = text.strip_prefix("localhost:").map(|port| format!("{}:{port}", Ipv4Addr::LOCALHOST));
        let address: SocketAddr =
            numeric.as_deref().unwrap_or(text).parse().map_err(|_| AddressError::Form(text.to_owned()))?;
        match address.ip().is_loopback() {
            true => Ok(Address::Tcp(address)),
            false => Err(AddressError::NotLoopback(address)),
        }
    }
}

impl fmt::Display for Address {
    /// As the URI that clients take.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => write!(f, "nbd://{address}"),
            Address::Unix(path) => write!(f, "nbd+unix:///?socket={}", path.display()),
        }
    }
}

/// An open ear. A socket's file goes away with it.
#[derive(Debug)]
pub enum Listener {
    /// TCP.
    Tcp(TcpListener),
    /// A socket in the file system, and its path.
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Listens. A socket's file that a dead server left is taken over.
    ///
    /// # Errors
    /// When the address is in use or cannot be had.
    pub fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => TcpListener::bind(address).map(Listener::Tcp),
            Address::Unix(path) => {
                remove_orphan(path);
                UnixListener::bind(path).map(|listener| Listener::Unix(listener, path.clone()))
            }
        }
    }

    /// Where it listens, with the port that was free.
    ///
    /// # Errors
    /// When the system does not know.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            Listener::Tcp(listener) => listener.local_addr().map(Address::Tcp),
            Listener::Unix(_, path) => Ok(Address::Unix(path.clone())),
        }
    }

    pub(crate) fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            Listener::Unix(listener, _) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // A file that stays is taken over by the next server.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Removes a socket's file at which no server listens. Nothing else is removed.
fn remove_orphan(path: &Path) {
    if UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
        use std::os::unix::fs::FileTypeExt;
        if std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket()) {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Connects, as a client does.
    pub fn connect(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => TcpStream::connect(address).map(Stream::Tcp),
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
        }
    }

    /// Whether bytes have arrived that nobody has read.
    pub fn has_input(&self) -> bool {
        let waiting = match self {
            Stream::Tcp(stream) => ioctl_fionread(stream),
            Stream::Unix(stream) => ioctl_fionread(stream),
        };
        waiting.is_ok_and(|bytes| bytes > 0)
    }

    /// Ends what a reader waits for; what is being answered is still sent.
    pub fn stop_reading(&self) {
        self.shut(Shutdown::Read);
    }

    /// Ends the connection, even if others still hold it.
    pub fn hang_up(&self) {
        self.shut(Shutdown::Both);
    }

    fn shut(&self, how: Shutdown) {
        // It fails if the client is gone, which is as good.
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(how),
            Stream::Unix(stream) => stream.shutdown(how),
        };
    }
}

impl Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).read(buffer),
            Stream::Unix(stream) => (&*stream).read(buffer),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&*stream).write(bytes),
            Stream::Unix(stream) => (&*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_and_paths_are_listened_on() {
        for text in ["127.0.0.1:10809", "[::1]:0", "localhost:7", "unix:a/b"] {
            assert!(text.parse::<Address>().is_ok(), "{text}");
        }
        assert!(matches!("0.0.0.0:10809".parse::<Address>(), Err(AddressError::NotLoopback(_))));
        assert!(matches!("10.1.1.1:10809".parse::<Address>(), Err(AddressError::NotLoopback(_))));
        for text in ["", "unix:", "127.0.0.1", "localhost", "example.org:10809", "127.0.0.1:70000"] {
            assert_eq!(text.parse::<Address>(), Err(AddressError::Form(text.to_owned())));
        }
    }
}
