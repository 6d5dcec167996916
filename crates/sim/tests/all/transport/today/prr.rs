//! RFC 9937: proportional rate reduction, in segments.

use super::{Departure, Linux};

/// An ACK: DeliveredData, inflight, ssthresh, SafeACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    pub(super) delivered: u32,
    pub(super) inflight: u32,
    pub(super) ssthresh: u32,
    pub(super) safe: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    recover_fs: i64,
    prr_delivered: i64,
    prr_out: i64,
}

impl Prr {
    /// Section 6.1, at the start of recovery: `flight` is SND.NXT - SND.UNA less what was sacked, with what this ACK has
    /// brought: all that may be delivered from here on.
    pub(super) fn start(&mut self, flight: u32, cwnd: u32, linux: &Linux) {
        let recover_fs = if linux.has(Departure::FromTheWindow) { cwnd } else { flight };
        *self = Self { recover_fs: recover_fs.into(), ..Self::default() };
    }

    /// Section 6.2, on every ACK of recovery: the window.
    pub(super) fn on_ack(&mut self, ack: &Delivery, linux: &Linux) -> Option<i64> {
        let Delivery { delivered, inflight, ssthresh, safe } = *ack;
        if delivered == 0 {
            return None;
        }
        let (delivered, inflight, ssthresh) = (i64::from(delivered), i64::from(inflight), i64::from(ssthresh));
        self.prr_delivered += delivered;
        let mut snd_cnt;
        if inflight > ssthresh {
            let n = self.prr_delivered * ssthresh;
            let out = (n + self.recover_fs - 1) / self.recover_fs;
            snd_cnt = out - self.prr_out;
        } else {
            snd_cnt = (self.prr_delivered - self.prr_out).max(delivered);
            if safe {
                snd_cnt += 1;
            }
            snd_cnt = (ssthresh - inflight).min(snd_cnt);
        }
        if self.prr_out == 0 && snd_cnt == 0 {
            snd_cnt = 1;
        }
        if linux.has(Departure::NeverBelowFlight) {
            snd_cnt = snd_cnt.max(0);
        }
        Some(inflight + snd_cnt)
    }

    /// Section 6.2, on any transmission.
    pub(super) fn sent(&mut self) {
        self.prr_out += 1;
    }
}
