// SPDX-License-Identifier: MIT
// The options of all commands. The only file that knows CLI11.
#include "compiler/command_line.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "compiler/command_line_faults.h"
#include "compiler/driver/explain.h"
#include "compiler/driver/host_compiler.h"
#include "compiler/driver/outputs.h"

namespace tkc {
namespace {

constexpr const char* kExamples = R"(
Examples
  tkc gemm.tk -o gemm.cu                 compile; gemm.cu and gemm.h appear; nvcc needs those and `tkc --include-dir`
  tkc gemm.tk --emit=report              say what was decided and why: memory map, timeline, registers, limits
  tkc gemm.tk -D BK=32 -o gemm.cu        with another value for a parameter of the kernel, above all its schedule sets
  tkc gemm.tk --target sm_90a -o gemm.cu for a given GPU; `tkc --list-targets` shows which
  tkc gemm.tk --target sm_80,sm_90a -o gemm.cu
                                         one file for several GPUs of one vendor, whose launcher chooses by the device
  tkc gemm.tk --emit=schedule            the program of every role, before it is printed as C++
  tkc gemm.tk --dump-after=insert_sync   the IR behind a pass, on standard error
  tkc --from=tile --run-pass=assign_roles x.ir   one pass over the text that --emit=tile has written
  tkc --explain fill-not-neutral         what a diagnostic means and how to mend it
  tkc run gemm.tk --dims M=256,N=256,K=256 --in A=a.npy --out C=c.npy
                                         execute the generated code on the simulator, no GPU needed; inputs not given are random
  tkc check gemm.tk                      compare simulator, reference and GPU on many shapes; a failure is shrunk
  tkc trace gemm.tk --dims M=256,N=256,K=256 -o gemm.svg
                                         the simulated timeline as a picture, or as .json for Perfetto

`tkc run --help`, `tkc check --help` and `tkc trace --help` show the options of these commands.
Exit status: 0 done; 1 the source, the options or a file are at fault; 70 tkc itself is.
)";
constexpr const char* kRunExamples = R"(
Examples
  tkc run gemm.tk --dims M=256,N=256,K=256              random inputs; a line on each output
  tkc run gemm.tk --in A=a.npy --in B=b.npy --out C=c.npy
                                                        dimensions come from the files
  tkc run gemm.tk --dims M=256,N=256,K=256 --compare    with the reference interpreter
  tkc run gemm.tk --dims M=64,N=64,K=256 --schedule decode --counters
                                                        one schedule set; bank conflicts and sectors of each line
)";
constexpr const char* kCheckExamples = R"(
Examples
  tkc check gemm.tk                                     24 sets of extents, 3 seeds each
  tkc check gemm.tk --target gfx950 --shapes 100 --time 600
                                                        another GPU's code, longer
)";
constexpr const char* kTraceExamples = R"(
Examples
  tkc trace gemm.tk --dims M=256,N=256,K=512 -o gemm.svg
  tkc trace gemm.tk --dims M=256,N=256,K=512 --sms 1 -o gemm.json     for Perfetto; one block takes all tiles
)";

/// An option and the few words that it takes.
template <typename T>
struct Choices {
  const char* option;
  std::vector<std::pair<std::string, T>> values;
};
const Choices<bool> kDiagnostics{"--diagnostics", {{"text", false}, {"json", true}}};
const Choices<Emit> kEmit{"--emit",
                          {{"ast", Emit::kAst},
                           {"tile", Emit::kTile},
                           {"schedule", Emit::kSchedule},
                           {"source", Emit::kSource},
                           {"header", Emit::kHeader},
                           {"report", Emit::kReport},
                           {"certificate", Emit::kCertificate}}};
const Choices<From> kFrom{"--from", {{"tile", From::kTile}, {"schedule", From::kSchedule}}};
const Choices<interp::FillKind> kFill{
    "--fill",
    {{"normal", interp::FillKind::kNormal}, {"integers", interp::FillKind::kIntegers}, {"small", interp::FillKind::kSmall}}};
const Choices<Where> kOn{"--on", {{"simulator", Where::kSimulator}, {"gpu", Where::kGpu}, {"reference", Where::kReference}}};

/// `choices` outlive the options.
template <typename T>
CLI::Option* AddChoice(CLI::App& app, const Choices<T>& choices, T& value, const std::string& help, const std::string& type) {
  const auto choose = [&value, &choices](const std::string& word) {
    std::string words;
    for (size_t i = 0; i < choices.values.size(); ++i) {
      if (choices.values[i].first == word) return void(value = choices.values[i].second);
      words += fmt::format("{}`{}`", i == 0 ? "" : i + 1 == choices.values.size() ? " or " : ", ", choices.values[i].first);
    }
    throw CLI::ValidationError(fmt::format("{} takes {}, found `{}`", choices.option, words, word));
  };
  return app.add_option_function<std::string>(choices.option, choose, help)->type_name(type);
}

/// A number between the two.
template <int least, int most, typename T>
CLI::Option* AddNumber(CLI::App& app, const char* option, T& value, const std::string& help) {
  const auto choose = [option, &value](T number) {
    if (number >= least && number <= most) return void(value = number);
    throw CLI::ValidationError(fmt::format("{} takes {} to {}, found `{}`", option, least, most, number));
  };
  return app.add_option_function<T>(option, choose, help);
}

/// A seed: CLI11 itself takes -1 for the greatest number.
CLI::Option* AddSeed(CLI::App& app, uint64_t& value, const std::string& help) {
  const auto choose = [&value](const std::string& text) {
    const char* end = text.data() + text.size();
    if (const auto [stop, error] = std::from_chars(text.data(), end, value); error == std::errc() && stop == end) return;
    throw CLI::ValidationError(fmt::format("--seed takes a number, from 0 to 2^64 - 1, found `{}`", text));
  };
  return app.add_option_function<std::string>("--seed", choose, help)->type_name("N");
}

/// The name of a file: `-o ""`, where a script forgot to set a variable, is none.
CLI::Option* AddFile(CLI::App& app, const char* option, std::string& value, const std::string& help) {
  const auto choose = [option, &value](const std::string& name) {
    if (!name.empty()) return void(value = name);
    throw CLI::ValidationError(fmt::format("{} takes FILE, found ``", option));
  };
  return app.add_option_function<std::string>(option, choose, help)->type_name("FILE");
}

/// `M=64,K=32` or several options: pairs of name and value; a fault when a part has no `=`.
std::optional<CommandLineFault> Pairs(const std::vector<std::string>& texts, bool commas, const char* option, const char* form,
                                      const char* example, std::vector<std::pair<std::string, std::string>>& out) {
  for (const std::string& text : texts) {
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = commas ? std::min(text.find(',', begin), text.size()) : text.size();
      const std::string part = text.substr(begin, end - begin);
      const size_t equal = part.find('=');
      if (equal == std::string::npos || equal == 0 || equal + 1 == part.size()) {
        return CommandLineFault{fmt::format("{} takes {}, found `{}`", option, form, part),
                                fmt::format("write for example `{} {}`", option, example)};
      }
      out.emplace_back(part.substr(0, equal), part.substr(equal + 1));
      begin = end + 1;
    }
  }
  return std::nullopt;
}

/// What every command takes. `targets` is its help for --target.
void AddCompileOptions(CLI::App& app, Options& options, const std::string& targets) {
  app.add_option(
         "-D", options.defines,
         "set a compile-time parameter, or an item of all schedule sets that names no pipe or worker: -D BM=64, -D persistent=true")
      ->allow_extra_args(false)
      ->type_name("NAME=value");
  app.add_option("-I", options.include_dirs, "look here for imports")->allow_extra_args(false)->type_name("DIR");
  app.add_option("--target", options.target, targets)->type_name("NAME");
  AddChoice(app, kDiagnostics, options.json_diagnostics, "`text`, or `json`: one object a line", "FORM");
}

/// CLI11's line of usage puts the commands behind the file.
class HelpText : public CLI::Formatter {
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (app->get_parent()) return CLI::Formatter::make_usage(app, name);
    return "Usage: tkc [OPTIONS] kernel.tk\n       tkc run|check|trace [OPTIONS] kernel.tk\n";
  }
};

struct MainFlags {
  bool version = false, list_targets = false, include_dir = false;
  std::string code;  // --explain
};

void AddMainOptions(CLI::App& app, Options& options, MainFlags& flags) {
  app.footer(kExamples);
  app.add_option("kernel.tk", options.input, "the file to compile; `-` reads standard input")->type_name("");
  AddFile(app, "-o", options.output, "where to write (default: standard output); the header of C++ goes beside it");
  AddCompileOptions(app, options, "the GPU to compile for (default sm_90a), or several for one file: sm_80,sm_90a");
  AddChoice(app, kEmit, options.emit,
            "instead of C++ and its header: ast; the IR, tile or schedule; source or header alone; report; certificate", "WHAT");
  AddChoice(app, kFrom, options.from, "the input is IR text of this level: tile or schedule", "LEVEL");
  app.add_option("--run-pass", options.run_passes, "run these passes only, and print the IR behind them")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("PASS");
  app.add_option("--dump-after", options.dump_after, "print the IR behind these passes, or behind `all`")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("PASS");
  AddFile(app, "--depfile", options.depfile, "also write what the output depends on, as a make rule");
  app.add_flag_callback(
      "--no-certificate", [&options] { options.certify = false; },
      "leave out the proof that the schedule neither hangs nor races: for tests of the proof and of the simulator");
  app.add_flag("-g", options.line_info, "map .tk lines through to the machine code");
  app.add_flag("--bundle", options.bundle, "put the runtime's headers into the files, which then need CUDA's or HIP's only");
  app.add_option("--explain", flags.code, "explain a diagnostic, named by the code in brackets behind it")->type_name("CODE");
  app.add_flag("--list-targets", flags.list_targets, "list the GPUs tkc knows");
  app.add_flag("--include-dir", flags.include_dir, "print the folder of the runtime's headers, which nvcc and hipcc need as -I");
  app.add_flag("--version", flags.version, "print the version");
}

/// Options of NAME=value, as they are written.
struct RunTexts {
  std::vector<std::string> dims, inputs, outputs, scalars, place;

  std::optional<CommandLineFault> TakeApart(RunCommand& run) const {
    std::optional<CommandLineFault> fault = Pairs(dims, true, "--dims", "NAME=n,..", "M=64,N=128", run.arguments.dims);
    if (!fault) fault = Pairs(inputs, false, "--in", "NAME=FILE", "A=a.npy", run.arguments.inputs);
    if (!fault) fault = Pairs(outputs, false, "--out", "NAME=FILE", "C=c.npy", run.arguments.outputs);
    if (!fault) fault = Pairs(scalars, true, "--scalar", "NAME=value", "x=1.0", run.arguments.scalars);
    if (!fault) fault = Pairs(place, true, "--place", "pad=n,..", "pad=8,offset=1", run.place);
    return fault;
  }
};

/// What the place where the kernel runs would leave undone.
std::optional<CommandLineFault> WhereFault(const RunCommand& run) {
  if (run.on == Where::kSimulator) return std::nullopt;
  const bool is_reference = run.on == Where::kReference;
  const char* option = is_reference && !run.place.empty() ? "--place"
                       : is_reference && run.compare      ? "--compare"
                       : run.counters                     ? "--counters"
                                                          : nullptr;
  if (option == nullptr) return std::nullopt;
  return CommandLineFault{fmt::format("`--on {}` takes no `{}`: {}", is_reference ? "reference" : "gpu", option,
                                      is_reference ? "it runs no generated code" : "only the simulator counts"),
                          fmt::format("leave one of them out; `--on simulator`, the default, takes `{}`", option)};
}

/// What `run` and `trace` take.
void AddArgumentOptions(CLI::App& app, interp::RunOptions& run, RunTexts& texts) {
  app.add_option("--kernel", run.kernel, "which kernel, when the file has several")->type_name("NAME");
  app.add_option("--dims", texts.dims, "extents: M=64,K=32")->allow_extra_args(false)->type_name("NAME=n,..");
  app.add_option("--in", texts.inputs,
                 "contents of a tensor: A=a.npy; floats are converted, uint16 is bf16 bit by bit, uint8 e4m3 or e5m2")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE");
  app.add_option("--scalar", texts.scalars, "a scalar: x=1.0")->allow_extra_args(false)->type_name("NAME=value");
  AddChoice(app, kFill, run.fill, "what tensors hold that are not given: normal (default), integers (-8..8) or small (-2..2)",
            "KIND");
  AddNumber<1, 1024>(app, "--sms", run.sms, "multiprocessors of the simulated GPU (default 132)")->type_name("N");
}

constexpr const char* kOneTarget = "the GPU whose code is executed (default sm_90a)";

void AddRunOptions(CLI::App& app, CommandLine& line, RunTexts& texts) {
  app.footer(kRunExamples);
  app.add_option("kernel.tk", line.options.input, "the file")->required()->type_name("");
  AddChoice(app, kOn, line.run.on, "where: simulator (default), gpu or reference", "WHERE");
  AddArgumentOptions(app, line.run.arguments, texts);
  app.add_option("--out", texts.outputs,
                 "where to write a tensor: C=c.npy; bf16 is written as uint16, e4m3 and e5m2 as uint8, bit by bit")
      ->allow_extra_args(false)
      ->type_name("NAME=FILE");
  AddSeed(app, line.run.arguments.seed, "of the inputs that are not given, and of the simulated timing; 0: nominal timing");
  app.add_option("--place", texts.place, "how all tensors lie: pad=8,offset=1,step=2, in elements")
      ->allow_extra_args(false)
      ->type_name("pad=n,..");
  app.add_option("--schedule", line.run.schedule, "this schedule set, whose condition must hold, instead of the first whose does")
      ->type_name("NAME");
  app.add_flag("--print", line.run.arguments.print,
               "print the elements of the outputs: up to 64 all, of more the first 8 along each axis");
  app.add_flag("--compare", line.run.compare, "compare with the reference interpreter");
  app.add_flag("--counters", line.run.counters, "on the simulator: bank conflicts and sectors of each statement");
  AddCompileOptions(app, line.options, kOneTarget);
}

void AddTraceOptions(CLI::App& app, CommandLine& line, RunTexts& texts) {
  app.footer(kTraceExamples);
  app.add_option("kernel.tk", line.options.input, "the file")->required()->type_name("");
  AddFile(app, "-o", line.run.timeline, "where to write: .svg, a picture; .json, for Perfetto")->required();
  AddArgumentOptions(app, line.run.arguments, texts);
  app.add_option("--schedule", line.run.schedule, "this schedule set, whose condition must hold, instead of the first whose does")
      ->type_name("NAME");
  AddCompileOptions(app, line.options, kOneTarget);
}

void AddCheckOptions(CLI::App& app, CommandLine& line, bool& no_gpu) {
  app.footer(kCheckExamples);
  CheckCommand& check = line.check;
  app.add_option("kernel.tk", line.options.input, "the file; all its kernels are checked")->required()->type_name("");
  app.add_option("--kernel", check.kernel, "this one only")->type_name("NAME");
  AddNumber<1, 10000>(app, "--shapes", check.shapes, "how many sets of extents (default 24)")->type_name("N");
  AddNumber<1, 10000>(app, "--seeds", check.seeds, "how many seeds of data and timing for each (default 3)")->type_name("N");
  AddSeed(app, check.seed, "the first seed (default 1)");
  AddNumber<0, 1000000>(app, "--time", check.seconds, "start no run after this many seconds (default 40)")->type_name("S");
  app.add_flag("--json", check.json, "one JSON object a line for each kernel");
  app.add_flag("--no-gpu", no_gpu, "not on the GPU, even if there is one");
  AddCompileOptions(app, line.options,
                    "the GPU whose code is checked (default sm_90a), or several, one after the other: sm_80,sm_90a");
}

/// `tkc`, or `tkc run`: the command that was given.
std::string CommandName(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? "tkc" : "tkc " + parsed.front()->get_name();
}

/// What stands too much on the command line.
CommandLineFault ExtrasOf(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const CLI::App& command = parsed.empty() ? app : *parsed.front();
  Extras extras{CommandName(app), app.remaining(true), {}, {}, {}, {}};
  for (const CLI::Option* each : command.get_options()) extras.options.push_back(each->get_name());
  const CLI::Option* dims = command.get_option_no_throw("--dims");
  if (dims == nullptr || dims->count() == 0) extras.defines = command.get_option("-D")->results();
  if (parsed.empty()) extras.file = app.get_option("kernel.tk")->as<std::string>();
  for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; })) {
    for (const CLI::Option* each : other->get_options())
      extras.elsewhere.emplace_back(each->get_name(), "tkc " + other->get_name());
  }
  for (const CLI::Option* each : app.get_options()) extras.elsewhere.emplace_back(each->get_name(), "tkc");
  return ExtrasFault(extras);
}

/// Read before all else, as what stands in front of it may be at fault.
bool AsksForJson(int argc, char** argv) {
  const std::string option = kDiagnostics.option;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == option + "=json" || (word == option && i + 1 < argc && std::string_view(argv[i + 1]) == "json")) return true;
  }
  return false;
}

}  // namespace

std::optional<int> ParseCommandLine(int argc, char** argv, CommandLine& line) {
  CLI::App app("tkc compiles .tk files, kernels of tiles, workers and pipes, into CUDA or HIP C++ that a person can read.", "tkc");
  app.formatter(std::make_shared<HelpText>());
  MainFlags flags;
  CommandLine main_line, run_line, check_line, trace_line;
  AddMainOptions(app, main_line.options, flags);
  RunTexts run_texts;
  CLI::App* run_app = app.add_subcommand("run", "execute a kernel");
  AddRunOptions(*run_app, run_line, run_texts);
  CLI::App* check_app = app.add_subcommand("check", "compare simulator, reference and GPU on many shapes");
  RunTexts trace_texts;
  CLI::App* trace_app = app.add_subcommand("trace", "write the simulated timeline");
  AddTraceOptions(*trace_app, trace_line, trace_texts);
  bool no_gpu = false;
  AddCheckOptions(*check_app, check_line, no_gpu);

  const auto report = [&](const CommandLineFault& fault) { return Report(fault, AsksForJson(argc, argv)); };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    fmt::print("{}", parsed.empty() ? app.help() : parsed.front()->help("tkc"));
    return kExitOk;
  } catch (const CLI::ExtrasError&) {
    return report(ExtrasOf(app));
  } catch (const CLI::ConversionError& error) {
    return report(NumberFault(CommandName(app), error.what()));
  } catch (const CLI::ArgumentMismatch& error) {
    return report(CountFault(CommandName(app), error.what()));
  } catch (const CLI::RequiredError& error) {
    return report(MissingFault(CommandName(app), error.what()));
  } catch (const CLI::ParseError& error) {
    return report(OptionFault(CommandName(app), error.what()));
  }
  if (flags.version) {
    fmt::print("tkc {}\n", TKC_VERSION);
    return kExitOk;
  }
  if (flags.list_targets) return ListTargets();
  if (flags.include_dir) {
    Diagnostics diagnostics;
    const Result<std::string> folder = RuntimeInclude(diagnostics);
    if (!folder) return report({diagnostics.All()[0].headline, diagnostics.All()[0].helps[0].text, "cannot-read-file"});
    fmt::print("{}\n", *folder);
    return kExitOk;
  }
  if (!flags.code.empty()) return Explain(flags.code) ? kExitOk : report(CodeFault(flags.code));

  if (run_app->parsed()) {
    if (const auto fault = run_texts.TakeApart(run_line.run)) return report(*fault);
    if (const auto fault = WhereFault(run_line.run)) return report(*fault);
    line = std::move(run_line);
    line.command = Command::kRun;
  } else if (trace_app->parsed()) {
    if (const auto fault = trace_texts.TakeApart(trace_line.run)) return report(*fault);
    line = std::move(trace_line);
    line.command = Command::kTrace;
  } else if (check_app->parsed()) {
    line = std::move(check_line);
    line.command = Command::kCheck;
    line.check.gpu = !no_gpu;
  } else {
    line = std::move(main_line);
    line.options.target_given = app.count("--target") > 0;
    if (line.options.input.empty()) return report({"no file to compile", "`tkc kernel.tk -o kernel.cu`; `tkc --help` shows more"});
    if (line.options.from != From::kSource && line.options.emit == Emit::kAst)
      return report({"`--emit=ast` prints source, and `--from` reads the text of the IR",
                     "`--emit=tile` and `--emit=schedule` print the IR"});
    if (!line.options.depfile.empty() && (line.options.output.empty() || line.options.output == "-"))
      return report({"--depfile says what a file is made of, and none is written", "add `-o FILE`"});
  }
  if (const auto fault = DefinesFault(line.options.defines)) return report(*fault);
  line.options.command = "tkc";
  for (int i = 1; i < argc; ++i) line.options.command += fmt::format(" {}", argv[i]);
  return std::nullopt;
}

}  // namespace tkc
