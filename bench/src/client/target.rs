//! Which server is asked, and by whom.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// The name of the servers that the bench starts itself.
const LOCAL: &str = "127.0.0.1";

/// A server that runs accepts a connection in less.
const PATIENCE: Duration = Duration::from_secs(5);

/// Who asks, and under which name of the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller<'a> {
    pub(crate) host: &'a str,
    /// The credential.
    pub(crate) key: Option<&'a str>,
}

impl<'a> Caller<'a> {
    /// The board of a server that the bench started, which needs no credential.
    pub(crate) const BOARD: Self = Self {
        host: LOCAL,
        key: None,
    };

    /// An agent at a server that the bench started.
    pub(crate) const fn agent(key: &'a str) -> Self {
        Self {
            host: LOCAL,
            key: Some(key),
        }
    }

    pub(super) fn headers(self) -> String {
        let credential = self.key.map_or_else(String::new, |key| {
            format!("Authorization: Bearer {key}\r\n")
        });
        format!("Host: {}\r\n{credential}", self.host)
    }
}

/// A server, and how its board is let in.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    /// What requests name it.
    pub(crate) host: String,
    /// The credential of the board, where it needs one.
    pub(crate) token: Option<String>,
}

impl Target {
    /// A server that the bench started.
    pub(crate) fn local(address: SocketAddr) -> Self {
        Self {
            address,
            host: LOCAL.to_owned(),
            token: None,
        }
    }

    /// The server at a URL, which has to accept a connection.
    pub(crate) fn reach(url: &str, token: Option<String>) -> Result<Self> {
        let host = host(url)?;
        let has_port = host
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let with_port = if has_port {
            host.to_owned()
        } else {
            format!("{host}:80")
        };
        let addresses = with_port
            .to_socket_addrs()
            .with_context(|| format!("no address is known for {url}"))?;
        let mut failure = None;
        // A name can have several addresses, of which a server may serve one.
        for address in addresses {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(_) => {
                    return Ok(Self {
                        address,
                        host: host.to_owned(),
                        token,
                    });
                }
                Err(error) => failure = Some(error),
            }
        }
        let failure = failure.with_context(|| format!("no address is known for {url}"))?;
        Err(failure).with_context(|| format!("{url} does not answer"))
    }

    pub(crate) fn board(&self) -> Caller<'_> {
        Caller {
            host: &self.host,
            key: self.token.as_deref(),
        }
    }
}

/// The part of a URL that names the server.
fn host(url: &str) -> Result<&str> {
    let Some(rest) = url.strip_prefix("http://") else {
        bail!("{url} does not begin with http://, which is all that the bench speaks");
    };
    let host = rest.strip_suffix('/').unwrap_or(rest);
    if host.is_empty() || host.contains(['/', '?', '#', '@']) {
        bail!("{url} is to name a host and perhaps a port, as in http://127.0.0.1:3100");
    }
    Ok(host)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn a_url_names_a_host_and_nothing_else() {
        for (url, expected) in [
            ("http://a:1", Some("a:1")),
            ("http://[::1]:3100/", Some("[::1]:3100")),
            ("http://a", Some("a")),
            ("https://a:1", None),
            ("a:1", None),
            ("http://a:1/api", None),
            ("http://b@a:1", None),
            ("http://", None),
        ] {
            assert_eq!(host(url).ok(), expected, "{url}");
        }
    }

    #[test]
    fn a_server_is_reached_under_its_name() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("http://localhost:{port}");
        let target = Target::reach(&url, None).unwrap();
        assert_eq!(target.address, listener.local_addr().unwrap());
        assert_eq!(target.host, format!("localhost:{port}"));
        drop(listener);
        let message = format!("{:#}", Target::reach(&url, None).unwrap_err());
        assert!(
            message.starts_with(&format!("{url} does not answer: ")),
            "{message}"
        );
    }
}
