//! Classes of addresses. Everything that is not plainly the public internet has a class of its own.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// Class of an address, with IPv4 addresses inside IPv6 ones unwrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// The internet.
    Public,
    /// This machine.
    Loopback,
    /// A public address of one of this machine's own interfaces: behind it are services that a firewall hides from
    /// other machines.
    Own,
    /// A private network: RFC 1918, unique local, site-local, a private NAT64 prefix.
    Private,
    /// Only this link.
    LinkLocal,
    /// 100.64.0.0/10, between a provider and its customers; also what overlay networks use.
    CarrierGrade,
    /// A cloud's metadata and credential services.
    Metadata,
    /// Multicast groups.
    Multicast,
    /// All hosts on the link.
    Broadcast,
    /// The unspecified address; many systems treat it as this machine.
    Unspecified,
    /// Reserved for examples.
    Documentation,
    /// Reserved for benchmarks of network devices.
    Benchmark,
    /// Reserved, deprecated, or a tunnel whose other end is unknown.
    Reserved,
}

/// Services that hand credentials to any process of the machine: AWS, GCP, Azure, DigitalOcean and others on
/// 169.254.169.254; ECS and EKS credentials; Alibaba; Oracle; Azure's host channel, which lies in a public range.
const METADATA_V4: [Ipv4Addr; 7] = [
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 169, 253),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(168, 63, 129, 16),
];

/// AWS, EKS credentials, AWS's resolver, GCP.
const METADATA_V6: [Ipv6Addr; 4] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x253),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

impl AddressClass {
    /// Classifies an address.
    pub fn classify(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => v4(address),
            IpAddr::V6(address) => v6(address),
        }
    }

    /// Classifies an address, given those of this machine's interfaces. If they are unknown, any public address may be one of
    /// them.
    pub fn classify_with_own(address: IpAddr, own: Option<&[IpAddr]>) -> Self {
        let plain = unwrap_v4(address);
        let is_own = |own: &[IpAddr]| own.iter().any(|own| unwrap_v4(*own) == plain);
        match Self::classify(address) {
            Self::Public if own.is_none_or(is_own) => Self::Own,
            class => class,
        }
    }
}

/// Extracts the IPv4 address from an IPv6 address that leads to it.
fn unwrap_v4(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => match v6.segments() {
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)).into()
            }
            _ => v6.into(),
        },
        v4 => v4,
    }
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "a public address",
            Self::Loopback => "a loopback address",
            Self::Own => "an address of this machine",
            Self::Private => "a private address",
            Self::LinkLocal => "a link-local address",
            Self::CarrierGrade => "a carrier-grade NAT address",
            Self::Metadata => "a cloud metadata address",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "the broadcast address",
            Self::Unspecified => "an unspecified address",
            Self::Documentation => "an address for documentation",
            Self::Benchmark => "an address for benchmarks",
            Self::Reserved => "a reserved address",
        })
    }
}

fn v4(address: Ipv4Addr) -> AddressClass {
    if METADATA_V4.contains(&address) {
        return AddressClass::Metadata;
    }
    match address.octets() {
        [0, ..] => AddressClass::Unspecified,
        [127, ..] => AddressClass::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressClass::Private,
        [100, 64..=127, ..] => AddressClass::CarrierGrade,
        [169, 254, ..] => AddressClass::LinkLocal,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => AddressClass::Documentation,
        [198, 18..=19, ..] => AddressClass::Benchmark,
        // IETF protocol assignments; relays of 6to4, which is withdrawn.
        [192, 0, 0, _] | [192, 88, 99, _] => AddressClass::Reserved,
        [224..=239, ..] => AddressClass::Multicast,
        [255, 255, 255, 255] => AddressClass::Broadcast,
        [240..=255, ..] => AddressClass::Reserved,
        _ => AddressClass::Public,
    }
}

fn v6(address: Ipv6Addr) -> AddressClass {
    if METADATA_V6.contains(&address) {
        return AddressClass::Metadata;
    }
    let s = address.segments();
    let tail = Ipv4Addr::from((u32::from(s[6]) << 16) | u32::from(s[7]));
    match s {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressClass::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Loopback,
        // Mapped: the system connects to the IPv4 address itself.
        [0, 0, 0, 0, 0, 0xffff, ..] => v4(tail),
        // Compatible, and "translated" of SIIT: withdrawn, so never public.
        [0, 0, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => classify_inner(tail, AddressClass::Reserved),
        // NAT64, by which IPv6-only machines reach the public IPv4 internet.
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => v4(tail),
        // NAT64 prefixes of a network's own: it decides where they lead.
        [0x64, 0xff9b, 1, ..] => classify_inner(tail, AddressClass::Private),
        [0x2002, high, low, ..] => {
            classify_inner(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)), AddressClass::Reserved)
        }
        // Teredo: the client's address is inverted at the end.
        [0x2001, 0, ..] => classify_inner(Ipv4Addr::from(!u32::from(tail)), AddressClass::Reserved),
        [0x2001, 0xdb8, ..] => AddressClass::Documentation,
        [0x3fff, second, ..] if second < 0x1000 => AddressClass::Documentation,
        [0x2001, 2, 0, ..] => AddressClass::Benchmark,
        // IETF protocol assignments, ORCHID among them.
        [0x2001, second, ..] if second < 0x200 => AddressClass::Reserved,
        [first, ..] if first & 0xffc0 == 0xfe80 => AddressClass::LinkLocal,
        [first, ..] if first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfec0 => AddressClass::Private,
        [first, ..] if first & 0xff00 == 0xff00 => AddressClass::Multicast,
        // ISATAP: below any prefix, the end names an IPv4 address of the network it tunnels through.
        [first, _, _, _, 0 | 0x200, 0x5efe, ..] if first & 0xe000 == 0x2000 => v4(tail),
        // Only 2000::/3 is allocated; the rest (discard-only 100::/64, 5f00::/16, …) is refused.
        [first, ..] if first & 0xe000 == 0x2000 => AddressClass::Public,
        _ => AddressClass::Reserved,
    }
}

/// Classifies an address inside another; never as public.
fn classify_inner(address: Ipv4Addr, instead: AddressClass) -> AddressClass {
    match v4(address) {
        AddressClass::Public => instead,
        class => class,
    }
}
