//! The ring of frames that come.

use libc::{TP_STATUS_CSUMNOTREADY, TP_STATUS_KERNEL, TP_STATUS_USER, TP_STATUS_VLAN_TPID_VALID, TP_STATUS_VLAN_VALID};

use crate::io::Frame;
use crate::packet::memory::{Head, Rings, Slot, Way};
use crate::packet::shape::{SLOTS, Shape};

/// Bytes of the two addresses before a VLAN tag, and of the tag.
const ADDRESSES: usize = 12;
const TAG: usize = 4;

/// 802.1Q, where the kernel does not say which.
const TAG_TYPE: u16 = 0x8100;

/// The next slot that the kernel fills.
#[derive(Debug)]
pub(super) struct Receiver {
    next: u32,
    slot: u32,
}

impl Receiver {
    pub(super) fn new(shape: Shape) -> Self {
        Self { next: 0, slot: shape.slot }
    }

    pub(super) fn receive(&mut self, rings: &mut Rings, most: usize, each: &mut impl FnMut(Frame<'_>)) -> usize {
        for came in 0..most {
            let status = rings.status(Way::In, self.next);
            if status & TP_STATUS_USER == 0 {
                return came;
            }
            let behind = (self.next + 1) % SLOTS;
            rings.fetch(Way::In, behind);
            self.hand_over(rings.slot(Way::In, self.next), status, each);
            rings.set_status(Way::In, self.next, TP_STATUS_KERNEL);
            self.next = behind;
        }
        most
    }

    fn hand_over(&self, slot: Slot<'_>, status: u32, each: &mut impl FnMut(Frame<'_>)) {
        let head = slot.head();
        let unfinished = status & TP_STATUS_CSUMNOTREADY != 0;
        let here = (head.here as usize).min((self.slot as usize).saturating_sub(head.start));
        if status & TP_STATUS_VLAN_VALID == 0 {
            return each(Frame { bytes: slot.frame(head.start, here), length: head.length, unfinished });
        }
        let bytes = slot.frame(head.start - TAG, here + TAG);
        put_back(bytes, &head, status);
        each(Frame { bytes, length: head.length + TAG as u32, unfinished });
    }
}

/// Moves the addresses to the front, and writes the tag behind them.
fn put_back(bytes: &mut [u8], head: &Head, status: u32) {
    let known = status & TP_STATUS_VLAN_TPID_VALID != 0;
    let kind = if known { head.tag_type } else { TAG_TYPE };
    bytes.copy_within(TAG..TAG + ADDRESSES, 0);
    bytes[ADDRESSES..][..2].copy_from_slice(&kind.to_be_bytes());
    bytes[ADDRESSES + 2..][..2].copy_from_slice(&head.tag.to_be_bytes());
}
