// Builds small HLO modules for tests.
//
//   ModuleForTest made("m");
//   const int64_t entry = made.AddComputation("main");
//   const int64_t p = made.Add(entry, {.name = "p", .opcode = "parameter", .shape = F32({4})});
//   made.Add(entry, {.name = "neg", .opcode = "negate", .shape = F32({4}), .operands = {p}});
//   HloModule module = *HloModule::ReadOwned(made.Serialize(entry), ReadLimits{});
//
// The last instruction added to a computation is its root. Computations are written in the order
// in which they were added, so add callees first.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "src/hlo/shape.h"
#include "src/wire/wire_writer.h"

namespace strobe::hlo {

struct ShapeForTest {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dimensions;
  std::vector<ShapeForTest> elements;  // of a tuple
};
inline ShapeForTest F32(std::vector<int64_t> dimensions) {
  return {ElementType::kF32, std::move(dimensions), {}};
}

struct InstructionForTest {
  std::string_view name;
  std::string_view opcode;
  ShapeForTest shape;
  std::vector<int64_t> operands = {};
  std::vector<int64_t> calls = {};
  int64_t number = 0;  // of a parameter
  std::string_view fusion_kind = {};
  std::string_view target = {};
  std::string_view backend_config = {};
  std::string_view op_name = {};
  std::string_view source_file = {};
  int64_t source_line = 0;
  std::string record = {};  // further fields, encoded
};

class ModuleForTest {
 public:
  explicit ModuleForTest(std::string_view name) : name_(name) {}

  int64_t AddComputation(std::string_view name) {
    computations_.push_back({std::string(name), {}, 0});
    return static_cast<int64_t>(computations_.size());
  }

  int64_t Add(int64_t computation, const InstructionForTest& made) {
    using wire::AppendBytesField;
    const int64_t id = ++last_id_;
    std::string bytes;
    AppendBytesField(1, made.name, &bytes);
    AppendBytesField(2, made.opcode, &bytes);
    AppendBytesField(3, ShapeBytes(made.shape), &bytes);
    std::string metadata;
    if (!made.op_name.empty()) AppendBytesField(2, made.op_name, &metadata);
    if (!made.source_file.empty()) AppendBytesField(3, made.source_file, &metadata);
    if (made.source_line != 0) wire::AppendSignedField(4, made.source_line, &metadata);
    if (!metadata.empty()) AppendBytesField(7, metadata, &bytes);
    wire::AppendSignedField(9, made.number, &bytes);
    if (!made.fusion_kind.empty()) AppendBytesField(11, made.fusion_kind, &bytes);
    if (!made.target.empty()) AppendBytesField(28, made.target, &bytes);
    wire::AppendSignedField(35, id, &bytes);
    for (const int64_t operand : made.operands) wire::AppendSignedField(36, operand, &bytes);
    for (const int64_t call : made.calls) wire::AppendSignedField(38, call, &bytes);
    if (!made.backend_config.empty()) AppendBytesField(43, made.backend_config, &bytes);
    bytes += made.record;
    Computation& into = computations_[static_cast<size_t>(computation - 1)];
    AppendBytesField(2, bytes, &into.instructions);
    into.root = id;
    return id;
  }

  // An HloProto.
  std::string Serialize(int64_t entry) const {
    std::string module;
    wire::AppendBytesField(1, name_, &module);
    wire::AppendBytesField(2, computations_[static_cast<size_t>(entry - 1)].name, &module);
    for (size_t c = 0; c < computations_.size(); ++c) {
      std::string computation;
      wire::AppendBytesField(1, computations_[c].name, &computation);
      computation += computations_[c].instructions;
      wire::AppendSignedField(5, static_cast<int64_t>(c + 1), &computation);
      wire::AppendSignedField(6, computations_[c].root, &computation);
      wire::AppendBytesField(3, computation, &module);
    }
    wire::AppendSignedField(6, entry, &module);
    std::string proto;
    wire::AppendBytesField(1, module, &proto);
    return proto;
  }

 private:
  struct Computation {
    std::string name;
    std::string instructions;
    int64_t root;
  };

  static std::string ShapeBytes(const ShapeForTest& shape) {
    std::string bytes;
    if (!shape.elements.empty()) {
      wire::AppendVarintField(2, static_cast<uint64_t>(ElementType::kTuple), &bytes);
      for (const ShapeForTest& element : shape.elements) {
        wire::AppendBytesField(4, ShapeBytes(element), &bytes);
      }
      return bytes;
    }
    wire::AppendVarintField(2, static_cast<uint64_t>(shape.type), &bytes);
    std::string layout;
    for (size_t d = 0; d < shape.dimensions.size(); ++d) {
      wire::AppendSignedField(3, shape.dimensions[d], &bytes);
      wire::AppendSignedField(1, static_cast<int64_t>(shape.dimensions.size() - 1 - d), &layout);
    }
    wire::AppendBytesField(5, layout, &bytes);
    return bytes;
  }

  std::string name_;
  std::deque<Computation> computations_;
  int64_t last_id_ = 0;
};

}  // namespace strobe::hlo
