#include "laboratory/appfl/appfl_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/error.h"

namespace memduel {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 10;
constexpr std::size_t kMostValues = 10'000;
constexpr int kMostLevels = 30;

[[noreturn]] void refuse(const std::string& file, int line, const std::string& what,
                         const std::string& advice = {}) {
  throw Error(ExitCode::usage, what, fmt::format("{}, line {}", file, line), advice);
}

/// yaml-cpp takes byte 4 for the end of the file, and no YAML may hold control characters.
void refuse_control_characters(std::string_view text, const std::string& file) {
  const auto bad = std::ranges::find_if(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\t' && c != '\n' && c != '\r';
  });
  if (bad == text.end()) return;
  refuse(file, static_cast<int>(std::count(text.begin(), bad, '\n')) + 1,
         fmt::format("found the control character {:#04x}, expected text", *bad));
}

/// Notes where a document begins and leaves the rest alone.
class DocumentStart final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { line = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  int line = 1;
};

/// Not YAML::LoadAll: a stray comma is a document to it that never ends.
void refuse_second_document(const std::string& text, const std::string& file) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStart start;
  if (!parser.HandleNextDocument(start))
    refuse(file, 1, "the file is empty, expected APPFL's settings");
  if (parser.HandleNextDocument(start))
    refuse(file, start.line, "found a second document, or text that belongs to nothing before it");
}

YAML::Node parse(std::string_view text, const std::string& file) {
  try {
    const std::string copy(text);
    refuse_second_document(copy, file);
    return YAML::Load(copy);
  } catch (const YAML::Exception& error) {
    // A fault at the end of the text has no mark.
    const int line = error.mark.is_null() ? static_cast<int>(std::ranges::count(text, '\n')) + 1
                                          : error.mark.line + 1;
    refuse(file, line, "not valid YAML: " + error.msg);
  }
}

/// Walks the document once per path to a value: what an alias names counts every time, so that a
/// text that expands without end meets the bound.
class Flattener {
 public:
  explicit Flattener(const std::string& file) : file_(file) {}

  void refuse_depth(const YAML::Node& node, int level) const {
    if (level > kMostLevels)
      refuse(file_, line_of(node), fmt::format("nested deeper than {} levels", kMostLevels));
  }

  void mapping(const YAML::Node& node, const std::string& prefix, int level) {
    refuse_depth(node, level);
    std::set<std::string> own;
    std::vector<YAML::Node> merged;
    for (const auto& item : node) {
      count(item.second);
      if (!item.first.IsScalar())
        refuse(file_, line_of(item.second), "found a key that is not a word");
      const std::string& name = item.first.Scalar();
      if (name == "<<") {
        merged.push_back(item.second);
      } else if (own.insert(name).second) {
        value(item.second, line_of(item.first), prefix + name, level);
      } else {
        refuse(file_, line_of(item.first), fmt::format("found the key \"{}\" twice", name));
      }
    }
    for (const YAML::Node& source : merged) merge(source, prefix, level);
  }

  std::vector<AppflValue> values;

 private:
  static int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

  void count(const YAML::Node& node) {
    if (++visited_ <= kMostValues) return;
    refuse(file_, line_of(node), fmt::format("expands to more than {} values", kMostValues));
  }

  void value(const YAML::Node& node, int line, const std::string& key, int level) {
    if (node.IsMap() && node.size() > 0) {
      mapping(node, key + ".", level + 1);
    } else if (node.IsSequence() && node.size() > 0) {
      sequence(node, key, level + 1);
    } else if (known_.insert(key).second) {
      values.push_back(
          {file_, line, key,
           node.IsScalar() ? std::optional<std::string>(node.Scalar()) : std::nullopt});
    }
  }

  void sequence(const YAML::Node& node, const std::string& key, int level) {
    refuse_depth(node, level);
    std::size_t index = 0;
    for (const auto& item : node) {
      count(item);
      value(item, line_of(item), fmt::format("{}.{}", key, index++), level);
    }
  }

  /// What the mapping itself says comes first; it has been read by now.
  void merge(const YAML::Node& source, const std::string& prefix, int level) {
    if (source.IsMap()) {
      mapping(source, prefix, level + 1);
    } else if (source.IsSequence()) {
      for (const auto& item : source) {
        count(item);
        merge(item, prefix, level + 1);
        if (level > kMostLevels) refuse(file_, line_of(source), "merge keys nested too deep");
      }
    } else {
      refuse(file_, line_of(source), "found a merge key \"<<\" of something that is no mapping");
    }
  }

  const std::string& file_;
  std::size_t visited_ = 0;
  std::set<std::string> known_;
};

}  // namespace

std::string AppflValue::place() const {
  return fmt::format("{}, line {}, {}", file, line, key);
}

std::vector<AppflValue> read_appfl_yaml(std::string_view text, const std::string& file) {
  if (text.size() > kMostBytes)
    throw Error(ExitCode::usage,
                fmt::format("found {} bytes, expected at most {}", text.size(), kMostBytes), file,
                "is this an APPFL configuration?");
  refuse_control_characters(text, file);
  const YAML::Node root = parse(text, file);
  if (!root.IsMap())
    refuse(file, root.Mark().is_null() ? 1 : root.Mark().line + 1,
           fmt::format("found {}, expected a mapping", root.IsNull()       ? "nothing"
                                                       : root.IsSequence() ? "a list"
                                                                           : "a single value"));
  Flattener flattener(file);
  flattener.mapping(root, "", 1);
  return std::move(flattener.values);
}

}  // namespace memduel
