/// The longest URL, in bytes.
const MAX_URL: usize = 2048;

/// What is wrong with the URL of an agent, if anything is. It says what it means to
/// whoever reads it: nothing that two readers may understand in two ways is admitted.
pub(super) fn url_fault(url: &str) -> Option<&'static str> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Some("must begin with http:// or https://");
    };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic());
    if !["http", "https"].contains(&scheme) {
        Some("must begin with http:// or https://")
    } else if url.len() > MAX_URL {
        Some("must have at most 2048 bytes")
    } else if !is_plain || url.contains(['\\', '#', '"', '<', '>', '^', '`', '{', '|', '}']) {
        Some("must be an absolute URL in ASCII, without fragment")
    } else if authority.contains('@') {
        Some("must not have credentials; send them in a header")
    } else if !is_authority(authority) {
        Some("must name a host")
    } else {
        None
    }
}

fn is_authority(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_port = |port: &str| {
        port.bytes().all(|byte| byte.is_ascii_digit())
            && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_host = match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        }
    };
    is_host && port.is_none_or(is_port)
}
