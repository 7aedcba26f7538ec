//! How a source becomes smaller where it is beyond a limit, for those who wrote it and cannot raise the limit.

/// What to do about a source that is beyond the limit `field` of [`Limits`](crate::Limits), at its compile or at its
/// masks; `None` of limits that only questions about a language meet.
pub(super) fn for_field(field: &str) -> Option<&'static str> {
    let remedy = match field {
        "max_source_bytes" => "make it shorter",
        "max_depth" => "nest it less deeply",
        "max_expr_nodes" => "make it smaller: fewer alternatives, and smaller numbers in repetitions such as {1,1000}",
        "max_explored_states" | "max_token_states" | "max_token_steps" => {
            "simplify its patterns: fewer conditions on one text (look-ahead, allOf, not), and smaller lengths and \
             repetitions beside them"
        }
        "max_compile_steps" => "make it smaller: fewer parts, and fewer conditions that hold together",
        "max_alternatives" => "simplify the schema: fewer alternatives in anyOf, oneOf and if that hold together",
        "max_rules" => "make it smaller: fewer subschemas, or fewer rules of a grammar",
        "max_mask_steps" => {
            "simplify it: fewer repetitions inside of others, smaller numbers in them and in multipleOf, fewer \
             elements that must differ, and in a grammar fewer terminals that match the same texts"
        }
        "max_scanner_bytes" => {
            "simplify the grammar: fewer terminals that match the same texts, and smaller numbers in their repetitions"
        }
        "max_state_bytes" => {
            "simplify its patterns: fewer repetitions inside of others, and smaller numbers in them and in multipleOf"
        }
        "max_algebra_steps" => "simplify the schema: fewer of anyOf, oneOf, allOf and not that hold together",
        _ => return None,
    };
    Some(remedy)
}

/// Whether a mask can raise the error of `field`, long after the compile: who reads it may have forgotten the source.
pub(super) fn is_of_masks(field: &str) -> bool {
    matches!(field, "max_mask_steps" | "max_scanner_bytes" | "max_state_bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, SourcePlace};

    #[test]
    fn a_client_reads_what_to_do_in_front_of_the_place() {
        let error = || Error::limit("steps", 3, 4).set_by("max_rules");
        let remedy = for_field("max_rules").unwrap();
        assert_eq!(error().client_message(), format!("steps exceeds its limit: 4 > 3; {remedy}"));
        let placed = error().at_pointer("/a", "");
        assert_eq!(placed.client_message(), format!("steps exceeds its limit: 4 > 3; {remedy} (at \"/a\")"));
        let shown = error().at(SourcePlace::Byte(7)).saying("line 2, column 1: steps\n2 | a\n  | ^");
        assert_eq!(shown.client_message(), format!("line 2, column 1: steps; {remedy}\n2 | a\n  | ^"));
    }

    #[test]
    fn an_error_of_a_mask_says_both_ways_out_to_a_program_and_one_to_a_client() {
        for field in ["max_mask_steps", "max_scanner_bytes", "max_state_bytes"] {
            let (error, remedy) = (Error::limit("steps", 3, 4).set_by(field), for_field(field).unwrap());
            assert_eq!(error.hint(), Some(&*format!("Limits.{field} sets it; raise it, or {remedy}")));
            assert_eq!(error.client_message(), format!("steps exceeds its limit: 4 > 3; {remedy}"));
        }
        assert_eq!(Error::limit("steps", 3, 4).set_by("max_rules").hint(), Some("Limits.max_rules sets it"));
    }
}
