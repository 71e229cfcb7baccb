// candle's quantised Llama on a GGUF file: prompt and decode tokens per second as one line of JSON.
// usage: candle-peer MODEL.gguf PROMPT DECODE      threads come from RAYON_NUM_THREADS
use candle_core::{quantized::gguf_file, Device, Result, Tensor};
use candle_transformers::models::quantized_llama::ModelWeights;
use std::time::Instant;

fn ids(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| (i * 37 + 11) % 40000).collect()
}

fn argmax(logits: &Tensor) -> Result<u32> {
    logits.squeeze(0)?.argmax(0)?.to_scalar::<u32>()
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, prompt, decode] = &arguments[..] else {
        candle_core::bail!("usage: candle-peer MODEL.gguf PROMPT DECODE")
    };
    let number = |text: &String| text.parse::<usize>().map_err(candle_core::Error::wrap);
    let (prompt, decode) = (number(prompt)?, number(decode)?);
    let mut file = std::fs::File::open(path)?;
    let content = gguf_file::Content::read(&mut file)?;
    let mut model = ModelWeights::from_gguf(content, &mut file, &Device::Cpu)?;

    let text = Tensor::new(&ids(prompt)[..], &Device::Cpu)?.unsqueeze(0)?;
    argmax(&model.forward(&text, 0)?)?; // warm
    let start = Instant::now();
    argmax(&model.forward(&text, 0)?)?;
    let prompt_rate = prompt as f64 / start.elapsed().as_secs_f64();

    // Decoding starts after 16 tokens, so the cache is nearly empty, as in llama-bench.
    let text = Tensor::new(&ids(16)[..], &Device::Cpu)?.unsqueeze(0)?;
    let mut id = argmax(&model.forward(&text, 0)?)?;
    let start = Instant::now();
    for step in 0..decode {
        let one = Tensor::new(&[id], &Device::Cpu)?.unsqueeze(0)?;
        id = argmax(&model.forward(&one, 16 + step)?)?;
    }
    let decode_rate = decode as f64 / start.elapsed().as_secs_f64();
    println!("{{\"prompt_tokens_per_second\":{prompt_rate:.2},\"decode_tokens_per_second\":{decode_rate:.2}}}");
    Ok(())
}
