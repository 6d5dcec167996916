//! Which bytes of a packet count.

use super::Making;
use crate::model::{Conditioner, Kind, Queue, Way};
use crate::tc::handles::{ROOT, own};
use crate::tc::htb;
use crate::tc::links::Header;
use crate::tc::options::Opt;
use crate::tc::tbf;
use crate::value::{Settings, Value, WithOrigin};
use perhop_core::accounting::Accounting;

/// Linux's size of a packet at a queueing discipline has Ethernet's header.
const AT_QUEUES: &str = "Linux: a queueing discipline counts Ethernet's 14 bytes";
const AT_INGRESS: &str = "Linux: filters of packets that come in count the IP packet";
const BY_NAME: &str = "Linux: an interface without Ethernet's header, by its name, counts the IP packet";
/// What a size table may count, with its name.
const TABLE: [(Accounting, &str); 4] =
    [(Accounting::L3, "l3"), (Accounting::L2, "l2"), (Accounting::L2Fcs, "l2+fcs"), (Accounting::L1, "l1")];

/// What names of interfaces without Ethernet's header begin with; a digit or a sign follows. `gretap` and `tap` have the header.
const BARE: [&str; 12] = ["tun", "ppp", "pppoe", "wg", "tunl", "ipip", "gre", "sit", "vti", "ip6tnl", "ip6gre", "wwan"];

/// Whether an interface of this name has no Ethernet header, where the text does not say which it has.
fn is_bare(name: &str) -> bool {
    let begins = |begin: &&str| name.strip_prefix(*begin).is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
    BARE.iter().any(begins)
}

impl Making<'_, '_, '_> {
    /// What the port of an interface counts, by its size table.
    pub(super) fn counted(
        &mut self,
        (interface, header): (&str, Option<Header>),
        way: Way,
        queue: Option<Queue>,
    ) -> (Option<Queue>, WithOrigin<&'static str>) {
        let bare = header.map_or_else(|| is_bare(interface), |it| !it.ethernet);
        let counted = match (way, &queue) {
            (Way::Input, None) => WithOrigin::assumed(AT_INGRESS, "l3"),
            _ if bare => header.map_or(WithOrigin::assumed(BY_NAME, "l3"), |it| WithOrigin::at(it.place, "l3")),
            _ => WithOrigin::assumed(AT_QUEUES, "l2"),
        };
        let of = counted.is;
        let header = if of == "l3" { Accounting::L3 } else { Accounting::L2 };
        let root = self.interface.qdiscs.get(&ROOT).filter(|it| !it.stab.list.is_empty());
        let Some(root) = root else { return (queue, counted) };
        let mut framing = Settings::default();
        tbf::framing(&root.stab, &mut framing);
        let overhead = match framing.get("overhead").map(|it| (&it.is, it.origin)) {
            Some((Value::Signed(bytes), origin)) => Some((bytes.get(), origin)),
            _ => None,
        };
        let alone = framing.get("mpu").is_none() && framing.get("link-layer").is_none();
        let known = overhead
            .filter(|_| alone)
            .and_then(|it| Some((TABLE.iter().find(|row| header.to(row.0).more() == it.0)?.1, it.1)));
        if let Some((name, origin)) = known {
            self.policers_count(&root.stab.list);
            return (queue, WithOrigin { is: name, origin });
        }
        let queue = queue.map(|queue| self.framed(queue, &framing));
        (queue, counted)
    }

    /// Policers before the queues do not know the size table.
    fn policers_count(&mut self, stab: &[Opt<'_>]) {
        let counts = |it: &Conditioner| matches!(it.settings.get("cir").map(|it| &it.is), Some(Value::Rate(_)));
        if self.conditioners.iter().any(counts) {
            let lines: Vec<_> = stab.iter().map(|it| it.line).collect();
            self.log.nearly(&lines, "`stab`: here it holds for the policers before the queues, too");
        }
    }

    /// The lines on which classes of the first queueing discipline have their own framing.
    fn framed_classes(&self) -> Vec<usize> {
        let Some(root) = self.interface.qdiscs.get(&ROOT) else { return Vec::new() };
        let classes = self.interface.classes.range(own(root.handle));
        let said = classes.flat_map(|it| ["overhead", "mpu", "linklayer"].map(|word| it.1.options.get(word)));
        said.flatten().filter(|option| htb::says(option)).map(|option| option.line).collect()
    }

    /// A size table that `accounting` has no name for: for the rates at the first queueing discipline.
    fn framed(&mut self, mut queue: Queue, framing: &Settings) -> Queue {
        let lines: Vec<_> = self
            .interface
            .qdiscs
            .get(&ROOT)
            .map(|it| it.stab.list.iter().map(|it| it.line).collect())
            .unwrap_or_default();
        let twice = self.framed_classes();
        let why = "a class's `overhead`, `mpu` and `linklayer` beside `stab`: Linux counts one on the other, here `stab` alone";
        self.log.lost(&twice, why);
        let has = matches!(queue.kind, Some(Kind::Scheduler("htb" | "cake")));
        let at = match (queue.shape.is_empty(), has) {
            (false, _) => Some(&mut queue.shape),
            (true, true) => Some(&mut queue.settings),
            (true, false) => None,
        };
        match at {
            Some(settings) => {
                framing.iter().for_each(|(key, value)| settings.set(key, value.clone()));
                self.log.nearly(&lines, "`stab`: the rates here count so, the queues below them do not");
            }
            None if framing.is_empty() => {}
            None => self.log.nearly(&lines, "`stab`: nothing here has a rate, so the packets count as they are"),
        }
        queue
    }
}
