//! Which hosts and origins are served (docs/access.md#hosts-and-origins): a
//! page of another site must not reach a server that trusts whoever is on this
//! machine.

use std::net::IpAddr;

/// The host names a server answers to, and the origins whose pages may change
/// something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedHosts {
    hosts: Vec<String>,
    any: bool,
}

impl AllowedHosts {
    /// Loopback names, IP addresses, and `hosts`: names such as
    /// `workforce.example`, with or without a port; `*` for any. A name that
    /// merely resolves to this machine is refused otherwise; an address cannot
    /// be made to point elsewhere, so it needs no entry.
    pub fn new(hosts: impl IntoIterator<Item = String>) -> Self {
        let hosts: Vec<String> = hosts
            .into_iter()
            .map(|host| host.trim().to_ascii_lowercase())
            .collect();
        Self {
            any: hosts.iter().any(|host| host == "*"),
            hosts,
        }
    }

    /// Every host: for a server where each request brings a credential, which
    /// no page of another site has, however its name resolves. Origins are
    /// checked all the same.
    pub const fn any() -> Self {
        Self {
            hosts: Vec::new(),
            any: true,
        }
    }

    /// True when a request with this `Host` header is answered.
    pub(crate) fn admits_host(&self, host: &str) -> bool {
        let host = host.trim().to_ascii_lowercase();
        let name = without_port(&host);
        self.any
            || name == "localhost"
            || name.ends_with(".localhost")
            || name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
            || self
                .hosts
                .iter()
                .any(|allowed| *allowed == host || *allowed == name)
    }

    /// True when a page of `origin` may change something on the server that
    /// was addressed as `host`: its own pages, and those of listed hosts.
    pub(crate) fn admits_origin(&self, origin: &str, host: &str) -> bool {
        let origin = origin.trim().to_ascii_lowercase();
        let Some(authority) = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"))
        else {
            return false;
        };
        let same = authority == host.trim().to_ascii_lowercase();
        same || self.hosts.iter().any(|allowed| allowed == authority)
    }
}

/// The host without its port; an IPv6 address keeps its brackets.
pub(crate) fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.contains("::") => {
            name
        }
        Some((name, _port)) if name.ends_with(']') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_names_and_addresses_are_served_and_other_names_are_not() {
        let hosts = AllowedHosts::default();
        for host in [
            "localhost:3100",
            "LOCALHOST",
            "127.0.0.1:3100",
            "[::1]:3100",
            "10.1.2.3",
        ] {
            assert!(hosts.admits_host(host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:3100",
            "localhost.evil.example",
            "",
        ] {
            assert!(!hosts.admits_host(host), "{host}");
        }
    }

    #[test]
    fn listed_names_are_served() {
        let hosts = AllowedHosts::new(["Workforce.example".to_owned()]);
        assert!(hosts.admits_host("workforce.example:443"));
        assert!(!hosts.admits_host("x.workforce.example"));
        assert!(AllowedHosts::new(["*".to_owned()]).admits_host("anything.example"));
    }

    #[test]
    fn a_server_for_any_host_still_refuses_pages_of_others() {
        let hosts = AllowedHosts::any();
        assert!(hosts.admits_host("workforce.internal:3100"));
        assert!(hosts.admits_origin("https://workforce.internal", "workforce.internal"));
        assert!(!hosts.admits_origin("https://evil.example", "workforce.internal"));
    }

    #[test]
    fn only_own_and_listed_pages_change_something() {
        let hosts = AllowedHosts::new(["board.example".to_owned()]);
        assert!(hosts.admits_origin("http://localhost:3100", "localhost:3100"));
        assert!(hosts.admits_origin("https://board.example", "localhost:3100"));
        assert!(!hosts.admits_origin("http://localhost:5173", "localhost:3100"));
        assert!(!hosts.admits_origin("https://evil.example", "localhost:3100"));
        assert!(!hosts.admits_origin("null", "localhost:3100"));
    }
}
