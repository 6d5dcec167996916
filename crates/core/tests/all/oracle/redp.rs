//! REDP, line by line from the specification's sections 1.3 and 1.4.

use super::Oracle;
use super::buckets::Bucket;
use super::pam::bytes_of;
use perhop_core::conditioner::redp::{Params, YellowMeter};
use perhop_core::packet::{Colour, Packet};

pub struct Redp {
    p: Params,
    tk: Bucket,
    t_l: f64,
    t_h: f64,
    b: f64,
    /// Yellow packets seen: when, and bytes.
    yellow: Vec<(u64, f64)>,
    u2: f64,
    /// The last packet was dropped.
    drops: bool,
    demoted: u64,
    without: u64,
    promoted: u64,
    dropped: u64,
}

impl Redp {
    pub fn new(p: &Params) -> Self {
        let b = p.cbs.get() as f64;
        Self {
            tk: Bucket::new(p.cir, p.cbs),
            t_l: bytes_of(p.low_th, b),
            t_h: bytes_of(p.high_th, b),
            b,
            yellow: Vec::new(),
            u2: 0.0,
            drops: false,
            demoted: 0,
            without: 0,
            promoted: 0,
            dropped: 0,
            p: p.clone(),
        }
    }

    /// The TSW estimate of the yellow rate, bytes/s, from all that was seen.
    fn yellow_rate(&self, now: u64) -> f64 {
        let window = self.p.yellow_window.seconds();
        let (mut average, mut front) = (0.0, 0);
        for (at, bytes) in self.yellow.iter().copied().chain([(now, 0.0)]) {
            average = (average * window + bytes) / ((at - front) as f64 / 1e9 + window);
            front = at;
        }
        average
    }

    fn no_yellow(&self, now: u64) -> bool {
        match self.p.yellow_meter {
            YellowMeter::Window => self.yellow.iter().all(|(at, _)| now - at >= self.p.yellow_window.ns()),
            YellowMeter::Rate => self.yellow_rate(now) < 125.0,
            YellowMeter::Ever => self.yellow.is_empty(),
            YellowMeter::None => true,
            YellowMeter::Always => false,
        }
    }

    fn green(&mut self, now: u64, packet: &mut Packet, mut draws: impl Iterator<Item = f64>) {
        let tk = self.tk.level();
        if tk < self.t_l {
            let drops = self.p.p_drop.get() > 0.0 && self.no_yellow(now);
            if drops && draws.next().unwrap() < self.p.p_drop.get() {
                (self.dropped, self.drops) = (self.dropped + 1, true);
                return;
            }
            let p_demo = (self.t_l - tk) * self.p.max_demotion.get() / self.t_l;
            if tk >= f64::from(packet.size) && draws.next().unwrap() < p_demo {
                self.demoted += 1;
                packet.colour = Colour::Yellow;
                return;
            }
        }
        if !self.tk.take(packet.size) {
            self.without += 1;
            packet.colour = Colour::Yellow;
        }
    }
}

impl Oracle for Redp {
    fn another(&mut self, u: f64) {
        self.u2 = u;
    }

    fn dropped(&self) -> bool {
        self.drops
    }

    fn mark(&mut self, now: u64, packet: &mut Packet, u: f64) {
        self.drops = false;
        self.tk.refill(now);
        if packet.colour == Colour::Unmarked {
            packet.colour = Colour::Green;
        }
        match packet.colour {
            Colour::Green => self.green(now, packet, [u, self.u2].into_iter()),
            Colour::Yellow => {
                self.yellow.push((now, f64::from(packet.size)));
                let tk = self.tk.level();
                let p_promo = (tk - self.t_h) * self.p.max_promotion.get() / (self.b - self.t_h);
                if tk > self.t_h && u < p_promo && self.tk.take(packet.size) {
                    self.promoted += 1;
                    packet.colour = Colour::Green;
                }
            }
            _ => {}
        }
    }

    fn tallies(&self) -> Vec<(&'static str, u64)> {
        let Self { demoted, without, promoted, dropped, .. } = *self;
        vec![
            ("demoted", demoted),
            ("demoted_without_token", without),
            ("promoted", promoted),
            ("dropped_early", dropped),
        ]
    }
}
