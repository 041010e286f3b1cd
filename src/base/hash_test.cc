// hash_test.cc: fingerprints are stable, and depend on where their parts end.
#include "base/hash.h"

#include <gtest/gtest.h>

namespace eventq {
namespace {

TEST(Fingerprint, IsTheSameOnEveryMachine) {
  // XXH3-128 of nothing; then of the eight bytes 01 00 00 00 00 00 00 00 and "a".
  EXPECT_EQ(fingerprint({}), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(fingerprint({"a"}), "ea7daf8b8b8e0899adea399fbae36cb2");
}

TEST(Hash64, IsTheSameOnEveryMachine) {
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2U);
  EXPECT_EQ(hash64("a"), 0xe6c632b61e964e1fU);
}

TEST(Fingerprint, DependsOnWherePartsEnd) {
  EXPECT_NE(fingerprint({"ab", "c"}), fingerprint({"a", "bc"}));
  EXPECT_NE(fingerprint({"abc"}), fingerprint({"abc", ""}));
  EXPECT_NE(fingerprint({"a", "b"}), fingerprint({"b", "a"}));
  EXPECT_NE(fingerprint({}), fingerprint({""}));
}

}  // namespace
}  // namespace eventq
