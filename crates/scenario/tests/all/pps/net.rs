//! Small networks as files, and their results.

use perhop_core::math::pow;
use perhop_scenario::{Options, Scenario};
use perhop_sim::plan::{Plan, Tap, TapPoint};
use perhop_sim::{EngineOptions, Outcome, Simulation};

/// What the files share: 200 s of which the first 40 are not counted, TRED as published, one set of Reno.
#[derive(Clone, Copy)]
pub(crate) struct Common {
    /// Bytes of a data packet.
    pub(crate) size: u64,
    /// More of TRED's keys, a line each.
    pub(crate) tred: &'static str,
    /// Least time-out of TCP.
    pub(crate) rto: &'static str,
}

impl Common {
    /// Packets of 1000 bytes, MinTkt of 5 s, the least time-out of the time.
    pub(crate) const PUBLISHED: Self = Self { size: 1000, tred: "", rto: "1s" };

    fn text(self) -> String {
        let Self { size, tred, rto } = self;
        format!(
            "[scenario]\nduration = \"200s\"\nwarmup = \"40s\"\nsample = \"1s\"\n\
             [queue.tred]\naqm = \"tred\"\nlimit = \"110p\"\nmin = \"5p\"\nmax = \"55p\"\nmax-p = 0.2\n\
             mean-packet = \"{size}B\"\n{tred}\
             [tcp.host]\nrecovery = \"reno\"\nwindow = 100\nsegment = \"{}B\"\n\
             rto = {{ granularity = \"100ms\", minimum = \"{rto}\", maximum = \"64s\", initial = \"3s\" }}\n",
            size - 40
        )
    }
}

/// Flow i of n has i x `tickets` tickets/s, over one bottleneck P -> Q that owes it i x `share` bit/s.
#[derive(Clone, Copy)]
pub(crate) struct OneHop {
    pub(crate) common: Common,
    pub(crate) flows: u64,
    pub(crate) tickets: u64,
    pub(crate) share: f64,
    pub(crate) receiver: bool,
}

impl OneHop {
    /// The tickets come from the sources, or from the sinks through a currency of Q and one of P.
    fn tickets(self) -> String {
        let Self { flows: n, tickets, .. } = self;
        if !self.receiver {
            return format!(
                "[conditioner.tagger]\nkind = \"pps-tagger\"\nper = \"flow\"\nat.\"S{{1..{n}}} -> P\".tickets = \"{{{tickets}*i}}t/s\"\n"
            );
        }
        format!(
            "[conditioner.tagger]\nkind = \"pps-tagger\"\nper = \"flow\"\nat = \"S{{1..{n}}} -> P\"\n\
             [conditioner.sinks]\nkind = \"pps-ack-tagger\"\nper = \"flow\"\ntickets = \"500t/s\"\nat = \"D{{1..{n}}} -> Q\"\n\
             [conditioner.outputs]\nkind = \"pps-ack-relabeller\"\nat.\"Q -> D{{1..{n}}}\".tickets = \"{{{tickets}*i}}t/s\"\n\
             [conditioner.exchange]\nkind = \"pps-ack-relabeller\"\nat = \"P -> Q\"\ntickets = \"5000t/s\"\n"
        )
    }

    pub(crate) fn rate(self) -> f64 {
        self.share * (self.flows * (self.flows + 1) / 2) as f64
    }

    pub(crate) fn text(self) -> String {
        let (n, rate) = (self.flows, self.rate());
        let net = format!(
            "[links]\n\"S{{1..{n}}} - P\" = {{ rate = \"10Mbit/s\", delay = \"5ms\" }}\n\
             \"P - Q\" = {{ rate = \"{rate}bit/s\", delay = \"3ms\" }}\n\"P -> Q\" = {{ queue = \"tred\" }}\n\
             \"Q - D{{1..{n}}}\" = {{ rate = \"10Mbit/s\", delay = \"5ms\" }}\n\
             [traffic.\"f{{1..{n}}}\"]\nmodel = \"ftp\"\nfrom = \"S{{i}}\"\nto = \"D{{i}}\"\ntcp = \"host\"\n"
        );
        [self.common.text(), net, self.tickets()].concat()
    }
}

/// The worked example of the paper, its Fig. 1: three flows through two currencies to a bottleneck of 1 Mbit/s.
#[derive(Clone, Copy)]
pub(crate) struct Example {
    pub(crate) common: Common,
    /// More of each tagger's and relabeller's keys.
    pub(crate) tags: &'static str,
    /// What S3 issues to A and B.
    pub(crate) s3: [u64; 2],
    /// What S5 issues to S3's link and to S4's.
    pub(crate) s5: [u64; 2],
    /// The application's rate of B; always backlogged where there is none.
    pub(crate) b_bit_s: Option<u64>,
}

impl Example {
    /// As the paper has it, with tags that are numbers.
    pub(crate) const REAL: Self =
        Self { common: Common::PUBLISHED, tags: "tags = \"real\"\n", s3: [1000, 500], s5: [900, 300], b_bit_s: None };

    pub(crate) fn text(self) -> String {
        let Self { tags, s3: [a, b], s5: [s3, s4], .. } = self;
        let model = |name: char| match self.b_bit_s {
            Some(rate) if name == 'B' => format!("model = \"app-limited\"\nrate = \"{rate}bit/s\""),
            _ => "model = \"ftp\"".into(),
        };
        let flow =
            |(i, name)| format!("[traffic.{name}]\n{}\nfrom = \"S{i}\"\nto = \"S6\"\ntcp = \"host\"\n", model(name));
        let traffic: String = ['A', 'B', 'C'].into_iter().enumerate().map(flow).collect();
        let net = format!(
            "[links]\n\"S0 - S3\" = {{ rate = \"10Mbit/s\", delay = \"4ms\" }}\n\"S1 - S3\" = {{ rate = \"10Mbit/s\", delay = \"4ms\" }}\n\
             \"S2 - S4\" = {{ rate = \"10Mbit/s\", delay = \"4ms\" }}\n\"S3 - S5\" = {{ rate = \"10Mbit/s\", delay = \"4ms\", queue = \"tred\" }}\n\
             \"S4 - S5\" = {{ rate = \"10Mbit/s\", delay = \"4ms\" }}\n\"S5 - S6\" = {{ rate = \"1Mbit/s\", delay = \"5ms\" }}\n\
             \"S5 -> S6\" = {{ queue = \"tred\" }}\n\"S4 -> S5\" = {{ queue = \"tred\" }}\n\
             [conditioner.tagger]\nkind = \"pps-tagger\"\nper = \"flow\"\n{tags}at.\"S0 -> S3\".tickets = \"{a}t/s\"\n\
             at.\"S1 -> S3\".tickets = \"{b}t/s\"\nat.\"S2 -> S4\".tickets = \"500t/s\"\n\
             [conditioner.relabeller]\nkind = \"pps-relabeller\"\n{tags}at.\"S3 -> S5\".tickets = \"{s3}t/s\"\n\
             at.\"S4 -> S5\".tickets = \"{s4}t/s\"\nat.\"S5 -> S6\".tickets = \"1200t/s\"\n"
        );
        [self.common.text(), net, traffic].concat()
    }
}

/// Replications of a file.
pub(crate) struct Run {
    pub(crate) plan: Plan,
    pub(crate) outcomes: Vec<Outcome>,
}

/// How many replications each figure is based on.
pub(crate) const SEEDS: u32 = 10;

impl Run {
    pub(crate) fn new(text: &str) -> Self {
        let outcomes = (0..SEEDS).map(|replication| outcome(plan(text, replication))).collect();
        Self { plan: plan(text, 0), outcomes }
    }

    /// Bits/s of a traffic as links carry them, by replication.
    pub(crate) fn throughputs(&self, table: usize) -> Vec<f64> {
        let of = |outcome: &Outcome| {
            let flows = outcome.flows.iter().filter(|f| f.table == table);
            flows.map(|f| f.counts.delivered.bytes as f64 * 8.0).sum::<f64>() / outcome.measured.seconds()
        };
        self.outcomes.iter().map(of).collect()
    }

    /// Mean of them.
    pub(crate) fn throughput(&self, table: usize) -> f64 {
        mean(&self.throughputs(table))
    }

    /// A gauge at a link after the warm-up, second by second, all replications.
    pub(crate) fn series(&self, link: &str, conditioner: Option<&str>, quantity: &str) -> Vec<f64> {
        let link = self.plan.links.iter().position(|l| l.name == link).unwrap() as u32;
        let samples = self.outcomes.iter().flat_map(|o| &o.series.ports).filter(|s| s.at.seconds() >= 40.0);
        let named = samples.filter(|s| s.link == link && s.quantity == quantity);
        named.filter(|s| s.conditioner.as_deref() == conditioner).map(|s| s.value).collect()
    }
}

pub(crate) fn plan(text: &str, replication: u32) -> Plan {
    let (scenario, _) = Scenario::parse(text, &Options::new("pps.toml")).unwrap_or_else(|d| panic!("{d}\n{text}"));
    scenario.plan(1, replication)
}

pub(crate) fn outcome(plan: Plan) -> Outcome {
    let simulation = Simulation::new(plan, EngineOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let outcome = simulation.run(|_| true).expect("it is not stopped");
    assert_eq!(outcome.faults.breaches, Vec::<String>::new());
    outcome
}

/// The same with both ends of a link recorded.
pub(crate) fn tapped(text: &str, name: &str) -> (Outcome, usize) {
    let mut plan = plan(text, 0);
    let link = plan.links.iter().position(|l| l.name == name).unwrap();
    plan.probes.taps = [TapPoint::Input, TapPoint::Output].map(|point| Tap { link, point }).to_vec();
    (outcome(plan), link)
}

pub(crate) fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

/// Standard error of the mean.
pub(crate) fn error(of: &[f64]) -> f64 {
    let (mean, n) = (mean(of), of.len() as f64);
    (of.iter().map(|x| pow(x - mean, 2.0)).sum::<f64>() / (n - 1.0) / n).sqrt()
}
