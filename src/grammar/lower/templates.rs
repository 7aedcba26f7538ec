//! What names in rules stand for: definitions, parameters of templates, and templates with arguments.

use crate::error::near_name::did_you_mean;
use crate::error::{Result, counted};
use crate::grammar::lower::rules::Lowered;
use crate::grammar::lower::validate::{undefined, wrong_count};
use crate::grammar::lower::{Lowering, RuleKey, Value, ValueId};
use crate::grammar::model::Node;
use crate::grammar::tree::{Definition, DefinitionId, Part, PartId, SpaceId};

impl Lowering<'_> {
    /// What a name stands for.
    pub(super) fn named(&self, d: &Definition, p: PartId, name: &str, arguments: &[ValueId]) -> Result<Value> {
        if let Some(i) = d.parameters.iter().position(|parameter| parameter == name) {
            let value = arguments.get(i).and_then(|&v| self.values.get(v as usize));
            return Ok(value.cloned().unwrap_or(Value::Definition(0)));
        }
        self.found(d.space, p, name).map(Value::Definition)
    }

    /// The definition of a name.
    pub(super) fn found(&self, space: SpaceId, p: PartId, name: &str) -> Result<DefinitionId> {
        let names = &self.tree.spaces[space as usize].names;
        names.get(name).copied().ok_or_else(|| {
            let hint = did_you_mean(name, names.keys().map(String::as_str));
            self.tree.texts.error(self.tree.place(p), undefined(name, hint))
        })
    }

    /// A template with its arguments.
    pub(super) fn instance(&self, p: PartId, template: &Value, given: Vec<ValueId>) -> Result<Value> {
        let place = self.tree.place(p);
        let Value::Definition(id) = *template else {
            return Err(self.tree.texts.error(place, "this argument is no template, and takes no arguments itself"));
        };
        let d = &self.tree.definitions[id as usize];
        if d.parameters.len() != given.len() || d.is_parametric() {
            let message = wrong_count(&d.name, d.parameters.len(), given.len());
            return Err(self.tree.texts.error(place, message));
        }
        Ok(Value::Instance(id, given))
    }

    pub(super) fn value_node(&mut self, d: &Definition, p: PartId, value: &Value) -> Result<Node> {
        match value {
            Value::Terminal(t) => Ok(self.symbol(d.space, Node::Terminal(*t))),
            Value::Number(_) => Ok(Node::Empty),
            Value::Instance(definition, arguments) => {
                let key = RuleKey { definition: *definition, arguments: arguments.clone() };
                self.rule(key).map(Node::Rule)
            }
            Value::Definition(id) => {
                let found = &self.tree.definitions[*id as usize];
                if found.terminal {
                    let terminal = self.defined_terminal(*id)?;
                    return Ok(self.symbol(d.space, Node::Terminal(terminal)));
                }
                if found.is_parametric() {
                    let message =
                        format!("{:?} is for each number another rule; say which, as in {}::0", found.name, found.name);
                    return Err(self.tree.texts.error(self.tree.place(p), message));
                }
                if !found.parameters.is_empty() {
                    let message = format!(
                        "{:?} is a template; its {} must stand behind it in braces",
                        found.name,
                        counted(found.parameters.len() as u64, "argument")
                    );
                    return Err(self.tree.texts.error(self.tree.place(p), message));
                }
                self.rule(RuleKey { definition: *id, arguments: Vec::new() }).map(Node::Rule)
            }
        }
    }

    /// The value of an argument.
    pub(super) fn argument(
        &mut self,
        d: &Definition,
        p: PartId,
        arguments: &[ValueId],
        lowered: &Lowered,
    ) -> Result<ValueId> {
        let value = match self.tree.part(p) {
            Part::Name(name) => self.named(d, p, name, arguments)?,
            Part::Template { name, arguments: given } => {
                let template = self.named(d, p, name, arguments)?;
                let given: Vec<ValueId> = given.iter().filter_map(|&a| lowered.value(a)).collect();
                self.instance(p, &template, given)?
            }
            Part::Text { .. } | Part::Pattern { .. } | Part::Class(_) => Value::Terminal(self.terminal_of(d.space, p)?),
            _ => {
                let message = "an argument is a name, a text, a pattern or a range";
                return Err(self.tree.texts.error(self.tree.place(p), message));
            }
        };
        Ok(self.value(value))
    }
}
