"""What users call beside the operations of the table, in PyTorch: the names are those of votive_survey.cpp."""
import torch
import torch.nn.functional as F

ROWS, COLUMNS = 2048, 4096


def matrix():
    return torch.randn(ROWS, COLUMNS)


def images():
    return torch.randn(8, 64, 128, 128)


def integers():
    return torch.randint(0, 1000, (1 << 22,))


def vector():
    return torch.randn(COLUMNS)


def places(*shape, limit=COLUMNS):
    return torch.randint(0, limit, shape)


def mask():
    return matrix() > 0


def positive():
    return matrix().abs()


def classes():
    return places(ROWS)


def squares():
    return torch.randn(64, 256, 256)


def half_squares():
    return squares().bfloat16()


def scales():
    return torch.randn(64)


SURVEY = {
    "flip last": (lambda a: a.flip(1), matrix),
    "flip first": (lambda a: a.flip(0), matrix),
    "roll last": (lambda a: a.roll(5, 1), matrix),
    "pad images": (lambda a: F.pad(a, (1, 1, 1, 1)), images),
    "tril": (torch.tril, matrix),
    "repeat rows": (lambda a: a.repeat(ROWS, 1), vector),
    "stack first": (lambda a, b: torch.stack([a, b], 0), matrix, matrix),
    "stack last": (lambda a, b: torch.stack([a, b], 2), matrix, matrix),
    "concat last": (lambda a, b: torch.cat([a, b], 1), matrix, matrix),
    "gather last": (lambda a, i: a.gather(1, i), matrix, lambda: places(ROWS, COLUMNS)),
    "gather first": (lambda a, i: a.gather(0, i), matrix, lambda: places(ROWS, COLUMNS, limit=ROWS)),
    "scatter_add last": (lambda a, i, s: a.scatter_add(1, i, s), matrix, lambda: places(ROWS, COLUMNS), matrix),
    "index_select last": (lambda a, i: a.index_select(1, i), matrix, lambda: places(COLUMNS)),
    "masked_fill": (lambda a, m: a.masked_fill(m, 0), matrix, mask),
    "masked_select": (lambda a, m: a[m], matrix, mask),
    "nonzero": (torch.nonzero, mask),
    "where": (torch.where, mask, matrix, matrix),
    "one_hot": (lambda i: F.one_hot(i, COLUMNS), classes),
    "add a row": (torch.add, matrix, vector),
    "add a column": (torch.add, matrix, lambda: torch.randn(ROWS, 1)),
    "differences": (lambda a: a[:, 1:] - a[:, :-1], matrix),
    "windows of 16": (lambda a: a.unfold(1, 16, 8).contiguous(), matrix),
    "pixel_shuffle": (lambda a: F.pixel_shuffle(a, 2), images),
    "sort last": (lambda a: a.sort(dim=1, stable=True).values, matrix),
    "argsort i64": (lambda a: a.argsort(stable=True), integers),
    "topk 50": (lambda a: a.topk(50).values, matrix),
    "median last": (lambda a: a.median(1).values, matrix),
    "unique i64": (torch.unique, integers),
    "bincount": (torch.bincount, integers),
    "histc 100": (lambda a: a.histc(100, -3, 3), matrix),
    "bucketize 1000": (torch.bucketize, matrix, lambda: torch.arange(0, 1, 0.001)),
    "nansum": (torch.nansum, matrix),
    "norm": (torch.linalg.vector_norm, matrix),
    "norm first": (lambda a: torch.linalg.vector_norm(a, dim=0), matrix),
    "var last": (lambda a: a.var(1), matrix),
    "var first": (lambda a: a.var(0), matrix),
    "std": (torch.std, matrix),
    "logsumexp last": (lambda a: a.logsumexp(1), matrix),
    "prod last": (lambda a: a.prod(1), matrix),
    "any": (torch.any, lambda: torch.zeros(ROWS, COLUMNS, dtype=torch.bool)),
    "argmin first": (lambda a: a.argmin(0), matrix),
    "sum i64": (torch.sum, integers),
    "cumsum last": (lambda a: a.cumsum(1), matrix),
    "cumsum first": (lambda a: a.cumsum(0), matrix),
    "cummax last": (lambda a: a.cummax(1).values, matrix),
    "softmax first": (lambda a: a.softmax(0), matrix),
    "log_softmax last": (lambda a: a.log_softmax(1), matrix),
    "cross_entropy": (F.cross_entropy, matrix, classes),
    "group_norm 8": (lambda a: F.group_norm(a, 8), images),
    "batch_norm": (lambda a, m: F.batch_norm(a, m, m * m + 1), images, scales),
    "max_pool 2": (lambda a: F.max_pool2d(a, 2), images),
    "max_pool 3 stride 1": (lambda a: F.max_pool2d(a, 3, 1, 1), images),
    "avg_pool 2": (lambda a: F.avg_pool2d(a, 2), images),
    "interpolate nearest": (lambda a: F.interpolate(a, (256, 256)), images),
    "interpolate linear": (lambda a: F.interpolate(a, (256, 256), mode="bilinear"), images),
    "matrix times vector": (torch.matmul, matrix, vector),
    "vector times matrix": (lambda a, b: b @ a, matrix, lambda: torch.randn(ROWS)),
    "outer": (lambda a: a[:, None] @ a[None], vector),
    "64 products 256": (torch.matmul, squares, squares),
    "64 products 256 bf16": (torch.matmul, half_squares, half_squares),
    "rand": (lambda: torch.rand(ROWS, COLUMNS),),
    "randn": (lambda: torch.randn(ROWS, COLUMNS),),
    "arange i64": (lambda: torch.arange(ROWS * COLUMNS),),
    "dropout": (lambda a: F.dropout(a, 0.1), matrix),
    "cast f32-i32": (lambda a: a.int(), matrix),
    "cast f32-u8": (lambda a: a.to(torch.uint8), positive),
    "equal": (torch.eq, matrix, matrix),
    "and": (lambda m: m & m, mask),
    "clamp": (lambda a: a.clamp(-1, 1), matrix),
    "floor": (torch.floor, matrix),
    "sqrt": (torch.sqrt, positive),
    "lerp": (lambda a, b: a.lerp(b, 0.3), matrix, matrix),
    "multiply i64": (lambda a: a * a, integers),
    "divide i64": (lambda a: torch.floor_divide(a, 7), integers),
    "pow 3": (lambda a: a.pow(3), matrix),
    "pow": (torch.pow, positive, matrix),
    "atan2": (torch.atan2, matrix, matrix),
    "cos": (torch.cos, matrix),
    "tan": (torch.tan, matrix),
    "exp2": (torch.exp2, matrix),
    "gelu tanh": (lambda a: F.gelu(a, approximate="tanh"), matrix),
    "lgamma": (torch.lgamma, positive),
}  # fmt: skip


def build(name):
    function, *operands = SURVEY[name]
    values = [make() for make in operands]
    return lambda: function(*values)
