//! Configurations of devices: `import`, `check` and `predict` read them, account for each line, and say nothing of others.

use crate::command::{Folder, error};
use serde_json::Value;
use std::process::Output;

const ROUTER: &str = "\
hostname hidden-router
enable secret 5 hidden-secret
snmp-server community hidden-community RO
class-map match-any VOICE
 match dscp ef
class-map match-any WEB
 match access-group name WEB
policy-map WAN
 description hidden-remark
 class VOICE
  priority 512
 class WEB
  bandwidth percent 50
  fair-queue
 class class-default
  random-detect
policy-map WAN-OUT
 class class-default
  shape average 10000000
  service-policy WAN
interface GigabitEthernet0/0
 description to hidden-customer
 ip address 10.66.66.66 255.255.255.0
 service-policy output WAN-OUT
ip access-list extended WEB
 permit tcp any any eq 443
";

const SCRIPT: &str = "\
tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 2mbit ceil 10mbit
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 8mbit ceil 10mbit
tc qdisc add dev eth0 parent 1:10 fq_codel
tc qdisc add dev eth0 parent 1:20 fq_codel
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10
";

/// A queueing discipline that perhop does not have.
const LOST: &str = "tc qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 15k limit 150k\n\
                    tc qdisc add dev eth0 parent 1: handle 2: skbprio limit 64\n";

fn folder() -> Folder {
    let texts = [("router.cfg", ROUTER), ("script.sh", SCRIPT), ("lost.sh", LOST)];
    Folder::with(&texts.map(|(name, text)| (name, text.as_bytes())))
}

fn said(out: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&out.stdout), text(&out.stderr))
}

/// The stub is printed whether lines were lost or not, and is sound.
#[test]
fn what_is_not_modelled_ends_with_one_unless_it_is_allowed() {
    let folder = folder();
    for (more, code) in [(&[][..], 1), (&["--allow"], 0)] {
        let out = folder.perhop(&[&["import", "lost.sh"], more].concat());
        let (stub, account) = said(&out);
        assert_eq!(out.status.code(), Some(code), "{account}");
        assert!(
            account.contains("    2  not modelled  tc qdisc add dev eth0 parent 1: handle 2: skbprio limit 64"),
            "{account}"
        );
        assert!(stub.contains("[queue.\"1:\"]"), "{stub}");
        std::fs::write(folder.path("stub.toml"), stub).unwrap();
        assert_eq!(folder.perhop(&["check", "stub.toml"]).status.code(), Some(0));
    }
    assert_eq!(folder.perhop(&["import", "script.sh"]).status.code(), Some(0));
}

#[test]
fn every_line_of_qos_is_in_the_account_and_no_other() {
    let folder = folder();
    let out = folder.perhop(&["import", "router.cfg", "--json"]);
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    let account = answer["account"].as_array().unwrap();
    let lines: Vec<_> = account.iter().map(|line| line["line"].as_u64().unwrap()).collect();
    let is_qos = |line: &&str| !line.contains("hidden") && !line.starts_with(" ip address");
    let own: Vec<_> = (1..).zip(ROUTER.lines()).filter(|(_, line)| is_qos(line)).map(|(number, _)| number).collect();
    let lacking: Vec<_> = own.iter().filter(|line| !lines.contains(line)).collect();
    assert!(
        lacking.iter().all(|line| ROUTER.lines().nth(**line as usize - 1).unwrap().starts_with("ip access-list")),
        "{lacking:?}"
    );
    assert_eq!(lines.iter().filter(|line| !own.contains(line)).count(), 0, "{lines:?}");
    assert_eq!((&answer["dialect"], &answer["guessed"]), (&"ios".into(), &true.into()));
    assert_eq!(answer["port"]["interface"], "GigabitEthernet0/0");
    assert!(answer["scenario"].as_str().unwrap().contains("[queue.WAN-OUT]"));
}

/// No word of a line that does not speak of QoS is anywhere.
#[test]
fn nothing_else_of_a_configuration_is_printed() {
    let folder = folder();
    let calls: [&[&str]; 6] = [
        &["import", "router.cfg"],
        &["import", "router.cfg", "--json"],
        &["import", "router.cfg", "--as", "policy"],
        &["check", "router.cfg"],
        &["check", "router.cfg", "--json"],
        &["predict", "router.cfg", "--duration", "300ms"],
    ];
    for call in calls {
        let (out, aside) = said(&folder.perhop(call));
        for word in ["hidden", "10.66.66.66", "255.255.255.0", "community"] {
            assert!(!out.contains(word) && !aside.contains(word), "{call:?} says {word}:\n{out}{aside}");
        }
    }
}

/// A comment, a password for `sudo` and another command on the line of a command are not printed, nor with a finding's caret.
#[test]
fn nothing_beside_a_command_is_printed() {
    let beside = SCRIPT
        .replace(
            "tc class add dev eth0 parent 1:1 classid 1:10",
            "echo hidden-1 | sudo -S tc class add dev eth0 parent 1:1 classid 1:10",
        )
        .replace("ceil 10mbit\ntc qdisc", "ceil 10mbit quantum 200 # hidden-2\ntc qdisc")
        .replace("flowid 1:10\n", "flowid 1:10; curl -u hidden-3 https://10.66.66.66/\n")
        .replace("rate 2mbit ceil 10mbit", "rate 2mbit ceil 10mbit quantum 200");
    let folder = Folder::with(&[("script.sh", beside.as_bytes())]);
    let calls: [&[&str]; 4] = [
        &["import", "script.sh"],
        &["import", "script.sh", "--json"],
        &["check", "script.sh"],
        &["check", "script.sh", "--json"],
    ];
    for call in calls {
        let (out, aside) = said(&folder.perhop(call));
        for word in ["hidden", "10.66.66.66", "echo", "curl"] {
            assert!(!out.contains(word) && !aside.contains(word), "{call:?} says {word}:\n{out}{aside}");
        }
        assert!(
            format!("{out}{aside}").contains("tc class add dev eth0") || call.ends_with(&["--json"]),
            "{call:?}\n{out}{aside}"
        );
    }
}

/// Where nothing is left, the line that is not modelled is said with its reason.
#[test]
fn a_text_of_which_nothing_is_left_says_why() {
    let lost = "tc qdisc add dev eth0 root handle 1: htb defualt 20\n";
    let beside = "tc qdisc add dev eth0 root sfq\ntc qdisc add dev eth7 root cake diffserv9\n";
    let folder = Folder::with(&[("lost.sh", lost.as_bytes()), ("beside.sh", beside.as_bytes())]);
    let (_, aside) = said(&folder.perhop(&["import", "lost.sh"]));
    assert!(aside.contains("E314") && aside.contains("line 1: refused: tc knows no `defualt` of htb"), "{aside}");
    let (_, aside) = said(&folder.perhop(&["import", "beside.sh", "--interface", "eth7"]));
    assert!(aside.contains("E302") && aside.contains("line 2: refused: tc knows no `diffserv9` of cake"), "{aside}");
}

/// Thresholds of WRED in two units, which no scenario has.
#[test]
fn a_stub_of_mixed_units_is_sound() {
    let text = "policy-map P\n class class-default\n  random-detect dscp-based\n  random-detect dscp af11 20 40\n  random-detect dscp \
                af12 1000 bytes 4000 bytes\ninterface FastEthernet0/0\n service-policy output P\n";
    let folder = Folder::with(&[("mixed.cfg", text.as_bytes())]);
    let (stub, account) = said(&folder.perhop(&["import", "mixed.cfg"]));
    assert!(account.contains("5  not modelled") && account.contains("line 4 has packets"), "{account}");
    std::fs::write(folder.path("stub.toml"), stub).unwrap();
    let (out, aside) = said(&folder.perhop(&["check", "stub.toml"]));
    assert!(!format!("{out}{aside}").contains("error"), "{out}{aside}");
}

#[test]
fn findings_stand_at_the_configurations_lines() {
    let broken = SCRIPT.replace("rate 2mbit ceil 10mbit", "rate 2mbit ceil 10mbit quantum 200");
    let folder = Folder::with(&[("script.sh", broken.as_bytes())]);
    let (found, aside) = said(&folder.perhop(&["check", "script.sh"]));
    assert!(
        found.contains("script.sh:3:") && found.contains("3 | tc class add dev eth0 parent 1:1 classid 1:10"),
        "{found}"
    );
    assert!(!found.contains("[traffic") && !found.contains("device -> receiver"), "{found}");
    assert!(aside.contains("script.sh: read as Linux tc (--from tc)"), "{aside}");
    let json: Value = serde_json::from_slice(&folder.perhop(&["check", "script.sh", "--json"]).stdout).unwrap();
    assert!(json.as_array().unwrap().iter().all(|it| it["file"] == "script.sh" && it["line"] == 3), "{json}");
    assert!(found.contains("warning[W327] class `1:10`: its quantum is 200B"), "{found}");
    assert_eq!(json[0]["class"], "class `1:10`");
}

#[test]
fn a_prediction_is_in_the_configurations_names() {
    let folder = folder();
    let call = ["predict", "script.sh", "--duration", "2s", "--out", "kept"];
    let (first, _) = said(&folder.perhop(&call));
    assert!(first.starts_with("script.sh: Linux tc, eth0 output, 10Mbit/s. The load: in each class"), "{first}");
    let rows = |class: &str| first.lines().any(|line| line.starts_with(class));
    assert!(rows("1:10 ") && rows("1:20 "), "{first}");
    let next = first.lines().last().unwrap();
    assert!(next.starts_with("kept/script/base-") && next.contains("next: perhop plot kept/script/base-"), "{next}");
    assert_eq!(said(&folder.perhop(&call)).0, first, "the same again");
    let json: Value =
        serde_json::from_slice(&folder.perhop(&["predict", "script.sh", "--duration", "2s", "--json"]).stdout).unwrap();
    assert!(json["rows"].as_array().unwrap().iter().any(|row| row["class"] == "1:10"), "{json}");
}

#[test]
fn another_load_is_sent_where_a_file_states_it() {
    let load = "[traffic.calls]\nmodel = \"cbr\"\nrate = \"80kbit/s\"\nsize = \"200B\"\nfrom = \"phones\"\nto = \"site\"\ndscp = \"EF\"\n";
    let folder = Folder::with(&[("script.sh", SCRIPT.as_bytes()), ("load.toml", load.as_bytes())]);
    let (out, _) = said(&folder.perhop(&["predict", "script.sh", "--duration", "1s", "--load", "load.toml"]));
    assert!(
        out.contains("The load is that of load.toml.") && out.lines().any(|line| line.starts_with("calls ")),
        "{out}"
    );
    assert!(!out.contains("1:20 TCP"), "{out}");
}

/// What is wrong with a load is said of its file and line, not of the configuration.
#[test]
fn a_load_with_mistakes_is_named() {
    let load = "# calls\n\n[traffic.calls]\nmodel = \"cbr\"\nrate = \"80kbit/s\"\nsise = \"200B\"\nfrom = \"phones\"\nto = \"site\"\n";
    let folder = Folder::with(&[("script.sh", SCRIPT.as_bytes()), ("load.toml", load.as_bytes())]);
    let message = error(&folder.perhop(&["predict", "script.sh", "--load", "load.toml"]));
    let says = |code: &str, place: &str, line: &str| {
        let heading = message.lines().position(|it| it.starts_with(&format!("error[{code}]")) && it.ends_with(place));
        assert!(heading.is_some_and(|at| message.lines().nth(at + 1) == Some(line)), "{code} {place}:\n{message}");
    };
    says("E004", " load.toml:6:1", "6 | sise = \"200B\"");
    says("E005", " load.toml:3:10", "3 | [traffic.calls]");
    assert!(!message.contains(" script.sh"), "{message}");
}

/// A class that no packet reaches has a match that none meets: without one it would take what is left. A comment says so.
#[test]
fn a_class_that_nothing_reaches_is_called_one() {
    let script = SCRIPT.replace(
        "fq_codel\ntc filter",
        "fq_codel\ntc class add dev eth0 parent 1:1 classid 1:30 htb rate 1mbit\ntc filter",
    );
    let folder = Folder::with(&[("script.sh", script.as_bytes())]);
    let (stub, _) = said(&folder.perhop(&["import", "script.sh"]));
    let place = stub.lines().position(|line| line.contains("name = \"1:30\"")).unwrap();
    let above = stub.lines().nth(place - 1).unwrap();
    assert!(above.starts_with("  # no filter leads to it, so its match is one that no packet meets"), "{stub}");
}

/// A load in place of a scenario is called one, with what to do.
#[test]
fn a_load_alone_is_no_scenario() {
    let load =
        "[traffic.calls]\nmodel = \"cbr\"\nrate = \"80kbit/s\"\nsize = \"200B\"\nfrom = \"phones\"\nto = \"site\"\n";
    let queue = format!("[queue.q]\naqm = \"codel\"\n{load}");
    let folder = Folder::with(&[("load.toml", load.as_bytes()), ("queue.toml", queue.as_bytes())]);
    let (said_of_load, _) = said(&folder.perhop(&["check", "load.toml"]));
    let words = [
        "error[E244] no links: [traffic] alone is a load and no scenario",
        "predict router.cfg --load FILE`",
        "add [links]",
    ];
    assert!(words.iter().all(|word| said_of_load.contains(word)), "{said_of_load}");
    let (said_of_queue, _) = said(&folder.perhop(&["check", "queue.toml"]));
    assert!(said_of_queue.contains("error[E244] no links  ") && !said_of_queue.contains("--load"), "{said_of_queue}");
}

/// What a terminal, a mail or another system adds to a text changes nothing.
#[test]
fn a_text_may_have_been_through_anything() {
    let plain = SCRIPT.to_owned();
    let forms: [Vec<u8>; 5] = [
        plain.replace('\n', "\r\n").into_bytes(),
        plain.replace(' ', "\t").into_bytes(),
        plain.lines().map(|line| format!("> {line}\n")).collect::<String>().into_bytes(),
        plain.lines().map(|line| format!("\u{1b}[1m{line}\u{1b}[0m\n")).collect::<String>().into_bytes(),
        [b"# caf\xe9\n", plain.as_bytes()].concat(),
    ];
    let (expected, _) = said(&folder().perhop(&["import", "script.sh"]));
    for form in forms {
        let folder = Folder::with(&[("script.sh", &form)]);
        let (stub, account) = said(&folder.perhop(&["import", "script.sh"]));
        assert_eq!(stub, expected, "{account}");
    }
}

/// One clear line each: the code, and what to do.
#[test]
fn what_cannot_be_read_is_refused_with_a_fix() {
    let two = "tc qdisc add dev eth0 root fq_codel\ntc qdisc add dev eth1 root fq_codel\n";
    let junos = "set class-of-service interfaces ge-0/0/0 shaping-rate 10m\n";
    let eos = "policy-map type quality-of-service PM\n class CM\n";
    let sonic = "{\n  \"SCHEDULER\": {\n    \"scheduler.0\": {\"type\": \"DWRR\"}\n  }\n}\n";
    let vyos = "set qos policy shaper WAN bandwidth 10mbit\n";
    let files: [(&str, &[u8]); 10] = [
        ("empty", b""),
        ("binary", b"PK\x00\x01\x02\x03\x04\x05"),
        ("letter", b"Dear Sir,\nmy voice is bad.\n"),
        ("junos", junos.as_bytes()),
        ("eos", eos.as_bytes()),
        ("sonic", sonic.as_bytes()),
        ("vyos", vyos.as_bytes()),
        ("two", two.as_bytes()),
        ("router.cfg", ROUTER.as_bytes()),
        ("script.sh", SCRIPT.as_bytes()),
    ];
    let cases: [(&[&str], &str, &str); 14] = [
        (&["empty"], "E310", "paste"),
        (&["binary"], "E311", "as text"),
        (&["letter"], "E312", "--from"),
        (&["junos"], "E312", "Junos"),
        (&["eos"], "E312", "Arista EOS"),
        (&["sonic"], "E312", "SONiC"),
        (&["vyos"], "E312", "VyOS"),
        (&["two", "--link", "1Mbit/s"], "E313", "--interface"),
        (&["two", "--link", "1Mbit/s", "--interface", "eth2"], "E302", "eth1"),
        (&["two", "--interface", "eth1"], "E315", "--link 100Mbit/s"),
        (&["router.cfg", "--from", "tc"], "E300", "--from ios"),
        (&["script.sh", "--from", "ios"], "E305", "--from tc"),
        (&["router.cfg", "--interface", "Gi0/1"], "E307", "GigabitEthernet0/0"),
        (&["missing"], "E007", "give the path"),
    ];
    let folder = Folder::with(&files);
    for (call, code, fix) in cases {
        for verb in ["import", "predict"] {
            let message = error(&folder.perhop(&[&[verb], call].concat()));
            assert!(
                message.contains(&format!("error[{code}]")) && message.contains(fix),
                "{verb} {call:?}:\n{message}"
            );
        }
    }
    let message = error(&folder.perhop(&["import", "."]));
    assert!(message.contains("error[E007]") && message.contains("directory"), "{message}");
    let message = error(&folder.perhop(&["import", "two", "--from", "iso"]));
    assert!(message.contains("[possible values: tc, ios]"), "{message}");
}

/// A scenario with an error is not taken for a configuration, nor a configuration called `.toml` for a scenario.
#[test]
fn files_are_taken_for_what_they_hold() {
    let broken = "[links]\n\"a - b\" = { rate = 10Mbit/s }\n# tc qdisc add dev eth0 root fq_codel\n";
    let folder = Folder::with(&[("broken.toml", broken.as_bytes()), ("script.toml", SCRIPT.as_bytes())]);
    assert!(said(&folder.perhop(&["check", "broken.toml"])).0.contains("error[E001]"));
    assert_eq!(folder.perhop(&["check", "script.toml"]).status.code(), Some(0));
}

#[test]
fn a_policy_marks_captures() {
    let policer = "policy-map IN\n class class-default\n  police cir 1000000 bc 15000\n   conform-action set-dscp-transmit af11\n   exceed-action drop\ninterface Serial0/0\n service-policy input IN\n";
    let capture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/tcp.pcap");
    let capture = std::fs::read(capture).unwrap();
    let folder = Folder::with(&[("router.cfg", policer.as_bytes()), ("in.pcap", &capture)]);
    assert_eq!(folder.perhop(&["import", "router.cfg", "--as", "policy", "-o", "in.toml"]).status.code(), Some(0));
    let out = folder.perhop(&["mark", "in.pcap", "-o", "out.pcap", "--policy", "in.toml"]);
    assert_eq!(out.status.code(), Some(0), "{}", said(&out).1);
    assert!(error(&folder.perhop(&["import", "router.cfg", "--as", "policy", "-o", "in.toml"])).contains("E026"));
}

/// What the model refuses is not called taken: its line is not modelled, and the stub has the error.
#[test]
fn a_value_that_no_scenario_has_is_not_modelled() {
    let script = "tc qdisc add dev eth0 root codel target 100ms\n";
    let folder = Folder::with(&[("script.sh", script.as_bytes())]);
    let out = folder.perhop(&["import", "script.sh", "--link", "10Mbit/s"]);
    let (stub, account) = said(&out);
    assert_eq!(out.status.code(), Some(1));
    assert!(
        account.contains("    1  not modelled  tc qdisc add") && account.contains("`target` 100ms is not below"),
        "{account}"
    );
    assert!(stub.contains("target = \"100ms\""), "{stub}");
    let message = error(&folder.perhop(&["predict", "script.sh", "--link", "10Mbit/s"]));
    assert!(message.contains("error[E214]") && message.contains("script.sh:1:"), "{message}");
}

/// A scheduler that no class was added to yet: its packets pass unshaped, which `check` says.
#[test]
fn a_scheduler_without_classes_shapes_nothing() {
    let folder = Folder::with(&[("script.sh", b"tc qdisc add dev eth0 root handle 1: htb default 10\n")]);
    let out = folder.perhop(&["import", "script.sh", "--link", "10Mbit/s"]);
    let (stub, account) = said(&out);
    assert_eq!(out.status.code(), Some(0), "{account}");
    assert!(account.contains("1 line is taken"), "{account}");
    std::fs::write(folder.path("stub.toml"), stub).unwrap();
    let (out, aside) = said(&folder.perhop(&["check", "stub.toml"]));
    let of_stub = out + &aside;
    assert!(
        of_stub.contains("[W361]") && of_stub.contains("1 warning;"),
        "what its line counts is not said: {of_stub}"
    );
    let checked = folder.perhop(&["check", "script.sh", "--link", "10Mbit/s"]);
    assert!(String::from_utf8_lossy(&[checked.stdout, checked.stderr].concat()).contains("W406"));
    assert_eq!(checked.status.code(), Some(1));
}

/// A policer in a class with datagrams is judged by what TCP gets of it alone, also at an input.
#[test]
fn a_policer_that_holds_tcp_is_found_beside_datagrams() {
    let port = |way: &str| {
        format!(
            "class-map match-any DATA\n match dscp af21\npolicy-map P\n class DATA\n  police cir 4000000 bc 4000\n\
             interface GigabitEthernet0/0\n service-policy {way} P\n"
        )
    };
    for way in ["input", "output"] {
        let folder = Folder::with(&[("port.cfg", port(way).as_bytes())]);
        let (found, notes) = said(&folder.perhop(&["check", "port.cfg"]));
        assert!(found.contains("warning[W451] the bucket holds 4000 B, 8.0 ms at 4Mbit/s"), "{way}: {found}{notes}");
        assert!(found.contains("port.cfg:5:"), "{found}");
        assert!(found.contains("\n1 warning; "), "{found}");
    }
}

/// One policy at many interfaces is one.
#[test]
fn what_is_at_many_interfaces_is_found_once() {
    let ports: String = (0..5_000)
        .map(|i| format!("interface Tunnel{i}\n bandwidth 10000\n service-policy output WAN-OUT\n"))
        .collect();
    let folder = Folder::with(&[("many.cfg", (ROUTER.to_owned() + &ports).as_bytes())]);
    let (found, _) = said(&folder.perhop(&["check", "many.cfg"]));
    assert!(found.lines().count() < 12, "{found}");
}

#[test]
fn a_text_of_two_dialects_says_what_is_of_the_other() {
    let both = format!("{SCRIPT}class-map match-any A\n match dscp ef\n");
    let folder = Folder::with(&[("both.txt", both.as_bytes()), ("prose.txt", b"My router, which I like, is slow.\n")]);
    let (_, told) = said(&folder.perhop(&["check", "both.txt"]));
    assert!(
        told.contains("read as Linux tc (--from tc); 2 lines of it look like Cisco IOS, which --from ios reads"),
        "{told}"
    );
    let (found, _) = said(&folder.perhop(&["check", "prose.txt"]));
    assert!(found.contains("error[E312] no line of the text is of Linux tc or Cisco IOS"), "{found}");
}

/// Lines of interfaces whose heads were cut out of a `running-config`, behind a class.
const CUT: &str = "\
policy-map P
 class class-default
  fair-queue
 ip ospf message-digest-key 1 md5 TOPSECRET1
 bandwidth 1000 TOPSECRET2
 ppp chap password 7 TOPSECRET3
 key-string TOPSECRET4
interface Gi0/0
 service-policy output P
";

/// Prompts, what `sudo` asks, and characters that steer a terminal, on the lines of commands.
const PROMPTED: &str = "\
tc qdisc add dev eth0 root handle 1: htb default 1 # \u{9b}31m
root@customer-17:~# tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit
sudo -p TOPSECRET7 tc qdisc add dev eth0 parent 1:1 fq_codel
tc class add dev eth0 parent 1: classid 1:2 htb rate 1mbit\u{9b}31mX\u{7f}
tc class add dev eth0 parent 1: classid 1:3 htb rate TOPSECRET8 burst 12345678
";

/// Everything that verbs say of a text.
fn everything(name: &str, text: &str) -> String {
    let folder = Folder::with(&[(name, text.as_bytes())]);
    let calls: [&[&str]; 6] = [
        &["import", name, "--allow", "--link", "1Gbit/s"],
        &["import", name, "--allow", "--link", "1Gbit/s", "--json"],
        &["import", name, "--link", "1Gbit/s", "--as", "policy"],
        &["check", name, "--link", "1Gbit/s"],
        &["check", name, "--json"],
        &["predict", name, "--link", "1Gbit/s", "--duration", "300ms", "--json"],
    ];
    calls.iter().map(|call| said(&folder.perhop(call))).map(|(out, aside)| format!("{out}\n{aside}\n")).collect()
}

#[test]
fn a_line_that_is_not_known_is_named_by_its_number_and_first_word() {
    let all = everything("cut.cfg", CUT);
    assert!(!all.contains("TOPSECRET") && !all.contains("md5") && !all.contains("password"), "{all}");
    for line in ["    4  not modelled  ip\n", "    5  not modelled  bandwidth\n", "    7  not modelled  key-string\n"] {
        assert!(all.contains(line), "{all}");
    }
}

#[test]
fn nothing_before_a_command_is_printed_and_nothing_steers_a_terminal() {
    let all = everything("p.sh", PROMPTED);
    for word in ["TOPSECRET", "customer-17", "sudo", "31m", "12345678"] {
        assert!(!all.contains(word), "{word} in\n{all}");
    }
    assert!(!all.chars().any(|c| c.is_control() && c != '\n'), "{all:?}");
    let lines = [
        "    2  taken         tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit\n",
        "    3  taken         tc qdisc add dev eth0 parent 1:1 fq_codel\n",
        "    5  not modelled  tc class add dev eth0 parent 1: classid 1:3 htb rate ...\n",
    ];
    for line in lines {
        assert!(all.contains(line), "{all}");
    }
}

/// A name of a file, in words and in JSON.
#[test]
fn names_of_files_do_not_steer_a_terminal() {
    let name = "a\u{9b}31m\u{202e}b.sh";
    let folder = Folder::with(&[(name, PROMPTED.as_bytes())]);
    for call in [&["check", name, "--json"][..], &["check", name], &["import", name], &["import", "none\u{9b}.sh"]] {
        let (out, aside) = said(&folder.perhop(call));
        assert!(
            !format!("{out}{aside}").chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{out}{aside}"
        );
    }
    let found: Value = serde_json::from_slice(&folder.perhop(&["check", name, "--json"]).stdout).unwrap();
    assert_eq!(found[0]["file"], name);
}

/// A verb of scenarios says what the file is, and shows no line of it.
#[test]
fn a_configuration_in_place_of_a_scenario_is_not_shown() {
    let text = format!("enable secret 5 TOPSECRET\n{CUT}");
    let folder = Folder::with(&[("wan.cfg", text.as_bytes())]);
    for call in [&["run", "wan.cfg"][..], &["explain", "wan.cfg"], &["sweep", "wan.cfg", "--vary", "seed=1,2"]] {
        let (out, aside) = said(&folder.perhop(call));
        assert!(!format!("{out}{aside}").contains("SECRET"), "{out}{aside}");
        assert!(aside.contains("error[E001] this is the configuration of a device"), "{out}{aside}");
    }
}
