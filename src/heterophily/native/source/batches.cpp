// The C interface for graphs beyond memory: heterophily/native/{panels,sampler}.py call it.
#include "export.h"
#include "panel_product.h"
#include "sampler.h"

namespace {

// Runs an action that returns what it found; -1 when memory was refused.
template <class Action>
int64_t unless_refused(const Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

}  // namespace

extern "C" {

HP_EXPORT int64_t hp_panel_product(const hp_panel_rows* of, int32_t threads) {
  return unless_refused([&] { return hp::panel_product(*of, threads) ? 1 : 0; });
}

HP_EXPORT int64_t hp_draw_neighbours(const hp_draw* of, int32_t threads) {
  return unless_refused([&] {
    hp::with_type<uint32_t, int64_t>(of->parts->index_bytes == 4, [&](auto index) {
      hp::draw_neighbours<decltype(index)>(*of, threads);
    });
    return 1;
  });
}

HP_EXPORT int64_t hp_renumber_nodes(const hp_renumber* of, int32_t) {
  return unless_refused([&] { return hp::renumber(*of); });
}

HP_EXPORT int64_t hp_gather_panels(const hp_gather* of, int32_t threads) {
  return unless_refused([&] {
    hp::gather_rows(*of, threads);
    return 1;
  });
}
}
