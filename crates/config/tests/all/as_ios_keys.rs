//! `explain --as ios` passes over no key of a queue, a scheduler, a shaper or a conditioner: each one changes the lines, or a note says
//! that IOS has it otherwise, or it is lost. Kinds that IOS has not are lost by name.

use crate::keys::{entry, fields};
use perhop_config::as_ios::{self, Ios, Target};
use perhop_core::params::Params;
use perhop_core::{aqm, conditioner, port, sched};
use perhop_scenario::sections::{conditioner as placed, queue};
use perhop_scenario::{Options, Sweep};

const NET: &str = r#"
[scenario]
accounting = "l2"

[links]
"a - b" = { rate = "10Mbit/s", delay = "5ms" }
"a -> b" = { queue = "q" }

[traffic.udp]
model = "cbr"
rate = "1Mbit/s"
size = "500B"
dscp = "EF"
from = "a"
to = "b"

"#;

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// Other lines.
    Said,
    /// A note.
    Noted,
    /// It is lost.
    Lost,
    /// It changes nothing of what packets meet.
    Nothing,
}
use Fate::{Lost, Noted, Nothing, Said};

type Row = crate::keys::Row<Fate>;

/// What is looked at: the sections, the keys that there are, and a row for each.
struct Walk {
    what: &'static str,
    sections: String,
    keys: Vec<String>,
    rows: &'static [Row],
}

const PLAIN: &str = "limit = \"50p\"";
const RED: &str = "aqm = \"red\"\nlimit = \"64p\"\nmin = \"20p\"\nmax = \"40p\"\nweight = 9";
const WRED: &str = "aqm = \"wred\"\nlimit = \"64p\"\nweight = 9\nprofiles = [{ for = \"EF\", min = \"20p\", max = \"40p\" }, { for = \"AF11\", min = \"10p\", max = \"40p\" }]";
const SHAPED: &str = "limit = \"50p\"\nshape = { rate = \"5Mbit/s\", burst = \"3000B\", debt = true }";
const STRICT: &str = "scheduler = \"strict-priority\"\nclasses = [{ for = \"EF\" }, {}]";
const DRR: &str = "scheduler = \"drr\"\nclasses = [{ for = \"EF\", quantum = \"1600B\" }, { quantum = \"1600B\" }]";
const WRR: &str = "scheduler = \"wrr\"\nclasses = [{ for = \"EF\", weight = 1 }, { weight = 1 }]";
const ETS: &str = "scheduler = \"ets\"\nclasses = [{ for = \"EF\" }, { quantum = \"1600B\" }]";
const HTB: &str = "scheduler = \"htb\"\nclasses = [{ for = \"EF\", rate = \"1Mbit/s\" }, { rate = \"2Mbit/s\" }]";
const TIMED: &str = "scheduler = \"drr\"\nclasses = [{ for = \"EF\", quantum = \"1600B\", queue = { limit = \"20ms\" } }, { quantum = \"1600B\" }]";

fn in_queue(what: &'static str, queue: &str, keys: Vec<String>, rows: &'static [Row]) -> Walk {
    Walk { what, sections: format!("[queue.q]\n{queue}\n"), keys, rows }
}

fn metered(what: &'static str, kind: &str, keys: Vec<String>, rows: &'static [Row]) -> Walk {
    let sections = format!(
        "[queue.q]\nlimit = \"50p\"\n[conditioner.c]\nat = \"a -> b\"\nmatch = {{ dscp = \"EF\" }}\n{kind}\nred = \"drop\"\n"
    );
    Walk { what, sections, keys, rows }
}

fn queues() -> Vec<Walk> {
    vec![
        in_queue(
            "[queue]",
            PLAIN,
            fields(<queue::QueueCommon as Params>::FIELDS),
            &[("limit", "queue.q.limit=60p", Said), ("drop", "queue.q.drop=head", Lost)],
        ),
        in_queue("drop-tail", PLAIN, entry(aqm::LIST, "drop-tail"), &[]),
        in_queue(
            "[queue] with a scheduler",
            TIMED,
            fields(<queue::Telling as Params>::FIELDS),
            &[("aqm-rate", "queue.q.aqm-rate=share", Noted)],
        ),
        in_queue(
            "red",
            RED,
            entry(aqm::LIST, "red"),
            &[
                ("min", "queue.q.min=21p", Said),
                ("max", "queue.q.max=41p", Said),
                ("max-p", "queue.q.max-p=0.3", Noted),
                ("curve", "queue.q={aqm=\"red\",limit=\"64p\",curve=[[\"20%\",0.0],[\"50%\",0.05]]}", Lost),
                (
                    "interpolate",
                    "queue.q={aqm=\"red\",limit=\"64p\",curve=[[\"20%\",0.0],[\"50%\",0.05]],interpolate=\"step\"}",
                    Lost,
                ),
                (
                    "ecn-min",
                    "queue.q={aqm=\"red\",limit=\"64p\",min=\"20p\",max=\"40p\",ecn=true,ecn-min=\"9p\",ecn-max=\"20p\"}",
                    Lost,
                ),
                (
                    "ecn-max",
                    "queue.q={aqm=\"red\",limit=\"64p\",min=\"20p\",max=\"40p\",ecn=true,ecn-min=\"9p\",ecn-max=\"21p\"}",
                    Lost,
                ),
                (
                    "ecn-p",
                    "queue.q={aqm=\"red\",limit=\"64p\",min=\"20p\",max=\"40p\",ecn=true,ecn-min=\"9p\",ecn-max=\"21p\",ecn-p=0.2}",
                    Lost,
                ),
                ("wq", "queue.q={aqm=\"red\",limit=\"64p\",min=\"20p\",max=\"40p\",wq=0.003}", Noted),
                ("weight", "queue.q.weight=5", Said),
                ("mean-packet", "queue.q.mean-packet=900B", Noted),
                ("spacing", "queue.q.spacing=bernoulli", Noted),
                ("beyond", "queue.q.beyond=gentle", Lost),
                ("ecn", "queue.q.ecn=true", Said),
                ("min-waiting", "queue.q.min-waiting=2p", Lost),
                (
                    "arithmetic",
                    "queue.q={aqm=\"red\",limit=\"100kB\",min=\"15kB\",max=\"45kB\",weight=4,arithmetic=\"linux\"}",
                    Noted,
                ),
                ("adaptive", "queue.q.adaptive=true", Lost),
            ],
        ),
        in_queue(
            "wred",
            WRED,
            entry(aqm::LIST, "wred"),
            &[
                ("profiles[].for", "queue.q.profiles=[{for=\"AF12\",min=\"20p\",max=\"40p\"}]", Said),
                (
                    "profiles[].match",
                    "queue.q.profiles=[{match={dscp=\"AF12\"},min=\"20p\",max=\"40p\"},{for=\"AF11\",min=\"9p\",max=\"40p\"}]",
                    Said,
                ),
                ("profiles[].min", "queue.q.profiles=[{for=\"EF\",min=\"21p\",max=\"40p\"}]", Said),
                ("profiles[].max", "queue.q.profiles=[{for=\"EF\",min=\"20p\",max=\"41p\"}]", Said),
                ("profiles[].max-p", "queue.q.profiles=[{for=\"EF\",min=\"20p\",max=\"40p\",max-p=0.05}]", Said),
                ("profiles[].curve", "queue.q.profiles=[{for=\"EF\",curve=[[\"20%\",0.0],[\"50%\",0.05]]}]", Lost),
                (
                    "profiles[].interpolate",
                    "queue.q.profiles=[{for=\"EF\",curve=[[\"20%\",0.0],[\"50%\",0.05]],interpolate=\"step\"}]",
                    Lost,
                ),
                (
                    "profiles[].ecn-min",
                    "queue.q={aqm=\"wred\",ecn=true,limit=\"64p\",profiles=[{for=\"EF\",min=\"20p\",max=\"40p\",ecn-min=\"9p\",ecn-max=\"20p\"}]}",
                    Lost,
                ),
                (
                    "profiles[].ecn-max",
                    "queue.q={aqm=\"wred\",ecn=true,limit=\"64p\",profiles=[{for=\"EF\",min=\"20p\",max=\"40p\",ecn-min=\"9p\",ecn-max=\"21p\"}]}",
                    Lost,
                ),
                (
                    "profiles[].ecn-p",
                    "queue.q={aqm=\"wred\",ecn=true,limit=\"64p\",profiles=[{for=\"EF\",min=\"20p\",max=\"40p\",ecn-min=\"9p\",ecn-max=\"21p\",ecn-p=0.2}]}",
                    Lost,
                ),
                ("averages", "queue.q.averages=separate", Lost),
                (
                    "wq",
                    "queue.q={aqm=\"wred\",limit=\"64p\",wq=0.003,profiles=[{for=\"EF\",min=\"20p\",max=\"40p\"}]}",
                    Noted,
                ),
                ("weight", "queue.q.weight=5", Said),
                ("mean-packet", "queue.q.mean-packet=900B", Noted),
                ("spacing", "queue.q.spacing=bernoulli", Noted),
                ("beyond", "queue.q.beyond=gentle", Lost),
                ("ecn", "queue.q.ecn=true", Said),
            ],
        ),
        in_queue(
            "shape",
            SHAPED,
            fields(<port::ShaperParams as Params>::FIELDS),
            &[
                ("rate", "queue.q.shape.rate=6Mbit/s", Said),
                ("burst", "queue.q.shape.burst=4000B", Said),
                ("peak", "queue.q.shape.peak=8Mbit/s", Lost),
                (
                    "peak-burst",
                    "queue.q.shape={rate=\"5Mbit/s\",burst=\"3000B\",peak=\"8Mbit/s\",peak-burst=\"3000B\"}",
                    Lost,
                ),
                ("debt", "queue.q.shape.debt=false", Noted),
                ("granularity", "queue.q.shape.granularity=1ms", Noted),
                ("arithmetic", "queue.q.shape.arithmetic=linux", Noted),
                ("overhead", "queue.q.shape.overhead=4B", Said),
                ("mpu", "queue.q.shape.mpu=84B", Lost),
                ("link-layer", "queue.q.shape.link-layer=atm", Said),
            ],
        ),
    ]
}

fn schedulers() -> Vec<Walk> {
    vec![
        in_queue(
            "strict-priority",
            STRICT,
            entry(sched::LIST, "strict-priority"),
            templates!(
                Lost,
                "",
                "",
                [
                    ("classes[].name", "queue.q.classes=[{name=\"up\",for=\"EF\"},{}]", Said),
                    ("classes[].for", "queue.q.classes=[{for=\"AF11\"},{}]", Said),
                    ("classes[].match", "queue.q.classes=[{match={destination=\"10.0.1.0/24\"}},{}]", Said),
                    ("classes[].rate", "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\"},{}]", Said),
                    ("classes[].burst", "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\",burst=\"5000B\"},{}]", Said),
                    (
                        "classes[].police",
                        "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\",police=\"congested\"},{}]",
                        Said
                    ),
                    ("classes[].same-level", "queue.q.classes=[{for=\"EF\"},{same-level=true}]", Lost),
                    ("classes[].queue", "queue.q.classes=[{for=\"EF\",queue={limit=\"9p\"}},{}]", Said),
                ]
            ),
        ),
        in_queue(
            "drr",
            DRR,
            entry(sched::LIST, "drr"),
            templates!(
                Lost,
                ",quantum=\"1600B\"",
                "quantum=\"1600B\"",
                [
                    (
                        "classes[].name",
                        "queue.q.classes=[{name=\"up\",for=\"EF\",quantum=\"1600B\"},{quantum=\"1600B\"}]",
                        Said
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
                    ("arithmetic", "queue.q.arithmetic=linux", Noted),
                ]
            ),
        ),
        in_queue(
            "wrr",
            WRR,
            entry(sched::LIST, "wrr"),
            templates!(
                Lost,
                ",weight=1",
                "weight=1",
                [
                    ("classes[].name", "queue.q.classes=[{name=\"up\",for=\"EF\",weight=1},{weight=1}]", Said),
                    ("classes[].for", "queue.q.classes=[{for=\"AF11\",weight=1},{weight=1}]", Said),
                    (
                        "classes[].match",
                        "queue.q.classes=[{match={destination=\"10.0.1.0/24\"},weight=1},{weight=1}]",
                        Said,
                    ),
                    ("classes[].weight", "queue.q.classes=[{for=\"EF\",weight=3},{weight=1}]", Said),
                    (
                        "classes[].queue",
                        "queue.q.classes=[{for=\"EF\",weight=1,queue={limit=\"9p\"}},{weight=1}]",
                        Said
                    ),
                ]
            ),
        ),
        in_queue(
            "ets",
            ETS,
            entry(sched::LIST, "ets"),
            templates!(
                Lost,
                ",quantum=\"1600B\"",
                "quantum=\"1600B\"",
                [
                    ("classes[].name", "queue.q.classes=[{name=\"up\",for=\"EF\"},{quantum=\"1600B\"}]", Said),
                    ("classes[].for", "queue.q.classes=[{for=\"AF11\"},{quantum=\"1600B\"}]", Said),
                    (
                        "classes[].match",
                        "queue.q.classes=[{match={destination=\"10.0.1.0/24\"}},{quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].quantum",
                        "queue.q.classes=[{for=\"EF\"},{for=\"AF11\",quantum=\"1700B\"},{quantum=\"1600B\"}]",
                        Said,
                    ),
                    ("classes[].rate", "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\"},{quantum=\"1600B\"}]", Said),
                    (
                        "classes[].burst",
                        "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\",burst=\"5000B\"},{quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].police",
                        "queue.q.classes=[{for=\"EF\",rate=\"2Mbit/s\",police=\"congested\"},{quantum=\"1600B\"}]",
                        Said,
                    ),
                    (
                        "classes[].queue",
                        "queue.q.classes=[{for=\"EF\",queue={limit=\"9p\"}},{quantum=\"1600B\"}]",
                        Said
                    ),
                    ("arithmetic", "queue.q.arithmetic=linux", Noted),
                ]
            ),
        ),
        in_queue(
            "htb",
            HTB,
            entry(sched::LIST, "htb"),
            templates!(
                Lost,
                ",rate=\"1Mbit/s\"",
                "rate=\"2Mbit/s\"",
                [
                    (
                        "classes[].name",
                        "queue.q.classes=[{name=\"up\",rate=\"3Mbit/s\"},{parent=\"up\",rate=\"2Mbit/s\"}]",
                        Said,
                    ),
                    (
                        "classes[].parent",
                        "queue.q.classes=[{name=\"up\",rate=\"3Mbit/s\"},{parent=\"up\",rate=\"2Mbit/s\"}]",
                        Said,
                    ),
                    ("classes[].for", "queue.q.classes=[{for=\"AF11\",rate=\"1Mbit/s\"},{rate=\"2Mbit/s\"}]", Said),
                    (
                        "classes[].match",
                        "queue.q.classes=[{match={destination=\"10.0.1.0/24\"},rate=\"1Mbit/s\"},{rate=\"2Mbit/s\"}]",
                        Said,
                    ),
                    ("classes[].rate", "queue.q.classes=[{for=\"EF\",rate=\"1500kbit/s\"},{rate=\"2Mbit/s\"}]", Said),
                    (
                        "classes[].ceil",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",ceil=\"2Mbit/s\"},{rate=\"2Mbit/s\"}]",
                        Said,
                    ),
                    (
                        "classes[].prio",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",prio=1},{rate=\"2Mbit/s\"}]",
                        Noted
                    ),
                    (
                        "classes[].quantum",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",quantum=\"1700B\"},{rate=\"2Mbit/s\"}]",
                        Noted,
                    ),
                    (
                        "classes[].burst",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",burst=\"5000B\"},{rate=\"2Mbit/s\"}]",
                        Noted,
                    ),
                    (
                        "classes[].cburst",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",cburst=\"5000B\"},{rate=\"2Mbit/s\"}]",
                        Said,
                    ),
                    (
                        "classes[].queue",
                        "queue.q.classes=[{for=\"EF\",rate=\"1Mbit/s\",queue={limit=\"9p\"}},{rate=\"2Mbit/s\"}]",
                        Said,
                    ),
                    ("r2q", "queue.q.r2q=9", Noted),
                    ("overhead", "queue.q.overhead=4B", Said),
                    ("mpu", "queue.q.mpu=84B", Lost),
                    ("link-layer", "queue.q.link-layer=atm", Said),
                    ("arithmetic", "queue.q.arithmetic=linux", Noted),
                    (
                        "unclassified",
                        "queue.q={scheduler=\"htb\",unclassified=\"direct\",classes=[{for=\"EF\",rate=\"1Mbit/s\"}]}",
                        Lost,
                    ),
                ]
            ),
        ),
    ]
}

fn conditioners() -> Vec<Walk> {
    const BUCKET: &str = "kind = \"token-bucket\"\ncir = \"5Mbit/s\"\ncbs = \"10kB\"";
    const SINGLE: &str = "kind = \"srtcm\"\ncir = \"5Mbit/s\"\ncbs = \"10kB\"\nebs = \"20kB\"";
    const TWO: &str = "kind = \"trtcm\"\ncir = \"5Mbit/s\"\ncbs = \"10kB\"\npir = \"6Mbit/s\"\npbs = \"20kB\"";
    const MARKER: &str = "kind = \"marker\"\ngreen = \"mark AF11\"";
    vec![
        metered(
            "token-bucket",
            BUCKET,
            entry(conditioner::LIST, "token-bucket"),
            &[
                ("cir", "conditioner.c.cir=6Mbit/s", Said),
                ("cbs", "conditioner.c.cbs=11kB", Said),
                (
                    "pir",
                    "conditioner.c={at=\"a -> b\",kind=\"token-bucket\",cir=\"5Mbit/s\",cbs=\"10kB\",pir=\"8Mbit/s\",mtu=\"2000B\"}",
                    Lost,
                ),
                ("mtu", "conditioner.c.mtu=1900B", Lost),
                ("overhead", "conditioner.c.overhead=4B", Lost),
                ("mpu", "conditioner.c.mpu=84B", Lost),
                ("link-layer", "conditioner.c.link-layer=atm", Lost),
                ("arithmetic", "conditioner.c.arithmetic=linux", Noted),
            ],
        ),
        metered(
            "srtcm",
            SINGLE,
            entry(conditioner::LIST, "srtcm"),
            &[
                ("cir", "conditioner.c.cir=6Mbit/s", Said),
                ("cbs", "conditioner.c.cbs=11kB", Said),
                ("ebs", "conditioner.c.ebs=11kB", Said),
                ("colour-aware", "conditioner.c.colour-aware=true", Lost),
                ("overhead", "conditioner.c.overhead=4B", Lost),
                ("mpu", "conditioner.c.mpu=84B", Lost),
                ("link-layer", "conditioner.c.link-layer=atm", Lost),
            ],
        ),
        metered(
            "trtcm",
            TWO,
            entry(conditioner::LIST, "trtcm"),
            &[
                ("cir", "conditioner.c.cir=4Mbit/s", Said),
                ("cbs", "conditioner.c.cbs=11kB", Said),
                ("pir", "conditioner.c.pir=7Mbit/s", Said),
                ("pbs", "conditioner.c.pbs=11kB", Said),
                ("colour-aware", "conditioner.c.colour-aware=true", Lost),
                ("overhead", "conditioner.c.overhead=4B", Lost),
                ("mpu", "conditioner.c.mpu=84B", Lost),
                ("link-layer", "conditioner.c.link-layer=atm", Lost),
            ],
        ),
        metered("marker", MARKER, entry(conditioner::LIST, "marker"), &[("colour", "conditioner.c.colour=red", Said)]),
        metered(
            "[conditioner]",
            BUCKET,
            fields(<placed::Placement as Params>::FIELDS),
            &[("match", "conditioner.c.match={dscp=\"AF11\"}", Said), ("per", "conditioner.c.per=flow", Lost)],
        ),
        metered(
            "actions",
            SINGLE,
            fields(<placed::Actions as Params>::FIELDS),
            &[
                ("green", "conditioner.c.green=mark AF11", Said),
                ("yellow", "conditioner.c.yellow=drop", Said),
                ("red", "conditioner.c.red=colour yellow", Lost),
                // A meter leaves no packet without a colour.
                ("unmarked", "conditioner.c.unmarked=drop", Nothing),
            ],
        ),
    ]
}

/// Schedulers over flows: all but their limit is in the note that says what IOS has in their place.
fn flows() -> Vec<Walk> {
    let keys = |name| entry(sched::LIST, name);
    vec![
        in_queue(
            "fq-codel",
            "scheduler = \"fq-codel\"",
            keys("fq-codel"),
            &[
                ("flows", "queue.q.flows=512", Noted),
                ("quantum", "queue.q.quantum=1600B", Noted),
                ("limit", "queue.q.limit=900p", Said),
                ("memory", "queue.q.memory=4MB", Noted),
                ("drop-batch", "queue.q.drop-batch=32", Noted),
                ("target", "queue.q.target=6ms", Noted),
                ("interval", "queue.q.interval=90ms", Noted),
                ("mtu", "queue.q.mtu=3000B", Noted),
                ("ecn", "queue.q.ecn=false", Noted),
                ("ce-threshold", "queue.q.ce-threshold=1ms", Noted),
                ("hash", "queue.q.hash=exact", Noted),
                ("salt", "queue.q.salt=7", Noted),
                ("arithmetic", "queue.q.arithmetic=linux", Noted),
            ],
        ),
        in_queue(
            "sfq",
            "scheduler = \"sfq\"",
            keys("sfq"),
            &[
                ("flows", "queue.q.flows=512", Noted),
                ("active", "queue.q.active=100", Noted),
                ("quantum", "queue.q.quantum=1600B", Noted),
                ("limit", "queue.q.limit=120p", Said),
                ("depth", "queue.q.depth=100p", Noted),
                ("drop", "queue.q.drop=head", Noted),
                ("hash", "queue.q.hash=exact", Noted),
                ("salt", "queue.q.salt=7", Noted),
                ("arithmetic", "queue.q.arithmetic=linux", Noted),
            ],
        ),
        in_queue(
            "fq",
            "scheduler = \"fq\"",
            keys("fq"),
            &[
                ("flows", "queue.q.flows=512", Noted),
                ("quantum", "queue.q.quantum=1600B", Noted),
                ("initial-quantum", "queue.q.initial-quantum=3000B", Noted),
                ("limit", "queue.q.limit=900p", Said),
                ("flow-limit", "queue.q.flow-limit=90p", Noted),
                ("pacing", "queue.q.pacing=false", Noted),
                ("maxrate", "queue.q.maxrate=5Mbit/s", Noted),
                ("low-rate-threshold", "queue.q.low-rate-threshold=1Mbit/s", Noted),
                ("refill-delay", "queue.q.refill-delay=50ms", Noted),
                ("timer-slack", "queue.q.timer-slack=5us", Noted),
                ("ce-threshold", "queue.q.ce-threshold=1ms", Noted),
                ("priomap", "queue.q.priomap=\"0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\"", Noted),
                ("weights", "queue.q.weights=\"16384 16384 16384\"", Noted),
                ("hash", "queue.q.hash=exact", Noted),
                ("salt", "queue.q.salt=7", Noted),
            ],
        ),
        in_queue(
            "fq-pie",
            "scheduler = \"fq-pie\"",
            keys("fq-pie"),
            &[
                ("flows", "queue.q.flows=512", Noted),
                ("quantum", "queue.q.quantum=1600B", Noted),
                ("limit", "queue.q.limit=900p", Said),
                ("target", "queue.q.target=16ms", Noted),
                ("interval", "queue.q.interval=16ms", Noted),
                ("alpha", "queue.q.alpha=0.25", Noted),
                ("beta", "queue.q.beta=1.5", Noted),
                ("delay", "queue.q.delay=rate", Noted),
                ("byte-mode", "queue.q.byte-mode=true", Noted),
                ("mtu", "queue.q.mtu=3000B", Noted),
                ("ecn", "queue.q.ecn=true", Noted),
                ("ecn-below", "queue.q.ecn-below=0.2", Noted),
                ("hash", "queue.q.hash=exact", Noted),
                ("salt", "queue.q.salt=7", Noted),
            ],
        ),
    ]
}

fn walks() -> Vec<Walk> {
    [queues(), schedulers(), conditioners(), flows()].into_iter().flatten().collect()
}

fn made(sections: &str, set: Option<&str>) -> Result<Ios, String> {
    let options = set.into_iter().fold(Options::new("net.toml"), |options, set| options.set(set));
    let (sweep, _) = Sweep::parse(&format!("{NET}{sections}"), &options).map_err(|found| found.to_string())?;
    as_ios::of_sweep(&sweep, Target { port: Some("a -> b"), ..Target::default() }).map_err(|found| found.to_string())
}

fn fate(walk: &Walk, set: &str) -> Result<Fate, String> {
    let (old, new) = (made(&walk.sections, None)?, made(&walk.sections, Some(set))?);
    let more = |old: &[String], new: &[String]| new.iter().any(|line| !old.contains(line));
    Ok(match () {
        () if more(&old.lost, &new.lost) => Lost,
        () if more(&old.notes, &new.notes) => Noted,
        () if old.lines != new.lines => Said,
        () => Nothing,
    })
}

#[test]
fn every_key_is_said_noted_or_lost() {
    let of = |walk: Walk| crate::keys::wrong(walk.what, walk.keys.clone(), walk.rows, |set| fate(&walk, set));
    let wrong: Vec<_> = walks().into_iter().flat_map(of).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every kind is among those above, or its name is in what is lost.
#[test]
fn every_kind_is_written_or_lost_by_name() {
    let walked: Vec<_> = walks().into_iter().map(|walk| walk.what).collect();
    let file = |name: &str| {
        let path = format!("{}/../../examples/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let (sweep, _) = Sweep::load(std::path::Path::new(&path), &Options::new(path.as_str()))
            .unwrap_or_else(|found| panic!("{name}: {found}"));
        as_ios::of_sweep(&sweep, Target::default()).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    for name in [aqm::NAMES, sched::NAMES, conditioner::NAMES].concat().into_iter().filter(|it| !walked.contains(it)) {
        let lost = file(name).lost;
        assert!(lost.iter().any(|it| it.contains(&format!("`{name}`"))), "{name}: {lost:?}");
    }
}

/// What queues and meters count is said for the whole port.
#[test]
fn accounting_is_noted() {
    let walk = in_queue("accounting", PLAIN, Vec::new(), &[]);
    assert_eq!(fate(&walk, "accounting=l3"), Ok(Noted));
}
