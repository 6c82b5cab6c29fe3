// Finds the algebra of a shape: calls launcher.run<Algebra, Q, Exact>(algebra), with Q words of state,
// for the operators of one translation unit. `Exact`: the order is Q, not below.
#pragma once

#include "kernels/scan/algebra/scan_algebra.cuh"

namespace gdelta::scan {

/// How values lie in memory, and the words they are scanned in.
template <class StorageT, class WordT>
struct ValueTypes {
  using Storage = StorageT;
  using Word = WordT;
};

template <class F>
cudaError_t with_integer(Type type, F f) {
  switch (type_bytes(type)) {
    case 1:
      return f(ValueTypes<std::uint8_t, std::uint32_t>{});
    case 2:
      return f(ValueTypes<std::uint16_t, std::uint32_t>{});
    case 4:
      return f(ValueTypes<std::uint32_t, std::uint32_t>{});
    default:
      return f(ValueTypes<std::uint64_t, std::uint64_t>{});
  }
}

template <class F>
cudaError_t with_float(Type type, F f) {
  switch (type) {
    case Type::f16:
      return f(ValueTypes<__half, float>{});
    case Type::bf16:
      return f(ValueTypes<__nv_bfloat16, float>{});
    case Type::f32:
      return f(ValueTypes<float, float>{});
    default:
      return f(ValueTypes<double, double>{});
  }
}

/// Linear operators: one exchange; the order is rounded up to a power of two.
template <class Algebra, class Launcher>
cudaError_t run_linear(int order, const Launcher& launcher) {
  if (order == 1) return launcher.template run<Algebra, 1, true>({});
  if (order == 2) return launcher.template run<Algebra, 2, true>({});
  if (order <= 4) return launcher.template run<Algebra, 4, false>({});
  return launcher.template run<Algebra, 8, false>({});
}

/// Sums of integers.
template <class Launcher>
cudaError_t dispatch_sum(const Shape& shape, const Launcher& launcher) {
  return with_integer(shape.type, [&]<class Types>(Types) {
    return run_linear<SumAlgebra<typename Types::Storage, typename Types::Word>>(shape.order,
                                                                                 launcher);
  });
}

/// Xor (binomials mod 2), and the idempotent operators, whose orders are all order 1.
template <class Launcher>
cudaError_t dispatch_bits(const Shape& shape, const Launcher& launcher) {
  return with_integer(shape.type, [&]<class Types>(Types) {
    using Storage = typename Types::Storage;
    using Word = typename Types::Word;
    if (shape.op == Operator::bit_xor)
      return run_linear<XorAlgebra<Storage, Word>>(shape.order, launcher);
    const KeyMap map = key_map(shape);
    if (shape.op == Operator::max || shape.op == Operator::min) {
      using Algebra = MaxAlgebra<Storage, Word>;
      return launcher.template run<Algebra, 1, true>({static_cast<Word>(map.fold),
                                                      static_cast<Word>(map.flip),
                                                      static_cast<Word>(map.lowest)});
    }
    return launcher.template run<OrAlgebra<Storage, Word>, 1, true>({static_cast<Word>(map.flip)});
  });
}

/// Operators whose higher orders have no single-exchange form: products, and sums of floating-point
/// values (whose binomials would overflow long before the sums do). Half precision is kept in float
/// inside a tile and between tiles, and rounded when a result is written, at the end of every order.
template <class Launcher>
cudaError_t dispatch_rounds(const Shape& shape, const Launcher& launcher) {
  const auto product = [&]<class Types>(Types) {
    using Algebra = ProductAlgebra<typename Types::Storage, typename Types::Word>;
    return launcher.template run<Algebra, 1, true>({});
  };
  if (!is_float(shape.type)) return with_integer(shape.type, product);
  if (shape.op == Operator::product) return with_float(shape.type, product);
  return with_float(shape.type, [&]<class Types>(Types) {
    using Algebra = SumAlgebra<typename Types::Storage, typename Types::Word>;
    return launcher.template run<Algebra, 1, true>({});
  });
}

}  // namespace gdelta::scan
