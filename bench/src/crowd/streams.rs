//! Readers of live events beside the agents.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use workforce_domain::time::Timestamp;

use super::STACK;
use super::company::CrowdAgent;
use crate::client::Client;
use crate::load::{milliseconds, percentile};
use crate::random::now;

/// What all readers saw.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct StreamFigures {
    pub(crate) open: usize,
    pub(crate) events: usize,
    /// From when an event happened until it was read, beyond the time of its transaction.
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

/// Open streams, each read by a thread of its own.
pub(crate) struct Readers(Vec<(TcpStream, JoinHandle<Vec<i64>>)>);

impl Readers {
    /// Opens `count` streams of agents that are spread over all companies.
    pub(crate) fn open(
        addresses: &[SocketAddr],
        agents: &[CrowdAgent],
        count: usize,
    ) -> Result<Self> {
        let count = count.min(agents.len());
        let spread = agents.iter().step_by(agents.len() / count.max(1));
        let readers = spread.take(count).enumerate().map(|(number, agent)| {
            let stream = open(addresses[number % addresses.len()], agent)?;
            let source = BufReader::new(stream.try_clone()?);
            let thread = thread::Builder::new()
                .stack_size(STACK)
                .spawn(move || read(source))?;
            Ok((stream, thread))
        });
        Ok(Self(readers.collect::<Result<_>>()?))
    }

    /// Ends the streams.
    pub(crate) fn close(self) -> Result<StreamFigures> {
        let open = self.0.len();
        let mut delays = Vec::new();
        for (stream, thread) in self.0 {
            stream.shutdown(Shutdown::Both)?;
            delays.extend(
                thread
                    .join()
                    .map_err(|_panic| anyhow!("a reader panicked"))?,
            );
        }
        delays.sort_unstable();
        let delays: Vec<_> = delays
            .into_iter()
            .map(|micros| Duration::from_micros(micros.max(0).unsigned_abs()))
            .collect();
        Ok(StreamFigures {
            open,
            events: delays.len(),
            p50_ms: milliseconds(percentile(&delays, 50)),
            p99_ms: milliseconds(percentile(&delays, 99)),
        })
    }
}

fn open(address: SocketAddr, agent: &CrowdAgent) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).context("failed to connect to the server")?;
    write!(
        stream,
        "GET /api/companies/{}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\
         Accept: text/event-stream\r\nAuthorization: Bearer {}\r\nLast-Event-ID: {}\r\n\r\n",
        agent.company,
        agent.key,
        newest(address, agent)?
    )?;
    Ok(stream)
}

/// The number of the last event that a company has had.
fn newest(address: SocketAddr, agent: &CrowdAgent) -> Result<i64> {
    let mut client = Client::connect(address)?;
    let mut after = 0;
    loop {
        let request = format!(
            "GET /api/companies/{}/events?after={after} HTTP/1.1\r\nHost: 127.0.0.1\r\n\
             Accept: application/json\r\nAuthorization: Bearer {}\r\n\r\n",
            agent.company, agent.key
        );
        let answer = client.send(request.as_bytes())?;
        answer.require_success()?;
        let events: Vec<Json> = serde_json::from_slice(answer.body)?;
        match events.last() {
            None => return Ok(after),
            Some(last) => match last["id"].as_i64() {
                Some(id) if id > after => after = id,
                _ => bail!("events are not numbered: {last}"),
            },
        }
    }
}

/// How long after each event it was read, in microseconds, until the stream ends.
fn read(source: BufReader<TcpStream>) -> Vec<i64> {
    let mut delays = Vec::new();
    for line in source.lines().map_while(Result::ok) {
        let event = line.strip_prefix("data:").and_then(|data| {
            let event: Json = serde_json::from_str(data.trim()).ok()?;
            Timestamp::parse(event["createdAt"].as_str()?).ok()
        });
        delays.extend(event.map(|at| now() - at.micros()));
    }
    delays
}
