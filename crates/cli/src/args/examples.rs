//! Examples at the end of each `--help`. Tests run all of them, in this order, in a folder with a policy, a capture and
//! nothing else.

/// `init`
pub const INIT: &str = "\
Examples:
  perhop init
  perhop init --template wisp -o mine.toml
  perhop init --template office -o -";
/// `check`
pub const CHECK: &str = "\
Examples:
  perhop check scenario.toml
  perhop check scenario.toml policy.toml
  perhop check scenario.toml --json
  perhop check - < scenario.toml
  perhop check router.cfg
  perhop check shaper.sh --link 100Mbit/s";
/// `explain`
pub const EXPLAIN: &str = "\
Examples:
  perhop explain scenario.toml
  perhop explain scenario.toml -s conditioner.contract.cbs=50kB
  perhop explain scenario.toml --json";
/// `run`
pub const RUN: &str = "\
Examples:
  perhop run scenario.toml
  perhop run scenario.toml -s traffic.business.flows=8 --seed 2
  perhop run scenario.toml --show arrivals.delay_p999_ms,traffic.jain
  perhop run scenario.toml --trace series --pcap 'C -> E2'
  perhop run scenario.toml --ef 'C -> E2,rate=2Mbit/s,for=AF11'";
/// `lab`
pub const LAB: &str = "\
Examples:
  perhop lab port.toml
  perhop lab port.toml --duration 5s --keep lab-port";
/// `sweep`
pub const SWEEP: &str = "\
Examples:
  perhop sweep scenario.toml --vary conditioner.contract.cbs=10kB,50kB
  perhop sweep scenario.toml --vary queue.core.profiles.AF13.max=20p,40p --csv rows.csv
  perhop sweep scenario.toml --vary '[traffic.business.flows, seed]=[[2, 1], [8, 2]]'
  perhop sweep scenario.toml --vary seed=1,2 --shard 1/2
  perhop sweep scenario.toml --vary seed=1,2 --missing=2";
/// `tune`
pub const TUNE: &str = "\
Examples:
  perhop tune svb --rate 10Mbit/s --class rtt=120ms,flows=5..50
  perhop tune msvb --rate 10Mbit/s --class rtt=120ms,flows=5..20,share=0.3,for=AF11 --class rtt=60ms,flows=5..20,share=0.7";
/// `import`
pub const IMPORT: &str = "\
Examples:
  perhop import router.cfg
  perhop import router.cfg --as policy -o wan.toml
  perhop import shaper.sh --link 100Mbit/s -o port.toml
  perhop import - --link 1Gbit/s < shaper.sh";
/// `predict`
pub const PREDICT: &str = "\
Examples:
  perhop predict router.cfg
  perhop predict shaper.sh --link 100Mbit/s --duration 5s
  perhop predict shaper.sh --interface eth0 --direction output --link 100Mbit/s
  perhop predict router.cfg --all
  perhop predict router.cfg --load load.toml --out runs";
/// `meter`
pub const METER: &str = "\
Examples:
  perhop meter in.pcap
  perhop meter in.pcap --policy policy.toml
  perhop meter in.pcap --bursts
  perhop meter in.pcap --rtt --json";
/// `mark`
pub const MARK: &str = "\
Examples:
  perhop mark in.pcap -o out.pcap --policy policy.toml";
/// `forward`
pub const FORWARD: &str = "\
Examples:
  perhop forward --in veth-a --out veth-b --policy policy.toml --dry-run
  perhop forward --in eth1 --out eth2 --policy policy.toml --queue core --link 10Mbit/s --watch --trace runs";
/// `plot`
pub const PLOT: &str = "\
Examples:
  perhop plot runs/scenario
  perhop plot runs/scenario --where class=business
  perhop plot runs/scenario --kind delay -o delay.png
  perhop plot runs/scenario --kind cdf --title '' --width 3.5 -o column.pdf
  perhop plot --list";
/// `runs`
pub const RUNS: &str = "\
Examples:
  perhop runs
  perhop runs runs/scenario --json";
/// `report`
pub const REPORT: &str = "\
Examples:
  perhop report runs/scenario -o report.html";
/// `compare`
pub const COMPARE: &str = "\
Examples:
  perhop compare runs/A runs/B
  perhop compare runs/A runs/B --metric traffic.goodput_bit_s
  perhop compare runs/sizes --by cbs";
/// `reproduce`
pub const REPRODUCE: &str = "\
Examples:
  perhop reproduce --list
  perhop reproduce pf-fig2 --quick";
/// `map`
pub const MAP: &str = "\
Examples:
  perhop map --list
  perhop map redp-bias --seeds 3";
/// `list`
pub const LIST: &str = "\
Examples:
  perhop list
  perhop list trtcm
  perhop list W301
  perhop list aqms --json";
/// `completions`
pub const COMPLETIONS: &str = "\
Examples:
  perhop completions bash > perhop.bash
  perhop completions zsh > _perhop
  perhop completions fish > perhop.fish";
/// `man`
pub const MAN: &str = "\
Examples:
  perhop man man/man1";
