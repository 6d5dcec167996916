//! A marker word in every position of a text.

/// The word.
pub const MARKER: &str = "Qzmarkerx";

/// How it may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// As the first word of its line.
    First,
    /// Everywhere: statements use it as a name.
    Name,
    /// Not at all.
    Nothing,
}

/// A text with a marker.
#[derive(Debug)]
pub struct Case {
    pub text: String,
    /// Its line with the marker.
    pub line: String,
    pub how: &'static str,
    pub shows: Shows,
}

/// Words before names.
const NAMING: [&str; 38] = [
    "class",
    "class-map",
    "policy-map",
    "service-policy",
    "input",
    "output",
    "input:",
    "output:",
    "access-group",
    "name",
    "access-list",
    "extended",
    "standard",
    "interface",
    "int",
    "match-any",
    "match-all",
    "table-map",
    "table",
    "policy",
    "protocol",
    "input-interface",
    "application",
    "map",
    "Class-map:",
    "Service-policy",
    "policy-map:",
    "Class",
    "Map",
    "dev",
    "to_dev",
    "\"dev\":",
    "instance",
    "class-ma",
    "policy-ma",
    "Interface",
    "preconfigure",
    "from",
];

/// What may stand before a command.
const BEFORE: [&str; 16] = [
    "M=1 ",
    "M= ",
    "sudo -u M ",
    "sudo -p M ",
    "sudo -pM ",
    "root@M:~# ",
    "M# ",
    "M> ",
    "M$ ",
    "[M ~]$ ",
    "ip netns exec M ",
    "echo M | ",
    "$(M) ",
    "su M -c ",
    "M; ",
    "if M; then ",
];

/// What may stand behind one.
const BEHIND: [&str; 14] = [
    " # M",
    " ! M",
    " ; M 1",
    "; echo M",
    " && M",
    " || M x",
    " | M",
    " <<< M",
    " > M",
    " 2>M",
    " >> /tmp/M",
    " \\ M",
    " & M",
    " `M`",
];

/// Lines between others.
const LINES: [&str; 12] = [
    "other M",
    "# M",
    "! M",
    " description M",
    "  password 7 M",
    " ip ospf message-digest-key 1 md5 M",
    "key M",
    "\"k\": \"M\",",
    "M",
    "   M x",
    "PASS=M",
    "cat <<M",
];

/// Every case of a text.
pub fn cases(text: &str) -> Vec<Case> {
    let lines: Vec<_> = text.lines().collect();
    let mut out = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let mut case = |how: &'static str, shows: Shows, changed: String| {
            let mut all = lines.clone();
            all[i] = &changed;
            out.push(Case { text: all.join("\n"), line: changed.clone(), how, shows });
        };
        within(line, &mut case);
        // What stands around commands: one for each line in turn, as lines are alike.
        let indent = &line[..line.len() - line.trim_start().len()];
        for (how, list) in [("before", &BEFORE[..]), ("behind", &BEHIND[..]), ("between", &LINES[..])] {
            for j in [i * 5, i * 5 + 2, i * 5 + 4] {
                let part = list[j % list.len()];
                let first = how == "between" && part.trim_start().starts_with('M');
                let shows = if first { Shows::First } else { Shows::Nothing };
                let part = part.replace('M', MARKER);
                let changed = match how {
                    "before" => format!("{indent}{part}{}", line.trim_start()),
                    "behind" => format!("{line}{part}"),
                    _ => format!("{part}\n{line}"),
                };
                case(how, shows, changed);
            }
        }
    }
    out
}

/// Before each word, glued to each, and around it.
fn within(line: &str, case: &mut dyn FnMut(&'static str, Shows, String)) {
    let words: Vec<_> = line.split_whitespace().collect();
    let at = |word: &str| word.as_ptr() as usize - line.as_ptr() as usize;
    for (i, word) in words.iter().enumerate() {
        let start = at(word);
        let [before, after] = [&line[..start], &line[start + word.len()..]];
        let shows = shows(&words[..i], word);
        case("a word before", shows, format!("{before}{MARKER} {word}{after}"));
        // The name of a variable or of JSON; behind a colon stands a name or a value.
        let glued = if word.contains('$') || word.ends_with(':') { Shows::Name } else { shows };
        case("glued to", glued, format!("{before}{word}{MARKER}{after}"));
        case("glued before", shows, format!("{before}{MARKER}{word}{after}"));
        if i % 3 == 0 {
            case("instead of", shows, format!("{before}{MARKER}{after}"));
            case("quoted", shows, format!("{before}\"{MARKER} x\" {word}{after}"));
            case("substituted", Shows::Nothing, format!("{before}$({MARKER}){after}"));
            case("a default", shows, format!("{before}${{NONE:-{MARKER}}}{after}"));
        }
    }
    case("at the end", shows(&words, ""), format!("{line} {MARKER}"));
    // Keys and values of JSON.
    for (i, _) in line.match_indices('"') {
        let name = line[..i].trim_end_matches([':', ' ']).trim_end_matches('"').rsplit('"').next().unwrap_or_default();
        let shows = if matches!(name, "dev" | "to_dev") { Shows::Name } else { Shows::Nothing };
        case("in a JSON text", shows, format!("{}\"{MARKER}{}", &line[..i], &line[i + 1..]));
        case("a JSON key", Shows::Nothing, format!("{}\"{MARKER}\": \"x\", {}", &line[..i], &line[i..]));
        case("a JSON value", Shows::Nothing, format!("{}\"note\": \"{MARKER}\", {}", &line[..i], &line[i..]));
    }
}

/// How a word may be shown behind others.
fn shows(before: &[&str], word: &str) -> Shows {
    let names = |word: &&str| NAMING.contains(&word.rsplit(['#', '>', '(']).next().unwrap_or_default());
    let quotes = |word: &&&str| word.trim_matches(['>', '|', ':', '.', ')']).bytes().all(|byte| byte.is_ascii_digit());
    let before = &before[before.iter().take_while(quotes).count()..];
    match before {
        [] if word.starts_with('$') => Shows::Nothing,
        [] if word.starts_with(char::is_uppercase) && word.ends_with(|c: char| c.is_ascii_digit()) => Shows::Name,
        [] => Shows::First,
        [.., last] if names(last) => Shows::Name,
        // A name in two words: `GigabitEthernet 0/1`; the second way in which a class is named.
        [.., last, _] if matches!(*last, "interface" | "int" | "input-interface" | "protocol") => Shows::Name,
        _ => Shows::Nothing,
    }
}

/// A text with another in it at a byte.
pub fn put(text: &str, at: usize, other: &str) -> String {
    format!("{}{other}{}", &text[..at], &text[at..])
}
