// SPDX-License-Identifier: MIT
//
// The recordings that App makes, and who gets them.
#include <boost/asio/post.hpp>

#include "app.hpp"
#include "util/log.hpp"

namespace hmk {
namespace {

/// Of users who may only read; each can take 100 MB of hmkd's memory where a process has 786,432
/// regions.
constexpr std::size_t kMostRecordings = 4;

}  // namespace

Result<void> App::record(const Request& request, const Target& target) {
  if (request.client == 0)
    return Error{"a recording comes over a connection only", "use 'hmkctl record FILE'"};
  if (recorders_.contains(request.client))
    return Error{"this connection has a recording already", "open another one"};
  if (!request.peer.may_change && recorders_.size() >= kMostRecordings)
    return Error{"hmkd makes " + std::to_string(recorders_.size()) + " recordings already",
                 "wait until one of them has ended"};
  recorders_.emplace(request.client, Recorder(target.pid()));
  server_.keep(request.client);
  spdlog::info("recording pid={}", target.pid());
  // Behind the answer.
  boost::asio::post(loop_,
                    [this, pid = target.pid()] { guard("record", [&] { send_records(pid); }); });
  return {};
}

void App::send_records(std::int32_t pid) {
  const Target* const target = find(pid);
  if (target == nullptr) return;
  static const std::string kTooSlow = RecordEncoder::trouble(
      {"the recording was taken more slowly than it grew", "write it to a faster place"});
  const auto send = [&](std::uint64_t client, Recorder& recorder) {
    Result<std::string> news = recorder.news(*target, around());
    if (news) return server_.stream(client, *std::move(news), kTooSlow);
    server_.end_stream(client, RecordEncoder::trouble(news.error()));
    return false;
  };
  for (auto one = recorders_.begin(); one != recorders_.end();) {
    const bool goes_on = one->second.pid() != pid || send(one->first, one->second);
    one = goes_on ? std::next(one) : recorders_.erase(one);
  }
}

void App::end_records(std::int32_t pid) {
  std::erase_if(recorders_, [&](const auto& one) {
    const auto& [client, recorder] = one;
    if (recorder.pid() != pid) return false;
    server_.end_stream(client, RecordEncoder::end(recorder.frames()));
    return true;
  });
}

}  // namespace hmk
