// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "machine/command.hpp"
#include "machine/lab_machine.hpp"
#include "machine/workload.hpp"
#include "support/temp_folder.hpp"

using namespace hmk::sim;

namespace {

struct Ended {
  int code;
  std::string error;
};

Ended run_line(const std::string& line) {
  std::istringstream text("machine " + line);
  std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const int code = run_machine_command(static_cast<int>(argv.size()), argv.data());
  testing::internal::GetCapturedStdout();
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(MachineInput, BadInputIsOneLineAndExitCodeTwo) {
  for (const char* const line : {"",
                                 "no-such-scenario",
                                 "no-such.yaml",
                                 "even --machine no-such.yaml",
                                 "even --set horizn=3",
                                 "even --set attach=3",
                                 "even --set horizon",
                                 "even --set horizon=0",
                                 "even --interval 10",
                                 "even --interval 49ms",
                                 "even --budget 801",
                                 "even --budget 0",
                                 "even --seconds 0",
                                 "even --period 10s",
                                 "even --work 0",
                                 "even --until 0",
                                 "even --until 1.1",
                                 "even --leaf 1G",
                                 "even --system none",
                                 "even --seed x",
                                 "even --taken 1GiB",
                                 "even --against no-such.json",
                                 "even --profiler none",
                                 "even --clock 8",
                                 "no-such.hmkrec",
                                 "even run.hmkrec",
                                 "even --tier 1",
                                 "sweep --set horizon=1,x",
                                 "sweep --seeds 0",
                                 "sweep --jobs 3",
                                 "sweep no-such-scenario"}) {
    const Ended outcome = run_line(line);
    EXPECT_EQ(outcome.code, 2) << line;
    EXPECT_EQ(std::ranges::count(outcome.error, '\n'), 1) << line << ": " << outcome.error;
    EXPECT_TRUE(outcome.error.starts_with("hmk-sim: ")) << line << ": " << outcome.error;
  }
}

TEST(MachineInput, SuggestsTheKeyThatWasMeant) {
  EXPECT_NE(run_line("even --set horizn=3").error.find("did you mean 'horizon'?"),
            std::string::npos);
}

TEST(MachineInput, GoodInputEndsWithZeroAndAnUnwritableFileWithOne) {
  EXPECT_EQ(run_line("fits --seconds 1 --system first-touch --set horizon=20").code, 0);
  EXPECT_EQ(run_line("fits --seconds 1 --system static --json /no/such/folder/file").code, 1);
}

class MachineFile : public testing::Test {
 protected:
  const std::string& put(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  std::string problem_of_workload(const std::string& text) {
    try {
      read_workload(put(text));
    } catch (const std::invalid_argument& problem) {
      return problem.what();
    }
    return "";
  }
  const hmk::test::TempFolder folder_;
  const std::string path_ = folder_ / "machine-input.yaml";
};

constexpr const char* kGood =
    "memory: 4MiB\nseconds: 10s\nphases:\n  - instructions: 10\n    heat:\n      - {visits: 1}\n";

TEST_F(MachineFile, AScenarioWithAnErrorNamesFileLineAndPlace) {
  EXPECT_EQ(problem_of_workload(kGood), "");
  const std::string head = "memory: 4MiB\nseconds: 10s\nphases:\n  - instructions: 10\n    heat:\n";
  const std::pair<std::string, std::string> cases[] = {
      {"memory: 3MiB\nseconds: 10s\nphases: []\n", ":1: memory: '3MiB' is no multiple of 2MiB"},
      {"memory: 4MiB\nseconds: 10\nphases: []\n", ":2: seconds: '10' is no time"},
      {"memory: 4MiB\nseconds: 10s\nphases: []\n", ":3: phases: want 1 to 64"},
      {"memory: 4MiB\nseconds: 10s\nfoo: 1\nphases: []\n", ":3: unknown key 'foo'"},
      {"memory: 4MiB\nseconds: 10s\n", "'phases' is missing"},
      {head + "      - {visits: -1}\n", ":6: phases[0].heat[0].visits: '-1' is no number"},
      {head + "      - {visits: 1, writes: 101%}\n", "writes: '101%' is no share"},
      {head + "      - {visits: 1, bytes: 8MiB}\n", "bytes: '8MiB' is no multiple"},
      {head + "      - {visits: 1, bytes: 2MiB, at: 4MiB}\n", "at: '4MiB' is no multiple"},
      {head + "      - {visits: 1, bytes: 3MiB, pieces: 2MiB}\n", "share 'bytes' evenly"},
      {head + "      - {visits: 1, pieces: 12KiB}\n", "want 4KiB, 8KiB"},
      {head + "      - {visits: 1, order: up}\n", "want address or scattered"},
      {"memory: 4MiB\nseconds: 10s\nphases:\n  - for: 1s\n    instructions: 10\n    heat:\n"
       "      - {visits: 1}\n",
       "the last phase lasts to the end"},
      {"memory: 4MiB\nseconds: 10s\ncycle: yes\nphases:\n  - instructions: 10\n    heat:\n"
       "      - {visits: 1}\n",
       "'for' is missing"},
      {"memory: [", "machine-input.yaml:"},
  };
  for (const auto& [text, problem] : cases)
    EXPECT_NE(problem_of_workload(text).find(problem), std::string::npos)
        << text << problem_of_workload(text);
}

/// 1,024 pages: nodes, and in two phases misses, those streamed, written lines, visits.
class CountedFile : public MachineFile {
 protected:
  CountedFile() {
    std::vector<std::uint32_t> words(std::size_t{9} * 1024);
    words[0] = 3, words[1] = 0xffffffff;
    words[1024] = 201, words[2048] = 192, words[3072] = 6, words[4096] = 12;  // of the first page
    words[1025] = 6;
    words[5120] = 1;  // in the second phase
    std::ofstream(pages_, std::ios::binary)
        .write(reinterpret_cast<const char*>(words.data()),
               static_cast<std::streamsize>(4 * words.size()));
  }
  const std::string pages_ = folder_ / "machine-input.pages";
};

constexpr const char* kCounted =
    "format: 3\nmemory: 4MiB\npages: machine-input.pages\nphases:\n"
    "  - {operations: 3, instructions: 10, other: 7.5}\n"
    "  - {operations: 4, instructions: 20}\n";

TEST_F(CountedFile, ACountedScenarioIsReadPhaseByPhase) {
  const Workload load = read_workload(put(kCounted));
  ASSERT_EQ(load.phases.size(), 2);
  EXPECT_EQ(load.phases[0].execution.instructions, 10);
  EXPECT_EQ(load.phases[0].execution.other_ns, 7.5);
  EXPECT_EQ(load.phases[1].execution.other_ns, 0);
  const Heat first = heat_of(load, load.phases[0], 1), second = heat_of(load, load.phases[1], 1);
  EXPECT_EQ(first.misses.size(), 1024);
  EXPECT_EQ(first.misses[0], 67);
  EXPECT_EQ(first.streamed[0], 64);
  EXPECT_EQ(first.written[0], 2);
  EXPECT_EQ(first.visits[0], 4);
  EXPECT_EQ(load.nodes.size(), 1024);
  EXPECT_EQ(load.nodes[0], 3);
  EXPECT_EQ(first.misses[1], 2);
  EXPECT_EQ(first.visits[1], 0);
  EXPECT_EQ(first.streamed[1] + first.written[1] + first.misses[2], 0);
  EXPECT_EQ(second.misses[0], 0.25);
  EXPECT_EQ(second.written[0], 0);
}

TEST_F(CountedFile, ACountedScenarioWithAnErrorIsRefused) {
  const std::string body = "memory: 4MiB\npages: machine-input.pages\n";
  const std::string head = "format: 3\n" + body;
  const std::pair<std::string, std::string> cases[] = {
      {body + "phases:\n  - {operations: 1, instructions: 1, streamed: 50%, writes: 25%}\n",
       "want 'format: 3'; count the program again"},
      {"format: 2\n" + body + "phases: []\n", "want 'format: 3'; count the program again"},
      {head + "phases: []\n", ":4: phases: want 1 to 64"},
      {head + "seconds: 10s\nphases: []\n", ":4: unknown key 'seconds'"},
      {head + "phases:\n  - {operations: 0, instructions: 1}\n", "operations: '0' is no number"},
      {head + "phases:\n  - {operations: 1, instructions: 0}\n", "instructions: '0' is no number"},
      {head + "phases:\n  - {operations: 1, instructions: 1, other: -1}\n",
       "other: '-1' is no number"},
      {head + "phases:\n  - {operations: 1, instructions: 1}\n", "has not 20480 bytes"},
      {"format: 3\nmemory: 4MiB\npages: none.pages\nphases:\n  - {operations: 1, instructions: "
       "1}\n",
       "none.pages cannot be read"},
  };
  for (const auto& [text, problem] : cases)
    EXPECT_NE(problem_of_workload(text).find(problem), std::string::npos)
        << text << problem_of_workload(text);
  EXPECT_EQ(run_line(put(kCounted) + " --seconds 9").code, 2) << "its length was counted";
}

TEST_F(MachineFile, AMachineWithAnErrorIsRefused) {
  const auto machine = [](const std::string& memory, const std::string& latency,
                          const std::string& more) {
    return "name: m\nnodes:\n  - id: 0\n    memory: " + memory +
           "\n    cpus: [0]\n    access:\n      0: {latency: " + latency +
           ", bandwidth: 95GB/s}\n" + more;
  };
  EXPECT_EQ(read_lab_machine(put(machine("512MiB", "90ns", ""))).mlp, 2);
  EXPECT_EQ(read_lab_machine(put(machine("512MiB", "90ns", "mlp: 4\n"))).mlp, 4);
  for (const std::string& bad :
       {machine("511MiB", "90ns", ""), machine("512MiB", "90", ""), machine("512MiB", "0ns", ""),
        machine("512MiB", "90ns", "mlp: 0\n"), machine("512MiB", "90ns", "colour: red\n"),
        std::string("name: m\nnodes: []\n"), std::string("name: m\n"), std::string("7\n")})
    EXPECT_THROW(read_lab_machine(put(bad)), std::invalid_argument) << bad;
}

}  // namespace
