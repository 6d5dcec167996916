//! A transport that hashes every datagram it hands to the network, with its time and its ECN field.

use perhop_core::packet::Ecn;
use perhop_core::units::Time;
use perhop_sim::plan::Offered;
use perhop_sim::transport::datagram::{Known, Opened, Peer, Protocol};
use std::sync::{Arc, Mutex};

/// One hash for all datagrams of a run, in their order.
pub(crate) type Hash = Arc<Mutex<blake3::Hasher>>;

#[derive(Debug)]
struct Recorded(Arc<dyn Protocol>, Hash);

#[derive(Debug)]
struct End(Box<dyn Peer>, Hash);

/// What carries a `[traffic]`, recorded.
pub(crate) fn protocol(offered: &Offered, hash: &Hash) -> Option<Arc<dyn Protocol>> {
    let protocol = perhop_quic::protocol(offered)?;
    Some(Arc::new(Recorded(protocol, hash.clone())))
}

impl Protocol for Recorded {
    fn open(&self, opened: &Opened) -> [Box<dyn Peer>; 2] {
        self.0.open(opened).map(|end| Box::new(End(end, self.1.clone())) as Box<dyn Peer>)
    }
}

impl Peer for End {
    fn handle(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        self.0.handle(now, datagram, ecn);
    }

    fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Ecn> {
        let ecn = self.0.poll_transmit(now, out)?;
        let mut hash = self.1.lock().unwrap();
        hash.update(&now.ns().to_le_bytes()).update(&(out.len() as u64).to_le_bytes()).update(out).update(&[ecn as u8]);
        Some(ecn)
    }

    fn timer_at(&mut self) -> Option<Time> {
        self.0.timer_at()
    }

    fn on_timer(&mut self, now: Time) {
        self.0.on_timer(now);
    }

    fn close(&mut self, now: Time) {
        self.0.close(now);
    }

    fn delivered(&self) -> u64 {
        self.0.delivered()
    }

    fn finished(&self) -> bool {
        self.0.finished()
    }

    fn known(&self) -> Known {
        self.0.known()
    }
}
