//! The TCP connection to vpcd.
//!
//! vpcd sends a message's length and its bytes apart. The kernel answers the first with a delayed acknowledgement, for
//! which the second waits: 40 ms a command. `TCP_QUICKACK` ends that, and the kernel forgets it whenever it likes, so
//! that it is set again after every read.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rustix::net::sockopt::set_tcp_quickack;

/// A connection, which reads and writes without delay.
#[derive(Debug)]
pub struct Link {
    stream: TcpStream,
}

impl Link {
    /// Dials vpcd, which listens at 127.0.0.1:35963 unless pcscd's configuration says otherwise.
    ///
    /// `patience` bounds the connecting, each silence within a message, and each write.
    ///
    /// # Errors
    ///
    /// What connecting says; zero patience is refused.
    pub fn dial(address: SocketAddr, patience: Duration) -> io::Result<Self> {
        Self::over(TcpStream::connect_timeout(&address, patience)?, patience)
    }

    /// Waits for a peer to dial: a vpcd that was told to, or a test. `patience` as in [`dial`](Link::dial), without the
    /// waiting for a peer.
    ///
    /// # Errors
    ///
    /// What accepting says.
    pub fn accept(listener: &TcpListener, patience: Duration) -> io::Result<Self> {
        Self::over(listener.accept()?.0, patience)
    }

    /// Ends the connection from any thread: the card is pulled out, also in the middle of a command.
    /// Dial again a second later: pcscd polls for cards, and takes one that comes back sooner for the last, with power.
    ///
    /// # Errors
    ///
    /// What shutting down says, for instance that there is no connection any more.
    pub fn pull_out(&self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Both)
    }

    fn over(stream: TcpStream, patience: Duration) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        set_tcp_quickack(&stream, true)?;
        Ok(Link { stream })
    }
}

impl Read for &Link {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = (&self.stream).read(bytes)?;
        set_tcp_quickack(&self.stream, true)?;
        Ok(count)
    }
}

impl Write for &Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&self.stream).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.stream).flush()
    }
}
