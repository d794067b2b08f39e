// Helpers of this module's tests: the real modules, and the recorded answers of the reference.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/hlo/hlo_module.h"
#include "src/hlo/module_source.h"
#include "src/wire/compress.h"
#include "src/xplane/host_source.h"
#include "src/xplane/test_bytes.h"

namespace strobe::hlo {

using xplane::CorpusDirectory;

// The file's content, unpacked when it is packed.
inline std::string UnpackedFile(const std::filesystem::path& path) {
  const std::string bytes = xplane::ReadWholeFile(path);
  const wire::Compression kind = wire::DetectCompression(bytes);
  if (kind == wire::Compression::kNone) return bytes;
  std::string unpacked;
  const auto done = wire::Inflate(
      kind, bytes, {},
      [&](std::string_view part) {
        unpacked += part;
        return OkStatus();
      },
      CancelToken());
  EXPECT_TRUE(done.ok() && !done->partial) << path;
  return unpacked;
}

// A recorded request and its answer.
struct Golden {
  std::string session;
  std::string run;
  std::string request;
  std::map<std::string, std::string> parameters;
  int status = 0;
  std::filesystem::path file;
  std::string Of(const std::string& name) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::string() : found->second;
  }
};

inline std::vector<std::string> SplitText(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

// Answers of `tool` that have a body, each request once.
inline std::vector<Golden> GoldensOf(std::string_view tool) {
  const std::filesystem::path root = CorpusDirectory() / "xprof_goldens" / "2.24.2";
  std::vector<Golden> goldens;
  for (const std::string& line : SplitText(xplane::ReadWholeFile(root / "MANIFEST.tsv"), '\n')) {
    const std::vector<std::string> cells = SplitText(line, '\t');
    if (cells.size() < 10 || cells[2] != tool || cells[9] == "-") continue;
    Golden golden{cells[0], cells[1], cells[4], {}, std::atoi(cells[5].c_str()), root / cells[9]};
    const size_t question = cells[4].find('?');
    for (const std::string& pair : SplitText(cells[4].substr(question + 1), '&')) {
      const size_t equals = pair.find('=');
      if (equals != std::string::npos) {
        golden.parameters[pair.substr(0, equals)] = pair.substr(equals + 1);
      }
    }
    goldens.push_back(std::move(golden));
  }
  return goldens;
}

// The modules that the reference served for a session, by key; read once and kept.
class CorpusModules {
 public:
  using Modules = std::map<std::string, std::string>;

  const Modules& Of(const std::string& session, const std::string& run) {
    const auto [at, added] = sessions_.try_emplace({session, run});
    if (added) Load(session, run, &at->second);
    return at->second;
  }
  // The bytes that a request names by module_name or program_id; empty when there are none.
  std::string_view BytesFor(const Golden& golden) {
    const Modules& modules = Of(golden.session, golden.run);
    const std::string name = golden.Of("module_name");
    if (!name.empty()) {
      const auto found = modules.find(name);
      return found == modules.end() ? std::string_view() : std::string_view(found->second);
    }
    const std::string id = golden.Of("program_id");
    for (const auto& [key, bytes] : modules) {
      if (!id.empty() && key.find(id) != std::string::npos) return bytes;
    }
    return {};
  }

 private:
  static void LoadRun(const std::filesystem::path& run, Modules* modules) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(run)) {
      files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    constexpr std::string_view kSidecar = ".hlo_proto.pb";
    bool sidecars = false;
    for (const auto& file : files) {
      const std::string name = file.filename().string();
      if (!name.ends_with(kSidecar)) continue;
      sidecars = true;
      (*modules)[name.substr(0, name.size() - kSidecar.size())] = xplane::ReadWholeFile(file);
    }
    if (sidecars) return;
    for (const auto& file : files) {
      const std::string name = file.filename().string();
      if (name.find(".xplane.pb") == std::string::npos) continue;
      const auto profile = xplane::MustOpen(UnpackedFile(file));
      if (profile == nullptr) continue;
      for (const ModuleEntry& entry : ModulesOf(*profile)) {
        modules->try_emplace(entry.Key(), entry.hlo_proto);
      }
    }
  }

  static void Load(const std::string& session, const std::string& run, Modules* modules) {
    const std::filesystem::path corpus = CorpusDirectory();
    const std::filesystem::path sessions = corpus / "sessions";
    if (session == "derived-hlo") {
      LoadHloFolder(corpus / "hlo", modules);
    } else if (session == "derived-gpu-two-hosts") {
      const auto profile = sessions / "gpu-1080ti-julia" / "plugins" / "profile";
      LoadRun(profile / "2025_02_05_11_05_24", modules);
      LoadRun(profile / "2025_02_05_11_07_48", modules);
    } else if (session == "derived-host-only") {
      LoadRun(sessions / "tpu-v6e-4-inference" / "plugins" / "profile" / "2025_06_01_00_00_00",
              modules);
    } else if (std::filesystem::is_directory(sessions / session / "plugins" / "profile" / run)) {
      LoadRun(sessions / session / "plugins" / "profile" / run, modules);
    }
  }

  // The names under which the reference served the dumps.
  static void LoadHloFolder(const std::filesystem::path& hlo, Modules* modules) {
    const std::vector<std::pair<std::string, std::string>> files = {
        {"maxtext_before(90001)", "module_0016.jit_train_step.before_optimizations.hlo.pb.xz"},
        {"maxtext_after(90002)",
         "module_0016.jit_train_step.sm_9.0_gpu_after_optimizations.hlo.pb.xz"},
        {"pax_before(90003)", "module_0040.pjit__wrapped_step_fn.before_optimizations.hlo.pb.xz"},
        {"pax_after(90004)",
         "module_0040.pjit__wrapped_step_fn.sm_8.0_gpu_after_optimizations.hlo.pb.xz"},
        {"v5e_train_step(90005)", "tpu_aot/v5e/train_step.after_optimizations.hlo.pb.xz"},
        {"v6e_train_step(90006)", "tpu_aot/v6e/train_step.after_optimizations.hlo.pb.xz"},
        {"v6e_train_step_before(90007)", "tpu_aot/v6e/train_step.before_optimizations.hlo.pb.xz"},
        {"v6e_pallas(90008)", "tpu_aot/v6e/pallas.after_optimizations.hlo.pb.xz"},
        {"v6e_softmax(90009)", "tpu_aot/v6e/softmax.after_optimizations.hlo.pb.xz"},
        {"v6e_matmul_gelu(90010)", "tpu_aot/v6e/matmul_gelu.after_optimizations.hlo.pb.xz"},
        {"v6e_all_reduce(90011)", "tpu_aot/v6e/all_reduce.after_optimizations.hlo.pb.xz"}};
    for (const auto& [key, file] : files) (*modules)[key] = UnpackedFile(hlo / file);
  }

  std::map<std::pair<std::string, std::string>, Modules> sessions_;
};

}  // namespace strobe::hlo
