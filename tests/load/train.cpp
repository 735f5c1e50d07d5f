// SPDX-License-Identifier: MIT
#include "train.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <set>

#include "memory.hpp"
#include "train_hints.hpp"

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

/// Of pages that are there.
std::uint64_t resident_bytes(const Memory& memory) {
  const Range range = memory.range();
  std::vector<unsigned char> pages(range.length / kPage);
  EXPECT_EQ(mincore(memory.as<void>(), range.length, pages.data()), 0);
  return kPage * static_cast<std::uint64_t>(
                     std::ranges::count_if(pages, [](auto page) { return page & 1; }));
}

TEST(Train, WhatItSaysIsDeadIsGivenBackAndNothingElseIsLost) {
  constexpr std::uint64_t kLanes = 32 * Net::kBlock;  // what a layer gives: 256 KiB and 512 KiB
  const Net net{.lanes = kLanes, .gives_back = true};
  const std::uint64_t bytes = net.words() * sizeof(Trainer::Word);
  Memory memory(bytes, false);
  memory.touch();
  Trainer trainer(net, memory.as<Trainer::Word>());
  TrainHints hints(trainer, TrainHints::kPast | TrainHints::kNext);
  std::uint64_t least = bytes;
  for (unsigned step = 0; step < 2 * Trainer::kSteps + 10; ++step) {
    for (unsigned block = 0; block < kLanes / Net::kBlock; ++block) {
      trainer.work(1);
      hints.at(trainer.steps());
    }
    least = std::min(least, resident_bytes(memory));
    if (step % 7 != 0) continue;  // a check takes milliseconds
    EXPECT_EQ(trainer.wrong(), 0u) << step;
  }
  const std::uint64_t given =
      Net::activations(Net::kLayers) - Net::activations(1);  // but for the first layer
  EXPECT_LT(least, bytes - given * kLanes * sizeof(Trainer::Word) * 9 / 10) << "of " << bytes;
  trainer.weights_of(3)[0] ^= 1;
  EXPECT_EQ(trainer.wrong(), 1u);
}

}  // namespace
}  // namespace hmk::load
