// SPDX-License-Identifier: MIT
//
// What programs say of their memory, and when that is acted on.
#include "app.hpp"
#include "decide.hpp"
#include "util/log.hpp"

namespace hmk {

/// Beside the control socket. Without it programs are placed by what is measured.
void App::listen_to_hints() {
  const auto path = std::filesystem::path(config_->socket).parent_path() / "hints.sock";
  if (const Result<void> open = hints_.listen(path.string()); !open)
    spdlog::warn("no hints reason=\"{}\"", open.error().line());
}

bool App::is_welcome(std::int32_t pid) {
  const Target* const target = find(pid);
  return target != nullptr && target->config().hints;
}

void App::hear(Target& target) {
  const HintTable* const table = hints_.table_of(target.pid());
  target.hear(table == nullptr ? std::vector<Hint>() : table->read());
}

/// Before the interval has ended. What was said beside another event is read by then, and not acted
/// on.
void App::on_hints(std::int32_t pid) {
  Target* const target = find(pid);
  if (target == nullptr) return;
  hear(*target);
  if (is_paused_ || !target->has_news()) return;
  look_at_machine();
  decide_at_once(*target, around());
  keep_pace();
}

}  // namespace hmk
