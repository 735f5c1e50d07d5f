// SPDX-License-Identifier: MIT
// Loaded by clang-tidy: its checks match in declarations of our own files only. What they find in a
// header of the system is never told, and to match there takes more time than all else but the
// analyzer.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

namespace {

class Ours : public clang::ASTConsumer {
  void HandleTranslationUnit(clang::ASTContext& context) override {
    const clang::SourceManager& files = context.getSourceManager();
    std::vector<clang::Decl*> ours;
    for (clang::Decl* declared : context.getTranslationUnitDecl()->decls()) {
      const clang::SourceLocation place = files.getExpansionLoc(declared->getLocation());
      if (place.isValid() && !files.isInSystemHeader(place)) ours.push_back(declared);
    }
    context.setTraversalScope(ours);
  }
};

class Action : public clang::PluginASTAction {
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                        llvm::StringRef) override {
    return std::make_unique<Ours>();
  }
  bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<Action> added("ours", "match in our own files only");

}  // namespace
