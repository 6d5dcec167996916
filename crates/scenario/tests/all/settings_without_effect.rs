//! Settings that run and do not do what they seem to: each is said once, with its place and value, and its sound neighbour is
//! not.

use perhop_scenario::{Options, Scenario};

fn file(queue: &str, more: &str) -> String {
    format!(
        "[scenario]\nduration = \"60s\"\n[links]\n\"a - R\" = {{ rate = \"100Mbit/s\" }}\n\"R - b\" = {{ rate = \"10Mbit/s\" }}\n\
         \"R -> b\" = {{ queue = {queue} }}\n[traffic.t]\nmodel = \"cbr\"\nrate = \"80kbit/s\"\nsize = \"1500B\"\nfrom = \"a\"\nto = \"b\"\n{more}"
    )
}

fn warnings(text: &str) -> Vec<String> {
    let (_, said) = Scenario::parse(text, &Options::new("x.toml")).unwrap_or_else(|said| panic!("{said}"));
    said.list.iter().map(|it| format!("{} {}", it.code, it.sentence())).collect()
}

#[test]
fn queues_that_cannot_do_what_they_say() {
    let cases = [
        (
            r#"{ scheduler = "htb", classes = [{ rate = "1Mbit/s", ceil = "8Mbit/s", quantum = "1500B" }] }"#,
            r#"{ scheduler = "htb", classes = [{ rate = "1Mbit/s", ceil = "1Mbit/s", quantum = "1500B" }] }"#,
            "W336 class 1: `ceil` 8Mbit/s is never reached: it has no `parent` to borrow from",
        ),
        (
            r#"{ aqm = "red", limit = "50p", min = "10p", max = "60p", max-p = 0.1 }"#,
            r#"{ aqm = "red", limit = "50p", min = "10p", max = "50p", max-p = 0.1 }"#,
            "W316 `max` is 60 packets: the queue's limit is 50p",
        ),
        (
            r#"{ aqm = "wred", limit = "50p", wq = 0.002, profiles = [{ min = "10p", max = "51p", max-p = 0.1 }] }"#,
            r#"{ aqm = "wred", limit = "50p", wq = 0.002, profiles = [{ min = "10p", max = "50p", max-p = 0.1 }] }"#,
            "W316 profile 1: `max` is 51 packets: the queue's limit is 50p",
        ),
        (
            r#"{ aqm = "codel", shape = { rate = "933kbit/s", burst = "3000B" } }"#,
            r#"{ aqm = "codel", target = "13ms", shape = { rate = "933kbit/s", burst = "3000B" } }"#,
            "W337 `target` is 5ms, less than the time of one packet at 933kbit/s",
        ),
        (
            r#"{ scheduler = "htb", classes = [{ rate = "933kbit/s", quantum = "1500B", queue = { scheduler = "fq-codel" } }] }"#,
            r#"{ scheduler = "htb", classes = [{ rate = "3Mbit/s", quantum = "1500B", queue = { scheduler = "fq-codel" } }] }"#,
            "W337 `target` is 5ms, less than the time of one packet at 933kbit/s",
        ),
        (
            r#"{ shape = { rate = "5Mbit/s", burst = "134375000B" } }"#,
            r#"{ shape = { rate = "5Mbit/s", burst = "6250000B" } }"#,
            "W338 `burst` is 134375000B, what `rate` 5Mbit/s earns in 215 s",
        ),
    ];
    for (wrong, sound, said) in cases {
        assert_eq!(warnings(&file(wrong, "")), [said], "{wrong}");
        assert_eq!(warnings(&file(sound, "")), [""; 0], "{sound}");
    }
    let twice = r#"{ scheduler = "htb", classes = [{ for = "EF", rate = "933kbit/s", quantum = "1500B", queue = "slow" }, { rate = "500kbit/s", quantum = "1500B", queue = "slow" }] }"#;
    let queue = "[queue.slow]\naqm = \"codel\"\n";
    let voice = "[traffic.v]\nmodel = \"cbr\"\nrate = \"80kbit/s\"\nsize = \"1500B\"\nfrom = \"a\"\nto = \"b\"\ndscp = \"EF\"\n";
    let both = warnings(&file(twice, &format!("{queue}{voice}")));
    assert_eq!(both.iter().filter(|it| it.starts_with("W337")).count(), 1, "one cause, one warning: {both:?}");
    // CAKE raises its target, and COBALT spares what waits for four packets.
    for adapts in [
        r#"{ scheduler = "cake", rate = "933kbit/s" }"#,
        r#"{ aqm = "cobalt", ecn = false, shape = { rate = "933kbit/s", burst = "3000B" } }"#,
    ] {
        assert_eq!(warnings(&file(adapts, "")), [""; 0], "{adapts}");
    }
}

#[test]
fn traffic_that_does_not_send() {
    let plain = "{ limit = \"100p\" }";
    let bursts = |off: &str| {
        format!(
            "[traffic.u]\nmodel = \"on-off\"\nrate = \"1Mbit/s\"\nsize = \"200B\"\non = \"1s\"\noff = \"{off}\"\nfrom = \"a\"\nto = \"b\"\n"
        )
    };
    assert_eq!(warnings(&file(plain, &bursts("1h"))), ["W339 traffic `u` probably sends nothing"]);
    assert_eq!(warnings(&file(plain, &bursts("60s"))), [""; 0]);
    let poisson = |rate: &str| {
        format!("[traffic.u]\nmodel = \"poisson\"\nrate = \"{rate}\"\nsize = \"1500B\"\nfrom = \"a\"\nto = \"b\"\n")
    };
    assert_eq!(warnings(&file(plain, &poisson("100bit/s"))), ["W339 traffic `u` probably sends nothing"]);
    assert_eq!(warnings(&file(plain, &poisson("1kbit/s"))), [""; 0]);
}

#[test]
fn a_bottleneck_in_the_sender() {
    let bulk = |from: &str| format!("[traffic.u]\nmodel = \"ftp\"\ntcp = \"linux\"\nfrom = \"{from}\"\nto = \"b\"\n");
    let plain = "{ limit = \"100p\" }";
    assert_eq!(warnings(&file(plain, &bulk("a"))), [""; 0], "the queue forms at R");
    assert_eq!(warnings(&file(plain, &bulk("R"))), ["W340 the bottleneck of traffic `u` is its own port `R -> b`"]);
    let classic = bulk("R").replace("linux", "classic");
    assert_eq!(warnings(&file(plain, &classic)), [""; 0], "ns-2's senders leave it all in the port");
}

/// What is not stated is not advised against, and advice is not what is there already.
#[test]
fn defaults_are_not_at_fault() {
    let htb = |burst: &str| {
        format!(
            r#"{{ scheduler = "htb", overhead = "200B", classes = [{{ for = "EF", rate = "1Mbit/s", quantum = "1500B"{burst} }}, {{ rate = "8Mbit/s", quantum = "1500B" }}] }}"#
        )
    };
    let voice = "[traffic.v]\nmodel = \"cbr\"\nrate = \"80kbit/s\"\nsize = \"1500B\"\nfrom = \"a\"\nto = \"b\"\ndscp = \"EF\"\n";
    let text = file(&htb(""), voice);
    assert_eq!(warnings(&text), ["W302 nothing polices the EF traffic `v`"]);
    let (_, said) = Scenario::parse(&text, &Options::new("x.toml")).unwrap();
    assert_eq!(
        said.list[0].help,
        "packets beyond the rate of their class wait: put a token bucket with red = \"drop\" on their path"
    );
    let stated = warnings(&file(&htb(", burst = \"1600B\""), voice));
    assert_eq!(stated[0], "W326 class 1: `burst` is 1600B, less than one packet");
}
