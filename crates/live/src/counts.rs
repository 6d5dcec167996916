//! What is counted of each direction. Nothing is lost in silence: see [`Counts::is_closed`].

use perhop_core::verdict::Reason;
use perhop_edge::Unread;

/// What a kernel counts of the frames that came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Frames for this program, those included that it dropped.
    pub came: u64,
    /// Frames for which there was no room.
    pub dropped: u64,
}

/// Why a frame was lost here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Dropped {
    /// The kernel found no room for it in the ring.
    Kernel = 0,
    /// It exceeds the MTU: received segments that were put together, or not yet taken apart.
    TooLong = 1,
    /// Conditioner or action.
    Policer = 2,
    /// An AQM, before the queue was full.
    Early = 3,
    /// An AQM's rule.
    Forced = 4,
    /// The queue was full.
    Overflow = 5,
    /// An ACK that a newer one made redundant.
    Filtered = 6,
    /// The buffer of the outgoing interface was full.
    Unsent = 7,
    /// An IPv4 header length below 20 bytes, or a total length below the header's.
    HeaderLength = 8,
    /// The frame ends before the IP header does.
    Short = 9,
    /// The IP header states more bytes than the frame has.
    Truncated = 10,
    /// The version is not that of the EtherType.
    Version = 11,
    /// More VLAN tags than are followed.
    VlanDepth = 12,
    /// A fragment that hides its transport header, see [`perhop_edge::Fragment::tiny`].
    TinyFragment = 13,
}

impl Dropped {
    /// All reasons, by index.
    pub const ALL: [Self; 14] = [
        Self::Kernel,
        Self::TooLong,
        Self::Policer,
        Self::Early,
        Self::Forced,
        Self::Overflow,
        Self::Filtered,
        Self::Unsent,
        Self::HeaderLength,
        Self::Short,
        Self::Truncated,
        Self::Version,
        Self::VlanDepth,
        Self::TinyFragment,
    ];

    /// Why a frame without a readable IP header is lost, as at a router; `None`: it is honestly not IP, and passes.
    pub const fn of(why: Unread) -> Option<Self> {
        match why {
            Unread::Malformed => Some(Self::HeaderLength),
            Unread::Snapped => Some(Self::Short),
            Unread::Truncated => Some(Self::Truncated),
            Unread::Version(_) => Some(Self::Version),
            Unread::VlanDepth => Some(Self::VlanDepth),
            Unread::EtherType(_)
            | Unread::Llc
            | Unread::LinkType(_)
            | Unread::Hardware(_)
            | Unread::AddressFamily(_) => None,
        }
    }

    /// Whether it is the sender's fault that the frame was lost: its headers are malformed.
    pub const fn is_malformed(self) -> bool {
        self as u8 >= Self::HeaderLength as u8
    }

    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::TooLong => "too-long",
            Self::Policer => "policer",
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Overflow => "overflow",
            Self::Filtered => "filtered",
            Self::Unsent => "unsent",
            Self::HeaderLength => "header-length",
            Self::Short => "short",
            Self::Truncated => "truncated",
            Self::Version => "version",
            Self::VlanDepth => "vlan-depth",
            Self::TinyFragment => "tiny-fragment",
        }
    }
}

impl From<Reason> for Dropped {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Policer | Reason::Wire => Self::Policer,
            Reason::Early => Self::Early,
            Reason::Forced => Self::Forced,
            Reason::Overflow => Self::Overflow,
            Reason::Filtered => Self::Filtered,
        }
    }
}

/// Frames that are here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Here {
    /// In the ring, to be read.
    pub unread: u64,
    /// In the queue.
    pub queued: u64,
    /// In the outgoing buffer.
    pub waiting: u64,
}

/// Frames of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that the kernel had for this program, those included that it dropped.
    pub came: u64,
    /// Frames that were read.
    pub received: u64,
    /// Bytes of these.
    pub received_bytes: u64,
    /// Frames that the outgoing interface took.
    pub sent: u64,
    /// Bytes of frames that were handed to it.
    pub sent_bytes: u64,
    /// Frames that it refused.
    pub errors: u64,
    /// Frames lost, by [`Dropped`].
    pub dropped: [u64; Dropped::ALL.len()],
    /// Frames that are here.
    pub here: Here,
    /// Frames that are not IP, which passed as they were.
    pub plain: u64,
    /// Frames whose transport checksum was finished here.
    pub finished: u64,
    /// The same, but of a transport whose checksum cannot be finished here.
    pub unfinished: u64,
    /// Frames that the queue marked CE.
    pub marked: u64,
}

impl Counts {
    pub(crate) fn drop(&mut self, why: Dropped) {
        self.dropped[why as usize] += 1;
    }

    /// Frames that were lost for this reason.
    pub const fn lost(&self, why: Dropped) -> u64 {
        self.dropped[why as usize]
    }

    /// Frames that were lost because their headers are malformed.
    pub fn malformed(&self) -> u64 {
        Dropped::ALL.into_iter().filter(|why| why.is_malformed()).map(|why| self.lost(why)).sum()
    }

    /// Frames that are here.
    pub const fn held(&self) -> u64 {
        self.here.unread + self.here.queued + self.here.waiting
    }

    /// Whether each frame has one fate: came = sent + dropped + held + errors.
    pub fn is_closed(&self) -> bool {
        self.came == self.sent + self.dropped.iter().sum::<u64>() + self.held() + self.errors
    }
}
