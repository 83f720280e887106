#pragma once
#include "command.h"
#include "keeper.h"
