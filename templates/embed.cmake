# Writes the bundle as C++ arrays; string literals have length limits.
function(array_of name file result)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  set(${result} "constexpr unsigned char ${name}[] = {\n${bytes}};\n" PARENT_SCOPE)
endfunction()
array_of(kScript ${DIR}/report.js script)
array_of(kStyle ${DIR}/report.css style)
file(WRITE ${OUT} "#include \"templates/viewer.h\"\n\nnamespace memduel {\nnamespace {\n\n${script}\n${style}
std::string_view text(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

std::string_view viewer_script() { return text(kScript, sizeof kScript); }
std::string_view viewer_style() { return text(kStyle, sizeof kStyle); }

}  // namespace memduel
")
