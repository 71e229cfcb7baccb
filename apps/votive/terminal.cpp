// The terminal side of the command line: progress, interruption, streaming text.
#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "command.h"

namespace votive::app {

namespace {
std::atomic<bool> interrupt_seen{false};
static_assert(std::atomic<bool>::is_always_lock_free);
}  // namespace

bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

ProgressBar::ProgressBar(std::string what) : what_(std::move(what)) { show(0); }
ProgressBar::~ProgressBar() {
  if (stderr_is_terminal()) std::fputs("\r\033[K", stderr);
}
void ProgressBar::show(double fraction) {
  constexpr int width = 30;
  const int percent = static_cast<int>(fraction * 100);
  if (percent == shown_ || !stderr_is_terminal()) return;
  shown_ = percent;
  const int full = static_cast<int>(fraction * width);
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < full ? "█" : "░";
  std::fputs(fmt::format("\r{} {} {:3d} %", what_, bar, percent).c_str(), stderr);
  std::fflush(stderr);
}

void catch_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen.store(true); };
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
}
bool was_interrupted() { return interrupt_seen.load(); }
void allow_interrupt() { signal(SIGINT, SIG_DFL); }
void forget_interrupt() {
  interrupt_seen.store(false);
  catch_interrupt();
}

void MachineOptions::add_to(CLI::App& command) {
  command.add_option("--threads", threads, "threads to use (default: the CPUs this process may run on)")->check(CLI::Range(1, 256));
  command.add_option("--device", device, "cpu, or reference: slow, the same bits")->check(CLI::IsMember({"cpu", "reference"}));
}
Device MachineOptions::apply() const {
  if (threads > 0) set_threads(threads);
  return device == "reference" ? Device::reference : Device::cpu;
}

models::LanguageModel load_with_progress(const std::string& path, Device device) {
  ProgressBar bar("loading");
  return models::load(path, {.prepack = device == Device::cpu, .device = device, .progress = [&](double fraction) { bar.show(fraction); }});
}

void add_generation_options(CLI::App& command, models::GenerateOptions& options) {
  command.add_option("--max-tokens", options.max_tokens, "most tokens to make")->capture_default_str()->check(CLI::NonNegativeNumber);
  command.add_option("--temperature", options.temperature, "0: the likeliest token; 1: as the model says; more: bolder")
      ->capture_default_str();
  command.add_option("--top-k", options.top_k, "only the k likeliest tokens; 0: all")->capture_default_str();
  command.add_option("--top-p", options.top_p, "only the likeliest tokens that together reach p")->capture_default_str();
  command.add_option("--min-p", options.min_p, "only tokens at least this fraction as likely as the likeliest")->capture_default_str();
  command.add_option("--repetition-penalty", options.repetition_penalty, "above 1: repeat less")->capture_default_str();
  command.add_option("--seed", options.seed, "the same seed gives the same text, on every machine")->capture_default_str();
  command.add_option("--stop", options.stop, "end at this text; may be given several times")->allow_extra_args(false);
}

int write_pieces(models::Generation& generation, std::string* collected) {
  while (!was_interrupted()) {
    const std::optional<std::string> piece = generation.next();
    if (!piece.has_value()) break;
    std::fwrite(piece->data(), 1, piece->size(), stdout);
    std::fflush(stdout);
    if (collected != nullptr) *collected += *piece;
  }
  std::fputc('\n', stdout);
  std::fflush(stdout);
  return was_interrupted() ? interrupted : success;
}

void report_speed(const models::GenerationStatistics& s) {
  const double prompt = s.prompt_seconds > 0 ? static_cast<double>(s.prompt_tokens) / s.prompt_seconds : 0;
  const double decode = s.decode_seconds > 0 ? static_cast<double>(s.generated_tokens - 1) / s.decode_seconds : 0;
  std::fputs(fmt::format("prompt {} tokens, {:.1f} tokens/s · generated {} tokens, {:.1f} tokens/s · {} threads, {}\n", s.prompt_tokens,
                         prompt, s.generated_tokens, decode, votive::threads(), runtime::instruction_set())
                 .c_str(),
             stderr);
}

}  // namespace votive::app
