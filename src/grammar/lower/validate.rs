//! Names that a grammar uses and does not define.

use crate::error::near_name::did_you_mean;
use crate::error::{Result, counted, quoted};
use crate::grammar::tree::{Definition, Part, Tree};

/// Looks every name up that the grammar itself uses, in rules that nothing needs too. What imported files use is looked
/// up when it is needed.
///
/// # Errors
/// A name without a definition, a template with the wrong number of arguments, a rule inside of a terminal.
pub(super) fn names(tree: &Tree) -> Result<()> {
    for d in tree.definitions.iter().filter(|d| !d.imported) {
        for p in tree.below(d.body) {
            let (name, arguments) = match tree.part(p) {
                Part::Name(name) => (name, None),
                Part::Template { name, arguments } => (name, Some(arguments.len())),
                Part::Parametric { name, .. } => (name, None),
                _ => continue,
            };
            if d.parameters.iter().any(|parameter| **parameter == **name) {
                continue;
            }
            let space = &tree.spaces[d.space as usize];
            let Some(&found) = space.names.get(&**name) else {
                let parameters = d.parameters.iter().map(String::as_str);
                let known = space.names.keys().map(String::as_str).chain(parameters);
                return Err(tree.texts.error(tree.place(p), undefined(name, did_you_mean(name, known))));
            };
            let found = &tree.definitions[found as usize];
            check_use(tree, d, found, p, arguments)?;
        }
    }
    Ok(())
}

fn check_use(tree: &Tree, user: &Definition, found: &Definition, p: u32, arguments: Option<usize>) -> Result<()> {
    let name = &found.name;
    if user.terminal && !found.terminal {
        let message = format!("{name:?} is a rule, and terminals are not made of rules; name it in capitals");
        return Err(tree.texts.error(tree.place(p), message));
    }
    let is_numbered = matches!(tree.part(p), Part::Parametric { .. });
    if is_numbered != found.is_parametric() {
        let message = match is_numbered {
            true => format!("{name:?} has no number; write \"{name}::_: ...\" where it is defined"),
            false => format!("{name:?} is for each number another rule; say which, as in {name}::0"),
        };
        return Err(tree.texts.error(tree.place(p), message));
    }
    if let Some(count) = arguments
        && count != found.parameters.len()
    {
        let message = wrong_count(name, found.parameters.len(), count);
        return Err(tree.texts.error(tree.place(p), message));
    }
    Ok(())
}

/// What is said of a template that is given another number of arguments than it takes.
pub(super) fn wrong_count(name: &str, wanted: usize, given: usize) -> String {
    let are = if given == 1 { "is" } else { "are" };
    format!("{name:?} takes {}, and {given} {are} given here", counted(wanted as u64, "argument"))
}

/// What is said of a name without a definition.
pub(super) fn undefined(name: &str, hint: String) -> String {
    format!("{} is used, but not defined{hint}", quoted(name))
}
