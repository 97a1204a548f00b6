// Linear maps, or sums, that share their parameters: each keeps a copy, and all take the same step with
// the sum of their gradients, when that of the earliest is there. So the copies stay equal.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "step.h"

namespace hp {

template <class T>
class Ties {
 public:
  explicit Ties(const std::vector<std::unique_ptr<Step<T>>>& steps) {
    std::map<int64_t, std::vector<int>> of_place;
    for (size_t i = 0; i < steps.size(); ++i)
      if (steps[i]->spec.kind == HP_LINEAR || steps[i]->spec.kind == HP_COMBINE)
        of_place[steps[i]->spec.weight].push_back(static_cast<int>(i));
    for (auto& [place, members] : of_place) {
      if (members.size() < 2) continue;
      const auto group = std::make_shared<Group>(Group{members, Matrix<T>(1, steps[members[0]]->num_totals())});
      for (int i : members) groups_[i] = group;
    }
  }

  bool has(int i) const { return groups_.count(i) > 0; }
  // Gradients of step i, later steps first; update(each step, sum) after those of the earliest.
  template <class Update>
  void add(int i, const T* totals, Update&& update) {
    Group& group = *groups_.at(i);
    T* sum = group.sum.data();
    for (int64_t j = 0; j < group.sum.stride(); j += kLanes<T>) store(sum + j, load(sum + j) + load(totals + j));
    if (i != group.members.front()) return;
    for (int member : group.members) update(member, sum);
    group.sum.clear();
  }

 private:
  struct Group {
    std::vector<int> members;
    Matrix<T> sum;
  };
  std::map<int, std::shared_ptr<Group>> groups_;
};

}  // namespace hp
