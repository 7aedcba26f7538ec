//! The known name that is most like one which is not known, for messages: "did you mean ...?".

use super::message::quoted;

/// The name of `known` that is most like `name`, as a hint for people; empty where none is.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    near_name(name, known).map_or(String::new(), |k| format!("; did you mean {}?", quoted(k)))
}

/// The name of `known` that is most like `name`.
pub(crate) fn near_name<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Names that are compared.
    const MOST_NAMES: usize = 10_000;
    let allowed = name.chars().count().div_ceil(3).min(3);
    known
        .take(MOST_NAMES)
        .filter(|k| k.len().abs_diff(name.len()) <= 4 * allowed)
        .map(|k| (distance(name, k), k))
        .filter(|(d, k)| *d <= allowed && *k != name)
        .min()
        .map(|(_, k)| k)
}

/// How many characters must be changed, put in or left out to make one name of the other; case counts half.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 64;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(LONGEST).collect(), b.chars().take(LONGEST).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = corner + usize::from(!x.eq_ignore_ascii_case(y));
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_proposed() {
        assert_eq!(did_you_mean("nubmer", ["number", "name"].into_iter()), "; did you mean \"number\"?");
        assert_eq!(did_you_mean("xyz", ["number", "name"].into_iter()), "");
    }
}
