//! The values of `enum` and `const`: scalars as they are, arrays and objects as closed schemas.

use serde_json::Value;

use super::super::decimal::Decimal;
use super::super::model::{SchemaId, Types};
use super::node::{ArrayPart, FALSE, Node, NodeId, Nodes, ObjectPart, Scalar, Values};
use super::written::written;

impl<'m> Nodes<'m> {
    pub(super) fn values(&mut self, origin: SchemaId, values: impl Iterator<Item = &'m Value>) -> Values {
        let mut out = Values::default();
        for v in values {
            match self.scalar(v) {
                Some(s) => out.scalars.push(s),
                None => {
                    let id = self.composite(origin, v);
                    if !out.composites.contains(&id) {
                        out.composites.push(id);
                    }
                }
            }
        }
        out
    }

    fn scalar(&mut self, v: &'m Value) -> Option<Scalar> {
        Some(match v {
            Value::Null => Scalar::Null,
            Value::Bool(b) => Scalar::Bool(*b),
            // A number that cannot be read would be a bug of serde_json; zero digits keep it a number.
            Value::Number(n) => {
                let text = n.to_string();
                let value = Decimal::parse(&text).unwrap_or_default();
                let (written, known) = (written(&text, &value), self.written.entry(value.clone()).or_default());
                if !known.contains(&written) {
                    known.push(written);
                }
                Scalar::Number(value)
            }
            Value::String(s) => Scalar::Word(self.intern(s)),
            Value::Array(_) | Value::Object(_) => return None,
        })
    }

    /// A closed schema that accepts exactly `v`. Values nest no deeper than the parser's depth limit.
    fn composite(&mut self, origin: SchemaId, v: &'m Value) -> NodeId {
        if let Some(s) = self.scalar(v) {
            let mut n = Node::of(origin, Types::ALL);
            n.values.push(Values { scalars: vec![s], composites: Vec::new() });
            return self.add(n);
        }
        let mut n = Node::of(origin, Types(0));
        match v {
            Value::Array(items) => {
                let prefix: Vec<NodeId> = items.iter().map(|v| self.composite(origin, v)).collect();
                n.types = Types::ARRAY;
                let part = ArrayPart { min: prefix.len() as u64, prefix, items: Some(FALSE), ..ArrayPart::default() };
                n.array = Some(Box::new(part));
            }
            Value::Object(members) => {
                n.types = Types::OBJECT;
                let mut part = ObjectPart { additional: Some(FALSE), ..ObjectPart::default() };
                for (k, v) in members {
                    let name = self.intern(k);
                    let id = self.composite(origin, v);
                    part.props.push((name, id));
                    part.required.push(name);
                }
                if part.props.len() > 8 {
                    part.index = part.props.iter().copied().collect();
                }
                n.object = Some(Box::new(part));
            }
            _ => {}
        }
        self.add(n)
    }
}
