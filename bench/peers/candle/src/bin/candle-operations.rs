//! candle as a peer of operations.py: answers "THREADS BUDGET NAME" lines with the median seconds of a call. RAYON_NUM_THREADS sets the threads.
//! Operations that take minutes here (a running sum is a product of n × n) are not offered.
use candle_core::{DType, Device, Result, Tensor, Var};
use std::io::BufRead;
use std::time::Instant;

type Call = Box<dyn Fn() -> Result<()>>;

fn dtype_of(name: &str) -> Option<DType> {
    match name {
        "f32" => Some(DType::F32),
        "bf16" => Some(DType::BF16),
        "f16" => Some(DType::F16),
        "i64" => Some(DType::I64),
        _ => None,
    }
}

fn numbers(shape: &[usize], dtype: DType) -> Result<Tensor> {
    Tensor::randn(0f32, 1f32, shape, &Device::Cpu)?.to_dtype(dtype)
}

fn call<F: Fn() -> Result<Tensor> + 'static>(f: F) -> Option<Call> {
    Some(Box::new(move || f().map(drop)))
}

fn pointwise(name: &str, dtype: DType, n: usize) -> Result<Option<Call>> {
    let x = numbers(&[n], dtype)?;
    Ok(match name {
        "add" => {
            let y = numbers(&[n], dtype)?;
            call(move || &x + &y)
        }
        "exp" => call(move || x.exp()),
        "tanh" => call(move || x.tanh()),
        "gelu" => call(move || x.gelu_erf()),
        "silu" => call(move || x.silu()),
        "log" => {
            let p = (x.abs()? + 0.1)?;
            call(move || p.log())
        }
        "sin" => call(move || x.sin()),
        "sigmoid" => call(move || candle_nn::ops::sigmoid(&x)),
        "erf" => call(move || x.erf()),
        "sum" => call(move || x.sum_all()),
        "max" => call(move || x.max(0)),
        "argmax" => call(move || x.argmax(0)),
        _ => None,
    })
}

fn build(name: &str) -> Result<Option<Call>> {
    let words: Vec<&str> = name.split(' ').collect();
    let dtype = words.iter().find_map(|w| dtype_of(w)).unwrap_or(DType::F32);
    Ok(match words.as_slice() {
        ["matmul", _, n] => {
            let n: usize = n.parse().unwrap();
            let (a, b) = (numbers(&[n, n], dtype)?, numbers(&[n, n], dtype)?);
            call(move || a.matmul(&b))
        }
        ["linear", _, m, _] => {
            let m: usize = m[1..].parse().unwrap();
            let (x, w) = (numbers(&[m, 4096], dtype)?, numbers(&[4096, 4096], dtype)?.t()?);
            call(move || x.matmul(&w))
        }
        ["cast", _, size] => {
            let x = numbers(&[elements(size)], DType::F32)?;
            call(move || x.to_dtype(DType::BF16))
        }
        ["small", "add", "16"] => {
            let x = numbers(&[16], DType::F32)?;
            call(move || &x + &x)
        }
        ["small", "add", "16", "recorded"] => {
            let x = Var::from_tensor(&numbers(&[16], DType::F32)?)?;
            call(move || x.as_tensor() + x.as_tensor())
        }
        ["small", "matmul", _] => {
            let x = numbers(&[4, 4], DType::F32)?;
            call(move || x.matmul(&x))
        }
        ["sum", axis, _, _] => {
            let axis = if *axis == "axis0" { 0 } else { 1 };
            let x = numbers(&[4096, 4096], DType::F32)?;
            call(move || x.sum(axis))
        }
        ["transpose", ..] => {
            let x = numbers(&[4096, 4096], DType::F32)?;
            call(move || x.t()?.contiguous())
        }
        ["softmax", _, shape] => {
            let x = if *shape == "128x1024" { numbers(&[128, 1024], dtype)? } else { numbers(&[4096, 4096], dtype)? };
            call(move || candle_nn::ops::softmax_last_dim(&x))
        }
        ["layer_norm", ..] => {
            let (x, w) = (numbers(&[4096, 4096], dtype)?, Tensor::ones(4096, dtype, &Device::Cpu)?);
            call(move || candle_nn::ops::layer_norm(&x, &w, &w, 1e-5))
        }
        ["rms_norm", ..] => {
            let (x, w) = (numbers(&[4096, 4096], dtype)?, Tensor::ones(4096, dtype, &Device::Cpu)?);
            call(move || candle_nn::ops::rms_norm(&x, &w, 1e-5))
        }
        ["conv3x3", ..] => {
            let (x, w) = (numbers(&[1, 64, 56, 56], dtype)?, numbers(&[64, 64, 3, 3], dtype)?);
            call(move || x.conv2d(&w, 1, 1, 1, 1))
        }
        ["depthwise3x3", ..] => {
            let (x, w) = (numbers(&[1, 128, 56, 56], dtype)?, numbers(&[128, 1, 3, 3], dtype)?);
            call(move || x.conv2d(&w, 1, 1, 1, 128))
        }
        ["attention", "causal", "2048", "h16", d, _] => {
            let d: usize = d[1..].parse().unwrap();
            let q = numbers(&[1, 16, 2048, d], dtype)?;
            let mask: Vec<f32> = (0..2048usize * 2048).map(|i| if i % 2048 > i / 2048 { f32::NEG_INFINITY } else { 0.0 }).collect();
            let mask = Tensor::from_vec(mask, (1, 1, 2048, 2048), &Device::Cpu)?.to_dtype(dtype)?;
            let scale = 1.0 / (d as f64).sqrt();
            call(move || candle_nn::ops::softmax_last_dim(&(q.matmul(&q.t()?)? * scale)?.broadcast_add(&mask)?)?.matmul(&q))
        }
        ["attention", "decode", ..] => {
            let (q, k) = (numbers(&[1, 16, 1, 64], dtype)?, numbers(&[1, 16, 2048, 64], dtype)?);
            call(move || candle_nn::ops::softmax_last_dim(&(q.matmul(&k.t()?)? * 0.125)?)?.matmul(&k))
        }
        ["embedding", ..] => {
            let table = numbers(&[32000, 1024], DType::F32)?;
            let ids = Tensor::from_vec((0..4096u32).map(|i| i * 7919 % 32000).collect::<Vec<_>>(), 4096, &Device::Cpu)?;
            call(move || table.index_select(&ids, 0))
        }
        ["sort", ..] => {
            let x = numbers(&[1 << 20], DType::F32)?;
            call(move || x.sort_last_dim(true).map(|(values, _)| values))
        }
        ["index_add", ..] => {
            let (x, source) = (Tensor::zeros((1000, 256), DType::F32, &Device::Cpu)?, numbers(&[16384, 256], DType::F32)?);
            let ids = Tensor::from_vec((0..16384u32).map(|i| i * 7919 % 1000).collect::<Vec<_>>(), 16384, &Device::Cpu)?;
            call(move || x.index_add(&ids, &source, 0))
        }
        [name, _, size] if matches!(*size, "16k" | "1M" | "16M") => pointwise(name, dtype, elements(size))?,
        _ => None,
    })
}

fn elements(size: &str) -> usize {
    match size {
        "16k" => 1 << 14,
        "1M" => 1 << 20,
        _ => 1 << 24,
    }
}

fn seconds_per_call(once: &Call, budget: f64) -> Result<f64> {
    let timed = |times: usize| -> Result<f64> {
        let start = Instant::now();
        for _ in 0..times {
            once()?;
        }
        Ok(start.elapsed().as_secs_f64() / times as f64)
    };
    let first = timed(1)?;
    if first > 2.0 {
        return Ok(first);
    }
    timed(1)?;
    let inner = ((2e-3 / timed(1)?.max(1e-9)) as usize).max(1);
    let (mut samples, start) = (vec![], Instant::now());
    while samples.len() < 3 || start.elapsed().as_secs_f64() < budget {
        samples.push(timed(inner)?);
    }
    samples.sort_by(f64::total_cmp);
    Ok(samples[samples.len() / 2])
}

fn answer(line: &str) -> Result<Option<f64>> {
    let mut words = line.splitn(3, ' ');
    let (_, budget, name) = (words.next(), words.next().unwrap_or("0.1"), words.next().unwrap_or(""));
    match build(name)? {
        Some(call) => seconds_per_call(&call, budget.parse().unwrap_or(0.1)).map(Some),
        None => Ok(None),
    }
}

fn main() {
    for line in std::io::stdin().lock().lines().map_while(std::result::Result::ok) {
        match answer(line.trim_end()) {
            Ok(Some(seconds)) => println!("{{\"seconds\": {seconds:e}}}"),
            Ok(None) => println!("{{\"error\": \"not offered\"}}"),
            Err(error) => println!("{{\"error\": \"{}\"}}", error.to_string().lines().next().unwrap_or("").replace(['"', '\\'], "'")),
        }
    }
}
