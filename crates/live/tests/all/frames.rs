//! Frames by hand, true and false.

/// A request of 28 bytes.
pub const ARP: [u8; 28] = [0, 1, 8, 0, 6, 4, 0, 1, 2, 2, 2, 2, 2, 2, 10, 9, 0, 1, 0, 0, 0, 0, 0, 0, 10, 9, 0, 2];

/// What an IP header says, and what it carries.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Total length (IPv4) or payload length (IPv6), if it is not the truth.
    pub stated: Option<u16>,
    pub protocol: u8,
    /// Last byte of the source address.
    pub host: u8,
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// UDP, and true.
    pub const fn of(payload: &'a [u8]) -> Self {
        Self { stated: None, protocol: 17, host: 1, payload }
    }
}

pub fn udp(data: &[u8]) -> Vec<u8> {
    let [high, low] = (data.len() as u16 + 8).to_be_bytes();
    [&[3, 0xe8, 7, 0xd0, high, low, 0, 0][..], data].concat()
}

pub fn ip4(packet: &Packet<'_>) -> Vec<u8> {
    let Packet { stated, protocol, host, payload } = *packet;
    let [high, low] = stated.unwrap_or(payload.len() as u16 + 20).to_be_bytes();
    let mut bytes =
        [&[0x45, 0, high, low, 0, 7, 0, 0, 64, protocol, 0, 0, 10, 9, 0, host, 10, 9, 0, 2], payload].concat();
    checked(&mut bytes[..20]);
    bytes
}

/// Writes the checksum of an IPv4 header without options.
fn checked(header: &mut [u8]) {
    header[10..12].fill(0);
    let sum: u32 = header.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    header[10..12].copy_from_slice(&(!folded as u16).to_be_bytes());
}

pub fn ip6(packet: &Packet<'_>) -> Vec<u8> {
    let Packet { stated, protocol, host, payload } = *packet;
    let [high, low] = stated.unwrap_or(payload.len() as u16).to_be_bytes();
    let address = |last| [&[0xfd][..], &[0; 14], &[last]].concat();
    [&[0x60, 0, 0, 0, high, low, protocol, 64][..], &address(host), &address(2), payload].concat()
}

/// A frame for no host.
pub fn ethernet(kind: u16, rest: &[u8]) -> Vec<u8> {
    [&[0x33; 6][..], &[2; 6], &kind.to_be_bytes(), rest].concat()
}

/// The same with so many VLAN tags.
pub fn tagged(frame: &[u8], tags: usize) -> Vec<u8> {
    [&frame[..12], &[0x81, 0, 0, 5].repeat(tags), &frame[12..]].concat()
}

/// A frame of IPv4 whose packet is a fragment: flags and offset.
pub fn fragment(frame: &[u8], field: u16) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[20..22].copy_from_slice(&field.to_be_bytes());
    checked(&mut frame[14..34]);
    frame
}
