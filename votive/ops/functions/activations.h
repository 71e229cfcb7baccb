// What stands between the layers of a network: relu and its kin, the sigmoids, and the gated ones (CONTRACT.md 2.3, 2.4). Integers and bool are converted
// to f32 first, except by relu and relu_squared. Gradients of fused ones are those of their compositions, to the bit.
#pragma once

#include "votive/core/tensor.h"

namespace votive {

/// maximum(x, +0): NaN stays, −0 becomes +0. Integers keep their dtype; class E. Its gradient at 0 is 0.
/// Example: relu(tensor({-1, 0, 2}))  // [0, 0, 2]
Tensor relu(const Tensor& x);
/// relu(x)², Primer's activation. Class E.
/// Example: relu_squared(tensor({-1, 3}))  // [0, 9]
Tensor relu_squared(const Tensor& x);
/// min(max(x, 0), 6). Class E. Its gradient at 0 and 6 is 0.
/// Example: relu6(tensor({-1, 3, 8}))  // [0, 3, 6]
Tensor relu6(const Tensor& x);
/// x, or slope·x below 0. Class E. Its gradient at 0 is the slope.
/// Example: leaky_relu(tensor({-2, 3}), 0.25)  // [-0.5, 3]
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// x, or weight·x below 0; a weight of one element, or of one for each channel (axis 1). Floats only; class E.
/// Throws Error{ShapeMismatch} for another number of weights.
/// Example: prelu(tensor({{-2, -2}}), tensor({0.25, 0.5}))  // [[-0.5, -1]]
Tensor prelu(const Tensor& x, const Tensor& weight);
/// x, or α·(eˣ − 1) below 0. Class P, ≤ 4 ulp.
/// Example: elu(tensor({0, 2}))  // [0, 2]
Tensor elu(const Tensor& x, double alpha = 1);
/// x, or α·(e^(x/α) − 1) below 0. Class P, ≤ 6 ulp. Throws Error{InvalidArgument} for α = 0.
/// Example: celu(tensor({0, 2}), 0.5)  // [0, 2]
Tensor celu(const Tensor& x, double alpha = 1);
/// 1.0507…·x, or 1.0507…·1.6733…·(eˣ − 1) below 0 (Klambauer et al. 2017). Class P, ≤ 4 ulp.
/// Example: selu(tensor({0, 1}))  // [0, 1.050701]
Tensor selu(const Tensor& x);
/// 1 / (1 + e⁻ˣ). Class P, ≤ 5 ulp.
/// Example: sigmoid(tensor({0, 1000}))  // [0.5, 1]
Tensor sigmoid(const Tensor& x);
/// ln(x / (1 − x)), the inverse of sigmoid; 0 and 1 give ∓inf, beyond NaN. Class P, ≤ 4 ulp.
/// Example: logit(tensor({0.5, 1}))  // [0, inf]
Tensor logit(const Tensor& x);
/// ln sigmoid(x) = −softplus(−x). Class P, ≤ 5 ulp.
/// Example: log_sigmoid(tensor({0, -1000}))  // [-0.6931472, -1000]
Tensor log_sigmoid(const Tensor& x);
/// ln(1 + eˣ), never overflowing early. Class P, ≤ 5 ulp.
/// Example: softplus(tensor({0, 1000}))  // [0.6931472, 1000]
Tensor softplus(const Tensor& x);
/// x / (1 + |x|). Class P, ≤ 1.5 ulp.
/// Example: softsign(tensor({-1, 3}))  // [-0.5, 0.75]
Tensor softsign(const Tensor& x);
/// x − tanh x without cancellation. Class P, ≤ 4 ulp.
/// Example: tanhshrink(tensor({0, 100}))  // [0, 99]
Tensor tanhshrink(const Tensor& x);
/// x·tanh(softplus(x)). Class P, ≤ 6 ulp.
/// Example: mish(tensor({0, 100}))  // [0, 100]
Tensor mish(const Tensor& x);
/// x·sigmoid(x), also known as swish. Class P, ≤ 6 ulp; silu(−inf) is −0.
/// Example: silu(tensor({0, 100}))  // [0, 100]
Tensor silu(const Tensor& x);
/// x·Φ(x) by erfc. Class P, ≤ 6 ulp.
/// Example: gelu(tensor({0, 100}))  // [0, 100]
Tensor gelu(const Tensor& x);
/// x·sigmoid(z), z = 2√(2/π)·(x + 0.044715·x³): the tanh form of gelu, finite for every finite x. Class P, ≤ 6 + 2·|z| ulp.
/// Example: gelu_tanh(tensor({0, 100}))  // [0, 100]
Tensor gelu_tanh(const Tensor& x);
/// x·sigmoid(1.702·x). Class P, ≤ 6 + 2·|1.702·x| ulp.
/// Example: quick_gelu(tensor({0, 100}))  // [0, 100]
Tensor quick_gelu(const Tensor& x);
/// relu6(x + 3) / 6. Class E.
/// Example: hardsigmoid(tensor({-4, 0, 4}))  // [0, 0.5, 1]
Tensor hardsigmoid(const Tensor& x);
/// x·relu6(x + 3) / 6. Class P, ≤ 2.5 ulp.
/// Example: hardswish(tensor({0, 4}))  // [0, 4]
Tensor hardswish(const Tensor& x);
/// min(max(x, low), high). Class E. Its gradient at low and high is 0, where clamp's is 1.
/// Example: hardtanh(tensor({-3, 0.5, 2}))  // [-1, 0.5, 1]
Tensor hardtanh(const Tensor& x, double low = -1, double high = 1);
/// x above limit, else value; NaN stays. Class E.
/// Example: threshold(tensor({1, 3}), 2, -7)  // [-7, 3]
Tensor threshold(const Tensor& x, double limit, double value);
/// x, or 0 within −limit..limit; NaN stays. Class E.
/// Example: hardshrink(tensor({-1, 0.25, 2}))  // [-1, 0, 2]
Tensor hardshrink(const Tensor& x, double limit = 0.5);
/// x moved by limit toward 0, or 0 within −limit..limit; NaN stays. Class E. Throws Error{InvalidArgument} for a negative limit.
/// Example: softshrink(tensor({-1, 0.25, 2}))  // [-0.5, 0, 1.5]
Tensor softshrink(const Tensor& x, double limit = 0.5);
/// silu(gate)·up, all inner work in f32 and one rounding. Class P, ≤ 6 ulp; and |up|·2⁻¹⁴⁹ more where silu is subnormal.
/// Example: swiglu(tensor({0, 100}), tensor({2, 3}))  // [0, 300]
Tensor swiglu(const Tensor& gate, const Tensor& up);
/// gelu(gate)·up, all inner work in f32 and one rounding. Class P, ≤ 7.5 ulp; and |up|·2⁻¹⁴⁹ more where gelu is subnormal.
/// Example: geglu(tensor({0, 100}), tensor({2, 3}))  // [0, 300]
Tensor geglu(const Tensor& gate, const Tensor& up);
/// a·sigmoid(b), where a and b are the halves of x along an axis. Floats only; class P.
/// Throws Error{InvalidAxis}, and Error{ShapeMismatch} for an odd size.
/// Example: glu(tensor({4, 6, 0, 0}))  // [2, 3]
Tensor glu(const Tensor& x, int axis = -1);

}  // namespace votive
