//! Cache keys: what one token can see of a configuration, as bytes.
//!
//! Two configurations with equal cache keys have equal masks. `mask_key` writes that of a whole configuration. Of an
//! object it needs the object's keys that a token can still tell apart (`visible_keys`), what may come in declared
//! order (`declared_order`), and which objects no token tells apart (`object_class`, by `rule_signature` and
//! `rule_numbers`). `partial_name` is the shorter cache key of a place inside a name.

pub(crate) mod declared_order;
pub(crate) mod mask_key;
pub(crate) mod object_class;
pub(crate) mod partial_name;
pub(crate) mod rule_numbers;
pub(crate) mod rule_signature;
pub(crate) mod visible_keys;
