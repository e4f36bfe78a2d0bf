// Makes a document of 20,000 objects, writes it as text, parses that and counts the words in it.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

using nlohmann::json;

json made_document(int count) {
  json document = json::array();
  for (int i = 0; i < count; ++i)
    document.push_back({{"number", i},
                        {"name", "entry " + std::to_string(i)},
                        {"tags", {"a", "bc", std::string(static_cast<std::size_t>(i % 60), 'd')}}});
  return document;
}

std::size_t count_words(const json& value) {
  if (value.is_string()) return 1;
  std::size_t words = 0;
  if (value.is_structured())
    for (const json& inner : value) words += count_words(inner);
  return words;
}

int main() {
  const std::string text = made_document(20000).dump();
  const json parsed = json::parse(text);
  const json flat = parsed.flatten();
  std::printf("%zu bytes, %zu values, %zu words\n", text.size(), flat.size(), count_words(parsed));
}
