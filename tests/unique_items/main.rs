//! `uniqueItems`: arrays judged byte for byte.

#[path = "../support/mod.rs"]
mod support;

mod constant_elements;
mod container_elements;
mod exhausted_values;
mod long_arrays;
mod most_values_used;
mod unused_value_search;
