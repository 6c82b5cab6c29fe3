#include "kernels/scan/scan_cpu.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/scan/algebra/half_float.h"

namespace gdelta::scan {
namespace {

// Blocks are a fixed number of values, whatever the number of threads: floating-point results
// depend on the cut.
constexpr std::uint64_t kBlockValues = std::uint64_t{1} << 18;

struct Sum {
  template <class W>
  static W apply(W a, W b) {
    return a + b;
  }
  template <class W>
  static constexpr W identity() {
    return W(0);
  }
};
struct Product {
  template <class W>
  static W apply(W a, W b) {
    return a * b;
  }
  template <class W>
  static constexpr W identity() {
    return W(1);
  }
};
struct Max {
  template <class W>
  static W apply(W a, W b) {
    return a > b ? a : b;
  }
  template <class W>
  static constexpr W identity() {
    return W(0);
  }
};
struct Xor {
  template <class W>
  static W apply(W a, W b) {
    return a ^ b;
  }
  template <class W>
  static constexpr W identity() {
    return W(0);
  }
};
struct Or {
  template <class W>
  static W apply(W a, W b) {
    return a | b;
  }
  template <class W>
  static constexpr W identity() {
    return W(0);
  }
};

/// Values as they are.
template <class StorageT, class WordT>
struct PlainCodec {
  using Storage = StorageT;
  using Word = WordT;
  Word load(Storage x) const { return static_cast<Word>(x); }
  Storage store(Word y) const { return static_cast<Storage>(y); }
};

/// Values as keys of KeyMap.
template <class StorageT>
struct KeyCodec {
  using Storage = StorageT;
  using Word = StorageT;
  Word fold;
  Word flip;
  Word first;
  Word sign_of(Storage x) const {
    return static_cast<Word>(static_cast<std::make_signed_t<Storage>>(x) >>
                             (8 * sizeof(Storage) - 1));
  }
  Word load(Storage x) const { return static_cast<Word>(x ^ (sign_of(x) & fold) ^ flip); }
  Storage store(Word key) const {
    const Word z = static_cast<Word>(key ^ flip);
    return key == 0 ? first : static_cast<Storage>(z ^ (sign_of(z) & fold));
  }
};

template <class Half>
struct HalfCodec {
  using Storage = std::uint16_t;
  using Word = float;
  Word load(Storage x) const { return Half::to_float(x); }
  Storage store(Word y) const { return Half::from_float(y); }
};

/// One order over rows of `tuple` values. `at(i)` maps scan order to the array.
template <class Op, class Codec>
class Pass {
 public:
  using Storage = typename Codec::Storage;
  using Word = typename Codec::Word;

  Pass(const Codec& codec, const Shape& shape, const Storage* in, Storage* out, bool exclusive)
      : codec_(codec),
        in_(in),
        out_(out),
        count_(shape.count),
        tuple_(std::min(shape.tuple, shape.count)),
        backward_(shape.backward),
        exclusive_(exclusive) {}

  void run() {
    const std::uint64_t rows = count_ / tuple_ + (count_ % tuple_ != 0);
    if (tuple_ >= kBlockValues / 4) {
      walk_columns(rows);
      return;
    }
    const std::uint64_t block_rows = std::max<std::uint64_t>(1, kBlockValues / tuple_);
    const std::uint64_t blocks = (rows + block_rows - 1) / block_rows;
    std::vector<Word> carries(blocks * tuple_, Op::template identity<Word>());
    if (blocks > 1) {
      tbb::parallel_for(std::uint64_t{0}, blocks - 1, [&](std::uint64_t b) {
        scan_rows<false>(b * block_rows, (b + 1) * block_rows, carries.data() + (b + 1) * tuple_, 0,
                         tuple_);
      });
      for (std::uint64_t b = 2; b < blocks; ++b) {
        for (std::uint64_t l = 0; l < tuple_; ++l) {
          Word& later = carries[b * tuple_ + l];
          later = Op::apply(carries[(b - 1) * tuple_ + l], later);
        }
      }
    }
    tbb::parallel_for(std::uint64_t{0}, blocks, [&](std::uint64_t b) {
      scan_rows<true>(b * block_rows, std::min(rows, (b + 1) * block_rows),
                      carries.data() + b * tuple_, 0, tuple_);
    });
  }

 private:
  /// A large stride: threads share out the columns and every value is read once.
  void walk_columns(std::uint64_t rows) {
    const std::uint64_t width = kBlockValues / 64;
    const std::uint64_t strips = (tuple_ + width - 1) / width;
    tbb::parallel_for(std::uint64_t{0}, strips, [&](std::uint64_t s) {
      const std::uint64_t begin = s * width;
      const std::uint64_t end = std::min(tuple_, begin + width);
      std::vector<Word> state(end - begin, Op::template identity<Word>());
      scan_rows<true>(0, rows, state.data(), begin, end);
    });
  }

  /// Rows [begin, end), lanes [first, last), from and into `state`.
  template <bool Write>
  void scan_rows(std::uint64_t begin, std::uint64_t end, Word* state, std::uint64_t first,
                 std::uint64_t last) {
    if (tuple_ == 1) {
      Word sum = state[0];
      for (std::uint64_t i = begin; i < std::min(end, count_); ++i) visit<Write>(i, sum);
      state[0] = sum;
      return;
    }
    for (std::uint64_t row = begin; row < end; ++row) {
      const std::uint64_t base = row * tuple_;
      const std::uint64_t stop = std::min(last, base < count_ ? count_ - base : 0);
      for (std::uint64_t l = first; l < stop; ++l) visit<Write>(base + l, state[l - first]);
    }
  }

  template <bool Write>
  void visit(std::uint64_t i, Word& sum) {
    const std::uint64_t at = backward_ ? count_ - 1 - i : i;
    const Word before = sum;
    sum = Op::apply(sum, codec_.load(in_[at]));
    if constexpr (Write) out_[at] = codec_.store(exclusive_ ? before : sum);
  }

  const Codec& codec_;
  const Storage* in_;
  Storage* out_;
  std::uint64_t count_;
  std::uint64_t tuple_;
  bool backward_;
  bool exclusive_;
};

template <class Op, class Codec>
void scan_orders(const Codec& codec, const Shape& shape, const void* in, void* out) {
  using Storage = typename Codec::Storage;
  const int orders = is_idempotent(shape.op) ? 1 : shape.order;
  for (int q = 1; q <= orders; ++q) {
    const void* const from = q == 1 ? in : out;
    Pass<Op, Codec>(codec, shape, static_cast<const Storage*>(from), static_cast<Storage*>(out),
                    shape.exclusive && q == orders)
        .run();
  }
}

/// Narrow words overflow `int` in products; wrap in 32 bits and cut on store.
template <class Storage>
using WordOf = std::conditional_t<sizeof(Storage) == 8, std::uint64_t, std::uint32_t>;

template <class Storage>
void scan_integers(const Shape& shape, const void* in, void* out) {
  const KeyMap map = key_map(shape.op, shape.type);
  const KeyCodec<Storage> keys{static_cast<Storage>(map.fold), static_cast<Storage>(map.flip),
                               static_cast<Storage>(map.identity)};
  const PlainCodec<Storage, WordOf<Storage>> plain;
  switch (shape.op) {
    case Operator::sum:
      return scan_orders<Sum>(plain, shape, in, out);
    case Operator::product:
      return scan_orders<Product>(plain, shape, in, out);
    case Operator::max:
    case Operator::min:
      return scan_orders<Max>(keys, shape, in, out);
    case Operator::bit_xor:
      return scan_orders<Xor>(plain, shape, in, out);
    case Operator::bit_and:
    case Operator::bit_or:
      return scan_orders<Or>(keys, shape, in, out);
  }
}

template <class Codec, class Storage>
void scan_floats(const Shape& shape, const void* in, void* out) {
  if (shape.op == Operator::sum) return scan_orders<Sum>(Codec{}, shape, in, out);
  if (shape.op == Operator::product) return scan_orders<Product>(Codec{}, shape, in, out);
  scan_integers<Storage>(shape, in, out);
}

}  // namespace

void scan_cpu(const Shape& shape, const void* in, void* out) {
  if (shape.count == 0) return;
  switch (shape.type) {
    case Type::i8:
    case Type::u8:
      return scan_integers<std::uint8_t>(shape, in, out);
    case Type::i16:
    case Type::u16:
      return scan_integers<std::uint16_t>(shape, in, out);
    case Type::i32:
    case Type::u32:
      return scan_integers<std::uint32_t>(shape, in, out);
    case Type::i64:
    case Type::u64:
      return scan_integers<std::uint64_t>(shape, in, out);
    case Type::f16:
      return scan_floats<HalfCodec<Binary16>, std::uint16_t>(shape, in, out);
    case Type::bf16:
      return scan_floats<HalfCodec<BFloat16>, std::uint16_t>(shape, in, out);
    case Type::f32:
      return scan_floats<PlainCodec<float, float>, std::uint32_t>(shape, in, out);
    case Type::f64:
      return scan_floats<PlainCodec<double, double>, std::uint64_t>(shape, in, out);
  }
}

}  // namespace gdelta::scan
