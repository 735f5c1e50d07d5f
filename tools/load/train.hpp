// SPDX-License-Identifier: MIT
// The memory of a network in training, in whole numbers: layers forward, layers backward, Adam's
// two moments for each weight, again and again.
//
//   Net net{.lanes = 1024};
//   std::vector<Trainer::Word> words(net.words());
//   Trainer trainer(net, words.data());
//   trainer.work(10);                     // ten further blocks; how many words that were
//   trainer.wrong();                      // words that are not what they must be
//
// What lies in memory and when it is used is a trainer's; what is computed is not: every word of a
// lane depends on words of its lane only, so that any lane can be computed anew to check it. A
// layer has a weight for each lane and several activations (of the first third four, of others two,
// as early layers of networks for images are the larger ones). Activations wait from their layer's
// step forward to its step backward; those of the last layers are used again at once, those of the
// first after the whole iteration. Moments are used once in an iteration.
#ifndef HMK_LOAD_TRAIN_HPP
#define HMK_LOAD_TRAIN_HPP

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "random.hpp"

namespace hmk::load {

struct Net {
  static constexpr unsigned kLayers = 24;
  static constexpr std::uint64_t kMost = 4;     // activations of a lane in a layer
  static constexpr std::uint64_t kBlock = 512;  // lanes that are worked on at a time

  std::uint64_t lanes = kBlock;  // a multiple of kBlock
  unsigned compute = 4;          // rounds of arithmetic for a word
  std::uint64_t first = 0;       // number of the first lane: what comes in depends on it
  bool gives_back = false;       // activations that are used no more may read as anything

  static constexpr std::uint64_t wide(unsigned layer) { return layer < kLayers / 3 ? kMost : 2; }
  /// Words of a lane: a weight and two moments of each layer, activations, gradients of two layers.
  static constexpr std::uint64_t words_of_lane() { return activations(kLayers) + 2 * kMost; }
  std::uint64_t words() const { return lanes * words_of_lane(); }

  /// Words of a lane before the activations of a layer.
  static constexpr std::uint64_t activations(unsigned layer) {
    std::uint64_t words = 3ull * kLayers;
    for (unsigned before = 0; before < layer; ++before) words += wide(before);
    return words;
  }
};

class Trainer {
 public:
  using Word = std::uint64_t;
  static constexpr std::uint64_t kSteps = 2ull * Net::kLayers;  // of an iteration

  /// Of a step of an iteration.
  static bool is_forward(std::uint64_t step) { return step < Net::kLayers; }
  static unsigned layer_of(std::uint64_t step) {
    return static_cast<unsigned>(is_forward(step) ? step : step_back(step));
  }
  /// The step in which the layer of a step forward goes back, and the other way round.
  static std::uint64_t step_back(std::uint64_t step) { return kSteps - 1 - step; }

  /// `words`: net.words() zeros.
  Trainer(const Net& net, Word* words) : net_(net), words_(words), scratch_(kScratch) {
    for (unsigned layer = 0; layer < Net::kLayers; ++layer)
      for (std::uint64_t lane = 0; lane < net.lanes; ++lane)
        at(layer)[lane] = mix((net.first + lane) * Net::kLayers + layer);
  }

  /// So many further blocks; the words that were computed.
  std::uint64_t work(std::uint64_t blocks) {
    std::uint64_t words = 0;
    for (; blocks > 0; --blocks) words += next_block();
    return words;
  }

  std::uint64_t iterations() const { return step_ / kSteps; }
  /// Steps that are done, of all iterations.
  std::uint64_t steps() const { return step_; }

  /// What belongs to a layer: its weights, one of its two moments, what it gave.
  std::span<Word> weights_of(unsigned layer) { return {at(layer), net_.lanes}; }
  std::span<Word> moment_of(unsigned layer, unsigned which) {
    return {moment(layer, which), net_.lanes};
  }
  std::span<Word> activations_of(unsigned layer) {
    return {activation(layer, 0), Net::wide(layer) * net_.lanes};
  }

  /// Words that are not what they must be: each block of lanes is computed anew, by itself.
  std::uint64_t wrong() const {
    std::uint64_t wrong = 0;
    Net one = net_;
    one.lanes = Net::kBlock;
    for (std::uint64_t block = 0; block < net_.lanes / Net::kBlock; ++block) {
      std::vector<Word> words(one.words());
      one.first = net_.first + block * Net::kBlock;
      Trainer alone(one, words.data());
      alone.work(step_ + (block < block_));
      for (std::uint64_t array = 0; array < Net::words_of_lane(); ++array) {
        if (!is_kept(array, block)) continue;
        for (std::uint64_t lane = 0; lane < Net::kBlock; ++lane)
          wrong += alone.at(array)[lane] != at(array)[block * Net::kBlock + lane];
      }
    }
    return wrong;
  }

 private:
  static constexpr std::uint64_t kScratch =
      (1 << 20) / sizeof(Word);  // 1 MiB of values on their way

  /// Whether its words are those that were computed last: of what a layer gave, from its step
  /// forward to its step backward, where the rest is given back.
  bool is_kept(std::uint64_t array, std::uint64_t block) const {
    if (!net_.gives_back || array < Net::activations(0)) return true;
    unsigned layer = 0;
    while (layer < Net::kLayers && array >= Net::activations(layer + 1)) ++layer;
    if (layer == Net::kLayers) return true;  // a gradient
    const std::uint64_t step = step_ % kSteps;
    return (layer < step || (layer == step && block < block_)) && step <= step_back(layer);
  }

  /// The array of a word of each lane.
  Word* at(std::uint64_t array) { return words_ + array * net_.lanes; }
  const Word* at(std::uint64_t array) const { return words_ + array * net_.lanes; }
  Word* moment(unsigned layer, unsigned which) { return at((1 + which) * Net::kLayers + layer); }
  Word* activation(unsigned layer, std::uint64_t i) { return at(Net::activations(layer) + i); }
  /// Of what a layer gave: kept until the layer before it has used it.
  Word* gradient(unsigned layer, std::uint64_t i) {
    return at(Net::activations(Net::kLayers) + layer % 2 * Net::kMost + i);
  }

  std::uint64_t next_block() {
    const std::uint64_t step = step_ % kSteps, lane = block_ * Net::kBlock;
    const unsigned layer = layer_of(step);
    is_forward(step) ? forward(layer, lane) : backward(layer, lane);
    if (++block_ == net_.lanes / Net::kBlock) block_ = 0, ++step_;
    return Net::kBlock * (is_forward(step) ? Net::wide(layer) : 3 + width_in(layer));
  }

  static std::uint64_t width_in(unsigned layer) {
    return layer == 0 ? Net::kMost : Net::wide(layer - 1);
  }

  /// What comes into a layer: from the layer before, or a new picture.
  Word in(unsigned layer, std::uint64_t i, std::uint64_t lane) {
    if (layer > 0) return activation(layer - 1, i)[lane];
    return mix(((net_.first + lane) * Net::kMost + i) ^ iterations() << 40);
  }

  /// The sum of what output `i` of a layer is made of.
  Word sum_in(unsigned layer, std::uint64_t i, std::uint64_t lane) {
    Word sum = 0;
    for (std::uint64_t from = i; from < width_in(layer); from += Net::wide(layer))
      sum += in(layer, from, lane);
    return sum;
  }

  Word compute(Word value, Word weight) const {
    for (unsigned round = 0; round < net_.compute; ++round)
      value = std::rotl(value * 0x9e3779b97f4a7c15ull + weight, 23);
    return value;
  }

  /// A value goes by way of the scratch memory, as temporaries do.
  Word& scratch() { return scratch_[scratch_at_++ % kScratch]; }

  void forward(unsigned layer, std::uint64_t begin) {
    const Word* const weight = at(layer);
    for (std::uint64_t i = 0; i < Net::wide(layer); ++i) {
      Word* const out = activation(layer, i);
      for (std::uint64_t lane = begin; lane < begin + Net::kBlock; ++lane) {
        Word& value = scratch();
        value = sum_in(layer, i, lane);
        out[lane] = compute(value, weight[lane]);
      }
    }
  }

  void backward(unsigned layer, std::uint64_t begin) {
    const bool is_last = layer + 1 == Net::kLayers;
    Word *const weight = at(layer), *const mean = moment(layer, 0),
                *const spread = moment(layer, 1);
    for (std::uint64_t lane = begin; lane < begin + Net::kBlock; ++lane) {
      std::array<Word, Net::kMost> given{};
      Word& change = scratch();
      change = 0;
      for (std::uint64_t i = 0; i < Net::wide(layer); ++i) {
        given[i] = is_last ? activation(layer, i)[lane] : gradient(layer, i)[lane];
        change += compute(given[i] + sum_in(layer, i, lane), activation(layer, i)[lane]);
      }
      for (std::uint64_t i = 0; layer > 0 && i < width_in(layer); ++i)
        gradient(layer - 1, i)[lane] = given[i % Net::wide(layer)] * weight[lane];
      mean[lane] += (change >> 3) - (mean[lane] >> 3);
      spread[lane] += (change * change >> 4) - (spread[lane] >> 4);
      weight[lane] -= mean[lane] ^ spread[lane] >> 7;
    }
  }

  Net net_;
  Word* words_;
  std::vector<Word> scratch_;
  std::uint64_t scratch_at_ = 0;
  std::uint64_t step_ = 0, block_ = 0;  // the step that is worked on, and its blocks that are done
};

}  // namespace hmk::load

#endif
