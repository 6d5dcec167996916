//! What the simulator sees, as a capture: nanosecond pcap of raw IPv4, headers only.
//!
//! Payload bytes do not exist in the simulator. A packet is written as if its payload were all zeros and the capture
//! had been snapped behind the transport header: the original length is the IP length, and the IPv4, TCP and UDP checksums
//! are right for such a packet. TCP's options are not written: what a header has beyond 40 B, SACK blocks among it, looks
//! like payload.

use std::borrow::Cow;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use etherparse::checksum::Sum16BitWords;
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpHeaderSlice, UdpHeader};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use perhop_core::classify::FlowHeaders;
use perhop_core::packet::{Packet, flags};
use perhop_core::units::Time;
use perhop_edge::{Ports, TCP_FLAGS};
use thiserror::Error;

/// Captured bytes of a TCP packet: an IPv4 and a TCP header without options.
pub const TCP_SNAP: u32 = 40;
/// Captured bytes of a UDP packet.
pub const UDP_SNAP: u32 = 28;

const IP_HEADER: usize = 20;
const TCP: u8 = 6;
const TTL: u8 = 64;
const WINDOW: u16 = u16::MAX;

/// A packet as it passed a link of the simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimulatedPacket {
    /// Time in ns since 1970; the simulator's own time starts at 0 there.
    pub time_ns: u64,
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Transport ports.
    pub ports: Ports,
    /// Code point, 0 to 63.
    pub dscp: u8,
    /// ECN bits, 0 to 3.
    pub ecn: u8,
    /// Bytes of the IP packet, header included: 28 (UDP) or 40 (TCP) to 65535.
    pub ip_length: u32,
    /// The transport header.
    pub transport: SimulatedTransport,
}

/// The transport header of a simulated packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulatedTransport {
    /// UDP.
    Udp,
    /// TCP without options; the payload is what the IP length leaves.
    Tcp {
        /// Sequence number.
        seq: u32,
        /// Acknowledgement number.
        ack: u32,
        /// CWR ECE URG ACK PSH RST SYN FIN from bit 7 down to bit 0.
        flags: u8,
    },
}

impl SimulatedPacket {
    /// A packet of the simulator at time `at`, `wire` bytes of IP long, of a flow with these `headers` (for return
    /// packets, [`FlowHeaders::reversed`]). Protocols other than TCP are written as UDP.
    ///
    /// # Errors
    /// `None` when the flow has IPv6 addresses, which the simulator does not give.
    pub fn new(at: Time, wire: u32, packet: &Packet, headers: &FlowHeaders) -> Option<Self> {
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (headers.source, headers.destination) else { return None };
        let transport = match headers.protocol {
            TCP => SimulatedTransport::Tcp { seq: first_byte(packet), ack: packet.ack, flags: tcp_flags(packet.flags) },
            _ => SimulatedTransport::Udp,
        };
        Some(Self {
            time_ns: at.ns(),
            source,
            destination,
            ports: Ports { source: headers.source_port, destination: headers.destination_port },
            dscp: packet.dscp.get(),
            ecn: packet.ecn as u8,
            ip_length: wire,
            transport,
        })
    }
}

fn tcp_flags(seen: u8) -> u8 {
    TCP_FLAGS.iter().filter(|(flag, _)| seen & flag != 0).fold(0, |all, (_, bit)| all | bit)
}

/// Sequence number of the first byte: SYN and FIN take a number each, in addition to the payload.
fn first_byte(packet: &Packet) -> u32 {
    let controls = (packet.flags & (flags::SYN | flags::FIN)).count_ones();
    packet.seq_end.wrapping_sub(u32::from(packet.payload)).wrapping_sub(controls)
}

/// Why a simulated packet could not be written.
#[derive(Debug, Error)]
pub enum ExportError {
    /// A field that does not fit into its header.
    #[error("packet {index}: {field} is {value}, allowed are {least} to {most}")]
    Range {
        /// Number of the packet, from 0.
        index: u64,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// Smallest value that fits.
        least: u64,
        /// Largest value that fits.
        most: u64,
    },
    /// The system failed while writing.
    #[error("cannot write the capture: {0}")]
    Write(std::io::Error),
}

/// Writes simulated packets to a pcap.
#[derive(Debug)]
pub struct Exporter<W: Write> {
    writer: PcapWriter<W>,
    packets: u64,
}

impl<W: Write> Exporter<W> {
    /// Write the file header: nanoseconds, `LINKTYPE_RAW`, snap length 40, little-endian on every machine.
    pub fn new(output: W) -> Result<Self, ExportError> {
        let header = PcapHeader {
            snaplen: TCP_SNAP,
            datalink: DataLink::RAW,
            ts_resolution: TsResolution::NanoSecond,
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        Ok(Exporter { writer: PcapWriter::with_header(output, header).map_err(write_failed)?, packets: 0 })
    }

    /// Write one packet. Errors: a field out of range (time from 2106 on, length, DSCP, ECN), the output failing.
    pub fn write(&mut self, packet: &SimulatedPacket) -> Result<(), ExportError> {
        self.check(packet)?;
        let mut bytes = [0; TCP_SNAP as usize];
        bytes[..IP_HEADER].copy_from_slice(&ip_header(packet));
        let snap = match packet.transport {
            SimulatedTransport::Udp => write_udp(&mut bytes, packet),
            SimulatedTransport::Tcp { .. } => write_tcp(&mut bytes, packet),
        };
        let data = Cow::Borrowed(&bytes[..snap as usize]);
        let record = PcapPacket { timestamp: Duration::from_nanos(packet.time_ns), orig_len: packet.ip_length, data };
        self.writer.write_packet(&record).map_err(write_failed)?;
        self.packets += 1;
        Ok(())
    }

    /// The output, for flushing or renaming.
    pub fn into_inner(self) -> W {
        self.writer.into_writer()
    }

    fn check(&self, packet: &SimulatedPacket) -> Result<(), ExportError> {
        let least = match packet.transport {
            SimulatedTransport::Udp => UDP_SNAP,
            SimulatedTransport::Tcp { .. } => TCP_SNAP,
        };
        let seconds = packet.time_ns / 1_000_000_000;
        let fields = [
            ("IP length in bytes", u64::from(packet.ip_length), u64::from(least), u64::from(u16::MAX)),
            ("DSCP", u64::from(packet.dscp), 0, 63),
            ("ECN field", u64::from(packet.ecn), 0, 3),
            ("time in seconds", seconds, 0, u64::from(u32::MAX)),
        ];
        match fields.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value)) {
            Some((field, value, least, most)) => {
                Err(ExportError::Range { index: self.packets, field, value, least, most })
            }
            None => Ok(()),
        }
    }
}

fn protocol(packet: &SimulatedPacket) -> IpNumber {
    match packet.transport {
        SimulatedTransport::Udp => IpNumber::UDP,
        SimulatedTransport::Tcp { .. } => IpNumber::TCP,
    }
}

fn ip_header(packet: &SimulatedPacket) -> [u8; IP_HEADER] {
    let mut header = Ipv4Header {
        total_len: packet.ip_length as u16,
        dscp: IpDscp::try_new(packet.dscp).expect("checked"),
        ecn: IpEcn::try_new(packet.ecn).expect("checked"),
        dont_fragment: true,
        time_to_live: TTL,
        protocol: protocol(packet),
        source: packet.source.octets(),
        destination: packet.destination.octets(),
        ..Ipv4Header::default()
    };
    header.header_checksum = header.calc_header_checksum();
    *header.to_bytes().first_chunk().expect("20 bytes without options")
}

fn write_udp(bytes: &mut [u8], packet: &SimulatedPacket) -> u32 {
    let length = (packet.ip_length as usize - IP_HEADER) as u16;
    let Ports { source, destination } = packet.ports;
    let mut header = UdpHeader { source_port: source, destination_port: destination, length, checksum: 0 };
    header.checksum = pseudo_sum(packet).add_slice(&header.to_bytes()).to_ones_complement_with_no_zero().to_be();
    bytes[IP_HEADER..UDP_SNAP as usize].copy_from_slice(&header.to_bytes());
    UDP_SNAP
}

fn write_tcp(bytes: &mut [u8], packet: &SimulatedPacket) -> u32 {
    let SimulatedTransport::Tcp { seq, ack, flags } = packet.transport else { unreachable!("the caller saw TCP") };
    let mut plain = TcpHeader::new(packet.ports.source, packet.ports.destination, seq, WINDOW);
    plain.acknowledgment_number = ack;
    let mut header: [u8; 20] = *plain.to_bytes().first_chunk().expect("20 bytes without options");
    header[13] = flags;
    let checksum = pseudo_sum(packet).add_slice(&header).ones_complement().to_be();
    header[16..18].copy_from_slice(&checksum.to_be_bytes());
    bytes[IP_HEADER..].copy_from_slice(&header);
    debug_assert!(TcpHeaderSlice::from_slice(&bytes[IP_HEADER..]).is_ok());
    TCP_SNAP
}

/// The pseudo header of RFC 9293 section 3.1; the payload's zeros add nothing.
fn pseudo_sum(packet: &SimulatedPacket) -> Sum16BitWords {
    let length = (packet.ip_length as usize - IP_HEADER) as u16;
    Sum16BitWords::new()
        .add_4bytes(packet.source.octets())
        .add_4bytes(packet.destination.octets())
        .add_2bytes([0, protocol(packet).0])
        .add_2bytes(length.to_be_bytes())
}

fn write_failed(error: PcapError) -> ExportError {
    match error {
        PcapError::IoError(cause) => ExportError::Write(cause),
        other => ExportError::Write(std::io::Error::other(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Capture;
    use perhop_edge::locate;

    fn packet(ip_length: u32, transport: SimulatedTransport) -> SimulatedPacket {
        SimulatedPacket {
            time_ns: 3_000_000_007,
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(10, 9, 8, 7),
            ports: Ports { source: 1000, destination: 2000 },
            dscp: 46,
            ecn: 2,
            ip_length,
            transport,
        }
    }

    fn exported(packets: &[SimulatedPacket]) -> Vec<u8> {
        let mut exporter = Exporter::new(Vec::new()).unwrap();
        packets.iter().for_each(|packet| exporter.write(packet).unwrap());
        exporter.into_inner()
    }

    #[test]
    fn reads_back_as_it_was() {
        let tcp = packet(1500, SimulatedTransport::Tcp { seq: 7, ack: 9, flags: 0x18 });
        let udp = packet(1028, SimulatedTransport::Udp);
        let file = exported(&[tcp, udp]);
        let mut capture = Capture::new(&file[..]).unwrap();
        let mut found = Vec::new();
        while let Some(mut chunk) = capture.next_chunk().unwrap() {
            if let Some(record) = chunk.record() {
                assert_eq!(record.time_ns, Some(3_000_000_007));
                found.push((
                    record.original,
                    record.data.len(),
                    locate(record.link, record.data, record.original).unwrap(),
                ));
            }
        }
        let [(1500, 40, first), (1028, 28, second)] = found[..] else { panic!("{found:?}") };
        let view = first.tcp.unwrap();
        assert_eq!((view.seq, view.ack, view.flags, view.payload), (7, 9, 0x18, 1460));
        assert_eq!((first.dscp, first.ecn, first.lengths.l3, first.ports), (46, 2, 1500, Some(tcp.ports)));
        assert_eq!((second.protocol, second.ports, second.tcp), (17, Some(udp.ports), None));
    }

    /// etherparse computes the checksums from whole packets, payload zeros and all.
    #[test]
    fn checksums_are_those_of_a_payload_of_zeros() {
        for transport in [SimulatedTransport::Udp, SimulatedTransport::Tcp { seq: 1, ack: 2, flags: 0x10 }] {
            for ip_length in [40, 41, 576, 1500, 65535] {
                let file = exported(&[packet(ip_length, transport)]);
                let mut whole = file[40..].to_vec();
                whole.resize(ip_length as usize, 0);
                let sliced = etherparse::SlicedPacket::from_ip(&whole).unwrap();
                let Some(etherparse::NetSlice::Ipv4(ip)) = sliced.net else { panic!("no IPv4") };
                let header = ip.header().to_header();
                assert_eq!(header.calc_header_checksum(), header.header_checksum);
                assert!(header.dont_fragment && header.time_to_live == 64);
                match sliced.transport.unwrap() {
                    etherparse::TransportSlice::Udp(udp) => {
                        let full = udp.to_header().calc_checksum_ipv4(&header, udp.payload()).unwrap();
                        assert_eq!(udp.checksum(), full);
                    }
                    etherparse::TransportSlice::Tcp(tcp) => {
                        let full = tcp.to_header().calc_checksum_ipv4(&header, tcp.payload()).unwrap();
                        assert_eq!(tcp.checksum(), full);
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    #[test]
    fn fields_out_of_range_are_named() {
        let mut exporter = Exporter::new(Vec::new()).unwrap();
        let mut refuse = |packet: SimulatedPacket| exporter.write(&packet).unwrap_err().to_string();
        let udp = packet(100, SimulatedTransport::Udp);
        let length = refuse(SimulatedPacket { ip_length: 65_536, ..udp });
        assert_eq!(length, "packet 0: IP length in bytes is 65536, allowed are 28 to 65535");
        assert!(refuse(SimulatedPacket { ip_length: 27, ..udp }).contains("is 27"));
        assert!(refuse(SimulatedPacket { dscp: 64, ..udp }).contains("DSCP is 64"));
        assert!(refuse(SimulatedPacket { ecn: 4, ..udp }).contains("ECN field is 4"));
        assert!(refuse(SimulatedPacket { time_ns: u64::MAX, ..udp }).contains("time in seconds is 18446744073"));
        assert!(exporter.write(&udp).is_ok());
    }
}
