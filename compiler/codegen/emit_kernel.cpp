// SPDX-License-Identifier: MIT
#include "compiler/codegen/emit_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/layout_text.h"
#include "compiler/codegen/mangle.h"
#include "compiler/ir/derived_names.h"
#include "compiler/ir/op_traits.h"
#include "compiler/ir/queries.h"
#include "compiler/passes/known_ranges.h"
#include "compiler/support/internal_error.h"
#include "compiler/target/target.h"

namespace tkc::codegen {
int64_t PlaceInUnion(const ir::Kernel& kernel, const ir::Buffer& buffer) {
  int64_t start = 0, end = 0;
  for (const ir::Buffer& each : kernel.buffers) {  // by their places
    if (each.offset >= end) start = each.offset;
    end = std::max(end, each.End());
    if (&each == &buffer) break;
  }
  return buffer.shares_room ? buffer.offset - start : 0;
}

namespace {

std::string SharedTile(const ir::Buffer& buffer) {
  if (buffer.is_scratch) return fmt::format("tk::reduce_scratch<{}, {}>", CppType(buffer.dtype), buffer.cols);
  if (buffer.is_fragments) return fmt::format("tk::fragment_buffer<{}, {}>", buffer.rows, buffer.cols);
  const std::string swizzle = buffer.swizzle == ir::Swizzle::kNone ? ""
                              : buffer.swizzle == ir::Swizzle::kT128
                                  ? ", tk::swizzle::t128"
                                  : fmt::format(", tk::swizzle::b{}", layout::Name(buffer.swizzle));
  return fmt::format("tk::shared_tile<{}, {}, {}{}>", CppType(buffer.dtype), buffer.rows, buffer.cols, swizzle);
}

std::string Dimension(int64_t count) { return count > 1 ? fmt::format("[{}]", count) : ""; }

/// Those that lie over each other make one union.
void EmitBuffers(const ir::Kernel& kernel, CodeWriter& out) {
  int64_t end = 0;  // of the union
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    const ir::Buffer& buffer = kernel.buffers[i];
    const std::string type = SharedTile(buffer), dimensions = Dimension(buffer.instances) + Dimension(buffer.count);
    if (buffer.shares_room && buffer.offset >= end) {
      out.Open("union");
      out.Comment("Each holds something only while none does that lies over it.");
    }
    if (const int64_t place = PlaceInUnion(kernel, buffer); place > 0)
      out.Line(fmt::format("tk::behind<{}, {}{}> {};", place, type, dimensions, Mangle(buffer.name)));
    else
      out.Line(fmt::format("{} {}{};", type, Mangle(buffer.name), dimensions));
    end = std::max(end, buffer.End());
    const bool is_last = i + 1 == kernel.buffers.size() || kernel.buffers[i + 1].offset >= end;
    if (buffer.shares_room && is_last) out.Close("};");
  }
}

/// `tk::barrier ab_full[4];   // 1 arrival: the slot is filled`, the comments below each other.
void EmitSharedStruct(const ir::Kernel& kernel, CodeWriter& out) {
  out.Open("struct " + SharedStruct(kernel));
  EmitBuffers(kernel, out);
  std::vector<std::string> declarations;
  size_t width = 0;
  for (const ir::Barrier& barrier : kernel.barriers) {
    declarations.push_back(
        fmt::format("tk::barrier {}{}{};", Mangle(barrier.name), Dimension(barrier.instances), Dimension(barrier.count)));
    width = std::max(width, declarations.back().size());
  }
  for (size_t i = 0; i < declarations.size(); ++i) {
    const ir::Barrier& barrier = kernel.barriers[i];
    out.Line(fmt::format("{:{}}  // {} arrival{}{}{}", declarations[i], width, barrier.arrivals, barrier.arrivals == 1 ? "" : "s",
                         barrier.purpose.empty() ? "" : ": ", EscapeComment(barrier.purpose)));
  }
  out.Close("};");
  out.Blank();
}

bool MentionsLayout(const ir::Region& region) {
  for (const ir::Op& op : region) {
    switch (op.code) {
      case ir::OpCode::kGather:
        if (ir::GathersRows(op)) return true;
        break;
      case ir::OpCode::kRead:
      case ir::OpCode::kReadParts:
      case ir::OpCode::kFill:
      case ir::OpCode::kPositions:
      case ir::OpCode::kReshape:
      case ir::OpCode::kLoadLeft:
      case ir::OpCode::kLoadRight:
      case ir::OpCode::kLoadShared: return true;
      case ir::OpCode::kVar:
        if (op.operands.empty()) return true;
        break;
      default: break;
    }
    for (const ir::Region& inner : op.regions) {
      if (MentionsLayout(inner)) return true;
    }
  }
  return false;
}

/// Warpgroups first .. first + count - 1 and what they do.
struct Group {
  int first = 0, count = 1;
  std::vector<const ir::Worker*> roles;  // one that computes, or those that copy
};

std::vector<Group> GroupRoles(const ir::Kernel& kernel) {
  std::vector<Group> groups;
  std::vector<const ir::Worker*> roles;
  for (const ir::Worker& role : kernel.workers) roles.push_back(&role);
  std::sort(roles.begin(), roles.end(), [](const ir::Worker* a, const ir::Worker* b) { return a->first_warp < b->first_warp; });
  for (const ir::Worker* role : roles) {
    const int first = role->first_warp / ir::kWarpsOfInstance;
    const bool computes = role->Computes();
    if (!computes && !groups.empty() && groups.back().first == first)
      groups.back().roles.push_back(role);
    else
      groups.push_back({first, computes ? static_cast<int>(role->instances) : 1, {role}});
  }
  return groups;
}

class KernelEmitter {
 public:
  KernelEmitter(const ir::Kernel& kernel, const SourceStatements& statements, const EmitOptions& options,
                std::string_view condition, CodeWriter& out)
      : kernel_(kernel),
        target_(TargetOf(kernel)),
        options_(options),
        condition_(condition),
        out_(out),
        uses_(kernel),
        quoter_(statements, out, options.line_directives) {}

  void Run() {
    if (HasSharedMemory(kernel_)) EmitSharedStruct(kernel_, out_);
    Head();
    if (!condition_.empty()) out_.Raw(fmt::format("#if {}", condition_));
    Body();
    if (!condition_.empty()) out_.Raw("#endif");
    out_.Close();
  }

 private:
  void Body() {
    if (HasSharedMemory(kernel_)) {
      out_.Line(fmt::format("auto& shared = tk::block::shared<{}>();", SharedStruct(kernel_)));
      Frame(kernel_.setup);
      if (!kernel_.setup.empty()) out_.Blank();
    }
    if (target_.named_barriers > 0 && kernel_.threads == ir::kWarpsOfInstance * target_.lanes)
      out_.Line("tk::block::is_one_warpgroup();  // the warpgroup's number is known at compile time");
    const std::vector<Group> groups = GroupRoles(kernel_);
    for (size_t i = 0; i < groups.size(); ++i) Branch(groups, i);
    if (groups.size() > 1) out_.Close();
    if (!kernel_.ending.empty()) out_.Blank();
    Frame(kernel_.ending);
  }

  void Head() {
    const std::string resident = kernel_.resident > 1 ? fmt::format(", {}", kernel_.resident) : "";
    const std::string kind = kernel_.cluster > 1
                                 ? fmt::format("TK_CLUSTER_KERNEL({}, {}{})", kernel_.threads, kernel_.cluster, resident)
                             : kernel_.resident > 1 ? fmt::format("TK_KERNEL({}, {})", kernel_.threads, kernel_.resident)
                                                    : fmt::format("TK_KERNEL({})", kernel_.threads);
    std::string params;
    for (const KernelParam& param : KernelParams(kernel_, uses_)) {
      params += fmt::format("{}{} {}", params.empty() ? "" : ", ", param.type, param.CppName());
    }
    out_.Line(kind);
    out_.Open(fmt::format("{}({})", KernelFunction(kernel_), params));
  }

  void Branch(const std::vector<Group>& groups, size_t i) {
    const Group& group = groups[i];
    if (groups.size() > 1) {
      const bool is_last = i + 1 == groups.size();
      const std::string test = group.count == 1 && group.first == 0 ? "== 0" : fmt::format("< {}", group.first + group.count);
      const std::string head = is_last ? "else" : fmt::format("{}if (tk::warpgroup::index() {})", i == 0 ? "" : "else ", test);
      if (i == 0)
        out_.Open(head);
      else
        out_.Turn(head);
    }
    Registers(*group.roles.front());
    for (const ir::Worker* role : group.roles) Role(*role);
  }

  /// setmaxnreg: all four warps of the warpgroup pass here together.
  void Registers(const ir::Worker& role) {
    if (role.registers == 0) return;
    const int at_entry = target_.registers.AtEntry(kernel_.threads);
    if (role.registers == at_entry) return;
    out_.Line(
        fmt::format("tk::warpgroup::{}_registers<{}>();", role.registers < at_entry ? "decrease" : "increase", role.registers));
  }

  ScalarPrinter Scalars() const {
    ScalarPrinter scalars(ScalarPrinter::Place::kKernel);
    for (const std::string& dim : kernel_.dims) {
      scalars.AddNonNegative(dim);
      scalars.AddExtent(dim);
    }
    scalars.AddRanges(Ranges());
    for (const auto& [name, value] : kernel_.launch_lets) {
      if (value->dtype == DType::kI64) scalars.AddPositive(name);  // where a block runs, there are tiles
    }
    for (const std::string& name : uses_.divisors) scalars.AddDivisor(name);
    for (const ir::ScalarParam& param : kernel_.scalars) {
      if (IsWideScalar(param.dtype)) scalars.AddWide(param.name);
      if (param.dtype == DType::kI32) scalars.AddExtent(param.name);
    }
    return scalars;
  }

  /// Of the names that are the same in all roles.
  passes::KnownRanges Ranges() const {
    passes::KnownRanges known = passes::KnownAtLaunch(kernel_);
    for (const std::string& dim : kernel_.dims) known.Learn(dim, {0, typed::kLargestExtent});
    for (const ir::ScalarParam& param : kernel_.scalars) {
      if (param.dtype == DType::kI32) known.Learn(param.name, {INT32_MIN, INT32_MAX});
      if (param.dtype == DType::kU32) known.Learn(param.name, {0, UINT32_MAX});
    }
    known.Learn("cluster::rank", {0, std::max({kernel_.cluster, kernel_.split, kernel_.Spread()}) - 1});
    for (const ir::GridAxis& axis : kernel_.axes) {
      // The last blocks of a cluster may stand behind the end.
      const int64_t end = std::min<int64_t>(known.Of(axis.hi).hi, typed::kLargestExtent);
      known.Learn(axis.name, {INT32_MIN, std::min<int64_t>(end + axis.step * (kernel_.cluster - 1), INT32_MAX)});
    }
    return known;
  }

  void Frame(const ir::Region& region) {
    ScalarPrinter scalars = Scalars();
    OpEmitter(kernel_, uses_, out_, quoter_, scalars).Frame(region);
  }

  void Role(const ir::Worker& role) {
    ScalarPrinter scalars = Scalars();
    const bool computes = role.Computes();
    if (!computes) {
      const bool is_thread = role.IsOneThread();
      out_.Open(fmt::format("if (tk::warp::index() == {}{})", role.first_warp, is_thread ? " && tk::warp::elect()" : ""));
    }
    quoter_.Forget();
    quoter_.At(role.span);
    if (!role.instance_of.empty()) out_.Comment(fmt::format("Instance {}: each has a program of its own.", role.number));
    if (role.turned)
      out_.Comment(
          "Its tiles are held transposed, and x @ y is y.T @ x.T: the matrix unit takes 64 rows at a time, any multiple of 8 "
          "columns.");
    for (const auto& [columns, held] : role.widened)
      out_.Comment(fmt::format(
          "Tiles of {} columns are held {} wide, which threads share evenly: what is too much is neither stored nor reduced.",
          columns, held));
    if (computes && MentionsLayout(role.body)) out_.Line(LayoutLine("layout", role.layout));
    if (computes && UsesInstance(kernel_, role)) {
      const std::string name = InstanceName(kernel_, role);
      const int first = role.first_warp / ir::kWarpsOfInstance;
      const std::string value = role.instances == 1 ? "0"
                                : first == 0        ? "tk::warpgroup::index()"
                                                    : fmt::format("tk::warpgroup::index() - {}", first);
      out_.Line(fmt::format("const int {} = {};", Mangle(name), value));
      scalars.AddNonNegative(name);
    }
    OpEmitter(kernel_, uses_, out_, quoter_, scalars).Role(role);
    quoter_.Leave(options_.source_name);
    out_.From(kernel_.span);
    if (!computes) out_.Close();
  }

  const ir::Kernel& kernel_;
  const Target& target_;
  const EmitOptions& options_;
  const std::string condition_;
  CodeWriter& out_;
  KernelUses uses_;
  SourceQuoter quoter_;
};

}  // namespace

std::string KernelParam::CppName() const { return Mangle(kind == Kind::kUsable ? ir::UsableFlag(name) : name); }

std::vector<KernelParam> KernelParams(const ir::Kernel& kernel, const KernelUses& uses) {
  using Kind = KernelParam::Kind;
  std::vector<KernelParam> params;
  for (const ir::TensorMap& map : kernel.maps) params.push_back({Kind::kMap, map.name, "TK_TENSOR_MAP"});
  for (const ir::TensorParam& tensor : kernel.tensors) {
    if (!uses.tensors.contains(tensor.name)) continue;
    params.push_back(
        {Kind::kTensor, tensor.name, fmt::format("const tk::tensor<{}, {}>", CppType(tensor.dtype), tensor.extents.size())});
  }
  const auto add_scalar = [&](const std::string& name, DType dtype, std::string_view integer) {
    if (uses.names.contains(name))
      params.push_back({Kind::kScalar, name, fmt::format("const {}", IsWideScalar(dtype) ? integer : CppType(dtype))});
  };
  for (const std::string& dim : kernel.dims) add_scalar(dim, DType::kI64, "int");
  for (const ir::ScalarParam& scalar : kernel.scalars) add_scalar(scalar.name, scalar.dtype, "tk::index");
  for (const auto& [name, value] : kernel.launch_lets) {
    if (uses.divisors.contains(name))
      params.push_back({Kind::kDivisor, name, "const tk::divisor"});
    else
      add_scalar(name, value->dtype, "int");
  }
  for (const ir::TensorMap& map : kernel.maps) {
    if (uses.names.contains(ir::UsableFlag(map.name))) params.push_back({Kind::kUsable, map.name, "const bool"});
  }
  return params;
}

std::string KernelFunction(const ir::Kernel& kernel) {
  return MangleEntry(kernel.name) + (kernel.name == kernel.entry ? "_kernel" : "");
}

void EmitKernel(const ir::Kernel& kernel, const SourceStatements& statements, const EmitOptions& options,
                std::string_view condition, CodeWriter& out) {
  Ensure(kernel.is_schedule, "only kernels at schedule level can be printed", kernel.span);
  out.From(kernel.span);
  for (const std::string& line : DescribeKernel(kernel, statements)) out.Comment(line);
  KernelEmitter(kernel, statements, options, condition, out).Run();
}

}  // namespace tkc::codegen
