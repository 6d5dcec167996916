//! Names of class maps, policy maps and access lists.
//!
//! Source: the IOS command references give a class map and a policy map a name of at most 40 alphanumeric characters; `-` and `_` are
//! in the names of their examples. A blank ends a name. Nothing else is written.

/// Most characters.
const LONGEST: usize = 40;
/// What IOS has itself.
const OWN: [&str; 1] = ["class-default"];

/// A name as IOS takes it: other characters become `-`, several one, none at the ends. It begins with a letter, since a number is
/// another kind of access list.
pub(super) fn fit(wanted: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let plain: String = wanted.chars().map(|c| if fits(c) { c } else { '-' }).collect();
    let parts: Vec<_> = plain.split('-').filter(|part| !part.is_empty()).collect();
    let joined = parts.join("-");
    let begins = joined.starts_with(|c: char| c.is_ascii_alphabetic());
    let name = if begins { joined } else { format!("Q-{joined}") };
    cut(&name, LONGEST).to_owned()
}

/// The name, or with the first number from 2 that is free.
pub(super) fn unique(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let free = |name: &str| !OWN.iter().any(|own| own.eq_ignore_ascii_case(name)) && !taken(name);
    let numbered = (2u32..).map(|n| {
        let end = format!("-{n}");
        format!("{}{end}", cut(name, LONGEST - end.len()))
    });
    [name.to_owned()].into_iter().chain(numbered).find(|name| free(name)).unwrap_or_default()
}

fn cut(name: &str, longest: usize) -> &str {
    name.get(..longest).unwrap_or(name).trim_end_matches('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_ios_takes_them() {
        let long = "n".repeat(60);
        for (wanted, name) in [
            ("GOLD", "GOLD"),
            ("CE -> WAN", "CE-WAN"),
            ("1:10", "Q-1-10"),
            ("café ⏰", "caf"),
            ("", "Q"),
            (&long, &long[..40]),
            ("a b\n!no", "a-b-no"),
        ] {
            assert_eq!(fit(wanted), name, "{wanted}");
        }
    }

    #[test]
    fn a_name_is_one_block_s() {
        assert_eq!(unique("class-default", |_| false), "class-default-2");
        let long = "n".repeat(40);
        let name = unique(&long, |name| name == long || name.ends_with("-2"));
        assert!(name.len() == 40 && name.ends_with("n-3"), "{name}");
    }
}
