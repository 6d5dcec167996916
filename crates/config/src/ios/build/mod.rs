//! From what a text says to the model: a port for each policy at an interface.

mod conditioners;
mod filters;
mod holes;
mod numbers;
mod queue;
mod unreached;
mod wred;

use super::interfaces::nominal;
use super::plan::{Attached, Child, Class, Plan, Policy, WithPlace};
use crate::account::Account;
use crate::finding::{Fault, Finding};
use crate::import_options::ImportOptions;
use crate::model::{Device, Port, Way, same_interface};
use crate::text::Text;
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::classify::Match;
use perhop_core::params::suggest;
use perhop_core::units::BitRate;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Classes of all ports together, beside four for each class and interface of the text; more are refused, as nested
/// policies multiply.
const MOST_CLASSES: usize = 100_000;

/// Names that are compared with a name that is not in the text.
const MOST_NAMES: usize = 1_000;

/// Findings of one kind that come with a nearest name.
const MOST_FINDINGS: usize = 100;

/// Policies within policies; IOS takes three.
const DEEPEST: usize = 16;

/// What a port is built from.
pub struct Build<'a> {
    plan: &'a Plan,
    text: &'a Text,
    given: &'a ImportOptions,
    account: &'a mut Account,
    findings: &'a mut Vec<Finding>,
    known: Known,
    /// Classes so far.
    classes: usize,
    most: usize,
    /// Places of findings.
    found: HashSet<usize>,
    depth: usize,
    port: OfPort,
}

/// Classes of packets that were read.
#[derive(Default)]
struct Known {
    /// By access list.
    lists: HashMap<String, Vec<Match>>,
    /// By class map; `None` while they are read.
    maps: HashMap<usize, Option<Vec<Match>>>,
    /// How many are read within each other.
    within: usize,
}

/// What is known of the port that is built.
#[derive(Default)]
struct OfPort {
    /// Packets go out.
    output: bool,
    /// Classes of its queue are told by the conditioners that packets passed, as those change code points.
    passage: bool,
    /// Names of its conditioners, with their places.
    names: BTreeMap<String, Vec<usize>>,
}

/// Where a policy is: in a port, or in a class of another.
#[derive(Clone, Debug, Default)]
struct Under {
    /// Packets that come; empty: all.
    above: Vec<Match>,
    /// What percentages refer to.
    base: Option<BitRate>,
    /// Names of the classes above.
    path: String,
    /// A conditioner comes after those of this policy.
    next: bool,
    /// Later conditioners take packets of this policy that meet none here.
    cover: bool,
}

/// A port to be: the interface, and the policy.
struct Wanted {
    name: WithOrigin<String>,
    interface: Option<usize>,
    way: Way,
    policy: Child,
}

/// The device, or why there is none.
pub fn device(
    plan: &Plan,
    (text, given): (&Text, &ImportOptions),
    account: &mut Account,
    findings: &mut Vec<Finding>,
) -> Result<Device, Fault> {
    let wanted = chosen(plan, given)?;
    let found = HashSet::new();
    let said = plan.policies.iter().map(|policy| policy.classes.len()).sum::<usize>() + plan.attached.len();
    let most = MOST_CLASSES + 4 * said;
    let (known, port) = (Known::default(), OfPort::default());
    let mut build = Build { plan, text, given, account, findings, known, classes: 0, most, found, depth: 0, port };
    let ports = wanted.into_iter().map(|wanted| build.port(wanted)).collect::<Result<_, _>>()?;
    Ok(Device { ports })
}

/// The ports that are meant.
fn chosen(plan: &Plan, given: &ImportOptions) -> Result<Vec<Wanted>, Fault> {
    let all = wanted(plan, given);
    let way = |wanted: &Wanted| given.way.is_none_or(|way| wanted.way == way);
    let Some(asked) = &given.interface else { return Ok(all.into_iter().filter(way).collect()) };
    let exact = |wanted: &Wanted| same_port(&wanted.name.is, asked);
    let (mut meant, mut others): (Vec<_>, Vec<_>) = all.into_iter().partition(exact);
    if meant.is_empty() {
        // All policies of the interface.
        let interface = |wanted: &Wanted| wanted.interface.map(|at| &plan.interfaces[at].name);
        let of = |wanted: &Wanted| interface(wanted).is_some_and(|name| same_port(name, asked));
        (meant, others) = others.into_iter().partition(of);
    }
    if meant.is_empty() {
        return Err(unknown(plan, asked, &others));
    }
    Ok(meant.into_iter().filter(way).collect())
}

/// All ports: interfaces first, then policies that no interface has.
fn wanted(plan: &Plan, given: &ImportOptions) -> Vec<Wanted> {
    let mut used: HashSet<&str> = HashSet::new();
    let children = plan.policies.iter().flat_map(|policy| &policy.classes).filter_map(|class| class.child.as_ref());
    for child in plan.attached.iter().map(|attached| &attached.policy).chain(children) {
        if let Child::Named(name) = child {
            used.insert(&name.is);
        }
    }
    let attached = plan.attached.iter().zip(plan.called());
    let mut list: Vec<_> = attached.map(|(attached, name)| at_interface(plan, attached, name)).collect();
    let defined = || plan.policies.iter().enumerate().filter(|(_, policy)| !policy.inline);
    let unused = defined().filter(|(_, policy)| !used.contains(policy.name.as_str()));
    list.extend(unused.map(|(place, policy)| alone(plan, given, (place, policy))));
    if list.is_empty() {
        // Each is within another: in a circle.
        list.extend(defined().map(|(place, policy)| alone(plan, given, (place, policy))));
    }
    list
}

/// A policy that no interface has.
fn alone(plan: &Plan, given: &ImportOptions, (place, policy): (usize, &Policy)) -> Wanted {
    let way = given.way.unwrap_or(if plan.any_class(policy, &Class::queues) { Way::Output } else { Way::Input });
    let name = WithOrigin::at(policy.at.place, policy.name.clone());
    Wanted { name, interface: None, way, policy: Child::Shown(place) }
}

fn at_interface(plan: &Plan, attached: &Attached, name: String) -> Wanted {
    let name = WithOrigin::at(plan.interfaces[attached.interface].at.place, name);
    Wanted { name, interface: Some(attached.interface), way: attached.way, policy: attached.policy.clone() }
}

/// `Gi0/1` is `GigabitEthernet0/1`; the name of a policy is not cut short.
fn same_port(name: &str, asked: &str) -> bool {
    let numbered = name.contains(|c: char| c.is_ascii_digit());
    name.eq_ignore_ascii_case(asked) || numbered && same_interface(name, asked)
}

fn unknown(plan: &Plan, asked: &str, others: &[Wanted]) -> Fault {
    let bare = plan.interfaces.iter().find(|interface| same_port(&interface.name, asked));
    // An interface has two directions.
    let mut seen = HashSet::new();
    let names = others.iter().map(|wanted| wanted.name.is.as_str()).filter(|name| seen.insert(*name));
    let names: Vec<_> = names.take(MOST_NAMES).collect();
    let message = match bare {
        Some(interface) => format!("no policy is at interface {}", interface.name),
        None => format!("the text has no interface `{asked}` with a policy"),
    };
    Fault { code: "E307", place: bare.map(|interface| interface.at.place), message, help: suggest(asked, &names) }
}

impl<'a> Build<'a> {
    fn port(&mut self, wanted: Wanted) -> Result<Port, Fault> {
        let interface = wanted.interface.map(|at| &self.plan.interfaces[at]);
        let mut link = Settings::default();
        let metric = interface.and_then(|interface| interface.bandwidth);
        if let (None, Some(rate)) = (self.given.link, metric) {
            let how =
                "the rate of the link, as nothing else says it: IOS takes percentages of it, but does not send at it";
            self.account.approximated(rate.at.line, how);
            link.set("rate", WithOrigin::at(rate.at.place, Value::Rate(rate.is)));
        } else if let (None, Some(rate)) = (self.given.link, interface.and_then(|it| nominal(&it.name))) {
            link.assume("rate", "the name of the interface", Value::Rate(rate));
        } else if let Some(rate) = metric {
            self.account.approximated(rate.at.line, "a metric of routing: percentages are of the link's rate here");
        }
        let base = self.given.link.or_else(|| link.rate("rate"));
        let policy = self.policy(&wanted.policy)?;
        self.port.output = wanted.way == Way::Output;
        self.port.passage = self.port.output
            && self.plan.any_class(policy, &Class::queues)
            && self.plan.any_class(policy, &conditioners::marks);
        let under = Under { base, cover: self.port.passage, ..Under::default() };
        let conditioners = self.conditioners(policy, &under)?;
        self.port.names.clear();
        for (place, conditioner) in conditioners.iter().enumerate() {
            self.port.names.entry(conditioner.name.is.clone()).or_default().push(place);
        }
        let queue = match wanted.way {
            Way::Output => self.port_queue(policy, &under)?,
            Way::Input => self.no_queue(policy),
        };
        let accounting = Some(WithOrigin::assumed("IOS XE: headers of layer 2 without the checksum", "l2"));
        Ok(Port {
            interface: wanted.name,
            way: wanted.way,
            behind: None,
            sorts: false,
            others: Vec::new(),
            accounting,
            link,
            conditioners,
            queue,
            both_versions: None,
        })
    }

    /// The policy of a name, or that there is none.
    fn policy(&self, child: &Child) -> Result<&'a Policy, Fault> {
        let plan: &'a Plan = self.plan;
        match (plan.child(child), child) {
            (Some(policy), _) => Ok(policy),
            (None, Child::Named(name)) => Err(missing(plan, name)),
            (None, Child::Shown(_)) => Err(Fault {
                code: "E306",
                place: None,
                message: "a policy is not in the text".into(),
                help: "paste the whole text".into(),
            }),
        }
    }

    /// The policy within a class, unless it is not in the text or within itself.
    fn child(&mut self, class: &'a Class) -> Result<Option<&'a Policy>, Fault> {
        let Some(child) = &class.child else { return Ok(None) };
        let Ok(policy) = self.policy(child) else {
            self.without_policy(child);
            return Ok(None);
        };
        if self.depth < DEEPEST {
            return Ok(Some(policy));
        }
        let message = format!("policy map {} is within itself, or more than {DEEPEST} deep", policy.name);
        let help = "IOS takes a policy within a policy within a policy".to_owned();
        Err(Fault { code: "E308", place: Some(policy.at.place), message, help })
    }

    /// Whether nothing was found at a place before, nor too much elsewhere.
    fn is_new(&mut self, place: usize) -> bool {
        self.found.len() < MOST_FINDINGS && self.found.insert(place)
    }

    /// A policy within a class that is not in the text.
    fn without_policy(&mut self, child: &Child) {
        let Child::Named(name) = child else { return };
        self.account.not_modelled(name.at.line, "this policy map is not in the text");
        if !self.is_new(name.at.place.start) {
            return;
        }
        let fault = missing(self.plan, name);
        let message = format!("{}: the class has a queue without it", fault.message);
        self.findings.push(Finding {
            code: "W411",
            place: name.at.place,
            message,
            instead: fault.help,
            instead_of: &[],
        });
    }

    /// Counts the classes of a policy.
    fn count(&mut self, policy: &Policy) -> Result<(), Fault> {
        self.classes += policy.classes.len();
        if self.classes <= self.most {
            return Ok(());
        }
        let message = format!("the ports of this text have more than {} classes together", self.most);
        let help = "choose a port with ⟨interface=⟩".to_owned();
        Err(Fault { code: "E308", place: Some(policy.at.place), message, help })
    }
}

fn missing(plan: &Plan, name: &WithPlace<String>) -> Fault {
    let names: Vec<_> =
        plan.policies.iter().filter(|policy| !policy.inline).map(|policy| policy.name.as_str()).collect();
    let message = format!("policy map {} is not in the text", name.is);
    let help = match names.as_slice() {
        [] => "paste the policy map, too: `show running-config` has it".to_owned(),
        names => suggest(&name.is, names),
    };
    Fault { code: "E306", place: Some(name.at.place), message, help }
}
