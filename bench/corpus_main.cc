// strobe_corpus SHAPE SIZE_MB DIR [--hosts N] [--seed N]: writes
// DIR/plugins/profile/<shape>_<size>/host<i>.xplane.pb and prints one JSON line a file.

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "bench/corpus.h"

int main(int argc, char** argv) {
  using strobe::bench::Shape;
  strobe::bench::CorpusOptions options;
  uint32_t hosts = 1;
  if (argc < 4) {
    std::fprintf(stderr, "usage: strobe_corpus tpu|gpu|host SIZE_MB DIR [--hosts N] [--seed N]\n");
    return 2;
  }
  const std::string shape = argv[1];
  if (shape != "tpu" && shape != "gpu" && shape != "host") {
    std::fprintf(stderr, "strobe_corpus: the shape must be tpu, gpu or host, not %s\n", argv[1]);
    return 2;
  }
  options.shape = shape == "tpu" ? Shape::kTpu : (shape == "gpu" ? Shape::kGpu : Shape::kHost);
  options.size_bytes = std::strtoull(argv[2], nullptr, 10) * 1'000'000;
  for (int i = 4; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--hosts") == 0)
      hosts = static_cast<uint32_t>(std::strtoul(argv[i + 1], nullptr, 10));
    if (std::strcmp(argv[i], "--seed") == 0) options.seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  const std::string directory = std::string(argv[3]) + "/plugins/profile/" + shape + "_" + argv[2];
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    std::fprintf(stderr, "strobe_corpus: %s: %s\n", directory.c_str(), error.message().c_str());
    return 1;
  }
  for (options.host = 0; options.host < hosts; ++options.host) {
    const std::string path = directory + "/host" + std::to_string(options.host) + ".xplane.pb";
    const auto made = strobe::bench::WriteCorpusFile(options, path);
    if (!made.ok()) {
      std::fprintf(stderr, "strobe_corpus: %s\n", made.status().ToString().c_str());
      return 1;
    }
    std::printf(
        "{\"file\":\"%s\",\"shape\":\"%s\",\"seed\":%llu,\"size_bytes\":%llu,\"events\":%llu,"
        "\"lines\":%llu,\"xxh3\":\"%s\"}\n",
        path.c_str(), shape.c_str(), static_cast<unsigned long long>(options.seed),
        static_cast<unsigned long long>(made->size_bytes),
        static_cast<unsigned long long>(made->events), static_cast<unsigned long long>(made->lines),
        made->checksum.c_str());
  }
  return 0;
}
