//! The answer as lines to copy into a scenario.

use super::{Kind, Tuned};
use crate::text::write;
use perhop_core::aqm::members::Member;
use perhop_core::params::{Value as _, show_table};

/// Code points of local use (RFC 2474: xxxx11) for classes that give none: 3, 7, 11, ...
const LOCAL_USE: usize = 4;

impl Tuned {
    /// The recommended setting as the lines of a queue.
    pub fn toml(&self) -> String {
        let setting = &self.recommended().setting;
        let [v0, floor] = [setting.v0, setting.floor].map(f64::round);
        let mut out = format!("[queue.{}]\naqm = \"{}\"\n", key(&self.asked.queue), self.asked.kind.name());
        out += &format!("limit = \"{}p\"\n", self.plant.link.limit.floor());
        if self.asked.kind == Kind::Svb {
            out += &format!("alpha = {:?}\n", setting.alpha[0]);
        }
        out += &format!("v0 = \"{v0}p\"\nfloor = \"{floor}p\"\n");
        out += &format!("mean-packet = \"{}B\"\necn = true\n", self.asked.packet);
        if self.asked.kind == Kind::Msvb {
            let mut tuned = setting.alpha.iter();
            let alpha = |i: usize| self.asked.classes[i].load.and_then(|_| tuned.next().copied());
            let alphas: Vec<_> = (0..self.asked.classes.len()).map(alpha).collect();
            let lines = alphas.iter().enumerate().map(|(i, alpha)| format!("  {},\n", self.class(i, *alpha)));
            out += &format!("classes = [\n{}]\n", lines.collect::<String>());
        }
        out
    }

    /// A class's table; one that is not tuned keeps its alpha.
    fn class(&self, i: usize, alpha: Option<f64>) -> String {
        let (class, last) = (&self.asked.classes[i], self.asked.classes.len() - 1);
        let filter = match (&class.filter.matches, class.filter.members.as_slice()) {
            (Some(matches), _) => format!("match = {}, ", write::inline(&show_table(matches))),
            (None, []) if i == last => String::new(),
            (None, []) => format!("for = {}, ", LOCAL_USE * (i + 1) - 1),
            (None, members) => format!("for = [{}], ", members.iter().map(word).collect::<Vec<_>>().join(", ")),
        };
        format!("{{ {filter}share = {:?}, alpha = {:?} }}", class.share, alpha.unwrap_or(self.asked.alpha(i)))
    }
}

fn word(member: &Member) -> String {
    member.tree().map(|tree| tree.to_string()).unwrap_or_default()
}

fn key(name: &str) -> String {
    perhop_core::params::key(name)
}
