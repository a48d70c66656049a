// SPDX-License-Identifier: MIT
// The roles of a kernel as the abstract machine executes them: one straight list of steps per warpgroup (or copying warp), with
// every scalar resolved as far as it can be: names of the source replaced by the block's own terms and by the ordinals of the
// loops around. Unrolled loops are written out. Two roles that compute one number write the same resolved text, which is how the
// oracle knows that they agree.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/target/target.h"

namespace tkc::certify {

/// Elements of a tile: rows r0 .. r1, columns c0 .. c1 of what a buffer's element holds.
struct Rect {
  int64_t r0 = 0, r1 = 0, c0 = 0, c1 = 0;
  bool Overlaps(const Rect& other) const { return r0 < other.r1 && other.r0 < r1 && c0 < other.c1 && other.c0 < c1; }
  bool Covers(const Rect& other) const { return r0 <= other.r0 && other.r1 <= r1 && c0 <= other.c0 && other.c1 <= c1; }
  bool operator==(const Rect&) const = default;
};

/// constant + sum of coefficient * ordinal of the loop at that depth + (if `rest` is set) an integer known by its text only.
struct Linear {
  int64_t constant = 0;
  std::vector<int64_t> of_loop{};
  std::string rest{};
};

/// A truth value. kTurn: whether the tile of the loop at depth `context` is the `which`th of each `of`, in the block's own order.
/// `family` names the integer of `linear` (its `rest`) for the oracle; the loops up to `context` deep select which
/// of its values is meant. The one part that a kPositive may have is the same comparison, or kNot of its
/// opposite, of the same integer under the name that it has for those who have no loop that runs to it.
struct Condition {
  enum class Kind : uint8_t { kConstant, kPositive, kTurn, kAnd, kOr, kNot } kind = Kind::kConstant;
  bool value = true;
  Linear linear{};
  int family = -1;
  int context = 0;
  std::vector<Condition> parts{};
  int64_t which = 0, of = 1;
};

/// A range: iteration i goes on while `goes_on` holds; its ordinal is first + i * stride.
struct Loop {
  const ir::Op* op = nullptr;
  int depth = 0;
  int family = -1;
  int64_t first = 0, stride = 1;  // of the ordinal
  int64_t step = 1;               // of the family's integer, per ordinal
  Condition goes_on{};
  bool is_tiles = false;
  int rank = 0;                      // OrderLoops
  int first_root = 0, end_root = 0;  // views that its body makes
  std::vector<int> rings{};          // that its body turns
  std::vector<int> counters{};       // rings of one slot that each iteration turns (Slotless)
};

enum class StepKind : uint8_t { kOp, kJump, kBranch, kEnter, kTest, kNext, kEnd };

/// What a step does to shared memory. `root` says which view of the agent is bound to the place.
struct Access {
  int root = -1;
  Rect rect{};
  bool is_exact = true;  // else it is some of the rectangle that is meant, and not known which
};

struct Step {
  StepKind kind = StepKind::kOp;
  const ir::Op* op = nullptr;
  int target = -1;          // where a jump, a false branch or the end of a loop leads
  int loop = -1;            // of Agent::loops
  int condition = -1;       // of Agent::conditions
  bool is_elected = false;  // by one thread of the role's first warp
  int barrier = -1;         // of Kernel::barriers
  int block = -1;           // of the cluster, in which it arrives there; -1: in its own, or what ReachesOut does
  int ring = -1;            // of Agent::rings
  int64_t offset = 0;       // from where the ring stands: -1 `.previous`, n `+n`
  int64_t element = 0;      // of a barrier or buffer without a ring
  int buffer = -1;          // of Kernel::buffers
  int root = -1;            // the view that this step binds
  std::vector<Access> accesses{};
  int64_t amount = 1;  // of slots that a ring is moved by
};

/// Whether the operation may touch shared memory or barriers of other blocks of the cluster.
bool ReachesOut(const ir::Op& op);

struct AgentRing {
  std::string name;  // of the pipe: an agent may have two, for what it receives and what it sends
  int64_t slots = 1;
  std::string symbol{};  // in its program
};

/// One warpgroup of a role, or its one copying warp, in one block of the cluster.
struct Agent {
  const ir::Worker* worker = nullptr;
  std::string name;  // `load`, `compute[1]`
  int64_t instance = 0;
  int block = 0;
  bool computes = false;
  int first_warp = 0;  // in Program::warps
  int warps = 1;       // modelled
  std::vector<Step> steps{};
  std::vector<Loop> loops{};
  std::vector<Condition> conditions{};
  std::vector<AgentRing> rings{};
  int roots = 0;
  std::vector<int> ring_of_root{};  // -1: none
  std::vector<int64_t> leads{};     // of each root: how many turns ahead of what it shows now lies what is put there
  std::vector<int> last_use{};      // of each root: the step behind which nobody uses it
  std::vector<int> next_rank{};     // of each step: of the loop or slot that comes next in the same body (OrderLoops)
  std::vector<int> last_asked{};    // of each family: the step behind which this agent asks nothing more about the same integer

  /// Whether one thread of it executes the step.
  bool IsOneThreadAt(const Step& step) const { return step.is_elected || worker->IsOneThread(); }
};

/// What the oracle is asked about: one integer (or truth value) per iteration of the loops around.
struct Family {
  std::string text;
  int64_t step = 1;                         // by which loops ask about it; 0: only conditions do
  int64_t threshold = 0;                    // ordinals from which on constants in conditions make no difference
  uint64_t members = 0;                     // agents that ask
  uint64_t loopers = 0;                     // of these, those that run a loop by it
  int64_t constant = 0;                     // what loops add to the integer before they divide by `step`
  std::optional<int64_t> above{}, limit{};  // above < the integer <= limit, whatever is chosen
  int kept = -1;         // the family that remembers it for the launch, as long as something begun under it is under way
  bool is_kept = false;  // it is such a one
};

/// What could not be resolved: an error of kind certificate-unknown.
struct Unknown {
  Span span;
  std::string what;
};

/// What a replay remembers, from one iteration of the loops around to the next, of what is fixed for a launch: dimensions in
/// conditions, launch scalars, whether a map may be used. kLittle: a condition as long as something is under way that was begun
/// under it. Then it is chosen anew, which proves more than is needed and leaves the fewest states. kConditions: all of them.
enum class Remembers { kLittle, kConditions };

/// Formulas that have a number instead of their text.
using LongTerms = std::map<std::string, size_t>;

struct Program {
  const ir::Kernel* kernel = nullptr;
  std::shared_ptr<LongTerms> long_terms = std::make_shared<LongTerms>();
  int blocks = 1;  // of a cluster
  std::vector<Agent> agents{};
  std::vector<Family> families{};
  std::vector<Unknown> unknowns{};
  std::vector<std::string> ring_of_buffer{}, ring_of_barrier{};  // that says which element is used; "": none
  int warps = 0;                                                 // modelled, in all
  bool shares_slots = false;                                     // blocks of the cluster fill or free slots of each other
  Remembers remembers = Remembers::kConditions;
  std::map<const ir::Op*, std::set<int>> kept_for{};  // of each operation: the families (Family::kept) of conditions around it
  int64_t turns = 1;                                  // a common multiple of how many instances take turns
  int lanes = 32;                                     // of a warp
  bool counts_instructions = false;                   // wait_copies counts instructions, not groups
  int copy_bytes = 16;                                // that one of these moves for a thread
};

/// `kernel` at schedule level; it must outlive the program.
Program BuildProgram(const ir::Kernel& kernel, const Target& target, Remembers remembers);

/// Sets Loop::rank and Agent::next_rank, by which the replay tells who is furthest behind.
void OrderLoops(Program& program);
/// The program as it is replayed: without what makes no difference to the machine, loops and branches of nothing else included.
Program WithoutSilent(Program program);
/// Tiles in registers that products make or take, and those that nothing has set where they are declared.
std::vector<bool> ProductValues(const ir::Kernel& kernel);

/// Pipes of one slot have no ring where only one worker uses them. Each such buffer that is filled before it is read gets one here,
/// that turns with the iterations of the loops that fill it: what is read is what was filled in the same iteration. By the name of
/// the buffer, those loops; none of them lies in another.
std::map<std::string, std::set<const ir::Op*>> Slotless(const ir::Kernel& kernel, const ir::Worker& worker);

/// Which rings a loop turns: loops over one range that turn a ring together have one trip count. So have those in which the whole
/// block meets.
std::set<std::string> RingsOf(const ir::Op& loop);
/// Whether a ring is turned inside.
bool Turns(const ir::Op& op);
/// Whether a loop's bounds mention a scalar that its body assigns.
bool Changes(const ir::Op& loop);

/// Agent::last_asked, where all families are known.
void FindLastAsked(const Program& program, Agent& agent);
/// Behind its last use a view stands for nothing; inside a loop that it was made before, behind the loop.
void FindLastUses(Agent& agent);
/// A ring that only other instances of the worker turn stands still here: counted from others, it would never come into a state
/// again.
void DropUnusedRings(Agent& agent);

/// The scalars of one agent at one point, resolved: for the proofs that need no replay.
class Scope {
 public:
  /// At the start of the agent's program. Long terms are the program's, so that what is equal is so for all agents.
  Scope(const Program& program, const Agent& agent);
  ir::Scalar Resolve(const ir::Scalar& scalar) const;
  void Bind(const std::string& name, ir::Scalar value) { names_[name] = std::move(value); }
  /// A `let` of a grid axis, the block's place in it, leaves its name: what is resolved is relative to it.
  void KeepGridAxes(const ir::Kernel& kernel) {
    for (const ir::GridAxis& axis : kernel.axes) kept_.insert(axis.name);
  }
  /// Binds the loop's variable in terms of the ordinal at `depth`, and what its body changes to what an iteration finds.
  void BindLoop(const ir::Op& loop, int depth);
  /// What the body has changed is another value behind the loop.
  void LeaveLoop(const ir::Op& loop);
  /// What is assigned until LeaveBranches is so if the condition, resolved, holds, or does not.
  void EnterBranch(const ir::Scalar& condition, bool is_taken);
  void LeaveBranches(std::string around) { conditions_ = std::move(around); }
  const std::string& Branches() const { return conditions_; }
  void BindOp(const ir::Op& op);  // let, test, tile_position

 private:
  /// A formula that is too long to be copied into others is a function of what it mentions.
  ir::Scalar Shortened(ir::Scalar scalar) const;

  /// Name and value, as text.
  using Assignments = std::vector<std::pair<std::string, std::string>>;
  std::set<std::string> ChangedIn(const ir::Region& body) const;
  void BindChange(const std::string& symbol, DType dtype, std::string follows_from);
  void Assign(const ir::Op& op);
  /// Elements of a tile are known to who holds it, and to no other agent.
  void BindTest(const ir::Op& op);
  void Carry(const ir::Op& loop, int depth);
  void Gather(const ir::Region& region, int depth, Assignments& assignments);

  std::map<std::string, ir::Scalar> names_;
  std::set<std::string> kept_;
  std::shared_ptr<LongTerms> long_terms_;
  std::string conditions_;  // around
  std::string who_;         // the agent, by a text of its own
  int tests_ = 0;           // bound so far
};

/// `whose == which`, resolved: `whose` counts the tiles of the loop at this depth, from 0 to `of` and again.
struct WhoseTurn {
  int depth = 0;
  int64_t which = 0, of = 1;
};
ir::Scalar WhoseTurnIs(int depth, int64_t of);
std::optional<WhoseTurn> TurnOf(const ir::Scalar& condition);

/// Whether the branch for tiles of others passes over the slots that the branch for own tiles takes, as many of each ring.
bool PassesOver(const ir::Kernel& kernel, const Scope& scope, const ir::Op& turn);

/// The value of a resolved scalar that mentions no name.
std::optional<int64_t> Constant(const ir::Scalar& scalar);

/// The name that stands for the ordinal of the loop at this depth.
std::string OrdinalName(int depth);
/// A polynomial as constant, multiples of the ordinals of the loops down to `depth`, and the rest; nothing where it is none.
std::optional<Linear> Split(const ir::Scalar& scalar, int depth);

}  // namespace tkc::certify
