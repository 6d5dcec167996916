//! What arrives at hosts, what they send, and timers.

use super::Hosts;
use super::connection::End;
use super::flow::{acknowledged, received};
use super::session::Session;
use super::source::Woken;
use crate::net::{Record, number};
use crate::traffic::{Carrier, Step, Traffic as _};
use crate::transport::AckInfo;
use perhop_core::conditioner::SenderTruth;
use perhop_core::dscp::Dscp;
use perhop_core::packet::{Ecn, FlowId, Packet};
use perhop_core::units::{Span, Time};

/// What a data packet of a connection leads to.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// Whether there is an acknowledgement to send before it, [`Hosts::take_earlier`].
    pub earlier: bool,
    /// The acknowledgement to send now.
    pub ack: Option<AckInfo>,
    /// The last byte of a transfer or of a request has arrived.
    pub complete: bool,
}

/// What a timer leads to.
#[derive(Clone, Copy, Debug)]
pub enum Due {
    /// Nothing: another event is waited for.
    Nothing,
    /// It was early: wait again.
    Early,
    /// The sender may send.
    Pump,
    /// A delayed acknowledgement is to be sent.
    Ack(Option<AckInfo>),
}

/// What a standing connection gets to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supplied {
    /// Full segments.
    pub segments: u32,
    /// They are a session's packet: whether its last one.
    pub session: Option<bool>,
}

impl Hosts {
    /// What the simulator knows of a packet's sender and the wire does not carry.
    pub fn truth(&self, number: FlowId) -> Option<SenderTruth> {
        self.flows[number::flow(number)].truth()
    }

    /// A packet leaves one end of a flow for the network: it is counted and gets its number.
    #[inline]
    pub fn leave(&mut self, slot: usize, end: End, record: &mut Record) {
        let (flow, size) = (&mut self.flows[slot], record.bytes() + self.overhead);
        flow.in_network += 1;
        match end {
            End::Sender => flow.counts.sent.add(size),
            End::Receiver => flow.counts.acks[0].add(size),
        }
        record.packet.flow = FlowId(slot as u32 * 2 + end as u32);
        record.packet.size = size;
    }

    /// A packet leaves the queue of the first port of its way: a connection's segment is no longer in its host. The flow, if so.
    pub fn depart(&mut self, now: Time, record: &Record) -> Option<usize> {
        let slot = number::flow(record.packet.flow);
        let flow = &mut self.flows[slot];
        let first = record.hop == flow.routes[0] + 1 && record.packet.payload > 0;
        if !first || !number::is_out(record.packet.flow) {
            return None;
        }
        let tcp = flow.tcp.as_mut().filter(|_| self.tables[flow.table as usize].tcp.reaction.small_queues)?;
        tcp.sender.segment_left(now);
        Some(slot)
    }

    /// A packet ended before its destination.
    pub fn lost(&mut self, record: &Record) {
        let slot = number::flow(record.packet.flow);
        let flow = &mut self.flows[slot];
        flow.in_network -= 1;
        if number::is_out(record.packet.flow) {
            flow.counts.dropped.add(record.packet.size);
        } else {
            flow.counts.acks[2].add(record.packet.size);
        }
        if self.pairs.get(slot).is_some() {
            self.payloads.free(record.number);
        }
        self.release(slot);
    }

    /// A data packet has reached its host; `None` for datagrams.
    #[inline]
    pub fn hear(&mut self, now: Time, record: &Record) -> Option<Heard> {
        let flow = &mut self.flows[number::flow(record.packet.flow)];
        flow.in_network -= 1;
        flow.arrived(now, record);
        let tcp = flow.tcp.as_mut()?;
        tcp.receiver.echoed(now, record.sacks.echoed());
        let ack = tcp.receiver.on_segment(now, &received(record));
        let earlier = tcp.receiver.has_earlier();
        if record.packet.payload > 0
            && let Some(transit) = &mut tcp.transfer
        {
            transit.first.get_or_insert(now);
        }
        if let Some(session) = &mut tcp.session {
            session.deliver(now, tcp.receiver.delivered_segments());
        }
        let complete = tcp.transfer.is_some_and(|transit| tcp.receiver.delivered_bytes() >= transit.bytes);
        Some(Heard { earlier, ack, complete })
    }

    /// The acknowledgement that a receiver sends before the one of the segment that it has just heard.
    pub fn take_earlier(&mut self, slot: usize) -> Option<AckInfo> {
        self.flows[slot].tcp.as_mut()?.receiver.take_earlier()
    }

    /// Whether a segment goes before the ACK that arrives now, [`crate::transport::Sender::goes_first`].
    #[inline]
    pub fn goes_first(&self, now: Time, slot: usize) -> bool {
        self.flows[slot].tcp.as_ref().is_some_and(|tcp| tcp.sender.goes_first(now))
    }

    /// An ACK has reached its host. Whether that sends at once; if not, it is busy for a while, once for all ACKs that come
    /// meanwhile.
    #[inline]
    pub fn hear_ack(&mut self, now: Time, record: &Record) -> Option<bool> {
        let flow = &mut self.flows[number::flow(record.packet.flow)];
        flow.in_network -= 1;
        flow.counts.acks[1].add(record.packet.size);
        let tcp = flow.tcp.as_mut()?;
        tcp.stamp = record.sent.of_ack().0;
        tcp.sender.on_ack(now, acknowledged(record));
        let Some(overhead) = self.tables[flow.table as usize].tcp.reaction.overhead else { return Some(true) };
        if tcp.not_before.is_none() {
            let wait = self.sources[flow.source as usize].rng.uniform() * overhead.ns() as f64;
            tcp.not_before = Some(now + Span::from_ns(wait as u64));
        }
        Some(false)
    }

    /// The next packet that a sender may send now.
    #[inline(always)]
    pub fn next_packet(&mut self, now: Time, slot: usize) -> Option<Record> {
        let flow = &mut self.flows[slot];
        let segment = flow.tcp.as_mut()?.sender.next_segment(now)?;
        Some(flow.segment(now, &segment))
    }

    /// Whether a connection sends bursts, each of which is one packet until it leaves its host.
    #[inline(always)]
    pub fn sends_bursts(&self, slot: usize) -> bool {
        self.flows[slot].tcp.as_ref().is_some_and(|tcp| tcp.bursts)
    }

    /// As [`Hosts::next_packet`], and whether another segment of its burst follows.
    pub fn next_of_burst(&mut self, now: Time, slot: usize) -> Option<(Record, bool)> {
        let flow = &mut self.flows[slot];
        let segment = flow.tcp.as_mut()?.sender.next_segment(now)?;
        Some((flow.segment(now, &segment), segment.more))
    }

    /// A source offers a datagram: as many as leave together now, which may be none.
    pub fn gather(&mut self, source: usize) -> u32 {
        let it = &mut self.sources[source];
        it.gathered += 1;
        if it.gathered < it.burst { 0 } else { std::mem::take(&mut it.gathered) }
    }

    /// An acknowledgement as a packet.
    #[inline]
    pub fn ack(&self, now: Time, slot: usize, ack: &AckInfo) -> Record {
        self.flows[slot].ack(now, ack)
    }

    /// A datagram of `wire` bytes.
    #[inline]
    pub fn datagram(&self, now: Time, slot: usize, wire: u32) -> Record {
        self.flows[slot].datagram(now, wire)
    }

    /// A datagram of `wire` bytes with its own code point and ECN field.
    #[inline]
    pub fn replayed(&self, now: Time, slot: usize, (wire, dscp, ecn): (u32, Dscp, Ecn)) -> Record {
        let mut record = self.flows[slot].datagram(now, wire);
        record.packet = Packet { dscp, ecn, colour: dscp.colour(), ..record.packet };
        record
    }

    /// When an event has to be added for the timer of one end of a connection, so that one waits at its time or before.
    #[inline]
    pub fn arm(&mut self, slot: usize, end: End) -> Option<Time> {
        self.flows[slot].tcp.as_mut()?.arm(end)
    }

    /// The event that waited for one end of a connection is due.
    pub fn on_timer(&mut self, now: Time, slot: usize, end: End) -> Due {
        let Some(tcp) = &mut self.flows[slot].tcp else { return Due::Nothing };
        if tcp.armed[end as usize] != now {
            return Due::Nothing;
        }
        tcp.armed[end as usize] = Time::MAX;
        match end {
            End::Sender => {
                let due = tcp.sender.timer_at().is_some_and(|at| at <= now);
                let urgent = due && !tcp.sender.only_pauses(now);
                if due {
                    tcp.sender.on_timer(now);
                }
                if tcp.not_before.is_some_and(|at| at > now) && !urgent {
                    return Due::Early;
                }
                tcp.not_before = None;
                Due::Pump
            }
            End::Receiver => {
                let due = tcp.receiver.timer_at().is_some_and(|at| at <= now);
                Due::Ack(if due { tcp.receiver.on_timer(now) } else { None })
            }
        }
    }

    /// A source is woken, of which there is nothing to know but what it offers; else [`Hosts::wake_otherwise`].
    #[inline(always)]
    pub fn wake(&self, now: Time, source: usize) -> Option<Woken> {
        let it = &self.sources[source];
        (now < it.plain_until).then_some(Woken { flow: it.flow as usize, stop: it.plain_until, gathers: false })
    }

    /// What a source offers, and when to wake it again.
    #[inline(always)]
    pub fn step(&mut self, now: Time, source: usize) -> Step {
        let it = &mut self.sources[source];
        it.traffic.wake(now, &mut it.rng)
    }

    /// A source is woken whose datagrams leave together, or that stops and offers nothing more: its standing connection sends
    /// nothing new.
    pub fn wake_otherwise(&mut self, now: Time, source: usize) -> Option<Woken> {
        let it = &self.sources[source];
        let (flow, stop) = (it.flow as usize, self.tables[it.table as usize].stop);
        if now < stop {
            return Some(Woken { flow, stop, gathers: true });
        }
        if self.tables[it.table as usize].carrier == Carrier::Connection {
            if let Some(tcp) = &mut self.flows[flow].tcp {
                tcp.sender.close();
            }
            if let Some(pair) = self.pairs.get_mut(flow) {
                pair.close(now);
            }
        }
        None
    }

    /// A standing connection's source will stop.
    pub fn will_stop(&mut self, flow: usize) {
        if let Some(tcp) = &mut self.flows[flow].tcp {
            tcp.sender.will_close();
        }
    }

    /// Whether a flow has a connection.
    pub fn is_open(&self, slot: usize) -> bool {
        self.flows[slot].tcp.is_some()
    }

    /// A standing connection gets segments to send.
    pub fn supply(&mut self, now: Time, slot: usize, supplied: Supplied) {
        if let Some(tcp) = &mut self.flows[slot].tcp {
            tcp.sender.offer(supplied.segments);
            if let Some(last) = supplied.session {
                tcp.session.get_or_insert_with(|| Box::new(Session::new(now))).write(now, last);
            }
        }
    }
}
