// hardening_test.cc: reads the release binary's ELF headers for what cmake/flags.cmake asks of the linker.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/file_text.h"

namespace eventq {
namespace {

class HardeningTest : public testing::Test {
 protected:
  void SetUp() override {
    image_ = content_of(EVENTQ_BINARY);
    ASSERT_TRUE(image_.starts_with(ELFMAG)) << EVENTQ_BINARY;
    ASSERT_EQ(image_[EI_CLASS], ELFCLASS64);
  }

  template <typename T>
  T read(std::size_t offset) const {
    T value{};
    if (offset + sizeof(T) <= image_.size()) std::memcpy(&value, image_.data() + offset, sizeof(T));
    return value;
  }

  Elf64_Ehdr header() const { return read<Elf64_Ehdr>(0); }

  std::vector<Elf64_Phdr> segments(Elf64_Word type) const {
    std::vector<Elf64_Phdr> found;
    for (std::size_t i = 0; i < header().e_phnum; ++i) {
      const auto segment = read<Elf64_Phdr>(header().e_phoff + i * header().e_phentsize);
      if (segment.p_type == type) found.push_back(segment);
    }
    return found;
  }

  // The value of an entry of the dynamic section, 0 when there is none.
  Elf64_Xword dynamic(Elf64_Sxword tag) const {
    for (const Elf64_Phdr& segment : segments(PT_DYNAMIC)) {
      for (std::size_t at = 0; at < segment.p_filesz; at += sizeof(Elf64_Dyn)) {
        const auto entry = read<Elf64_Dyn>(segment.p_offset + at);
        if (entry.d_tag == tag) return entry.d_un.d_val;
      }
    }
    return 0;
  }

  std::string image_;
};

TEST_F(HardeningTest, BinaryIsLoadedAtARandomAddress) {
  EXPECT_EQ(header().e_type, ET_DYN);
  EXPECT_NE(dynamic(DT_FLAGS_1) & DF_1_PIE, 0U);
}

TEST_F(HardeningTest, RelocationsAreReadOnlyOnceLoaded) {
  EXPECT_EQ(segments(PT_GNU_RELRO).size(), 1U);
  EXPECT_NE(dynamic(DT_FLAGS_1) & DF_1_NOW, 0U);
}

TEST_F(HardeningTest, StackIsNotExecutable) {
  const auto stack = segments(PT_GNU_STACK);

  ASSERT_EQ(stack.size(), 1U);
  EXPECT_EQ(stack[0].p_flags & PF_X, 0U);
}

TEST_F(HardeningTest, NoSegmentIsWritableAndExecutable) {
  for (const Elf64_Phdr& segment : segments(PT_LOAD)) {
    EXPECT_FALSE((segment.p_flags & PF_W) != 0 && (segment.p_flags & PF_X) != 0);
  }
}

TEST_F(HardeningTest, StackOverwritesAreDetected) { EXPECT_NE(image_.find("__stack_chk_fail"), image_.npos); }

TEST_F(HardeningTest, NoFolderOfTheBuildMachineIsNamed) {
  EXPECT_EQ(image_.find(EVENTQ_SOURCE_DIR "/src/"), image_.npos);
}

}  // namespace
}  // namespace eventq
