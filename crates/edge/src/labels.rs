//! Labels on the wire: from IPv6 flow labels to packets and back.

use perhop_core::flow_label::{Coded, Encoding};
use perhop_core::packet::Packet;

use crate::headers::IpHeaders;
use crate::rewrite::set_flow_label;

/// Packets whose labels were read or written.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabelCounts {
    /// Came with a label.
    pub came: u64,
    /// Came with a flow label that is not a label: they count as having none.
    pub foreign: u64,
    /// Left with a label in their flow label.
    pub left: u64,
    /// Left with another flow label than they came with.
    pub changed: u64,
    /// Of those that left: the label is beyond the codes, and the nearest was written.
    pub saturated: u64,
    /// Left with a label that IPv4 cannot carry.
    pub no_room: u64,
}

/// Carries labels in flow labels, if the policy says so.
#[derive(Clone, Debug)]
pub struct Labels {
    /// How; `None`: it does not.
    pub encoding: Option<Encoding>,
    /// What it did.
    pub counts: LabelCounts,
}

impl Labels {
    pub(crate) fn new(encoding: Option<Encoding>) -> Self {
        Self { encoding, counts: LabelCounts::default() }
    }

    /// A flow label other than 0 is the packet's label.
    #[inline]
    pub(crate) fn read(&mut self, headers: &IpHeaders, packet: &mut Packet) {
        let (Some(encoding), Some(code @ 1..)) = (&self.encoding, headers.flow_label) else { return };
        match encoding.value(code) {
            Some(label) => {
                encoding.set_label(packet, label);
                self.counts.came += 1;
            }
            None => self.counts.foreign += 1,
        }
    }

    /// Writes the label of a packet that stays. If there is none the flow label is left alone.
    #[inline]
    pub(crate) fn write(&mut self, data: &mut [u8], headers: &IpHeaders, packet: &Packet) {
        let Some(encoding) = &self.encoding else { return };
        let Some(label) = encoding.label(packet) else { return };
        let Some(before) = headers.flow_label else {
            self.counts.no_room += 1;
            return;
        };
        let Coded { code, saturated } = encoding.code(label);
        set_flow_label(data, headers, code).expect("IPv6, and a code has 20 bits");
        self.counts.left += 1;
        self.counts.changed += u64::from(code != before);
        self.counts.saturated += u64::from(saturated);
    }
}
