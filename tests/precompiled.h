// Headers of others that nearly every test includes, compiled once ahead of them. Tests include what they use all the same.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>
