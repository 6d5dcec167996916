//! Deficit round robin: each class in turn sends as many bytes as its quantum says, whatever its packets' sizes.
//!
//! Source: Shreedhar, Varghese, "Efficient fair queuing using deficit round robin", SIGCOMM 1995; IEEE/ACM Transactions
//! on Networking 4(3), 1996, section III.
//!
//! ```text
//! visit class i, if anything waits:
//!     DC_i = DC_i + Q_i
//!     while the packet at the head is not larger than DC_i: send it, DC_i = DC_i - its size
//!     if nothing waits any longer: DC_i = 0
//! ```
//!
//! While i and j both have packets waiting, what they have sent, each by its quantum, differs by less than
//! 1 + Max/Q_i + Max/Q_j, Max being the largest packet: shares of bytes, exact in the long run. A class with nothing to
//! send is passed over, so the link never idles while anything waits.
//!
//! | symbol | field               | unit | default |
//! |--------|---------------------|------|---------|
//! |        | `classes[].for`     |      | -       |
//! | Q_i    | `classes[].quantum` | B    | -       |
//! |        | `classes[].queue`   |      | -       |
//!
//! A packet belongs to the first class whose `for` has its colour or code point, else to the last, the only one that may
//! omit `for`. A quantum is at least the largest packet: the paper's condition for bounded work per packet, since every visit
//! then sends. Only the ratios of the quanta decide the shares, so all of them can be multiplied by the same number.
//!
//! Deviations: classes are visited in the order of the list. The paper's list of active queues, which spares visits to
//! empty ones, puts a queue that wakes at the end of the round; the bound holds for both.

use super::{Head, HostKey, Pick, Scheduler, members, same_members};
use crate::Scope;
use crate::aqm::members::{Member, Members};
use crate::count::Count;
use crate::packet::Packet;
use crate::params::{ParamError, Params as Declared};
use crate::units::{Bytes, Time};

/// What a scenario states.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// The classes in the order of their visits; first match, else the last.
    pub classes: Vec<Class>,
}

/// One class: which packets, and its quantum.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Class {
    /// Colours and code points of its packets; optional in the last class.
    #[param(name = "for")]
    pub members: Vec<Member>,
    /// Bytes it may send in each round, at least the largest packet.
    pub quantum: Bytes,
    /// Its queue: a name of `[queue]`, or a table of the same keys; default: drop-tail.
    pub queue: HostKey,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    quantum: u64,
    /// DC_i
    deficit: u64,
}

/// One link's DRR.
#[derive(Clone, Debug)]
pub struct Drr {
    members: Members,
    classes: Vec<Running>,
    /// The class whose turn it is.
    current: usize,
    /// Whether it has had its quantum in this visit.
    visiting: bool,
}

impl Params {
    /// # Errors
    /// E201 without classes or for a quantum of 0; E223 when a class can match no packet; E225 for a quantum below the
    /// largest packet.
    pub fn build(self, scope: &Scope) -> Result<Drr, ParamError> {
        let members = members(self.classes.iter().map(|class| &*class.members))?;
        for (i, class) in self.classes.iter().enumerate() {
            let message = format!("class {}: `quantum` is {}", i + 1, class.quantum);
            let least = scope.largest_packet;
            if class.quantum == Bytes::new(0) {
                let error = ParamError::new("classes", "E201", message);
                return Err(error.help("such a class would never send: at least the largest packet"));
            } else if class.quantum < least {
                return Err(ParamError::new("classes", "E225", message)
                    .label(format!("the largest packet of {} is {least}", scope.largest_of))
                    .help(format!("at least {least}: multiply all quanta by one number, only their ratios matter")));
            }
        }
        let classes = self.classes.iter().map(|class| Running { quantum: class.quantum.get(), deficit: 0 }).collect();
        Ok(Drr { members, classes, current: 0, visiting: false })
    }
}

impl Drr {
    fn go_on(&mut self) {
        (self.current, self.visiting) = ((self.current + 1) % self.classes.len(), false);
    }
}

impl Scheduler for Drr {
    type Params = Params;

    fn places(&self) -> usize {
        self.classes.len()
    }

    #[inline]
    fn place(&mut self, packet: &Packet) -> usize {
        self.members.of(packet)
    }

    fn pick(&mut self, _now: Time, heads: &[Head]) -> Pick {
        if !heads.iter().any(|head| head.is_ready()) {
            return Pick::Nothing;
        }
        loop {
            let class = &mut self.classes[self.current];
            let Head::Bytes(size) = heads[self.current] else {
                if heads[self.current] == Head::Nothing {
                    class.deficit = 0;
                }
                self.go_on();
                continue;
            };
            if !self.visiting {
                class.deficit += class.quantum;
                self.visiting = true;
            }
            if u64::from(size) <= class.deficit {
                return Pick::Child(self.current);
            }
            self.go_on();
        }
    }

    fn sent(&mut self, _now: Time, child: usize, bytes: u32, behind: Count) {
        let class = &mut self.classes[child];
        class.deficit -= u64::from(bytes);
        if behind.packets == 0 {
            class.deficit = 0;
        }
    }

    /// Deficits stay; a class gets its new quantum from its next visit on.
    fn retune(&mut self, _now: Time, params: &Params, scope: &Scope) -> Result<(), ParamError> {
        let new = params.clone().build(scope)?;
        same_members(&self.members, &new.members)?;
        for (class, new) in self.classes.iter_mut().zip(new.classes) {
            class.quantum = new.quantum;
        }
        Ok(())
    }
}
