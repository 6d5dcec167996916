//! The forms in which commands and prints are pasted.

use super::{codes, queue, read, value, verdicts};
use perhop_config::account::Verdict;
use perhop_config::import_options::ImportOptions;
use perhop_config::model::Kind;
use perhop_config::tc::DIALECT;
use perhop_config::text::Text;

/// All of these say a pfifo of 30 packets on eth0.
const FORMS: [&str; 24] = [
    "tc qdisc add dev eth0 root pfifo limit 30",
    "sudo tc qdisc add dev eth0 root pfifo limit 30",
    "/sbin/tc q a dev eth0 root pfifo limit 30",
    "$ tc qdisc add dev eth0 root pfifo limit 30",
    "# tc qdisc add dev eth0 root pfifo limit 30",
    "root@gw:~# tc qdisc add dev eth0 root pfifo limit 30",
    "[root@gw ~]# tc qdisc add dev eth0 root pfifo limit 30",
    "> > tc qdisc add dev eth0 root pfifo limit 30",
    "  12  tc qdisc add dev eth0 root pfifo limit 30",
    "tc -n r1 qdisc add dev eth0 root pfifo limit 30",
    "ip netns exec r1 tc qdisc add dev eth0 root pfifo limit 30 2>/dev/null || exit 1",
    "TC=$(which tc)\nDEV=eth0\nN=30\n$TC qdisc add dev $DEV root pfifo limit ${N}",
    "DEV=eth0; RATE=60\nif true; then tc qdisc add dev $DEV root pfifo limit $((RATE / 2)); fi",
    "tc qdisc add dev eth0 \\\n   root pfifo \\\n   limit 30",
    "qdisc add dev eth0 root pfifo limit 30",
    "$ tc qdisc show dev eth0\nqdisc pfifo 8001: root refcnt 2 limit 30p",
    "qdisc pfifo 8001: dev eth0 root refcnt 2 limit 30p\n Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)",
    "[{\"kind\":\"pfifo\",\"handle\":\"8001:\",\"dev\":\"eth0\",\"root\":true,\"refcnt\":2,\"options\":{\"limit\":30}}]",
    "[ {\n  \"kind\": \"pfifo\",\n  \"handle\": \"8001:\",\n  \"dev\": \"eth0\",\n  \"root\": true,\n  \"options\": {\n    \"limit\": 30\n  }\n} ]",
    "tc qdisc add dev eth0 root pfifo limit 30 # a comment; tc qdisc del dev eth0 root",
    "$SUDO tc qdisc add dev eth0 \\\n   root pfifo limit 30",
    "qdisc add dev eth0 \\\n   root pfifo limit 30",
    "tc -V; N=30; tc qdisc add dev eth0 root pfifo limit $N",
    "for i in 1\ndo N=$((10 * (1 + (2)))); tc qdisc add dev eth0 root pfifo limit $N; done",
];

#[test]
fn all_forms_say_the_same() {
    for text in FORMS {
        let read = read(text);
        let [port] = &read.device.ports[..] else { panic!("{text}\n{:#?}", read.device) };
        assert_eq!(
            (port.interface.is.as_str(), value(&port.queue.as_ref().unwrap().settings, "limit")),
            ("eth0", "30p".to_owned()),
            "{text}"
        );
        assert!(read.findings.is_empty(), "{text}\n{:?}", read.findings);
    }
}

/// A script in which a command is commented out has another one that is not.
#[test]
fn a_comment_in_a_script_is_none() {
    let found = queue("#!/bin/sh\n# tc qdisc add dev eth0 root pfifo\ntc qdisc add dev eth0 root fq_codel\n");
    assert_eq!(found.kind, Some(Kind::Scheduler("fq-codel")));
}

/// Several prints of one interface, pasted together; what they count is evidence.
#[test]
fn prints_are_read_together() {
    let text = "\
$ tc -s qdisc show dev eth0
qdisc htb 1: root refcnt 2 r2q 10 default 0x20 direct_packets_stat 7 direct_qlen 1000
 Sent 4242 bytes 42 pkt (dropped 3, overlimits 9 requeues 0)
 backlog 1Kb 2p requeues 0
qdisc fq_codel 20: parent 1:20 limit 600p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
  maxpacket 1514 drop_overlimit 0 new_flow_count 5 ecn_mark 1
  new_flows_len 0 old_flows_len 0
$ tc -s class show dev eth0
class htb 1:10 parent 1:1 prio 1 rate 6Mbit ceil 10Mbit burst 1600b cburst 1600b
 Sent 100 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
 lended: 1 borrowed: 2 giants: 0
 tokens: -48953 ctokens: 35625

class htb 1:1 root rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b
 Sent 100 bytes 1 pkt (dropped 0, overlimits 0 requeues 0)
class htb 1:20 parent 1:1 leaf 20: prio 2 rate 4Mbit ceil 10Mbit burst 1600b cburst 1600b
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
$ tc -s filter show dev eth0
filter parent 1: protocol ip pref 1 u32 chain 0
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid 1:10 not_in_hw
  match 00b80000/00fc0000 at 0
";
    let read = read(text);
    assert!(verdicts(&read).iter().all(|it| it.1 == Verdict::Taken), "{:?}", read.account);
    // Each line but the prompts and the empty one.
    assert_eq!(read.account.lines.len(), text.lines().filter(|it| !it.starts_with('$') && !it.is_empty()).count());
    let queue = read.device.ports[0].queue.as_ref().unwrap();
    assert!(queue.classes[2].rest && queue.classes[1].takes.len() == 1);
    let count = |of: &str, name: &str| {
        let it = read.evidence.iter().find(|it| it.of == of).unwrap_or_else(|| panic!("{of}"));
        assert_eq!(it.interface, "eth0");
        it.counts.get(name).copied()
    };
    assert_eq!(
        [count("1:", "direct_packets_stat"), count("1:", "dropped"), count("1:", "backlog_bytes")],
        [Some(7), Some(3), Some(1024)]
    );
    assert_eq!(
        [count("1:10", "tokens"), count("1:10", "borrowed"), count("20:", "ecn_mark")],
        [Some(-48953), Some(2), Some(1)]
    );
}

/// What counts of `cake` are those of its tins.
#[test]
fn tins_are_counted_apart() {
    let text = "qdisc cake 8004: dev eth0 root refcnt 2 bandwidth 10Mbit diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms raw overhead 0
 Sent 300 bytes 3 pkt (dropped 1, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
                   Bulk  Best Effort        Voice
  thresh        625Kbit       10Mbit     2500Kbit
  pkts                1            2            0
  drops               0            1            0
";
    let read = read(text);
    let of = |name: &str| read.evidence.iter().find(|it| it.of == name).map(|it| it.counts["sent_packets"]);
    assert_eq!([of("8004: Bulk"), of("8004: Best Effort"), of("8004:")], [Some(1), Some(2), Some(3)]);
}

/// JSON has rates in bytes a second, times in us, and CoDel's in its own units.
#[test]
fn json_has_other_units() {
    let found = queue(
        "[{\"kind\":\"tbf\",\"handle\":\"1:\",\"dev\":\"eth0\",\"root\":true,\"options\":{\"rate\":125000,\"burst\":10240,\"lat\":50000}},\
         {\"kind\":\"codel\",\"handle\":\"2:\",\"dev\":\"eth0\",\"parent\":\"1:1\",\"options\":{\"limit\":1000,\"target\":4999,\"interval\":99999}}]",
    );
    assert_eq!(
        (value(&found.shape, "rate"), value(&found.settings, "target")),
        ("1Mbit/s".to_owned(), "5ms".to_owned())
    );
}

/// What `tc -s filter` and `tc -d qdisc` print beside the words of commands.
#[test]
fn counts_and_details_of_prints_are_passed_over() {
    let text = "qdisc prio 1: dev eth0 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1\n\
                qdisc sfq 20: dev eth0 parent 1:2 limit 127p quantum 1514b depth 127 flows 128/1024 divisor 1024 perturb 10sec\n\
                filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:1 not_in_hw  (rule \
                hit 100 success 20)\n  match 00b80000/00fc0000 at 0 (success 20 )\n";
    let read = read(text);
    assert_eq!(read.account.count(&Verdict::NotModelled), 0, "{:?}", read.account);
    let found = read.device.ports[0].queue.as_ref().unwrap();
    assert_eq!(super::class(found, "1:1").takes[0].matches.is.dscp.len(), 1);
    let sfq = super::class(found, "1:2").queue.as_ref().unwrap();
    assert_eq!([value(&sfq.settings, "active"), value(&sfq.settings, "flows")], ["128", "1024"]);
    let found = super::port(
        "$ tc -s filter show dev eth0 ingress\nfilter parent ffff: protocol ip pref 10 flower chain 0\nfilter parent ffff: protocol ip \
         pref 10 flower chain 0 handle 0x1\n  eth_type ipv4\n  ip_proto tcp\n  not_in_hw\n\taction order 1:  police 0x1 rate 10Mbit \
         burst 125Kb mtu 2Kb action drop overhead 0b linklayer ethernet\n\tref 1 bind 1  installed 8 sec used 2 sec firstused 5 \
         sec\n\tAction statistics:\n\tSent 1234567 bytes 1000 pkt (dropped 33, overlimits 33 requeues 0)\n",
    );
    assert_eq!(value(&found.conditioners[0].settings, "cir"), "10Mbit/s");
}

/// A word that other versions print, and one that is cut off, cost that word alone.
#[test]
fn unknown_words_of_prints_are_said_and_the_others_taken() {
    let found =
        read("qdisc cake 8021: dev eth4 root refcnt 2 bandwidth 5Mbit diffserv4 noatm overhead 18 mpu 64 no-sce\n");
    assert_eq!(verdicts(&found), [(1, Verdict::NotModelled)]);
    assert!(found.account.lines[&1].notes[0].contains("`no-sce`"), "{:?}", found.account);
    assert_eq!(value(&found.device.ports[0].queue.as_ref().unwrap().settings, "tins"), "diffserv4");
    for end in ["cbur", "cburst"] {
        let found = read(&format!("class htb 1:1 dev eth0 root rate 10Mbit ceil 10Mbit burst 1600b {end}"));
        assert_eq!(verdicts(&found), [(1, Verdict::NotModelled)]);
        assert_eq!(value(&found.device.ports[0].queue.as_ref().unwrap().classes[0].settings, "rate"), "10Mbit/s");
    }
}

/// `echo PASSWORD | sudo -S`, other commands and comments on the line of a command are not shown.
#[test]
fn what_stands_beside_a_command_is_hidden() {
    let text = "echo hunter2 | sudo -S tc qdisc add dev eth0 root fq_codel # swordfish\n\
                sshpass -p topsecret ssh root@198.51.100.9 \"tc qdisc add dev eth1 root sfq; echo letmein\"\n\
                PSK=hunter2 tc qdisc add dev eth2 root sfq; curl -u admin:letmein https://198.51.100.7/\n\
                $ sudo tc qdisc add dev eth3 root \\\n  codel || true\n";
    let found = perhop_config::import::read(text.as_bytes(), None, &ImportOptions::default()).unwrap();
    let shown: Vec<_> = found.lines().map(|(number, text, _)| (number, text)).collect();
    let lines = [
        (1, "tc qdisc add dev eth0 root fq_codel"),
        (2, ""),
        (3, "tc qdisc add dev eth2 root sfq"),
        (4, "tc qdisc add dev eth3 root"),
        (5, "codel"),
    ];
    assert_eq!(shown, lines.map(|(number, text)| (number, text.to_owned())));
    let found = found.read;
    assert_eq!(
        found.device.ports.iter().map(|it| it.interface.is.as_str()).collect::<Vec<_>>(),
        ["eth0", "eth2", "eth3"]
    );
}

#[test]
fn loops_over_known_values_are_run() {
    let head = "tc qdisc add dev eth0 root handle 1: htb default 30\ntc class add dev eth0 parent 1: classid 1:1 htb rate 9mbit\n";
    let body = "tc class add dev eth0 parent 1:1 classid 1:$i htb rate 3mbit prio $((i/10))";
    let loops = [
        format!("for i in 10 20 30; do\n  {body}\ndone\n"),
        format!("for i in 10 20 30\ndo\n  {body}\ndone\n"),
        format!("for i in 10 20 30; do {body}; done\n"),
        format!("LIST=\"10 20 30\"\nfor i in $LIST; do {body}\ndone # of all\n"),
        format!("for n in {{1..3}}; do\n i=$((n*10))\n {body}\ndone\n"),
        format!("for n in $(seq 1 3); do\n for i in ${{n}}0; do {body}; done\ndone < /dev/null\n"),
        format!("for i in 10 20; do\n {body}\ndone\nfor i in 30; do\n {body}\n"),
    ];
    for (i, text) in loops.iter().enumerate() {
        let cut = i + 1 == loops.len();
        let found = read(&format!("{head}{text}"));
        let classes: Vec<_> =
            found.device.ports[0].queue.as_ref().unwrap().classes.iter().map(|it| it.name.is.as_str()).collect();
        assert_eq!(classes, &["1:1", "1:10", "1:20", "1:30"][..4 - usize::from(cut)], "{text}");
        assert_eq!(found.account.count(&Verdict::NotModelled), usize::from(cut), "{text}\n{:?}", found.account);
    }
}

/// Loops that count, by the values of their condition; one that counts in a way that is not read is said.
#[test]
fn loops_that_count_are_run() {
    let head = "tc qdisc add dev eth0 root handle 1: htb default 3\n";
    let body = "tc class add dev eth0 parent 1: classid 1:$i htb rate ${i}mbit";
    let loops = [
        (format!("for ((i=1;i<=3;i++)); do\n {body}\ndone\n"), 3, 0),
        (format!("N=4\nfor (( i = 1; i < N; i += 1 ))\ndo\n {body}\ndone\n"), 3, 0),
        (format!("i=1\nwhile [ $i -le 3 ]; do\n {body}\n i=$((i+1))\ndone\n"), 3, 0),
        (format!("i=1; while [ $i -lt 4 ]; do {body}; i=`expr $i + 1`; done; echo done\n"), 3, 0),
        (format!("i=1\nwhile [ $i -lt 4 ]; do {body}; i=`expr $i + 1`; done\n"), 3, 0),
        (format!("i=1\nuntil [ $i -gt 3 ]\ndo\n {body}\n i=$((i+1))\ndone\n"), 3, 0),
        (format!("i=1\nwhile [ $i -lt 4 ]; do\n {body}\n next\ndone\n"), 1, 1),
        (format!("for ((i=3;i>0;i--)); do\n {body}\ndone\n"), 0, 1),
        (format!("i=1\nwhile [ $i -lt $MANY ]; do\n {body}\ndone\n"), 0, 1),
    ];
    for (text, classes, lost) in loops {
        let found = read(&format!("{head}{text}"));
        let made = found.device.ports.first().and_then(|port| port.queue.as_ref()).map_or(0, |it| it.classes.len());
        assert_eq!((made, found.account.count(&Verdict::NotModelled)), (classes, lost), "{text}\n{:?}", found.account);
    }
}

/// `1:$1` of a function is not `1:1`.
#[test]
fn a_number_with_an_unset_variable_is_refused() {
    let head = "tc qdisc add dev eth0 root handle 1: htb default 1\ntc class add dev eth0 parent 1: classid 1:1 htb rate 9mbit\n";
    let ways = ["f() {\n", "for i in $ALL; do\n", "i=7\nwhile read i rate; do\n"];
    for (way, name) in ways.into_iter().zip(["1", "i", "i"]) {
        let text = format!("{head}{way} tc class add dev eth0 parent 1:1 classid 1:${name} htb rate 3mbit\ndone\n");
        let found = read(&text);
        assert_eq!(found.account.count(&Verdict::NotModelled), 1, "{text}");
        let notes = &found.account.lines.last_key_value().unwrap().1.notes;
        assert!(notes[0].contains("shell variable"), "{notes:?}");
    }
}

/// What stands before a command is a variable for `sudo`, or a program that perhop does not know.
#[test]
fn a_command_behind_another_word_is_in_the_account() {
    let found = read(
        "$SUDO tc qdisc add dev eth0 root fq_codel\ntimeout 5 tc qdisc add dev eth1 root sfq\necho tc qdisc add dev eth2 root sfq\n",
    );
    assert_eq!(verdicts(&found), [(1, Verdict::Taken), (2, Verdict::NotModelled)]);
    assert!(found.account.lines[&2].notes[0].contains("the program before it"), "{:?}", found.account);
    let found = read("  12 \u{276f} sudo tc qdisc add dev eth0 root fq_codel\n");
    assert_eq!(verdicts(&found), [(1, Verdict::Taken)]);
}

/// Without `--from`: JSON with a key on each line, and commands behind others on one line.
#[test]
fn the_dialect_is_found_wherever_a_command_stands() {
    let given = ImportOptions { link: Some(perhop_core::units::BitRate::mbps(1)), ..ImportOptions::default() };
    let json = "[ {\n        \"kind\": \"cake\",\n        \"handle\": \"8005:\",\n        \"dev\": \"wan\",\n        \"root\": true,\n        \
                \"options\": {\n            \"diffserv\": \"diffserv4\"\n        }\n} ]\n";
    for (text, name) in [(json, "wan"), ("DEV=eth0;RATE=30;tc qdisc add dev $DEV root fq_codel && echo done\n", "eth0")]
    {
        let found = perhop_config::import::import(text.as_bytes(), None, &given)
            .unwrap_or_else(|fault| panic!("{fault:?}\n{text}"));
        assert_eq!((found.dialect.name, found.port().interface.is.as_str()), ("tc", name));
    }
    assert!(!perhop_config::import::is_configuration(&Text::new(b"# shaped; by tc\n[links]\n\"a - b\" = {}\n")));
}

#[test]
fn a_kind_that_is_an_unset_variable_is_refused() {
    let found = read("tc qdisc add dev eth0 root handle 1: ${STABSTRING} htb default 12\n");
    assert!(found.account.lines[&1].notes[0].contains("`STABSTRING` is a shell variable"), "{:?}", found.account);
}

/// SQM puts an `ingress` beside its queue; without filters it is no port that could be meant.
#[test]
fn an_ingress_without_filters_is_no_choice() {
    let text = "qdisc fq_codel 1: dev wan root refcnt 2 limit 1001p flows 1024\nqdisc ingress ffff: dev wan parent ffff:fff1 ----------------\n";
    let found = perhop_config::import::import(text.as_bytes(), None, &ImportOptions::default())
        .unwrap_or_else(|fault| panic!("{fault:?}"));
    assert_eq!(found.port().way, perhop_config::model::Way::Output);
}

/// What a script removes when it is stopped is there while it runs; of two branches both are read, which is said.
#[test]
fn parts_of_a_script_that_exclude_each_other() {
    let start = "tc qdisc add dev eth0 root pfifo limit 30";
    let stop = "tc qdisc del dev eth0 root";
    let scripts = [
        format!("start() {{\n {start}\n}}\nstop() {{\n {stop}\n}}\n"),
        format!("function start {{\n {start}\n}}\nfunction qos_stop {{\n {stop}\n}}\n"),
        format!("case \"$1\" in\n start)\n {start}\n ;;\n stop)\n {stop}\n ;;\nesac\n"),
        format!("case $1 in\n start) {start} ;;\n \"stop\") {stop} ;;\nesac\n"),
    ];
    for text in scripts {
        let found = read(&text);
        assert_eq!(found.device.ports.len(), 1, "{text}\n{:?}", found.account);
        assert!(
            found.account.lines.last_key_value().unwrap().1.notes[0].contains("which takes away"),
            "{:?}",
            found.account
        );
    }
    // Removed where it is not called so.
    assert!(read(&format!("start() {{\n {start}\n}}\nstop() {{\n true\n}}\n{stop}\n")).device.ports.is_empty());
    let text = format!(
        "if [ -n \"$FAST\" ]; then\n {start}\nelse\n {}\nfi\n{start}\n",
        start.replace("add", "replace").replace("30", "40")
    );
    assert_eq!(verdicts(&read(&text))[..2], [(2, Verdict::Taken), (4, Verdict::Approximated)]);
    assert_eq!(verdicts(&read(&text))[2], (6, Verdict::NotModelled));
}

#[test]
fn a_wrong_object_is_refused() {
    let found = read("tc qdisc add dev eth0 root sfq\ntc qdics add dev eth1 root fq_codel\ntc is a tool\n");
    assert_eq!(verdicts(&found), [(1, Verdict::Taken), (2, Verdict::NotModelled)]);
}

#[test]
fn what_is_cut_off_is_said() {
    let read = read(
        "[{\"kind\":\"pfifo\",\"handle\":\"1:\",\"dev\":\"eth0\",\"root\":true,\"options\":{\"limit\":30}},{\"kind\":\"fq\"",
    );
    assert_eq!(codes(&read), ["W403"]);
    assert_eq!(read.device.ports.len(), 1);
}

#[test]
fn nothing_of_tc_is_a_fault() {
    let fault = (DIALECT.read)(&Text::new(b"hello\nworld"), &ImportOptions::default()).unwrap_err();
    assert_eq!(fault.code, "E300");
    let given = ImportOptions { interface: Some("eth9".into()), ..ImportOptions::default() };
    let fault = (DIALECT.read)(&Text::new(b"tc qdisc add dev eth0 root pfifo"), &given).unwrap_err();
    assert_eq!(fault.code, "E302");
    assert!(fault.help.contains("eth0"), "{fault:?}");
}

/// Lines of others stay out of all that is said.
#[test]
fn no_other_line_is_repeated() {
    let text = "enable secret hunter2\nip address 192.0.2.77\nexport PSK=hunter2\ntc qdisc add dev eth0 root fq_codle\nping hunter2\n";
    let read = read(text);
    let all = format!("{:?} {:?} {:?} {:?}", read.account, read.device, read.findings, read.evidence);
    assert!(!all.contains("hunter2") && !all.contains("192.0.2.77"), "{all}");
    assert_eq!(read.account.lines.keys().copied().collect::<Vec<_>>(), [4]);
}
