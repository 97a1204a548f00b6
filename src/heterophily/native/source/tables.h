// Columns of a table as features: words hashed to columns, and blocks put side by side.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" {

// Cells of lower-case text to hashed words and pairs of successive words, rows of length 1.
struct hp_bag {
  int64_t num_rows, width, num_entries;  // num_entries is written
  int32_t fold, reserved;                // fold: capital letters of ASCII count as small ones
  const uint8_t* text;
  const int32_t* offsets;  // (rows + 1): where the cells begin in the text
  const uint8_t* is_word;  // (256,): whether a byte belongs to a word
  int32_t* indices;        // room for one entry per byte of text
  float* data;
  int64_t *entries, *words;  // (rows,)
};

// One block of columns. Either a number per row (numbers), or at most one 1 per row (codes, -1 for
// none), or a CSR matrix (indptr, codes are its columns, numbers its values).
struct hp_block {
  int32_t first_column, reserved;
  const float* numbers;
  const int32_t *codes, *indptr;
};

// The blocks of some columns as one CSR matrix, without zeros.
struct hp_side_by_side {
  int64_t num_rows, num_blocks;
  const hp_block* blocks;
  int32_t *indptr, *indices;
  float* data;
};
}

namespace hp {

// The finaliser of MurmurHash3.
inline uint32_t mixed(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
  x = (x ^ (x >> 13)) * 0xC2B2AE35u;
  return x ^ (x >> 16);
}

inline void bag_of_words(hp_bag& of) {
  constexpr uint32_t kFactor = 0x9E3779B1u, kPair = 0x85EBCA77u;
  const auto width = static_cast<uint32_t>(of.width);
  uint8_t small[256];
  for (int b = 0; b < 256; ++b) small[b] = (of.fold && b >= 'A' && b <= 'Z') ? b + 32 : b;
  std::vector<uint32_t> columns;
  int64_t total = 0;
  for (int64_t row = 0; row < of.num_rows; ++row) {
    columns.clear();
    uint32_t before = 0;
    int64_t words = 0;
    const uint8_t *at = of.text + of.offsets[row], *end = of.text + of.offsets[row + 1];
    while (at < end) {
      if (!of.is_word[*at]) {
        ++at;
        continue;
      }
      uint32_t sum = 0, power = 1;
      for (; at < end && of.is_word[*at]; ++at, power *= kFactor) sum += (small[*at] + 1u) * power;
      const uint32_t hash = mixed(sum);
      columns.push_back(hash % width);
      if (words++) columns.push_back(mixed(before * kPair + hash) % width);
      before = hash;
    }
    std::sort(columns.begin(), columns.end());
    const int64_t first = total;
    double squares = 0;
    for (size_t from = 0, to; from < columns.size(); from = to) {
      for (to = from; to < columns.size() && columns[to] == columns[from];) ++to;
      const auto times = static_cast<float>(to - from);
      squares += static_cast<double>(times * times);
      of.indices[total] = static_cast<int32_t>(columns[from]);
      of.data[total++] = times;
    }
    const auto length = static_cast<float>(std::sqrt(squares));
    for (int64_t e = first; e < total; ++e) of.data[e] /= length;
    of.entries[row] = total - first;
    of.words[row] = words;
  }
  of.num_entries = total;
}

inline void side_by_side(const hp_side_by_side& of) {
  int32_t total = 0;
  of.indptr[0] = 0;
  for (int64_t row = 0; row < of.num_rows; ++row) {
    for (int64_t k = 0; k < of.num_blocks; ++k) {
      const hp_block& block = of.blocks[k];
      if (block.indptr) {
        for (int32_t e = block.indptr[row]; e < block.indptr[row + 1]; ++e, ++total) {
          of.indices[total] = block.first_column + block.codes[e];
          of.data[total] = block.numbers[e];
        }
      } else if (block.codes) {
        if (block.codes[row] < 0) continue;
        of.indices[total] = block.first_column + block.codes[row];
        of.data[total++] = 1;
      } else if (block.numbers[row] != 0) {
        of.indices[total] = block.first_column;
        of.data[total++] = block.numbers[row];
      }
    }
    of.indptr[row + 1] = total;
  }
}

}  // namespace hp
