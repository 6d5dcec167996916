//! Where Linux, and with it the sender of today, departs from the texts.

/// Each with the clause that it departs from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departure {
    /// RFC 8985 section 6.2 step 2: the time stamp that is echoed tells a repeat's
    /// original only if it is acknowledged cumulatively.
    EchoOfCumulative,
    /// RFC 8985 section 6.2 step 4: a round lasts until what was sent after the D-SACK is delivered, and not until all
    /// that was sent before is acknowledged.
    RoundsByDeliveries,
    /// RFC 8985 section 6.2 step 4: a D-SACK counts only if no more have come than segments were sent again, the path is
    /// known to reorder, and it is not the probe's.
    DsackOfReordering,
    /// RFC 8985 section 6.2 step 4: a recovery that is undone does not count, and one undone by D-SACK gives one back.
    UndoneDoesNotCount,
    /// RFC 8985 section 6.3: no reordering window at a time-out.
    NoWindowAtRto,
    /// RFC 8985 section 6.2 step 5: only an ACK that tells of a delivery, or an undone recovery, has losses looked for.
    OnlyIfAdvanced,
    /// RFC 8985 section 6.2 step 5: what was lost, and is not because the recovery was undone, is looked at again only once it has
    /// been sent again (`tcp_rack_detect_loss` takes it off the list of what is looked at).
    JudgedOnce,
    /// RFC 8985 sections 7.2 and 8: after an ECN echo a probe is scheduled though segments are sacked, and its timer takes the
    /// place of RACK's.
    ProbeGoesFirst,
    /// RFC 8985 section 6.2 step 5 and section 7.2: timers are 2 ms longer, two ticks of Linux's clock.
    TwoTicks,
    /// RFC 6298 section 5 and all timers: they expire on ticks of 1 ms, the coarser the longer they are.
    Ticks,
    /// RFC 9937 section 6.1: RecoverFS is the window and not what is outstanding.
    FromTheWindow,
    /// RFC 9937 section 6.2: a D-SACK is a delivery.
    DsackDelivers,
    /// RFC 6675 section 4, SetPipe() (b): the repeat that is a probe is not counted.
    ProbeUncounted,
    /// RFC 9937 section 6.2: SndCnt is not below 0.
    NeverBelowFlight,
    /// RFC 9937 section 6.2: RACK's timer counts as one delivery.
    TimerDelivers,
    /// RFC 5682 section 3.1 step 3 b: any original tells, in step 2 too.
    AnyOriginal,
    /// RFC 5682 section 3.1 step 1: a second time-out of the same segment begins again.
    EachTimeOut,
    /// RFC 6298 section 5: what is left of the time-out counts from when the first segment was sent, once another timer was set.
    FromTheFirst,
    /// RFC 6298 section 5: the first segment sent again restarts the time-out.
    RepeatRestarts,
}

impl Departure {
    pub(crate) const ALL: [Self; 19] = [
        Self::EchoOfCumulative,
        Self::ProbeGoesFirst,
        Self::RoundsByDeliveries,
        Self::DsackOfReordering,
        Self::UndoneDoesNotCount,
        Self::NoWindowAtRto,
        Self::OnlyIfAdvanced,
        Self::JudgedOnce,
        Self::TwoTicks,
        Self::Ticks,
        Self::FromTheWindow,
        Self::DsackDelivers,
        Self::ProbeUncounted,
        Self::NeverBelowFlight,
        Self::TimerDelivers,
        Self::AnyOriginal,
        Self::EachTimeOut,
        Self::FromTheFirst,
        Self::RepeatRestarts,
    ];
}

/// All departures but perhaps one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linux {
    pub(crate) but: Option<Departure>,
}

impl Linux {
    pub(crate) fn has(&self, it: Departure) -> bool {
        self.but != Some(it)
    }
}
