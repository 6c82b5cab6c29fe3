# gdelta_options: what every target of the project is compiled with.
add_library(gdelta_options INTERFACE)
target_compile_features(gdelta_options INTERFACE cxx_std_20)
target_compile_options(gdelta_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wno-unknown-pragmas -ffp-contract=off>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${GDELTA_WERROR}>>:-Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --extended-lambda -Xcompiler=-Wall -fmad=false>)
if(GDELTA_ASAN)
  # GCC's manual warns that sanitizers give this warning false positives; the other builds keep it.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(gdelta_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
  target_compile_options(gdelta_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer>)
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
