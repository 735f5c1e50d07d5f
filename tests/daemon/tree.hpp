// SPDX-License-Identifier: MIT
//
// A temporary directory that stands for "/": the recorded parts of /proc and
// /sys that a test needs.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace hmk::test {

class Tree {
 public:
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "hmk-tree-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    root_ = name;
  }
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  const std::filesystem::path& root() const { return root_; }
  void put(const std::string& path, const std::string& text) {
    const auto full = root_ / path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::filesystem::remove(root_ / path);
    std::filesystem::create_symlink(target, root_ / path);
  }
  void remove(const std::string& path) { std::filesystem::remove_all(root_ / path); }

 private:
  std::filesystem::path root_;
};

struct NodeSpec {
  int id;
  std::string cpus;
  std::string distances;
  std::uint64_t total_kb, free_kb;
  unsigned latency_ns = 0;  ///< 0: no HMAT
  unsigned bandwidth_mib = 0;
  int initiator = 0;
  unsigned write_latency_ns = 0;  ///< 0: not told
};

inline void put_node(Tree& tree, const NodeSpec& node) {
  const std::string id = std::to_string(node.id);
  const std::string dir = "sys/devices/system/node/node" + id + "/";
  tree.put(dir + "cpulist", node.cpus + "\n");
  tree.put(dir + "distance", node.distances + "\n");
  tree.put(dir + "meminfo", "Node " + id + " MemTotal:       " + std::to_string(node.total_kb) +
                                " kB\nNode " + id +
                                " MemFree:        " + std::to_string(node.free_kb) + " kB\n");
  if (node.latency_ns == 0) return;
  const std::string access = dir + "access0/initiators/";
  tree.put(access + "read_latency", std::to_string(node.latency_ns) + "\n");
  if (node.write_latency_ns != 0)
    tree.put(access + "write_latency", std::to_string(node.write_latency_ns) + "\n");
  tree.put(access + "read_bandwidth", std::to_string(node.bandwidth_mib) + "\n");
  tree.put(access + "node" + std::to_string(node.initiator) + "/online", "");
}

/// Table 8.1 as the lab's guest shows it: four nodes, CPUs on node 0.
inline void put_four_tiers(Tree& tree, std::uint64_t total_kb = 262144,
                           std::uint64_t free_kb = 131072) {
  tree.put("sys/devices/system/node/online", "0-3\n");
  put_node(tree, {0, "0-1", "10 20 30 40", total_kb, free_kb, 90, 95000});
  put_node(tree, {1, "", "20 10 40 30", total_kb, free_kb, 145, 35000});
  put_node(tree, {2, "", "30 40 10 20", total_kb, free_kb, 275, 35000});
  put_node(tree, {3, "", "40 30 20 10", total_kb, free_kb, 340, 1000});
}

/// What of its memory is resident, as the rules see it.
inline void put_resident(Tree& tree, int pid, std::uint64_t pages) {
  tree.put("proc/" + std::to_string(pid) + "/statm",
           "9999999 " + std::to_string(pages) + " 3 1 0 5 0\n");
}

/// A process whose threads last ran on `cpu`.
/// /proc/PID/task/TID/sched, as far as NUMA balancing goes.
inline std::string sched_text(unsigned scans, unsigned moved_pages) {
  return "hmk-touch (10, #threads: 1)\n-----\nse.vruntime              :           3.5\n"
         "mm->numa_scan_seq                            :       " +
         std::to_string(scans) +
         "\nnuma_pages_migrated                          :     " + std::to_string(moved_pages) +
         "\nnuma_preferred_nid              :       0\n";
}

inline void put_process(Tree& tree, int pid, const std::string& comm, int cpu = 0,
                        unsigned long flags = 4194304, char state = 'S', int parent = 1,
                        unsigned long start_time = 22, unsigned long user_ticks = 14) {
  const std::string dir = "proc/" + std::to_string(pid) + "/";
  std::string stat = std::to_string(pid) + " (" + comm + ") " + state;
  for (int field = 4; field <= 52; ++field) {
    if (field == 4) {
      stat += " " + std::to_string(parent);
    } else if (field == 9) {
      stat += " " + std::to_string(flags);
    } else if (field == 14) {
      stat += " " + std::to_string(user_ticks);
    } else if (field == 22) {
      stat += " " + std::to_string(start_time);
    } else if (field == 39) {
      stat += " " + std::to_string(cpu);
    } else {
      stat += " " + std::to_string(field);
    }
  }
  tree.put(dir + "stat", stat + "\n");
  tree.put(dir + "task/" + std::to_string(pid) + "/stat", stat + "\n");
  tree.put(dir + "comm", comm + "\n");
  tree.put(dir + "status", "Name:\t" + comm + "\nMems_allowed_list:\t0-3\n");
}

}  // namespace hmk::test
