// SPDX-License-Identifier: MIT
#include "train.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hmk::load {
namespace {

constexpr std::uint64_t kBlocks = 3;

struct Training {
  Training() : words(net.words()), trainer(net, words.data()) {}

  Net net{.lanes = kBlocks * Net::kBlock};
  std::vector<Trainer::Word> words;
  Trainer trainer;
};

TEST(Train, WhereverItStopsEveryWordIsKnown) {
  Training training;
  EXPECT_EQ(training.trainer.wrong(), 0u) << "before any work";
  std::uint64_t done = 0;
  for (const std::uint64_t blocks : {1, 2, 70, 71, 1, 300}) {  // an iteration has 144
    training.trainer.work(blocks);
    done += blocks;
    EXPECT_EQ(training.trainer.wrong(), 0u) << done;
    EXPECT_EQ(training.trainer.iterations(), done / (kBlocks * Trainer::kSteps)) << done;
  }
}

TEST(Train, OneBitOfAnyWordIsMissed) {
  Training training;
  training.trainer.work(2 * kBlocks * Trainer::kSteps + kBlocks + 1);
  for (std::size_t i = 0; i < training.words.size(); i += 911) {
    training.words[i] ^= 1;
    EXPECT_EQ(training.trainer.wrong(), 1u) << i;
    training.words[i] ^= 1;
    i += i % 2 == 0 ? training.words.size() / 7 : 0;  // a check takes milliseconds
  }
}

TEST(Train, AWordThatIsLostWhileItIsUsedSpreads) {
  Training training;
  training.trainer.work(kBlocks * Trainer::kSteps);
  training.words[5] ^= 1;  // a weight of the first layer
  training.trainer.work(kBlocks * Trainer::kSteps);
  EXPECT_GT(training.trainer.wrong(), std::uint64_t{Net::kLayers}) << "in each layer of its lane";
}

TEST(Train, EveryWordIsWrittenAndNoTwoIterationsAreAlike) {
  Training training;
  training.trainer.work(kBlocks * Trainer::kSteps);
  const std::vector<Trainer::Word> before = training.words;
  training.trainer.work(kBlocks * Trainer::kSteps);
  std::size_t alike = 0;
  for (std::size_t i = 0; i < before.size(); ++i) alike += before[i] == training.words[i];
  EXPECT_LE(alike, before.size() / 1000);
  EXPECT_GT(std::set(before.begin(), before.end()).size(), before.size() / 2);
}

TEST(Train, MostMemoryIsActivationsOfEarlyLayersAndMoments) {
  constexpr std::uint64_t first_third = Net::activations(Net::kLayers / 3) - Net::activations(0);
  EXPECT_EQ(Net::words_of_lane(), 24u + 48 + 32 + 32 + 8);
  EXPECT_EQ(first_third, 32u);
}

}  // namespace
}  // namespace hmk::load
