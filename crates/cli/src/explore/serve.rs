//! A server of one page and of the image that it follows, for browsers on this machine.
//!
//! The image is read without its lock, because the program that uses it holds that: what is read may be as after a
//! power cut, which is what a mount is for. A request is a line and headers of at most 8 KB, each answered on a
//! connection of its own. A request by another name of this machine than its address is refused, and one for the image
//! that a browser makes for the page of another site, so that no such page reads the image.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::failure::ExploreError;
use super::image::bytes_in_use;
use crate::error::{Error, words_of};
use crate::opening::Source;
use crate::printable;
use crate::stopping::stop_signals;

/// Where the page asks for the image.
pub const IMAGE_PATH: &str = "/image";
const REQUEST_BYTES_MAX: u64 = 8192;
/// How long a browser may take to ask or to read.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves until a signal says to stop.
///
/// # Errors
/// When the address cannot be listened on.
pub fn serve(address: SocketAddr, page: String, source: &Source, say: impl Fn(String)) -> Result<String, Error> {
    let failed = |source| Error::from(ExploreError::Serve { address, source });
    let mut signals = stop_signals().map_err(failed)?;
    let listener = TcpListener::bind(address).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let name = source.image.display();
    say(format!("http://{address}/ shows {name}; SIGINT or SIGTERM stops it\n"));
    let served = Arc::new((page, source.clone()));
    // It ends with the process: a page that is read meanwhile is no loss.
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let served = Arc::clone(&served);
            // A browser that goes away is no error of the server's.
            thread::spawn(move || drop(answer(client, address, &served.0, &served.1)));
        }
    });
    signals.forever().next();
    Ok(format!("{name}: stopped\n"))
}

/// What is answered: the status, headers of its own, and the body.
type Answer = (&'static str, String, Vec<u8>);

fn answer(mut client: TcpStream, address: SocketAddr, page: &str, source: &Source) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let request = Request::read(&client)?;
    let own = [address.to_string(), format!("localhost:{}", address.port())];
    let (status, headers, body) = match &*request.path {
        _ if !own.contains(&request.host) => forbidden("another host's name"),
        "/" => ("200 OK", "Content-Type: text/html; charset=utf-8\r\n".to_owned(), page.as_bytes().to_vec()),
        IMAGE_PATH if request.is_of_another_site() => forbidden("a request of another site's page"),
        IMAGE_PATH => image(source, &request.tag),
        _ => ("404 Not Found", String::new(), b"there is / and /image".to_vec()),
    };
    let length = body.len();
    let common = "Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
                  Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n";
    write!(client, "HTTP/1.1 {status}\r\n{headers}{common}Content-Length: {length}\r\n\r\n")?;
    client.write_all(&body)
}

fn forbidden(why: &str) -> Answer {
    ("403 Forbidden", String::new(), why.as_bytes().to_vec())
}

/// What is looked at of a request; what it does not have is empty.
#[derive(Default)]
struct Request {
    /// What is asked for, if it is a GET.
    path: String,
    host: String,
    /// The tag of the image that the browser has.
    tag: String,
    /// The site whose page asks, and how it relates to this one, as browsers say it.
    origin: String,
    fetch_site: String,
}

impl Request {
    fn read(client: &TcpStream) -> io::Result<Request> {
        let mut lines = BufReader::new(client.try_clone()?.take(REQUEST_BYTES_MAX)).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        let path = first.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        let mut request = Request { path: path.to_owned(), ..Request::default() };
        for line in lines {
            let line = line?;
            let Some((name, value)) = line.split_once(':') else { break };
            let field = match &*name.to_ascii_lowercase() {
                "host" => &mut request.host,
                "if-none-match" => &mut request.tag,
                "origin" => &mut request.origin,
                "sec-fetch-site" => &mut request.fetch_site,
                _ => continue,
            };
            value.trim().clone_into(field);
        }
        Ok(request)
    }

    /// Whether a browser says that the page of another site asks. A program that is no browser says nothing of it.
    fn is_of_another_site(&self) -> bool {
        let is_foreign = !self.origin.is_empty() && self.origin != format!("http://{}", self.host);
        is_foreign || !["", "same-origin", "none"].contains(&&*self.fetch_site)
    }
}

/// The image, if it is another one than the browser has.
fn image(source: &Source, known: &str) -> Answer {
    // An image file as it is, whoever has it open; a dump as its image.
    let bytes = match bytes_in_use(source) {
        Ok(image) => image.to_packed(),
        Err(error) => {
            let why = printable::line(&words_of(&error)).into_owned();
            return ("503 Service Unavailable", String::new(), why.into_bytes());
        }
    };
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let headers = format!("ETag: {tag}\r\nContent-Type: application/octet-stream\r\n");
    if tag == known { ("304 Not Modified", headers, Vec::new()) } else { ("200 OK", headers, bytes) }
}
