// SPDX-License-Identifier: MIT
// Operations of the schedule level as C++ statements: one case per operation. Only the spelling is decided here, and the width of
// integers with it.
//
// A value used once, by a later operation of the same .tk statement, is written where it is used; everything else gets a name.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/code_writer.h"
#include "compiler/codegen/quote.h"
#include "compiler/codegen/scalar_cpp.h"
#include "compiler/codegen/scoped_names.h"
#include "compiler/ir/ir.h"
#include "compiler/passes/reshaped_layouts.h"
#include "compiler/target/target.h"

namespace tkc::codegen {

/// Of a text of the IR that names none: the first in the list.
const Target& TargetOf(const ir::Kernel& kernel);

/// Whether the operation only names a scalar that is not among `used`.
bool IsUnusedScalar(const ir::Op& op, const std::set<std::string, std::less<>>& used);

/// Whether the operation only gives a value, and may stand wherever its operands are what they were.
bool IsPure(const ir::Op& op);

/// How often values and scalar names of a kernel are used, and by names: what its parameters are.
struct KernelUses {
  std::vector<int> values;                      // by ValueId
  std::set<std::string, std::less<>> names;     // scalars that some printed operation mentions
  std::set<std::string, std::less<>> divisors;  // of these, what the launcher counts and tiles are divided by
  std::map<const ir::Worker*, std::set<std::string, std::less<>>> names_of;  // of each role
  std::set<std::string, std::less<>> tensors;                                // tensors accessed by ordinary loads and stores
  std::set<std::string, std::less<>> rings;

  explicit KernelUses(const ir::Kernel& kernel);

 private:
  void Region(const ir::Region& region);
  void Scalar(const ir::Scalar& scalar);
  std::set<std::string, std::less<>> divided_by_;
};

class OpEmitter {
 public:
  OpEmitter(const ir::Kernel& kernel, const KernelUses& uses, CodeWriter& out, SourceQuoter& quoter, ScalarPrinter& scalars);

  /// A role's body. `role` gives the instance name and layout.
  void Role(const ir::Worker& role);
  /// What all threads of the block do before or after the roles.
  void Frame(const ir::Region& region);

 private:
  void Quote(Span span);
  void Quote(const ir::Op& op);
  bool IsOfOther(const ir::Region& region, size_t comment) const;
  void Body(const ir::Region& region);
  std::string NameOfScalar(const ir::Op& op);
  /// `hands_over`: it hands a slot on that another statement has received or sends.
  void Emit(const ir::Op& op, bool hands_over);
  bool EmitControl(const ir::Op& op);
  bool EmitTile(const ir::Op& op);
  bool EmitShared(const ir::Op& op);
  bool EmitCopy(const ir::Op& op);
  void CopyToShared(const ir::Op& op);
  bool EmitMeeting(const ir::Op& op);
  bool EmitPipe(const ir::Op& op);
  size_t InitBarriers(const ir::Region& region, size_t begin);
  void Wait(const ir::Op& op);
  void Arrive(const ir::Op& op);
  void Loop(const ir::Op& op, const std::string& head, bool starts_non_negative);
  void For(const ir::Op& op);
  void Let(const ir::Op& op);
  void If(const ir::Op& op);
  void ForTiles(const ir::Op& op);

  /// The value of an expression operation; empty text if `op` is none.
  CppExpr Expression(const ir::Op& op);
  CppExpr Binary(const ir::Op& op);
  CppExpr Select(const ir::Op& op);
  CppExpr Part(const ir::Op& op);
  CppExpr Cat(const ir::Op& op);
  CppExpr Reduce(const ir::Op& op);
  CppExpr Read(const ir::Op& op);
  CppExpr Gather(const ir::Op& op);
  void ReadParts(const ir::Op& op);
  CppExpr View(const ir::Op& op);
  void Define(const ir::Op& op, CppExpr expr);
  void FindInlined(const ir::Region& region);
  void FindHeld(const ir::Region& region);
  bool IsUsedOnce(ir::ValueId id) const;
  void NoteChanges(const ir::Worker& role);
  void NoteRings(const ir::Worker& role);

  CppExpr Value(ir::ValueId id) const;
  /// The value's own, with a number where another of that name is in scope; given where it is printed first.
  std::string Name(ir::ValueId id) const;
  std::string Argument(ir::ValueId id) const { return Value(id).text; }
  /// All operands, each behind a comma.
  std::string Arguments(const ir::Op& op) const;
  /// A right operand whose left one is a tile of registers, where its elements lie in another order then.
  bool IsBesideRegisters(ir::ValueId right) const;
  std::string TileType(ir::ValueId id) const;
  /// What the layout of the tile is called; `using` of those that are not the role's.
  std::string Layout(ir::ValueId id) const;
  void UseLayouts();
  std::string Block(const ir::Op& op) const;
  std::string PlainBlock(const ir::Op& op) const;
  bool IsAll(const ir::Op& op, size_t axis) const;
  bool ReadsExactly(const ir::Op& op) const;
  std::string Element(const std::string& array, int64_t count, const ir::Op& op, size_t scalar) const;
  std::string Barrier(const ir::Op& op, size_t scalar = 0) const;
  std::string Buffer(const std::string& name, const std::string& instance = "") const;
  std::string WarpsMeet() const;
  std::string CopyingThreads() const;
  std::string Coordinates(const ir::Op& op, size_t count) const;
  std::string Coordinate(const ir::Scalar& scalar) const;

  const ir::Kernel& kernel_;
  const KernelUses& uses_;
  CodeWriter& out_;
  SourceQuoter& quoter_;
  ScalarPrinter& scalars_;
  const ir::Worker* role_ = nullptr;
  std::string instance_;                              // what its instance number is called
  std::set<ir::ValueId> changed_;                     // variables that something changes
  std::set<std::string> changed_scalars_;             // the same of scalars
  std::set<ir::ValueId> filled_;                      // views into which something is written
  std::set<std::string> still_rings_;                 // of one slot, in which the role stays: they need no variable
  std::set<std::string> waited_rings_;                // whose slots it waits for at barriers
  std::set<ir::ValueId> inlined_;                     // to be written at their use, if they are short
  std::set<ir::ValueId> held_;                        // a variable's, which is given them at once
  std::set<ir::ValueId> copies_;                      // variables that are given what has a name of its own
  std::map<ir::ValueId, CppExpr> expressions_;        // those seen so far
  mutable std::map<ir::ValueId, std::string> names_;  // of values
  mutable ScopedNames taken_;                         // names of the role
  ScopedNames scalars_in_scope_;                      // as they are printed
  std::map<std::string, size_t> defined_at_;          // in which order, of scalars
  std::map<std::string, size_t, std::less<>> buffers_, barriers_;
  std::optional<passes::ReshapedLayouts> reshaped_;
  std::vector<std::pair<ir::RegisterLayout, std::string>> layouts_;  // beside the role's own, and their names
};

/// The C++ name of a role's instance number, whether it has one in the source or not.
std::string InstanceName(const ir::Kernel& kernel, const ir::Worker& role);
/// Whether the role's code mentions its instance number.
bool UsesInstance(const ir::Kernel& kernel, const ir::Worker& role);

}  // namespace tkc::codegen
