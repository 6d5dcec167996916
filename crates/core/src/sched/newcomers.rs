//! Turns of flows in two lists, new ones first, for all schedulers that have them.
//!
//! Source: RFC 8290 section 4.

use super::{Head, Pick};
use crate::counter::Each;
use std::collections::VecDeque;

/// Whose turn it is.
#[derive(Clone, Debug)]
pub(super) struct Newcomers {
    quantum: i64,
    /// An empty new queue leaves the lists if there are no old ones, as in Linux.
    linux: bool,
    flows: Vec<Flow>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    /// How often a flow became new.
    begun: u64,
}

/// What a flow may still send, bytes, and whether it is in one of the lists.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    credits: i64,
    listed: bool,
}

impl Newcomers {
    pub(super) fn new(flows: usize, quantum: i64, linux: bool) -> Self {
        let list = || VecDeque::with_capacity(flows);
        Self { quantum, linux, flows: vec![Flow::default(); flows], new: list(), old: list(), begun: 0 }
    }

    /// The quantum of another holds from the next turn on; the rest stays.
    pub(super) fn take_quantum(&mut self, of: &Self) {
        self.quantum = of.quantum;
    }

    /// A packet of a flow waits.
    #[inline]
    pub(super) fn queued(&mut self, flow: usize) {
        let it = &mut self.flows[flow];
        if !it.listed {
            (it.listed, it.credits) = (true, self.quantum);
            self.new.push_back(flow as u32);
            self.begun += 1;
        }
    }

    /// The flow that sends; `emptied` is given those that have nothing.
    pub(super) fn pick(&mut self, heads: &[Head], mut emptied: impl FnMut(usize)) -> Pick {
        loop {
            let Some(&flow) = self.new.front().or_else(|| self.old.front()) else { return Pick::Nothing };
            let flow = flow as usize;
            if self.flows[flow].credits <= 0 {
                self.renew();
            } else if heads[flow].is_ready() {
                return Pick::Child(flow);
            } else {
                emptied(flow);
                self.pass_over();
            }
        }
    }

    /// The flow at the front of the lists has nothing.
    fn pass_over(&mut self) {
        let from_new = self.new.pop_front();
        let Some(flow) = from_new.or_else(|| self.old.pop_front()) else { return };
        let it = &mut self.flows[flow as usize];
        it.listed = from_new.is_some() && !(self.linux && self.old.is_empty());
        if it.listed {
            self.old.push_back(flow);
        }
    }

    /// The flow at the front of the lists has sent its quantum.
    #[inline(always)]
    fn renew(&mut self) {
        let Some(flow) = self.new.pop_front().or_else(|| self.old.pop_front()) else { return };
        self.flows[flow as usize].credits += self.quantum;
        self.old.push_back(flow);
    }

    /// A flow has sent a packet.
    pub(super) fn sent(&mut self, flow: usize, bytes: u32) {
        self.flows[flow].credits -= i64::from(bytes);
    }

    /// How many flows are in each list.
    pub(super) fn gauges(&self, each: &mut dyn FnMut(&'static str, f64)) {
        each("new_flows", self.new.len() as f64);
        each("old_flows", self.old.len() as f64);
    }

    /// As `tc -s` shows it.
    pub(super) fn counters(&self, each: &mut Each<'_>) {
        each("new_flow_count", self.begun as f64);
        each("new_flows_len", self.new.len() as f64);
        each("old_flows_len", self.old.len() as f64);
    }
}
