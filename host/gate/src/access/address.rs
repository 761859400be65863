//! Blocks of addresses that count as one caller: the holder of one IPv6 address usually has its whole /64.

use core::net::{IpAddr, Ipv6Addr};

/// An IPv4 address, or the /64 of an IPv6 address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressBlock(IpAddr);

impl AddressBlock {
    /// Block that contains an address. An IPv4-mapped IPv6 address counts as IPv4.
    pub fn containing(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(v6) if !v6.is_loopback() => {
                let [a, b, c, d, ..] = v6.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            other => other,
        })
    }

    /// First address of the block.
    pub fn network(self) -> IpAddr {
        self.0
    }

    /// Returns true for loopback addresses. Requests from there may come through a local proxy, from many clients.
    pub fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_count_as_one() {
        let check = |a: &str, b: &str, expected: bool| {
            let [a, b] = [a, b].map(|address| AddressBlock::containing(address.parse().unwrap()));
            assert_eq!(a == b, expected, "{a:?} {b:?}");
        };
        check("192.0.2.1", "192.0.2.1", true);
        check("192.0.2.1", "192.0.2.2", false);
        check("::ffff:192.0.2.1", "192.0.2.1", true);
        check("2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", true);
        check("2001:db8:0:1::1", "2001:db8:0:2::1", false);
        check("::1", "::2", false);
        for (address, expected) in [
            ("127.0.0.2", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("10.0.0.1", false),
            ("::2", false),
        ] {
            assert_eq!(
                AddressBlock::containing(address.parse().unwrap()).is_loopback(),
                expected,
                "{address}"
            );
        }
    }
}
