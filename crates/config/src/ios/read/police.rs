//! `police` in all its forms.
//!
//! ```text
//! police cir R [bc B] [pir P] [be E]                          bit/s, bytes
//! police cir percent R [bc B ms] [pir percent P] [be E ms]
//! police rate R [bps|pps] [burst B] [peak-rate P] [peak-burst E]
//! police R [B [E]] [conform-action A] [exceed-action A] [violate-action A]
//! ```
//!
//! `be` is the excess burst of RFC 2697 without `pir`, and the peak burst of RFC 2698 with it.

use super::action::action;
use super::words::{Outcome, Words, wanted};
use crate::ios::plan::{Class, Do, Police, WithPlace};

/// The colours by the words of their actions.
const COLOURS: [[&str; 2]; 3] =
    [["conform-action", "conform"], ["exceed-action", "exceed"], ["violate-action", "violate"]];

/// `police ..`
pub fn police(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    if matches!(words.peek(), "aggregate" | "flow" | "mask" | "policed-dscp") {
        return Err("a policer that several classes share is not modelled".into());
    }
    let at = words.row().at();
    words.has_any(&["cir", "rate"]);
    let cir = words.rate(1)?;
    let none = [None, None, None];
    let mut it = Police { at, cir, bc: None, pir: None, be: None, actions: none, aware: None };
    bare_bursts(&mut it, words)?;
    while !words.is_over() {
        part(&mut it, words)?;
    }
    let aware = it.aware.is_some();
    class.police = Some(it);
    Ok(aware.then(|| COLOUR_AWARE.to_owned()))
}

const COLOUR_AWARE: &str =
    "the colour before the meter is the one that the code point implies (AF11 green, AF12 yellow, AF13 red)";

/// `police 8000 1500 3000 ..`
fn bare_bursts(it: &mut Police, words: &mut Words<'_>) -> Result<(), String> {
    for burst in [&mut it.bc, &mut it.be] {
        if words.is_number() {
            *burst = Some(words.burst()?);
            words.has_any(&["byte", "limit"]);
        }
    }
    Ok(())
}

fn part(it: &mut Police, words: &mut Words<'_>) -> Result<(), String> {
    match words.peek() {
        "bc" | "burst" | "conform-burst" => it.bc = Some(after(words, Words::burst)?),
        "be" | "peak-burst" => it.be = Some(after(words, Words::burst)?),
        "pir" | "peak-rate" => it.pir = Some(after(words, |words| words.rate(1))?),
        "conform-color" => {
            words.take();
            it.aware = Some(words.at());
            words.take();
            words.has("exceed-color").then(|| words.take());
        }
        "" => {}
        _ => return actions(it, words),
    }
    Ok(())
}

fn after<'a, T>(words: &mut Words<'a>, read: impl Fn(&mut Words<'a>) -> Result<T, String>) -> Result<T, String> {
    words.take();
    read(words)
}

/// `conform-action transmit exceed-action drop`
fn actions(it: &mut Police, words: &mut Words<'_>) -> Result<(), String> {
    let word = words.take();
    let colour = COLOURS.iter().position(|names| names.contains(&word));
    let colour = colour.ok_or_else(|| format!("{} of `police`", wanted(word, "a part")))?;
    let done = action(words)?;
    add(it, colour, done);
    Ok(())
}

/// Several actions of a colour add up.
pub fn add(it: &mut Police, colour: usize, done: WithPlace<Do>) {
    it.actions[colour].get_or_insert_default().push(done);
}

/// A line below `police`: `exceed-action drop`.
pub fn below(class: &mut Class, words: &mut Words<'_>) -> Outcome {
    match &mut class.police {
        Some(it) => {
            while !words.is_over() {
                part(it, words)?;
            }
            Ok(it.aware.filter(|at| at.line == words.row().number).map(|_| COLOUR_AWARE.to_owned()))
        }
        None => Err("no `police` comes before it".into()),
    }
}
