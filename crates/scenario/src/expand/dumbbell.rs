//! `[dumbbell]`: the short form, expanded into links, a queue, a marker and traffic.
//!
//! ```text
//! s ---- E1 ==== E2 ---- d        access links of 10 x bottleneck; RTT = 2 x (1/8 + 1/4 + 1/8) rtt
//! ```
//! The marker sits at `E1 -> E2`, before the bottleneck's queue. Names: traffic `bulk`, queue `bottleneck`,
//! conditioner `marker`. Other sections may use its nodes.

use crate::text::tree;
use perhop_core::accounting::Accounting;
use perhop_core::params::{Kind, Node, Params, Place, Problems, Spanned, Table, Tree, Value, read_table};
use perhop_core::units::{BitRate, Span};

/// Rate of the access links in rates of the bottleneck.
const ACCESS: u64 = 10;

/// `[dumbbell]`
#[derive(Params, Clone, Debug, PartialEq)]
pub struct Dumbbell {
    /// Bulk TCP flows from `s` to `d`.
    #[param(default = 10)]
    pub flows: Spanned<u32>,
    /// Rate of the link `E1 - E2`.
    pub bottleneck: Spanned<BitRate>,
    /// Which bytes of a packet the rates of its links count; default: the IP packet (`l3`).
    pub framing: Option<Spanned<Accounting>>,
    /// Propagation from `s` to `d` and back.
    pub rtt: Spanned<Span>,
    /// TCP of the flows: a preset, a name of `[tcp]`, or a table.
    pub tcp: Option<Stated>,
    /// Queue at `E1 -> E2`: a name of `[queue]`, or a table of the same keys.
    pub queue: Option<Stated>,
    /// Conditioner at `E1 -> E2`: a table as `[conditioner.X]` without `at`.
    pub marker: Option<Stated>,
}

/// A value passed on unchanged, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated(pub Node);

impl Value for Stated {
    const KIND: Kind = Kind::Any;
    fn read(node: &Node, _: &mut Problems) -> Option<Self> {
        Some(Self(node.clone()))
    }
    fn tree(&self) -> Option<Tree> {
        Some(self.0.tree.clone())
    }
}

/// The tree with `[dumbbell]` replaced by its expansion.
///
/// # Errors
/// The tree without it, if it has an error.
pub fn expand(mut root: Node, problems: &mut Problems) -> Result<Node, Node> {
    let Tree::Table(table) = &mut root.tree else { return Ok(root) };
    let Some(at) = table.entries.iter().position(|e| e.0 == "dumbbell") else { return Ok(root) };
    let (_, _, short) = table.entries.remove(at);
    match problems.within("dumbbell", |problems| read_table::<Dumbbell>(&short, problems)) {
        Some(dumbbell) => {
            Expansion { out: &mut root, problems }.all(dumbbell);
            Ok(root)
        }
        None => Err(root),
    }
}

struct Expansion<'a> {
    out: &'a mut Node,
    problems: &'a mut Problems,
}

impl Expansion<'_> {
    fn all(&mut self, dumbbell: Dumbbell) {
        let Dumbbell { flows, bottleneck, framing, rtt, tcp, queue, marker } = dumbbell;
        let access = Spanned::new(bottleneck.place, BitRate::bps(bottleneck.bit_s().saturating_mul(ACCESS)));
        let near = Spanned::new(rtt.place, *rtt / 8);
        let core = Spanned::new(rtt.place, Span::from_ns((*rtt / 2).ns() - 2 * near.ns()));
        for (name, rate, delay) in [("s - E1", access, near), ("E1 - E2", bottleneck, core), ("E2 - d", access, near)] {
            self.link(name, (rate, delay), framing);
        }
        if let Some(Stated(node)) = queue {
            let place = node.place;
            let name = match node.tree {
                Tree::Text(_) => node,
                _ => {
                    self.section(["queue", "bottleneck"], node);
                    Node { place, tree: Tree::Text("bottleneck".into()) }
                }
            };
            self.section(["links", "E1 -> E2"], table(place, vec![("queue", name)]));
        }
        if let Some(Stated(node)) = marker {
            self.marker(node);
        }
        self.traffic(flows, tcp);
    }

    /// Adds a section; one that exists already is an error.
    fn section(&mut self, path: [&str; 2], node: Node) {
        if let Some(place) = tree::key_place(self.out, &path) {
            let message = format!("duplicate name: [dumbbell] makes `{}.{}` itself", path[0], path[1]);
            self.problems
                .error("E002", place, message)
                .help("write it in [dumbbell] (flows, tcp, queue, marker), or give this section another name");
            return;
        }
        let path = path.map(|name| (name.to_owned(), node.place));
        tree::set(self.out, &path, node, self.problems);
    }

    fn link(
        &mut self,
        name: &str,
        (rate, delay): (Spanned<BitRate>, Spanned<Span>),
        framing: Option<Spanned<Accounting>>,
    ) {
        let node = |place, tree: Option<Tree>| Node { place, tree: tree.expect("a value") };
        let mut entries = vec![("rate", node(rate.place, rate.tree())), ("delay", node(delay.place, delay.tree()))];
        entries.extend(framing.map(|framing| ("framing", node(framing.place, framing.tree()))));
        self.section(["links", name], table(rate.place, entries));
    }

    fn marker(&mut self, mut node: Node) {
        if let Tree::Table(marker) = &mut node.tree {
            let port = Node { place: node.place, tree: Tree::Text("E1 -> E2".into()) };
            marker.entries.insert(0, ("at".into(), node.place, port));
        }
        self.section(["conditioner", "marker"], node);
    }

    fn traffic(&mut self, flows: Spanned<u32>, tcp: Option<Stated>) {
        let place = flows.place;
        let text = |text: &str| Node { place, tree: Tree::Text(text.into()) };
        let flows = Node { place, tree: Tree::Integer((*flows).into()) };
        let mut entries = vec![("model", text("ftp")), ("from", text("s")), ("to", text("d")), ("flows", flows)];
        entries.extend(tcp.map(|Stated(node)| ("tcp", node)));
        self.section(["traffic", "bulk"], table(place, entries));
    }
}

fn table(place: Place, entries: Vec<(&str, Node)>) -> Node {
    let entries = entries.into_iter().map(|(name, node)| (name.to_owned(), node.place, node)).collect();
    Node { place, tree: Tree::Table(Table { entries }) }
}
