// SPDX-License-Identifier: MIT
// What a trainer knows of its own memory, said by libhmk.
//
//   TrainHints hints(trainer, TrainHints::kPast | TrainHints::kNext);
//   while (...) trainer.work(1), hints.at(trainer.steps());
//
// kPast: what a layer gave is dead after its step backward; what is not used for a while is put
// aside: what early layers gave, from the step after next forward on, weights that have a long way
// to go, and moments. kNext: what the next step uses is about to be used. (CachedArrays' M and P.)
// kLies: any objects are about to be used or put aside, as chance has it, and nothing of it is so.
#ifndef HMK_LOAD_TRAIN_HINTS_HPP
#define HMK_LOAD_TRAIN_HINTS_HPP

#include <hmk/hints.h>

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "random.hpp"
#include "train.hpp"

namespace hmk::load {

class TrainHints {
 public:
  static constexpr unsigned kPast = 1, kNext = 2, kLies = 4;
  static constexpr unsigned kLiesAStep = 8;
  /// Steps until a use that are a while: an eighth of an iteration.
  static constexpr std::uint64_t kWhile = Trainer::kSteps / 8;

  /// Registers all objects. Throws std::runtime_error.
  TrainHints(Trainer& trainer, unsigned says) : says_(says) {
    for (unsigned layer = 0; layer < Net::kLayers && says != 0; ++layer) {
      weights_[layer] = name("weights", trainer.weights_of(layer));
      activations_[layer] = name("activations", trainer.activations_of(layer));
      for (unsigned which = 0; which < 2; ++which)
        moments_[layer][which] = name("moments", trainer.moment_of(layer, which));
    }
  }

  /// So many steps are done; says what that means, once for each.
  void at(std::uint64_t steps) {
    if (steps == said_) return;
    said_ = steps;
    const std::uint64_t next_step = steps % Trainer::kSteps + 1;
    if ((says_ & kPast) != 0) past((steps - 1) % Trainer::kSteps);
    if ((says_ & kNext) != 0 && next_step < Trainer::kSteps) next(next_step);
    if ((says_ & kLies) != 0) lie();
  }

 private:
  using Object = hmk_object;

  static Object name(const char* label, std::span<Trainer::Word> words) {
    const Object object = hmk_register(words.data(), words.size_bytes(), label, HMK_OBJECT_ANON);
    if (object == 0) throw std::runtime_error(std::string("libhmk takes no ") + label);
    return object;
  }

  static void put_aside(Object object, std::uint64_t steps) {
    if (steps >= kWhile) hmk_archive(object);
  }

  /// A step is done. Its layer's weights are used again on the way back, or in the next iteration.
  void past(std::uint64_t step) {
    const unsigned layer = Trainer::layer_of(step);
    if (Trainer::is_forward(step)) {
      const std::uint64_t until = Trainer::step_back(step) - step;
      put_aside(weights_[layer], until);
      // What the layer before gave was used now, and is again when this layer goes back.
      if (layer > 0) put_aside(activations_[layer - 1], until);
      return;
    }
    put_aside(weights_[layer], 2 * layer + 1);
    for (const Object moment : moments_[layer]) hmk_archive(moment);
    if (layer > 0) hmk_retire(activations_[layer]);  // those of the first are written next
  }

  void next(std::uint64_t step) {
    const unsigned layer = Trainer::layer_of(step);
    if (layer > 0) hmk_will_read(activations_[layer - 1]);
    if (Trainer::is_forward(step)) return hmk_will_read(weights_[layer]);
    hmk_will_use(weights_[layer]);
    for (const Object moment : moments_[layer]) hmk_will_use(moment);
  }

  void lie() {
    for (unsigned n = 0; n < kLiesAStep; ++n) {
      const std::uint64_t layer = random_.below(Net::kLayers);
      const Object of[] = {weights_[layer], activations_[layer], moments_[layer][0],
                           moments_[layer][1]};
      const Object object = of[random_.below(4)];
      random_.below(2) == 0 ? hmk_will_use(object) : hmk_archive(object);
    }
  }

  unsigned says_;
  Random random_{1};
  std::uint64_t said_ = 0;
  std::array<Object, Net::kLayers> weights_{}, activations_{};
  std::array<std::array<Object, 2>, Net::kLayers> moments_{};
};

}  // namespace hmk::load

#endif
