# gdelta_options: what every target of the project is compiled with.
add_library(gdelta_options INTERFACE)
target_compile_features(gdelta_options INTERFACE cxx_std_20)
target_compile_options(gdelta_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wno-unknown-pragmas -ffp-contract=off>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${GDELTA_WERROR}>>:-Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --extended-lambda -Xcompiler=-Wall,-Wno-unknown-pragmas -fmad=false>)
if(GDELTA_ASAN)
  # GCC's manual warns that sanitizers give this warning false positives; the other builds keep it.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(gdelta_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
  # GDELTA_SANITIZERS of a target: unset, all checks; brief, for tests, which compile in two thirds of the time without what
  # is checked at every access and without messages; none, for programs that only start others.
  set(sanitizers $<TARGET_PROPERTY:GDELTA_SANITIZERS>)
  set(brief -fsanitize=undefined -fno-sanitize=vptr,null,alignment,object-size -fsanitize-undefined-trap-on-error)
  target_compile_options(gdelta_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<STREQUAL:${sanitizers},none>>>:-fsanitize=address>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<STREQUAL:${sanitizers},>>:-fsanitize=undefined;-fno-sanitize-recover=all>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<STREQUAL:${sanitizers},brief>>:${brief}>")
  target_link_options(gdelta_options INTERFACE -fsanitize=address,undefined)
endif()
if(GDELTA_FUZZ)
  target_compile_options(gdelta_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()
target_include_directories(gdelta_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/formats/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/codec/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/kernels/primitives/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/kernels/schedules/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/kernels/device/include>)
