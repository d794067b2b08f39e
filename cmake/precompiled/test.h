// As core.h, for tests.
#pragma once

#include "core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
