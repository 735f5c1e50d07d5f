// SPDX-License-Identifier: MIT
#include "verb.hpp"

namespace hmkctl {

Run make_version(CLI::App& /*verb*/) {
  return [](const Context& context) {
    static const std::vector<Table> kTables{{"version",
                                             {{"hmkctl", "hmkctl"},
                                              {"hmkd", "hmkd"},
                                              {"abi_version", "module ABI"},
                                              {"features", "module features"}},
                                             Layout::fields}};
    const Reply reply = ask(context.socket, "version", {});
    nlohmann::json answer = reply.data.is_object() ? reply.data : nlohmann::json::object();
    answer["version"]["hmkctl"] = HMK_VERSION;
    print(answer, kTables, context.as_json);
    // Our own version is known without hmkd; that it is away is said all the same.
    return reply.exit_code == kOk ? kOk : fail(context, reply);
  };
}

}  // namespace hmkctl
