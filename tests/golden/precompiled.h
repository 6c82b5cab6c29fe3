// What nearly every table of streams includes, compiled once ahead of it. Tables include what they use all the same.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "golden/plain_encoder.h"
