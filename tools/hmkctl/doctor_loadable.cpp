// SPDX-License-Identifier: MIT
//
// Whether this kernel can be given hmk.ko: built for it, by what, and signed where it has to be.
#include <algorithm>
#include <sstream>

#include "doctor.hpp"
#include "util/file.hpp"

namespace hmkctl {
namespace {

namespace fs = std::filesystem;
using State = Finding::State;

constexpr const char* kEfiVariables = "sys/firmware/efi/efivars";
constexpr const char* kSecureBoot = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
constexpr const char* kEnrolled = "MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23";
constexpr std::size_t kAttributes = 4;  // bytes in front of a variable's value

/// Certificates of the keys DKMS signs with: its own, and Ubuntu's.
constexpr const char* kCertificates[]{"var/lib/dkms/mok.pub", "var/lib/shim-signed/mok/MOK.der"};

/// A file that is there though it may not be read counts as there.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Whether the firmware refuses what is not signed; nothing where it does not say.
std::optional<bool> is_secure(const fs::path& root) {
  const auto value = hmk::read_text(root / kEfiVariables / kSecureBoot);
  if (!value || value->size() != kAttributes + 1) return std::nullopt;
  return value->back() == 1;
}

std::string certificate(const fs::path& root) {
  for (const char* const path : kCertificates)
    if (is_there(root / path)) return path;
  return "";
}

/// The list of machine owner keys holds certificates as they are.
bool is_enrolled(const fs::path& root, const std::string& path) {
  const std::string key = hmk::read_text(root / path).value_or("");
  const std::string keys = hmk::read_text(root / kEfiVariables / kEnrolled).value_or("");
  return !key.empty() && keys.find(key) != std::string::npos;
}

void check_secure_boot(const fs::path& root, bool is_loaded, Findings& out) {
  const char* const kCheck = "Secure Boot";
  const std::optional<bool> secure = is_secure(root);
  if (!secure && is_there(root / kEfiVariables / kSecureBoot))
    return out.push_back({State::note, kCheck, "the firmware's variable cannot be read"});
  if (!secure.value_or(false)) return out.push_back({State::ok, kCheck, "off"});
  if (is_loaded) return out.push_back({State::ok, kCheck, "on, and hmk.ko is loaded"});
  const std::string path = certificate(root);
  if (path.empty())
    return out.push_back({State::warn, kCheck, "on, and DKMS has no key to sign hmk.ko with",
                          "build hmk.ko by DKMS (package hmk-dkms): it makes a key; "
                          "then run hmkctl doctor again"});
  if (is_enrolled(root, path))
    return out.push_back({State::ok, kCheck, "on, and the key of DKMS is enrolled"});
  out.push_back({State::warn, kCheck, "on, and the key that DKMS signs with is not enrolled",
                 "mokutil --import /" + path + "; reboot, choosing 'Enroll MOK'; modprobe hmk"});
}

/// The module as modprobe finds it, relative to the modules of that kernel; empty when it does not.
std::string installed_module(const fs::path& modules) {
  std::istringstream lines(hmk::read_text(modules / "modules.dep").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::string file = line.substr(0, line.find(':'));
    if (fs::path(file).filename().string().starts_with("hmk.ko")) return file;
  }
  return "";
}

std::string headers_package(const fs::path& root, const std::string& release) {
  return is_there(root / "etc/debian_version") ? "apt install linux-headers-" + release
                                               : "dnf install kernel-devel-" + release;
}

std::string how_to_build(const fs::path& root, const std::string& release, bool has_headers) {
  if (!has_headers) return "install the kernel headers; DKMS builds it then";
  if (!is_there(root / "var/lib/dkms/hmk")) return "install the package hmk-dkms";
  return "dkms autoinstall -k " + release + " && modprobe hmk";
}

}  // namespace

void check_loadable(const fs::path& root, Findings& out) {
  std::istringstream words(hmk::read_text(root / "proc/sys/kernel/osrelease").value_or(""));
  std::string release;
  words >> release;
  const fs::path modules = root / "lib/modules" / release;
  const bool is_loaded = is_there(root / "sys/module/hmk");
  const std::string module = installed_module(modules);
  const bool has_headers = is_there(modules / "build");
  check_secure_boot(root, is_loaded, out);
  // What is in place needs no headers until the next kernel.
  const State state = is_loaded || !module.empty() ? State::note : State::warn;
  if (has_headers)
    out.push_back({State::ok, "kernel headers", "installed for " + release});
  else
    out.push_back({state, "kernel headers", "none for " + release + ": hmk.ko cannot be built",
                   headers_package(root, release)});
  if (!module.empty()) return out.push_back({State::ok, "module file", module});
  out.push_back({state, "module file",
                 "none for " + release +
                     (is_loaded ? ": hmk.ko was loaded by hand and is gone after a reboot" : ""),
                 how_to_build(root, release, has_headers)});
}

}  // namespace hmkctl
