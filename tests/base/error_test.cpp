// The text of an error is made from its fields (CONTRACT.md section 9).
#include "votive/base/error.h"

#include <gtest/gtest.h>

namespace votive {
namespace {

TEST(Error, ReadsAsOpKindDetailAndCure) {
  const Error error = Error(ErrorKind::ShapeMismatch, "matmul")
                          .arg("w", 2)
                          .detail("x [8,576] and w [1536,560] share no inner size")
                          .hint("Did you mean transpose(w)?");
  EXPECT_STREQ(error.what(), "matmul: shape mismatch: x [8,576] and w [1536,560] share no inner size. Did you mean transpose(w)?");
  EXPECT_EQ(error.kind(), ErrorKind::ShapeMismatch);
  EXPECT_EQ(error.arg_name(), "w");
}

}  // namespace
}  // namespace votive
