//! Set the DSCP of a captured packet in place (RFC 2474), its ECN bits untouched (RFC 3168); and its IPv6 flow label.

use perhop_core::flow_label;
use thiserror::Error;

use crate::headers::IpHeaders;

/// A code point that does not fit into six bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "DSCP {0} is not within 0 to 63; a whole TOS octet such as 0xb8 holds the code point in its upper six bits (0xb8 is 46, EF)"
)]
pub struct DscpOutOfRange(pub u8);

/// Why a flow label could not be set. No byte was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FlowLabelError {
    /// More than 20 bits.
    #[error("flow label {0:#x} is not within 0 to 0xfffff: IPv6 has 20 bits for it; use a narrower code")]
    OutOfRange(u32),
    /// An IPv4 packet.
    #[error("an IPv4 packet has no flow label: labels can be carried in IPv6 only")]
    Ipv4,
}

/// Write `dscp` into the IP header that `headers` found in the captured bytes `data`.
///
/// If it is already there no byte changes. Otherwise exactly these do: in IPv4 the second byte and the two of the
/// checksum, in IPv6 the first two. The checksum is updated, not recomputed (RFC 1624, equation 3): one
/// that was right stays right, one that was wrong or left to the network card (0 in captures taken on the sender) stays wrong by
/// the same amount, so a capture's faults are neither hidden nor added to.
#[inline]
pub fn set_dscp(data: &mut [u8], headers: &IpHeaders, dscp: u8) -> Result<(), DscpOutOfRange> {
    if dscp > 63 {
        return Err(DscpOutOfRange(dscp));
    }
    if dscp != headers.dscp {
        set_tos(data, headers, |tos| dscp << 2 | tos & 0b11);
    }
    Ok(())
}

/// Mark the packet CE, its DSCP untouched: for a conditioner's verdict "mark" on an ECN-capable packet. The
/// checksum is updated as in [`set_dscp`].
#[inline]
pub fn set_ce(data: &mut [u8], headers: &IpHeaders) {
    if headers.ecn != 0b11 {
        set_tos(data, headers, |tos| tos | 0b11);
    }
}

/// Write `label` into the flow label of an IPv6 header (RFC 8200 section 3). Nothing else changes: IPv6 has no header
/// checksum, and those of TCP and UDP do not cover the flow label (RFC 8200 section 8.1).
///
/// # Errors
/// A label above 20 bits, or an IPv4 packet.
pub fn set_flow_label(data: &mut [u8], headers: &IpHeaders, label: u32) -> Result<(), FlowLabelError> {
    if label > flow_label::MAX {
        return Err(FlowLabelError::OutOfRange(label));
    }
    if headers.flow_label.is_none() {
        return Err(FlowLabelError::Ipv4);
    }
    let [_, upper, middle, lower] = label.to_be_bytes();
    let ip = &mut data[headers.ip_offset..];
    ip[1] = ip[1] & 0xf0 | upper;
    ip[2..4].copy_from_slice(&[middle, lower]);
    Ok(())
}

/// Change the TOS octet or traffic class in the packet.
fn set_tos(data: &mut [u8], headers: &IpHeaders, change: impl Fn(u8) -> u8) {
    let ip = &mut data[headers.ip_offset..];
    match headers.version {
        4 => set_ipv4(ip, change(ip[1])),
        _ => set_ipv6(ip, change(ip[0] << 4 | ip[1] >> 4)),
    }
}

fn set_ipv4(ip: &mut [u8], tos: u8) {
    let old = u16::from_be_bytes([ip[0], ip[1]]);
    ip[1] = tos;
    let new = u16::from_be_bytes([ip[0], ip[1]]);
    let checksum = u16::from_be_bytes([ip[10], ip[11]]);
    ip[10..12].copy_from_slice(&updated_checksum(checksum, old, new).to_be_bytes());
}

/// The traffic class lies across the first two bytes: version 4 bits, traffic class 8, flow label 20.
fn set_ipv6(ip: &mut [u8], tos: u8) {
    ip[0] = ip[0] & 0xf0 | tos >> 4;
    ip[1] = tos << 4 | ip[1] & 0x0f;
}

/// RFC 1624 equation 3: HC' = ~(~HC + ~m + m') in one's complement, m the old and m' the new 16-bit word.
///
/// The sum in the brackets is 0 only if all three terms are, and m' holds the version field: so the result is never 0xffff, the
/// form of zero that a full computation never gives and that equation 2 of the same RFC could leave behind.
fn updated_checksum(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use etherparse::{IpDscp, IpEcn, Ipv4Header};
    use proptest::prelude::*;

    use super::*;
    use crate::headers::locate;
    use crate::link::LinkType;

    /// RFC 1624 section 4: HC = 0xdd2f, m = 0x5555, m' = 0x3285 gives 0x0000, where equation 2 gives 0xffff.
    #[test]
    fn rfc_1624_example() {
        assert_eq!(updated_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn a_code_point_has_six_bits() {
        let mut ip = Ipv4Header::new(0, 64, etherparse::IpNumber(17), [10, 0, 0, 1], [10, 0, 0, 2]).unwrap().to_bytes();
        let headers = locate(LinkType::RAW, &ip, 20).unwrap();
        let error = set_dscp(&mut ip, &headers, 0xb8).unwrap_err().to_string();
        assert!(error.contains("DSCP 184 is not within 0 to 63"), "{error}");
    }

    #[test]
    fn a_flow_label_has_twenty_bits_and_ipv4_none() {
        let mut six = [0x60, 0, 0, 0, 0, 0, 59, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0].repeat(2);
        let headers = locate(LinkType::RAW, &six, 40).unwrap();
        let error = set_flow_label(&mut six, &headers, 0x10_0000).unwrap_err();
        assert!(error.to_string().starts_with("flow label 0x100000 is not within 0 to 0xfffff"), "{error}");
        set_flow_label(&mut six, &headers, 0xf_ffff).unwrap();
        assert_eq!(six[..5], [0x60, 0x0f, 0xff, 0xff, 0]);
        let mut four =
            Ipv4Header::new(0, 64, etherparse::IpNumber(17), [10, 0, 0, 1], [10, 0, 0, 2]).unwrap().to_bytes();
        let before = four.clone();
        let headers = locate(LinkType::RAW, &four, 20).unwrap();
        assert_eq!(set_flow_label(&mut four, &headers, 1), Err(FlowLabelError::Ipv4));
        assert_eq!(four, before);
    }

    fn ipv4() -> impl Strategy<Value = Ipv4Header> {
        (any::<[u8; 4]>(), any::<[u8; 4]>(), any::<u16>(), any::<u8>(), any::<u8>(), 0u8..64, 0u8..4).prop_map(
            |(source, destination, id, ttl, protocol, dscp, ecn)| {
                let mut header = Ipv4Header::new(0, ttl, etherparse::IpNumber(protocol), source, destination).unwrap();
                header.identification = id;
                header.dscp = IpDscp::try_new(dscp).unwrap();
                header.ecn = IpEcn::try_new(ecn).unwrap();
                header.header_checksum = header.calc_header_checksum();
                header
            },
        )
    }

    /// One's complement sum of a header, as a residue: 0 when the checksum is right.
    fn residue(header: &[u8]) -> u32 {
        header.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum::<u32>() % 0xffff
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn equals_a_full_recomputation(mut header in ipv4(), dscp in 0u8..64) {
            let mut ip = header.to_bytes();
            let headers = locate(LinkType::RAW, &ip, 20).unwrap();
            set_dscp(&mut ip, &headers, dscp).unwrap();
            header.dscp = IpDscp::try_new(dscp).unwrap();
            header.header_checksum = header.calc_header_checksum();
            prop_assert_eq!(&ip[..], &header.to_bytes()[..]);
        }

        /// The corners: choose the identification so that the checksum before or after is
        /// 0, next to it, or such that both carries count.
        #[test]
        fn equals_a_full_recomputation_in_the_corners(
            mut header in ipv4(),
            dscp in 0u8..64,
            after in any::<bool>(),
            corner in prop::sample::select(vec![0x0000u16, 0x0001, 0xfffe, 0xfffd, 0xfffc]),
        ) {
            let old = header.dscp;
            let new = IpDscp::try_new(dscp).unwrap();
            header.dscp = if after { new } else { old };
            header.identification = 0;
            let id = u32::from(!corner) + u32::from(header.calc_header_checksum());
            header.identification = ((id & 0xffff) + (id >> 16)) as u16;
            prop_assert_eq!(header.calc_header_checksum(), corner);
            header.dscp = old;
            header.header_checksum = header.calc_header_checksum();
            let mut ip = header.to_bytes();
            let headers = locate(LinkType::RAW, &ip, 20).unwrap();
            set_dscp(&mut ip, &headers, dscp).unwrap();
            header.dscp = new;
            header.header_checksum = header.calc_header_checksum();
            prop_assert_eq!(&ip[..], &header.to_bytes()[..]);
        }

        /// Not even a checksum of 0xffff, which equation 3 would turn into 0.
        #[test]
        fn the_same_dscp_changes_no_byte(mut header in ipv4(), wrong in prop_oneof![Just(0xffffu16), any::<u16>()]) {
            header.header_checksum = wrong;
            let mut ip = header.to_bytes();
            let headers = locate(LinkType::RAW, &ip, 20).unwrap();
            set_dscp(&mut ip, &headers, header.dscp.value()).unwrap();
            prop_assert_eq!(&ip[..], &header.to_bytes()[..]);
        }

        #[test]
        fn a_wrong_checksum_stays_as_wrong(mut header in ipv4(), wrong in any::<u16>(), dscp in 0u8..64) {
            header.header_checksum = wrong;
            let mut ip = header.to_bytes();
            let before = residue(&ip);
            let headers = locate(LinkType::RAW, &ip, 20).unwrap();
            set_dscp(&mut ip, &headers, dscp).unwrap();
            prop_assert_eq!(residue(&ip), before);
            prop_assert_eq!(ip[1], dscp << 2 | header.ecn.value());
        }

        /// CE and a code point, in either order, are a full recomputation with both.
        #[test]
        fn ce_keeps_the_dscp(mut header in ipv4(), dscp in 0u8..64, ce_first in any::<bool>()) {
            let mut ip = header.to_bytes();
            let headers = locate(LinkType::RAW, &ip, 20).unwrap();
            if ce_first {
                set_ce(&mut ip, &headers);
            }
            set_dscp(&mut ip, &headers, dscp).unwrap();
            if !ce_first {
                set_ce(&mut ip, &headers);
            }
            header.dscp = IpDscp::try_new(dscp).unwrap();
            header.ecn = IpEcn::try_new(3).unwrap();
            header.header_checksum = header.calc_header_checksum();
            prop_assert_eq!(&ip[..], &header.to_bytes()[..]);
        }

        #[test]
        fn ce_in_ipv6(start in any::<[u8; 4]>()) {
            let mut ip = [0u8; 40];
            ip[..4].copy_from_slice(&start);
            ip[0] = 0x60 | start[0] & 0x0f;
            ip[6] = 59;
            let headers = locate(LinkType::RAW, &ip, 40).unwrap();
            let before = ip;
            set_ce(&mut ip, &headers);
            let now = locate(LinkType::RAW, &ip, 40).unwrap();
            prop_assert_eq!((now.dscp, now.ecn, ip[0]), (headers.dscp, 3, before[0]));
            prop_assert_eq!(ip[1], before[1] | 0x30);
            prop_assert_eq!(&ip[2..], &before[2..]);
        }

        /// A label, a code point and CE, in any order, do not disturb each other.
        #[test]
        fn a_flow_label_keeps_the_rest(
            start in any::<[u8; 4]>(),
            label in 0..=flow_label::MAX,
            dscp in 0u8..64,
            order in Just([0, 1, 2]).prop_shuffle(),
        ) {
            let mut ip = [0u8; 44];
            ip[..4].copy_from_slice(&start);
            ip[0] = 0x60 | start[0] & 0x0f;
            ip[6] = 59;
            let before = ip;
            let headers = locate(LinkType::RAW, &ip, 40).unwrap();
            for step in order {
                match step {
                    0 => set_flow_label(&mut ip, &headers, label).unwrap(),
                    1 => set_dscp(&mut ip, &headers, dscp).unwrap(),
                    _ => set_ce(&mut ip, &headers),
                }
            }
            let now = locate(LinkType::RAW, &ip, 40).unwrap();
            prop_assert_eq!((now.flow_label, now.dscp, now.ecn, now.version), (Some(label), dscp, 3, 6));
            prop_assert_eq!(&ip[4..], &before[4..]);
        }

        #[test]
        fn ipv6_keeps_ecn_and_flow_label(start in any::<[u8; 4]>(), dscp in 0u8..64) {
            let mut ip = [0u8; 40];
            ip[..4].copy_from_slice(&start);
            ip[0] = 0x60 | start[0] & 0x0f;
            ip[6] = 59;
            let before = ip;
            let headers = locate(LinkType::RAW, &ip, 40).unwrap();
            set_dscp(&mut ip, &headers, dscp).unwrap();
            let now = locate(LinkType::RAW, &ip, 40).unwrap();
            prop_assert_eq!((now.dscp, now.ecn, now.version), (dscp, headers.ecn, 6));
            prop_assert_eq!(ip[1] & 0x3f, before[1] & 0x3f);
            prop_assert_eq!(&ip[2..], &before[2..]);
        }
    }
}
