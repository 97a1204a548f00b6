// What every file of the C interface needs: visible functions that end in a number, never in an exception.
#pragma once
#include <cstdint>
#include <new>

#define HP_EXPORT __attribute__((visibility("default")))

namespace hp {

// Runs an action; true unless memory was refused.
template <class Action>
int32_t succeeds(const Action& action) {
  try {
    action();
    return 1;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace hp
