//! One run: long-lived flows through a policer, on a path ten times as fast.

use perhop_core::design::policer::Sender;
use perhop_scenario::{Options, Scenario};
use perhop_sim::{EngineOptions, Simulation};

/// Flows under one bucket.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// What stands in `[tcp.host]`.
    pub tcp: &'static str,
    pub mbit_s: f64,
    pub rtt_us: u32,
    pub flows: u32,
    /// Bytes.
    pub burst: u32,
    /// What becomes of the packets.
    pub actions: &'static str,
}

/// What is said of a cell, and what becomes of it.
pub struct Outcome {
    /// The codes of its warnings.
    pub said: Vec<&'static str>,
    /// The share of the contract that arrives.
    pub share: f64,
}

impl Cell {
    /// Flows of a host of a kind, at a rate in Mbit/s and a round trip in ms, behind a policer.
    pub fn policed(sender: Sender, [mbit_s, rtt_ms]: [f64; 2], flows: u32, burst: u32) -> Self {
        Self { tcp: tcp(sender), mbit_s, rtt_us: (1e3 * rtt_ms) as u32, flows, burst, actions: "red = \"drop\"" }
    }

    /// The same behind a marker.
    pub fn marking(self) -> Self {
        Self { actions: "green = \"mark AF11\"\nred = \"mark AF13\"", ..self }
    }

    pub fn text(&self) -> String {
        let Self { tcp, mbit_s, rtt_us, flows, burst, actions } = self;
        let (fast, delay) = (10.0 * mbit_s, rtt_us / 2);
        format!(
            "[scenario]\nduration = \"40s\"\nwarmup = \"10s\"\n\
             [links]\n\"s - r\" = {{ rate = \"10Gbit/s\", delay = \"1us\" }}\n\
             \"r - d\" = {{ rate = \"{fast}Mbit/s\", delay = \"{delay}us\" }}\n\
             [conditioner.contract]\nat = \"r -> d\"\nkind = \"token-bucket\"\ncir = \"{mbit_s}Mbit/s\"\n\
             cbs = \"{burst}B\"\n{actions}\n\
             [traffic.bulk]\nmodel = \"ftp\"\nfrom = \"s\"\nto = \"d\"\nflows = {flows}\ntcp = \"host\"\n\
             [tcp.host]\n{tcp}\n"
        )
    }

    pub fn run(&self) -> Outcome {
        self.run_as(&self.text())
    }

    /// The same with a flow of a host of another kind under its bucket.
    pub fn beside(&self, other: Sender) -> String {
        let tcp = tcp(other);
        self.text()
            + &format!(
                "[traffic.other]\nmodel = \"ftp\"\nfrom = \"s\"\nto = \"d\"\ntcp = \"other\"\n[tcp.other]\n{tcp}\n"
            )
    }

    /// Runs a scenario that is somewhat more than this.
    pub fn run_as(&self, text: &str) -> Outcome {
        let (scenario, said) = read(text);
        let simulation = Simulation::new(scenario.plan(1, 0), EngineOptions::default()).unwrap();
        let outcome = simulation.run(|_| true).unwrap();
        let bytes: u64 = outcome.arrivals.iter().map(|row| row.delivered.bytes).sum();
        let share = bytes as f64 * 8.0 / outcome.measured.seconds() / (self.mbit_s * 1e6);
        Outcome { said, share }
    }
}

/// A scenario and the codes of its warnings.
pub fn read(text: &str) -> (Scenario, Vec<&'static str>) {
    let parsed = Scenario::parse(text, &Options::new("x.toml"));
    let (scenario, said) = parsed.unwrap_or_else(|errors| panic!("{errors}"));
    (scenario, said.list.iter().map(|it| it.code).collect())
}

/// A host of a kind, as `[tcp.X]` states it. A classic one with what else hosts have today.
fn tcp(sender: Sender) -> &'static str {
    match sender {
        Sender::Classic => {
            "stack = \"classic\"\ninitial-window = 10\nwindow = 2730\nsegment = \"1448B\"\nheader = \"52B\"\nrto = \"modern\""
        }
        Sender::Linux => "stack = \"linux\"",
        Sender::LinuxReno => "stack = \"linux-reno\"",
        Sender::LinuxBbr => "stack = \"linux-bbr\"",
        Sender::Dctcp => "stack = \"dctcp\"",
        Sender::Prague => "stack = \"prague\"",
    }
}
