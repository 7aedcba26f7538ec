//! The configuration files beside a tokenizer: stop ids and added tokens.

use std::io::{ErrorKind as IoError, Read};
use std::path::Path;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::util::mapped::open_file;
use crate::vocab::MAX_SIZE;
use crate::vocab::load::json::{bool_field, object, str_field};
use crate::vocab::load::malformed;

/// The largest configuration file that is read, in bytes.
const MAX_CONFIG_BYTES: u64 = 64 << 20;

/// An entry of `added_tokens_decoder`.
#[derive(Debug)]
pub(super) struct Added {
    pub(super) id: u64,
    pub(super) content: String,
    pub(super) special: bool,
}

/// What the files beside a tokenizer say, as far as a vocabulary needs it. Empty if there are none.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// `eos_token_id` of generation_config.json.
    pub(super) generation_eos: Vec<u32>,
    /// The text of `eos_token` of tokenizer_config.json.
    pub(super) eos_token: Option<String>,
    /// `eos_token_id` of config.json, or of the language model within it.
    pub(super) model_eos: Vec<u32>,
    /// Ascending by id.
    pub(super) added: Vec<Added>,
}

impl Config {
    /// Reads the configuration files in the folder of `path`.
    pub(super) fn beside(path: &Path) -> Result<Config> {
        let mut config = Config::default();
        let named = |name: &str, e: Error| malformed(format!("{name} beside it: {}", e.message()));
        let name = "generation_config.json";
        if let Some(document) = document(path, name)? {
            config.generation_eos = ids(&document).map_err(|e| named(name, e))?;
        }
        let name = "tokenizer_config.json";
        if let Some(document) = document(path, name)? {
            config.read_tokenizer(&document).map_err(|e| named(name, e))?;
        }
        let name = "config.json";
        if let Some(document) = document(path, name)? {
            let inner = document.get("text_config").and_then(Value::as_object);
            for part in [Some(&document), inner].into_iter().flatten() {
                if config.model_eos.is_empty() {
                    config.model_eos = ids(part).map_err(|e| named(name, e))?;
                }
            }
        }
        Ok(config)
    }

    fn read_tokenizer(&mut self, document: &Map<String, Value>) -> Result<()> {
        self.eos_token = match document.get("eos_token") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Object(token)) => Some(str_field(token, "content")?.to_owned()),
            Some(_) => return Err(malformed("the field \"eos_token\" is neither a string nor an added token")),
        };
        let Some(Value::Object(added)) = document.get("added_tokens_decoder") else { return Ok(()) };
        for (id, token) in added {
            let (Ok(id), Some(token)) = (id.parse::<u64>(), token.as_object()) else {
                return Err(malformed(format!("the added token {id:?} is not an id and an object")));
            };
            if id >= MAX_SIZE as u64 {
                return Err(malformed(format!("the added token id {id} is too large")));
            }
            let (content, special) = (str_field(token, "content")?.to_owned(), bool_field(token, "special")?);
            self.added.push(Added { id, content, special });
        }
        self.added.sort_by_key(|added| added.id);
        Ok(())
    }
}

/// The document `name` in the folder of `path`, if there is one.
fn document(path: &Path, name: &str) -> Result<Option<Map<String, Value>>> {
    let unreadable = |e: std::io::Error| malformed(format!("{name} beside it: {e}"));
    let file = match open_file(&path.with_file_name(name)) {
        Ok(file) => file,
        Err(e) if matches!(e.kind(), IoError::NotFound | IoError::NotADirectory) => return Ok(None),
        Err(e) => return Err(unreadable(e)),
    };
    let mut data = Vec::new();
    file.take(MAX_CONFIG_BYTES).read_to_end(&mut data).map_err(unreadable)?;
    object(&data).map(Some).map_err(|e| {
        let message = format!("{name} beside it: {}", e.message());
        e.saying(message)
    })
}

/// The field `eos_token_id`: absent, one id or a list of ids.
fn ids(document: &Map<String, Value>) -> Result<Vec<u32>> {
    let one = |id: &Value| {
        let id = id.as_u64().filter(|&id| id < MAX_SIZE as u64);
        id.map(|id| id as u32)
            .ok_or_else(|| malformed("the field \"eos_token_id\" is not a token id or a list of them"))
    };
    match document.get("eos_token_id") {
        None | Some(Value::Null) => Ok(vec![]),
        Some(Value::Array(ids)) => ids.iter().map(one).collect(),
        Some(id) => Ok(vec![one(id)?]),
    }
}
