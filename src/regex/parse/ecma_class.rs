//! Escapes, properties and character classes of ECMA-262's dialect.

use std::sync::Arc;

use crate::error::Result;
use crate::regex::ast::{Assert, AstNode, Words};
use crate::regex::char_set::{CharSet, Union};
use crate::regex::parse::builder::Last;
use crate::regex::parse::ecma::EcmaParser;
use crate::regex::parse::reader::{control_character, unsupported};
use crate::regex::unicode;

/// What an escape or one item of a class stands for.
enum EcmaClassPart {
    Char(u32),
    Set(Arc<CharSet>),
}

impl EcmaClassPart {
    fn add_to(&self, all: &mut Union) {
        match self {
            EcmaClassPart::Char(c) => all.push(*c, *c),
            EcmaClassPart::Set(s) => all.add(s),
        }
    }
}

/// Values of `General_Category` that may stand alone, abbreviated and in full.
const CATEGORIES: &str = " C Other Cc Control cntrl Cf Format Cn Unassigned Co Private_Use Cs Surrogate L Letter LC \
    Cased_Letter Ll Lowercase_Letter Lm Modifier_Letter Lo Other_Letter Lt Titlecase_Letter Lu Uppercase_Letter M \
    Mark Combining_Mark Mc Spacing_Mark Me Enclosing_Mark Mn Nonspacing_Mark N Number Nd Decimal_Number digit Nl \
    Letter_Number No Other_Number P Punctuation punct Pc Connector_Punctuation Pd Dash_Punctuation Pe \
    Close_Punctuation Pf Final_Punctuation Pi Initial_Punctuation Po Other_Punctuation Ps Open_Punctuation S Symbol \
    Sc Currency_Symbol Sk Modifier_Symbol Sm Math_Symbol So Other_Symbol Z Separator Zl Line_Separator Zp \
    Paragraph_Separator Zs Space_Separator ";

/// Binary properties.
const BINARY: &str = " ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_C Bidi_Mirrored \
                      Bidi_M Case_Ignorable CI Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM \
                      Changes_When_Lowercased CWL Changes_When_NFKC_Casefolded CWKCF Changes_When_Titlecased CWT \
                      Changes_When_Uppercased CWU Dash Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia \
                      Emoji Emoji_Component EComp Emoji_Modifier EMod Emoji_Modifier_Base EBase Emoji_Presentation \
                      EPres Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext \
                      Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC ID_Start IDS \
                      Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math \
                      Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS Quotation_Mark \
                      QMark Radical Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation \
                      Term Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS White_Space space \
                      XID_Continue XIDC XID_Start XIDS ";

/// Values of `Script` and `Script_Extensions`, in full and abbreviated, as `PropertyValueAliases.txt` spells them: the
/// tables know them, but match names loosely. `Katakana_Or_Hiragana` is left out, which engines refuse and no code
/// point has.
pub(crate) const SCRIPTS: &str = " Adlam Adlm Ahom Anatolian_Hieroglyphs Hluw Arabic Arab Armenian Armn Avestan Avst \
    Balinese Bali Bamum Bamu Bassa_Vah Bass Batak Batk Bengali Beng Bhaiksuki Bhks Bopomofo Bopo Brahmi Brah Braille \
    Brai Buginese Bugi Buhid Buhd Canadian_Aboriginal Cans Carian Cari Caucasian_Albanian Aghb Chakma Cakm Cham \
    Cherokee Cher Chorasmian Chrs Common Zyyy Coptic Copt Qaac Cuneiform Xsux Cypriot Cprt Cypro_Minoan Cpmn Cyrillic \
    Cyrl Deseret Dsrt Devanagari Deva Dives_Akuru Diak Dogra Dogr Duployan Dupl Egyptian_Hieroglyphs Egyp Elbasan \
    Elba Elymaic Elym Ethiopic Ethi Garay Gara Georgian Geor Glagolitic Glag Gothic Goth Grantha Gran Greek Grek \
    Gujarati Gujr Gunjala_Gondi Gong Gurmukhi Guru Gurung_Khema Gukh Han Hani Hangul Hang Hanifi_Rohingya Rohg \
    Hanunoo Hano Hatran Hatr Hebrew Hebr Hiragana Hira Imperial_Aramaic Armi Inherited Qaai Zinh \
    Inscriptional_Pahlavi Phli Inscriptional_Parthian Prti Javanese Java Kaithi Kthi Kannada Knda Katakana Kana Kawi \
    Kayah_Li Kali Kharoshthi Khar Khitan_Small_Script Kits Khmer Khmr Khojki Khoj Khudawadi Sind Kirat_Rai Krai Lao \
    Laoo Latin Latn Lepcha Lepc Limbu Limb Linear_A Lina Linear_B Linb Lisu Lycian Lyci Lydian Lydi Mahajani Mahj \
    Makasar Maka Malayalam Mlym Mandaic Mand Manichaean Mani Marchen Marc Masaram_Gondi Gonm Medefaidrin Medf \
    Meetei_Mayek Mtei Mende_Kikakui Mend Meroitic_Cursive Merc Meroitic_Hieroglyphs Mero Miao Plrd Modi Mongolian \
    Mong Mro Mroo Multani Mult Myanmar Mymr Nabataean Nbat Nag_Mundari Nagm Nandinagari Nand New_Tai_Lue Talu Newa \
    Nko Nkoo Nushu Nshu Nyiakeng_Puachue_Hmong Hmnp Ogham Ogam Ol_Chiki Olck Ol_Onal Onao Old_Hungarian Hung \
    Old_Italic Ital Old_North_Arabian Narb Old_Permic Perm Old_Persian Xpeo Old_Sogdian Sogo Old_South_Arabian Sarb \
    Old_Turkic Orkh Old_Uyghur Ougr Oriya Orya Osage Osge Osmanya Osma Pahawh_Hmong Hmng Palmyrene Palm Pau_Cin_Hau \
    Pauc Phags_Pa Phag Phoenician Phnx Psalter_Pahlavi Phlp Rejang Rjng Runic Runr Samaritan Samr Saurashtra Saur \
    Sharada Shrd Shavian Shaw Siddham Sidd SignWriting Sgnw Sinhala Sinh Sogdian Sogd Sora_Sompeng Sora Soyombo Soyo \
    Sundanese Sund Sunuwar Sunu Syloti_Nagri Sylo Syriac Syrc Tagalog Tglg Tagbanwa Tagb Tai_Le Tale Tai_Tham Lana \
    Tai_Viet Tavt Takri Takr Tamil Taml Tangsa Tnsa Tangut Tang Telugu Telu Thaana Thaa Thai Tibetan Tibt Tifinagh \
    Tfng Tirhuta Tirh Todhri Todr Toto Tulu_Tigalari Tutg Ugaritic Ugar Unknown Zzzz Vai Vaii Vithkuqi Vith Wancho \
    Wcho Warang_Citi Wara Yezidi Yezi Yi Yiii Zanabazar_Square Zanb ";

fn listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|n| n == name)
}

impl EcmaParser {
    /// An escape outside brackets; the backslash is read already.
    pub(crate) fn escape(&mut self, at: usize) -> Result<()> {
        let words = self.flags.words();
        let assert = match self.r.peek() {
            None => return Err(self.r.error("\\ at end of pattern", at)),
            Some('b') => Some(Assert::Boundary(words)),
            Some('B') => Some(Assert::NotBoundary { words, never_empty: false }),
            Some(c @ '1'..='9') => {
                return self.numbered(c, at);
            }
            Some('k') if self.r.peek_at(1) == Some('<') => {
                self.r.pos += 2;
                self.name()?;
                self.backreference(at);
                return Ok(());
            }
            _ => None,
        };
        if let Some(a) = assert {
            self.r.pos += 1;
            self.b.node(AstNode::Assert(a), at, Last::Bare);
            return Ok(());
        }
        match self.common_escape(at)? {
            EcmaClassPart::Char(c) => self.b.literal(c, self.flags.fold(), at),
            EcmaClassPart::Set(s) => self.b.set(s, at),
        }
        Ok(())
    }

    fn numbered(&mut self, first: char, at: usize) -> Result<()> {
        let mut n = first.to_digit(10).unwrap_or(0) as usize;
        let mut i = 1;
        while let Some(d) = self.r.peek_at(i).and_then(|c| c.to_digit(10)) {
            n = n.saturating_mul(10).saturating_add(d as usize);
            i += 1;
        }
        if n > *self.captures.get_or_insert_with(|| self.r.count_captures()) {
            return Err(self.r.error(format!("invalid group reference {n}"), at));
        }
        self.r.pos += i;
        self.backreference(at);
        Ok(())
    }

    /// Escapes that mean the same inside and outside of brackets.
    fn common_escape(&mut self, at: usize) -> Result<EcmaClassPart> {
        let Some(c) = self.r.next() else { return Err(self.r.error("\\ at end of pattern", at)) };
        if let Some(control) = control_character(c) {
            return Ok(EcmaClassPart::Char(control));
        }
        let c = match c {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => return Ok(EcmaClassPart::Set(self.class_of_letter(c))),
            'p' | 'P' => return self.property(c == 'P', at).map(EcmaClassPart::Set),
            'c' => match self.r.next() {
                Some(l) if l.is_ascii_alphabetic() => l as u32 % 32,
                _ => return Err(self.r.error("invalid control escape", at)),
            },
            'x' => self.r.hex(2).ok_or_else(|| self.r.error("invalid hexadecimal escape", at))?,
            'u' => self.unicode_escape().ok_or_else(|| self.r.error("invalid Unicode escape", at))?,
            '0' => self.r.octal(2),
            c if c.is_ascii_alphanumeric() => return Err(self.r.error(format!("invalid escape \\{c}"), at)),
            c => c as u32,
        };
        Ok(EcmaClassPart::Char(c))
    }

    /// The set of `\d`, `\w` or `\s`; a capital means all other characters.
    fn class_of_letter(&self, letter: char) -> Arc<CharSet> {
        let set = match (letter.to_ascii_lowercase(), self.flags.words()) {
            ('d', _) => unicode::ascii_digit(),
            ('w', Words::EcmaFolded) => unicode::ecma_word_folded(),
            ('w', _) => unicode::ascii_word(),
            _ => unicode::ecma_space(),
        };
        if letter.is_ascii_uppercase() { unicode::not(&set) } else { set }
    }

    /// After `\u`: four digits, two escapes that make a surrogate pair, or digits in braces.
    pub(crate) fn unicode_escape(&mut self) -> Option<u32> {
        if self.r.eat('{') {
            let digits = self.r.until('}')?;
            let digits = digits.trim_start_matches('0');
            if digits.len() > 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return None;
            }
            // An empty rest is zero only if there was a zero before it.
            let v = if digits.is_empty() { 0 } else { u32::from_str_radix(digits, 16).ok()? };
            let zero = self.r.peek_before(2) == Some('0');
            return if digits.is_empty() && !zero { None } else { Some(v).filter(|&v| v <= 0x10_FFFF) };
        }
        let high = self.r.hex(4)?;
        if (0xD800..0xDC00).contains(&high) {
            let back = self.r.pos;
            if self.r.eat_str("\\u")
                && let Some(low @ 0xDC00..0xE000) = self.r.hex(4)
            {
                return Some(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
            }
            self.r.pos = back;
        }
        Some(high)
    }

    fn property(&mut self, negative: bool, at: usize) -> Result<Arc<CharSet>> {
        let name = if self.r.eat('{') { self.r.until('}') } else { None };
        let Some(name) = name else { return Err(self.r.error("invalid property escape", at)) };
        let fold = self.flags.fold();
        let table = match name.split_once('=') {
            Some(("General_Category" | "gc", value)) if listed(CATEGORIES, value) => value.to_owned(),
            Some(("Script" | "sc", value)) if listed(SCRIPTS, value) => format!("sc={value}"),
            Some(("Script_Extensions" | "scx", value)) if listed(SCRIPTS, value) => format!("scx={value}"),
            None if listed(CATEGORIES, &name) || listed(BINARY, &name) => name.clone(),
            _ => return Err(self.r.error(format!("unknown Unicode property {name:?}"), at)),
        };
        let set = self.properties.get(&table, negative, fold)?;
        set.ok_or_else(|| unsupported(&format!("the property {name}"), at))
    }

    fn class_escape(&mut self, at: usize) -> Result<EcmaClassPart> {
        match self.r.peek() {
            Some('b') => {
                self.r.pos += 1;
                Ok(EcmaClassPart::Char(8))
            }
            _ => self.common_escape(at),
        }
    }

    fn class_item(&mut self, at: usize) -> Result<Option<EcmaClassPart>> {
        let start = self.r.pos;
        match self.r.next() {
            None => Err(self.r.error("unterminated character class", at)),
            Some(']') => Ok(None),
            Some('\\') => self.class_escape(start).map(Some),
            Some(c) => Ok(Some(EcmaClassPart::Char(c as u32))),
        }
    }

    /// A class; the opening bracket is read already.
    pub(crate) fn class(&mut self, at: usize) -> Result<Arc<CharSet>> {
        let negative = self.r.eat('^');
        let mut v = Union::default();
        let mut only: Option<Arc<CharSet>> = None;
        let mut sets = 0;
        loop {
            let start = self.r.pos;
            self.b.go_on(start)?;
            let Some(one) = self.class_item(at)? else { break };
            if self.r.peek() == Some('-') && self.r.peek_at(1).is_some_and(|c| c != ']') {
                self.r.pos += 1;
                let Some(two) = self.class_item(at)? else { break };
                if let (EcmaClassPart::Char(lo), EcmaClassPart::Char(hi)) = (&one, &two) {
                    if lo > hi {
                        return Err(self.r.error("range out of order in character class", start));
                    }
                    v.push(*lo, *hi);
                } else {
                    // Annex B: with a set on either side the hyphen is itself.
                    v.push('-' as u32, '-' as u32);
                    [one, two].iter().for_each(|part| part.add_to(&mut v));
                    sets = 2;
                }
                continue;
            }
            match one {
                EcmaClassPart::Char(c) => v.push(c, c),
                EcmaClassPart::Set(s) => {
                    sets += 1;
                    if v.is_empty() && only.is_none() {
                        only = Some(s);
                    } else {
                        v.add(&s);
                    }
                }
            }
        }
        if let Some(s) = only {
            if v.is_empty() && sets == 1 {
                return Ok(if negative { unicode::not(&s) } else { s });
            }
            v.add(&s);
        }
        let set = unicode::close(v.finish(), self.flags.fold())?;
        Ok(Arc::new(if negative { set.complement() } else { set }))
    }
}
