// How the example programs show what they compute: a row is an expression and what comes of it on every device, a tensor or an error.
#pragma once

#include <votive/votive.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Where a row computes: tensor({1, 2}, i64, on) makes a tensor there.
using On = const votive::CreateOptions&;

class Table {
 public:
  /// `--json`: one object a line instead of columns, for programs. Ends the program on any other argument.
  Table(int argc, char** argv);

  void heading(std::string_view title);
  /// Computes once on each device of this build. Its text also names the row in --json, so no two rows have the same.
  void row(const std::string& expression, const std::function<votive::Tensor(On)>& compute);
  /// The program's exit code: 1 when any two devices gave different bits.
  int finish();

 private:
  void print_columns();

  bool json_ = false;
  int rows_ = 0, different_ = 0;
  std::vector<std::vector<std::string>> lines_;  // of the table in hand: as wide as their widest cell, so printed when it is whole
};
