//! Patterns to test with: chosen ones, and a generator.

use interlock::util::rng::Rng;

/// Chosen patterns, in Python's syntax.
pub const PATTERNS: &[&str] = &[
    "",
    "abc",
    "a*",
    "(a|b)*abb",
    "[a-z]+",
    "[^a-z]{2,7}",
    ".{0,3}",
    "(?s).{2,5}",
    "\\w{1,64}",
    "\\d{4}-\\d{2}-\\d{2}",
    "[0-9]{1,3}(\\.[0-9]{1,3}){3}",
    "(true|false|null)",
    "(yes|no)( (yes|no)){0,3}",
    "-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?",
    "[a-z]{1,5000}",
    "[a-z]{300}",
    "[a-z]{0,3}[0-9]{0,3}[A-Z]{0,3}",
    "(a{1,30}){1,30}",
    "(ab{1,9}){2,9}c",
    "([ab]{2}){3,8}",
    "(a{3}|a{5})*",
    "(a{2,3}){2,3}b",
    "(aa|aaa)*b",
    ".*a.{14}",
    ".*a.{3}b.{3}",
    "(?=.*\\d)(?=.*[a-z]).{8,64}",
    "(?=.*\\d)(?=.*[a-z])(?=.*[A-Z]).{4,12}",
    "(?!.*foo).*",
    "(?!.*(foo|bar)).{3,20}",
    "(?!abc)[a-c]{3}",
    "(?:(?!ab)[a-c])*",
    "\\b\\w+\\b( \\b\\w+\\b){0,4}",
    "(?<!a)b+|a(?<=a)c",
    "a(?=b)b(?!c)[a-d]",
    "^abc$|^x+$",
    "(?i)name|TYPE",
    "(?i:straße)|ab",
    "é+",
    "[é-ü]{1,5}",
    "日本語?|日+",
    "[日本]{2,4}",
    "(😀|é|a){1,6}",
    "[\\U0001f600-\\U0001f64f]+",
    "\\s*\\w+\\s*",
    "[^\"]*",
    "\"[^\"\\\\]*(\\\\.[^\"\\\\]*)*\"",
    "\\{\"name\": ?\"[^\"]{1,10}\"\\}",
    "[\\w.+-]+@[\\w-]+(\\.[\\w-]+)+",
    "https?://[a-z]+(\\.[a-z]+)*(/[a-z0-9]*)*",
    "(a|ab)(c|bcd)(d*)",
    "(a?){20}a{20}",
    "((a|b)(c|d)){1,40}",
    "(x+x+)+y",
    "(?:a|b|c|ab|bc|abc){1,7}",
    "[[:alpha:]]|x",
    "a{0}b{0,}c{1}",
    "(|a|aa)(b|)",
    "\\\\n\"|\\t",
    "[ \\n]{0,9}x",
    "(?:\\d{1,3},)*\\d{3}",
    "(?:0|1(01*0)*1)+",
];

const ATOMS: &[&str] = &[
    "a",
    "b",
    "c",
    "ab",
    "foo",
    "name",
    "1",
    "0",
    " ",
    "\"",
    "-",
    ",",
    "é",
    "日",
    "😀",
    "\\d",
    "\\w",
    "\\s",
    "[a-c]",
    "[a-z]",
    "[^a]",
    "[0-9a-f]",
    "[^\"\\\\]",
    ".",
    "\\W",
    "[A-Z]",
    "[é-ü]",
    "\\n",
    "(?i:ab)",
    "[a-z0-9_]",
    "\\.",
];

/// A random pattern of some `size` parts.
pub fn random(rng: &mut Rng, size: usize) -> String {
    if size <= 1 {
        return rng.pick(ATOMS).to_string();
    }
    let half = 1 + rng.below(size - 1);
    match rng.below(14) {
        0..5 => random(rng, half) + &random(rng, size - half),
        5..7 => format!("(?:{}|{})", random(rng, half), random(rng, size - half)),
        7 => format!("(?:{})*", random(rng, size - 1)),
        8 => format!("(?:{})?", random(rng, size - 1)),
        9 => format!("(?:{})+", random(rng, size - 1)),
        10..12 => {
            let lo = rng.below(5);
            let spread = if rng.chance(20) { 90 } else { 6 };
            let hi = lo + rng.below(spread);
            format!("(?:{}){{{lo},{hi}}}", random(rng, size - 1))
        }
        12 => format!("(?={}){}", random(rng, half), random(rng, size - half) + "\\w*"),
        _ => format!("(?!{}){}", random(rng, half), random(rng, size - half)),
    }
}
