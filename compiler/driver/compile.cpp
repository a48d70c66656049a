// SPDX-License-Identifier: MIT
// THE list of what tkc does to a file, top to bottom: parse, check, lower, the passes, the proof, print. Each step takes a
// structure and returns one, or changes the one that it is given; what it reported is printed when it fails, and nothing after it
// runs.
#include "compiler/driver/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/emit.h"
#include "compiler/driver/host_compiler.h"
#include "compiler/driver/load.h"
#include "compiler/driver/lower_kernels.h"
#include "compiler/driver/outputs.h"
#include "compiler/driver/pass_runner.h"
#include "compiler/driver/session.h"
#include "compiler/driver/suggest_values.h"
#include "compiler/ir/from_ast.h"
#include "compiler/ir/parse.h"
#include "compiler/ir/print.h"
#include "compiler/passes/advance_copies.h"
#include "compiler/passes/advance_reads.h"
#include "compiler/passes/alternate.h"
#include "compiler/passes/apply_conditions.h"
#include "compiler/passes/assign_roles.h"
#include "compiler/passes/compute_anew.h"
#include "compiler/passes/compute_parts.h"
#include "compiler/passes/conflicts.h"
#include "compiler/passes/convert_anew.h"
#include "compiler/passes/cut_statements.h"
#include "compiler/passes/cut_stores.h"
#include "compiler/passes/delay_stores.h"
#include "compiler/passes/draw_tiles.h"
#include "compiler/passes/expand_workers.h"
#include "compiler/passes/fold_copies.h"
#include "compiler/passes/fold_reshapes.h"
#include "compiler/passes/gather_receives.h"
#include "compiler/passes/guard_padding.h"
#include "compiler/passes/hoist_invariants.h"
#include "compiler/passes/hoist_reads.h"
#include "compiler/passes/insert_sync.h"
#include "compiler/passes/join_parts.h"
#include "compiler/passes/keep_operands.h"
#include "compiler/passes/load_ahead.h"
#include "compiler/passes/load_rows.h"
#include "compiler/passes/lower_grid.h"
#include "compiler/passes/mark_accesses.h"
#include "compiler/passes/mark_numbers.h"
#include "compiler/passes/multicast.h"
#include "compiler/passes/name_elements.h"
#include "compiler/passes/name_quotients.h"
#include "compiler/passes/narrow_moves.h"
#include "compiler/passes/overlap_products.h"
#include "compiler/passes/plan_registers.h"
#include "compiler/passes/plan_shared.h"
#include "compiler/passes/select_layout.h"
#include "compiler/passes/select_swizzle.h"
#include "compiler/passes/select_transfer.h"
#include "compiler/passes/separate_fields.h"
#include "compiler/passes/separate_pipes.h"
#include "compiler/passes/separate_rings.h"
#include "compiler/passes/share_fragments.h"
#include "compiler/passes/share_reads.h"
#include "compiler/passes/share_room.h"
#include "compiler/passes/sink_reductions.h"
#include "compiler/passes/skip_masks.h"
#include "compiler/passes/split_sums.h"
#include "compiler/passes/spread_instances.h"
#include "compiler/passes/stage_operands.h"
#include "compiler/passes/straighten_loops.h"
#include "compiler/passes/turn_columns.h"
#include "compiler/passes/turn_fields.h"
#include "compiler/passes/turn_operands.h"
#include "compiler/passes/turn_products.h"
#include "compiler/passes/widen_columns.h"
#include "compiler/sema/check.h"
#include "compiler/support/internal_error.h"
#include "compiler/syntax/ast_print.h"

namespace tkc {
namespace {

using passes::Established;

/// Tile level to schedule level, one kernel at a time.
constexpr Pass kPasses[] = {
    {"apply_conditions", passes::ApplyConditions},         // first: what can never run needs no roles, layouts or registers
    {"fold_reshapes", passes::FoldReshapes},               // before any pass changes the tiles of the source
    {"compute_parts", passes::ComputeParts},               // before any pass asks what a worker computes
    {"narrow_moves", passes::NarrowMoves},                 // before values lie in registers or shared memory
    {"turn_fields", passes::TurnFields},                   // before any pass asks who computes and who copies
    {"separate_rings", passes::SeparateRings},             // before all that counts or names pipes
    {"separate_pipes", passes::SeparatePipes},             // likewise; expects pipes of one ring
    {"separate_fields", passes::SeparateFields},           // likewise; expects pipes that separate_pipes has cut
    {"expand_workers", passes::ExpandWorkers},             // all below counts senders and receivers of pipes
    {"turn_products", passes::TurnProducts},               // before values have places; before split_sums, which splits columns
    {"turn_columns", passes::TurnColumns},                 // likewise
    {"separate_late_fields", passes::SeparateLateFields},  // after turn_products: asks which operand is the left one
    {"split_sums", passes::SplitSums},                     // before values have places
    {"spread_instances", passes::SpreadInstances},         // passes below count only the instances of one block
    {"guard_padding", passes::GuardPadding},               // needs to know which blocks take one tile; before stores are cut
    {"assign_roles", passes::AssignRoles, ir::Level::kLowering,
     Established::kRoles},                        // passes below ask which threads execute a worker
    {"widen_columns", passes::WidenColumns},      // before any pass asks how operands lie, or whether tiles fit
    {"turn_operands", passes::TurnOperands},      // before layouts and staging, which see which way operands lie
    {"join_parts", passes::JoinParts},            // before select_layout: a lane takes whole structures
    {"select_layout", passes::SelectLayout},      // before staging: which parts of a register tile stay with their threads
    {"sink_reductions", passes::SinkReductions},  // needs layouts; before stage_operands, which gives reductions their scratch
    {"stage_operands",
     passes::StageOperands,
     {},
     Established::kPlaces},               // where tiles live; before transfers, which move between places
    {"hoist_reads", passes::HoistReads},  // needs to know where reads put tiles; before reads are cut
    {"select_transfer", passes::SelectTransfer, {}, Established::kBuffers},  // makes the buffers that plan_shared places
    {"select_swizzle", passes::SelectSwizzle},                     // before plan_shared: tiles start where their pattern does
    {"multicast", passes::Multicast},                              // before insert_sync: who arrives at a slot depends on it
    {"draw_tiles", passes::DrawTiles},                             // before plan_shared: the pipe of tiles' numbers takes room, too
    {"plan_shared", passes::PlanShared, {}, Established::kSlots},  // fixes slot counts, which barriers and rings repeat
    {"name_elements", passes::NameElements},      // before passes that cut loops into parts, or look for what loops read
    {"share_reads", passes::ShareReads},          // after all passes that add loads; before those that count the tiles in use
    {"share_fragments", passes::ShareFragments},  // likewise
    {"advance_reads", passes::AdvanceReads},      // after passes that add loads and stores; needs sends and receives
    {"cut_stores", passes::CutStores},            // after passes that add loads and stores
    {"convert_anew", passes::ConvertAnew},        // after loads have been moved
    {"compute_anew", passes::ComputeAnew},      // after convert_anew has tried first; makes statements that cut_statements may cut
    {"cut_statements", passes::CutStatements},  // after all passes that add or move statements
    {"overlap_products", passes::OverlapProducts},  // needs the number of slots, and what is kept in registers
    {"plan_registers", passes::PlanRegisters},      // after all passes that save registers
    {"mark_accesses", passes::MarkAccesses},        // needs the grid's axes, which lower_grid replaces
    {"mark_numbers", passes::MarkNumbers},          // likewise; marks the indices of random numbers
    {"delay_stores", passes::DelayStores},          // needs those marks, and sends and receives, which insert_sync replaces
    {"lower_grid", passes::LowerGrid},              // before insert_sync: a slot's life may cross tiles
    {"hoist_invariants", passes::HoistInvariants},  // needs the loop over tiles, and to know how many registers are left
    {"gather_receives", passes::GatherReceives},    // before fold_copies, which fills slots again where they are received
    {"fold_copies", passes::FoldCopies},            // needs complete programs; before passes that place copies and waits
    {"advance_copies", passes::AdvanceCopies},      // needs loops that hold their copies
    {"load_ahead", passes::LoadAhead},              // likewise; before insert_sync, since it moves receives
    {"alternate", passes::Alternate},               // likewise, after load_ahead has changed the loops
    {"keep_operands", passes::KeepOperands},        // after all passes that move values between loops
    {"skip_masks", passes::SkipMasks},              // after passes that do not look into the branches that it makes
    {"load_rows", passes::LoadRows},    // needs the tile's number; before insert_sync, which counts the bytes that arrive
    {"share_room", passes::ShareRoom},  // needs programs in their final order; before insert_sync, which makes threads meet
    {"straighten_loops", passes::StraightenLoops},              // after all passes that look for loops
    {"name_quotients", passes::NameQuotients},                  // after all passes that look into what says where accesses begin
    {"insert_sync", passes::InsertSync, ir::Level::kSchedule},  // last: orders the accesses that all other passes have made
};

Result<typed::Program> CheckParsed(Session& session, const ast::Program& program, const Target& target) {
  CheckOptions options;
  options.target = target.name;
  Result<std::vector<Define>> defines = ParseDefines(session);
  if (!defines) return Failure{};
  options.defines = defines.Take();
  SetCrashPass("check");
  Result<typed::Program> checked = Check(program, options, session.diagnostics);
  if (!checked || session.diagnostics.HasErrors()) return Failure{};
  if (checked->entries.empty()) {
    return session.diagnostics.Error(DiagnosticKind::kNoKernel, kNoSpan, fmt::format("`{}` has no kernel", session.options.input))
        .Help(program.files.front().fns.empty()
                  ? "a kernel begins with `kernel NAME(X: f32[M, N], Y: out f32[M, N]) {`"
                  : "functions are compiled with the kernels that call them: `import` the file from the one that has these");
  }
  return checked;
}

/// IR text instead of .tk: from that level on.
Result<ir::Module> ReadModule(Session& session) {
  Result<uint32_t> file = session.sources.Load(session.options.input, kNoSpan, session.diagnostics);
  if (!file) return Failure{};
  SetCrashPass("read IR");
  const size_t before = session.diagnostics.All().size();
  Result<ir::Module> module = ir::Parse(session.sources.Text(*file), *file, session.diagnostics);
  if (!module && session.options.input.ends_with(".tk"))
    session.diagnostics.Again(before).Help(
        fmt::format("`--from={0}` reads what `--emit={0}` has written; source is compiled without it",
                    session.options.from == From::kTile ? "tile" : "schedule"));
  return module;
}

/// Whether --emit asks for the text of the IR, which is that of one target.
bool IsTextOfModule(Emit emit) { return emit == Emit::kTile || emit == Emit::kSchedule; }

/// The module from tile level as far as --emit asks for; texts are added to `text`. False, and reported, where that fails, in
/// the kernels `failed`, which may be null.
bool LowerModule(Session& session, ir::Module& module, const Target& target, std::string& text,
                 std::vector<const ir::Kernel*>* failed = nullptr) {
  const Options& options = session.options;
  if (options.emit == Emit::kTile) {
    text += ir::Print(module);
    return true;
  }
  if (options.emit == Emit::kSchedule || !options.run_passes.empty()) {
    if (!LowerKernels(kPasses, session, module, target, Until::kSchedule, nullptr, failed)) return false;
    text += ir::Print(module);
    return true;
  }
  std::string* certificate = options.emit == Emit::kCertificate ? &text : nullptr;
  if (!LowerKernels(kPasses, session, module, target, Until::kProved, certificate, failed)) return false;
  if (options.emit == Emit::kCertificate) return true;
  passes::WarnOfConflicts(module, session.diagnostics);
  if (options.emit == Emit::kReport) text += codegen::EmitReport(module, session.sources);
  return true;
}

bool BundleRuntime(Session& session, codegen::Emitted& emitted) {
  const Result<std::string> include = RuntimeInclude(session.diagnostics);
  std::string fault;
  if (!include) return false;
  if (codegen::Bundle(emitted, *include, fault)) return true;
  session.diagnostics.Error(DiagnosticKind::kCannotReadFile, kNoSpan, std::move(fault));
  return false;
}

/// What the modules, one for each target, come to.
int WriteModules(Session& session, const std::vector<ir::Module>& modules, std::string text) {
  const Options& options = session.options;
  const bool is_code = options.emit == Emit::kCode || options.emit == Emit::kSource || options.emit == Emit::kHeader;
  if (!is_code || !options.run_passes.empty()) return session.Write(std::move(text));
  SetCrashPass("print");
  codegen::Emitted emitted = codegen::EmitCuda(modules, session.sources, EmitOptionsOf(options));
  if (options.bundle && !BundleRuntime(session, emitted)) return session.Finish();
  return session.Write(CodeFiles(session, std::move(emitted)));
}

/// IR text, which says nothing about several targets.
int CompileText(Session& session) {
  const Target* target = RequireTarget(session, "IR text");
  if (!target) return session.Finish();
  Result<ir::Module> module = ReadModule(session);
  std::string text;
  if (!module) return session.Finish();
  if (module->kernels.empty())
    session.diagnostics.Error(DiagnosticKind::kNoKernel, kNoSpan, fmt::format("`{}` has no kernel", session.options.input));
  if (session.diagnostics.HasErrors() || !LowerModule(session, *module, *target, text)) return session.Finish();
  std::vector<ir::Module> modules;
  modules.push_back(module.Take());
  return WriteModules(session, modules, std::move(text));
}

/// Whether the passes come to an end for the target with another value of a parameter.
bool FitsWith(const Options& given, const ast::Program& program, const Target& target, const std::string& name, int64_t value) {
  Options options = given;
  std::erase_if(options.defines, [&](const std::string& define) { return define.starts_with(name + "="); });
  options.defines.push_back(fmt::format("{}={}", name, value));
  options.dump_after.clear();
  Session trial(options);
  Result<typed::Program> checked = CheckParsed(trial, program, target);
  if (!checked) return false;
  ir::Module module = ir::FromAst(*checked, std::string(target.name));
  return LowerKernels(kPasses, trial, module, target, Until::kSchedule, nullptr);
}

/// One kernel for each schedule set of the file that is for `target`; false if it can't be.
bool CompileFor(Session& session, const ast::Program& program, const Target& target, std::vector<ir::Module>& modules,
                std::string& text) {
  Result<typed::Program> checked = CheckParsed(session, program, target);
  if (!checked) return false;
  SetCrashPass("from_ast");
  modules.push_back(ir::FromAst(*checked, std::string(target.name)));
  std::vector<const ir::Kernel*> failed;
  if (LowerModule(session, modules.back(), target, text, &failed)) return true;
  const auto fits = [&](const std::string& name, int64_t value) { return FitsWith(session.options, program, target, name, value); };
  if (session.options.run_passes.empty()) SuggestValues(program, failed, fits, session.diagnostics);
  return false;
}

}  // namespace

int Compile(const Options& options) {
  Session session(options);
  CheckPassNames(kPasses, options, session.diagnostics);
  if (session.diagnostics.HasErrors()) return session.Finish();
  if (options.from != From::kSource) return RequireOutput(session) ? CompileText(session) : session.Finish();
  const std::vector<const Target*> targets = RequireTargets(session);
  if (targets.empty() || !RequireOutput(session)) return session.Finish();
  if (IsTextOfModule(options.emit) && !RequireTarget(session, "the text of the IR")) return session.Finish();
  WarnOfOutputName(session, *targets.front());
  SetCrashPass("parse");
  Result<ast::Program> program = LoadProgram(options.input, options.include_dirs, session.sources, session.diagnostics);
  if (!program) return session.Finish();
  if (options.emit == Emit::kAst) return session.Write(ast::Print(program->files[0]));

  std::vector<ir::Module> modules;
  std::string text;
  for (const Target* target : targets) {
    const bool is_first = modules.empty();
    const size_t reported = session.diagnostics.All().size();
    if (targets.size() > 1) text += fmt::format("{}==== {}\n\n", is_first ? "" : "\n", target->name);
    const bool ok = CompileFor(session, *program, *target, modules, text);
    session.diagnostics.EndCompilationFor(target->name, reported);
    if (!ok) return session.Finish();
  }
  return WriteModules(session, modules, std::move(text));
}

Result<std::vector<typed::Program>> CheckFile(Session& session, const std::vector<const Target*>& targets) {
  SetCrashPass("parse");
  Result<ast::Program> program =
      LoadProgram(session.options.input, session.options.include_dirs, session.sources, session.diagnostics);
  if (!program) return Failure{};
  std::vector<typed::Program> checked;
  for (const Target* target : targets) {
    const size_t reported = session.diagnostics.All().size();
    Result<typed::Program> one = CheckParsed(session, *program, *target);
    session.diagnostics.EndCompilationFor(target->name, reported);
    if (!one) return Failure{};
    checked.push_back(one.Take());
  }
  return checked;
}

Result<typed::Program> CheckFile(Session& session, const Target& target) {
  Result<std::vector<typed::Program>> checked = CheckFile(session, std::vector<const Target*>{&target});
  if (!checked) return Failure{};
  return std::move(checked->front());
}

namespace {

/// From the typed tree to a proved schedule.
Result<ir::Module> Lower(Session& session, const typed::Program& program, const Target& target) {
  SetCrashPass("from_ast");
  ir::Module module = ir::FromAst(program, std::string(target.name));
  if (!LowerKernels(kPasses, session, module, target, Until::kProved, nullptr)) return Failure{};
  return module;
}

}  // namespace

Result<std::vector<Generated>> GenerateParts(Session& session, const std::vector<typed::Program>& programs,
                                             const std::vector<const Target*>& targets) {
  std::vector<ir::Module> modules;
  for (size_t i = 0; i < programs.size(); ++i) {
    const size_t reported = session.diagnostics.All().size();
    Result<ir::Module> module = Lower(session, programs[i], *targets[i]);
    session.diagnostics.EndCompilationFor(targets[i]->name, reported);
    if (!module) return Failure{};
    modules.push_back(module.Take());
  }
  SetCrashPass("print");
  const codegen::Emitted emitted = codegen::EmitCuda(modules, session.sources, EmitOptionsOf(session.options));
  std::vector<Generated> parts;
  for (size_t i = 0; i < modules.size(); ++i) parts.push_back({std::move(modules[i]), emitted, targets[i], modules.size() > 1});
  return parts;
}

Result<Generated> Generate(Session& session, const typed::Program& program, const Target& target) {
  Result<ir::Module> module = Lower(session, program, target);
  if (!module) return Failure{};
  SetCrashPass("print");
  codegen::Emitted emitted = codegen::EmitCuda(*module, session.sources, EmitOptionsOf(session.options));
  return Generated{module.Take(), std::move(emitted), &target};
}

}  // namespace tkc
