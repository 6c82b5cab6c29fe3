#!/bin/bash
# Installs what is needed, builds everything into build/release and runs all tests. Good on a bare Debian 12 or Ubuntu
# 24.04 with git and root or sudo. Tests that need a GPU say so and are skipped where there is none.
set -euo pipefail
cd "$(dirname "$0")"

ci/install_dependencies
ci/build release
ctest --preset release --parallel "$(nproc)" "$@"
