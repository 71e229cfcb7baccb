// A GGUF file's tokenizer keys as text/ wants them.
// Not here: what the values mean; `Tokenizer` checks them.
#pragma once

#include "votive/io/gguf.h"
#include "votive/text/vocabulary.h"

namespace votive::models {

/// Reads tokenizer.ggml.* and tokenizer.chat_template:  Tokenizer tokenizer(read_vocabulary(file));
/// Throws Error{InvalidFile} where a key is missing or of another type.
Vocabulary read_vocabulary(const io::GgufFile& file);

}  // namespace votive::models
