//! DCTCP beside slow versions of itself, ACK by ACK, and beside closed forms; its echo beside what has arrived.

mod closed;
mod echo;
mod linux;
mod rfc;

use crate::transport::pipe::Dice;
use perhop_core::aqm::arithmetic::Arithmetic;
use perhop_sim::transport::congestion::dctcp::Params;
use perhop_sim::transport::{CongestionControl, Law, LawParams, Signal, Window};

/// As declared.
const DEFAULTS: Params = Params { g: 0.0625, initial_alpha: 1.0, arithmetic: Arithmetic::Rfc };

/// As Linux has it.
pub(crate) const LINUX: Params = Params { arithmetic: Arithmetic::Linux, ..DEFAULTS };

fn law(params: Params) -> Law {
    Law::new(LawParams::Dctcp(params)).unwrap()
}

/// What an ACK leads to, once it has told of marks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Grows,
    Echo,
    Loss,
    LossAfterEcho,
    TimeOut,
    /// It arrives while the window is on its way down.
    Nothing,
}

/// ACKs of a connection: rounds with more and fewer marks, a cut at most once a round, a rare loss.
struct History {
    dice: Dice,
    una: u32,
    cut_until: u32,
    /// Marks in 1024 segments.
    marks: u64,
}

impl History {
    fn new(seed: u64) -> Self {
        Self { dice: Dice(seed), una: 1, cut_until: 1, marks: 0 }
    }

    fn draw(&mut self, n: u64) -> u64 {
        self.dice.next() % n
    }

    fn next(&mut self, window: &Window) -> (Signal, Then) {
        if self.draw(200) == 0 {
            self.marks = [0, 0, 5, 50, 500, 1024][self.draw(6) as usize];
        }
        let acked = 1 + self.draw(3) as u32;
        let marked = if self.draw(1024) < self.marks { acked } else { 0 };
        self.una += acked;
        let next = self.una + window.cwnd as u32;
        let signal = Signal { acked, marked, usable: window.cwnd, una: self.una, next, ..Signal::default() };
        let reducing = self.una <= self.cut_until;
        let then = match (self.draw(3000), reducing) {
            (0, _) => Then::TimeOut,
            (1..4, false) => Then::Loss,
            (1..40, true) => Then::LossAfterEcho,
            (_, true) => Then::Nothing,
            (_, false) if marked > 0 => Then::Echo,
            _ => Then::Grows,
        };
        if !matches!(then, Then::Grows | Then::Nothing) {
            self.cut_until = next;
        }
        (signal, then)
    }
}

/// A slow version.
trait Slow {
    fn feedback(&mut self, signal: &Signal);
    fn then(&mut self, then: Then, acked: u32);
    fn window(&self) -> Window;
}

fn apply(law: &mut Law, then: Then, signal: &Signal, window: &mut Window) {
    match then {
        Then::Grows => law.on_ack(signal, window),
        Then::Echo => law.on_ecn(signal, window),
        Then::Loss => law.on_loss(signal, window),
        Then::LossAfterEcho => law.on_loss_after_echo(signal, window),
        Then::TimeOut => law.on_timeout(signal, window),
        Then::Nothing => {}
    }
}

/// Both take the same ACKs; their windows stay within `error` of one another. How many echoes there were.
fn same(params: Params, mut slow: impl Slow, seed: u64, error: f64) -> u32 {
    let (mut law, mut history, mut echoes) = (law(params), History::new(seed), 0);
    let mut window = Window { cwnd: 10.0, ssthresh: f64::from(u32::MAX) };
    for step in 0..20_000 {
        let (signal, then) = history.next(&window);
        law.on_feedback(&signal);
        slow.feedback(&signal);
        apply(&mut law, then, &signal, &mut window);
        slow.then(then, signal.acked);
        echoes += u32::from(then == Then::Echo);
        let slow = slow.window();
        let near = |a: f64, b: f64| (a - b).abs() <= error * b;
        assert!(
            near(window.cwnd, slow.cwnd) && near(window.ssthresh, slow.ssthresh),
            "{params:?}, seed {seed}, step {step}, {then:?}: {window:?}, slow {slow:?}"
        );
        window.cwnd = window.cwnd.min(5000.0);
        if window.cwnd == 5000.0 {
            break;
        }
    }
    echoes
}
