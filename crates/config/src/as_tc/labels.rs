//! Conditioners that only say which packets they saw: where classes ask for them, filters by headers say the same.

use super::script::{Line, Port};
use crate::device::classes;
use perhop_core::classify::Match;
use perhop_core::conditioner::ConditionerParams;
use perhop_core::port::edge::{Action, Rewrite, StageSpec};

/// What a class takes, by headers where it asks for conditioners that only say which packets they saw.
pub(super) fn by_headers(takes: Vec<Match>, port: &Port<'_>) -> Vec<Match> {
    let Some(labels) = labels(port) else { return takes };
    let is_label = |matches: &Match| !matches.conditioner.is_empty();
    let of = |matches: Match| match is_label(&matches) {
        true => {
            labels.iter().filter(|it| matches.conditioner.contains(&it.name)).map(|it| it.matches.clone()).collect()
        }
        false => vec![matches],
    };
    takes.into_iter().flat_map(of).collect()
}

/// The conditioners of a port if they do no more than say which packets they saw, and classes ask for that alone: filters of the
/// classes say the same without marks.
pub(super) fn labels<'p>(port: &Port<'p>) -> Option<&'p [StageSpec]> {
    let edge = &port.link.edge;
    let says_only = |(i, stage): (usize, &StageSpec)| {
        let ConditionerParams::Marker(marker) = &stage.params else { return false };
        let action = stage.actions[marker.colour.colour().index()];
        let changes = !matches!(action, Action::Pass(Rewrite { dscp: None, colour: None, .. }));
        !changes && (action.goes_on() || i + 1 == edge.len()) && stage.matches.conditioner.is_empty()
    };
    let asks = |matches: &Match| !matches.conditioner.is_empty();
    let classes = || port.link.nodes.iter().flat_map(classes::all_classes).filter_map(|it| classes::takes(&it).ok());
    let alone = |matches: Match| matches == Match { conditioner: matches.conditioner.clone(), ..Match::default() };
    let plain = port.line == Line::Real && edge.iter().enumerate().all(says_only);
    (plain && classes().any(|it| asks(&it)) && classes().filter(asks).all(alone)).then_some(edge)
}
