#include "kernels/scan/scan_cpu.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>

#include "kernels/scan/algebra/half_float.h"

namespace gdelta::scan {
namespace {

// Blocks are a fixed number of values, whatever the number of threads: floating-point results
// depend on the cut.
constexpr std::uint64_t kBlockValues = std::uint64_t{1} << 18;

/// How the rows of a scan are shared out.
struct Cut {
  std::uint64_t tuple;
  std::uint64_t rows;
  bool by_columns;  ///< a large stride: every value is read once
  std::uint64_t block_rows;
  std::uint64_t blocks;

  explicit Cut(const Shape& shape)
      : tuple(std::min(shape.tuple, shape.count)),
        rows(shape.count / tuple + (shape.count % tuple != 0)),
        by_columns(tuple >= kBlockValues / 4),
        block_rows(std::max<std::uint64_t>(1, kBlockValues / tuple)),
        blocks((rows + block_rows - 1) / block_rows) {}

  /// Words of state: of all columns, or of the lanes before each block.
  std::uint64_t words() const { return by_columns ? tuple : blocks * tuple; }
};

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
  Word lowest;
  Word sign_of(Storage x) const {
    return static_cast<Word>(static_cast<std::make_signed_t<Storage>>(x) >>
                             (8 * sizeof(Storage) - 1));
  }
  Word load(Storage x) const { return static_cast<Word>(x ^ (sign_of(x) & fold) ^ flip); }
  Storage store(Word key) const {
    const Word z = static_cast<Word>(key ^ flip);
    return key == 0 ? lowest : static_cast<Storage>(z ^ (sign_of(z) & fold));
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

  Pass(const Codec& codec, const Shape& shape, const Storage* in, Storage* out, Word* states,
       bool exclusive)
      : codec_(codec),
        in_(in),
        out_(out),
        states_(states),
        cut_(shape),
        count_(shape.count),
        tuple_(cut_.tuple),
        backward_(shape.backward),
        exclusive_(exclusive) {}

  void run() {
    std::uninitialized_fill_n(states_, cut_.words(), Op::template identity<Word>());
    if (cut_.by_columns) return walk_columns();
    const auto carries_of = [&](std::uint64_t b) { return states_ + b * tuple_; };
    if (cut_.blocks > 1) {
      tbb::parallel_for(std::uint64_t{0}, cut_.blocks - 1, [&](std::uint64_t b) {
        scan_rows<false>(b * cut_.block_rows, (b + 1) * cut_.block_rows, carries_of(b + 1), 0,
                         tuple_);
      });
      for (std::uint64_t b = 2; b < cut_.blocks; ++b) {
        for (std::uint64_t l = 0; l < tuple_; ++l) {
          Word& later = carries_of(b)[l];
          later = Op::apply(carries_of(b - 1)[l], later);
        }
      }
    }
    tbb::parallel_for(std::uint64_t{0}, cut_.blocks, [&](std::uint64_t b) {
      scan_rows<true>(b * cut_.block_rows, std::min(cut_.rows, (b + 1) * cut_.block_rows),
                      carries_of(b), 0, tuple_);
    });
  }

 private:
  /// Threads share out the columns.
  void walk_columns() {
    const std::uint64_t width = kBlockValues / 64;
    const std::uint64_t strips = (tuple_ + width - 1) / width;
    tbb::parallel_for(std::uint64_t{0}, strips, [&](std::uint64_t s) {
      const std::uint64_t begin = s * width;
      const std::uint64_t end = std::min(tuple_, begin + width);
      scan_rows<true>(0, cut_.rows, states_ + begin, begin, end);
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
  Word* states_;
  Cut cut_;
  std::uint64_t count_;
  std::uint64_t tuple_;
  bool backward_;
  bool exclusive_;
};

template <class Op, class Codec>
void scan_orders(const Codec& codec, const Shape& shape, const void* in, void* out, void* scratch) {
  using Storage = typename Codec::Storage;
  const int orders = is_idempotent(shape.op) ? 1 : shape.order;
  for (int q = 1; q <= orders; ++q) {
    const void* const from = q == 1 ? in : out;
    Pass<Op, Codec>(codec, shape, static_cast<const Storage*>(from), static_cast<Storage*>(out),
                    static_cast<typename Codec::Word*>(scratch), shape.exclusive && q == orders)
        .run();
  }
}

/// Narrow words overflow `int` in products; wrap in 32 bits and cut on store.
template <class Storage>
using WordOf = std::conditional_t<sizeof(Storage) == 8, std::uint64_t, std::uint32_t>;

template <class Storage>
void scan_integers(const Shape& shape, const void* in, void* out, void* scratch) {
  const KeyMap map = key_map(shape);
  const KeyCodec<Storage> keys{static_cast<Storage>(map.fold), static_cast<Storage>(map.flip),
                               static_cast<Storage>(map.lowest)};
  const PlainCodec<Storage, WordOf<Storage>> plain;
  switch (shape.op) {
    case Operator::sum:
      return scan_orders<Sum>(plain, shape, in, out, scratch);
    case Operator::product:
      return scan_orders<Product>(plain, shape, in, out, scratch);
    case Operator::max:
    case Operator::min:
      return scan_orders<Max>(keys, shape, in, out, scratch);
    case Operator::bit_xor:
      return scan_orders<Xor>(plain, shape, in, out, scratch);
    case Operator::bit_and:
    case Operator::bit_or:
      return scan_orders<Or>(keys, shape, in, out, scratch);
  }
}

template <class Codec, class Storage>
void scan_floats(const Shape& shape, const void* in, void* out, void* scratch) {
  if (shape.op == Operator::sum) return scan_orders<Sum>(Codec{}, shape, in, out, scratch);
  if (shape.op == Operator::product) return scan_orders<Product>(Codec{}, shape, in, out, scratch);
  scan_integers<Storage>(shape, in, out, scratch);
}

}  // namespace

std::size_t scan_cpu_scratch_bytes(const Shape& shape) {
  if (shape.count == 0) return 0;
  return Cut(shape).words() * std::max(type_bytes(shape.type), 4);
}

void scan_cpu(const Shape& shape, const void* in, void* out, void* scratch) {
  if (shape.count == 0) return;
  switch (shape.type) {
    case Type::i8:
    case Type::u8:
      return scan_integers<std::uint8_t>(shape, in, out, scratch);
    case Type::i16:
    case Type::u16:
      return scan_integers<std::uint16_t>(shape, in, out, scratch);
    case Type::i32:
    case Type::u32:
      return scan_integers<std::uint32_t>(shape, in, out, scratch);
    case Type::i64:
    case Type::u64:
      return scan_integers<std::uint64_t>(shape, in, out, scratch);
    case Type::f16:
      return scan_floats<HalfCodec<Binary16>, std::uint16_t>(shape, in, out, scratch);
    case Type::bf16:
      return scan_floats<HalfCodec<BFloat16>, std::uint16_t>(shape, in, out, scratch);
    case Type::f32:
      return scan_floats<PlainCodec<float, float>, std::uint32_t>(shape, in, out, scratch);
    case Type::f64:
      return scan_floats<PlainCodec<double, double>, std::uint64_t>(shape, in, out, scratch);
  }
}

}  // namespace gdelta::scan
