// The rows of examples/integer_ops and examples/half_softmax in candle, one JSON object a line as those programs' --json; run.sh builds, runs and compares.
// A row is written as candle's documentation says: numbers beside tensors are f64, masks are u8. What candle has no operation or dtype for is "absent".
use candle_core::{DType, Device, IndexOp, Result, Shape, Tensor, WithDType};
use std::panic::{catch_unwind, AssertUnwindSafe};

const DEVICE: &str = if cfg!(debug_assertions) { "candle debug" } else { "candle release" };
const CPU: Device = Device::Cpu;

fn quoted(text: &str) -> String {
    let mut safe = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => safe.extend(['\\', c]),
            c if c < ' ' => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe + "\""
}

fn list<T>(y: &Tensor, show: impl Fn(T) -> String) -> Result<String>
where
    T: WithDType,
{
    let values: Vec<String> = y.flatten_all()?.to_vec1::<T>()?.into_iter().map(|v| format!("\"{}\"", show(v))).collect();
    Ok(format!("[{}]", values.join(", ")))
}

/// Decimal for integers, the bits in hexadecimal for floats.
fn values(y: &Tensor) -> Result<String> {
    match y.dtype() {
        DType::U8 => list::<u8>(y, |v| v.to_string()),
        DType::U32 => list::<u32>(y, |v| v.to_string()),
        DType::I16 => list::<i16>(y, |v| v.to_string()),
        DType::I32 => list::<i32>(y, |v| v.to_string()),
        DType::I64 => list::<i64>(y, |v| v.to_string()),
        DType::F16 => list::<half::f16>(y, |v| format!("{:04x}", v.to_bits())),
        DType::BF16 => list::<half::bf16>(y, |v| format!("{:04x}", v.to_bits())),
        DType::F32 => list::<f32>(y, |v| format!("{:08x}", v.to_bits())),
        DType::F64 => list::<f64>(y, |v| format!("{:016x}", v.to_bits())),
        other => candle_core::bail!("no rows of {other:?}"),
    }
}

fn row(name: &str, compute: impl FnOnce() -> Result<Tensor>) {
    let said = match catch_unwind(AssertUnwindSafe(|| compute().and_then(|y| Ok((values(&y)?, y))))) {
        Ok(Ok((values, y))) => {
            let sizes = format!("{:?}", y.dims());
            format!("\"value\", \"dtype\": \"{}\", \"shape\": {sizes}, \"values\": {values}", y.dtype().as_str())
        }
        // The first line: a backtrace may follow.
        Ok(Err(error)) => format!("\"error\", \"text\": {}", quoted(error.to_string().lines().next().unwrap_or(""))),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|s| s.to_string()).or_else(|| panic.downcast_ref::<String>().cloned());
            format!("\"panics\", \"text\": {}", quoted(text.unwrap_or_default().lines().next().unwrap_or("")))
        }
    };
    println!("{{\"row\": {}, \"device\": \"{DEVICE}\", \"outcome\": {said}}}", quoted(name));
}

fn absent(name: &str) {
    println!("{{\"row\": {}, \"device\": \"{DEVICE}\", \"outcome\": \"absent\"}}", quoted(name));
}

fn t<T: WithDType, const N: usize>(values: [T; N]) -> Result<Tensor> {
    Tensor::new(&values, &CPU)
}

fn arithmetic() {
    let (a, b) = ([7i64, -7, 7, -7], [2i64, 2, -2, -2]);
    row("i64 [7, -7, 7, -7] / [2, 2, -2, -2]", || t(a)? / t(b)?);
    row("div_trunc(i64 [7, -7, 7, -7], [2, 2, -2, -2])", || t(a)? / t(b)?);
    absent("floor_div(i64 [7, -7, 7, -7], [2, 2, -2, -2])");
    absent("i64 [7, -7, 7, -7] % [2, 2, -2, -2]");
    absent("fmod(i64 [7, -7, 7, -7], [2, 2, -2, -2])");
    row("i32 [7, -7] / [2, 2]", || t([7i32, -7])? / t([2i32, 2])?);
    row("u32 [7] / [2]", || t([7u32])? / t([2u32])?);
    row("div_trunc(u32 [7], [2])", || t([7u32])? / t([2u32])?);

    row("i64 [1, 3] * 0.5", || t([1i64, 3])? * 0.5);
    row("i32 [1, 3] * 0.5", || t([1i32, 3])? * 0.5);
    row("u8 [1, 3] * 0.5", || t([1u8, 3])? * 0.5);
    row("i64 [5] + 0.7", || t([5i64])? + 0.7);
    row("i64 [7, -7] / 2.0", || t([7i64, -7])? / 2.0);
    row("i64 [2, 3] > 2.5", || t([2i64, 3])?.gt(2.5));
    row("u32 [5, 0] - 1.0", || t([5u32, 0])? - 1.0);
    row("u32 [5, 0] - 1", || t([5u32, 0])? - 1.0);
    row("u8 [1] + 300", || t([1u8])? + 300.0);
    row("u8 [1] < 256", || t([1u8])?.lt(256i64));

    let wide = || t([16777217i64]);
    row("i64 [16777217] * 1.0", || wide()? * 1.0);
    row("i64 [16777217] * 0.5", || wide()? * 0.5);
    row("i64 [16777217] to f32", || wide()?.to_dtype(DType::F32));
    row("i64 [16777217] + f32 [0]", || wide()? + t([0f32])?);
    row("i64 [16777217] == 16777216.0", || wide()?.eq(16777216.0));
    row("sum(i64 [16777216, 1])", || t([16777216i64, 1])?.sum_all());
    row("mean(i64 [16777217, 16777219])", || t([16777217i64, 16777219])?.mean_all());

    row("u8 [200] + [100]", || t([200u8])? + t([100u8])?);
    row("u8 [3] - [5]", || t([3u8])? - t([5u8])?);
    row("u8 [16] * [17]", || t([16u8])? * t([17u8])?);
    row("u32 [4294967295] + [1]", || t([u32::MAX])? + t([1u32])?);
    row("u32 [0] - [1]", || t([0u32])? - t([1u32])?);
    row("u32 [65536] * [65537]", || t([65536u32])? * t([65537u32])?);
    row("i64 [MAX] + [1]", || t([i64::MAX])? + t([1i64])?);
    row("i64 [MIN] - [1]", || t([i64::MIN])? - t([1i64])?);
    row("i64 [MAX] * [2]", || t([i64::MAX])? * t([2i64])?);
    row("neg(i64 [MIN])", || t([i64::MIN])?.neg());
    row("abs(i64 [MIN])", || t([i64::MIN])?.abs());
    absent("checked: u8 [200] + [100]");

    row("sum(u8 [200, 100])", || t([200u8, 100])?.sum_all());
    row("sum(u8 4096 x 255)", || Tensor::full(255u8, 4096, &CPU)?.sum_all());
    row("sum(u32 [4294967295, 1])", || t([u32::MAX, 1])?.sum_all());
    row("sum(i32 [2147483647, 1])", || t([i32::MAX, 1])?.sum_all());
    absent("sum(bool [1, 0, 1])");
    row("mean(i32 [1, 2])", || t([1i32, 2])?.mean_all());
    row("mean(u32 [2, 4])", || t([2u32, 4])?.mean_all());
}

fn division() {
    row("f32 [1, 0, -1] / [0, 0, 0]", || t([1f32, 0., -1.])? / t([0f32; 3])?);
    row("i64 [1, 0, -1] / [0, 0, 0]", || t([1i64, 0, -1])? / t([0i64; 3])?);
    row("div_trunc(i64 [1], [0])", || t([1i64])? / t([0i64])?);
    absent("floor_div(i64 [1], [0])");
    absent("i64 [1] % [0]");
    absent("fmod(i64 [1], [0])");
    row("div_trunc(u32 [1], [0])", || t([1u32])? / t([0u32])?);

    row("i64 [MIN] / [-1]", || t([i64::MIN])? / t([-1i64])?);
    row("div_trunc(i64 [MIN], [-1])", || t([i64::MIN])? / t([-1i64])?);
    row("div_trunc(i32 [MIN], [-1])", || t([i32::MIN])? / t([-1i32])?);
    absent("floor_div(i64 [MIN], [-1])");
    absent("i64 [MIN] % [-1]");
    absent("fmod(i64 [MIN], [-1])");
}

fn indexing() {
    let x = || t([10f32, 20., 30.]);
    row("f32 [10, 20, 30] at u8 [2, 0]", || x()?.index_select(&t([2u8, 0])?, 0));
    absent("f32 [10, 20, 30] at i8 [2, 0]");
    absent("f32 [10, 20, 30] at u16 [2, 0]");
    row("f32 [10, 20, 30] at i16 [2, 0]", || x()?.index_select(&t([2i16, 0])?, 0));
    row("f32 [10, 20, 30] at u32 [2, 0]", || x()?.index_select(&t([2u32, 0])?, 0));
    row("f32 [10, 20, 30] at i32 [2, 0]", || x()?.index_select(&t([2i32, 0])?, 0));
    absent("f32 [10, 20, 30] at u64 [2, 0]");
    row("f32 [10, 20, 30] at i64 [2, 0]", || x()?.index_select(&t([2i64, 0])?, 0));
    row("f32 [10, 20, 30] at f32 [2, 0]", || x()?.index_select(&t([2f32, 0.])?, 0));
    absent("f32 [10, 20, 30] at bool [1, 0]");
    row("f32 [10, 20, 30] at i64 [-1]", || x()?.index_select(&t([-1i64])?, 0));
    row("f32 [10, 20, 30] at i64 [3]", || x()?.index_select(&t([3i64])?, 0));
    row("f32 [0, ..., 255] at u8 [255]", || Tensor::arange(0f32, 256., &CPU)?.index_select(&t([255u8])?, 0));
    row("gather(f32 [[10, 20], [30, 40]], i32 [[1, 0]])", || {
        Tensor::new(&[[10f32, 20.], [30., 40.]], &CPU)?.gather(&Tensor::new(&[[1i32, 0]], &CPU)?, 0)
    });
    row("embedding(f32 [[10], [20]], i64 [-1])", || Tensor::new(&[[10f32], [20.]], &CPU)?.embedding(&t([-1i64])?));

    row("f32 [10, 20, 30][u8 [1, 0, 1]]", || x()?.i(&t([1u8, 0, 1])?));
    absent("f32 [10, 20, 30][bool [1, 0, 1]]");
    absent("masked_select(f32 [10, 20, 30], u8 [1, 0, 1])");
    row("where(u8 [1, 0, 1], f32 [10, 20, 30], [0, 0, 0])", || t([1u8, 0, 1])?.where_cond(&x()?, &t([0f32; 3])?));
    absent("where(bool [1, 0, 1], f32 [10, 20, 30], [0, 0, 0])");
    row("i64 [1, 2] == [1, 3]", || t([1i64, 2])?.eq(&t([1i64, 3])?));
    absent("bool [1, 0, 1] + bool [1, 0, 1]");

    row("argmax(i64 [1, 5, 5])", || t([1i64, 5, 5])?.argmax(0));
    row("argmax(i64 [2^53, 2^53 + 1])", || t([1i64 << 53, (1i64 << 53) + 1])?.argmax(0));
    row("argmin(i64 [3, MIN, MAX])", || t([3, i64::MIN, i64::MAX])?.argmin(0));
    row("argmax(u8 [0, 255])", || t([0u8, 255])?.argmax(0));
    row("max(i64 [MIN, MAX])", || t([i64::MIN, i64::MAX])?.max(0));
    row("argmax(f32 [1, NaN, 3])", || t([1., f32::NAN, 3.])?.argmax(0));
    row("max(f32 [1, NaN, 3])", || t([1., f32::NAN, 3.])?.max(0));
}

fn casts() {
    row("f32 [2.9, -2.9] to i64", || t([2.9f32, -2.9])?.to_dtype(DType::I64));
    row("f32 [300, -1] to u8", || t([300f32, -1.])?.to_dtype(DType::U8));
    absent("f32 [300, -300] to i8");
    row("f32 [NaN, 3e9, -3e9] to i32", || t([f32::NAN, 3e9, -3e9])?.to_dtype(DType::I32));
    row("f32 [-1, inf] to u32", || t([-1f32, f32::INFINITY])?.to_dtype(DType::U32));
    row("f32 [NaN, 1e20, -1e20] to i64", || t([f32::NAN, 1e20, -1e20])?.to_dtype(DType::I64));
    row("i64 [300, -1] to u8", || t([300i64, -1])?.to_dtype(DType::U8));
}

/// The same rows [rows, n] in another place: name, axis that runs through them, what lays them out. candle has no negative strides: flip copies.
type Layout = (&'static str, usize, fn(Tensor) -> Result<Tensor>);
const LAYOUTS: [Layout; 8] = [
    ("last axis", 1, Ok),
    ("first axis", 0, |x| x.t()?.contiguous()),
    ("middle axis", 1, |x| {
        let (rows, n) = x.dims2()?;
        x.unsqueeze(2)?.broadcast_as((rows, n, 3))?.contiguous()
    }),
    ("last axis of a transposed view", 1, |x| x.t()?.contiguous()?.t()),
    ("first axis of a transposed view", 0, |x| x.t()),
    ("every second element", 1, |x| {
        let doubled = Tensor::stack(&[&x, &x], 2)?;
        doubled.narrow(2, 0, 1)?.squeeze(2)
    }),
    ("backwards in memory", 1, |x| x.flip(&[1])?.flip(&[1])),
    ("one row, broadcast", 1, |x| {
        let shape: Shape = x.shape().clone();
        x.narrow(0, 0, 1)?.broadcast_as(shape)
    }),
];

fn halves() {
    let dtypes = [DType::F32, DType::F16, DType::BF16];
    for dtype in dtypes {
        for n in [256, 257, 4096] {
            for (name, axis, lay) in LAYOUTS {
                row(&format!("sum of {n} ones, {}, {name}", dtype.as_str()), || lay(Tensor::ones((2, n), dtype, &CPU)?)?.sum(axis));
            }
        }
    }
    for dtype in dtypes {
        for logits in ["equal logits", "ramps"] {
            for (rows, n) in [(4, 2048), (1, 4096)] {
                for (name, axis, lay) in LAYOUTS {
                    row(&format!("softmax of {rows}x{n} {logits}, {}, {name}", dtype.as_str()), || {
                        let step = |i: usize| if logits == "ramps" { (i % 64) as f32 / 8. } else { 0. };
                        let row = Tensor::from_iter((0..n).map(step), &CPU)?;
                        let x = lay(row.broadcast_as((rows, n))?.contiguous()?.to_dtype(dtype)?)?;
                        // The fused form where candle offers it: contiguous rows. Else the composed one, which takes any axis and layout.
                        let fused = name == "last axis";
                        let y = if fused { candle_nn::ops::softmax_last_dim(&x)? } else { candle_nn::ops::softmax(&x, axis)? };
                        y.to_dtype(DType::F32)?.sum(axis)
                    });
                }
            }
        }
    }
}

fn main() {
    std::panic::set_hook(Box::new(|_| {})); // a panic is a row
    arithmetic();
    division();
    indexing();
    casts();
    halves();
}
