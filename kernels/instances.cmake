# Translation units that differ in a word or two are written when the build is configured. Each holds the instances of its
# kernels for a few types, so that they compile side by side.

# Sets `out` to sources in `folder`: for every path and kind of operator a unit of scan kernels.
function(gdelta_scan_instances folder out)
  set(sources)
  foreach(row "group|group|scan_group|GroupPlan|GroupLauncher|through the group kernel"
      "columns|columns|scan_columns|ColumnPlan|ColumnLauncher|along columns"
      "on_chip|on_chip|scan_resident|OnChipPlan|OnChipLauncher|on the chip")
    string(REPLACE "|" ";" row "${row}")
    list(POP_FRONT row ROOM PATH HEADER PLAN LAUNCHER how)
    foreach(kind "sum|Sums of integers" "bits|Xor, and the idempotent operators,"
        "rounds|Products, and sums of floating-point values,")
      string(REPLACE "|" ";" kind "${kind}")
      list(POP_FRONT kind KIND what)
      set(DOES "${what} ${how}.")
      set(source ${folder}/scan_${PATH}_${KIND}.cu)
      configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/scan/scan_instance.cu.in ${source} @ONLY)
      list(APPEND sources ${source})
    endforeach()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Sets `out` to sources in `folder`: for every width of values units of page kernels, of narrow tuples, without and with maps of lanes, and of wide ones.
function(gdelta_page_instances folder out)
  set(sources)
  foreach(WIDTH 1 2 3 4 8)
    foreach(kernels unpack_pages_warp unpack_pages_tiles unpack_pages_maps unpack_pages_wide stride_pages pack_pages_warp pack_pages_wide)
      set(source ${folder}/${kernels}_${WIDTH}.cu)
      configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/bitpack/${kernels}_width.cu.in ${source} @ONLY)
      list(APPEND sources ${source})
    endforeach()
    set(source ${folder}/ans_encode_${WIDTH}.cu)
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ans/ans_encode_width.cu.in ${source} @ONLY)
    list(APPEND sources ${source})
  endforeach()
  foreach(WIDTH 2 4 8)
    set(source ${folder}/segment_pages_${WIDTH}.cu)
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/bitpack/segment_pages_width.cu.in ${source} @ONLY)
    list(APPEND sources ${source})
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
