// SPDX-FileCopyrightText: 2026 The Octavo Authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench.h"
#include "command.h"
#include "layers.h"

namespace octavo::cli {

extern const char* const kLayersText;

namespace {

struct Options {
  MachineOptions machine;
  std::string json = "octavo-demo.json";
  double seconds = 0.6;
};

std::vector<BenchCase> demo_cases() {
  EpilogueParts parts;
  require(parse_epilogue_parts("scale+bias+relu", parts));
  LayerOptions options;
  options.parts = parts;
  std::vector<BenchCase> cases;
  const std::vector<Layer> layers = parse_layers(kLayersText, "the built-in layer table");
  for (const Layer& layer : layers) {
    if (layer.name != "fprop2d-10x128x72x120") continue;
    for (const char* layout : {"nhwc", "nc32"}) {
      options.layout = layout;
      cases.push_back({"stated", layer.name + "-" + layout, layer_problem(layer, options), parts});
    }
  }
  options.layout = "nhwc";
  for (const Layer& layer : layers) {
    if (layer.set == "resnet50-b1") cases.push_back({layer.set, layer.name, layer_problem(layer, options), parts});
  }
  return cases;
}

int run(const Options& o) {
  settle_openmp();
  BenchReport report;
  report.device = o.machine.device();
  std::vector<std::unique_ptr<Peer>> owned;
  std::vector<Peer*> peers;
  const auto add = [&](std::unique_ptr<Peer> peer, const error_t& error) {
    if (!peer) {
      fmt::print("left out: {}\n", error.get_message());
      return;
    }
    peers.push_back(peer.get());
    owned.push_back(std::move(peer));
  };
  error_t error;
  std::unique_ptr<Peer> onednn = make_onednn_peer(report.device, o.machine.isa_forced(), error);
  add(std::move(onednn), error);
  error = {};
  std::unique_ptr<Peer> torch = make_torch_peer(report.device.threads, error);
  add(std::move(torch), error);

  fmt::print(
      "The stated convolution (N=10, C=128, 72x120, K=128, 3x3, padding 1) in NHWC and NC/32HW32, and ResNet-50's layers at "
      "N=1:\n"
      "int8, times a scale and plus a bias for each channel, ReLU, back to int8. Every result is compared with the "
      "oracle.\n\n");
  BenchOptions options;
  options.device = report.device;
  options.seconds = o.seconds;
  options.check_operations = 2e9;
  const bool right = run_cases(report, demo_cases(), options, peers);
  write_json(report, o.json);
  fmt::print("figures in {}\n", o.json);
  return right ? 0 : 1;
}

std::function<int()> setup(CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->machine.add(app);
  app.add_option("--json", o->json, "where the figures go")->capture_default_str();
  app.add_option("--seconds", o->seconds, "time for each layer, all sides together")->check(CLI::PositiveNumber);
  return [o] { return run(*o); };
}

const Command kDemo(60, "demo",
                    "the stated convolution and ResNet-50's INT8 layers, checked and timed beside what is installed", setup);

}  // namespace
}  // namespace octavo::cli
