//! W344: said of bulk TCP whose phases decide, and of no other.

use perhop_scenario::{Options, Scenario};

/// Two flows whose round trips are 25 and 100 packets' times, and more of whatever kind.
fn says(changes: &[(&str, &str)], more: &str) -> bool {
    let mut text = format!(
        "[scenario]\nduration = \"20s\"\n\
         [links]\n\"a - r\" = {{ rate = \"1Gbit/s\", delay = \"1ms\" }}\n\
         \"b - r\" = {{ rate = \"1Gbit/s\", delay = \"16ms\" }}\n\
         \"r - d\" = {{ rate = \"30Mbit/s\", delay = \"4ms\", queue = {{ limit = \"100p\" }} }}\n\
         [tcp.host]\nstack = \"linux\"\n\
         [traffic.a]\nmodel = \"ftp\"\nfrom = \"a\"\nto = \"d\"\ntcp = \"host\"\n\
         [traffic.b]\nmodel = \"ftp\"\nfrom = \"b\"\nto = \"d\"\ntcp = \"host\"\n{more}"
    );
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let (_, said) = Scenario::parse(&text, &Options::new("x.toml")).unwrap_or_else(|errors| panic!("{errors}"));
    said.list.iter().any(|it| it.code == "W344")
}

#[test]
fn round_trips_that_differ_by_whole_multiples_are_said() {
    assert!(says(&[], ""));
    // 10.4 ms and 40 ms: 74 packets' times between them.
    assert!(says(&[("delay = \"1ms\"", "delay = \"1.2ms\"")], ""));
    // 2 us from 1.2 ms are 1 % of a packet's time there and back.
    assert!(says(&[("delay = \"1ms\"", "delay = \"1.202ms\"")], ""));
    assert!(says(&[("stack = \"linux\"", "stack = \"classic\"\nwindow = 200\nsegment = \"1460B\"")], ""));
    // A shaper's rate is what counts.
    let shaped = "shape = { rate = \"30Mbit/s\", burst = \"3kB\" }, limit = \"100p\"";
    assert!(says(&[("\"30Mbit/s\", delay", "\"100Mbit/s\", delay"), ("limit = \"100p\"", shaped)], ""));
}

#[test]
fn what_mixes_phases_is_not() {
    let quiet: [&[(&str, &str)]; 9] = [
        &[("delay = \"1ms\"", "delay = \"1.05ms\"")],
        &[("delay = \"1ms\"", "delay = \"1.1ms\"")],
        // Equal round trips: neither has the better phase.
        &[("delay = \"16ms\"", "delay = \"1ms\"")],
        &[("stack = \"linux\"", "stack = \"linux\"\noverhead = \"400us\"")],
        &[("stack = \"linux\"", "stack = \"linux-bbr\"")],
        &[("limit = \"100p\"", "aqm = \"red\", limit = \"100p\", min = \"20p\", max = \"60p\", max-p = 0.1")],
        &[("delay = \"4ms\"", "delay = \"4ms\", jitter = \"1ms\"")],
        &[("delay = \"4ms\"", "delay = \"4ms\", loss = 0.0001")],
        &[("limit = \"100p\"", "limit = \"100000p\"")],
    ];
    for changes in quiet {
        assert!(!says(changes, ""), "{changes:?}");
    }
    let other = |model: &str| says(&[], &format!("[traffic.o]\nfrom = \"a\"\nto = \"d\"\n{model}"));
    assert!(!other("model = \"poisson\"\nrate = \"1Mbit/s\"\nsize = \"500B\""));
    assert!(!other("model = \"transfers\"\nsize = \"20kB\"\ngap = \"1s\"\ntcp = \"host\""));
    assert!(!says(&[], "[traffic.o]\nmodel = \"ftp\"\nfrom = \"d\"\nto = \"a\"\ntcp = \"host\"\n"));
    assert!(!says(&[("model = \"ftp\"", "model = \"ftp\"\nflows = 26")], ""));
    let police = "[conditioner.p]\nat = \"r -> d\"\nkind = \"token-bucket\"\ncir = \"20Mbit/s\"\ncbs = \"20kB\"\nred = \"drop\"\n";
    assert!(!says(&[], police));
}
