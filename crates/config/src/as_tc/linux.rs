//! A scenario's network on Linux as data. Its text is written from this at the end, and never read again.
//!
//! Decision: docs/decisions/069-linux-networks-are-data.md

use serde::Serialize;
use std::fmt;

/// A scenario's network on Linux.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Linux {
    /// The commands that make it, in order. Names of the scenario are in none.
    pub commands: Vec<Command>,
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Ports, in the order of the links.
    pub ports: Vec<Ends>,
    /// What is sent.
    pub traffic: Vec<Traffic>,
    /// What Linux has otherwise than the scenario says.
    pub notes: Vec<String>,
    /// Simulated time, ns.
    pub duration_ns: u64,
    /// Time at the start that is excluded from the statistics, ns.
    pub warmup_ns: u64,
    /// Interval of the series, ns; 0: none.
    pub sample_ns: u64,
}

/// A port alone, for an interface that there is.
#[derive(Clone, Debug, Serialize)]
pub struct LinuxPort {
    /// As the scenario calls it.
    pub port: String,
    /// The interface.
    pub device: String,
    /// The commands that make it, in order. Names of the scenario are in none.
    pub commands: Vec<Command>,
    /// What Linux has otherwise than the scenario says.
    pub notes: Vec<String>,
    /// What tc cannot express: no command has it.
    pub lost: Vec<String>,
}

/// A command of `ip`, `tc` or `sysctl`.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Command {
    /// What it and those after it are for, with names of the scenario quoted.
    pub comment: Option<String>,
    /// The namespace that it works in; `None`: that of the caller.
    pub namespace: Option<String>,
    /// The interface that it is about; `None`: no single one.
    pub device: Option<String>,
    /// Program and arguments.
    pub argv: Vec<String>,
}

/// A node.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// As the scenario calls it.
    pub name: String,
    /// Its network namespace.
    pub namespace: String,
    /// Its address.
    pub address: String,
}

/// An interface.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// The namespace that it is in; `None`: that of the caller.
    pub namespace: Option<String>,
    /// The interface.
    pub device: String,
}

/// A port, with both ends of its link.
#[derive(Clone, Debug, Serialize)]
pub struct Ends {
    /// As the scenario calls it.
    pub name: String,
    /// Where its packets wait.
    pub near: Device,
    /// Where they arrive.
    pub far: Device,
}

/// A traffic.
#[derive(Clone, Debug, Serialize)]
pub struct Traffic {
    /// As the scenario calls it.
    pub name: String,
    /// Its model.
    pub model: String,
    /// The node that receives it.
    pub to: Node,
    /// Datagrams that its sockets hand over as one packet.
    pub segments: u32,
    /// `SO_MAX_PACING_RATE` of its sockets, bytes a second.
    pub max_pacing_rate: Option<u64>,
    /// `None`: it is not of bulk transfers over TCP.
    pub transfers: Option<Transfers>,
}

/// What the sockets of a traffic's bulk transfers are told.
#[derive(Clone, Debug, Serialize)]
pub struct Transfers {
    /// Linux's name of the congestion law.
    pub congestion: String,
    /// Data bytes of a full segment.
    pub segment: u64,
    /// The receiver's window, bytes.
    pub window: u64,
    /// When the first may begin, ns.
    pub start_ns: u64,
    /// When they stop offering data, ns; `None`: at the end.
    pub stop_ns: Option<u64>,
}

impl Linux {
    /// All of it, for other programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }

    /// The commands as a shell reads them.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.commands.iter().map(Command::to_string)
    }

    /// The commands as a script for a shell, with comments, in which names are quoted and take one line each.
    pub fn script(&self) -> String {
        let node = |it: &Node| format!("{}: node {:?}, {}", it.namespace, it.name, it.address);
        let port = |it: &Ends| format!("{}: port {:?}", it.near, it.name);
        let head = self.nodes.iter().map(node).chain(self.ports.iter().map(port)).chain(notes(&self.notes));
        script(head, &self.commands)
    }
}

impl LinuxPort {
    /// All of it, for other programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }

    /// The commands as a script for a shell, with comments.
    pub fn script(&self) -> String {
        let Self { port, device, commands, .. } = self;
        let places: Vec<_> = [("root", "root"), ("clsact", "clsact")]
            .into_iter()
            .filter(|it| commands.iter().any(|command| command.argv.iter().any(|word| word == it.1)))
            .map(|it| format!("tc qdisc del dev {device} {}", it.0))
            .collect();
        let head = [format!("port {port:?} on {device}"), format!("to remove it: {}", places.join("; "))];
        let lost = self.lost.iter().map(|it| format!("lost: {}", it.escape_debug()));
        script(head.into_iter().chain(notes(&self.notes)).chain(lost), commands)
    }
}

fn notes(list: &[String]) -> impl Iterator<Item = String> {
    list.iter().map(|it| format!("note: {}", it.escape_debug()))
}

/// Comments, then commands, each after its own comment.
fn script(head: impl Iterator<Item = String>, commands: &[Command]) -> String {
    let comment = |text: &str| format!("# {text}");
    let mut lines: Vec<_> = head.map(|it| comment(&it)).collect();
    for command in commands {
        lines.extend(command.comment.as_deref().map(comment));
        lines.push(command.to_string());
    }
    lines.join("\n")
}

impl Command {
    /// Of words with blanks between them.
    pub(super) fn of(words: &str) -> Self {
        Self { comment: None, namespace: None, device: None, argv: words.split(' ').map(str::to_owned).collect() }
    }

    /// Any program in a namespace.
    pub(super) fn inside(namespace: &str, words: &str) -> Self {
        Self { namespace: Some(namespace.to_owned()), ..Self::of(&format!("ip netns exec {namespace} {words}")) }
    }

    /// With one word more, which may hold blanks.
    pub(super) fn and(mut self, word: &str) -> Self {
        self.argv.push(word.to_owned());
        self
    }
}

/// As a shell reads it: a value with blanks is quoted.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |it: &String| match it.split_once('=') {
            Some((key, value)) if value.contains(' ') => format!("{key}='{value}'"),
            _ => it.clone(),
        };
        f.write_str(&self.argv.iter().map(word).collect::<Vec<_>>().join(" "))
    }
}

/// `p0 in n0`
impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inside = self.namespace.as_ref().map_or(String::new(), |namespace| format!(" in {namespace}"));
        write!(f, "{}{inside}", self.device)
    }
}

impl Device {
    /// One in a namespace.
    pub(super) fn of(namespace: &str, device: &str) -> Self {
        Self { namespace: Some(namespace.to_owned()), device: device.to_owned() }
    }

    /// `tc` adds something to it.
    pub(super) fn tc(&self, object: &str, rest: &str) -> Command {
        self.about(&format!("tc{} {object} add dev {} {rest}", self.option(), self.device))
    }

    /// `ip` in its namespace.
    pub(super) fn ip(&self, words: &str) -> Command {
        self.about(&format!("ip{} {words}", self.option()))
    }

    /// By which `ip` and `tc` are told its namespace.
    fn option(&self) -> String {
        self.namespace.as_ref().map_or(String::new(), |namespace| format!(" -n {namespace}"))
    }

    fn about(&self, words: &str) -> Command {
        Command { namespace: self.namespace.clone(), device: Some(self.device.clone()), ..Command::of(words) }
    }
}
