// The C interface of encoded tables: what heterophily/native/tables.py calls.
#include <new>

#include "tables.h"

#define HP_EXPORT __attribute__((visibility("default")))

extern "C" {

HP_EXPORT int32_t hp_bag_of_words(hp_bag* of, int32_t) {
  try {
    hp::bag_of_words(*of);
    return 1;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

HP_EXPORT int32_t hp_put_side_by_side(const hp_side_by_side* of, int32_t) {
  hp::side_by_side(*of);
  return 1;
}
}
