"""Short names of the errors in the rows of deliberate mistakes."""

import interlock

Argument, Schema, Pattern = interlock.ArgumentError, interlock.SchemaError, interlock.PatternError
Unsupported, Unsatisfiable = interlock.UnsupportedError, interlock.UnsatisfiableError
BadVocabulary, Artifact, Rejected = interlock.VocabularyError, interlock.ArtifactError, interlock.TokenRejected
Budget, Limit = interlock.BudgetError, interlock.LimitError
Grammar, Warned = interlock.GrammarError, interlock.UnknownKeywordWarning
Tag, Format = interlock.StructuralTagError, interlock.ToolFormatError
Request = interlock.RequestError
