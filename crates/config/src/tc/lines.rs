//! Lines without what mails, listings and terminals put before them.

use super::table::discipline;
use crate::text::Line;

/// Without a mail's `> ` and a listing's numbers.
pub(super) fn bare(line: Line<'_>) -> Line<'_> {
    let mut rest = line.text.trim_start();
    while let Some(next) = quoted(rest).or_else(|| numbered(rest)) {
        rest = next.trim_start();
    }
    line.part(line.text.len() - rest.len(), line.text.len())
}

fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix(['>', '|'])
}

/// `12 tc ..`, `12: tc ..`, `12\ttc ..`
fn numbered(text: &str) -> Option<&str> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).filter(|at| (1..=6).contains(at))?;
    let rest = text[digits..].trim_start_matches([':', ')', '.', '|']);
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    rest.starts_with(|c: char| {
        c.is_ascii_alphabetic() || matches!(c, '$' | '#' | '/' | '[' | '>' | '%' | '\u{276f}' | '\u{279c}')
    })
    .then_some(rest)
}

/// Words of a line among which a command is looked for.
const FARTHEST: usize = 9;

/// Where the command `tc` begins in a line, behind a prompt, `sudo` and the like; whether `#` was before it.
pub(super) fn command(text: &str) -> Option<(usize, bool)> {
    let (mut hash, mut skip) = (false, 0);
    for word in text.split_whitespace().take(FARTHEST) {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        let inner = word.trim_start_matches(['(', '{', '!', '"', '\'']);
        let open = start + word.len() - inner.len();
        if skip > 0 {
            skip -= 1;
        } else if is_tc(inner) {
            return Some((open, hash));
        } else if matches!(word, "netns" | "-u" | "-p" | "-g" | "-n") {
            skip = usize::from(word == "netns") + 1;
        } else if before(word) {
            hash |= word == "#";
        } else {
            return None;
        }
    }
    None
}

/// `tc`, `/sbin/tc`, `$TC`, `${TC}`.
fn is_tc(word: &str) -> bool {
    let word = word.trim_matches(['"', '\'']);
    let name = word.strip_prefix('$').map(|it| it.trim_matches(['{', '}']));
    match name {
        Some(name) => name.eq_ignore_ascii_case("tc"),
        None => word == "tc" || word.ends_with("/tc"),
    }
}

/// Words before a command that do not alter what it does.
pub(super) fn before(word: &str) -> bool {
    const KNOWN: [&str; 16] = [
        "sudo", "ip", "do", "then", "else", "if", "exec", "time", "command", "env", "nice", "+", "++", "doas", "!", "{",
    ];
    let prompt = word.ends_with(['$', '#', '%', '>', '\u{276f}', '\u{279c}', ']']) && !word.starts_with(['"', '\'']);
    let option = word.len() == 2 && word.starts_with('-');
    KNOWN.contains(&word) || option || prompt || word.contains('@') || word.starts_with('[') || word == "("
}

/// Whether a line speaks tc's language: as a command, or as what tc prints.
pub(super) fn looks(text: &str) -> bool {
    let mut words = text.split_whitespace();
    match words.next() {
        Some("qdisc" | "class") => words.nth(1).is_some_and(|word| word.contains(':') || word == "dev"),
        Some("filter") => text.contains(" pref ") || text.contains(" protocol "),
        Some("Sent") => text.contains(" bytes ") && text.contains(" pkt"),
        Some(word) if word.starts_with(['[', '{']) => text.contains("\"kind\":") && text.contains("\"handle\":"),
        Some("\"kind\":" | "\"class\":") => {
            words.next().is_some_and(|it| discipline(it.trim_matches(['"', ','])).is_some())
        }
        // The first command of a line, or one behind others.
        Some(_) => text.split([';', '&', '|']).any(|part| command(part).is_some_and(|(at, _)| has_object(&part[at..]))),
        None => false,
    }
}

fn has_object(text: &str) -> bool {
    let object =
        |word: &str| ["qdisc", "class", "filter", "actions"].iter().any(|it| word.len() > 1 && it.starts_with(word));
    text.split_whitespace().skip(1).take(8).any(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> &str {
        bare(Line { number: 1, start: 0, text }).text
    }

    #[test]
    fn what_mails_and_listings_add_is_gone() {
        for text in ["> tc x", ">> 12: tc x", "  7\ttc x", "> > tc x", "12) tc x"] {
            assert_eq!(stripped(text), "tc x", "{text}");
        }
        assert_eq!(stripped("12 34"), "12 34");
    }

    #[test]
    fn commands_are_behind_prompts() {
        let rest = |text: &'static str| command(text).map(|it| &text[it.0..]);
        for text in
            ["tc x", "$ tc x", "root@gw:~# tc x", "[root@gw ~]# tc x", "sudo tc x", "# tc x", "then tc x", "(tc x"]
        {
            assert_eq!(rest(text), Some("tc x"), "{text}");
        }
        assert_eq!(rest("ip netns exec r1 tc x"), Some("tc x"));
        assert_eq!(rest("sudo -p word -u root nice -n 5 tc x"), Some("tc x"));
        assert_eq!(rest("$TC x"), Some("$TC x"));
        assert_eq!(rest("the tc x"), None);
        assert_eq!(rest("description tc x"), None);
        assert!(command("# tc x").unwrap().1);
    }
}
