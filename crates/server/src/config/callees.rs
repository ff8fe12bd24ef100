//! Flags about agents that are called by HTTP.

use clap::Args;
use workforce_engine::AddressRange;

/// Whom the service calls, and where it is called back.
#[derive(Args, Clone, Debug)]
pub(crate) struct CalleeArgs {
    /// Ranges of addresses at which agents may be called beside public ones, such as
    /// `10.0.0.0/8`, separated by commas; may be given several times.
    #[arg(
        long,
        env = "WORKFORCE_HTTP_ALLOW",
        value_delimiter = ',',
        value_name = "RANGE"
    )]
    pub(crate) http_allow: Vec<AddressRange>,

    /// Where browsers and agents that run elsewhere reach the service, without a path, such as
    /// `https://workforce.example`; agents use the address of this machine when unsaid.
    #[arg(long, env = "WORKFORCE_PUBLIC_URL", value_parser = public_url, value_name = "URL")]
    pub(crate) public_url: Option<String>,
}

fn public_url(text: &str) -> Result<String, String> {
    let url = text.trim_end_matches('/');
    let rest = ["http://", "https://"]
        .iter()
        .find_map(|scheme| url.strip_prefix(scheme));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(['/', '?', '#', '@', ' ']) => {
            Ok(url.to_owned())
        }
        _ => Err("must be http:// or https:// and a host, without a path".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: CalleeArgs,
    }

    fn parse(flags: &[&str]) -> Option<CalleeArgs> {
        let line = std::iter::once(&"workforce").chain(flags);
        Some(Line::try_parse_from(line).ok()?.args)
    }

    #[test]
    fn ranges_are_listed_and_repeated() {
        let flags = [
            "--http-allow",
            "10.0.0.0/8,::1",
            "--http-allow",
            "127.0.0.1",
        ];
        let ranges = parse(&flags).unwrap().http_allow;
        let ranges: Vec<String> = ranges.iter().map(ToString::to_string).collect();
        assert_eq!(ranges, ["10.0.0.0/8", "::1/128", "127.0.0.1/32"]);
        assert!(parse(&[]).unwrap().http_allow.is_empty());
        assert!(parse(&["--http-allow", "localhost"]).is_none());
    }

    #[test]
    fn a_public_url_has_no_path() {
        let read = |url: &str| parse(&["--public-url", url]).and_then(|args| args.public_url);
        let url = Some("https://workforce.example:8443".to_owned());
        assert_eq!(read("https://workforce.example:8443/"), url);
        for url in [
            "workforce.example",
            "https://",
            "https://a/b",
            "https://u@a",
            "ftp://a",
        ] {
            assert_eq!(read(url), None, "{url}");
        }
    }
}
