// Writes tests/data/regex/ecma.json: what a JavaScript engine says about random patterns under the `u` flag.
//
// Rows are [pattern, flags, mode, accepted texts, refused texts], mode "full" or "search", or
// [pattern, flags, mode, null, null] for a syntax error with and without `u`. Usage:
//     node tests/tools/make_ecma_cases.mjs [seed] [count] [file]
import { writeFileSync } from "node:fs";

let state = BigInt(process.argv[2] ?? 1) * 2654435761n + 12345n;
const next = () => {
  state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
  return Number(state >> 33n) / 2 ** 31;
};
const int = (n) => Math.floor(next() * n);
const pick = (v) => v[int(v.length)];
const RARE = [..."kKsSſKéÉßẞµμΩΩ日𐐀𐐨😀\r\u2028\t\u{feff}ñİıi"];
const COMMON = [..."aabbcAB01_ -\n"];
let rich = false;
let behind = false;
const char = () => (rich && next() < 0.15 ? pick(RARE) : pick(COMMON));

function literal() {
  const c = char();
  const p = c.codePointAt(0);
  const r = next();
  if (r < 0.03 && p < 256) return "\\x" + p.toString(16).padStart(2, "0");
  if (r < 0.06) return "\\u{" + p.toString(16) + "}";
  if (r < 0.1) return [...c].flatMap((c) => [...Array(c.length).keys()].map((i) => c.charCodeAt(i)))
    .map((u) => "\\u" + u.toString(16).padStart(4, "0")).join("");
  if (r < 0.11) return "\\cJ";
  return c === "\n" && r < 0.5 ? "\\n" : c;
}
const ESCAPES = ["\\d", "\\w", "\\s", "\\D", "\\W", "\\S"];
const PROPERTIES = ["\\p{L}", "\\p{Lu}", "\\P{Lu}", "\\p{Script=Greek}", "\\p{scx=Deva}", "\\p{gc=Nd}", "\\p{Alphabetic}", "\\P{ASCII}", "\\p{Emoji}", "\\p{Ll}", "\\p{White_Space}"];
function klass() {
  let out = "[" + (next() < 0.25 ? "^" : "");
  for (let n = int(4); n > 0; n--) {
    const k = next();
    if (k < 0.35) out += char() === "-" ? "\\-" : literal().replace(/^[-^]$/, "\\$&");
    else if (k < 0.6) {
      const [a, b] = [char(), char()].sort((a, b) => a.codePointAt(0) - b.codePointAt(0));
      out += `\\u{${a.codePointAt(0).toString(16)}}-\\u{${b.codePointAt(0).toString(16)}}`;
    } else if (k < 0.85) out += pick([...ESCAPES, "\\b", "a-c", "0-9"]);
    else if (k < 0.92) out += pick(PROPERTIES);
    else out += pick(["&&", "[", "\\]", ".", "|", "\\ud83d\\ude00", "\\ud800-\\uffff", "\\ud800"]);
  }
  return out + "]";
}
function atom(d) {
  const k = next();
  if (d <= 0 || k < 0.38) return literal();
  if (k < 0.5) return klass();
  if (k < 0.6) return pick([".", ".", ...ESCAPES, pick(PROPERTIES)]);
  if (k < 0.72) return pick(["^", "$", "\\b", "\\b", "\\B"]);
  if (k < 0.86) return pick(["(", "(?:", "(?:", "(?<n" + int(1e6) + ">"]) + alt(d - 1) + ")";
  if (k < 0.92) return pick(["(?=", "(?!"]) + alt(d - 1) + ")";
  if (k < 0.98) return pick(["(?<=", "(?<!"]) + alt(d - 1) + ")";
  return pick(["\\-", "\\_", "{", "}", "]", "{,3}", "\\/", "a{1", "\\q", ")", "(?", "a**", "\\p{Foo}", "[b-a]", "\\0", "[\\w-c]"]);
}
function piece(d) {
  const a = atom(d);
  if (next() < 0.65 || /^(\^|\$|\\b|\\B)$/.test(a)) return a;
  return a + pick(["*", "+", "?", "*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,4}", "{3}"]) + (next() < 0.15 ? "?" : "");
}
const cat = (d) => Array.from({ length: pick([0, 1, 1, 2, 2, 3, 3, 4]) }, () => piece(d)).join("");
const alt = (d) => Array.from({ length: pick([1, 1, 1, 1, 2, 2, 3]) }, () => cat(d)).join("|");

function compile(source, flags) {
  try {
    return new RegExp(source, flags);
  } catch {
    return null;
  }
}
const rows = [];
const seen = new Set();
const count = Number(process.argv[3] ?? 700);
while (rows.length < count) {
  rich = next() < 0.4;
  const pattern = alt(pick([1, 2, 2, 3]));
  if (!pattern || pattern.length > 60 || seen.has(pattern)) continue;
  seen.add(pattern);
  const flags = ["i", "m", "s"].filter((f) => next() < (f === "i" ? 0.3 : 0.12)).join("");
  const mode = next() < 0.5 && !flags ? "search" : "full";
  const plain = compile(pattern, flags + "u");
  if (!plain) {
    // Not where the two readings mix: `\\u{…}` needs `u`, a quantified lookahead forbids it.
    if (!pattern.includes("\\u{") && !compile(pattern, flags)) rows.push([pattern, flags, mode, null, null]);
    continue;
  }
  // A sticky search starts at `lastIndex` and nowhere else. Searching goes from code point to code point like this,
  // because V8's own search also starts inside surrogate pairs, which the specification does not.
  const re = compile(mode === "search" ? pattern : `(?:${pattern})(?![^])`, flags + "uy");
  const accepts = (t) => {
    for (let i = 0; i <= t.length; i += t.codePointAt(i) > 0xffff ? 2 : 1) {
      re.lastIndex = i;
      if (re.test(t)) return true;
      if (mode === "full") return false;
    }
    return false;
  };
  // Texts from the pattern's own letters and some mutation: cheap, and half of the patterns accept a good part.
  const letters = [...pattern.replace(/\\u\{?[0-9a-f]+\}?|\\x..|[\\^$*+?()[\]{}|<>=!:,.]/g, ""), ...COMMON, ..."aab"];
  const yes = new Set();
  const no = new Set();
  for (let i = 0; i < 400 && (yes.size < 8 || no.size < 8); i++) {
    const t = Array.from({ length: int(7) }, () => (rich && next() < 0.2 ? pick(RARE) : pick(letters))).join("");
    const ok = accepts(t);
    if ((ok ? yes : no).size < 8) (ok ? yes : no).add(t);
  }
  if (yes.size === 0 && next() < 0.85) continue;
  rows.push([pattern, flags, mode, [...yes], [...no]]);
}
writeFileSync(process.argv[4] ?? "tests/data/regex/ecma.json", "[\n" + rows.map((r) => JSON.stringify(r)).join(",\n") + "\n]\n");
