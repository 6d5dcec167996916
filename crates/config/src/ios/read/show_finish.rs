//! What follows from all lines together.

use crate::ios::plan::{Attached, Child, Class};
use crate::ios::read::Reader;
use crate::model::Way;
use std::collections::{HashMap, HashSet};

impl Reader {
    /// What is said twice, and what is said of others.
    pub fn finish(&mut self) {
        self.limits_of_priority();
        self.children_elsewhere();
        let policies = self.shown_policies();
        self.said_twice();
        self.counters_of_policies(&policies);
        self.policies_of_interfaces();
    }

    /// A later line replaces an earlier one, and what is typed counts before what the device printed of it.
    fn said_twice(&mut self) {
        let attached = std::mem::take(&mut self.plan.attached);
        let mut places: HashMap<(String, &str), Vec<usize>> = HashMap::new();
        let mut kept: Vec<Option<Attached>> = Vec::with_capacity(attached.len());
        for new in attached {
            let key = (self.plan.interfaces[new.interface].name.to_ascii_lowercase(), new.way.name());
            let before = places.entry(key).or_default();
            let same = before.iter().copied().find(|at| kept[*at].as_ref().is_some_and(|old| self.same(old, &new)));
            match same {
                Some(at) if !typed(&new) && kept[at].as_ref().is_some_and(typed) => {}
                Some(at) => kept[at] = Some(new),
                None => {
                    before.push(kept.len());
                    kept.push(Some(new));
                }
            }
        }
        self.plan.attached = kept.into_iter().flatten().collect();
    }

    /// Whether two say the same of an interface: both typed, or with policies of one name, and of one far end.
    fn same(&self, old: &Attached, new: &Attached) -> bool {
        let peer = |attached: &Attached| &self.plan.interfaces[attached.interface].peer;
        let name = |attached: &Attached| self.plan.name_of(&attached.policy).to_owned();
        (typed(old) && typed(new)) || (name(old) == name(new) && peer(old) == peer(new))
    }

    /// Where each policy that is shown at an interface begins, and what its port is to be called.
    fn shown_policies(&self) -> Vec<(usize, Way, String)> {
        let names = self.plan.called();
        let shown = self.plan.attached.iter().zip(names).filter(|(attached, _)| !typed(attached));
        shown.map(|(attached, name)| (attached.at.place.start, attached.way, name)).collect()
    }

    /// Counters of an interface with several policies of one direction are those of the policy's port.
    fn counters_of_policies(&mut self, policies: &[(usize, Way, String)]) {
        for counters in &mut self.evidence {
            let before = policies.partition_point(|(start, ..)| *start <= counters.place.start);
            let Some((_, way, name)) = before.checked_sub(1).map(|at| &policies[at]) else { continue };
            if counters.way == Some(*way) && name.starts_with(&counters.interface) && !counters.interface.is_empty() {
                counters.interface.clone_from(name);
            }
        }
    }

    /// Limits of priority classes that are shown apart from them.
    fn limits_of_priority(&mut self) {
        for (policy, level, limit) in std::mem::take(&mut self.shown.limits) {
            let meant = |class: &&mut Class| {
                let said = class.priority.as_ref().map(|priority| priority.level);
                class.waiting.limit.is_none() && said.is_some_and(|said| level == 0 || said == level)
            };
            for class in self.plan.policies[policy].classes.iter_mut().filter(meant) {
                class.waiting.limit = Some(limit);
            }
        }
    }

    /// Policies within policies that are not printed.
    fn children_elsewhere(&mut self) {
        let known: HashSet<String> = self.plan.policy.keys().cloned().collect();
        let shown = self.plan.policies.iter_mut().filter(|policy| policy.shown);
        for class in shown.flat_map(|policy| &mut policy.classes) {
            if let Some(Child::Named(name)) = &class.child
                && !known.contains(&name.is)
            {
                self.account.not_modelled(name.at.line, "this policy map is not in the text");
                class.child = None;
            }
        }
    }
}

const fn typed(attached: &Attached) -> bool {
    matches!(attached.policy, Child::Named(_))
}
