# Writes the bundles as C++ arrays; string literals have length limits.
function(array_of name file result)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  set(${result} "constexpr unsigned char ${name}[] = {\n${bytes}};\n" PARENT_SCOPE)
endfunction()
array_of(kViewerScript ${DIR}/report.js viewer_script)
array_of(kViewerStyle ${DIR}/report.css viewer_style)
array_of(kFlameScript ${DIR}/flame.js flame_script)
array_of(kFlameStyle ${DIR}/flame.css flame_style)
file(WRITE ${OUT} "#include \"templates/viewer.h\"\n\nnamespace memduel {\nnamespace {\n
${viewer_script}\n${viewer_style}\n${flame_script}\n${flame_style}
std::string_view text(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

std::string_view viewer_script() { return text(kViewerScript, sizeof kViewerScript); }
std::string_view viewer_style() { return text(kViewerStyle, sizeof kViewerStyle); }
std::string_view flame_script() { return text(kFlameScript, sizeof kFlameScript); }
std::string_view flame_style() { return text(kFlameStyle, sizeof kFlameStyle); }

}  // namespace memduel
")
