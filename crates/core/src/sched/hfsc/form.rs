//! The curves of classes, what is wrong with them, and the rates that follow.

use super::curve::{Curve, Stated};
use super::{Class, Params};
use crate::arithmetic::Arithmetic;
use crate::params::{CLASS, ParamError};
use crate::sched::form::Form;
use crate::sched::{Classes, fault, share_of};
use crate::units::BitRate;

/// What a class is promised, shares by, and never exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Curves {
    pub(super) rt: Option<Curve>,
    pub(super) ls: Option<Curve>,
    pub(super) ul: Option<Curve>,
}

/// The curves of all classes.
///
/// # Errors
/// As [`Stated::curve`]; E229 for `rt` of a class with children; E005 for a class without a curve that serves it.
pub(super) fn curves(params: &Params, form: &Form) -> Result<Vec<Curves>, ParamError> {
    (0..params.classes.len()).map(|i| of_class(&params.classes, form, i, params.arithmetic)).collect()
}

fn of_class(classes: &Classes<Class>, form: &Form, i: usize, arithmetic: Arithmetic) -> Result<Curves, ParamError> {
    let (class, name, is_leaf) = (&classes[i], classes.called(i), form.is_leaf(i));
    if class.rt.is_some() && !is_leaf {
        let message = format!("{CLASS} has `rt`, and other classes name it as their parent");
        let error = fault("E229", name, message);
        return Err(error.help("only leaves have real-time curves: move `rt` to its children, or write `ls`"));
    }
    if class.ls.is_none() && (class.rt.is_none() || !is_leaf) {
        let what = if is_leaf { "neither `rt` nor `ls`" } else { "no `ls`" };
        let help = "state `ls`, its share of what its parent has, or in a leaf `rt`, its guarantee";
        return Err(fault("E005", name, format!("{CLASS} has {what}")).help(help));
    }
    let curve = |key: &str, stated: Option<Stated>| {
        let said = |(code, what, help)| fault(code, name.clone(), format!("{CLASS}: `{key}` {what}")).help(help);
        stated.map(|stated| stated.curve(arithmetic).map_err(said)).transpose()
    };
    Ok(Curves { rt: curve("rt", class.rt)?, ls: curve("ls", class.ls)?, ul: curve("ul", class.ul)? })
}

/// What curves give in a tree of classes.
pub(super) trait Gives {
    /// The rate beyond which a class is never served for long: that of the upper limits from it upwards, or of the
    /// real-time curve of a leaf that does not share.
    fn limit(&self, curves: &[Curves], class: usize) -> Option<BitRate>;
    /// What a class gets of `whole` while all have packets, once first pieces are over.
    fn gets(&self, curves: &[Curves], class: usize, whole: BitRate) -> BitRate;
}

impl Gives for Form {
    fn limit(&self, curves: &[Curves], class: usize) -> Option<BitRate> {
        let path = std::iter::successors(Some(class), |&at| self.parents[at]);
        let limits = path.filter_map(|at| Some(curves[at].ul?.m2)).min();
        match (curves[class].rt, curves[class].ls) {
            (Some(rt), None) => Some(rt.m2),
            _ => limits,
        }
    }

    fn gets(&self, curves: &[Curves], class: usize, whole: BitRate) -> BitRate {
        let of_parent = self.parents[class].map_or(whole, |up| self.gets(curves, up, whole));
        let rate = |at: usize| curves[at].ls.map_or(0, |ls| ls.m2.bit_s());
        let beside = (0..curves.len()).filter(|&at| self.parents[at] == self.parents[class]);
        let shared = share_of(of_parent, rate(class), beside.map(rate).sum());
        let promised = curves[class].rt.map_or(BitRate::bps(0), |rt| rt.m2);
        let gets = shared.max(promised);
        self.limit(curves, class).map_or(gets, |limit| gets.min(limit))
    }
}
