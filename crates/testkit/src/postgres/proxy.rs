//! A line to PostgreSQL that fails where a test wants it to.

use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The code of the message with which a session begins; those before it ask for encryption.
const PROTOCOL_3: [u8; 4] = 196_608_u32.to_be_bytes();
/// No message of a test is so long.
const LONGEST: usize = 64 << 20;

/// Where the connection of a commit is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// COMMIT does not reach the server, which sees the connection end.
    BeforeServer,
    /// COMMIT does not reach the server, which takes the connection for open still.
    Unnoticed,
    /// The server has committed; its answer does not reach the client.
    BeforeClient,
}

/// Stands between a client and a PostgreSQL server. Lets everything through until it is told
/// otherwise. It ends with this value, and with it every connection.
#[derive(Debug)]
pub struct Proxy {
    url: String,
    address: SocketAddr,
    line: Arc<Line>,
}

#[derive(Debug)]
struct Line {
    upstream: String,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Nothing gets through, in either direction.
    is_frozen: bool,
    /// New connections are turned away.
    is_cut_off: bool,
    is_closed: bool,
    fault: Option<Fault>,
    /// The fault has happened.
    was_cut: bool,
    connections: Vec<TcpStream>,
}

#[derive(Debug)]
struct Fault {
    /// The commit is that of a transaction that sends this.
    marker: Vec<u8>,
    cut: Cut,
    /// New connections are turned away from then on.
    cuts_off: bool,
}

impl Proxy {
    /// A line to the server of the database at `url`, which has the form
    /// `postgres://user@host:port/name`.
    ///
    /// # Panics
    ///
    /// When the URL has another form, or no port is free.
    #[must_use]
    #[track_caller]
    pub fn to(url: &str) -> Self {
        let place = url.split_once('@').and_then(|(user, rest)| {
            let (upstream, name) = rest.split_once('/')?;
            Some((user, upstream, name))
        });
        let Some((user, upstream, name)) = place else {
            panic!("{url} has another form");
        };
        let listening = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) =
            listening.unwrap_or_else(|error| panic!("no port to listen on: {error}"));
        let line = Arc::new(Line {
            upstream: upstream.to_owned(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let shared = Arc::clone(&line);
        thread::spawn(move || accept(&listener, &shared));
        Self {
            url: format!("{user}@{address}/{name}"),
            address,
            line,
        }
    }

    /// The URL of the same database by this line.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Cuts the next commit of a transaction that sends `marker`, once.
    pub fn cut_commit_of(&self, marker: &str, cut: Cut) {
        self.prepare(marker, cut, false);
    }

    /// The same, and turns away every new connection from then on, until [`mend`](Self::mend).
    pub fn cut_off_at_commit_of(&self, marker: &str, cut: Cut) {
        self.prepare(marker, cut, true);
    }

    fn prepare(&self, marker: &str, cut: Cut, cuts_off: bool) {
        let mut state = self.line.state();
        state.was_cut = false;
        state.fault = Some(Fault {
            marker: marker.as_bytes().to_vec(),
            cut,
            cuts_off,
        });
    }

    /// Waits until the commit was cut.
    pub fn wait_for_cut(&self) {
        let state = self.line.state();
        drop(self.line.changed.wait_while(state, |state| !state.was_cut));
    }

    /// Lets new connections through again.
    pub fn mend(&self) {
        self.line.state().is_cut_off = false;
    }

    /// Holds everything that is sent, in both directions.
    pub fn freeze(&self) {
        self.line.state().is_frozen = true;
    }

    /// Lets through what was held, and what comes after it.
    pub fn thaw(&self) {
        self.line.state().is_frozen = false;
        self.line.changed.notify_all();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut state = self.line.state();
        state.is_closed = true;
        state.is_frozen = false;
        for connection in state.connections.drain(..) {
            close(&connection);
        }
        drop(state);
        self.line.changed.notify_all();
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

impl Line {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while nothing gets through.
    fn pass(&self) {
        let state = self.state();
        drop(self.changed.wait_while(state, |state| state.is_frozen));
    }

    /// Whether a message has the marker of the commit to cut.
    fn is_marked(&self, message: &[u8]) -> bool {
        self.state().fault.as_ref().is_some_and(|fault| {
            message
                .windows(fault.marker.len())
                .any(|part| part == fault.marker)
        })
    }

    /// The cut that this commit is to suffer.
    fn take_cut(&self) -> Option<Cut> {
        let mut state = self.state();
        let fault = state.fault.take()?;
        state.is_cut_off |= fault.cuts_off;
        Some(fault.cut)
    }

    fn note_cut(&self) {
        self.state().was_cut = true;
        self.changed.notify_all();
    }
}

fn accept(listener: &TcpListener, line: &Arc<Line>) {
    for client in listener.incoming().map_while(Result::ok) {
        let mut state = line.state();
        if state.is_closed {
            return;
        }
        if state.is_cut_off {
            continue;
        }
        let Ok(server) = TcpStream::connect(&line.upstream) else {
            continue;
        };
        let clones = [&client, &server].map(TcpStream::try_clone);
        state.connections.extend(clones.into_iter().flatten());
        drop(state);
        let line = Arc::clone(line);
        thread::spawn(move || connect(&client, &server, &line));
    }
}

/// Carries one connection until it ends.
fn connect(client: &TcpStream, server: &TcpStream, line: &Arc<Line>) {
    let swallows = Arc::new(AtomicBool::new(false));
    let answers = [server, client].map(TcpStream::try_clone);
    let [Ok(from), Ok(to)] = answers else { return };
    let (shared, swallowing) = (Arc::clone(line), Arc::clone(&swallows));
    let back = thread::spawn(move || carry_answers(&from, &to, &shared, &swallowing));
    if carry_requests(client, server, line, &swallows).is_err() {
        close(server);
    }
    drop(back.join());
    close(client);
}

fn close(stream: &TcpStream) {
    // Fails when it is closed already.
    drop(stream.shutdown(Shutdown::Both));
}

/// From the server to the client, until one of them ends.
fn carry_answers(
    mut server: &TcpStream,
    mut client: &TcpStream,
    line: &Line,
    swallows: &AtomicBool,
) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length) = server.read(&mut buffer)
        && length > 0
    {
        if swallows.load(Ordering::SeqCst) {
            close(server);
            break;
        }
        line.pass();
        if client.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    close(client);
    if swallows.load(Ordering::SeqCst) {
        line.note_cut();
    }
}

/// From the client to the server. An error when the client ends; the server is left alone when the
/// line was cut here.
fn carry_requests(
    client: &TcpStream,
    mut server: &TcpStream,
    line: &Line,
    swallows: &AtomicBool,
) -> io::Result<()> {
    let mut requests = BufReader::new(client);
    loop {
        let message = read(&mut requests, 0)?;
        line.pass();
        server.write_all(&message)?;
        if message.get(4..8) == Some(&PROTOCOL_3) {
            break;
        }
    }
    let mut is_marked = false;
    loop {
        let message = read(&mut requests, 1)?;
        line.pass();
        is_marked = (is_marked && !is_query(&message, b"BEGIN")) || line.is_marked(&message);
        if !(is_marked && is_query(&message, b"COMMIT")) {
            server.write_all(&message)?;
            continue;
        }
        match line.take_cut() {
            None => server.write_all(&message)?,
            Some(Cut::BeforeServer) => {
                close(server);
                line.note_cut();
                return Ok(());
            }
            Some(Cut::Unnoticed) => {
                close(client);
                line.note_cut();
                return Ok(());
            }
            Some(Cut::BeforeClient) => {
                swallows.store(true, Ordering::SeqCst);
                return server.write_all(&message);
            }
        }
    }
}

/// One message: `kind` bytes of its type, and its length, which counts itself and what follows.
fn read(stream: &mut impl Read, kind: usize) -> io::Result<Vec<u8>> {
    let mut message = vec![0; kind + 4];
    stream.read_exact(&mut message)?;
    let length = message
        .last_chunk()
        .map_or(0, |length| u32::from_be_bytes(*length));
    let rest = usize::try_from(length)
        .ok()
        .and_then(|length| length.checked_sub(4))
        .filter(|length| *length < LONGEST)
        .ok_or_else(|| io::Error::other("no message of PostgreSQL's protocol"))?;
    message.resize(kind + 4 + rest, 0);
    stream.read_exact(&mut message[kind + 4..])?;
    Ok(message)
}

/// Whether a message is a simple query that begins like this.
fn is_query(message: &[u8], beginning: &[u8]) -> bool {
    message.first() == Some(&b'Q')
        && message
            .get(5..)
            .is_some_and(|text| text.starts_with(beginning))
}
