//! Devices made by hand. Each value stands in the text as its key and value, so that places can be looked at.

use perhop_config::dialect::Read;
use perhop_config::evidence::Counters;
use perhop_config::finding::Finding;
use perhop_config::given::Given;
use perhop_config::model::{Class, Kind, Port, Queue, Way};
use perhop_config::rules::findings;
use perhop_config::text::Text;
use perhop_config::value::{Said, Settings, Value};
use perhop_core::params::Place;

/// A text with what was read in it.
pub struct Hand {
    read: Read,
    text: String,
    given: Given,
}

/// `10Mbit/s`, `1600B`, `10` or a word.
pub fn value(text: &str) -> Value {
    let rate = text.parse().map(Value::Rate).ok();
    let size = || text.parse().map(Value::Bytes).ok();
    let count = || text.parse().map(Value::Count).ok();
    rate.or_else(size).or_else(count).unwrap_or_else(|| Value::Word(text.to_owned()))
}

impl Hand {
    pub fn new(dialect: &'static str) -> Self {
        Self { read: Read { dialect, ..Read::default() }, text: String::new(), given: Given::default() }
    }

    fn say(&mut self, text: &str) -> Place {
        let start = self.text.len();
        self.text += text;
        self.text.push('\n');
        Place { start, end: start + text.len() }
    }

    /// `rate 10Mbit/s, ceil 20Mbit/s`; after `~` a value that the device assumes.
    fn settings(&mut self, text: &str) -> Settings {
        const KEYS: [&str; 16] = [
            "rate",
            "ceil",
            "burst",
            "cburst",
            "quantum",
            "prio",
            "r2q",
            "unclassified",
            "cir",
            "cbs",
            "pir",
            "pbs",
            "ebs",
            "limit",
            "target",
            "peak",
        ];
        let mut settings = Settings::default();
        for pair in text.split(", ").filter(|pair| !pair.is_empty()) {
            let (key, said) = pair.split_once(' ').unwrap();
            let key = KEYS.into_iter().find(|known| *known == key).unwrap();
            match said.strip_prefix('~') {
                Some(assumed) => settings.assume(key, "test", value(assumed)),
                None => {
                    let place = self.say(said);
                    settings.set(key, Said::at(place, value(said)));
                }
            }
        }
        settings
    }

    /// A port without anything.
    pub fn port(mut self, interface: &str) -> Self {
        let place = self.say(interface);
        let port = Port {
            interface: Said::at(place, interface.to_owned()),
            way: Way::Output,
            accounting: None,
            link: Settings::default(),
            conditioners: Vec::new(),
            queue: None,
        };
        self.read.device.ports.push(port);
        self
    }

    fn last(&mut self) -> &mut Port {
        self.read.device.ports.last_mut().unwrap()
    }

    fn plain(&mut self, name: &str, kind: Option<Kind>, settings: &str) -> Queue {
        let settings = self.settings(settings);
        let place = self.say(&format!("qdisc {name}"));
        let name = Said::at(place, name.to_owned());
        Queue { name, kind, settings, shape: Settings::default(), classes: Vec::new() }
    }

    /// The queue of the port.
    pub fn queue(mut self, name: &str, kind: Option<Kind>, settings: &str) -> Self {
        let queue = self.plain(name, kind, settings);
        self.last().queue = Some(queue);
        self
    }

    pub fn htb(self, settings: &str) -> Self {
        self.port("eth0").queue("1:", Some(Kind::Scheduler("htb")), settings)
    }

    /// The shaper of the port's queue.
    pub fn shape(mut self, settings: &str) -> Self {
        let shape = self.settings(settings);
        self.last().queue.as_mut().unwrap().shape = shape;
        self
    }

    /// A class of the port's queue.
    pub fn class(mut self, name: &str, parent: Option<usize>, settings: &str) -> Self {
        let place = self.say(name);
        let settings = self.settings(settings);
        let class = Class {
            name: Said::at(place, name.to_owned()),
            parent,
            takes: Vec::new(),
            rest: false,
            settings,
            queue: None,
        };
        self.last().queue.as_mut().unwrap().classes.push(class);
        self
    }

    /// The queue of the last class.
    pub fn under(mut self, name: &str, kind: Option<Kind>, settings: &str) -> Self {
        let queue = self.plain(name, kind, settings);
        self.last().queue.as_mut().unwrap().classes.last_mut().unwrap().queue = Some(queue);
        self
    }

    /// Counters: `dropped 5, sent_packets 100`.
    pub fn counters(mut self, kind: &str, of: &str, counts: &str) -> Self {
        const NAMES: [&str; 9] = [
            "dropped",
            "sent_packets",
            "sent_bytes",
            "overlimits",
            "backlog_bytes",
            "tokens",
            "ctokens",
            "direct_packets_stat",
            "backlog_packets",
        ];
        let place = self.say(counts);
        let count = |pair: &str| {
            let (name, count) = pair.split_once(' ').unwrap();
            (NAMES.into_iter().find(|known| *known == name).unwrap(), count.parse().unwrap())
        };
        let counts = counts.split(", ").map(count).collect();
        let (of, kind) = (of.to_owned(), kind.to_owned());
        self.read.evidence.push(Counters { of, kind, interface: "eth0".into(), way: None, place, counts });
        self
    }

    pub fn findings(&self) -> Vec<Finding> {
        findings(&self.read, &Text { text: self.text.clone() }, &self.given)
    }

    /// The only finding, with the words at its place.
    pub fn only(&self) -> (Finding, String) {
        let all = self.findings();
        assert_eq!(all.len(), 1, "{all:#?}");
        let place = all[0].place;
        (all[0].clone(), self.text[place.start..place.end].to_owned())
    }
}
