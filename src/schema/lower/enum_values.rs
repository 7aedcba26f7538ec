//! The values of `enum` and `const`: scalars as they are, arrays and objects as closed schemas.

use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::error::Result;
use crate::json::decimal::Decimal;
use crate::schema::lower::node::{ArrayPart, EnumValues, FALSE, Nodes, ObjectPart, Scalar, SchemaNode, SchemaNodeId};
use crate::schema::lower::scalar::number_spelling::written;
use crate::schema::model::{SchemaId, Types};
use crate::util::cancel::{charge, checkpoint};

/// What a number takes: it is compared by its value, and written.
const NUMBER_STEPS: usize = 4;

impl<'m> Nodes<'m> {
    /// # Errors
    /// `Limit` where there are more values than the compile may take.
    pub(super) fn values(&mut self, origin: SchemaId, values: impl Iterator<Item = &'m Value>) -> Result<EnumValues> {
        let mut out = EnumValues::default();
        let mut seen = FxHashSet::default();
        for v in values {
            checkpoint()?;
            match self.scalar(v) {
                Some(s) => out.scalars.push(s),
                None => {
                    let id = self.composite(origin, v);
                    if seen.insert(id) {
                        out.composites.push(id);
                    }
                }
            }
        }
        Ok(out)
    }

    fn scalar(&mut self, v: &'m Value) -> Option<Scalar> {
        Some(match v {
            Value::Null => Scalar::Null,
            Value::Bool(b) => Scalar::Bool(*b),
            // The parser has refused what cannot be read: exponents that are out of range.
            Value::Number(n) => {
                charge(NUMBER_STEPS);
                let text = n.to_string();
                let value = Decimal::parse(&text).unwrap_or_default();
                let (written, known) = (written(&text, &value), self.written.entry(value.clone()).or_default());
                if !known.contains(&written) {
                    known.push(written);
                }
                Scalar::Number(value)
            }
            Value::String(s) => {
                // Most words become expressions, a node for each byte.
                charge(s.len() / 16);
                Scalar::Word(self.intern(s))
            }
            Value::Array(_) | Value::Object(_) => return None,
        })
    }

    /// A closed schema that accepts exactly `v`. Values nest no deeper than the parser's depth limit.
    fn composite(&mut self, origin: SchemaId, v: &'m Value) -> SchemaNodeId {
        if let Some(s) = self.scalar(v) {
            let mut n = SchemaNode::new(origin, Types::ALL);
            n.values.push(EnumValues { scalars: vec![s], composites: Vec::new() });
            return self.add(n);
        }
        let mut n = SchemaNode::new(origin, Types(0));
        match v {
            Value::Array(items) => {
                let prefix: Vec<SchemaNodeId> = items.iter().map(|v| self.composite(origin, v)).collect();
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
