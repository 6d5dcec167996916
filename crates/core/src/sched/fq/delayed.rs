//! Flows of fq that must wait, in the order of their times, and the timer that ends their wait.

use crate::units::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Those that wait.
#[derive(Clone, Debug)]
pub(super) struct Delayed {
    /// Time, how many had come before, flow.
    flows: BinaryHeap<Reverse<(Time, u64, u32)>>,
    came: u64,
    /// No flow is looked at before.
    first: Option<Time>,
    slack: Span,
    /// The timer fires this long before `slack` is over, if no other event comes first.
    timer: Option<Time>,
}

impl Delayed {
    pub(super) fn new(flows: usize, slack: Span) -> Self {
        Self { flows: BinaryHeap::with_capacity(flows), came: 0, first: None, slack, timer: None }
    }

    pub(super) fn take_slack(&mut self, of: &Self) {
        self.slack = of.slack;
    }

    pub(super) fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether the time of a flow has come.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.first.is_some_and(|at| at <= now)
    }

    pub(super) fn add(&mut self, until: Time, flow: usize) {
        self.came += 1;
        self.flows.push(Reverse((until, self.came, flow as u32)));
        self.first = Some(self.first.map_or(until, |first| first.min(until)));
    }

    /// A flow whose time has come.
    pub(super) fn pop(&mut self, now: Time) -> Option<usize> {
        if !self.is_due(now) {
            return None;
        }
        self.first = self.flows.peek().map(|it| it.0.0);
        if !self.is_due(now) {
            return None;
        }
        self.flows.pop().map(|it| it.0.2 as usize)
    }

    /// When the timer wakes the queue: one that is set stays as it is if it is late by no more than `slack`.
    pub(super) fn wakes(&mut self, now: Time) -> Option<Time> {
        let first = self.first?;
        let stays = |set: &Time| *set > now && *set >= first && set.since(first) <= self.slack;
        let timer = self.timer.filter(stays).unwrap_or(first);
        self.timer = Some(timer);
        Some(timer + self.slack)
    }
}
