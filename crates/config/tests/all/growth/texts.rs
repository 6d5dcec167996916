//! Texts of each kind, of any size, and what four times a text may cost: what a device or a script may hold thousands of.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What four times a text may cost: n log n is 4 log(4 n) / log(n) times as much, below 5 from 256 bytes on.
const MOST: f64 = 5.0;

/// A kind of text: its name, the text of so many, and how many its test begins with.
struct Kind {
    /// In messages.
    name: &'static str,
    /// Lines, classes, values or levels: whatever grows.
    text: fn(usize) -> String,
    /// The least of three sizes, each four times the one before.
    least: usize,
}

/// Fails where the cost of a kind's text is more than [`MOST`] times that of a fourth of it. Of the kinds called `some` (none: of
/// all), unless `PERHOP_KIND` is a part of the names of those that are meant, or `all`.
pub fn refuse_growth(unit: &str, some: &[&str], cost: impl Fn(&str) -> f64 + Sync) {
    let meant = std::env::var("PERHOP_KIND").ok();
    let is_meant = |kind: &&Kind| match meant.as_deref() {
        None => some.is_empty() || some.contains(&kind.name),
        Some("all") => true,
        Some(part) => kind.name.contains(part),
    };
    let kinds: Vec<_> = KINDS.iter().filter(is_meant).collect();
    assert!(!kinds.is_empty(), "no kind is called so");
    let (next, slow) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(kind) = kinds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let costs = [1, 4, 16].map(|times| cost(&(kind.text)(kind.least * times)));
            let ratios = [costs[1] / costs[0], costs[2] / costs[1]];
            let shown = costs.map(|cost| format!("{:.2}", cost / 1e6)).join(", ");
            let line = format!("{}: {shown} million {unit}, {:.2} and {:.2} times", kind.name, ratios[0], ratios[1]);
            eprintln!("{line}");
            slow.lock().unwrap().extend(ratios.iter().any(|ratio| *ratio > MOST).then_some(line));
        }
    };
    thread::scope(|scope| {
        (0..thread::available_parallelism().map_or(1, usize::from)).for_each(|_| _ = scope.spawn(work));
    });
    let slow = slow.into_inner().unwrap();
    assert!(slow.is_empty(), "more than {MOST} times for four times the text:\n{}", slow.join("\n"));
}

const fn kind(name: &'static str, least: usize, text: fn(usize) -> String) -> Kind {
    Kind { name, text, least }
}

/// All kinds.
const KINDS: &[Kind] = &[
    kind("access list", 30, |n| {
        acl(n, |i| format!("permit tcp 10.{}.{}.0 0.0.0.255 any range {i} {}", i / 256, i % 256, i + 5))
    }),
    kind("access list of hosts", 60, |n| acl(n, |i| format!("permit udp host 10.0.{}.{} any", i / 256, i % 256))),
    kind("access list of ports", 60, |n| acl(n, |i| format!("permit udp any any eq {}", 1000 + i))),
    kind("access list with denials", 60, |n| {
        acl(n, |i| {
            let does = if i % 2 == 0 { "deny" } else { "permit" };
            format!("{does} ip 10.{}.{}.0 0.0.0.255 any", i / 256, i % 256)
        })
    }),
    kind("standard access list", 60, |n| {
        let lines = lines(n, |i| format!("access-list 10 permit 10.{}.{}.0 0.0.0.255", i / 256, i % 256));
        format!("{lines}class-map match-any C\n match access-group 10\n{POLICY}")
    }),
    kind("named access lists", 60, |n| {
        let lists =
            lines(n, |i| format!("ip access-list extended L{i}\n permit udp any host 10.1.{}.{}", i / 256, i % 256));
        let matches = lines(n, |i| format!(" match access-group name L{i}"));
        format!("{lists}class-map match-any C\n{matches}{POLICY}")
    }),
    kind("matches of a class map", 60, |n| {
        let matches = lines(n, |i| format!(" match dscp {}", i % 64));
        format!("class-map match-any C\n{matches}{POLICY}")
    }),
    kind("classes with bandwidth", 40, |n| classes(n, "bandwidth remaining ratio 1")),
    kind("classes with policers", 40, |n| classes(n, "police cir 800000 bc 15000")),
    kind("classes that mark", 40, |n| classes(n, "set dscp af11")),
    kind("class maps that are missing", 40, |n| {
        let classes = lines(n, |i| format!(" class C{i}\n  bandwidth remaining ratio 1"));
        format!("class-map X\n match dscp ef\npolicy-map P\n{classes}interface Gi0/0\n service-policy output P\n")
    }),
    kind("policy maps", 30, |n| {
        lines(n, |i| {
            format!(
                "policy-map P{i}\n class EF\n  priority 100\n class class-default\n  fair-queue\ninterface Gi0/{i}\n service-policy output P{i}"
            )
        }) + "class-map EF\n match dscp ef\n"
    }),
    kind("interfaces with one policy", 30, |n| {
        let ports = lines(n, |i| format!("interface Gi0/{i}\n service-policy output P"));
        format!("class-map match-any C\n match dscp ef\npolicy-map P\n class C\n  priority 100\n{ports}")
    }),
    kind("policies within a policy", 30, |n| {
        let maps = lines(n, |i| {
            format!(
                "class-map match-any C{i}\n match access-group name L{i}\nip access-list extended L{i}\n permit udp any host 10.1.{}.{}",
                i / 256,
                i % 256
            )
        });
        let classes = lines(n, |i| format!(" class C{i}\n  shape average 1000000\n  service-policy Q"));
        format!(
            "{maps}class-map match-any EF\n match dscp ef\npolicy-map Q\n class EF\n  priority percent 10\npolicy-map P\n{classes}interface Gi0/0\n service-policy output P\n"
        )
    }),
    kind("lines of a class", 60, |n| {
        let lines = lines(n, |i| format!("  random-detect dscp {} 20 40 10", i % 64));
        format!(
            "class-map C\n match dscp ef\npolicy-map P\n class C\n  bandwidth 100\n{lines}interface Gi0/0\n service-policy output P\n"
        )
    }),
    kind("classes that IOS shows", 40, shown_policy),
    kind("lines that IOS does not have", 60, |n| {
        format!(
            "class-map C\n match dscp ef\npolicy-map P\n class C\n{}{}",
            lines(n, |i| format!("  frobnicate {i}")),
            "interface Gi0/0\n service-policy output P\n"
        )
    }),
    kind("classes of htb", 40, |n| htb(n, |i| format!("parent 1: classid 1:{i:x} htb rate 1mbit"))),
    kind("a chain of htb", 40, |n| {
        htb(n, |i| match i {
            1 => "parent 1: classid 1:1 htb rate 1mbit".to_owned(),
            i => format!("parent 1:{:x} classid 1:{i:x} htb rate 1mbit", i - 1),
        })
    }),
    kind("classes of htb two levels deep", 40, |n| {
        htb(n, |i| match i {
            1 => "parent 1: classid 1:1 htb rate 1gbit".to_owned(),
            i => format!("parent 1:1 classid 1:{i:x} htb rate 1mbit"),
        })
    }),
    kind("classes of htb with filters", 40, |n| {
        htb(n, |i| format!("parent 1: classid 1:{i:x} htb rate 1mbit"))
            + &lines(n, |i| {
                format!(
                    "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst 10.0.{}.{}/32 flowid 1:{:x}",
                    i / 256,
                    i % 256,
                    i + 1
                )
            })
    }),
    kind("classes of hfsc", 40, |n| {
        "tc qdisc add dev eth0 root handle 1: hfsc default 1\n".to_owned()
            + &lines(n, |i| format!("tc class add dev eth0 parent 1: classid 1:{:x} hfsc ls rate 1mbit", i + 1))
    }),
    kind("classes of drr", 40, |n| {
        "tc qdisc add dev eth0 root handle 1: drr\n".to_owned()
            + &lines(n, |i| format!("tc class add dev eth0 parent 1: classid 1:{:x} drr quantum 1500", i + 1))
            + &lines(n, |i| {
                format!(
                    "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport {} 0xffff flowid 1:{:x}",
                    i + 1,
                    i + 1
                )
            })
    }),
    kind("queues below classes", 40, |n| {
        htb(n, |i| format!("parent 1: classid 1:{i:x} htb rate 1mbit"))
            + &lines(n, |i| {
                format!("tc qdisc add dev eth0 parent 1:{:x} handle {:x}: fq_codel limit {}", i + 1, i + 16, 100 + i)
            })
    }),
    kind("netem below classes", 40, |n| {
        htb(n, |i| format!("parent 1: classid 1:{i:x} htb rate 1mbit"))
            + &lines(n, |i| format!("tc qdisc add dev eth0 parent 1:{:x} netem delay 10ms", i + 1))
    }),
    kind("filters of u32 to one class", 60, |n| {
        two(n, |i| format!("u32 match ip dst 10.0.{}.{}/32 flowid 1:10", i / 256, i % 256))
    }),
    kind("filters of u32 to two classes", 60, |n| {
        two(n, |i| {
            format!(
                "u32 match ip dport {} 0xffff match ip src 10.0.{}.0/24 flowid 1:{}",
                i % 7,
                i % 200,
                10 + i % 2 * 10
            )
        })
    }),
    kind("filters of flower", 60, |n| {
        two(n, |i| {
            format!(
                "flower ip_proto udp dst_ip 10.0.{}.{} dst_port {} classid 1:{}",
                i / 256,
                i % 256,
                i + 1,
                10 + i % 2 * 10
            )
        })
    }),
    kind("filters by mark", 60, |n| {
        lines(1, |_| TWO.to_owned())
            + &lines(n, |i| {
                format!(
                    "tc filter add dev eth0 parent 1: protocol ip prio {} handle {} fw flowid 1:{}",
                    i + 1,
                    i + 1,
                    10 + i % 2 * 10
                )
            })
    }),
    kind("filters with a policer", 30, |n| {
        "tc qdisc add dev eth0 handle ffff: ingress\n".to_owned()
            + &lines(n, |i| {
                format!(
                    "tc filter add dev eth0 parent ffff: protocol ip prio {} u32 match ip src 10.0.{}.{}/32 police rate {}kbit burst 10k drop",
                    i + 1,
                    i / 256,
                    i % 256,
                    100 + i
                )
            })
    }),
    kind("policers of classes", 40, |n| {
        htb(n, |i| format!("parent 1: classid 1:{i:x} htb rate 1mbit"))
            + &lines(n, |i| {
                format!(
                    "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst 10.0.{}.{}/32 police rate {}kbit burst 10k drop flowid 1:{:x}",
                    i / 256,
                    i % 256,
                    100 + i,
                    i + 1
                )
            })
    }),
    kind("filters to classes that are not there", 60, |n| {
        two(n, |i| format!("u32 match ip dst 10.0.{}.{}/32 flowid 1:{:x}", i / 256, i % 256, i + 0x100))
    }),
    kind("filters behind one that takes all", 60, |n| {
        TWO.to_owned()
            + "\ntc filter add dev eth0 parent 1: protocol ip prio 1 u32 match u32 0 0 flowid 1:10\n"
            + &lines(n, |i| {
                format!(
                    "tc filter add dev eth0 parent 1: protocol ip prio {} u32 match ip dst 10.0.{}.{}/32 flowid 1:20",
                    i + 2,
                    i / 256,
                    i % 256
                )
            })
    }),
    kind("classes that are removed", 60, |n| {
        htb(n, |i| format!("parent 1: classid 1:{i:x} htb rate 1mbit"))
            + &lines(n, |i| {
                format!(
                    "tc filter add dev eth0 parent 1: protocol ip prio {} u32 match ip dst 10.0.{}.{}/32 flowid 1:1",
                    i + 1,
                    i / 256,
                    i % 256
                )
            })
            + &lines(n - 1, |i| format!("tc class del dev eth0 classid 1:{:x}", i + 2))
    }),
    kind("filters that are removed", 60, |n| {
        two(0, |_| String::new())
            + &lines(n, |i| {
                format!(
                    "tc filter add dev eth0 parent 1: protocol ip prio {} u32 match ip dst 10.0.{}.{}/32 flowid 1:10",
                    i + 1,
                    i / 256,
                    i % 256
                )
            })
            + &lines(n, |i| format!("tc filter del dev eth0 parent 1: protocol ip prio {}", i + 1))
    }),
    kind("interfaces", 40, |n| {
        lines(n, |i| format!("tc qdisc add dev eth{i} root tbf rate {}mbit burst 10k latency 50ms", i % 90 + 1))
    }),
    kind("interfaces with redirection", 40, |n| {
        lines(n, |i| {
            format!(
                "tc qdisc add dev eth{i} handle ffff: ingress\ntc filter add dev eth{i} parent ffff: protocol ip u32 match u32 0 0 action mirred egress redirect dev ifb{i}\ntc qdisc add dev ifb{i} root tbf rate 1mbit burst 10k latency 50ms"
            )
        })
    }),
    kind("prio with prio below", 5, |n| {
        lines(n, |i| {
            format!(
                "tc qdisc add dev eth{i} root handle 1: prio bands 16\n{}",
                lines(16, |k| format!("tc qdisc add dev eth{i} parent 1:{:x} handle {:x}: prio", k + 1, k + 16))
            )
        })
    }),
    kind("classes that tc shows", 40, shown_classes),
    kind("classes as JSON", 40, json),
    kind("filters that tc shows", 60, |n| {
        "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10 direct_packets_stat 0\nclass htb 1:10 dev eth0 root prio 0 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b\n".to_owned()
            + "filter dev eth0 parent 1: protocol ip pref 1 u32 chain 0\nfilter dev eth0 parent 1: protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1\n"
            + &lines(n, |i| format!("filter dev eth0 parent 1: protocol ip pref 1 u32 chain 0 fh 800::{:x} order {} key ht 800 bkt 0 flowid 1:10 not_in_hw\n  match {:08x}/ffffffff at 16", i + 0x800, i + 0x800, 0x0a00_0000 + i))
    }),
    kind("commands on one line", 60, |n| {
        let list: Vec<_> =
            (1..=n).map(|i| format!("tc class add dev eth0 parent 1: classid 1:{i:x} htb rate 1mbit")).collect();
        format!("tc qdisc add dev eth0 root handle 1: htb default 1; {}\n", list.join("; "))
    }),
    kind("assignments on one line", 200, |n| {
        let list: Vec<_> = (0..n).map(|i| format!("V{i}={i}mbit")).collect();
        format!("{}; tc qdisc add dev eth0 root tbf rate $V1 burst 10k latency 50ms\n", list.join("; "))
    }),
    kind("loops on one line", 40, |n| {
        let list: Vec<_> = (1..=n)
            .map(|i| format!("for a in {i:x}; do tc class add dev eth0 parent 1: classid 1:$a htb rate 1mbit; done"))
            .collect();
        format!("tc qdisc add dev eth0 root handle 1: htb default 1\n{}\n", list.join("; "))
    }),
    kind("values of a loop", 60, |n| {
        let list: Vec<_> = (1..=n).map(|i| format!("{i:x}")).collect();
        format!(
            "tc qdisc add dev eth0 root handle 1: htb default 1\nfor i in {}; do\n tc class add dev eth0 parent 1: classid 1:$i htb rate 1mbit\ndone\n",
            list.join(" ")
        )
    }),
    kind("findings of a loop", 60, |n| {
        format!(
            "tc qdisc add dev eth0 root fq_codel\nfor i in $(seq 1 {n}); do\n tc qdisc add dev eth0 root frob$i\ndone\n"
        )
    }),
    kind("loops within loops on one line", 100, |n| {
        format!(
            "tc qdisc add dev eth0 root fq_codel\n{}tc qdisc add dev e root fq_codel;{}\n",
            "for a in 1; do ".repeat(n),
            " done;".repeat(n)
        )
    }),
    kind("loops within loops", 100, |n| {
        format!(
            "tc qdisc add dev eth0 root fq_codel\n{}tc qdisc add dev e root fq_codel\n{}",
            "for a in 1; do\n".repeat(n),
            "done\n".repeat(n)
        )
    }),
    kind("a variable that doubles", 20, |n| {
        format!("A=aaaaaaaaaa\n{}tc qdisc add dev eth0 root fq_codel\n", "A=$A$A\n".repeat(n))
    }),
    kind("variables", 60, |n| {
        let set = lines(n, |i| format!("V{i}={}kbit", i + 100));
        format!(
            "{set}tc qdisc add dev eth0 root handle 1: htb default 1\n{}",
            lines(n, |i| format!("tc class add dev eth0 parent 1: classid 1:{:x} htb rate $V{i}", i + 1))
        )
    }),
    kind("functions", 60, |n| {
        let set = lines(n, |i| {
            format!("f{i}() {{\n tc class add dev eth0 parent 1: classid 1:{:x} htb rate 1mbit\n}}", i + 1)
        });
        format!("tc qdisc add dev eth0 root handle 1: htb default 1\n{set}{}", lines(n, |i| format!("f{i}")))
    }),
    kind("branches", 60, |n| {
        "tc qdisc add dev eth0 root handle 1: htb default 1\n".to_owned()
            + &lines(n, |i| {
                format!(
                    "if [ $X = {i} ]; then\n tc class add dev eth0 parent 1: classid 1:{:x} htb rate 1mbit\nfi",
                    i + 1
                )
            })
    }),
    kind("lines that are refused", 60, |n| {
        "tc qdisc add dev eth0 root fq_codel\n".to_owned()
            + &lines(n, |i| format!("tc qdisc add dev eth0 root fq_codel limit {}x", i + 1))
    }),
    kind("words that are not known", 1000, |n| {
        format!(
            "tc qdisc add dev eth0 root fq_codel {}\ntc qdisc add dev eth1 root fq_codel\n",
            words(n, |i| format!("w{i}"))
        )
    }),
    kind("parentheses", 16_000, |n| {
        format!("A=$(({}1{}))\ntc qdisc add dev eth0 root fq_codel limit $A\n", "(".repeat(n), ")".repeat(n))
    }),
    kind("expansions that do not end", 1000, |n| {
        format!("tc qdisc add dev eth0 root fq_codel {}\ntc qdisc add dev eth1 root fq_codel\n", "$((".repeat(n))
    }),
    kind("commands within commands", 16_000, |n| {
        format!("A={}echo 1{}\ntc qdisc add dev eth0 root fq_codel limit $A\n", "$(".repeat(n), ")".repeat(n))
    }),
    kind("JSON within JSON", 1000, |n| {
        format!(
            "[{{\"kind\":\"fq_codel\",\"handle\":\"1:\",\"dev\":\"eth0\",\"root\":true,\"options\":{{\"x\":{}1{}}}}}]\n",
            "[".repeat(n),
            "]".repeat(n)
        )
    }),
    kind("lines that go on", 60, |n| {
        format!("tc qdisc add dev eth0 root handle 1: htb default 1 \\\n{} r2q 10\n", " default 1 \\\n".repeat(n))
    }),
    kind("comments", 200, |n| lines(n, |i| format!("# {i}: nothing of tc")) + "tc qdisc add dev eth0 root fq_codel\n"),
    kind("actions of one filter", 40, |n| {
        format!(
            "tc qdisc add dev eth0 clsact\ntc actions add action police rate 1mbit burst 10k index 1\ntc filter add dev eth0 ingress protocol ip matchall {}\n",
            words(n, |_| "action police index 1".to_owned())
        )
    }),
    kind("keys of one filter", 60, |n| {
        format!(
            "{TWO}\ntc filter add dev eth0 parent 1: protocol ip prio 1 u32 {} flowid 1:10\n",
            words(n, |i| format!("match ip dport {} 0xffff", i % 60_000 + 1))
        )
    }),
];

/// A policy map for class `C` at an interface.
const POLICY: &str = "policy-map P\n class C\n  priority 100\ninterface Gi0/0\n service-policy output P\n";

/// Two classes of htb.
const TWO: &str = "tc qdisc add dev eth0 root handle 1: htb default 20\ntc class add dev eth0 parent 1: classid 1:10 htb rate 1mbit\ntc class add dev eth0 parent 1: classid 1:20 htb rate 2mbit";

fn lines(n: usize, of: impl Fn(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut all, i| {
        let _ = writeln!(all, "{}", of(i));
        all
    })
}

fn words(n: usize, of: impl Fn(usize) -> String) -> String {
    (0..n).map(of).collect::<Vec<_>>().join(" ")
}

fn acl(n: usize, of: impl Fn(usize) -> String) -> String {
    let lines = lines(n, |i| format!("access-list 100 {}", of(i)));
    format!("{lines}class-map match-any C\n match access-group 100\n{POLICY}")
}

fn classes(n: usize, does: &str) -> String {
    let lists =
        lines(n, |i| format!("ip access-list extended L{i}\n permit udp any host 10.1.{}.{}", i / 256, i % 256));
    let maps = lines(n, |i| format!("class-map match-any C{i}\n match access-group name L{i}"));
    let classes = lines(n, |i| format!(" class C{i}\n  {does}"));
    format!("{lists}{maps}policy-map P\n{classes}interface Gi0/0\n service-policy output P\n")
}

fn htb(n: usize, of: impl Fn(usize) -> String) -> String {
    "tc qdisc add dev eth0 root handle 1: htb default 1\n".to_owned()
        + &lines(n, |i| format!("tc class add dev eth0 {}", of(i + 1)))
}

fn two(n: usize, of: impl Fn(usize) -> String) -> String {
    format!("{TWO}\n") + &lines(n, |i| format!("tc filter add dev eth0 parent 1: protocol ip prio 1 {}", of(i)))
}

fn shown_policy(n: usize) -> String {
    let class = |i: usize| {
        format!(
            "    Class-map: C{i} (match-any)\n      {i} packets, {} bytes\n      5 minute offered rate 0 bps, drop rate 0 bps\n      Match: dscp {}\n      Queueing\n      queue limit 64 packets\n      (queue depth/total drops/no-buffer drops) 0/0/0\n      (pkts output/bytes output) 0/0\n      bandwidth remaining ratio 1\n",
            i * 100,
            i % 64
        )
    };
    " GigabitEthernet0/0\n\n  Service-policy output: P\n\n".to_owned() + &lines(n, class)
}

fn shown_classes(n: usize) -> String {
    "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000\n Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n".to_owned()
        + &lines(n, |i| format!("class htb 1:{:x} dev eth0 root prio 0 rate 1Mbit ceil 1Mbit burst 1600b cburst 1600b\n Sent {i} bytes {i} pkt (dropped 0, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n lended: {i} borrowed: 0 giants: 0\n tokens: 200000 ctokens: 200000\n", i + 1))
}

fn json(n: usize) -> String {
    let class = |i: usize| {
        format!(
            "{{\"class\":\"htb\",\"handle\":\"1:{:x}\",\"root\":true,\"prio\":0,\"rate\":125000,\"ceil\":125000,\"burst\":1600,\"cburst\":1600,\"stats\":{{\"bytes\":{i},\"packets\":{i},\"drops\":0,\"overlimits\":0,\"requeues\":0,\"backlog\":0,\"qlen\":0,\"lended\":{i},\"borrowed\":0,\"giants\":0,\"tokens\":200000,\"ctokens\":200000}}}}",
            i + 1
        )
    };
    let classes: Vec<_> = (0..n).map(class).collect();
    format!("$ tc -s -j class show dev eth0\n[{}]\n", classes.join(","))
}
