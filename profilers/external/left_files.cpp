#include "left_files.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>
#include <string_view>
#include <tuple>

#include "dump_format.h"
#include "util/error.h"

namespace memduel {
namespace {

namespace fs = std::filesystem;

/// How a file's name says when its image started.
struct Stamped {
  std::uint64_t started_ns = 0;
  LeftFile left;
};

template <typename Number>
std::optional<Number> take_digits(std::string_view& text) {
  Number number = 0;
  const auto [at, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()));
  return number;
}

bool take_text(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<Stamped> stamped(const fs::path& file) {
  const std::string name = file.filename().string();
  std::string_view rest = name;
  Stamped found;
  found.left.file = file;
  const auto started = take_digits<std::uint64_t>(rest);
  if (!started || !take_text(rest, "-")) return std::nullopt;
  found.started_ns = *started;
  const auto pid = take_digits<std::int64_t>(rest);
  if (!pid) return std::nullopt;
  found.left.of.pid = *pid;
  if (rest.empty()) return found;
  std::string_view forked = rest;
  if (const auto child = take_text(forked, ".") ? take_digits<std::int64_t>(forked) : std::nullopt;
      child && forked.empty()) {
    found.left.of.pid = *child;
    return found;
  }
  if (!take_text(rest, kDumpRound)) return std::nullopt;
  found.left.of.round = take_digits<int>(rest);
  if (!rest.empty() || found.left.of.round.value_or(0) < 1) return std::nullopt;
  return found;
}

[[noreturn]] void cannot_write(const fs::path& file, const std::string& why) {
  throw Error(ExitCode::io, "cannot keep a profile: " + why, file.string());
}

/// A file that goes with its owner unless it is finished.
class Packing {
 public:
  explicit Packing(const fs::path& to) : to_(to), unfinished_(to.string() + ".new") {
    out_.open(unfinished_, std::ios::binary | std::ios::trunc);
    constexpr int kLevel = 3;
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel);
    packed_.resize(ZSTD_CStreamOutSize());
  }
  ~Packing() {
    std::error_code gone;
    fs::remove(unfinished_, gone);
  }
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;
  Packing(Packing&&) = delete;
  Packing& operator=(Packing&&) = delete;

  void add(std::string_view bytes, ZSTD_EndDirective directive = ZSTD_e_continue) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    std::size_t left = 1;
    while (in.pos < in.size || (directive == ZSTD_e_end && left != 0)) {
      ZSTD_outBuffer out{packed_.data(), packed_.size(), 0};
      left = ZSTD_compressStream2(context_.get(), &out, &in, directive);
      if (ZSTD_isError(left) != 0) cannot_write(to_, ZSTD_getErrorName(left));
      out_.write(packed_.data(), static_cast<std::streamsize>(out.pos));
    }
  }

  void finish() {
    add({}, ZSTD_e_end);
    out_.close();
    std::error_code error;
    if (out_) fs::rename(unfinished_, to_, error);
    if (!out_ || error) cannot_write(to_, error ? error.message() : "the file is incomplete");
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  fs::path to_;
  fs::path unfinished_;
  std::ofstream out_;
  std::unique_ptr<ZSTD_CCtx, Free> context_{ZSTD_createCCtx()};
  std::string packed_;
};

}  // namespace

std::vector<LeftFile> left_files(const fs::path& directory) {
  std::vector<Stamped> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(directory, none)) {
    if (!entry.is_regular_file(none) || entry.file_size(none) == 0) continue;
    if (auto file = stamped(entry.path())) found.push_back(std::move(*file));
  }
  const auto image_of = [](const Stamped& file) {
    return std::pair(file.started_ns, file.left.of.pid);
  };
  std::ranges::sort(found, [&](const Stamped& a, const Stamped& b) {
    return std::tuple(image_of(a), a.left.of.round) < std::tuple(image_of(b), b.left.of.round);
  });
  std::vector<LeftFile> files;
  std::size_t image = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i == 0 || image_of(found[i]) != image_of(found[i - 1])) ++image;
    found[i].left.of.image = image;
    files.push_back(std::move(found[i].left));
  }
  return files;
}

namespace {

KeptProfiles keep_files(const fs::path& directory, const ProfileNaming& file_of,
                        void (*move)(const fs::path& from, const fs::path& to)) {
  KeptProfiles kept;
  std::size_t image = 0;
  for (const LeftFile& left : left_files(directory)) {
    if (left.of.image != image && left.of.round) {
      kept.missing.push_back(fmt::format(
          "process {} was killed or left through _exit: it has dumps of its rounds, and none of "
          "its end",
          left.of.pid));
    }
    image = left.of.image;
    const fs::path file = file_of(left.of);
    move(left.file, file);
    kept.files.push_back({left.of, file});
  }
  if (kept.files.empty()) {
    kept.missing.emplace_back(
        "left no profile: it was killed or left through _exit, or never started a dynamically "
        "linked program");
  }
  return kept;
}

// A tool that is killed writes half a line last.
void pack_lines(const fs::path& from, const fs::path& to) {
  std::ifstream in(from, std::ios::binary);
  Packing packing(to);
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::string piece;
  std::string unended;
  while (in) {
    piece.resize(kPiece);
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    piece.resize(static_cast<std::size_t>(in.gcount()));
    const std::size_t end = piece.rfind('\n');
    if (end == std::string::npos) {
      unended += piece;
      continue;
    }
    packing.add(unended);
    packing.add(std::string_view(piece).substr(0, end + 1));
    unended = piece.substr(end + 1);
  }
  if (in.bad()) throw Error(ExitCode::io, "cannot read a profile", from.string());
  packing.finish();
}

}  // namespace

void move_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (error) cannot_write(to, error.message());
}

KeptProfiles keep_dumps(const fs::path& directory, const ProfileNaming& file_of) {
  return keep_files(directory, file_of, move_file);
}

KeptProfiles keep_packed_lines(const fs::path& directory, const ProfileNaming& file_of) {
  return keep_files(directory, file_of, pack_lines);
}

}  // namespace memduel
