// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/env.h"
#include "peer.h"
#include "pinning.h"

namespace octavo::cli {

extern const char* const kTorchPeerText;

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

error_t failed(const std::string& why) { return {error_code_t::GRAPH_NOT_SUPPORTED, "PyTorch: " + why}; }

// Python as a child: one JSON line in, one JSON line out. Tensors go through files in a folder of our own.
class Child {
 public:
  Child(const std::string& python, const fs::path& folder) {
    signal(SIGPIPE, SIG_IGN);
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      unpin_this_thread();
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      for (const int fd : {in[0], in[1], out[0], out[1]}) close(fd);
      execlp(python.c_str(), python.c_str(), "-c", kTorchPeerText, folder.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = fdopen(in[1], "w");
    from_ = fdopen(out[0], "r");
  }
  ~Child() {
    if (to_) std::fclose(to_);  // end of input: it leaves
    if (from_) std::fclose(from_);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Json ask(const Json& question) {
    const std::string line = question.dump() + "\n";
    if (!to_ || std::fputs(line.c_str(), to_) < 0 || std::fflush(to_) != 0)
      return Json{{"error", "the Python process has ended"}};
    char* text = nullptr;
    std::size_t size = 0;
    const ssize_t got = getline(&text, &size, from_);
    Json answer = got > 0 ? Json::parse(text, nullptr, false) : Json{{"error", "the Python process has ended"}};
    std::free(text);
    if (answer.is_discarded()) return Json{{"error", "the Python process answered something that is not JSON"}};
    return answer;
  }

 private:
  pid_t pid_ = -1;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
};

Json desc_json(const TensorDesc& d) {
  return {{"type", short_name(d.type)},
          {"dim", std::vector<std::int64_t>(d.dim.begin(), d.dim.begin() + d.rank)},
          {"stride", std::vector<std::int64_t>(d.stride.begin(), d.stride.begin() + d.rank)},
          {"vector", d.vector},
          {"span", d.span_elements()}};
}

void write_file(const fs::path& path, const void* data, std::int64_t bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), bytes);
}

class Torch;

class Run final : public PeerRun {
 public:
  Run(Child& child, fs::path folder, std::int64_t bytes) : child_(child), folder_(std::move(folder)), bytes_(bytes) {}
  double execute() override {
    const Json answer = child_.ask({{"do", "run"}});
    return answer.contains("us") ? answer["us"].get<double>() : 0.0;
  }
  error_t fetch(void* out) override {
    const Json answer = child_.ask({{"do", "fetch"}});
    if (answer.contains("error")) return failed(answer["error"].get<std::string>());
    std::ifstream file(folder_ / "out", std::ios::binary);
    file.read(static_cast<char*>(out), bytes_);
    return file ? error_t{} : failed("its result file is too short");
  }
  std::string describe() const override { return "aten"; }

 private:
  Child& child_;
  fs::path folder_;
  std::int64_t bytes_;
};

class Torch final : public Peer {
 public:
  Torch(std::unique_ptr<Child> child, fs::path folder, std::string version)
      : child_(std::move(child)), folder_(std::move(folder)), version_(std::move(version)) {}
  ~Torch() override {
    child_.reset();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string_view name() const override { return "torch"; }
  std::string version() const override { return version_; }
  error_t create(const PeerInput& in, std::unique_ptr<PeerRun>& run) override {
    const Problem& p = *in.problem;
    if (p.mode != ConvolutionMode_t::CROSS_CORRELATION || p.zero_points != ZeroPoints{})
      return failed("mode and zero points are not given to it");
    if (in.parts.add) return failed("the residual of this benchmark is not given to it");
    const TensorDesc& out = p.epilogue.outputs[0].desc;
    write_file(folder_ / "a", in.a, p.input_a().span_bytes());
    write_file(folder_ / "b", in.b, p.input_b().span_bytes());
    const std::int64_t k = p.w.dim[0];
    if (in.scale) write_file(folder_ / "scale", in.scale, 4 * (in.parts.scale ? k : 1));
    if (in.bias) write_file(folder_ / "bias", in.bias, 4 * k);
    const int spatial = p.spatial();
    const auto axes = [spatial](const auto& v) { return std::vector<std::int64_t>(v.begin(), v.begin() + spatial); };
    const Json answer = child_->ask({{"do", "create"},
                                     {"direction", to_string(p.direction)},
                                     {"x", desc_json(p.direction == Direction::dgrad ? out : p.x)},
                                     {"w", desc_json(p.direction == Direction::wgrad ? out : p.w)},
                                     {"y", desc_json(p.direction == Direction::fprop ? out : p.y)},
                                     {"stride", axes(p.stride)},
                                     {"pre", axes(p.pre_pad)},
                                     {"post", axes(p.post_pad)},
                                     {"dilation", axes(p.dilation)},
                                     {"groups", p.groups()},
                                     {"scale", in.scale != nullptr},
                                     {"bias", in.bias != nullptr},
                                     {"relu", in.parts.relu},
                                     {"threads", in.threads}});
    if (answer.contains("error")) return failed(answer["error"].get<std::string>());
    run = std::make_unique<Run>(*child_, folder_, out.span_bytes());
    return {};
  }

 private:
  std::unique_ptr<Child> child_;
  fs::path folder_;
  std::string version_;
};

// OCTAVO_PYTHON, else the interpreter beside this program (a virtual environment), else python3.
std::string python() {
  if (std::string given = env(Env::python); !given.empty()) return given;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = self.parent_path() / "python3";
  return !error && fs::exists(beside) ? beside.string() : "python3";
}

}  // namespace

std::unique_ptr<Peer> make_torch_peer(int threads, error_t& error) {
  std::string folder = (fs::temp_directory_path() / "octavo-torch-XXXXXX").string();
  if (!mkdtemp(folder.data())) {
    error = failed("no temporary folder can be made in " + fs::temp_directory_path().string());
    return nullptr;
  }
  auto child = std::make_unique<Child>(python(), folder);
  const Json hello = child->ask({{"do", "hello"}, {"threads", threads}});
  if (!hello.contains("version")) {
    error = {error_code_t::INVALID_VALUE,
             fmt::format(
                 "peer torch does not start with {}: {}; install PyTorch there, name another interpreter in OCTAVO_PYTHON, or "
                 "leave it out of --peers.",
                 python(), hello.contains("error") ? hello["error"].get<std::string>() : "no answer")};
    child.reset();
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    return nullptr;
  }
  return std::make_unique<Torch>(std::move(child), folder, hello["version"].get<std::string>());
}

}  // namespace octavo::cli
