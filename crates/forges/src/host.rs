use std::fmt;
use std::net::Ipv6Addr;

/// A host in lower case, and a port if one is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Host {
    name: String,
    port: Option<u16>,
}

impl Host {
    /// Reads `name`, `name:port`, `[::1]` or `[::1]:port`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']')?;
                let address: Ipv6Addr = address.parse().ok()?;
                let port = match port {
                    "" => None,
                    port => Some(port.strip_prefix(':')?),
                };
                (format!("[{address}]"), port)
            }
            None => {
                let (name, port) = match text.split_once(':') {
                    Some((name, port)) => (name, Some(port)),
                    None => (text, None),
                };
                (is_name(name).then(|| name.to_ascii_lowercase())?, port)
            }
        };
        let port = port.map(parse_port);
        match port {
            Some(None) => None,
            Some(port) => Some(Self { name, port }),
            None => Some(Self { name, port: None }),
        }
    }

    /// The name alone.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Without the port.
    pub(crate) fn bare(self) -> Self {
        Self { port: None, ..self }
    }

    /// Without the port if it is this one, which goes without saying.
    pub(crate) fn without_port(self, usual: u16) -> Self {
        if self.port == Some(usual) {
            self.bare()
        } else {
            self
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

fn parse_port(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let port = is_number.then(|| text.parse().ok())??;
    (port != 0).then_some(port)
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_bounded = !name.is_empty() && name.len() <= 253;
    is_bounded && name.bytes().all(fits) && !name.starts_with(['-', '.']) && !name.contains("..")
}
