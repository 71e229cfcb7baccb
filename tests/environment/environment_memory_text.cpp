// Memory that runs out while text is read: each call is repeated with its first request refused, then its second, and so on. Every time it must give the
// same answer or Error{OutOfMemory}.
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tests/environment/failing_memory.h"
#include "tests/text/tiny_vocabulary.h"
#include "votive/base/error.h"
#include "votive/text/chat.h"
#include "votive/text/tokenizer.h"

namespace votive::environment {
namespace {

/// Calls `ready` when all that is the caller's is there, and writes into `answer`, which has room for it: what is refused is the library's.
struct Call {
  const char* name;
  std::function<void(std::string& answer, const std::function<void()>& ready)> run;
};

long wrong = 0, refused = 0;

void run_out_of_memory(const Call& call) {
  std::string want;
  call.run(want, [] {});
  for (long n = 1; n < 20000; ++n) {
    std::string what, got;
    got.reserve(want.size() + 4096);
    const std::function<void()> ready = [n] { arm(n); };
    try {
      call.run(got, ready);
    } catch (const Error& error) {
      disarm();
      what = error.kind() == ErrorKind::OutOfMemory ? "out of memory" : error.what();
    } catch (const std::exception& error) {
      disarm();
      what = error.what();
    }
    const bool came = disarm();
    if (what.empty() && !came && got == want) return;
    refused += what == "out of memory";
    if (what == "out of memory" || (what.empty() && got == want)) continue;
    ++wrong;
    std::printf("wrong: %s, request %ld refused: %s\n", call.name, n, what.empty() ? "another answer" : what.c_str());
  }
}

int every_request() {
  const Vocabulary bytes = tiny_byte_level({"a b", "ab c", "Ġ ab"}), llama3 = tiny_byte_level({"a b"}, "llama-bpe"),
                   pieces = tiny_sentence_piece({"▁", "a", "b", "ab", "▁ab"});
  const Tokenizer tokenizer(bytes), spelled(llama3), scored(pieces);
  const std::string text = "ab abc cab <|end|> é ab";
  const std::vector<int> ids = tokenizer.encode(text);
  const ChatTemplate chat(
      "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}", "", "");
  const std::vector<ChatMessage> messages = {{"user", "Where is the sea, and what is it to me whether there is one or not?"}};
  const auto append = [](std::string& answer, const std::vector<int>& list) {
    for (const int id : list) answer.push_back(static_cast<char>(id));
  };
  using Ready = const std::function<void()>&;
  const auto read = [](const Vocabulary& given, std::string& answer, Ready ready) {
    Vocabulary vocabulary = given;
    ready();
    answer.push_back(static_cast<char>(Tokenizer(std::move(vocabulary)).size()));
  };
  const Call calls[] = {
      {"a byte-level vocabulary", [&](std::string& y, Ready ready) { read(bytes, y, ready); }},
      {"a SentencePiece vocabulary", [&](std::string& y, Ready ready) { read(pieces, y, ready); }},
      {"encode", [&](std::string& y, Ready ready) { ready(), append(y, tokenizer.encode(text)); }},
      {"encode of whole words", [&](std::string& y, Ready ready) { ready(), append(y, spelled.encode(text)); }},
      {"encode of scored pieces", [&](std::string& y, Ready ready) { ready(), append(y, scored.encode(text)); }},
      {"decode", [&](std::string& y, Ready ready) { ready(), y += tokenizer.decode(ids); }},
      {"a chat's prompt", [&](std::string& y, Ready ready) { ready(), y += chat.prompt(messages).text; }},
  };
  for (const Call& call : calls) run_out_of_memory(call);
  std::printf("%ld calls said out of memory, %ld wrong\n", refused, wrong);
  return wrong == 0 && refused > 50 ? 0 : 1;
}

}  // namespace
}  // namespace votive::environment

int main() { return votive::environment::every_request(); }
