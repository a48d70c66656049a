// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "compiler/codegen/emit_checks.h"
#include "compiler/codegen/emit_choice.h"
#include "compiler/codegen/emit_cost.h"
#include "compiler/codegen/emit_kernel.h"
#include "compiler/codegen/emit_op.h"
#include "compiler/codegen/emit_workspace.h"
#include "compiler/codegen/mangle.h"
#include "compiler/codegen/quotients.h"
#include "compiler/ir/derived_names.h"
#include "compiler/ir/queries.h"
#include "compiler/target/target.h"

namespace tkc::codegen {
namespace {

symbolic::Scalar PresetOf(const ir::TensorParam& tensor) {
  return IsFloat(tensor.dtype) ? symbolic::Float(tensor.preset, tensor.dtype) : symbolic::Int(tensor.integer_preset);
}

/// Prints the struct of one entry.
class CallEmitter {
 public:
  CallEmitter(const ir::Module& module, const ir::Entry& entry, const SourceManager& sources, CodeWriter& out)
      : module_(module),
        entry_(entry),
        sources_(sources),
        first_(FirstKernel(module, entry)),
        params_(EntryParams(first_)),
        out_(out) {
    for (const std::string& dim : first_.dims) {
      host_.AddNonNegative(dim);
      host_.AddBits(dim, kIntBits);
    }
    for (const char* count : {"sms", "room"}) {
      host_.AddPositive(count);
      host_.AddBits(count, kIntBits);
    }
    for (const ir::ScalarParam& scalar : first_.scalars) {
      if (scalar.dtype == DType::kI32) host_.AddBits(scalar.name, kIntBits);
    }
    for (const std::vector<int>& alternative : entry.alternatives) {
      for (int k : alternative) kernels_.push_back(&module.kernels[static_cast<size_t>(k)]);
    }
  }

  void Run() {
    const CostFunctions costs(module_, entry_);
    costs.Emit(host_, sources_, out_);
    out_.Comment(fmt::format("One call of {}: arguments, checks, and a function for each schedule.", Mangle(entry_.name)));
    out_.Open(fmt::format("struct {}_call", Mangle(entry_.name)));
    out_.Line("tk::host::launcher call;");
    Members();
    out_.Blank();
    Check();
    if (Chooses(module_, entry_)) EmitChoice(module_, entry_, costs, host_, out_);
    for (const std::vector<int>& alternative : entry_.alternatives) Alternative(alternative);
    const Workspace workspace(module_, entry_, host_);
    workspace.EmitSize(out_);
    out_.Blank();
    WorkspaceNeeded(workspace);
    out_.Blank();
    Launch(workspace);
    out_.Close("};");
    out_.Blank();
  }

 private:
  const ir::Kernel& First(const std::vector<int>& alternative) const { return FirstKernel(module_, alternative); }
  /// The name of the function that runs a schedule.
  std::string Method(const std::vector<int>& alternative) const {
    const ir::Kernel& kernel = First(alternative);
    if (alternative.size() == 1) return "launch_" + kernel.name;
    return "launch_" + kernel.entry + (kernel.schedule.empty() ? "" : "_" + kernel.schedule);
  }

  void Members() {
    // In the order of the parameters: the struct is initialised from them as they come.
    std::vector<std::string> tensors, dims;
    const auto declare_tensors = [&] {
      if (!tensors.empty()) out_.Line(fmt::format("const tk_tensor {};", Join(tensors)));
      tensors.clear();
    };
    for (const EntryParam& param : params_) {
      if (param.is_tensor) {
        tensors.push_back("*" + Mangle(param.name));
        continue;
      }
      declare_tensors();
      // Integers have no width: what is computed of them is computed in 64 bits.
      out_.Line(fmt::format("{} {};", IsInteger(param.dtype) ? "tk::index" : ScalarCType(param.dtype), Mangle(param.name)));
    }
    declare_tensors();
    for (const std::string& dim : first_.dims) dims.push_back(Mangle(dim) + " = 0");
    if (!dims.empty()) out_.Line(fmt::format("tk::index {};", Join(dims)));
  }

  void Check() {
    out_.Open("void check()");
    EmitChecks(first_, kernels_, host_, out_);
    const ir::Kernel* largest = kernels_.front();
    for (const ir::Kernel* kernel : kernels_) {
      if (kernel->shared_bytes > largest->shared_bytes) largest = kernel;
    }
    const std::string bytes = HasSharedMemory(*largest) ? fmt::format("sizeof({})", SharedStruct(*largest)) : "0";
    out_.Line(fmt::format("call.device({}, {});", TargetOf(module_).Number(), bytes));
    out_.Close();
    out_.Blank();
  }

  /// Whether there is a schedule for all dimensions.
  bool AlwaysChooses() const { return codegen::AlwaysChooses(module_, entry_); }

  // ---- one schedule --------------------------------------------------------------------------------------------------

  void Alternative(const std::vector<int>& alternative) {
    const ir::Kernel& first = First(alternative);
    if (alternative.size() > 1) {
      for (int k : alternative) Grid(module_.kernels[static_cast<size_t>(k)]);
    }
    out_.Open(fmt::format("void {}()", Method(alternative)));
    EmitOwnRequires(first, kernels_, host_, out_);
    for (const ir::TensorParam& tensor : first.tensors) {
      const std::string name = Mangle(tensor.name);
      if (tensor.is_work)
        out_.Line(
            fmt::format("const tk_tensor {}_work = call.work({}), *{} = &{}_work;", name, WorkShape(tensor, host_), name, name));
    }
    if (alternative.size() > 1) {  // nothing is launched if one of them can't be
      for (int k : alternative) out_.Line(fmt::format("call.tiles({});", AllTiles(module_.kernels[static_cast<size_t>(k)])));
    }
    if (alternative.size() == 1) {
      Kernel(first, [&] { Presets(first); });
    } else {
      Presets(first);
      for (int k : alternative) {
        const ir::Kernel& kernel = module_.kernels[static_cast<size_t>(k)];
        out_.Line(fmt::format("launch_{}({});", kernel.name, Join(WorkTensors(kernel, ""))));
        for (const ir::TensorParam& tensor : kernel.tensors) {
          if (tensor.mode == typed::TensorMode::kInOut && StoresTo(kernel, tensor.name) &&
              IsCopiedAgain(alternative, k, tensor.name))
            out_.Line(fmt::format("call.changed({});  // copies of it are made anew", Mangle(tensor.name)));
        }
      }
    }
    out_.Close();
    out_.Blank();
  }

  /// Behind all checks: they are launches, too.
  void Presets(const ir::Kernel& kernel) {
    for (const ir::TensorParam& tensor : kernel.tensors) {
      if (!tensor.has_preset) continue;
      out_.Line(fmt::format("call.preset<{}>({}, {});", CppType(tensor.dtype), Mangle(tensor.name), host_.Text(PresetOf(tensor))));
    }
  }

  /// How many blocks a launch could have, in terms of the arguments.
  std::string AllTiles(const ir::Kernel& kernel) const {
    ScalarPrinter host = WithAllBits();
    ir::Scalar tiles = kernel.tiles;
    for (auto let = kernel.launch_lets.rbegin(); let != kernel.launch_lets.rend(); ++let) {
      tiles = symbolic::Substitute(tiles, let->first, let->second);
    }
    return host.Text(tiles) + (kernel.cluster > 1 ? fmt::format(", {}", kernel.cluster) : "");
  }

  /// For numbers of tiles: what is computed of scalars does not wrap around, either.
  ScalarPrinter WithAllBits() const {
    ScalarPrinter host = host_;
    for (const ir::ScalarParam& scalar : first_.scalars) {
      if (IsWideScalar(scalar.dtype)) host.AddBits(scalar.name, scalar.dtype == DType::kU32 ? 32 : 63);
    }
    return host;
  }

  static bool StoresTo(const ir::Kernel& kernel, const std::string& tensor) {
    bool found = std::any_of(kernel.maps.begin(), kernel.maps.end(),
                             [&](const ir::TensorMap& map) { return map.is_store && map.tensor == tensor; });
    for (const ir::Worker& worker : kernel.workers) {
      ir::ForEachOp(worker.body, [&](const ir::Op& op) {
        found |= (op.code == ir::OpCode::kStore || op.code == ir::OpCode::kStoreParts) && op.symbol == tensor;
      });
    }
    return found;
  }

  /// Whether a kernel up to `last` may read a copy of the tensor, and one behind it may, too.
  bool IsCopiedAgain(const std::vector<int>& alternative, int last, const std::string& tensor) const {
    const auto reads_copy = [&](int k) {
      const ir::Kernel& kernel = module_.kernels[static_cast<size_t>(k)];
      return CopiedInPieces(kernel).contains(tensor) ||
             std::any_of(kernel.maps.begin(), kernel.maps.end(),
                         [&](const ir::TensorMap& map) { return !map.is_store && map.tensor == tensor; });
    };
    const auto behind = std::find(alternative.begin(), alternative.end(), last) + 1;
    return std::any_of(alternative.begin(), behind, reads_copy) && std::any_of(behind, alternative.end(), reads_copy);
  }

  /// One of several launches; an empty grid returns from its own function only.
  void Grid(const ir::Kernel& kernel) {
    out_.Open(fmt::format("void launch_{}({})", kernel.name, Join(WorkTensors(kernel, "const tk_tensor* "))));
    Kernel(kernel, [] {});
    out_.Close();
    out_.Blank();
  }

  /// The scratch tensors that a launch uses.
  static std::vector<std::string> WorkTensors(const ir::Kernel& kernel, std::string_view type) {
    const KernelUses uses(kernel);
    std::vector<std::string> names;
    for (const ir::TensorParam& tensor : kernel.tensors) {
      const bool is_mapped =
          std::any_of(kernel.maps.begin(), kernel.maps.end(), [&](const ir::TensorMap& map) { return map.tensor == tensor.name; });
      if (tensor.is_work && (is_mapped || uses.tensors.contains(tensor.name)))
        names.push_back(std::string(type) + Mangle(tensor.name));
    }
    return names;
  }

  /// `before` prints what happens once it is known that there are not too many tiles, also if there are none.
  void Kernel(const ir::Kernel& kernel, const std::function<void()>& before) {
    const KernelUses uses(kernel);
    ScalarPrinter host = WithAllBits();
    Lets(kernel, uses, host, true);
    const std::string tiles = host.Text(kernel.tiles);
    out_.Line(fmt::format("call.tiles({}{});", tiles, kernel.cluster > 1 ? fmt::format(", {}", kernel.cluster) : ""));
    before();
    out_.Line(fmt::format("if (call.failed() || {} == 0) return;", host.Expr(kernel.tiles).Within(CppExpr::kAdd)));
    for (const ir::TensorMap& map : kernel.maps) Map(map, uses);
    std::vector<std::string> arguments;
    const BoxesOfTensors pieces = CopiedInPieces(kernel);
    for (const KernelParam& param : KernelParams(kernel, uses)) arguments.push_back(KernelArgument(kernel, param, pieces));
    std::string blocks = fmt::format("int({})", tiles);
    if (kernel.cluster > 1) blocks += fmt::format(" * {}", kernel.cluster);
    const std::string cluster = kernel.cluster > 1 ? fmt::format(", {}", kernel.cluster) : "";
    const std::string shared = HasSharedMemory(kernel) ? fmt::format("sizeof({})", SharedStruct(kernel)) : "0";
    if (kernel.persistent) blocks = Walkers(kernel, tiles, shared);
    out_.Line(fmt::format("call.launch<{}{}>({}, {}, {}{}{});", KernelFunction(kernel), cluster, blocks, kernel.threads, shared,
                          arguments.empty() ? "" : ", ", Join(arguments)));
  }

  /// As many blocks as the device holds at once. How many clusters of more than two it holds it is asked.
  static std::string Walkers(const ir::Kernel& kernel, const std::string& tiles, const std::string& shared) {
    const std::string resident = kernel.resident > 1 ? fmt::format(", {}", kernel.resident) : "";
    if (kernel.cluster > 2)
      return fmt::format("call.walkers<{}, {}>({}, {}, {}{})", KernelFunction(kernel), kernel.cluster, tiles, kernel.threads,
                         shared, resident);
    const std::string cluster = kernel.cluster > 1 || kernel.resident > 1 ? fmt::format(", {}", kernel.cluster) : "";
    return fmt::format("call.walkers({}{}{})", tiles, cluster, resident);
  }

  /// The launch scalars that the kernel, the number of tiles or another of them needs.
  void Lets(const ir::Kernel& kernel, const KernelUses& uses, ScalarPrinter& host, bool for_launch) {
    std::set<std::string> needed;
    const auto is_needed = [&](const std::string& name) {
      return needed.contains(name) || symbolic::Mentions(kernel.tiles, name) || (for_launch && uses.names.contains(name));
    };
    for (auto let = kernel.launch_lets.rbegin(); let != kernel.launch_lets.rend(); ++let) {
      if (!is_needed(let->first)) continue;
      needed.insert(let->first);
      for (const auto& [name, value] : kernel.launch_lets) {
        if (symbolic::Mentions(let->second, name)) needed.insert(name);
      }
    }
    for (const auto& [name, value] : kernel.launch_lets) {
      if (needed.contains(name)) EmitConstant(name, value, host, out_);
    }
  }

  void Map(const ir::TensorMap& map, const KernelUses& uses) {
    std::vector<std::string> box;
    for (int64_t extent : map.box) box.push_back(fmt::format("{}", extent));
    const std::string swizzle = map.swizzle == ir::Swizzle::kNone ? "none" : fmt::format("b{}", layout::Name(map.swizzle));
    out_.Line(fmt::format("const tk::tensor_map {} = call.{}_map({}, tk::swizzle::{}, {{{}}});", Mangle(map.name),
                          map.is_store ? "store" : "load", Mangle(map.tensor), swizzle, Join(box)));
    if (!uses.names.contains(ir::UsableFlag(map.name))) return;
    out_.Line(fmt::format("const bool {} = call.can_store({});", Mangle(ir::UsableFlag(map.name)), Mangle(map.tensor)));
  }

  std::string KernelArgument(const ir::Kernel& kernel, const KernelParam& param, const BoxesOfTensors& pieces) const {
    const std::string name = param.CppName();
    switch (param.kind) {
      case KernelParam::Kind::kTensor: {
        const ir::TensorParam& tensor = ir::FindTensor(kernel, param.name);
        return fmt::format("tk::host::as_tensor<{}, {}>({})", CppType(tensor.dtype), tensor.extents.size(),
                           pieces.contains(param.name)
                               ? fmt::format("call.pieces({}{})", name, ReachOfPieces(kernel, pieces.at(param.name)))
                               : "*" + name);
      }
      case KernelParam::Kind::kDivisor: return fmt::format("tk::divisor(int({}))", name);
      case KernelParam::Kind::kScalar: return param.type == "const int" ? fmt::format("int({})", name) : name;
      default: return name;
    }
  }

  // ---- workspace and the choice --------------------------------------------------------------------------------------

  /// What the entry's second function says.
  void WorkspaceNeeded(const Workspace& workspace) {
    out_.Open("size_t workspace_needed()");
    out_.Line("check();");
    const std::string size =
        fmt::format("call.failed() ? 0 : workspace_size({})", workspace.depends_on_schedule() ? "choose()" : "");
    if (workspace.checks()) {
      out_.Line(fmt::format("const size_t bytes = {};", size));
      out_.Line("return call.failed() ? 0 : bytes;");
    } else {
      out_.Line(fmt::format("return {};", size));
    }
    out_.Close();
  }

  void Launch(const Workspace& workspace) {
    out_.Open("tk_status launch(void* workspace, size_t workspace_bytes)");
    const bool chooses = Chooses(module_, entry_);
    out_.Line("check();");
    out_.Line("if (call.failed()) return call.status();");
    if (chooses) out_.Line("const int schedule = choose();");
    out_.Line(fmt::format("call.workspace(workspace, workspace_bytes, workspace_size({}));",
                          workspace.depends_on_schedule() ? "schedule" : ""));
    for (const ir::TensorParam& tensor : first_.tensors) {
      if (workspace.is_none() || tensor.is_work) continue;
      out_.Line(fmt::format("call.beside_workspace({}, {});", StringLiteral(tensor.name), Mangle(tensor.name)));
    }
    out_.Line("if (call.failed()) return call.status();");
    if (!chooses) {
      out_.Line(fmt::format("{}();", Method(entry_.alternatives[0])));
    } else {
      out_.Open("switch (schedule)");
      for (size_t i = 0; i < entry_.alternatives.size(); ++i) {
        out_.Line(fmt::format("case {}: {}(); break;", i, Method(entry_.alternatives[i])));
      }
      if (!AlwaysChooses()) out_.Line("default: call.require(false, \"a schedule for these dimensions\");");
      out_.Close();
    }
    out_.Line("return call.status();");
    out_.Close();
  }

  const ir::Module& module_;
  const ir::Entry& entry_;
  const SourceManager& sources_;
  const ir::Kernel& first_;
  std::vector<EntryParam> params_;
  CodeWriter& out_;
  ScalarPrinter host_{ScalarPrinter::Place::kHost};
  std::vector<const ir::Kernel*> kernels_;
};

}  // namespace

void EmitCall(const ir::Module& module, const ir::Entry& entry, const SourceManager& sources, CodeWriter& out) {
  CallEmitter(module, entry, sources, out).Run();
}

}  // namespace tkc::codegen
