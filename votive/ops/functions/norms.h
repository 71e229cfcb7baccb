// Softmax and the normalising layers: rows scaled by what is in them (CONTRACT.md 4.1, 4.2).
#pragma once

#include "votive/core/tensor.h"
#include "votive/ops/functions/reductions.h"

namespace votive {

struct SoftmaxOptions {
  int axis = -1;
};
/// y[i] = exp(x[i] − m) / Σ exp(x − m), m = max x, along an axis. Floats keep their dtype, integers and bool give f32.
/// Class P, f32 inside (f64 for f64), one rounding: f16 zeros of length 4096 give 1/4096. NaN or +∞ in a row, or −∞ alone, gives NaN.
/// Throws Error{InvalidAxis, DTypeMismatch}. Source: Blanchard, Higham & Higham, IMA J. Numer. Anal. 41 (2021).
/// Example: softmax(tensor({0, 0}))  // [0.5, 0.5]
Tensor softmax(const Tensor& x, SoftmaxOptions options = {});
/// log softmax(x) = (x − m) − log Σ exp(x − m). Class P, as softmax.
/// Example: log_softmax(tensor({0, 0}))  // [-0.6931472, -0.6931472]
Tensor log_softmax(const Tensor& x, SoftmaxOptions options = {});
/// softmax(−x). Class P.
/// Example: softmin(tensor({0, 0}))  // [0.5, 0.5]
Tensor softmin(const Tensor& x, SoftmaxOptions options = {});
struct NormOptions {
  float epsilon = 1e-5f;
  int axes = 1;  // of layer_norm and rms_norm: how many trailing axes are normalised together
};
/// (x · r) · γ, r = 1/√(mean(x²) + ε) over the trailing axes; γ of their shape and of x's dtype, or absent.
/// Class P, f32 inside (f64 for f64), one rounding. Throws Error{DTypeMismatch, ShapeMismatch, InvalidArgument}. Source: Zhang & Sennrich 2019.
/// Example: rms_norm(tensor({2, 2}), {}, {.epsilon = 0})  // [1, 1]
Tensor rms_norm(const Tensor& x, const Tensor& gamma = {}, NormOptions options = {});
/// ((x − μ) · r) · γ + β, r = 1/√(var + ε) over the trailing axes; γ and β of their shape and of x's dtype, or absent. The variance takes two passes.
/// Class P, f32 inside (f64 for f64), one rounding. Throws Error{DTypeMismatch, ShapeMismatch, InvalidArgument}. Source: Ba, Kiros & Hinton 2016.
/// Example: layer_norm(tensor({1, 3}), {}, {}, {.epsilon = 0})  // [-1, 1]
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {}, NormOptions options = {});
/// layer_norm over each of `groups` runs of channels with all their positions: x [B, C, …], γ and β [C] of x's dtype, or absent.
/// Class P, as layer_norm. Throws Error{InvalidArgument} unless groups divides C. Source: Wu & He 2018.
/// Example: group_norm(tensor({{1, 3, 2, 6}}), 2, {}, {}, {.epsilon = 0})  // [[-1, 1, -1, 1]]
Tensor group_norm(const Tensor& x, Size groups, const Tensor& gamma = {}, const Tensor& beta = {}, NormOptions options = {});
/// group_norm with a group per channel: every channel of every sample by itself. Class P. Source: Ulyanov et al. 2016.
/// Example: instance_norm(tensor({{{1, 3}, {2, 6}}}), {}, {}, {.epsilon = 0})  // [[[-1, 1], [-1, 1]]]
Tensor instance_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {}, NormOptions options = {});
/// ((x − mean[c]) · r[c]) · γ[c] + β[c], r = 1/√(variance + ε), x [B, C, …], the others [C] of x's dtype or f32, γ and β also absent.
/// Class P, f32 inside (f64 for f64), one rounding. Throws Error{DTypeMismatch, ShapeMismatch, InvalidArgument}. Source: Ioffe & Szegedy 2015.
/// Example: batch_norm(tensor({{3}, {5}}), tensor({1}), tensor({4}), {}, {}, {.epsilon = 0})  // [[1], [2]]
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& gamma = {}, const Tensor& beta = {},
                  NormOptions options = {});
struct BatchNormalised {
  Tensor y, mean, variance;  // the variance divides by n; a running one takes n/(n − 1) of it
};
/// batch_norm by the mean and variance that the batch itself has in each channel, in f32 (f64 for f64); both are returned for running statistics.
/// Class P. Its gradient passes through them.
/// Example: batch_norm_training(tensor({{3}, {5}}), {}, {}, {.epsilon = 0}).y  // [[-1], [1]]
BatchNormalised batch_norm_training(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {}, NormOptions options = {});
struct LocalResponseOptions {
  double alpha = 1e-4, beta = 0.75, k = 1;
};
/// x / (k + α/size · Σ x²)^β, the sum over `size` channels around each: size/2 before it, (size − 1)/2 after, in ascending order. x [B, C, …].
/// Class P, f32 inside (f64 for f64), one rounding. Source: Krizhevsky et al. 2012, with PyTorch's α/size.
/// Example: local_response_norm(tensor({{1, 1}}), 1, {.alpha = 3, .beta = 1})  // [[0.25, 0.25]]
Tensor local_response_norm(const Tensor& x, Size size, LocalResponseOptions options = {});
struct NormalizeOptions {
  double p = 2;
  Axes axis = {1};
  float epsilon = 1e-12f;
};
/// x / max(norm(x), ε) along axes (the second, as in PyTorch). Class E for p = 2. Throws Error{DTypeMismatch, InvalidAxis}.
/// Example: normalize(tensor({{3, 4}}))  // [[0.6, 0.8]]
Tensor normalize(const Tensor& x, const NormalizeOptions& options = {});

}  // namespace votive
