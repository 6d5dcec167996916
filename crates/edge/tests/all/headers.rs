//! Hand-written packets, byte for byte, and what must be read from them.

use perhop_core::estimate::Timestamps;
use perhop_edge::{Fragment, IpHeaders, LinkType, Ports, TcpView, Unread, locate};

/// Bytes of a hexadecimal string with spaces.
fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal")).collect()
}

fn read(link: LinkType, text: &str) -> Result<IpHeaders, Unread> {
    let data = hex(text);
    locate(link, &data, data.len() as u32)
}

const MACS: &str = "02 00 00 00 00 01  02 00 00 00 00 02";
/// EF (46) with ECT(0), total length 28, UDP 10.0.0.1:4660 to 10.0.0.2:80.
const UDP4: &str = "45 ba 00 1c 00 01 40 00 40 11 00 00 0a 00 00 01 0a 00 00 02  12 34 00 50 00 08 00 00";
/// AF11 (10) with CE: the traffic class 0x2b lies across the first two bytes. Flow label
/// 0xabcde, payload 8, UDP 2001:db8::1:4660 to ::2:80.
const UDP6: &str = "62 ba bc de 00 08 11 40 20010db8000000000000000000000001 20010db8000000000000000000000002
                    12 34 00 50 00 08 00 00";

fn check_udp4(found: IpHeaders, ip_offset: usize) {
    assert_eq!((found.ip_offset, found.version, found.dscp, found.ecn), (ip_offset, 4, 46, 2));
    assert_eq!((found.lengths.l3, found.protocol, found.fragment, found.tcp), (28, 17, None, None));
    assert_eq!(found.source.to_string(), "10.0.0.1");
    assert_eq!(found.destination.to_string(), "10.0.0.2");
    assert_eq!(found.ports, Some(Ports { source: 4660, destination: 80 }));
}

fn check_udp6(found: IpHeaders, ip_offset: usize) {
    assert_eq!((found.ip_offset, found.version, found.dscp, found.ecn), (ip_offset, 6, 10, 3));
    assert_eq!((found.lengths.l3, found.protocol, found.fragment, found.tcp), (48, 17, None, None));
    assert_eq!(found.source.to_string(), "2001:db8::1");
    assert_eq!(found.destination.to_string(), "2001:db8::2");
    assert_eq!(found.ports, Some(Ports { source: 4660, destination: 80 }));
}

#[test]
fn every_link_type() {
    use LinkType as L;
    let (four, six) = (UDP4, UDP6);
    check_udp4(read(L::ETHERNET, &format!("{MACS} 0800 {four}")).unwrap(), 14);
    check_udp6(read(L::ETHERNET, &format!("{MACS} 86dd {six}")).unwrap(), 14);
    check_udp4(read(L::RAW, four).unwrap(), 0);
    check_udp6(read(L::RAW, six).unwrap(), 0);
    check_udp4(read(L::IPV4, four).unwrap(), 0);
    check_udp6(read(L::IPV6, six).unwrap(), 0);
    check_udp4(read(L::NULL, &format!("02000000 {four}")).unwrap(), 4);
    check_udp4(read(L::NULL, &format!("00000002 {four}")).unwrap(), 4);
    for family in ["0a000000", "18000000", "1c000000", "1e000000", "0000001e"] {
        check_udp6(read(L::NULL, &format!("{family} {six}")).unwrap(), 4);
    }
    check_udp4(read(L::LOOP, &format!("00000002 {four}")).unwrap(), 4);
    let sll = "0000 0001 0006 020000000001 0000";
    check_udp4(read(L::LINUX_SLL, &format!("{sll} 0800 {four}")).unwrap(), 16);
    check_udp6(read(L::LINUX_SLL, &format!("{sll} 86dd {six}")).unwrap(), 16);
    let sll2 = "0000 00000003 0001 00 06 0200000000010000";
    check_udp4(read(L::LINUX_SLL2, &format!("0800 {sll2} {four}")).unwrap(), 20);
    check_udp6(read(L::LINUX_SLL2, &format!("86dd {sll2} {six}")).unwrap(), 20);
}

#[test]
fn stacked_vlan_tags() {
    check_udp4(read(LinkType::ETHERNET, &format!("{MACS} 8100 6064 0800 {UDP4}")).unwrap(), 18);
    check_udp4(read(LinkType::ETHERNET, &format!("{MACS} 88a8 6064 8100 0001 0800 {UDP4}")).unwrap(), 22);
    check_udp4(read(LinkType::ETHERNET, &format!("{MACS} {} 0800 {UDP4}", "9100 0001 ".repeat(8))).unwrap(), 46);
    let nine = read(LinkType::ETHERNET, &format!("{MACS} {} 0800 {UDP4}", "8100 0001 ".repeat(9)));
    assert_eq!(nine, Err(Unread::VlanDepth));
    let sll = "0000 0001 0006 020000000001 0000";
    check_udp4(read(LinkType::LINUX_SLL, &format!("{sll} 8100 0064 0800 {UDP4}")).unwrap(), 20);
    let sll2 = "0000 00000003 0001 00 06 0200000000010000";
    check_udp4(read(LinkType::LINUX_SLL2, &format!("88a8 {sll2} 0064 8100 0001 0800 {UDP4}")).unwrap(), 28);
}

#[test]
fn tcp_with_options_and_padding() {
    // IHL 6, total length 24 + 32 + 5 = 61; TCP data offset 8, flags ECE ACK PSH
    let ip = "46 00 00 3d 00 01 40 00 40 06 00 00 0a000001 0a000002 01010101";
    let tcp = "1234 0050 00000007 00000009 80 58 ffff 0000 0000 0101080a0000000100000002";
    let timestamps = Some(Timestamps { value: 1, echo: 2 });
    let wanted = TcpView { seq: 7, ack: 9, flags: 0x58, header_length: 32, payload: 5, timestamps };
    let found = read(LinkType::RAW, &format!("{ip} {tcp} 0102030405 000000")).unwrap();
    assert_eq!((found.lengths.l3, found.tcp), (61, Some(wanted)), "padding behind the packet does not count");
    // snapped behind the flags: all but the options is known; one byte less: the ports
    let bytes = hex(&format!("{ip} {tcp}"));
    let cut = TcpView { timestamps: None, ..wanted };
    assert_eq!(locate(LinkType::RAW, &bytes[..38], 61).unwrap().tcp, Some(cut));
    assert_eq!(locate(LinkType::RAW, &bytes[..55], 61).unwrap().tcp, Some(cut), "cut within the timestamps");
    assert_eq!(locate(LinkType::RAW, &bytes[..56], 61).unwrap().tcp, Some(wanted));
    let shorter = locate(LinkType::RAW, &bytes[..37], 61).unwrap();
    assert_eq!((shorter.tcp, shorter.ports), (None, Some(Ports { source: 4660, destination: 80 })));
    assert_eq!(locate(LinkType::RAW, &bytes[..27], 61).unwrap().ports, None);
    assert_eq!(locate(LinkType::RAW, &bytes[..23], 61), Err(Unread::Snapped), "options are part of the header");
    // a data offset of 4 words, and a payload that would be negative
    let short = tcp.replace("80 58", "40 58");
    assert_eq!(read(LinkType::RAW, &format!("{ip} {short} 0102030405")).unwrap().tcp, None);
    let long = tcp.replace("80 58", "a0 58");
    assert_eq!(read(LinkType::RAW, &format!("{ip} {long} 0102030405")).unwrap().tcp, None);
}

#[test]
fn an_authentication_header_is_stepped_over() {
    let authentication = "11 04 0000 00000001 00000002 000000000000000000000000";
    let ip = UDP4.replace("45 ba 00 1c", "45 ba 00 34").replace("40 11 00 00", "40 33 00 00");
    let (start, udp) = ip.split_at(ip.len() - 23);
    let found = read(LinkType::RAW, &format!("{start} {authentication} {udp}")).unwrap();
    assert_eq!((found.protocol, found.lengths.l3), (17, 52));
    assert_eq!(found.ports, Some(Ports { source: 4660, destination: 80 }));
}

#[test]
fn ethernet_padding_is_no_transport_header() {
    // total length 20: the UDP ports would lie in the frame's padding
    let ip = UDP4.replace("45 ba 00 1c", "45 ba 00 14");
    assert_eq!(read(LinkType::ETHERNET, &format!("{MACS} 0800 {ip}")).unwrap().ports, None);
}

#[test]
fn length_zero_means_segmentation_offload() {
    let ip = hex(&format!("{MACS} 0800 {}", UDP4.replace("45 ba 00 1c", "45 ba 00 00")));
    assert_eq!(locate(LinkType::ETHERNET, &ip, 14 + 70_000).unwrap().lengths.l3, 70_000);
    assert_eq!(locate(LinkType::ETHERNET, &ip, 3).unwrap().lengths.l3, 28, "a wire length below the captured one");
    let six = hex(&UDP6.replace("00 08 11 40", "00 00 11 40"));
    assert_eq!(locate(LinkType::RAW, &six, 90_000).unwrap().lengths.l3, 90_000);
    // no next header: 0 is the truth, the rest is padding
    let none = hex(&UDP6.replace("00 08 11 40", "00 00 3b 40"));
    assert_eq!(locate(LinkType::RAW, &none[..46], 46).unwrap().lengths.l3, 40);
    assert_eq!(locate(LinkType::RAW, &none, 48).unwrap().lengths.l3, 48, "more than padding");
}

#[test]
fn ipv4_fragments() {
    let fragment = |flags: &str| UDP4.replace("00 01 40 00", &format!("be ef {flags}"));
    let first = read(LinkType::RAW, &fragment("20 00")).unwrap();
    assert_eq!(first.fragment, Some(Fragment { id: 0xbeef, first: true, tiny: false }));
    assert!(first.ports.is_some());
    for (flags, what) in [("20 b9", "a middle one"), ("00 b9", "the last one")] {
        let later = read(LinkType::RAW, &fragment(flags)).unwrap();
        assert_eq!(later.fragment, Some(Fragment { id: 0xbeef, first: false, tiny: false }), "{what}");
        assert_eq!(later.ports, None, "{what}");
    }
    // an authentication header is in the first fragment only
    let later = fragment("20 b9").replace("40 11 00 00", "40 33 00 00");
    assert_eq!(read(LinkType::RAW, &later).unwrap().protocol, 51);
}

#[test]
fn ipv6_extension_headers() {
    let start = "60 00 00 00 00 28 00 40 20010db8000000000000000000000001 20010db8000000000000000000000002";
    let tcp = "1234 0050 00000007 00000009 50 10 ffff 0000 0000";
    let ports = Some(Ports { source: 4660, destination: 80 });
    // hop-by-hop (8 bytes), destination options (8), routing (24), authentication (24), TCP
    let chain = "3c 00 01 04 00000000  2b 00 01 04 00000000  33 02 00 00 00000000 00000000000000000000000000000000
                 06 04 0000 00000001 00000002 000000000000000000000000";
    let length = "00 54"; // 64 bytes of extensions and 20 of TCP
    let packet = format!("{} {chain} {tcp}", start.replace("00 28", length));
    let found = read(LinkType::RAW, &packet).unwrap();
    assert_eq!((found.protocol, found.ports, found.lengths.l3), (6, ports, 124));
    assert_eq!(
        found.tcp,
        Some(TcpView { seq: 7, ack: 9, flags: 0x10, header_length: 20, payload: 0, timestamps: None })
    );
    // hop-by-hop options behind destination options: read on, as Linux does
    let behind = packet.replace("00 54 00 40", "00 54 3c 40").replace("3c 00 01 04", "00 00 01 04");
    let found = read(LinkType::RAW, &behind).unwrap();
    assert_eq!((found.protocol, found.ports, found.tcp.is_some()), (6, ports, true));
    // cut inside the routing header: still IP, transport unknown
    let bytes = hex(&packet);
    let cut = locate(LinkType::RAW, &bytes[..40 + 8 + 8 + 3], 124).unwrap();
    assert_eq!((cut.protocol, cut.ports, cut.tcp), (43, None, None));
}

#[test]
fn ipv6_fragments() {
    let start = "60 00 00 00 00 1c 2c 40 20010db8000000000000000000000001 20010db8000000000000000000000002";
    let tcp = "1234 0050 00000007 00000009 50 10 ffff 0000 0000";
    let with = |fragment: &str| read(LinkType::RAW, &format!("{start} {fragment} {tcp}")).unwrap();
    let first = with("06 00 00 01 deadbeef");
    assert_eq!((first.fragment, first.protocol), (Some(Fragment { id: 0xdead_beef, first: true, tiny: false }), 6));
    assert!(first.ports.is_some() && first.tcp.is_some());
    let later = with("06 00 00 08 deadbeef");
    assert_eq!((later.fragment, later.ports), (Some(Fragment { id: 0xdead_beef, first: false, tiny: true }), None));
    let options = with("3c 00 00 10 deadbeef");
    assert_eq!((options.protocol, options.ports), (60, None), "what a later fragment carries is no header");
    let both = with("2c 00 00 00 00000001  06 00 00 08 deadbeef");
    assert_eq!(both.fragment, later.fragment, "the fragment header that fragments");
    let twice = with("2c 00 00 01 00000001  06 00 00 01 deadbeef");
    assert_eq!((twice.fragment, twice.ports), (Some(Fragment { id: 1, first: true, tiny: true }), None));
    assert_eq!(with("06 00 00 00 deadbeef").fragment, None, "an atomic fragment is a whole packet (RFC 6946)");
}

#[test]
fn protocols_with_and_without_ports() {
    for (protocol, with) in [(1, false), (47, false), (50, false), (33, true), (132, true), (136, true)] {
        let ip = UDP4.replace("40 11 00 00", &format!("40 {protocol:02x} 00 00"));
        let found = read(LinkType::RAW, &ip).unwrap();
        assert_eq!((found.protocol, found.ports.is_some()), (protocol, with));
    }
}

#[test]
fn what_cannot_be_read_has_a_reason() {
    let reason = |link, text: &str| read(link, text).unwrap_err();
    let ethernet = |text: &str| reason(LinkType::ETHERNET, &format!("{MACS} {text}"));
    assert_eq!(ethernet("0806 0001"), Unread::EtherType(0x0806));
    assert_eq!(ethernet("0806 0001").to_string(), "ARP");
    assert_eq!(ethernet("8847 00010140 45"), Unread::EtherType(0x8847));
    assert_eq!(ethernet("0026 424203"), Unread::Llc);
    assert_eq!(ethernet(""), Unread::Snapped);
    assert_eq!(ethernet("0800"), Unread::Snapped);
    assert_eq!(ethernet("8100 0001 08"), Unread::Snapped);
    assert_eq!(ethernet("0800 45 00 00 14 00 00 00 00 40 11 00 00 0a 00 00 01 0a 00 00"), Unread::Snapped);
    assert_eq!(ethernet(&format!("86dd {UDP4}")), Unread::Version(4));
    assert_eq!(reason(LinkType::RAW, "55"), Unread::Version(5));
    assert_eq!(reason(LinkType::IPV6, UDP4), Unread::Version(4));
    assert_eq!(reason(LinkType::RAW, ""), Unread::Snapped);
    assert_eq!(locate(LinkType::RAW, &hex(UDP6)[..39], 48), Err(Unread::Snapped));
    assert_eq!(reason(LinkType::RAW, &UDP4.replacen("45", "44", 1)), Unread::Malformed);
    assert_eq!(reason(LinkType::RAW, &UDP4.replacen("00 1c", "00 13", 1)), Unread::Malformed);
    assert_eq!(reason(LinkType::NULL, "07000000 45"), Unread::AddressFamily(7));
    assert_eq!(reason(LinkType::NULL, "0200"), Unread::Snapped);
    assert_eq!(reason(LinkType(147), UDP4), Unread::LinkType(147));
    assert_eq!(
        reason(LinkType::LINUX_SLL, &format!("0000 0338 0000 0000000000000000 0800 {UDP4}")),
        Unread::Hardware(824)
    );
}
