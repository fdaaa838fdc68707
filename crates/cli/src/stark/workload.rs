//! `stark workload`: a ready-made AIR, proven and verified.

use super::{
    memory::MemoryOption,
    prove::{ProtocolOptions, description},
    security::rounded,
};
use crate::rows::write_elements;
use clap::{Args, builder::PossibleValuesParser};
use proofmill::{
    field::Goldilocks,
    merkle::Rows,
    stark::{Constraints, airs::Workload as Name},
};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_files::{write_bytes, write_text};
use proofmill_run::Run;
use serde_json::json;
use std::{fs, path::PathBuf, time::Instant};

/// Arguments of `stark workload`.
#[derive(Args, Debug)]
pub(crate) struct Workload {
    /// The AIR
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(Name::ALL.map(Name::name)))]
    name: String,
    /// Rows of the trace, as a power of two
    #[arg(long, value_name = "LOG", default_value_t = 14, value_parser = clap::value_parser!(u32).range(..=30))]
    log_rows: u32,
    /// Keep air.json, trace.bin, public.json and proof.bin in this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) memory: MemoryOption,
    #[command(flatten)]
    protocol: ProtocolOptions,
}

/// The phases of a [`Workload`] without `--out`.
const PHASES: usize = 11;

impl Workload {
    pub(super) fn run(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        machine.clock().expect(PHASES + usize::from(self.out.is_some()));
        machine.run(|Run { level, progress, .. }| {
            progress.begin("make trace");
            let name: Name = self.name.parse().map_err(|error| Failure::Input(format!("NAME: {error}")))?;
            let example = name.example(level, self.log_rows);
            let example = example.map_err(|error| Failure::Input(format!("--log-rows: {error}")))?;
            let constraints = Constraints::new(&*example.air)?;
            let (config, bits) = self.protocol.config(&constraints, 1 << self.log_rows)?;
            let [trace, public_values] = [&example.execution.trace, &example.execution.public_values]
                .map(|values| Goldilocks::as_words(values));
            let rows = Rows::new(trace, constraints.columns())?;

            let start = Instant::now();
            let proof = constraints.prove(&config, &rows, public_values)?;
            let prove = start.elapsed().as_secs_f64();
            progress.begin("verify again");
            let start = Instant::now();
            proof.verify(&constraints, &config, public_values)?;
            let verify = start.elapsed().as_secs_f64();
            if let Some(folder) = &self.out {
                progress.begin("write files");
                fs::create_dir_all(folder).map_err(|source| Failure::io(folder, source))?;
                constraints.save(folder.join("air.json"))?;
                write_elements(&folder.join("trace.bin"), &example.execution.trace)?;
                let public: Vec<_> = public_values.iter().map(u64::to_string).collect();
                write_text(&folder.join("public.json"), &format!("{}\n", json!(public)))?;
                write_bytes(&folder.join("proof.bin"), proof.as_bytes())?;
            }
            let mut result = description(&config, &proof, bits);
            let details = json!({
                "workload": name.name(), "content": example.content, "columns": constraints.columns(),
                "prove_seconds": prove, "verify_seconds": verify,
            });
            if let (Some(result), Some(details)) = (result.as_object_mut(), details.as_object()) {
                result.extend(details.clone());
            }
            let (log_rows, columns, content) = (self.log_rows, constraints.columns(), &example.content);
            let (size, bits) = (proof.as_bytes().len(), rounded(bits));
            Ok(Outcome {
                text: format!(
                    "trace   2^{log_rows} rows, {columns} columns: {content}\n\
                     proof   {size} bytes; {bits} bits are proven\n\
                     prove   {prove:.3} s\n\
                     verify  {verify:.4} s\n"
                ),
                ..Outcome::done(result)
            })
        })
    }
}
