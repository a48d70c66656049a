// SPDX-License-Identifier: MIT
// The host side of the runtime: what a generated launcher checks, prepares and launches.
#pragma once

#include "tk/host/abi.h"
#include "tk/host/call.h"
