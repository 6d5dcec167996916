//! Made captures of single packets, and the token bucket that meets them.

use perhop_capture::export::{Exporter, SimulatedPacket, SimulatedTransport};
use perhop_core::conditioner::{ConditionerParams, token_bucket};
use perhop_core::units::{BitRate, Bytes};
use perhop_edge::Ports;

use super::marking::packets;

pub(crate) fn bucket(cir: u64, cbs: u64) -> ConditionerParams {
    let params = token_bucket::Params::new(BitRate::bps(cir), Bytes::new(cbs));
    ConditionerParams::TokenBucketMarker(params)
}

/// A made packet of UDP from 10.0.0.`host`, or TCP with these flags.
pub(crate) fn packet(time_ns: u64, host: u8, (ip_length, tcp): (u32, Option<u8>)) -> SimulatedPacket {
    SimulatedPacket {
        time_ns,
        source: [10, 0, 0, host].into(),
        destination: [192, 0, 2, 1].into(),
        ports: Ports { source: 1000, destination: 2000 },
        dscp: 0,
        ecn: 2,
        ip_length,
        transport: tcp.map_or(SimulatedTransport::Udp, |flags| SimulatedTransport::Tcp { seq: 1, ack: 1, flags }),
    }
}

pub(crate) fn made(packets: &[SimulatedPacket]) -> Vec<u8> {
    let mut exporter = Exporter::new(Vec::new()).unwrap();
    packets.iter().for_each(|packet| exporter.write(packet).unwrap());
    exporter.into_inner()
}

pub(crate) fn dscps(bytes: &[u8]) -> Vec<u8> {
    packets(bytes).iter().map(|packet| packet.ip.unwrap().dscp).collect()
}
