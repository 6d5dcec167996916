//! `explain --as tc` passes over no key: each one changes the commands, or a note says that Linux has it otherwise, or it is
//! refused. What only traffic sent says (when, how much) is in the times at which the lab sends, and told as such below.

use crate::keys::{entry, fields};
use perhop_config::as_tc::as_tc;
use perhop_core::params::Params;
use perhop_core::{aqm, conditioner, port, sched};
use perhop_scenario::sections::{conditioner as placed, link, queue, settings, tcp, traffic as common};
use perhop_scenario::{Options, Scenario};
use perhop_sim::{traffic, transport::congestion};

const NET: &str = r#"
[scenario]
accounting = "l2"
duration = "2s"
warmup = "1s"

[links]
"a - b" = { rate = "10Mbit/s", delay = "5ms" }
"a -> b" = { queue = "q" }

[conditioner.c]
at = "a -> b"
kind = "token-bucket"
cir = "5Mbit/s"
cbs = "10kB"
red = "drop"
arithmetic = "linux"

[tcp.host]
stack = "LAW"

[traffic.bulk]
model = "ftp"
tcp = "host"
from = "a"
to = "b"

[traffic.udp]
model = "cbr"
rate = "1Mbit/s"
size = "500B"
dscp = "EF"
from = "a"
to = "b"

[queue.q]
"#;

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// Other commands.
    Said,
    /// The same commands, and a note.
    Noted,
    /// No commands.
    Refused,
    /// It is in what the simulator sends, draws or counts, which the lab is told; or a bound that the file is checked against.
    Elsewhere,
}
use Fate::{Elsewhere, Noted, Refused, Said};

type Row = crate::keys::Row<Fate>;

/// A queue whose keys are looked at, the law of TCP, the keys that there are, and a row for each.
struct Walk {
    what: &'static str,
    queue: &'static str,
    law: &'static str,
    keys: Vec<String>,
    rows: &'static [Row],
}

const PLAIN: &str = "limit = \"50p\"";
const CODEL: &str = "aqm = \"codel\"\nlimit = \"50p\"\narithmetic = \"linux\"";
const PIE: &str = "aqm = \"pie\"\nlimit = \"50p\"\narithmetic = \"linux\"";
const CHOKE: &str = "aqm = \"choke\"\nlimit = \"100p\"\nmin = \"15p\"\nmax = \"45p\"\nweight = 4\nmean-packet = \"1000B\"\narithmetic = \"linux\"";
const RED: &str = "aqm = \"red\"\nlimit = \"100kB\"\nmin = \"15kB\"\nmax = \"45kB\"\nweight = 4\nmean-packet = \"1000B\"\narithmetic = \"linux\"";
const SHAPED: &str = "limit = \"50p\"\nshape = { rate = \"5Mbit/s\", burst = \"3000B\", arithmetic = \"linux\" }";
const STRICT: &str = "scheduler = \"strict-priority\"\nclasses = [{ for = \"EF\" }, {}]";
const DRR: &str = "scheduler = \"drr\"\narithmetic = \"linux\"\nclasses = [{ for = \"EF\", quantum = \"1600B\" }, { quantum = \"1600B\" }]";
const ETS: &str = "scheduler = \"ets\"\narithmetic = \"linux\"\nclasses = [{ for = \"EF\" }, { quantum = \"1600B\" }]";
const HTB: &str = "scheduler = \"htb\"\narithmetic = \"linux\"\nclasses = [{ for = \"EF\", rate = \"1Mbit/s\", quantum = \"1600B\" }, { rate = \"2Mbit/s\", quantum = \"1600B\" }]";
const HFSC: &str = "scheduler = \"hfsc\"\narithmetic = \"linux\"\nclasses = [{ for = \"EF\", ls = \"1Mbit/s\" }, { ls = \"2Mbit/s\" }]";
const FQ: &str = "scheduler = \"fq-codel\"\narithmetic = \"linux\"";
const SFQ: &str = "scheduler = \"sfq\"\narithmetic = \"linux\"";
const CAKE: &str = "scheduler = \"cake\"";
const PACED: &str = "scheduler = \"fq\"";
const FQ_PIE: &str = "scheduler = \"fq-pie\"";

fn walks() -> Vec<Walk> {
    let walk = |what, queue, keys, rows| Walk { what, queue, law: "linux", keys, rows };
    let law = |law, name, rows| Walk { what: law, queue: PLAIN, law, keys: entry(congestion::LIST, name), rows };
    vec![
        walk(
            "[queue]",
            PLAIN,
            fields(<queue::QueueCommon as Params>::FIELDS),
            &[("limit", "queue.q.limit=60p", Said), ("drop", "queue.q.drop=head", Said)],
        ),
        walk("drop-tail", PLAIN, entry(aqm::LIST, "drop-tail"), &[]),
        walk(
            "codel",
            CODEL,
            entry(aqm::LIST, "codel"),
            &[
                ("target", "queue.q.target=6ms", Said),
                ("interval", "queue.q.interval=90ms", Said),
                ("mtu", "queue.q.mtu=3000B", Noted),
                ("ecn", "queue.q.ecn=true", Said),
                ("ce-threshold", "queue.q.ce-threshold=1ms", Said),
                ("arithmetic", "queue.q.arithmetic=rfc", Noted),
            ],
        ),
        walk(
            "pie",
            PIE,
            entry(aqm::LIST, "pie"),
            &[
                ("target", "queue.q.target=16ms", Said),
                ("interval", "queue.q.interval=16ms", Said),
                ("max-burst", "queue.q={aqm=\"pie\",limit=\"50p\",max-burst=\"100ms\"}", Refused),
                ("alpha", "queue.q.alpha=0.25", Said),
                ("beta", "queue.q={aqm=\"pie\",limit=\"50p\",beta=1.26}", Refused),
                ("delay", "queue.q.delay=rate", Said),
                ("derandomise", "queue.q={aqm=\"pie\",limit=\"50p\",derandomise=false}", Refused),
                ("cap", "queue.q={aqm=\"pie\",limit=\"50p\",cap=false}", Refused),
                ("byte-mode", "queue.q.byte-mode=true", Said),
                ("active-above", "queue.q={aqm=\"pie\",limit=\"50p\",active-above=\"5p\"}", Refused),
                ("mtu", "queue.q.mtu=3000B", Noted),
                ("ecn", "queue.q.ecn=true", Said),
                ("ecn-below", "queue.q={aqm=\"pie\",limit=\"50p\",ecn-below=0.2}", Refused),
                ("arithmetic", "queue.q.arithmetic=rfc", Noted),
            ],
        ),
        walk(
            "red",
            RED,
            entry(aqm::LIST, "red"),
            &[
                ("min", "queue.q.min=20kB", Said),
                ("max", "queue.q.max=40ms", Said),
                ("max-p", "queue.q.max-p=0.2", Said),
                ("curve", "queue.q={aqm=\"red\",limit=\"100kB\",curve=[[\"20%\",0.0],[\"50%\",0.05]]}", Refused),
                (
                    "interpolate",
                    "queue.q={aqm=\"red\",limit=\"100kB\",curve=[[\"20%\",0.0],[\"50%\",0.05]],interpolate=\"step\"}",
                    Refused,
                ),
                (
                    "ecn-min",
                    "queue.q={aqm=\"red\",limit=\"100kB\",min=\"15kB\",max=\"45kB\",ecn=true,ecn-min=\"10kB\",ecn-max=\"20kB\"}",
                    Refused,
                ),
                (
                    "ecn-max",
                    "queue.q={aqm=\"red\",limit=\"100kB\",min=\"15kB\",max=\"45kB\",ecn=true,ecn-min=\"10kB\",ecn-max=\"20kB\"}",
                    Refused,
                ),
                (
                    "ecn-p",
                    "queue.q={aqm=\"red\",limit=\"100kB\",min=\"15kB\",max=\"45kB\",ecn=true,ecn-min=\"10kB\",ecn-max=\"20kB\",ecn-p=0.2}",
                    Refused,
                ),
                (
                    "wq",
                    "queue.q={aqm=\"red\",limit=\"100kB\",min=\"15kB\",max=\"45kB\",wq=0.03125,mean-packet=\"1000B\",arithmetic=\"linux\"}",
                    Said,
                ),
                ("weight", "queue.q.weight=5", Said),
                ("mean-packet", "queue.q.mean-packet=900B", Said),
                (
                    "spacing",
                    "queue.q={aqm=\"red\",limit=\"100kB\",min=\"15kB\",max=\"45kB\",spacing=\"bernoulli\"}",
                    Refused,
                ),
                (
                    "beyond",
                    "queue.q={aqm=\"red\",limit=\"100kB\",min=\"15kB\",max=\"45kB\",beyond=\"gentle\"}",
                    Refused,
                ),
                ("ecn", "queue.q.ecn=true", Said),
                (
                    "min-waiting",
                    "queue.q={aqm=\"red\",limit=\"100kB\",min=\"15kB\",max=\"45kB\",min-waiting=\"2p\"}",
                    Refused,
                ),
                ("arithmetic", "queue.q.arithmetic=exact", Refused),
                ("adaptive", "queue.q.adaptive=true", Noted),
            ],
        ),
        walk(
            "choke",
            CHOKE,
            entry(aqm::LIST, "choke"),
            &[
                ("min", "queue.q.min=14p", Said),
                ("max", "queue.q.max=40p", Said),
                ("max-p", "queue.q.max-p=0.2", Said),
                (
                    "wq",
                    "queue.q={aqm=\"choke\",limit=\"100p\",min=\"15p\",max=\"45p\",wq=0.03125,mean-packet=\"1000B\",arithmetic=\"linux\"}",
                    Said,
                ),
                ("weight", "queue.q.weight=5", Said),
                ("mean-packet", "queue.q.mean-packet=900B", Said),
                (
                    "spacing",
                    "queue.q={aqm=\"choke\",limit=\"100p\",min=\"15p\",max=\"45p\",spacing=\"bernoulli\"}",
                    Refused,
                ),
                ("beyond", "queue.q={aqm=\"choke\",limit=\"100p\",min=\"15p\",max=\"45p\",beyond=\"gentle\"}", Refused),
                ("ecn", "queue.q.ecn=true", Said),
                ("arithmetic", "queue.q.arithmetic=exact", Refused),
            ],
        ),
        walk(
            "shape",
            SHAPED,
            fields(<port::ShaperParams as Params>::FIELDS),
            &[
                ("rate", "queue.q.shape.rate=6Mbit/s", Said),
                ("burst", "queue.q.shape.burst=4000B", Said),
                ("peak", "queue.q.shape.peak=8Mbit/s", Said),
                ("peak-burst", "queue.q.shape.peak-burst=3000B", Said),
                ("debt", "queue.q.shape.debt=true", Refused),
                ("granularity", "queue.q.shape.granularity=1ms", Refused),
                ("arithmetic", "queue.q.shape.arithmetic=exact", Noted),
                ("overhead", "queue.q.shape.overhead=4B", Said),
                ("mpu", "queue.q.shape.mpu=84B", Said),
                ("link-layer", "queue.q.shape.link-layer=atm", Said),
            ],
        ),
        walk(
            "strict-priority",
            STRICT,
            entry(sched::LIST, "strict-priority"),
            templates!(
                Said,
                "",
                "",
                [
                    ("classes[].name", "queue.q.classes=[{name=\"up\",for=\"EF\"},{}]", Elsewhere),
                    ("classes[].for", "queue.q.classes=[{for=\"AF11\"},{}]", Said),
                    ("classes[].match", "queue.q.classes=[{match={destination=\"10.0.1.0/24\"}},{}]", Said),
                    ("classes[].rate", "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\"},{}]", Said),
                    ("classes[].burst", "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\",burst=\"5000B\"},{}]", Said),
                    (
                        "classes[].police",
                        "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\",police=\"congested\"},{}]",
                        Refused,
                    ),
                    ("classes[].same-level", "queue.q.classes=[{for=\"EF\"},{same-level=true}]", Refused),
                    ("classes[].queue", "queue.q.classes=[{for=\"EF\",queue={limit=\"9p\"}},{}]", Said),
                ]
            ),
        ),
        walk(
            "drr",
            DRR,
            entry(sched::LIST, "drr"),
            templates!(
                Said,
                ",quantum=\"1600B\"",
                "quantum=\"1600B\"",
                [
                    (
                        "classes[].name",
                        "queue.q.classes=[{name=\"up\",for=\"EF\",quantum=\"1600B\"},{quantum=\"1600B\"}]",
                        Elsewhere
                    ),
                    ("classes[].for", "queue.q.classes=[{for=\"AF11\",quantum=\"1600B\"},{quantum=\"1600B\"}]", Said),
                    (
                        "classes[].match",
                        "queue.q.classes=[{match={destination=\"10.0.1.0/24\"},quantum=\"1600B\"},{quantum=\"1600B\"}]",
                        Said,
                    ),
                    ("classes[].quantum", "queue.q.classes=[{for=\"EF\",quantum=\"1700B\"},{quantum=\"1600B\"}]", Said),
                    (
                        "classes[].queue",
                        "queue.q.classes=[{for=\"EF\",quantum=\"1600B\",queue={limit=\"9p\"}},{quantum=\"1600B\"}]",
                        Said,
                    ),
                    ("arithmetic", "queue.q.arithmetic=exact", Noted),
                ]
            ),
        ),
        walk(
            "ets",
            ETS,
            entry(sched::LIST, "ets"),
            templates!(
                Said,
                ",quantum=\"1600B\"",
                "quantum=\"1600B\"",
                [
                    ("classes[].name", "queue.q.classes=[{name=\"up\",for=\"EF\"},{quantum=\"1600B\"}]", Elsewhere),
                    ("classes[].for", "queue.q.classes=[{for=\"AF11\"},{quantum=\"1600B\"}]", Said),
                    (
                        "classes[].match",
                        "queue.q.classes=[{match={destination=\"10.0.1.0/24\"}},{quantum=\"1600B\"}]",
                        Said,
                    ),
                    ("classes[].quantum", "queue.q.classes=[{for=\"EF\"},{quantum=\"1700B\"}]", Said),
                    ("classes[].rate", "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\"},{quantum=\"1600B\"}]", Said),
                    (
                        "classes[].burst",
                        "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\",burst=\"5000B\"},{quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].police",
                        "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\",police=\"congested\"},{quantum=\"1600B\"}]",
                        Refused,
                    ),
                    (
                        "classes[].queue",
                        "queue.q.classes=[{for=\"EF\",queue={limit=\"9p\"}},{quantum=\"1600B\"}]",
                        Said
                    ),
                    ("arithmetic", "queue.q.arithmetic=exact", Noted),
                ]
            ),
        ),
        walk(
            "htb",
            HTB,
            entry(sched::LIST, "htb"),
            templates!(
                Said,
                ",rate=\"1Mbit/s\",quantum=\"1600B\"",
                "rate=\"2Mbit/s\",quantum=\"1600B\"",
                [
                    (
                        "classes[].name",
                        "queue.q.classes=[{name=\"up\",rate=\"3Mbit/s\"},{parent=\"up\",rate=\"2Mbit/s\",quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].parent",
                        "queue.q.classes=[{name=\"up\",rate=\"3Mbit/s\"},{parent=\"up\",rate=\"2Mbit/s\",quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].for",
                        "queue.q.classes=[{for=\"AF11\",rate=\"1Mbit/s\",quantum=\"1600B\"},{rate=\"2Mbit/s\",quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].match",
                        "queue.q.classes=[{match={destination=\"10.0.1.0/24\"},rate=\"1Mbit/s\",quantum=\"1600B\"},{rate=\"2Mbit/s\",quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].rate",
                        "queue.q.classes=[{for=\"EF\",rate=\"1500kbit/s\",quantum=\"1600B\"},{rate=\"2Mbit/s\",quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].ceil",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",ceil=\"2Mbit/s\",quantum=\"1600B\"},{rate=\"2Mbit/s\",quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].prio",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",prio=1,quantum=\"1600B\"},{rate=\"2Mbit/s\",quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].quantum",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",quantum=\"1700B\"},{rate=\"2Mbit/s\",quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].burst",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",quantum=\"1600B\",burst=\"5000B\"},{rate=\"2Mbit/s\",quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].cburst",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",quantum=\"1600B\",cburst=\"5000B\"},{rate=\"2Mbit/s\",quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].queue",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",quantum=\"1600B\",queue={limit=\"9p\"}},{rate=\"2Mbit/s\",quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "unclassified",
                        "queue.q={scheduler=\"htb\",arithmetic=\"linux\",unclassified=\"direct\",classes=[{for=\"EF\",rate=\"1Mbit/s\",quantum=\"1600B\"},{for=\"AF11\",rate=\"2Mbit/s\",quantum=\"1600B\"}]}",
                        Noted,
                    ),
                    ("r2q", "queue.q.r2q=11", Said),
                    ("overhead", "queue.q.overhead=4B", Said),
                    ("mpu", "queue.q.mpu=84B", Said),
                    ("link-layer", "queue.q.link-layer=atm", Said),
                    ("arithmetic", "queue.q.arithmetic=exact", Noted),
                ]
            ),
        ),
        walk(
            "hfsc",
            HFSC,
            entry(sched::LIST, "hfsc"),
            &[
                (
                    "classes[].match",
                    "queue.q.classes=[{match={destination=\"10.0.1.0/24\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].per",
                    "queue.q.classes=[{per=\"destination\",slots=4,match={destination=\"10.0.0.0/8\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].slots",
                    "queue.q.classes=[{per=\"destination\",slots=4,match={destination=\"10.0.0.0/8\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].plans",
                    "queue.q.classes=[{per=\"destination\",slots=4,ls=\"1Mbit/s\",plans=[{match={destination=\"10.0.0.0/8\"}}]},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].name",
                    "queue.q.classes=[{name=\"up\",ls=\"3Mbit/s\"},{parent=\"up\",ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].parent",
                    "queue.q.classes=[{name=\"up\",ls=\"3Mbit/s\"},{parent=\"up\",ls=\"2Mbit/s\"}]",
                    Said,
                ),
                ("classes[].for", "queue.q.classes=[{for=\"AF11\",ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]", Said),
                (
                    "classes[].rt",
                    "queue.q.classes=[{for=\"EF\",rt=\"1500kbit/s\",ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].rt.m1",
                    "queue.q.classes=[{for=\"EF\",rt={m1=\"3Mbit/s\",d=\"10ms\",m2=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].rt.d",
                    "queue.q.classes=[{for=\"EF\",rt={m1=\"3Mbit/s\",d=\"10ms\",m2=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].rt.m2",
                    "queue.q.classes=[{for=\"EF\",rt={m1=\"3Mbit/s\",d=\"10ms\",m2=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].rt.umax",
                    "queue.q.classes=[{for=\"EF\",rt={umax=\"1500B\",dmax=\"10ms\",rate=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].rt.dmax",
                    "queue.q.classes=[{for=\"EF\",rt={umax=\"1500B\",dmax=\"10ms\",rate=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].rt.rate",
                    "queue.q.classes=[{for=\"EF\",rt={umax=\"1500B\",dmax=\"10ms\",rate=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                ("classes[].ls", "queue.q.classes=[{for=\"EF\",ls=\"1500kbit/s\"},{ls=\"2Mbit/s\"}]", Said),
                (
                    "classes[].ls.m1",
                    "queue.q.classes=[{for=\"EF\",ls={m1=\"3Mbit/s\",d=\"10ms\",m2=\"1Mbit/s\"}},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ls.d",
                    "queue.q.classes=[{for=\"EF\",ls={m1=\"3Mbit/s\",d=\"10ms\",m2=\"1Mbit/s\"}},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ls.m2",
                    "queue.q.classes=[{for=\"EF\",ls={m1=\"3Mbit/s\",d=\"10ms\",m2=\"1Mbit/s\"}},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ls.umax",
                    "queue.q.classes=[{for=\"EF\",ls={umax=\"1500B\",dmax=\"10ms\",rate=\"1Mbit/s\"}},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ls.dmax",
                    "queue.q.classes=[{for=\"EF\",ls={umax=\"1500B\",dmax=\"10ms\",rate=\"1Mbit/s\"}},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ls.rate",
                    "queue.q.classes=[{for=\"EF\",ls={umax=\"1500B\",dmax=\"10ms\",rate=\"1Mbit/s\"}},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ul",
                    "queue.q.classes=[{for=\"EF\",ul=\"1500kbit/s\",ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ul.m1",
                    "queue.q.classes=[{for=\"EF\",ul={m1=\"3Mbit/s\",d=\"10ms\",m2=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ul.d",
                    "queue.q.classes=[{for=\"EF\",ul={m1=\"3Mbit/s\",d=\"10ms\",m2=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ul.m2",
                    "queue.q.classes=[{for=\"EF\",ul={m1=\"3Mbit/s\",d=\"10ms\",m2=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ul.umax",
                    "queue.q.classes=[{for=\"EF\",ul={umax=\"1500B\",dmax=\"10ms\",rate=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ul.dmax",
                    "queue.q.classes=[{for=\"EF\",ul={umax=\"1500B\",dmax=\"10ms\",rate=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].ul.rate",
                    "queue.q.classes=[{for=\"EF\",ul={umax=\"1500B\",dmax=\"10ms\",rate=\"1Mbit/s\"},ls=\"1Mbit/s\"},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "classes[].queue",
                    "queue.q.classes=[{for=\"EF\",ls=\"1Mbit/s\",queue={limit=\"9p\"}},{ls=\"2Mbit/s\"}]",
                    Said,
                ),
                (
                    "unclassified",
                    "queue.q={scheduler=\"hfsc\",arithmetic=\"linux\",unclassified=\"drop\",classes=[{for=\"EF\",ls=\"1Mbit/s\"},{for=\"AF11\",ls=\"2Mbit/s\"}]}",
                    Said,
                ),
                ("arithmetic", "queue.q.arithmetic=exact", Noted),
            ],
        ),
        walk(
            "[queue] with classes",
            HTB,
            fields(<queue::Telling as Params>::FIELDS),
            &[
                // Of an AQM that asks for a rate.
                (
                    "aqm-rate",
                    "queue.q={scheduler=\"htb\",arithmetic=\"linux\",aqm-rate=\"share\",classes=[{rate=\"2Mbit/s\",queue={aqm=\"red\",limit=\"100kB\",min=\"15kB\",max=\"45kB\",weight=4,mean-packet=\"1000B\",arithmetic=\"linux\"}}]}",
                    Said,
                ),
            ],
        ),
        walk(
            "fq-codel",
            FQ,
            entry(sched::LIST, "fq-codel"),
            &[
                ("flows", "queue.q.flows=512", Said),
                ("quantum", "queue.q.quantum=1600B", Said),
                ("limit", "queue.q.limit=900p", Said),
                ("memory", "queue.q.memory=4MB", Refused),
                ("drop-batch", "queue.q.drop-batch=32", Said),
                ("target", "queue.q.target=6ms", Said),
                ("interval", "queue.q.interval=90ms", Said),
                ("mtu", "queue.q.mtu=3000B", Noted),
                ("ecn", "queue.q.ecn=false", Said),
                ("ce-threshold", "queue.q.ce-threshold=1ms", Said),
                ("hash", "queue.q.hash=exact", Refused),
                ("salt", "queue.q.salt=7", Noted),
                ("arithmetic", "queue.q.arithmetic=rfc", Noted),
            ],
        ),
        walk(
            "sfq",
            SFQ,
            entry(sched::LIST, "sfq"),
            &[
                ("flows", "queue.q.flows=1000", Refused),
                ("active", "queue.q.active=100", Said),
                ("quantum", "queue.q.quantum=1600B", Said),
                ("limit", "queue.q.limit=120p", Said),
                ("depth", "queue.q.depth=128p", Refused),
                ("drop", "queue.q.drop=head", Said),
                ("hash", "queue.q.hash=exact", Refused),
                ("salt", "queue.q.salt=7", Noted),
                ("arithmetic", "queue.q.arithmetic=exact", Noted),
            ],
        ),
        walk(
            "cake",
            CAKE,
            entry(sched::LIST, "cake"),
            &[
                ("rate", "queue.q.rate=5Mbit/s", Said),
                ("tins", "queue.q.tins=besteffort", Said),
                ("isolation", "queue.q.isolation=hosts", Said),
                ("split-gso", "queue.q.split-gso=false", Said),
                ("rtt", "queue.q.rtt=50ms", Said),
                ("memory", "queue.q.memory=4MB", Refused),
                ("flows", "queue.q.flows=512", Refused),
                ("mtu", "queue.q.mtu=3000B", Noted),
                ("ack-filter", "queue.q.ack-filter=aggressive", Said),
                ("hash", "queue.q.hash=exact", Noted),
                ("salt", "queue.q.salt=7", Noted),
                ("overhead", "queue.q.overhead=4B", Said),
                ("mpu", "queue.q.mpu=84B", Said),
                ("link-layer", "queue.q.link-layer=atm", Said),
            ],
        ),
        walk(
            "fq",
            PACED,
            entry(sched::LIST, "fq"),
            &[
                ("flows", "queue.q.flows=512", Said),
                ("quantum", "queue.q.quantum=1600B", Said),
                ("initial-quantum", "queue.q.initial-quantum=3000B", Said),
                ("limit", "queue.q.limit=900p", Said),
                ("flow-limit", "queue.q.flow-limit=90p", Said),
                ("pacing", "queue.q.pacing=false", Said),
                ("maxrate", "queue.q.maxrate=5Mbit/s", Said),
                ("low-rate-threshold", "queue.q.low-rate-threshold=1Mbit/s", Said),
                ("refill-delay", "queue.q.refill-delay=50ms", Said),
                ("timer-slack", "queue.q.timer-slack=5us", Said),
                ("ce-threshold", "queue.q.ce-threshold=1ms", Said),
                ("priomap", "queue.q.priomap=\"0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\"", Noted),
                ("weights", "queue.q.weights=\"16384 16384 16384\"", Noted),
                ("hash", "queue.q.hash=exact", Noted),
                ("salt", "queue.q.salt=7", Noted),
            ],
        ),
        walk(
            "fq-pie",
            FQ_PIE,
            entry(sched::LIST, "fq-pie"),
            &[
                ("flows", "queue.q.flows=512", Said),
                ("quantum", "queue.q.quantum=1600B", Said),
                ("limit", "queue.q.limit=900p", Said),
                ("target", "queue.q.target=16ms", Said),
                ("interval", "queue.q.interval=16ms", Said),
                ("alpha", "queue.q.alpha=0.25", Said),
                ("beta", "queue.q.beta=1.5", Said),
                ("delay", "queue.q.delay=rate", Said),
                ("byte-mode", "queue.q.byte-mode=true", Said),
                ("mtu", "queue.q.mtu=3000B", Noted),
                ("ecn", "queue.q.ecn=true", Said),
                ("ecn-below", "queue.q.ecn-below=0.2", Said),
                ("hash", "queue.q.hash=exact", Refused),
                ("salt", "queue.q.salt=7", Noted),
            ],
        ),
        walk(
            "[links]",
            PLAIN,
            fields(<link::LinkSection as Params>::FIELDS),
            &[
                ("rate", "links.\"a -> b\".rate=9Mbit/s", Said),
                ("framing", "links.\"a -> b\".framing=l1", Said),
                ("delay", "links.\"a -> b\".delay=6ms", Said),
                ("queue", "links.\"a -> b\".queue={limit=\"9p\"}", Said),
                ("loss", "links.\"a -> b\".loss=0.01", Said),
                ("jitter", "links.\"a -> b\".jitter=1ms", Said),
                ("distribution", "links.\"a -> b\"={queue=\"q\",jitter=\"1ms\",distribution=\"normal\"}", Said),
                ("reorder", "links.\"a -> b\".reorder=0.01", Said),
                ("mtu", "links.\"a -> b\".mtu=1500B", Elsewhere),
            ],
        ),
        walk(
            "[nodes]",
            PLAIN,
            fields(<link::NodeSection as Params>::FIELDS),
            &[("address", "nodes.a.address=10.9.9.9", Said)],
        ),
        walk(
            "token-bucket",
            PLAIN,
            entry(conditioner::LIST, "token-bucket"),
            &[
                ("cir", "conditioner.c.cir=6Mbit/s", Said),
                ("cbs", "conditioner.c.cbs=11kB", Said),
                (
                    "pir",
                    "conditioner.c={at=\"a -> b\",kind=\"token-bucket\",cir=\"5Mbit/s\",cbs=\"10kB\",pir=\"8Mbit/s\",mtu=\"2000B\",arithmetic=\"linux\"}",
                    Said,
                ),
                ("mtu", "conditioner.c.mtu=1900B", Said),
                ("overhead", "conditioner.c.overhead=4B", Said),
                ("mpu", "conditioner.c.mpu=84B", Refused),
                ("link-layer", "conditioner.c.link-layer=atm", Said),
                ("arithmetic", "conditioner.c.arithmetic=exact", Noted),
            ],
        ),
        walk(
            "[conditioner]",
            PLAIN,
            fields(<placed::Placement as Params>::FIELDS),
            &[("match", "conditioner.c.match={dscp=\"EF\"}", Said), ("per", "conditioner.c.per=flow", Refused)],
        ),
        walk(
            "actions",
            PLAIN,
            fields(<placed::Actions as Params>::FIELDS),
            &[
                ("green", "conditioner.c.green=drop", Said),
                // A token bucket has two colours, and the others no effect here either.
                ("yellow", "conditioner.c.yellow=drop", Elsewhere),
                ("red", "conditioner.c.red=transmit", Said),
                ("unmarked", "conditioner.c.unmarked=drop", Elsewhere),
            ],
        ),
        walk(
            "[tcp]",
            PLAIN,
            tcp_keys(),
            &[
                ("stack", "tcp.host.stack=linux-reno", Elsewhere),
                ("preset", "tcp.host={preset=\"ns2-2.1b7\"}", Noted),
                ("recovery", "tcp.host={recovery=\"newreno-steady\"}", Noted),
                ("congestion", "tcp.host={congestion=\"bbr3\",recovery=\"rack\"}", Refused),
                ("initial-window", "tcp.host.initial-window=3", Said),
                ("window", "tcp.host.window=100", Elsewhere),
                ("segment", "tcp.host.segment=1400B", Elsewhere),
                ("header", "tcp.host.header=40B", Said),
                ("rto", "tcp.host.rto={maximum=\"30s\"}", Noted),
                ("limited-transmit", "tcp.host={recovery=\"newreno\",limited-transmit=false}", Noted),
                ("syn", "tcp.host.syn=false", Noted),
                ("delayed-ack", "tcp.host.delayed-ack=100ms", Noted),
                ("overhead", "tcp.host.overhead=1ms", Noted),
                ("burst-segments", "tcp.host.burst-segments=4", Said),
                ("small-queues", "tcp.host.small-queues=false", Noted),
                ("ecn", "tcp.host.ecn=true", Said),
                ("receiver-ecn", "tcp.host.receiver-ecn=false", Said),
                ("ecn-feedback", "tcp.host={stack=\"linux\",ecn=true,ecn-feedback=\"accurate\"}", Refused),
                ("ecn-retransmissions", "tcp.host={recovery=\"newreno\",ecn-retransmissions=true}", Noted),
            ],
        ),
        law(
            "linux",
            "cubic",
            &[
                ("c", "tcp.host.c=0.5", Noted),
                ("beta", "tcp.host.beta=0.8", Noted),
                ("fast-convergence", "tcp.host.fast-convergence=false", Noted),
                ("reno-friendly", "tcp.host.reno-friendly=false", Noted),
                ("hystart", "tcp.host.hystart=none", Noted),
                ("abe", "tcp.host.abe=true", Noted),
                ("arithmetic", "tcp.host={recovery=\"rack\",congestion=\"cubic\",arithmetic=\"rfc\"}", Noted),
            ],
        ),
        law(
            "linux-reno",
            "reno",
            &[
                ("growth", "tcp.host={recovery=\"rack\",congestion=\"reno\",growth=\"acks\"}", Noted),
                ("abe", "tcp.host.abe=true", Noted),
            ],
        ),
        law("linux-bbr", "bbr", &[("policer-estimate", "tcp.host.policer-estimate=false", Noted)]),
        law(
            "dctcp",
            "dctcp",
            &[
                ("g", "tcp.host.g=0.125", Noted),
                ("initial-alpha", "tcp.host.initial-alpha=0.5", Noted),
                ("arithmetic", "tcp.host={recovery=\"rack\",congestion=\"dctcp\",arithmetic=\"rfc\",ecn=true}", Noted),
            ],
        ),
        walk(
            "[traffic]",
            PLAIN,
            fields(<common::TrafficCommon as Params>::FIELDS),
            &[
                ("from", "traffic.udp={model=\"cbr\",rate=\"1Mbit/s\",size=\"500B\",from=\"b\",to=\"a\"}", Elsewhere),
                ("to", "traffic.udp={model=\"cbr\",rate=\"1Mbit/s\",size=\"500B\",from=\"b\",to=\"a\"}", Elsewhere),
                ("flows", "traffic.bulk.flows=2", Elsewhere),
                ("start", "traffic.bulk.start=1s", Elsewhere),
                ("spread", "traffic.bulk.spread=0s", Elsewhere),
                ("stop", "traffic.bulk.stop=1500ms", Elsewhere),
                ("dscp", "traffic.bulk.dscp=AF11", Elsewhere),
                ("class", "traffic.bulk.class=x", Elsewhere),
                ("ecn", "traffic.bulk.ecn=true", Said),
                ("l4s", "traffic.bulk={model=\"ftp\",tcp=\"host\",from=\"a\",to=\"b\",ecn=true,l4s=true}", Noted),
                ("gso", "traffic.udp.gso=4", Said),
                ("max-pacing-rate", "traffic.bulk.max-pacing-rate=1Mbit/s", Elsewhere),
                ("source-port", "traffic.udp.source-port=5060", Elsewhere),
                ("destination-port", "traffic.udp.destination-port=5060", Elsewhere),
                ("tcp", "traffic.bulk.tcp=newreno", Noted),
            ],
        ),
        walk(
            "[scenario]",
            PLAIN,
            fields(<settings::Settings as Params>::FIELDS),
            &[
                ("name", "name=x", Elsewhere),
                ("duration", "duration=3s", Elsewhere),
                ("delay-histogram", "delay-histogram=true", Elsewhere),
                ("warmup", "warmup=500ms", Elsewhere),
                ("seed", "seed=2", Elsewhere),
                ("replications", "replications=3", Elsewhere),
                ("accounting", "accounting=l1", Refused),
                ("sample", "sample=10ms", Elsewhere),
                (
                    "sample-ports",
                    "scenario={accounting=\"l2\",duration=\"2s\",warmup=\"1s\",sample=\"10ms\",sample-ports=[\"a -> b\"]}",
                    Elsewhere,
                ),
            ],
        ),
    ]
}

fn tcp_keys() -> Vec<String> {
    let laws: Vec<_> = congestion::LIST.iter().flat_map(|law| fields(law.fields)).collect();
    fields(<tcp::TcpSection as Params>::FIELDS).into_iter().filter(|key| !laws.contains(key)).collect()
}

/// Commands and notes, or what is refused; what is wrong with the file.
fn made(walk: &Walk, set: Option<&str>) -> Result<Result<[Vec<String>; 2], Vec<String>>, String> {
    let text = format!("{NET}{}\n", walk.queue).replace("LAW", walk.law);
    let options = set.into_iter().fold(Options::new("net.toml"), |options, set| options.set(set));
    let (scenario, _) = Scenario::parse(&text, &options).map_err(|found| found.to_string())?;
    Ok(as_tc(&scenario).map(|linux| [linux.lines().collect(), linux.notes]))
}

fn fate(walk: &Walk, set: &str) -> Result<Fate, String> {
    let [commands, notes] = made(walk, None)?.map_err(|refused| refused.join(" "))?;
    Ok(match made(walk, Some(set))? {
        Err(_) => Refused,
        Ok([_, new]) if new.iter().any(|note| !notes.contains(note)) => Noted,
        Ok([new, _]) if new != commands => Said,
        Ok(_) => Elsewhere,
    })
}

#[test]
fn every_key_is_said_noted_or_refused() {
    let of = |walk: Walk| crate::keys::wrong(walk.what, walk.keys.clone(), walk.rows, |set| fate(&walk, set));
    let wrong: Vec<_> = walks().into_iter().flat_map(of).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a run of the lab cannot have is refused, with what to do.
#[test]
fn changes_are_refused() {
    let text = format!("{NET}{PLAIN}\n[[change]]\nat = \"1500ms\"\nlinks.\"a - b\".rate = \"9Mbit/s\"\n")
        .replace("LAW", "linux");
    let (scenario, _) = Scenario::parse(&text, &Options::new("net.toml")).unwrap_or_else(|found| panic!("{found}"));
    let refused = as_tc(&scenario).unwrap_err();
    assert!(refused.len() == 1 && refused[0].contains("[[change]]"), "{refused:?}");
}

/// The models whose datagrams are sent at the simulator's times need no words of tc.
#[test]
fn the_lab_knows_every_model_or_refuses_it() {
    let known = ["cbr", "on-off", "poisson", "capture", "ftp"];
    assert!(known.iter().all(|name| traffic::NAMES.contains(name)));
}
