// Asks llama.cpp, through its public C interface, for token ids and logits, so that Votive's can be compared with them.
// Built by bench/peers/build.sh against llama.cpp's own headers. No part of Votive is linked here.
//
//   llama_probe tokens MODEL LINES special|plain      ids of every escaped line, one line each, to stdout; "error" where it throws
//   llama_probe logits MODEL IDS OUT THREADS          all logits of one sequence, raw f32 [T, V], to OUT
#include <llama.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "llama_probe: " << what << "\n";
  std::exit(1);
}

// The escapes of tests/golden/README.md.
std::string unescaped(const std::string& line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      out += line[i];
      continue;
    }
    switch (line.at(++i)) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': out += '\r'; break;
      case '\\': out += '\\'; break;
      case 'x':
        out += static_cast<char>(std::stoi(line.substr(i + 1, 2), nullptr, 16));
        i += 2;
        break;
      default: fail("unknown escape in: " + line);
    }
  }
  return out;
}

llama_model* open(const char* path, bool vocab_only) {
  llama_model_params params = llama_model_default_params();
  params.vocab_only = vocab_only;
  llama_model* model = llama_model_load_from_file(path, params);
  if (model == nullptr) fail(std::string("cannot open ") + path);
  return model;
}

int tokens(const char* model_path, const char* lines_path, bool parse_special) {
  const llama_vocab* vocab = llama_model_get_vocab(open(model_path, true));
  std::ifstream lines(lines_path, std::ios::binary);
  for (std::string line; std::getline(lines, line);) {
    const std::string text = unescaped(line);
    std::vector<llama_token> ids(text.size() + 16);
    int count = 0;
    try {
      count = llama_tokenize(vocab, text.data(), static_cast<int>(text.size()), ids.data(), static_cast<int>(ids.size()),
                             /*add_special=*/false, parse_special);
    } catch (const std::exception&) {  // some invalid UTF-8 gets here: "invalid codepoint"
      std::printf("error\n");
      continue;
    }
    if (count < 0) fail("too many tokens in: " + line);
    for (int i = 0; i < count; ++i) std::printf("%s%d", i == 0 ? "" : " ", ids[static_cast<std::size_t>(i)]);
    std::printf("\n");
  }
  return 0;
}

int logits(const char* model_path, const char* ids_path, const char* out_path, int threads) {
  std::vector<llama_token> ids;
  std::ifstream in(ids_path);
  for (llama_token id; in >> id;) ids.push_back(id);
  if (ids.empty()) fail(std::string("no ids in ") + ids_path);
  llama_model* model = open(model_path, false);
  const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
  const int count = static_cast<int>(ids.size());
  llama_context_params params = llama_context_default_params();
  params.n_ctx = params.n_batch = params.n_ubatch = static_cast<std::uint32_t>(count);
  params.n_threads = params.n_threads_batch = threads;
  llama_context* context = llama_init_from_model(model, params);
  if (context == nullptr) fail("no context");
  llama_batch batch = llama_batch_init(count, 0, 1);
  batch.n_tokens = count;
  for (int i = 0; i < count; ++i) {
    batch.token[i] = ids[static_cast<std::size_t>(i)];
    batch.pos[i] = i;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = 1;
  }
  if (llama_decode(context, batch) != 0) fail("llama_decode failed");
  std::FILE* out = std::fopen(out_path, "wb");
  if (out == nullptr) fail(std::string("cannot write ") + out_path);
  for (int i = 0; i < count; ++i) {
    const std::size_t row = static_cast<std::size_t>(vocabulary);
    if (std::fwrite(llama_get_logits_ith(context, i), sizeof(float), row, out) != row) fail("short write");
  }
  std::fclose(out);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  llama_log_set(
      [](ggml_log_level level, const char* text, void*) {
        if (level >= GGML_LOG_LEVEL_ERROR) std::cerr << text;
      },
      nullptr);
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "tokens" && argc == 5) return tokens(argv[2], argv[3], std::string(argv[4]) == "special");
  if (mode == "logits" && argc == 6) return logits(argv[2], argv[3], argv[4], std::atoi(argv[5]));
  std::cerr << "usage: llama_probe tokens MODEL LINES special|plain\n       llama_probe logits MODEL IDS OUT THREADS\n";
  return 2;
}
