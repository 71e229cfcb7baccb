// Many elements to one, along any axes (CONTRACT.md 3).
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "votive/core/tensor.h"

namespace votive {

/// Axes of a reduction: all of them, one, or a list.
class Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{axis}, all_(false) {}  // NOLINT(google-explicit-constructor)
  Axes(std::initializer_list<int> axes) : axes_(axes), all_(false) {}
  explicit Axes(std::vector<int> axes) : axes_(std::move(axes)), all_(false) {}
  std::uint32_t mask(std::string_view op, int rank) const;  ///< Throws Error{InvalidAxis}, also for an axis named twice.

 private:
  std::vector<int> axes_;
  bool all_ = true;
};
struct ReduceOptions {
  Axes axis = {};
  bool keep = false;
};
Tensor sum(const Tensor& x, const ReduceOptions& options = {});
Tensor mean(const Tensor& x, const ReduceOptions& options = {});
Tensor prod(const Tensor& x, const ReduceOptions& options = {});
Tensor min(const Tensor& x, const ReduceOptions& options = {});
Tensor max(const Tensor& x, const ReduceOptions& options = {});
Tensor any(const Tensor& x, const ReduceOptions& options = {});
Tensor all(const Tensor& x, const ReduceOptions& options = {});
struct AxisOptions {
  int axis = -1;
  bool keep = false;
};
Tensor argmax(const Tensor& x, AxisOptions options = {});
Tensor argmin(const Tensor& x, AxisOptions options = {});

}  // namespace votive
