//! Which addresses a server calls (docs/heartbeats.md#addresses).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address_range::AddressRange;

/// The special ranges of IPv4 by the registry of IANA.
const SPECIAL_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 52, 193, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, and all that is reserved.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// The part of IPv6 in which public addresses are.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// The special ranges within that part.
const SPECIAL_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    SIX_TO_FOUR,
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// Addresses of IPv4 in IPv6, right after these bits.
const SIX_TO_FOUR: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16);
/// Addresses of IPv4 for translators, in the last bits.
const NAT64: (Ipv6Addr, u32) = (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

/// Public addresses, and what the operator allows beside.
#[derive(Clone, Debug, Default)]
pub struct AddressRules {
    allowed: Vec<AddressRange>,
}

impl AddressRules {
    /// The rules of an operator who allows these ranges.
    #[must_use]
    pub const fn allowing(allowed: Vec<AddressRange>) -> Self {
        Self { allowed }
    }

    /// Whether an address may be called. One of IPv4 in the clothes of IPv6 is
    /// judged as what it is: a translator on the way would unwrap it.
    #[must_use]
    pub fn admit(&self, address: IpAddr) -> bool {
        match address.to_canonical() {
            IpAddr::V4(address) => self.admit_v4(address),
            IpAddr::V6(address) => {
                let is_listed = self.lists(address.into());
                let inner = embedded(address);
                match inner {
                    Some(inner) => is_listed && self.admit_v4(inner),
                    None => is_listed || is_public_v6(address),
                }
            }
        }
    }

    fn admit_v4(&self, address: Ipv4Addr) -> bool {
        self.lists(address.into()) || is_public_v4(address)
    }

    fn lists(&self, address: IpAddr) -> bool {
        self.allowed.iter().any(|range| range.contains(address))
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_in = |&(range, len): &(Ipv4Addr, u32)| {
        (address.to_bits() ^ range.to_bits()).leading_zeros() >= len
    };
    !SPECIAL_V4.iter().any(is_in)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    is_in_v6(address, GLOBAL_V6) && !SPECIAL_V6.iter().any(|&range| is_in_v6(address, range))
}

fn is_in_v6(address: Ipv6Addr, (range, len): (Ipv6Addr, u32)) -> bool {
    (address.to_bits() ^ range.to_bits()).leading_zeros() >= len
}

/// The address of IPv4 that a translator finds in this one.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [_, high, low, _, _, _, last_high, last_low] = address.segments();
    let join = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    if is_in_v6(address, SIX_TO_FOUR) {
        Some(join(high, low))
    } else if is_in_v6(address, NAT64) {
        Some(join(last_high, last_low))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rules(allowed: &[&str]) -> AddressRules {
        AddressRules::allowing(allowed.iter().map(|range| range.parse().unwrap()).collect())
    }

    #[track_caller]
    fn check(allowed: &[&str], address: &str, expected: bool) {
        let is_admitted = rules(allowed).admit(address.parse().unwrap());
        assert_eq!(is_admitted, expected, "{address} with {allowed:?}");
    }

    #[test]
    fn public_addresses_are_called() {
        for address in [
            "1.1.1.1",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.0.1",
            "172.32.0.1",
            "198.17.255.255",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "::ffff:1.1.1.1",
        ] {
            check(&[], address, true);
        }
    }

    #[test]
    fn special_addresses_are_refused() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::1.1.1.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:101:101::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            check(&[], address, false);
        }
    }

    #[test]
    fn the_operator_allows_ranges_and_nothing_beside_them() {
        check(&["127.0.0.0/8"], "127.0.0.1", true);
        check(&["127.0.0.0/8"], "::ffff:127.0.0.1", true);
        check(&["127.0.0.0/8"], "::1", false);
        check(&["10.1.0.0/16", "::1"], "10.1.2.3", true);
        check(&["10.1.0.0/16", "::1"], "10.2.0.1", false);
        check(&["10.1.0.0/16", "::1"], "::1", true);
        check(&["10.1.2.3"], "10.1.2.3", true);
        check(&["10.1.2.3"], "10.1.2.4", false);
    }

    #[test]
    fn a_translator_that_is_allowed_leads_only_where_may_be_called() {
        check(&["64:ff9b::/96"], "64:ff9b::1.1.1.1", true);
        check(&["64:ff9b::/96"], "64:ff9b::10.0.0.1", false);
        check(&["64:ff9b::/96", "10.0.0.0/8"], "64:ff9b::10.0.0.1", true);
        check(&["2002::/16"], "2002:101:101::1", true);
        check(&["2002::/16"], "2002:7f00:1::1", false);
    }

    #[test]
    fn a_range_reads_as_it_is_written() {
        for text in ["10.0.0.0/8", "fd00::/8", "10.1.2.3/32"] {
            assert_eq!(text.parse::<AddressRange>().unwrap().to_string(), text);
        }
        assert_eq!(
            "::1".parse::<AddressRange>().unwrap().to_string(),
            "::1/128"
        );
        for text in ["", "10.0.0.0/33", "localhost", "10.0.0"] {
            assert!(text.parse::<AddressRange>().is_err(), "{text}");
        }
    }

    proptest! {
        /// The standard library has a list of its own for what it names.
        #[test]
        fn what_the_standard_library_calls_special_is_refused(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let is_special = address.is_private() || address.is_loopback()
                || address.is_link_local() || address.is_multicast()
                || address.is_broadcast() || address.is_documentation()
                || address.is_unspecified();
            prop_assert!(!(is_special && rules(&[]).admit(address.into())));
        }

        #[test]
        fn an_address_is_judged_alike_in_both_forms(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let mapped = address.to_ipv6_mapped();
            let rules = rules(&["10.0.0.0/9"]);
            prop_assert_eq!(rules.admit(address.into()), rules.admit(mapped.into()));
        }

        #[test]
        fn no_address_outside_of_the_public_part_of_ipv6_is_called(bits: u128) {
            let address = Ipv6Addr::from_bits(bits & !(0b111 << 125));
            let is_mapped = address.to_ipv4_mapped().is_some();
            prop_assert!(is_mapped || !rules(&[]).admit(address.into()));
        }
    }
}
