// The C interface of encoded tables: what heterophily/native/tables.py calls.
#include "export.h"
#include "tables.h"

extern "C" {

HP_EXPORT int32_t hp_bag_of_words(hp_bag* of, int32_t) {
  return hp::succeeds([&] { hp::bag_of_words(*of); });
}

HP_EXPORT int32_t hp_put_side_by_side(const hp_side_by_side* of, int32_t) {
  hp::side_by_side(*of);
  return 1;
}
}
