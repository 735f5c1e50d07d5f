// SPDX-License-Identifier: MIT
//
// What `hmkctl doctor` says about a kernel that has to be given hmk.ko, on planted trees.
#include "doctor.hpp"

#include <gtest/gtest.h>

#include "daemon/tree.hpp"

namespace hmkctl {
namespace {

using State = Finding::State;

const std::string kRelease = "6.1.0-99-amd64", kModules = "lib/modules/" + kRelease;
const std::string kVariables = "sys/firmware/efi/efivars/";
const std::string kSecureBoot = kVariables + "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
const std::string kEnrolled = kVariables + "MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23";
const std::string kOn("\x06\0\0\0\x01", 5), kOff("\x06\0\0\0\0", 5);

/// Debian with DKMS, headers and a module that is built, and none loaded.
struct Planted : hmk::test::Tree {
  Planted() {
    put("proc/sys/kernel/osrelease", kRelease + "\n");
    put("etc/debian_version", "12\n");
    put("var/lib/dkms/hmk/0.1.0/source", "");
    put(kModules + "/build/Makefile", "");
    put(kModules + "/modules.dep", "kernel/drivers/net/tun.ko:\nupdates/dkms/hmk.ko:\n");
  }
};

Finding found(const hmk::test::Tree& tree, const std::string& check) {
  Findings findings;
  check_loadable(tree.root(), findings);
  for (const Finding& finding : findings)
    if (finding.check == check) return finding;
  ADD_FAILURE() << "no finding on " << check;
  return {State::ok, "", ""};
}

TEST(Doctor, IsContentWithABuiltModuleOnAMachineWithoutSecureBoot) {
  const Planted tree;
  Findings findings;
  check_loadable(tree.root(), findings);
  ASSERT_EQ(findings.size(), 3u);
  for (const Finding& finding : findings) EXPECT_EQ(finding.state, State::ok) << finding.check;
  EXPECT_EQ(found(tree, "Secure Boot").found, "off");
  EXPECT_EQ(found(tree, "module file").found, "updates/dkms/hmk.ko");
}

TEST(Doctor, SecureBootThatIsSwitchedOffIsOff) {
  Planted tree;
  tree.put(kSecureBoot, kOff);
  EXPECT_EQ(found(tree, "Secure Boot").state, State::ok);
  EXPECT_EQ(found(tree, "Secure Boot").found, "off");
}

TEST(Doctor, SecureBootWithAnUnknownKeyHasThreeCommands) {
  Planted tree;
  tree.put(kSecureBoot, kOn);
  tree.put("var/lib/dkms/mok.pub", "certificate");
  const Finding finding = found(tree, "Secure Boot");
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_EQ(finding.remedy,
            "mokutil --import /var/lib/dkms/mok.pub; reboot, choosing 'Enroll MOK'; modprobe hmk");
  tree.put(kEnrolled, "....another....");
  EXPECT_EQ(found(tree, "Secure Boot").state, State::warn);
}

TEST(Doctor, SecureBootNamesUbuntusKey) {
  Planted tree;
  tree.put(kSecureBoot, kOn);
  tree.put("var/lib/shim-signed/mok/MOK.der", "certificate");
  EXPECT_NE(found(tree, "Secure Boot").remedy.find("/var/lib/shim-signed/mok/MOK.der"),
            std::string::npos);
}

TEST(Doctor, SecureBootIsContentWithAnEnrolledKey) {
  Planted tree;
  tree.put(kSecureBoot, kOn);
  tree.put("var/lib/dkms/mok.pub", "certificate");
  tree.put(kEnrolled, "....certificate....");
  EXPECT_EQ(found(tree, "Secure Boot").state, State::ok);
}

TEST(Doctor, SecureBootWithoutAnyKeySaysWhereOneComesFrom) {
  Planted tree;
  tree.put(kSecureBoot, kOn);
  const Finding finding = found(tree, "Secure Boot");
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_NE(finding.remedy.find("hmk-dkms"), std::string::npos);
}

TEST(Doctor, SecureBootIsContentWithALoadedModule) {
  Planted tree;
  tree.put(kSecureBoot, kOn);
  tree.put("sys/module/hmk/version", "0.1.0\n");
  EXPECT_EQ(found(tree, "Secure Boot").state, State::ok);
}

TEST(Doctor, AVariableCutShortIsNotTakenForOff) {
  Planted tree;
  tree.put(kSecureBoot, "\x06");
  EXPECT_EQ(found(tree, "Secure Boot").state, State::note);
}

TEST(Doctor, MissingHeadersNameTheirPackage) {
  Planted tree;
  tree.remove(kModules + "/build");
  tree.put(kModules + "/modules.dep", "");
  EXPECT_EQ(found(tree, "kernel headers").state, State::warn);
  EXPECT_EQ(found(tree, "kernel headers").remedy, "apt install linux-headers-" + kRelease);
  EXPECT_EQ(found(tree, "module file").state, State::warn);
  EXPECT_EQ(found(tree, "module file").remedy, "install the kernel headers; DKMS builds it then");
  tree.remove("etc/debian_version");
  EXPECT_EQ(found(tree, "kernel headers").remedy, "dnf install kernel-devel-" + kRelease);
}

TEST(Doctor, HeadersThatAreMissingDoNoHarmWhereTheModuleIsBuilt) {
  Planted tree;
  tree.remove(kModules + "/build");
  EXPECT_EQ(found(tree, "kernel headers").state, State::note);
  EXPECT_EQ(found(tree, "module file").state, State::ok);
}

TEST(Doctor, AModuleNotBuiltForThisKernelIsBuiltByDkms) {
  Planted tree;
  tree.put(kModules + "/modules.dep", "kernel/drivers/net/hmk_alike.ko:\n");
  const Finding finding = found(tree, "module file");
  EXPECT_EQ(finding.state, State::warn);
  EXPECT_EQ(finding.found, "none for " + kRelease);
  EXPECT_EQ(finding.remedy, "dkms autoinstall -k " + kRelease + " && modprobe hmk");
  tree.remove("var/lib/dkms/hmk");
  EXPECT_EQ(found(tree, "module file").remedy, "install the package hmk-dkms");
}

TEST(Doctor, AModuleLoadedByHandIsGoneAfterAReboot) {
  Planted tree;
  tree.put(kModules + "/modules.dep", "");
  tree.put("sys/module/hmk/version", "0.1.0\n");
  const Finding finding = found(tree, "module file");
  EXPECT_EQ(finding.state, State::note);
  EXPECT_NE(finding.found.find("gone after a reboot"), std::string::npos);
}

TEST(Doctor, ACompressedModuleIsFound) {
  Planted tree;
  tree.put(kModules + "/modules.dep", "updates/dkms/hmk.ko.zst: kernel/x.ko.zst\n");
  EXPECT_EQ(found(tree, "module file").found, "updates/dkms/hmk.ko.zst");
}

Findings of_features(std::initializer_list<unsigned> off) {
  hmk_info info{};
  info.features = (1u << HMK_FEAT_NR) - 1 - (1u << HMK_FEAT_TEST_SWITCHES);
  for (const unsigned feature : off) info.features &= ~(1u << feature);
  Findings findings;
  check_features(info, findings);
  std::erase_if(findings, [](const Finding& finding) { return finding.state != State::warn; });
  return findings;
}

TEST(Doctor, WarnsOfEachWayInWhichNothingOfOthersMoves) {
  EXPECT_TRUE(of_features({}).empty());
  EXPECT_TRUE(of_features({HMK_FEAT_MOVE_OWN}).empty()) << "migrate_vma is left";
  const Findings none = of_features({HMK_FEAT_MOVE_OWN, HMK_FEAT_MOVE_VMA});
  const Findings unasked = of_features({HMK_FEAT_LSM_CHECK});
  ASSERT_EQ(none.size(), 1u);
  ASSERT_EQ(unasked.size(), 1u);
  EXPECT_EQ(none[0].check, "moving");
  EXPECT_EQ(unasked[0].check, "moving");
  EXPECT_NE(none[0].found, unasked[0].found);
}

TEST(Doctor, SaysWhetherSharesCanBeCounted) {
  hmk::test::Tree tree;
  Findings findings;
  check_samples(tree.root(), findings);
  tree.put("sys/bus/event_source/devices/ibs_op/type", "9\n");
  tree.put("sys/bus/event_source/devices/ibs_op/format/cnt_ctl", "config:19\n");
  check_samples(tree.root(), findings);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].state, State::note) << "nothing can be done about it";
  EXPECT_EQ(findings[0].found, "none by these CPUs: what a tier serves is an estimate");
  EXPECT_EQ(findings[1].state, State::ok);
  EXPECT_EQ(findings[1].found, "ibs_op: 'hmkctl measure' counts what each tier serves");
}

}  // namespace
}  // namespace hmkctl
