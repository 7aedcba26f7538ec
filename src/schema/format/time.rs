//! `date-time`, `date`, `time` (RFC 3339, section 5.6) and `duration` (RFC 3339, appendix A).
//!
//! Days of months and leap years are exact. A leap second is second 60 of the last minute of a UTC day, so the local
//! time before it and the offset after it must agree: `23:59:60Z`, `15:59:60-08:00`, `01:29:60+01:30`. The automaton
//! has to remember the local time up to the offset; offsets of a leap second are whole quarters of an hour, as all
//! offsets in use are, which keeps that to 96 times instead of 1440. In a `date-time` it is also a second that can
//! exist: the last one of 30 June or 31 December in UTC.

use crate::expr::{ExprId, Exprs};
use crate::schema::format::abnf::{DIGIT, Part, alt, ascii, cat, opt, some, text};

/// Why leap seconds make `time` and `date-time` narrower than RFC 3339.
pub(super) const LEAP_OFFSETS: &str =
    "a leap second has an offset of whole quarters of an hour, and in a date-time ends June or December";

/// Why `duration` is narrower than RFC 3339.
pub(super) const UPPER_CASE: &str = "designators are in upper case";

/// `lo..=hi` in two digits.
fn two(lo: u32, hi: u32) -> Part {
    Part::Choice((lo..=hi).map(|n| format!("{n:02}")).collect())
}

/// Two-digit numbers below 100 that are multiples of four, without `00`.
fn fours() -> Part {
    Part::Choice((4..100).step_by(4).map(|n| format!("{n:02}")).collect())
}

fn full_date() -> Part {
    let one_of = |months: &[u32]| Part::Choice(months.iter().map(|m| format!("{m:02}")).collect());
    let year = cat![DIGIT, DIGIT, DIGIT, DIGIT];
    let day = alt![
        cat![one_of(&[1, 3, 5, 7, 8, 10, 12]), text("-"), two(1, 31)],
        cat![one_of(&[4, 6, 9, 11]), text("-"), two(1, 30)],
        cat![text("02-"), two(1, 28)],
    ];
    let leap = alt![cat![DIGIT, DIGIT, fours()], cat![alt![text("00"), fours()], text("00")]];
    alt![cat![year, text("-"), day], cat![leap, text("-02-29")]]
}

fn zulu() -> Part {
    ascii(&[(b'Z', b'Z'), (b'z', b'z')])
}

fn fraction() -> Part {
    cat![text("."), some(&DIGIT)]
}

/// A time that is not a leap second.
fn plain_time() -> Part {
    let colon = text(":");
    let offset = cat![ascii(&[(b'+', b'+'), (b'-', b'-')]), two(0, 23), colon, two(0, 59)];
    cat![two(0, 23), colon, two(0, 59), colon, two(0, 59), opt(&fraction()), alt![zulu(), offset]]
}

/// Leap seconds by the local day they are written on: the same day as in UTC, or the next day.
fn leap_times(x: &mut Exprs) -> (Part, Part) {
    let fraction = opt(&fraction()).build(x);
    let (mut same, mut next) = (Vec::new(), Vec::new());
    // UTC 23:59 as every offset writes it.
    for quarter in 0..96u32 {
        let minutes = quarter * 15;
        let offset = format!("{:02}:{:02}", minutes / 60, minutes % 60);
        let mut add = |sign: &str, local: u32, days: &mut Vec<ExprId>| {
            let to = x.literal(format!("{sign}{offset}").as_bytes());
            let to = if minutes == 0 && sign == "-" {
                let zulu = zulu().build(x);
                x.alt(&[to, zulu])
            } else {
                to
            };
            let to = x.cat(fraction, to);
            days.push(x.literal_then(format!("{:02}:{:02}:60", local / 60, local % 60).as_bytes(), to));
        };
        add("-", 1439 - minutes, &mut same);
        match minutes {
            0 => add("+", 1439, &mut same),
            _ => add("+", minutes - 1, &mut next),
        }
    }
    (Part::Built(x.alt(&same)), Part::Built(x.alt(&next)))
}

pub(super) fn date(x: &mut Exprs) -> ExprId {
    full_date().build(x)
}

pub(super) fn time(x: &mut Exprs) -> ExprId {
    let (same, next) = leap_times(x);
    alt![plain_time(), same, next].build(x)
}

pub(super) fn date_time(x: &mut Exprs) -> ExprId {
    let (same, next) = leap_times(x);
    let year = cat![DIGIT, DIGIT, DIGIT, DIGIT];
    let t = ascii(&[(b'T', b'T'), (b't', b't')]);
    alt![
        cat![full_date(), t, plain_time()],
        cat![year, alt![text("-06-30"), text("-12-31")], t, same],
        cat![year, alt![text("-07-01"), text("-01-01")], t, next],
    ]
    .build(x)
}

/// Units come in order and without a gap: years, months, days; hours, minutes, seconds. Weeks stand alone.
pub(super) fn duration(x: &mut Exprs) -> ExprId {
    let number = some(&DIGIT);
    let unit = |u: &'static str, then: Part| cat![number, text(u), then];
    let none = Part::Text("");
    let second = unit("S", none.clone());
    let minute = unit("M", opt(&second));
    let hour = unit("H", opt(&minute));
    let time = cat![text("T"), alt![hour, minute, second]];
    let day = unit("D", none.clone());
    let month = unit("M", opt(&day));
    let year = unit("Y", opt(&month));
    let date = cat![alt![day, month, year], opt(&time)];
    cat![text("P"), alt![date, time, unit("W", none)]].build(x)
}
