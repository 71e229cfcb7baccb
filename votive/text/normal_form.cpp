// utf8proc knows the tables; the ordering of combining marks is ours, because utf8proc 2.8 sorts them by neighbour swaps, which takes
// quadratic time: a megabyte of marks in falling order would never end.
#include "votive/text/normal_form.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "votive/base/utf8.h"

namespace votive::text {
namespace {

utf8proc_propval_t combining_class(utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; }

// A character decomposes into at most 4 in NFD; utf8proc is given room for more, so that no return value needs a second call.
constexpr int longest_decomposition = 32;

void decompose(char32_t c, std::vector<utf8proc_int32_t>& out) {
  utf8proc_int32_t part[longest_decomposition];
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), part, longest_decomposition, UTF8PROC_DECOMPOSE, nullptr);
  if (count < 1 || count > longest_decomposition) return out.push_back(static_cast<utf8proc_int32_t>(c));
  out.insert(out.end(), part, part + count);
}

void order_marks(std::vector<utf8proc_int32_t>& text) {
  for (auto begin = text.begin(); begin != text.end();) {
    if (combining_class(*begin) == 0) {
      ++begin;
      continue;
    }
    const auto end = std::find_if(begin, text.end(), [](utf8proc_int32_t c) { return combining_class(c) == 0; });
    std::stable_sort(begin, end, [](utf8proc_int32_t a, utf8proc_int32_t b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

void append_nfc(std::string_view well_formed, std::string& out) {
  if (!may_change_in_nfc(well_formed)) {
    out += well_formed;
    return;
  }
  std::vector<utf8proc_int32_t> points;
  points.reserve(well_formed.size());
  for (std::size_t at = 0; at < well_formed.size(); at += static_cast<std::size_t>(utf8_step(well_formed.substr(at)).bytes))
    decompose(utf8_code_point(well_formed.substr(at)), points);
  order_marks(points);
  const auto count = utf8proc_normalize_utf32(points.data(), static_cast<utf8proc_ssize_t>(points.size()),
                                              static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  points.resize(static_cast<std::size_t>(std::max<utf8proc_ssize_t>(count, 0)));
  for (const utf8proc_int32_t c : points) append_utf8(static_cast<char32_t>(c), out);
}

}  // namespace

bool may_change_in_nfc(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0xCC; });  // U+0300 is CC 80
}

std::string nfc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t good = well_formed_prefix(text);
    append_nfc(text.substr(0, good), out);
    text.remove_prefix(good);
    const std::size_t bad = static_cast<std::size_t>(text.empty() ? 0 : utf8_step(text).bytes);
    out += text.substr(0, bad);
    text.remove_prefix(bad);
  }
  return out;
}

}  // namespace votive::text
