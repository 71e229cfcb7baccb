// Normal form C, on pairs from the Unicode standard and on text made to be slow.
#include "votive/text/normal_form.h"

#include <gtest/gtest.h>

#include "votive/base/utf8.h"

namespace votive::text {
namespace {

TEST(NormalForm, ComposesWhatUnicodeComposes) {
  EXPECT_EQ(nfc("e\u0301"), "é");
  EXPECT_EQ(nfc("A\u030A"), "Å");
  EXPECT_EQ(nfc("\u212B"), "Å");                     // ANGSTROM SIGN is a singleton
  EXPECT_EQ(nfc("q\u0307\u0323"), "q\u0323\u0307");  // UAX 15, figure 3: marks are put in order; nothing composes
  EXPECT_EQ(nfc("s\u0307\u0323"), "\u1E69");         // … and here everything does
  EXPECT_EQ(nfc("\u1E0B\u0323"), "\u1E0D\u0307");    // … and here a composed one comes apart first
  EXPECT_EQ(nfc("\u1100\u1161\u11A8"), "각");        // Hangul by arithmetic
  EXPECT_EQ(nfc("\u0958"), "\u0915\u093C");          // a composition exclusion stays in two
  EXPECT_EQ(nfc("ﬁ"), "ﬁ");                          // compatibility characters are not for C
}

TEST(NormalForm, LeavesBrokenBytesWhereTheyAreAndComposesNothingAcrossThem) {
  EXPECT_EQ(nfc("e\xff\u0301e\u0301\xc3"), "e\xff\u0301é\xc3");
}

TEST(NormalForm, OrdersAMegabyteOfMarksInTimeThatATestHas) {
  // Classes 230 and 220 in turn: the neighbour-swapping sort of utf8proc 2.8 would take 10¹¹ steps.
  std::string marks, above, below;
  for (int i = 0; i < 250'000; ++i) marks += "\u0301\u0323", above += "\u0301", below += "\u0323";
  EXPECT_EQ(nfc("!" + marks), "!" + below + above);
}

TEST(NormalForm, SaysOfPlainTextThatItCannotChange) {
  EXPECT_FALSE(may_change_in_nfc("plain, ÄÖÜ ß"));
  EXPECT_TRUE(may_change_in_nfc("e\u0301"));
}

}  // namespace
}  // namespace votive::text
