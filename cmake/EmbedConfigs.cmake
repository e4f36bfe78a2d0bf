# embed_configs(<variable> <function> <files below configs/>): a source file whose <function> gives the texts of the files; its path goes into <variable>.
function(embed_configs variable function)
  list(JOIN ARGN "," names)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/configs/ OUTPUT_VARIABLE paths)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_files.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${source} -DROOT=${PROJECT_SOURCE_DIR}/configs -DFILES=${names} -DFUNCTION=${function}
      -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake VERBATIM)
  set(${variable} ${source} PARENT_SCOPE)
endfunction()
