# Well-kept libraries from the distribution; docs/dependencies.md says what each is for.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
find_path(GDELTA_XXHASH_INCLUDE xxhash.h REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(CLI11 REQUIRED)
find_package(TBB REQUIRED)
