#include "limit_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/bytes.h"

namespace memduel::cli {
namespace {

using testing::HasSubstr;

TEST(LimitLines, HaveOneFormForEachSystem) {
  EXPECT_EQ(limit_lines(200 * kMiB, 0.15),
            "With 15% headroom, rounded up to MiB:\n"
            "Slurm: #SBATCH --mem=230M\n"
            "systemd: MemoryMax=230M\n"
            "Docker: docker run --memory 230m\n"
            "Kubernetes:\n"
            "  resources:\n"
            "    limits:\n"
            "      memory: 230Mi\n");
}

TEST(LimitLines, RoundUp) {
  EXPECT_THAT(limit_lines(100 * kMiB, 0), HasSubstr("=100M\n"));
  EXPECT_THAT(limit_lines(100 * kMiB + 4096, 0), HasSubstr("=101M\n"));
  EXPECT_THAT(limit_lines(100 * kMiB, 0.1), HasSubstr("=110M\n")) << "110.00000000000001";
  EXPECT_THAT(limit_lines(100 * kMiB + 4096, 0.1), HasSubstr("=111M\n"));
  EXPECT_THAT(limit_lines(100 * kMiB, 10), HasSubstr("=1100M\n"));
  EXPECT_THAT(limit_lines(7 * kMiB, 0.125), HasSubstr("With 12.5% headroom"));
}

TEST(LimitLines, GiveDockerWhatItAccepts) {
  const std::string lines = limit_lines(2 * kMiB, 0);
  EXPECT_THAT(lines, HasSubstr("MemoryMax=2M\n"));
  EXPECT_THAT(lines, HasSubstr("--memory 6m\n"));
}

}  // namespace
}  // namespace memduel::cli
