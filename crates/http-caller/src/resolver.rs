use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::address_rules::AddressRules;

/// Looks names up and lets only addresses through that may be called. The connection
/// is made to one of those; the name is not looked up again.
#[derive(Debug)]
pub(crate) struct CheckedResolver(pub(crate) AddressRules);

/// Why a name leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAddress {
    /// The address names no host.
    #[error("the address names no host")]
    NoHost,
    /// The name has no address.
    #[error("the name `{host}` cannot be looked up: {cause}")]
    NotFound {
        /// The name.
        host: String,
        /// Why not.
        cause: String,
    },
    /// One of its addresses is not called.
    #[error(
        "`{host}` leads to {address}, which this server does not call unless it is started with \
         --http-allow {}",
        range_around(*.address)
    )]
    Refused {
        /// The name.
        host: String,
        /// The address.
        address: IpAddr,
    },
}

/// The range that an operator most likely wants to allow.
fn range_around(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) if address.is_loopback() => "127.0.0.0/8".to_owned(),
        address => address.to_string(),
    }
}

/// Looks up where a call of this address would go, and calls nothing. Blocks.
///
/// # Errors
///
/// See [`NoAddress`].
pub fn look_up(url: &str, rules: AddressRules) -> Result<Vec<SocketAddr>, NoAddress> {
    let uri: Uri = url.parse().map_err(|_invalid| NoAddress::NoHost)?;
    let (host, port) = place(&uri).ok_or(NoAddress::NoHost)?;
    CheckedResolver(rules).look_up(host, port)
}

/// The host and the port that an address stands for.
fn place(uri: &Uri) -> Option<(&str, u16)> {
    let default = match uri.scheme_str() {
        Some("https") => 443,
        _ => 80,
    };
    Some((uri.host()?, uri.port_u16().unwrap_or(default)))
}

impl CheckedResolver {
    /// Every address of a host, all of which may be called: one that may not casts
    /// doubt on the rest.
    fn look_up(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, NoAddress> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let not_found = |cause: String| NoAddress::NotFound {
            host: bare.to_owned(),
            cause,
        };
        let found: Vec<SocketAddr> = (bare, port)
            .to_socket_addrs()
            .map_err(|error| not_found(error.to_string()))?
            .collect();
        if found.is_empty() {
            return Err(not_found("it has no address".to_owned()));
        }
        match found.iter().find(|found| !self.0.admit(found.ip())) {
            Some(refused) => Err(NoAddress::Refused {
                host: bare.to_owned(),
                address: refused.ip(),
            }),
            None => Ok(found),
        }
    }
}

impl Resolver for CheckedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        _config: &Config,
        _timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let (host, port) = place(uri).ok_or(ureq::Error::HostNotFound)?;
        let found = self.look_up(host, port);
        let mut addresses = self.empty();
        for address in found.map_err(|error| ureq::Error::Other(error.into()))? {
            if addresses.try_push(address).is_err() {
                break;
            }
        }
        Ok(addresses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_up(allowed: &[&str], host: &str) -> Result<Vec<SocketAddr>, NoAddress> {
        let allowed = allowed.iter().map(|range| range.parse().unwrap());
        CheckedResolver(AddressRules::allowing(allowed.collect())).look_up(host, 80)
    }

    #[test]
    fn a_name_is_judged_by_where_it_leads() {
        assert!(matches!(
            look_up(&[], "localhost"),
            Err(NoAddress::Refused { address, .. }) if address.is_loopback()
        ));
        let allowed = look_up(&["127.0.0.0/8", "::1"], "localhost").unwrap();
        assert!(allowed.iter().all(|address| address.ip().is_loopback()));
    }

    #[test]
    fn the_odd_spellings_of_an_address_are_that_address() {
        for host in [
            "127.1",
            "0x7f000001",
            "2130706433",
            "[::1]",
            "[::ffff:7f00:1]",
        ] {
            assert!(
                matches!(look_up(&[], host), Err(NoAddress::Refused { .. })),
                "{host}: {:?}",
                look_up(&[], host)
            );
        }
    }

    #[test]
    fn a_name_that_is_not_known_is_no_address() {
        assert!(matches!(
            look_up(&[], "nowhere.invalid"),
            Err(NoAddress::NotFound { .. })
        ));
    }
}
