// The kernels of the `reference` device: one plain function per operation, in the file of its subject.
#pragma once

#include <span>

#include "votive/ops/attention.h"
#include "votive/ops/conv.h"
#include "votive/ops/create.h"
#include "votive/ops/index.h"
#include "votive/ops/index_syntax.h"
#include "votive/ops/matmul.h"
#include "votive/ops/movement.h"
#include "votive/ops/norm.h"
#include "votive/ops/order.h"
#include "votive/ops/pointwise.h"
#include "votive/ops/pool.h"
#include "votive/ops/reduce.h"
#include "votive/ops/resample.h"
#include "votive/ops/scan.h"
#include "votive/ops/scatter.h"

namespace votive::reference {

void fill(const Fill&, Tensor& y, Stream&);
void arange(const Arange&, Tensor& y, Stream&);
void one_hot(const OneHot&, const Tensor& ids, Tensor& y, Stream&);
void random(const Random&, Tensor& y, Stream&);

void unary(const Unary&, const Tensor& x, Tensor& y, Stream&);
void unary_with(const UnaryWith&, const Tensor& x, Tensor& y, Stream&);
void binary(const Binary&, const Tensor& a, const Tensor& b, Tensor& y, Stream&);
void ternary(const Ternary&, const Tensor& a, const Tensor& b, const Tensor& c, Tensor& y, Stream&);
void where(const Where&, const Tensor& condition, const Tensor& a, const Tensor& b, Tensor& y, Stream&);
void cast(const Cast&, const Tensor& x, Tensor& y, Stream&);
void copy(const Copy&, const Tensor& x, Tensor& y, Stream&);
void place(const Place&, const Tensor& x, Tensor& y, Stream&);
void overlay(const Overlay&, const Tensor& x, const Tensor& source, Tensor& y, Stream&);
void triangle(const Triangle&, const Tensor& x, Tensor& y, Stream&);
void locate(const Locate&, std::span<const Tensor> indices, Tensor& y, Stream&);
void bitcast(const Bitcast&, const Tensor& x, Tensor& y, Stream&);
void concat(const Concat&, std::span<const Tensor> x, Tensor& y, Stream&);

void reduce(const Reduce&, const Tensor& x, Tensor& y, Stream&);
void arg_reduce(const ArgReduce&, const Tensor& x, Tensor& y, Stream&);
void statistic(const Statistic&, const Tensor& x, Tensor& y, Stream&);
void scan(const Scan&, const Tensor& x, Tensor& y, Stream&);
void scan_extreme(const ScanExtreme&, const Tensor& x, Tensor& values, Tensor& indices, Stream&);
void linear_recurrence(const Recurrence&, const Tensor& a, const Tensor& b, Tensor& y, Stream&);
void softmax(const Softmax&, const Tensor& x, Tensor& y, Stream&);
void rms_norm(const RmsNorm&, const Tensor& x, const Tensor& gamma, Tensor& y, Stream&);
void layer_norm(const LayerNorm&, const Tensor& x, const Tensor& gamma, const Tensor& beta, Tensor& y, Stream&);
void batch_norm(const BatchNorm&, const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& gamma, const Tensor& beta,
                Tensor& y, Stream&);

void matmul(const Matmul&, const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& y, Stream&);
void integer_matmul(const IntegerMatmul&, const Tensor& a, const Tensor& b, Tensor& y, Stream&);
void conv(const Conv&, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y, Stream&);
void conv_transpose(const ConvTranspose&, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y, Stream&);
void im2col(const Im2Col&, const Tensor& x, Tensor& y, Stream&);
void col2im(const Col2Im&, const Tensor& x, Tensor& y, Stream&);
void max_pool(const MaxPool&, const Tensor& x, Tensor& values, Tensor& indices, Stream&);
void max_unpool(const MaxUnpool&, const Tensor& x, const Tensor& indices, Tensor& y, Stream&);
void avg_pool(const AveragePool&, const Tensor& x, Tensor& y, Stream&);
void avg_spread(const AverageSpread&, const Tensor& x, Tensor& y, Stream&);
void interpolate(const Interpolate&, const Tensor& x, Tensor& y, Stream&);
void grid_sample(const GridSample&, const Tensor& x, const Tensor& grid, Tensor& y, Stream&);
void attention(const Attention&, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& slopes, Tensor& y,
               Stream&);

void embedding(const Embedding&, const Tensor& table, const Tensor& ids, Tensor& y, Stream&);
void index_select(const IndexSelect&, const Tensor& x, const Tensor& indices, Tensor& y, Stream&);
void gather(const Gather&, const Tensor& x, const Tensor& indices, Tensor& y, Stream&);
void index_places(const IndexPlaces&, const Tensor& indices, Tensor& y, Stream&);
void nonzero(const Nonzero&, const Tensor& mask, Tensor& y, Stream&);
void scatter(const Scatter&, const Tensor& x, const Tensor& indices, const Tensor& source, Tensor& y, Stream&);
void rank(const Rank&, const Tensor& x, Tensor& y, Stream&);
void search_sorted(const SearchSorted&, const Tensor& sorted, const Tensor& values, Tensor& y, Stream&);
void sort(const Sort&, const Tensor& x, Tensor& values, Tensor& indices, Stream&);
void rope(const Rope&, const Tensor& x, const Tensor& positions, const Tensor& frequencies, Tensor& y, Stream&);

}  // namespace votive::reference
