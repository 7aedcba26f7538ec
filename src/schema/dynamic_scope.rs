//! Dynamic scopes: what `$dynamicRef` and `$recursiveRef` mean on each way of reaching a schema.
//!
//! A dynamic reference goes to the *outermost* resource on the way from the root that has a dynamic anchor of its
//! name. Of the way so far, then, only the first owner of each name matters, and there are finitely many such *scopes*.
//! A schema gets one id per scope in which it is reached, which turns dynamic references into plain ones. Documents
//! without dynamic anchors have one scope.

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::schema::resolve::{ReferenceTarget, SchemaDocument};
use crate::util::seeded_hash::SeededMap;

/// An interned scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScopeId(pub u32);

impl ScopeId {
    /// Nothing has been passed that has a dynamic anchor.
    pub const EMPTY: ScopeId = ScopeId(0);
}

/// The first owner of each name, sorted by name.
type DynamicScope = Vec<(String, u32, u32)>;

/// All scopes that were entered.
#[derive(Debug)]
pub struct Scopes {
    scopes: Vec<DynamicScope>,
    ids: SeededMap<DynamicScope, ScopeId>,
    /// Scope, document and resource to scope.
    entered: SeededMap<(ScopeId, u32, u32), ScopeId>,
    /// Entries of all scopes.
    entries: usize,
}

impl Default for Scopes {
    fn default() -> Self {
        let ids = SeededMap::from_iter([(DynamicScope::new(), ScopeId::EMPTY)]);
        Scopes { scopes: vec![DynamicScope::new()], ids, entered: SeededMap::default(), entries: 0 }
    }
}

impl Scopes {
    /// The scope after entering a resource of document `index`.
    ///
    /// # Errors
    /// `Limit` where scopes and the names in them are too many.
    pub fn enter(
        &mut self,
        scope: ScopeId,
        index: u32,
        document: &SchemaDocument<'_>,
        resource: u32,
        limits: &Limits,
    ) -> Result<ScopeId> {
        let names = &document.resource(resource).dynamic;
        if names.is_empty() {
            return Ok(scope);
        }
        if let Some(id) = self.entered.get(&(scope, index, resource)) {
            return Ok(*id);
        }
        let mut entries = self.scopes[scope.0 as usize].clone();
        for name in names {
            if let Err(at) = entries.binary_search_by(|e| e.0.as_str().cmp(name)) {
                entries.insert(at, (name.clone(), index, resource));
            }
        }
        self.entries += entries.len();
        if self.entries > limits.max_algebra_steps {
            return Err(Error::limit("names in dynamic scopes", limits.max_algebra_steps as u64, self.entries as u64)
                .set_by("max_algebra_steps"));
        }
        let next = ScopeId(self.scopes.len() as u32);
        let id = *self.ids.entry(entries.clone()).or_insert(next);
        if id == next {
            self.scopes.push(entries);
        }
        self.entered.insert((scope, index, resource), id);
        Ok(id)
    }

    /// Document and resource that own `name` in `scope`.
    pub fn owner(&self, scope: ScopeId, name: &str) -> Option<(u32, u32)> {
        let entries = &self.scopes[scope.0 as usize];
        let at = entries.binary_search_by(|e| e.0.as_str().cmp(name)).ok()?;
        entries.get(at).map(|e| (e.1, e.2))
    }

    /// Where a dynamic reference of `name` leads in `scope`; `fallback` where nothing on the way has that name.
    pub fn target<'d, 't: 'd>(
        &self,
        scope: ScopeId,
        name: &str,
        doc: impl Fn(u32) -> &'d SchemaDocument<'t>,
        fallback: ReferenceTarget,
    ) -> ReferenceTarget {
        self.owner(scope, name).and_then(|(d, r)| doc(d).dynamic(d, r, name)).unwrap_or(fallback)
    }
}
