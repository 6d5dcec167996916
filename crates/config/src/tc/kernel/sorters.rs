//! Filters: put, removed.

use super::Interface;
use crate::tc::filters;
use crate::tc::handles::{AT_EGRESS, AT_INGRESS, INGRESS, INGRESS_HANDLE, ROOT};
use crate::tc::units::shown;
use crate::tc::words::{Form, Refusal, Statement, Taken, Verb};

impl<'a> Interface<'a> {
    /// Does what a statement says of one.
    ///
    /// # Errors
    /// tc or the kernel would refuse it.
    pub(super) fn filter(&mut self, statement: &Statement<'a>) -> Taken<()> {
        let head = filters::head(statement)?;
        let root = self.qdiscs.get(&ROOT).map_or(0x1_0000, |it| it.handle);
        let at = match head.parent {
            None | Some(ROOT) if statement.form() == Form::Shown && !self.qdiscs.contains_key(&ROOT) => AT_INGRESS,
            None | Some(ROOT) => root,
            Some(INGRESS_HANDLE) => AT_INGRESS,
            Some(at) => at,
        };
        if statement.form() == Form::Typed {
            self.takes_filters(at)?;
        }
        let list = self.filters.entry(at).or_default();
        let done = match statement.verb {
            Verb::Delete => list.remove(&head),
            _ => list.put(head, statement),
        };
        for target in std::mem::take(&mut list.altered) {
            match list.aims_at(target) {
                true => self.aimed.insert((target, at)),
                false => self.aimed.remove(&(target, at)),
            };
        }
        done
    }

    /// All filters of a place go.
    pub(super) fn without_filters(&mut self, at: u32) {
        let targets = self.filters.remove(&at).into_iter().flat_map(|list| list.targets().collect::<Vec<_>>());
        targets.for_each(|target| _ = self.aimed.remove(&(target, at)));
    }

    fn takes_filters(&self, at: u32) -> Taken<()> {
        if matches!(at, AT_INGRESS | AT_EGRESS) {
            let there = self.qdiscs.get(&INGRESS).is_some_and(|it| at == AT_INGRESS || it.name.text == "clsact");
            let what = if at == AT_INGRESS { "`ingress` or `clsact`" } else { "`clsact`" };
            let refusal = Refusal::of(format!("the interface has no {what}"));
            return if there { Ok(()) } else { Err(refusal.instead("tc qdisc add dev .. clsact, before it")) };
        }
        match self.by_handle(at) {
            Some(it) if at & 0xffff == 0 || it.known.is_none() || self.has_class(it, at) => Ok(()),
            Some(_) => Err(Refusal::of(format!("there is no class {}", shown(at)))),
            None => Err(Refusal::of(format!("there is no queueing discipline {}", shown(at & 0xffff_0000)))),
        }
    }
}
