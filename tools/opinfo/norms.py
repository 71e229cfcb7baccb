"""Spellings of softmax, the normalising layers, attention and losses (CONTRACT.md 4.1, 4.2, 4.5)."""
import torch

from calls import ABSOLUTE, CLOSE, RELATIVE, Call, Meant, Skip, f32, floats_only, spelling
from movement import ON_A_SCALAR

SCALAR = [ON_A_SCALAR]
NORM = CLOSE(64)


def along(name, ours, bound):
    @spelling(name, bound, meant=SCALAR)
    def _(x, dim, dtype=None):
        return Call(ours, x, axis=dim, to=dtype)


along("softmax", "softmax", RELATIVE(64))


@spelling("torch.ops.aten._safe_softmax.default", RELATIVE(64), meant=SCALAR + [
    Meant("a row of all −inf is NaN in softmax; attention has the safe one (CONTRACT.md 4.1, 4.5)", where=where,
          when=lambda case, *_: bool((case.call.inputs[0] == -torch.inf).any())) for where in ("values", "gradient")])
def _(x, dim, dtype=None):
    return Call("softmax", x, axis=dim, to=dtype)


along("log_softmax", "log_softmax", ABSOLUTE(64))
along("nn.functional.softmin", "softmin", RELATIVE(64))


@spelling("nn.functional.layer_norm", NORM, gradient=1e-11, floor=1.0)
def _(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    return layer_norm(x, normalized_shape, weight, bias, eps)


@spelling("native_layer_norm", NORM, gradient=1e-11, floor=1.0)
def _(x, normalized_shape, weight, bias, eps):
    return layer_norm(x, normalized_shape, weight, bias, eps)


def layer_norm(x, shape, weight, bias, eps):
    if eps < 0:
        raise Skip("a negative epsilon")
    return Call("layer_norm", x, weight, bias, epsilon=f32(eps), axes=len(shape),
                expect=lambda: torch.nn.functional.layer_norm(x, shape, weight, bias, f32(eps)))


@spelling("nn.functional.rms_norm", NORM, gradient=1e-11, floor=1.0)
def _(x, normalized_shape, weight=None, eps=None):
    if eps is not None and eps < 0:
        raise Skip("a negative epsilon")
    eps = torch.finfo(x.dtype).eps if eps is None else f32(eps)
    return Call("rms_norm", x, weight, epsilon=eps, axes=len(normalized_shape), expect=lambda: torch.nn.functional.rms_norm(x, normalized_shape, weight, eps))


@spelling("nn.functional.group_norm", NORM, gradient=1e-11, floor=1.0)
def _(x, groups, weight=None, bias=None, eps=1e-5):
    if eps < 0:
        raise Skip("a negative epsilon")
    return Call("group_norm", x, weight, bias, groups=groups, epsilon=f32(eps),
                expect=lambda: torch.nn.functional.group_norm(x, groups, weight, bias, f32(eps)))


@spelling("nn.functional.instance_norm", NORM, gradient=1e-11, floor=1.0)
def _(x, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    if not use_input_stats:
        raise Skip("instance_norm with running statistics: one writes batch_norm")
    eps = f32(eps)
    return Call("instance_norm", x, weight, bias, epsilon=eps,
                expect=lambda: torch.nn.functional.instance_norm(x, None, None, weight, bias, True, momentum, eps))


@spelling("nn.functional.batch_norm", NORM, gradient=1e-11, floor=1.0, meant=[Meant("a batch has two axes", error="shape mismatch")])
def _(x, mean, var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    eps = f32(eps)
    if training:
        return Call("batch_norm_training", x, weight, bias, epsilon=eps,
                    expect=lambda: torch.nn.functional.batch_norm(x, None, None, weight, bias, True, momentum, eps))
    return Call("batch_norm", x, mean, var, weight, bias, epsilon=eps,
                expect=lambda: torch.nn.functional.batch_norm(x, mean, var, weight, bias, False, momentum, eps))


@spelling("nn.functional.normalize", RELATIVE(32), meant=SCALAR, floor=1.0)
def _(x, p=2.0, dim=1, eps=1e-12):
    return Call("normalize", x, p=p, axis=dim, epsilon=eps)


@spelling("nn.functional.cosine_similarity", ABSOLUTE(48), meant=SCALAR, floor=1.0)
def _(a, b, dim=1, eps=1e-8):
    return Call("cosine_similarity", a, b, axis=dim, epsilon=eps)


@spelling("nn.functional.pairwise_distance", ABSOLUTE(8, steps=True), dtypes={"f32", "f64", "bf16", "f16"})
def _(a, b, p=2.0, eps=1e-6, keepdim=False):
    return Call("pairwise_distance", a, b, p=p, epsilon=eps, keep=keepdim)


@spelling("nn.functional.scaled_dot_product_attention", CLOSE(256))
def _(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if dropout_p:
        raise Skip("attention with dropout")
    if q.dim() != 4:
        raise Skip("attention without heads: one writes unsqueeze")
    if is_causal and q.shape[-2] != k.shape[-2]:
        raise Skip("a causal mask of fewer queries than keys starts elsewhere: ours ends with the last key, as a KV cache needs")
    scale = f32(q.shape[-1] ** -0.5 if scale is None else scale)
    return Call("attention", q, k, v, attn_mask, causal=is_causal, scale=scale, expect=lambda: torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa))


LOSSES = floats_only("a loss is") + [
    Meant("x, y and their variance have one shape, logits at least one axis: one writes broadcast_to", error="shape mismatch")]


def loss(name, ours, bound=ABSOLUTE(64), **how):
    """A loss of input and target that has a reduction and other attributes by PyTorch's names."""
    def keep(translate):
        def with_reduction(*arguments, reduction="mean", size_average=None, reduce=None, **kwargs):
            call = translate(*arguments, **kwargs)
            call.name = ours
            call.attributes["reduction"] = reduction
            return call
        how["meant"] = LOSSES + how.get("meant", [])
        spelling(name, bound, **how)(with_reduction)
        return translate
    return keep


@loss("nn.functional.mse_loss", "mse_loss")
def _(x, y):
    return Call("", x, y)


@loss("nn.functional.l1_loss", "l1_loss")
def _(x, y):
    return Call("", x, y)


@loss("nn.functional.smooth_l1_loss", "smooth_l1_loss")
def _(x, y, beta=1.0):
    return Call("", x, y, beta=beta)


@loss("nn.functional.huber_loss", "huber_loss")
def _(x, y, delta=1.0):
    return Call("", x, y, delta=delta)


@loss("nn.functional.binary_cross_entropy", "binary_cross_entropy")
def _(x, y, weight=None):
    return Call("", x, y, weight)


@loss("nn.functional.binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits")
def _(x, y, weight=None, pos_weight=None):
    return Call("", x, y, weight, pos_weight)


@loss("nn.functional.kl_div", "kl_div")
def _(x, y, log_target=False):
    return Call("", x, y, log_target=log_target)


@loss("nn.functional.poisson_nll_loss", "poisson_nll_loss")
def _(x, y, log_input=True, full=False, eps=1e-8):
    return Call("", x, y, log_input=log_input, full=full, epsilon=eps)


ROWS = "a variance broadcasts as everything does (CONTRACT.md 8); PyTorch takes one of x's shape without the last axis for rows"


@loss("nn.functional.gaussian_nll_loss", "gaussian_nll_loss", meant=[
    Meant(ROWS, where=where, when=lambda case, *_: case.call.inputs[2].shape == case.call.inputs[0].shape[:-1]) for where in ("values", "gradient")])
def _(x, y, var, full=False, eps=1e-6):
    return Call("", x, y, var, full=full, epsilon=eps)


@loss("nn.functional.hinge_embedding_loss", "hinge_embedding_loss")
def _(x, y, margin=1.0):
    return Call("", x, y, margin=margin)


@loss("nn.functional.cosine_embedding_loss", "cosine_embedding_loss")
def _(a, b, y, margin=0.0):
    return Call("", a, b, y, margin=margin)


@loss("nn.functional.margin_ranking_loss", "margin_ranking_loss")
def _(a, b, y, margin=0.0):
    return Call("", a, b, y, margin=margin)


@loss("nn.functional.soft_margin_loss", "soft_margin_loss")
def _(x, y):
    return Call("", x, y)


@loss("nn.functional.multi_margin_loss", "multi_margin_loss")
def _(x, y, p=1, margin=1.0, weight=None):
    return Call("", x, y, weight, p=p, margin=margin)


@loss("nn.functional.multilabel_margin_loss", "multilabel_margin_loss")
def _(x, y):
    return Call("", x, y)


@loss("nn.functional.multilabel_soft_margin_loss", "multilabel_soft_margin_loss")
def _(x, y, weight=None):
    return Call("", x, y, weight)


@loss("nn.functional.triplet_margin_loss", "triplet_margin_loss")
def _(a, p, n, margin=1.0, p_norm=2, eps=1e-6, swap=False, **kwargs):
    return Call("", a, p, n, margin=margin, p=kwargs.get("p", 2), epsilon=eps, swap=swap)


@loss("nn.functional.nll_loss", "nll_loss")
def _(x, y, weight=None, ignore_index=-100):
    return Call("", x, y, weight, ignore_index=ignore_index)


@loss("nn.functional.cross_entropy", "cross_entropy")
def _(x, y, weight=None, ignore_index=-100, label_smoothing=0.0):
    return Call("", x, y, weight, ignore_index=ignore_index, smoothing=label_smoothing)


@loss("nn.functional.ctc_loss", "ctc_loss", meant=[Meant("PyTorch's gradient takes the input for a log_softmax and is that of its logits; ours is the derivative of the formula", where="gradient")])
def _(x, targets, input_lengths, target_lengths, blank=0, zero_infinity=False):
    return Call("", x, targets, torch.as_tensor(input_lengths), torch.as_tensor(target_lengths), blank=blank, zero_infinity=zero_infinity)
