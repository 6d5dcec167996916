//! Settings of HFSC that run, but probably not as intended.

use super::Params;
use super::curve::{MOST_UMAX, Stated};
use super::form::Curves;
use crate::arithmetic::Arithmetic;
use crate::params::{CLASS, ParamError};
use crate::sched::fault;
use crate::sched::form::Form;
use crate::scope::Scope;
use crate::units::BitRate;

pub(super) fn all(params: &Params, form: &Form, curves: &[Curves], scope: &Scope) -> Vec<ParamError> {
    let each = |i: usize| {
        limits_nothing(params, i).into_iter().chain(over_share((params, scope), form, curves, i)).chain(cut(params, i))
    };
    (0..params.classes.len()).flat_map(each).collect()
}

/// W359: an upper limit of a class that does not share.
fn limits_nothing(params: &Params, i: usize) -> Option<ParamError> {
    let class = &params.classes[i];
    (class.ul.is_some() && class.ls.is_none()).then(|| {
        fault("W359", params.classes.called(i), format!("{CLASS}: `ul` has no effect without `ls`"))
            .label("`ul` limits the link-sharing criterion; the class is served by `rt` alone, and never beyond it")
            .help("remove `ul`, or state the `ls` that it limits")
    })
}

/// W354: guarantees of leaves that exceed the share of a class above them.
fn over_share((params, scope): (&Params, &Scope), form: &Form, curves: &[Curves], i: usize) -> Option<ParamError> {
    let share = curves[i].ls.filter(|_| !form.is_leaf(i))?.m2;
    let leaves = form.places_below(i).into_iter().map(|place| form.leaves[place]);
    let leaves = leaves.filter(|&leaf| form.counts(&params.classes, leaf, scope));
    let sum = BitRate::bps(leaves.filter_map(|leaf| Some(curves[leaf].rt?.m2.bit_s())).sum());
    (sum > share).then(|| {
        let message = format!("the `rt` of the leaves below {CLASS} add up to {sum}, above its `ls` {share}");
        fault("W354", params.classes.called(i), message)
            .label("`rt` goes past the classes above a leaf: the class gets more than its share, its siblings less")
            .help(format!("raise its `ls` to {sum} or more, or lower the `rt` below it"))
    })
}

/// W341: curves that tc cuts to whole bytes/s and microseconds.
fn cut(params: &Params, i: usize) -> impl Iterator<Item = ParamError> {
    let (class, name) = (&params.classes[i], params.classes.called(i));
    let linux = params.arithmetic == Arithmetic::Linux;
    let stated = [("rt", class.rt), ("ls", class.ls), ("ul", class.ul)];
    let fine = stated.into_iter().filter_map(move |(key, stated)| Some((key, stated.filter(|_| linux)?)));
    fine.filter(|(_, stated)| !stated.is_whole()).map(move |(key, _)| {
        let help = format!(
            "state rates in multiples of 8bit/s, times in multiples of 1us, and an `umax` of at most {MOST_UMAX}, or \
             `arithmetic = \"exact\"`"
        );
        fault("W341", name.clone(), format!("{CLASS}: tc hands over another `{key}` than stated"))
            .label("tc has whole bytes/s and whole microseconds, and 32 bits for `umax` times a million")
            .help(help)
    })
}

impl Stated {
    /// Whether tc hands it over as it is.
    fn is_whole(&self) -> bool {
        let rate = |rate: Option<BitRate>| rate.is_none_or(|rate| rate.bit_s() % 8 == 0);
        match self {
            Self::Rate(it) => rate(Some(*it)),
            Self::Pieces(it) => {
                let times = [it.d, it.dmax].into_iter().flatten().all(|time| time.ns() % 1000 == 0);
                times && rate(it.m1) && rate(it.m2) && rate(it.rate) && it.umax.is_none_or(|umax| umax <= MOST_UMAX)
            }
        }
    }
}
