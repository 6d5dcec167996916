//! The ring of frames that go.
//!
//! The kernel takes slots in their order. One that it can send later, as when its queue is full, stays
//! requested, and it begins there again with the next call. One that it refuses stays where it is as well; the frames behind
//! it move up, so that it is lost and they are not. While the interface is down all are lost, as with any sender.

use libc::{TP_STATUS_AVAILABLE, TP_STATUS_SEND_REQUEST, TP_STATUS_SENDING, TP_STATUS_WRONG_FORMAT, TPACKET2_HDRLEN};
use std::io;
use std::os::fd::RawFd;
use std::ptr::null;

use crate::io::{Offer, Sent};
use crate::packet::memory::{Rings, Way};
use crate::packet::shape::{SLOTS, Shape};

/// Where the kernel expects a frame in its slot.
const START: usize = TPACKET2_HDRLEN - size_of::<libc::sockaddr_ll>();

const ETHERNET_HEADER: usize = 14;
const TAG: usize = 4;

/// Tags that a frame may have in addition to its MTU.
const TAG_TYPES: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];

/// Errors of an interface that is down or gone.
const DOWN: [Option<i32>; 3] = [Some(libc::ENETDOWN), Some(libc::ENXIO), Some(libc::ENODEV)];

/// Slots from `oldest` to `next` hold frames that the kernel has not taken yet.
#[derive(Debug)]
pub(super) struct Transmitter {
    next: u32,
    oldest: u32,
    /// The longest frame without a tag.
    longest: usize,
    slot: usize,
}

impl Transmitter {
    pub(super) fn new(shape: Shape, mtu: u32) -> Self {
        Self { next: 0, oldest: 0, longest: mtu as usize + ETHERNET_HEADER, slot: shape.slot as usize }
    }

    pub(super) fn offer(&mut self, rings: &mut Rings, bytes: &[u8]) -> Offer {
        if bytes.len() > self.longest && !self.fits_tagged(bytes) {
            return Offer::TooLong;
        }
        let after = (self.next + 1) % SLOTS;
        if after == self.oldest || rings.status(Way::Out, self.next) != TP_STATUS_AVAILABLE {
            return Offer::Full;
        }
        rings.slot(Way::Out, self.next).write(START, bytes);
        rings.set_status(Way::Out, self.next, TP_STATUS_SEND_REQUEST);
        self.next = after;
        rings.fetch(Way::Out, after);
        Offer::Taken
    }

    fn fits_tagged(&self, bytes: &[u8]) -> bool {
        let is_tagged = bytes.get(12..14).is_some_and(|it| TAG_TYPES.iter().any(|tag| it == tag));
        is_tagged && bytes.len() <= (self.longest + TAG).min(self.slot - START)
    }

    pub(super) fn flush(&mut self, rings: &mut Rings, fd: RawFd) -> Sent {
        let mut sent = Sent::default();
        while self.oldest != self.next {
            // SAFETY: no pointers; the frames are in the ring.
            let failed = unsafe { libc::sendto(fd, null(), 0, libc::MSG_DONTWAIT, null(), 0) } < 0;
            let is_down = failed && DOWN.contains(&io::Error::last_os_error().raw_os_error());
            sent.sent += self.taken(rings);
            if is_down {
                sent.errors += self.give_up(rings);
                break;
            }
            if self.oldest == self.next || rings.status(Way::Out, self.oldest) & TP_STATUS_WRONG_FORMAT == 0 {
                break;
            }
            sent.errors += 1;
            self.move_up(rings);
        }
        sent.waiting = u64::from(self.pending());
        sent
    }

    /// All frames that the kernel has not taken are lost; how many.
    #[cold]
    fn give_up(&mut self, rings: &mut Rings) -> u64 {
        let lost = self.pending();
        (0..lost).for_each(|n| rings.set_status(Way::Out, (self.oldest + n) % SLOTS, TP_STATUS_AVAILABLE));
        self.next = self.oldest;
        lost.into()
    }

    /// Frames that the kernel has not taken.
    fn pending(&self) -> u32 {
        (self.next + SLOTS - self.oldest) % SLOTS
    }

    /// Counts and passes over those that it has.
    fn taken(&mut self, rings: &Rings) -> u64 {
        let mut taken = 0;
        while self.oldest != self.next {
            let status = rings.status(Way::Out, self.oldest);
            if status != TP_STATUS_AVAILABLE && status & TP_STATUS_SENDING == 0 {
                break;
            }
            self.oldest = (self.oldest + 1) % SLOTS;
            taken += 1;
        }
        taken
    }

    /// The frame in the oldest slot is lost: those behind it move up by one slot.
    #[cold]
    fn move_up(&mut self, rings: &mut Rings) {
        let mut at = self.oldest;
        loop {
            let behind = (at + 1) % SLOTS;
            if behind == self.next {
                break;
            }
            let frame = {
                let slot = rings.slot(Way::Out, behind);
                let length = slot.head().length as usize;
                slot.frame(START, length).to_vec()
            };
            rings.slot(Way::Out, at).write(START, &frame);
            rings.set_status(Way::Out, at, TP_STATUS_SEND_REQUEST);
            at = behind;
        }
        rings.set_status(Way::Out, at, TP_STATUS_AVAILABLE);
        self.next = at;
    }
}
