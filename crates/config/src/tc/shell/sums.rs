//! Sums in a shell: `$((UP * 9 / 10))`.

/// Its value; `None` for anything but whole numbers, names that are known, `+ - * / %` and parentheses.
pub(super) fn sum<'v>(text: &str, known: &dyn Fn(&str) -> Option<&'v str>) -> Option<i64> {
    let mut parser = Parser { rest: text, known, depth: 0 };
    parser.joined(SIGNS).filter(|_| parser.rest.trim().is_empty())
}

/// The longest value that is read as a number.
const LONGEST: usize = 64;
/// What joins numbers; later ones bind more tightly.
const SIGNS: &[&[char]] = &[&['+', '-'], &['*', '/', '%']];
/// Deepest parentheses.
const DEEPEST: u32 = 64;

struct Parser<'t, 'v> {
    rest: &'t str,
    known: &'t dyn Fn(&str) -> Option<&'v str>,
    depth: u32,
}

impl Parser<'_, '_> {
    fn sign(&mut self, signs: &[char]) -> Option<char> {
        let first = self.rest.trim_start().chars().next().filter(|it| signs.contains(it))?;
        self.rest = &self.rest.trim_start()[first.len_utf8()..];
        Some(first)
    }

    /// What the first of these groups of signs joins; the others bind more tightly.
    fn joined(&mut self, groups: &[&[char]]) -> Option<i64> {
        let Some((signs, others)) = groups.split_first() else { return self.single() };
        let mut value = self.joined(others)?;
        while let Some(sign) = self.sign(signs) {
            let other = self.joined(others)?;
            value = match sign {
                '+' => value.checked_add(other)?,
                '-' => value.checked_sub(other)?,
                '*' => value.checked_mul(other)?,
                '/' => value.checked_div(other)?,
                _ => value.checked_rem(other)?,
            };
        }
        Some(value)
    }

    fn single(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = match self.sign(&['(', '-']) {
            Some('(') => self.joined(SIGNS).filter(|_| self.sign(&[')']).is_some())?,
            Some(_) => self.single()?.checked_neg()?,
            None => self.named()?,
        };
        self.depth -= 1;
        Some(value)
    }

    fn named(&mut self) -> Option<i64> {
        let text = self.rest.trim_start().trim_start_matches(['$', '{']);
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.rest = rest.strip_prefix('}').unwrap_or(rest);
        word.parse().ok().or_else(|| (self.known)(word).filter(|value| value.len() <= LONGEST)?.parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_whole() {
        let known = |name: &str| (name == "UP").then_some("100");
        let of = |text| sum(text, &known);
        assert_eq!(of("UP*9/10 + 1"), Some(91));
        assert_eq!(of(" ( ${UP} - 1 ) % 10 "), Some(9));
        assert_eq!([of("1/0"), of("DOWN"), of("(1"), of(&"(".repeat(999))], [None, None, None, None]);
    }
}
