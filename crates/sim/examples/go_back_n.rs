//! A transport of your own over the simulator's links: go-back-N with a fixed window. `docs/guides/bring-your-own-transport.md`
//! walks through it; `tests/all/own_transport.rs` runs it.
//!
//! `cargo run -p perhop-sim --example go_back_n`

#[path = "../tests/all/common/net.rs"]
#[allow(dead_code, clippy::duplicate_mod)] // a test of this file has it too
pub(crate) mod net;

use perhop_core::packet::Ecn;
use perhop_core::units::{BitRate, Span, Time};
use perhop_sim::plan::{Offered, Plan};
use perhop_sim::transport::Supply;
use perhop_sim::transport::datagram::{Opened, Peer, Protocol};
use perhop_sim::{EngineOptions, Outcome, Simulation};
use std::sync::Arc;

// [the transport]
/// Bytes of payload in a datagram, behind its number.
const PAYLOAD: u64 = 1000;

/// A window of datagrams, and how long the sender waits for an acknowledgement before it goes back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoBackN {
    pub(crate) window: u32,
    pub(crate) timeout: Span,
}

impl Protocol for GoBackN {
    fn open(&self, opened: &Opened) -> [Box<dyn Peer>; 2] {
        let end = match opened.supply {
            Supply::Bytes(bytes) => bytes.div_ceil(PAYLOAD) as u32,
            Supply::Unlimited | Supply::Offered => u32::MAX,
        };
        let sender = Sender { config: *self, end, acked: 0, next: 0, timer: None };
        [Box::new(sender), Box::new(Receiver { next: 0, owes_ack: false })]
    }
}

#[derive(Debug)]
struct Sender {
    config: GoBackN,
    end: u32,
    acked: u32,
    next: u32,
    timer: Option<Time>,
}

impl Peer for Sender {
    fn handle(&mut self, now: Time, datagram: &[u8], _ecn: Ecn) {
        let acked = number(datagram);
        if acked > self.acked {
            (self.acked, self.next) = (acked, self.next.max(acked));
            self.timer = (self.next > acked).then(|| now + self.config.timeout);
        }
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Ecn> {
        if self.next >= self.end || self.next - self.acked >= self.config.window {
            return None;
        }
        out.extend(self.next.to_be_bytes());
        out.resize(out.len() + PAYLOAD as usize, 0);
        self.next += 1;
        self.timer.get_or_insert(now + self.config.timeout);
        Some(Ecn::NotEct)
    }

    fn timer_at(&mut self) -> Option<Time> {
        self.timer
    }

    fn on_timer(&mut self, _now: Time) {
        (self.next, self.timer) = (self.acked, None);
    }

    fn close(&mut self, _now: Time) {
        self.end = self.next;
    }

    fn delivered(&self) -> u64 {
        0
    }

    fn finished(&self) -> bool {
        self.acked == self.end
    }
}

#[derive(Debug)]
struct Receiver {
    next: u32,
    owes_ack: bool,
}

impl Peer for Receiver {
    fn handle(&mut self, _now: Time, datagram: &[u8], _ecn: Ecn) {
        self.next += u32::from(number(datagram) == self.next);
        self.owes_ack = true;
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> Option<Ecn> {
        if !std::mem::take(&mut self.owes_ack) {
            return None;
        }
        out.extend(self.next.to_be_bytes());
        Some(Ecn::NotEct)
    }

    fn timer_at(&mut self) -> Option<Time> {
        None
    }

    fn on_timer(&mut self, _now: Time) {}

    fn close(&mut self, _now: Time) {}

    fn delivered(&self) -> u64 {
        u64::from(self.next) * PAYLOAD
    }

    fn finished(&self) -> bool {
        false
    }
}

fn number(datagram: &[u8]) -> u32 {
    u32::from_be_bytes(datagram[..4].try_into().expect("every datagram begins with a number"))
}
// [end]

// [put in]
pub(crate) fn run(plan: Plan, transport: GoBackN) -> Outcome {
    let protocol: Arc<dyn Protocol> = Arc::new(transport);
    let protocols = |_: &Offered| Some(protocol.clone());
    let simulation = Simulation::with_protocols(plan, EngineOptions::default(), &protocols).expect("a good plan");
    simulation.run(|_| true).expect("nothing stops it")
}
// [end]

#[allow(dead_code)]
fn main() {
    let mut net = net::Net::new(2, Span::from_s(20));
    net.duplex([0, 1], BitRate::mbps(10), Span::from_ms(20));
    net.traffic([0, 1], net::bulk());
    for window in [10, 50, 100] {
        let outcome = run(net.plan.clone(), GoBackN { window, timeout: Span::from_ms(300) });
        let rate = outcome.flows[0].goodput_bytes as f64 * 8.0 / outcome.measured.seconds() / 1e6;
        println!("window {window:3}: {rate:.2} Mbit/s");
    }
}
