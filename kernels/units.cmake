# Translation units of kernels, written when the build is configured. A run of nvcc takes two seconds before it reads the first kernel,
# and what kernels include takes as long again: a unit includes the sources of a room, or those that differ in a word or two. So what a
# source keeps in its unnamed namespace has a name that no other of its room has.

# Writes `unit`, which includes these sources.
function(gdelta_write_unit unit)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN ARGN "" text)
  file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
endfunction()

# Sets `out` to units in `folder` with the sources of these rooms, up to eight each.
function(gdelta_room_units folder out)
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH above)
  set(units)
  foreach(room ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${above} ${above}/${room}/*.cu)
    string(REPLACE "/" "_" name ${room})
    set(number 0)
    while(sources)
      list(SUBLIST sources 0 8 included)
      list(REMOVE_ITEM sources ${included})
      math(EXPR number "${number} + 1")
      gdelta_write_unit(${folder}/${name}_${number}.cu ${included})
      list(APPEND units ${folder}/${name}_${number}.cu)
    endwhile()
  endforeach()
  set(${out} ${units} PARENT_SCOPE)
endfunction()

# Sets `out` to units in `folder` of scan kernels: those of the rooms, and for every path one with all kinds of operators.
function(gdelta_scan_units folder out)
  gdelta_room_units(${folder} units kernels/scan kernels/scan/on_chip kernels/scan/stream)
  foreach(row "group|group|scan_group|GroupPlan|GroupLauncher|through the group kernel"
      "columns|columns|scan_columns|ColumnPlan|ColumnLauncher|along columns"
      "on_chip|on_chip|scan_resident|OnChipPlan|OnChipLauncher|on the chip")
    string(REPLACE "|" ";" row "${row}")
    list(POP_FRONT row ROOM PATH HEADER PLAN LAUNCHER how)
    set(sources)
    foreach(kind "sum|Sums of integers" "bits|Xor, and the idempotent operators,"
        "rounds|Products, and sums of floating-point values,")
      string(REPLACE "|" ";" kind "${kind}")
      list(POP_FRONT kind KIND what)
      set(DOES "${what} ${how}.")
      configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/scan/scan_instance.cu.in ${folder}/scan_${PATH}_${KIND}.cu @ONLY)
      list(APPEND sources scan_${PATH}_${KIND}.cu)
    endforeach()
    gdelta_write_unit(${folder}/scan_${PATH}.cu ${sources})
    list(APPEND units ${folder}/scan_${PATH}.cu)
  endforeach()
  set(${out} ${units} PARENT_SCOPE)
endfunction()

# Sets `out` to units in `folder` of all other kernels: those of the rooms, and for every kind of page kernels (of narrow tuples, without
# and with maps of lanes, of wide ones) one with all widths of values.
function(gdelta_page_units folder out)
  gdelta_room_units(${folder} units kernels/ans kernels/bitpack kernels/checksum kernels/deltas kernels/linear)
  foreach(kernels ans/ans_encode bitpack/unpack_pages_warp bitpack/unpack_pages_tiles bitpack/unpack_pages_maps
      bitpack/unpack_pages_wide bitpack/stride_pages bitpack/pack_pages_warp bitpack/pack_pages_wide bitpack/segment_pages)
    cmake_path(GET kernels FILENAME name)
    set(widths 1 2 3 4 8)
    if(name STREQUAL "segment_pages")
      set(widths 2 4 8)
    endif()
    set(sources)
    foreach(WIDTH ${widths})
      configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${kernels}_width.cu.in ${folder}/${name}_${WIDTH}.cu @ONLY)
      list(APPEND sources ${name}_${WIDTH}.cu)
    endforeach()
    gdelta_write_unit(${folder}/${name}_widths.cu ${sources})
    list(APPEND units ${folder}/${name}_widths.cu)
  endforeach()
  set(${out} ${units} PARENT_SCOPE)
endfunction()
