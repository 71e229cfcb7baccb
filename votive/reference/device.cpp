// Which kernels the `reference` device has. Packed weights are not among its inputs: they are a matter of one CPU's speed.
#include "votive/reference/device.h"

#include "votive/reference/kernels.h"

namespace votive::reference {

void register_kernels(Kernels& kernels) {
  constexpr Device device = Device::reference;
  kernels.add<Fill>(device, fill);
  kernels.add<Arange>(device, arange);
  kernels.add<OneHot>(device, one_hot);
  kernels.add<Random>(device, random);
  kernels.add<Unary>(device, unary);
  kernels.add<UnaryWith>(device, unary_with);
  kernels.add<Binary>(device, binary);
  kernels.add<Ternary>(device, ternary);
  kernels.add<Where>(device, where);
  kernels.add<Cast>(device, cast);
  kernels.add<Copy>(device, copy);
  kernels.add<Place>(device, place);
  kernels.add<Overlay>(device, overlay);
  kernels.add<Triangle>(device, triangle);
  kernels.add<Bitcast>(device, bitcast);
  kernels.add<Locate>(device, locate);
  kernels.add<Concat>(device, concat);
  kernels.add<Reduce>(device, reduce);
  kernels.add<ArgReduce>(device, arg_reduce);
  kernels.add<Statistic>(device, statistic);
  kernels.add<Scan>(device, scan);
  kernels.add<ScanExtreme>(device, scan_extreme);
  kernels.add<Recurrence>(device, linear_recurrence);
  kernels.add<Sort>(device, sort);
  kernels.add<Rank>(device, rank);
  kernels.add<SearchSorted>(device, search_sorted);
  kernels.add<Softmax>(device, softmax);
  kernels.add<RmsNorm>(device, rms_norm);
  kernels.add<LayerNorm>(device, layer_norm);
  kernels.add<BatchNorm>(device, batch_norm);
  kernels.add<Matmul>(device, matmul);
  kernels.add<IntegerMatmul>(device, integer_matmul);
  kernels.add<Conv>(device, conv);
  kernels.add<ConvTranspose>(device, conv_transpose);
  kernels.add<Im2Col>(device, im2col);
  kernels.add<Col2Im>(device, col2im);
  kernels.add<MaxPool>(device, max_pool);
  kernels.add<MaxUnpool>(device, max_unpool);
  kernels.add<AveragePool>(device, avg_pool);
  kernels.add<AverageSpread>(device, avg_spread);
  kernels.add<Interpolate>(device, interpolate);
  kernels.add<GridSample>(device, grid_sample);
  kernels.add<Attention>(device, attention);
  kernels.add<Embedding>(device, embedding);
  kernels.add<IndexSelect>(device, index_select);
  kernels.add<Gather>(device, gather);
  kernels.add<IndexPlaces>(device, index_places);
  kernels.add<Nonzero>(device, nonzero);
  kernels.add<Scatter>(device, scatter);
  kernels.add<Rope>(device, rope);
}

}  // namespace votive::reference
