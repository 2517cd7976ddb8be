//! Which addresses belong to the public internet.
//!
//! Pure: an address in, a reason against it out. An address that only carries another one (IPv4 in
//! IPv6, translated or tunnelled) is judged by what it carries. What is not known to be public is
//! not: a range that somebody assigns tomorrow is refused until it is known here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not one of the public internet, as a noun phrase; nothing if it is.
pub(crate) fn objection(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => objection_v4(address),
        IpAddr::V6(address) => objection_v6(address),
    }
}

/// The IPv4 address that an IPv6 address only wraps or translates.
pub(crate) fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let pair = |high: u16, low: u16| {
        let [[one, two], [three, four]] = [high.to_be_bytes(), low.to_be_bytes()];
        Ipv4Addr::new(one, two, three, four)
    };
    match [a, b, c, d, e, f] {
        // Mapped, and the older form of it that the translators use.
        [0, 0, 0, 0, 0, 0xffff] | [0, 0, 0, 0, 0xffff, 0] => Some(pair(g, h)),
        // Compatible; `::` and `::1` are addresses of their own.
        [0, 0, 0, 0, 0, 0] if g != 0 => Some(pair(g, h)),
        // NAT64.
        [0x64, 0xff9b, 0, 0, 0, 0] => Some(pair(g, h)),
        // 6to4.
        [0x2002, high, low, ..] => Some(pair(high, low)),
        _ => None,
    }
}

/// The IPv4 address at the end of an ISATAP address. The rest of it counts as well.
fn tunnel_end(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.octets() {
        [_, _, _, _, _, _, _, _, 0 | 2, 0, 0x5e, 0xfe, a, b, c, d] => Some(Ipv4Addr::new(a, b, c, d)),
        _ => None,
    }
}

fn objection_v4(address: Ipv4Addr) -> Option<&'static str> {
    let reason = match address.octets() {
        [0, ..] => "an address of no host",
        [127, ..] => "a loopback address",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "a private address",
        [169, 254, ..] => "a link-local address",
        [100, 64..=127, ..] => "an address shared within a provider",
        // Public by its number, but answered by the host of a virtual machine.
        [168, 63, 129, 16] => "an address of the cloud's own services",
        [192, 0, 0, _] | [192, 88, 99, _] => "an address reserved for protocols",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => "an address for documentation",
        [198, 18..=19, ..] => "an address for measurements",
        [224..=239, ..] => "a multicast address",
        [240..=255, ..] => "a reserved address",
        _ => return None,
    };
    Some(reason)
}

fn objection_v6(address: Ipv6Addr) -> Option<&'static str> {
    if address.is_unspecified() {
        return Some("an address of no host");
    }
    if address.is_loopback() {
        return Some("a loopback address");
    }
    if let Some(reason) = tunnel_end(address).and_then(objection_v4) {
        return Some(reason);
    }
    if let Some(inner) = carried(address) {
        return objection_v4(inner);
    }
    let reason = match address.segments() {
        [0xfc00..=0xfdff, ..] => "a private address",
        [0xfe80..=0xfebf, ..] => "a link-local address",
        [0xfec0..=0xfeff, ..] => "a site-local address",
        [0xff00..=0xffff, ..] => "a multicast address",
        [0x64, 0xff9b, ..] => "an address translated within a network",
        [0x2001, 0, ..] => "a tunnelled address",
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => "an address for documentation",
        [0x2001, 1..=0x1ff, ..] => "an address reserved for protocols",
        [0x2000..=0x3fff, ..] => return None,
        _ => "a reserved address",
    };
    Some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_address_is_judged_by_where_it_leads() {
        let table = [
            ("1.1.1.1", None),
            ("93.184.216.34", None),
            ("172.15.0.1", None),
            ("172.32.0.1", None),
            ("100.63.255.255", None),
            ("169.253.0.1", None),
            ("0.0.0.0", Some("an address of no host")),
            ("0.1.2.3", Some("an address of no host")),
            ("127.0.0.1", Some("a loopback address")),
            ("127.255.255.254", Some("a loopback address")),
            ("10.0.0.1", Some("a private address")),
            ("172.16.0.1", Some("a private address")),
            ("172.31.255.255", Some("a private address")),
            ("192.168.1.1", Some("a private address")),
            ("169.254.169.254", Some("a link-local address")),
            ("100.64.0.1", Some("an address shared within a provider")),
            ("100.100.100.200", Some("an address shared within a provider")),
            ("168.63.129.16", Some("an address of the cloud's own services")),
            ("192.0.0.192", Some("an address reserved for protocols")),
            ("192.0.2.1", Some("an address for documentation")),
            ("198.18.0.1", Some("an address for measurements")),
            ("224.0.0.1", Some("a multicast address")),
            ("255.255.255.255", Some("a reserved address")),
            ("::", Some("an address of no host")),
            ("::1", Some("a loopback address")),
            ("2606:4700:4700::1111", None),
            ("::ffff:127.0.0.1", Some("a loopback address")),
            ("::ffff:a9fe:a9fe", Some("a link-local address")),
            ("::ffff:1.1.1.1", None),
            ("::ffff:0:10.0.0.1", Some("a private address")),
            ("::127.0.0.1", Some("a loopback address")),
            ("::7f00:1", Some("a loopback address")),
            ("::2", Some("a reserved address")),
            ("64:ff9b::a9fe:a9fe", Some("a link-local address")),
            ("64:ff9b::1.1.1.1", None),
            ("64:ff9b:1::1.1.1.1", Some("an address translated within a network")),
            ("2002:7f00:1::", Some("a loopback address")),
            ("2002:c0a8:101::1", Some("a private address")),
            ("2002:101:101::1", None),
            ("2001:0:53aa:64c::1", Some("a tunnelled address")),
            ("2001:db8::1", Some("an address for documentation")),
            ("2001:2::1", Some("an address reserved for protocols")),
            ("2001:4860:4860::8888", None),
            ("2a00::5efe:10.0.0.1", Some("a private address")),
            ("2a00::200:5efe:192.168.0.1", Some("a private address")),
            ("2a00::5efe:1.1.1.1", None),
            ("fe80::5efe:1.1.1.1", Some("a link-local address")),
            ("2002:101:101::5efe:10.0.0.1", Some("a private address")),
            ("fc00::1", Some("a private address")),
            ("fd00:ec2::254", Some("a private address")),
            ("fe80::1", Some("a link-local address")),
            ("fec0::1", Some("a site-local address")),
            ("ff02::1", Some("a multicast address")),
            ("100::1", Some("a reserved address")),
            ("4000::1", Some("a reserved address")),
        ];
        for (address, expected) in table {
            assert_eq!(objection(address.parse().unwrap()), expected, "{address}");
        }
    }
}
