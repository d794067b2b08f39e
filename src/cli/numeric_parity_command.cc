#include "src/cli/numeric_parity_command.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "src/cli/agent_command.h"
#include "src/cli/command.h"
#include "src/cli/text.h"
#include "src/storage/atomic_file.h"
#include "src/storage/byte_source.h"
#include "src/tools/npy.h"
#include "src/tools/numeric_parity.h"
#include "src/tools/parity_inputs.h"

namespace strobe::cli {
namespace {

constexpr uint64_t kMaxInputBytes = 1ULL << 30;
constexpr size_t kMaxParityBatches = 10'000;
constexpr size_t kMaxInputs = 64;

using Shapes = std::vector<std::vector<uint64_t>>;

Result<const tools::NumberFormat*> FormatOf(const std::string& name) {
  if (const tools::NumberFormat* format = tools::FindNumberFormat(name)) return format;
  std::string known;
  for (const tools::NumberFormat& format : tools::AllNumberFormats()) {
    known += (known.empty() ? "" : ", ") + std::string(format.name);
  }
  return InvalidArgumentError("DTYPE_UNKNOWN", "There is no number type of this name.")
      .Where(Printable(name, 100))
      .Hint("One of: " + known);
}

// Batches by name: the file itself, or each .npy file of the directory.
Result<std::map<std::string, std::string>> BatchFiles(const std::string& path) {
  std::map<std::string, std::string> files;
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    files["batch"] = path;
    return files;
  }
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != ".npy") continue;
    if (files.size() == kMaxParityBatches) {
      return ResourceExhaustedError("PARITY_TOO_MANY_BATCHES",
                                    "The directory holds more than " +
                                        std::to_string(kMaxParityBatches) + " .npy files.")
          .Where(path);
    }
    files[entry->path().stem().string()] = entry->path().string();
  }
  if (error)
    return ErrnoError("FILE_NOT_READABLE", "list the directory", error.value()).Where(path);
  return files;
}

Result<tools::ParityBatch> CompareFiles(const tools::ParityContract& contract,
                                        const std::string& name, const std::string& reference,
                                        const std::string& candidate) {
  std::vector<std::shared_ptr<const storage::ByteSource>> sources;
  std::vector<tools::NpyTensor> tensors;
  for (const std::string& path : {reference, candidate}) {
    STROBE_ASSIGN_OR_RETURN(std::shared_ptr<const storage::ByteSource> source,
                            storage::OpenMappedFile(path));
    Result<tools::NpyTensor> tensor = tools::ReadNpy(source->bytes(), contract.format);
    if (!tensor.ok()) return tensor.status().Where(path);
    sources.push_back(std::move(source));
    tensors.push_back(*std::move(tensor));
  }
  return tools::CompareTensors(contract, name, tensors[0], tensors[1]);
}

Result<int> Verify(const NumericParityOptions& options) {
  if (options.reference.empty() || options.candidate.empty()) {
    return InvalidArgumentError("USAGE", "Two tensors, or two directories of them, are compared.")
        .Hint(
            "strobe verify_numerical_parity --reference A.npy --candidate B.npy --dtype_str "
            "bfloat16");
  }
  STROBE_ASSIGN_OR_RETURN(const tools::NumberFormat* const format, FormatOf(options.dtype));
  STROBE_ASSIGN_OR_RETURN(const tools::ParityContract contract,
                          tools::ParityContract::Make(*format, options.max_ulp, options.p99_9_ulp));
  STROBE_ASSIGN_OR_RETURN(const auto reference, BatchFiles(options.reference));
  STROBE_ASSIGN_OR_RETURN(const auto candidate, BatchFiles(options.candidate));
  std::vector<tools::ParityBatch> batches;
  for (const auto& [name, path] : reference) {
    const auto other = candidate.find(name);
    if (other == candidate.end()) {
      return NotFoundError("PARITY_NOTHING_TO_COMPARE",
                           "The candidate has no result for the batch " + name + ".")
          .Where(options.candidate)
          .Hint("Both directories hold one .npy file of the same name for each batch.");
    }
    STROBE_ASSIGN_OR_RETURN(tools::ParityBatch batch,
                            CompareFiles(contract, name, path, other->second));
    batches.push_back(std::move(batch));
  }
  if (batches.empty() || batches.size() != candidate.size()) {
    return NotFoundError("PARITY_NOTHING_TO_COMPARE",
                         "The reference has " + std::to_string(batches.size()) +
                             " batches, the candidate " + std::to_string(candidate.size()) + ".")
        .Where(options.reference)
        .Hint("Both directories hold one .npy file of the same name for each batch.");
  }
  const tools::Value report = tools::ParityReport(contract, batches);
  PrintOut(DocumentText(report) + "\n");
  return report.Find("is_numerically_equivalent")->bool_value() ? int{kExitOk} : int{kExitFailed};
}

// "[(128,256),(64,)]": a list of tuples, or one tuple.
Result<Shapes> ParseShapes(const std::string& text) {
  const Status malformed =
      InvalidArgumentError("SHAPES_MALFORMED", "These are no shapes of inputs.")
          .Where(Printable(text, 200))
          .Hint("Such as \"[(128, 256), (256, 64)]\"; at most " + std::to_string(kMaxInputs) + ".");
  Shapes shapes;
  std::optional<std::vector<uint64_t>> shape;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '(' && !shape) {
      shape.emplace();
    } else if (c == ')' && shape) {
      shapes.push_back(*std::move(shape));
      shape.reset();
    } else if (c >= '0' && c <= '9' && shape) {
      uint64_t size = 0;
      const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), size);
      if (error != std::errc()) return malformed;
      shape->push_back(size);
      at = static_cast<size_t>(end - text.data());
      continue;
    } else if (std::string_view("[], ").find(c) == std::string_view::npos) {
      return malformed;
    }
    ++at;
  }
  if (shape || shapes.empty() || shapes.size() > kMaxInputs) return malformed;
  return shapes;
}

Result<tools::ParityTier> TierOf(const std::string& name) {
  if (name == "fast_agent") return tools::ParityTier::kFastAgent;
  if (name == "presubmit") return tools::ParityTier::kPresubmit;
  if (name == "deep_fuzzing") return tools::ParityTier::kDeepFuzzing;
  return InvalidArgumentError("TIER_UNKNOWN", "There is no tier of this name.")
      .Where(Printable(name, 100))
      .Hint("One of: fast_agent, presubmit, deep_fuzzing");
}

Result<std::vector<uint64_t>> CountsOf(const Shapes& shapes, uint64_t element_bytes,
                                       size_t batches) {
  std::vector<uint64_t> counts;
  uint64_t left = kMaxInputBytes / element_bytes / batches;
  for (const std::vector<uint64_t>& shape : shapes) {
    uint64_t count = 1;
    for (const uint64_t size : shape) {
      if (size != 0 && count > left / size) {
        return ResourceExhaustedError("PARITY_INPUTS_TOO_LARGE",
                                      "Inputs of these shapes take more than " +
                                          FormatBytes(kMaxInputBytes) + " in all batches.")
            .Hint("Smaller shapes show the same differences; or take --tier fast_agent.");
      }
      count *= size;
    }
    left -= count;
    counts.push_back(count);
  }
  return counts;
}

Result<int> MakeInputs(const NumericParityOptions& options) {
  if (options.output_directory.empty() || options.shapes.empty()) {
    return InvalidArgumentError("USAGE", "Shapes and a directory to write to are needed.")
        .Hint("strobe make_parity_inputs --shapes \"[(128,256)]\" --output_dir inputs");
  }
  STROBE_ASSIGN_OR_RETURN(const tools::NumberFormat* const format, FormatOf(options.dtype));
  STROBE_ASSIGN_OR_RETURN(const tools::ParityTier tier, TierOf(options.tier));
  STROBE_ASSIGN_OR_RETURN(const Shapes shapes, ParseShapes(options.shapes));
  const std::vector<tools::ParityInput> inputs = tools::PlanParityInputs(*format, tier);
  STROBE_ASSIGN_OR_RETURN(const std::vector<uint64_t> counts,
                          CountsOf(shapes, format->size_bytes, inputs.size()));
  tools::Value names = tools::Value::List();
  for (const tools::ParityInput& input : inputs) {
    const std::filesystem::path folder =
        std::filesystem::path(options.output_directory) / input.name;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) {
      return ErrnoError("FILE_NOT_WRITABLE", "make the directory", error.value())
          .Where(folder.string());
    }
    for (size_t i = 0; i < shapes.size(); ++i) {
      const std::vector<uint64_t> values =
          tools::MakeParityValues(*format, input, counts[i], options.seed + i);
      STROBE_RETURN_IF_ERROR(storage::WriteFileAtomically(
          (folder / ("input_" + std::to_string(i) + ".npy")).string(),
          tools::NpyFile(*format, shapes[i], values), {.replace = true, .durable = false}));
    }
    names.Add(tools::Value::String(input.name));
  }
  tools::Value document = tools::Value::Object();
  document.Set("status", tools::Value::String("SUCCESS"));
  document.Set("path", tools::Value::String(options.output_directory));
  document.Set("dtype", tools::Value::String(format->name));
  document.Set("seed", tools::Value::Uint64(options.seed));
  document.Set("batches", std::move(names));
  PrintOut(DocumentText(document) + "\n");
  return int{kExitOk};
}

}  // namespace

Result<int> RunVerifyNumericalParity(const NumericParityOptions& options) {
  const Result<int> done = Verify(options);
  return done.ok() ? *done : ReportAgentFailure(done.status());
}

Result<int> RunMakeParityInputs(const NumericParityOptions& options) {
  const Result<int> done = MakeInputs(options);
  return done.ok() ? *done : ReportAgentFailure(done.status());
}

}  // namespace strobe::cli
