//! What meters, marks and polices at a port: a conditioner for each class that does.
//!
//! A packet meets the policer of a child policy before that of the class above it. Marks of `set` come before the
//! policer, whose own marks count in their place; so both are one conditioner. A class that does neither has a marker
//! which lets its packets pass, where they would otherwise meet the conditioner of a later class.

use super::numbers::burst;
use super::{Build, Under};
use crate::finding::{Fault, Finding};
use crate::ios::defaults;
use crate::ios::fields::{meet, plain};
use crate::ios::plan::{Burst, Class, Do, Police, Policy, Rate, WithPlace};
use crate::model::{Act, Conditioner, FRAME, Filter};
use crate::rules::policers::OF_NO_PACKET;
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::classify::{Index, Match, Relation};
use perhop_core::colour::Colour;
use perhop_core::dscp::Dscp;
use perhop_core::units::Bytes;

/// Milliseconds of a rate that are a large bucket.
const LONG: f64 = 500.0;

/// Classes of packets, one for each class of a policy.
type Packets = Vec<Vec<Match>>;

impl<'a> Build<'a> {
    /// Those of a policy.
    pub(super) fn conditioners(&mut self, policy: &'a Policy, under: &Under) -> Result<Vec<Conditioner>, Fault> {
        self.count(policy)?;
        let packets: Packets = policy.classes.iter().map(|class| self.packets(class, under)).collect();
        self.unreached_classes(policy, &packets);
        let acts: Vec<_> =
            policy.classes.iter().map(|class| self.plan.class_or_below(class, &|class| self.own(class))).collect();
        let mut list = Vec::new();
        let later = if under.cover { Vec::new() } else { later(&packets, &acts) };
        for (i, class) in policy.classes.iter().enumerate() {
            let cover = under.cover || later[i];
            self.of_one(class, (i, packets[i].clone()), (under, cover), &mut list)?;
        }
        Ok(list)
    }

    /// Whether a class has a conditioner itself.
    fn own(&self, class: &Class) -> bool {
        (class.police.is_some() && !self.in_queue(class)) || !class.sets.is_empty() || class.drop.is_some()
    }

    /// Whether the policer of a class is the limit of its priority: one rate, and what exceeds it is dropped.
    pub(super) fn in_queue(&self, class: &Class) -> bool {
        let Some(police) = class.police.as_ref().filter(|_| self.port.output) else { return false };
        let only = |colour: usize, done: &Do| {
            police.actions[colour].as_ref().is_none_or(|list| list.iter().all(|put| put.is == *done))
        };
        let bare = class.priority.as_ref().is_some_and(|priority| priority.rate.is_none());
        let one = police.pir.is_none() && !matches!(police.cir.is, Rate::Packets(_));
        let drops = only(0, &Do::Transmit) && only(1, &Do::Drop) && only(2, &Do::Drop);
        bare && one && drops && class.sets.is_empty() && class.drop.is_none() && class.overhead.is_none()
    }

    fn of_one(
        &mut self,
        class: &'a Class,
        (order, packets): (usize, Vec<Match>),
        (under, cover): (&Under, bool),
        list: &mut Vec<Conditioner>,
    ) -> Result<(), Fault> {
        let path = format!("{}{}", under.path, class.name);
        let own = self.own(class);
        let mut takes = Self::filters(class, order, packets.clone(), self.tests_at(class));
        if let Some(child) = self.child(class)? {
            let below = Under {
                above: packets,
                base: self.base_below(class, under.base),
                path: format!("{path}/"),
                next: under.next || own,
                cover: (cover && !own) || self.port.passage,
            };
            self.depth += 1;
            let mut inner = self.conditioners(child, &below)?;
            self.depth -= 1;
            // Without filters it takes all packets, also those that were changed.
            if own && !takes.is_empty() && inner.iter().any(changes) {
                takes.extend(passed(class, order, &inner));
            }
            list.append(&mut inner);
        }
        if own {
            let made = self.conditioner(class, (path, takes), under);
            list.extend(made);
        } else if cover && class.child.is_none() && !(class.is_default() && under.path.is_empty()) {
            list.push(passing(class, (path, takes), under.next));
        }
        Ok(())
    }

    fn conditioner(
        &mut self,
        class: &'a Class,
        (name, takes): (String, Vec<Filter>),
        under: &Under,
    ) -> Option<Conditioner> {
        let name = WithOrigin::at(class.at.place, name);
        let sets = self.sets(class);
        if let Some(police) = &class.police
            && class.drop.is_none()
        {
            let (kind, settings) = self.meter(police, class, under)?;
            let actions = self.actions(police, kind, (&sets, under.next));
            return Some(Conditioner { name, takes, kind, settings, actions });
        }
        let (place, acts) = match class.drop {
            Some(at) => (at.place, vec![Act::Drop]),
            None => (class.sets.first().map_or(class.at, |set| set.at).place, then(sets, under.next)),
        };
        let actions = vec![(Colour::Green, WithOrigin::at(place, acts))];
        Some(Conditioner { name, takes, kind: "marker", settings: Settings::default(), actions })
    }

    /// What `set` lines do.
    fn sets(&mut self, class: &Class) -> Vec<Act> {
        class.sets.iter().filter_map(|set| self.act(set)).filter(|act| *act != Act::Transmit).collect()
    }

    /// The kind of a meter, with its keys.
    fn meter(&mut self, police: &Police, class: &Class, under: &Under) -> Option<(&'static str, Settings)> {
        let mut settings = Settings::default();
        let cir = self.rate(police.cir, under.base)?;
        let bc = police.bc.map_or_else(|| self.default_burst(&cir), burst);
        self.long_bucket(police, &cir, &bc);
        settings.set("cir", cir);
        settings.set("cbs", bc.clone());
        let kind = match (police.pir, three_colours(police)) {
            (Some(pir), _) => {
                let pir = self.rate(pir, under.base)?;
                settings.set("pbs", police.be.map_or_else(|| self.default_burst(&pir), burst));
                settings.set("pir", pir);
                "trtcm"
            }
            (None, true) => {
                let ebs = police.be.map_or_else(|| excess(&bc), burst);
                match self.is_void(police, &ebs) {
                    true => "token-bucket",
                    false => {
                        settings.set("ebs", ebs);
                        "srtcm"
                    }
                }
            }
            (None, false) => "token-bucket",
        };
        if let Some(at) = police.aware
            && kind != "token-bucket"
        {
            settings.set("colour-aware", WithOrigin::at(at.place, Value::Flag(true)));
        }
        if let Some(bytes) = class.overhead.filter(|_| class.shaping.shape.is_none()) {
            let is = Value::Signed(perhop_core::units::SignedBytes::new(bytes.is));
            settings.set("overhead", WithOrigin::at(bytes.at.place, is));
        }
        Some((kind, settings))
    }

    /// Says how long a bucket lasts that lets more than half a second of the rate pass at once.
    fn long_bucket(&mut self, police: &Police, cir: &WithOrigin<Value>, bc: &WithOrigin<Value>) {
        let (Value::Rate(rate), Value::Bytes(bytes)) = (&cir.is, &bc.is) else { return };
        let ms = bytes.get() as f64 * 8e3 / rate.bit_s().max(1) as f64;
        if ms > LONG && police.bc.is_some() {
            let what = format!("the bucket of {} bytes is {ms:.0} ms of {rate}: as much passes at once", bytes.get());
            self.account.noted(police.bc.map_or(police.at, |bc| bc.at).line, what);
        }
    }

    /// Whether the second bucket holds no full-sized packet: IOS takes it, and such packets never exceed, they violate.
    fn is_void(&mut self, police: &Police, ebs: &WithOrigin<Value>) -> bool {
        let Value::Bytes(bytes) = ebs.is else { return false };
        if bytes.get() == 0 || bytes >= FRAME {
            return false;
        }
        let Some(be) = police.be else { return true };
        let frame = FRAME.get();
        let message = format!(
            "the second bucket holds {bytes}: a packet of 1500 B counts {frame} B and never exceeds, it violates"
        );
        self.account.approximated(be.at.line, "smaller packets, which may exceed in the device, violate here");
        let instead = format!("`be` of at least {frame}, or no `be` and no violate-action");
        self.findings.push(Finding { code: "W447", place: be.at.place, message, instead, instead_of: OF_NO_PACKET });
        true
    }

    pub(super) fn default_burst(&self, rate: &WithOrigin<Value>) -> WithOrigin<Value> {
        match rate.is {
            Value::PacketRate(rate) => {
                let (packets, source) = defaults::police_packets(rate.packets_s());
                WithOrigin::assumed(source, Value::Packets(packets))
            }
            Value::Rate(rate) => {
                let (bytes, source) = defaults::police_burst(self.given.platform, rate);
                WithOrigin::assumed(source, Value::Bytes(bytes))
            }
            _ => WithOrigin::assumed("IOS: 1500 bytes", Value::Bytes(Bytes::new(1_500))),
        }
    }

    /// The actions of each colour, with the marks of `set` before them.
    fn actions(
        &mut self,
        police: &Police,
        kind: &str,
        (sets, next): (&[Act], bool),
    ) -> Vec<(Colour, WithOrigin<Vec<Act>>)> {
        let two = kind == "token-bucket";
        let red = if two && police.actions[1].is_none() && police.actions[2].is_some() { 2 } else { 1 };
        let violates = (no_excess(police) && police.actions[2].is_some()) || three_colours(police);
        let red = if two && violates { 2 } else { red };
        let colours: &[(Colour, usize)] = match two {
            true => &[(Colour::Green, 0), (Colour::Red, red)],
            false => &[(Colour::Green, 0), (Colour::Yellow, 1), (Colour::Red, 2)],
        };
        if two {
            self.unreached(police, red);
        }
        colours
            .iter()
            .map(|(colour, i)| (*colour, self.of_colour(police.actions[*i].as_deref(), *i, (sets, next))))
            .collect()
    }

    /// Actions of a colour that no packet has.
    fn unreached(&mut self, police: &Police, red: usize) {
        for action in police.actions.iter().skip(1).enumerate().filter(|(i, _)| i + 1 != red).flat_map(|(_, list)| list)
        {
            for put in action {
                self.account.taken(put.at.line);
            }
        }
    }

    fn of_colour(
        &mut self,
        said: Option<&[WithPlace<Do>]>,
        colour: usize,
        (sets, next): (&[Act], bool),
    ) -> WithOrigin<Vec<Act>> {
        let Some(said) = said else {
            let (acts, source) = match colour {
                0 => (then(sets.to_vec(), next), "IOS: conforming packets are transmitted"),
                _ => (vec![Act::Drop], "IOS: exceeding packets are dropped"),
            };
            return WithOrigin::assumed(source, acts);
        };
        let place = said.first().map(|put| put.at.place).unwrap_or_default();
        let acts: Vec<_> = said.iter().filter_map(|put| self.act(put)).collect();
        if acts.contains(&Act::Drop) {
            return WithOrigin::at(place, vec![Act::Drop]);
        }
        let mut all = sets.to_vec();
        for act in acts.into_iter().filter(|act| *act != Act::Transmit) {
            all.retain(|before| std::mem::discriminant(before) != std::mem::discriminant(&act));
            all.push(act);
        }
        WithOrigin::at(place, then(all, next))
    }

    /// One action.
    fn act(&mut self, put: &WithPlace<Do>) -> Option<Act> {
        let line = put.at.line;
        match &put.is {
            Do::Transmit => Some(Act::Transmit),
            Do::Drop => Some(Act::Drop),
            Do::Continue => Some(Act::Next),
            Do::Dscp(dscp) => Some(Act::Mark(*dscp)),
            Do::Precedence(precedence) => {
                self.account.approximated(line, "the three bits below the precedence become 0");
                Dscp::new(precedence * 8).map(Act::Mark)
            }
            Do::DiscardClass(class) => {
                let colour = [Colour::Green, Colour::Yellow, Colour::Red].get(usize::from(*class)).copied();
                if colour.is_none() {
                    self.account.approximated(line, "discard classes above 2 are red");
                }
                Some(Act::Colour(colour.unwrap_or(Colour::Red)))
            }
            Do::Mapped(table) => {
                self.account.approximated(line, format!("the packet stays as it is: table {table} is not modelled"));
                Some(Act::Transmit)
            }
            Do::Other(field) => {
                self.account.approximated(line, format!("the packet goes on: no packet here has {field}"));
                Some(Act::Transmit)
            }
        }
    }
}

/// Whether the middle colour differs from the others: with a second bucket, and actions for what is beyond it.
fn three_colours(police: &Police) -> bool {
    police.actions[2].is_some() && police.actions[1].is_some() && !no_excess(police)
}

/// A second bucket without room.
fn no_excess(police: &Police) -> bool {
    let none = match police.be {
        Some(WithPlace { is: Burst::Bytes(count) | Burst::Packets(count), .. }) => count == 0,
        Some(WithPlace { is: Burst::Time(span), .. }) => span.ns() == 0,
        None => false,
    };
    none && police.pir.is_none()
}

fn excess(bc: &WithOrigin<Value>) -> WithOrigin<Value> {
    match bc.is {
        Value::Bytes(bytes) => {
            let (bytes, source) = defaults::excess_burst(bytes);
            WithOrigin::assumed(source, Value::Bytes(bytes))
        }
        ref other => WithOrigin::assumed("IOS: as large as bc", other.clone()),
    }
}

/// What goes on, or on to the next conditioner.
fn then(mut acts: Vec<Act>, next: bool) -> Vec<Act> {
    if next {
        acts.push(Act::Next);
    } else if acts.is_empty() {
        acts.push(Act::Transmit);
    }
    acts
}

/// A conditioner that only says which class a packet is of.
fn passing(class: &Class, (name, takes): (String, Vec<Filter>), next: bool) -> Conditioner {
    let name = WithOrigin::at(class.at.place, name);
    let actions = vec![(Colour::Green, WithOrigin::at(class.at.place, then(Vec::new(), next)))];
    Conditioner { name, takes, kind: "marker", settings: Settings::default(), actions }
}

/// Whether a class changes code points.
pub(super) fn marks(class: &Class) -> bool {
    let police = class.police.iter().flat_map(|police| police.actions.iter().flatten().flatten());
    class.sets.iter().chain(police).any(|put| matches!(put.is, Do::Dscp(_) | Do::Precedence(_)))
}

fn changes(conditioner: &Conditioner) -> bool {
    conditioner.actions.iter().any(|(_, acts)| acts.is.iter().any(|act| matches!(act, Act::Mark(_))))
}

/// Packets that passed one of these, whatever their code point is now.
fn passed(class: &Class, order: usize, list: &[Conditioner]) -> Vec<Filter> {
    let conditioner = list.iter().map(|one| one.name.is.clone()).collect();
    Build::filters(class, order, vec![Match { conditioner, ..Match::default() }], None)
}

/// For each class whether a later one that acts may take packets of it, as far as code points, protocols, addresses and ports say; no
/// filters are all packets.
fn later(packets: &Packets, acts: &[bool]) -> Vec<bool> {
    /// More pairs of filters are not looked at.
    const MOST: usize = 100_000;
    let (mut index, mut filters, mut longest, mut all) = (Index::default(), Vec::new(), None, false);
    let mut found = vec![false; packets.len()];
    // From the last class on, so that those behind a class are known.
    for (i, own) in packets.iter().enumerate().rev() {
        let meets = |index: &mut Index, one: &Match| {
            let below = (Relation::Meets, filters.len());
            index.first(&plain(one), below, |place| meet(one, filters[place])).is_some()
        };
        let many = longest.is_some_and(|other| own.len().saturating_mul(other) > MOST);
        found[i] = longest.is_some() && (own.is_empty() || all || many || own.iter().any(|one| meets(&mut index, one)));
        if acts[i] {
            longest = longest.max(Some(own.len()));
            all |= own.is_empty();
            own.iter().for_each(|one| index.add(&plain(one)));
            filters.extend(own);
        }
    }
    found
}
