//! `ntt`: number-theoretic transforms of a file's columns.

use crate::{
    files::CommandFiles,
    rows::{RowFile, write_elements},
    task::MachineWork,
};
use clap::{Args, ValueEnum};
use proofmill::ntt::{GoldilocksDomain, Order};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_field::{
    Field,
    goldilocks::{Goldilocks, MODULUS},
};
use proofmill_merkle::Leaves;
use proofmill_run::Run;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill ntt coefficients.bin --out values.bin
  proofmill ntt values.bin --out coefficients.bin --inverse
  proofmill ntt trace.bin --columns 8 --coset --order bit-reversed --out values.bin

A column of n rows is a polynomial: coefficients from the constant one up, or its value at shift * w^k in row k. The shift is 1 without --coset; w is the root of unity 7277203076849721926, of order 2^32, to the power 2^32 / n. In bit-reversed order the row of that value is k with its bits reversed. --inverse takes values in natural order only, and gives coefficients in natural order.")]
pub(crate) struct Ntt {
    /// The rows, stored contiguously, a power of two of them: little-endian 64-bit integers below 2^64 - 2^32 + 1
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The rows to write, of the same shape; may be FILE
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Integers of a row: each column is a polynomial
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    columns: u64,
    /// From values to coefficients
    #[arg(long)]
    inverse: bool,
    /// Values on the coset SHIFT times the subgroup; SHIFT defaults to 7, a generator of the field
    #[arg(
        long,
        value_name = "SHIFT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "7",
        value_parser = clap::value_parser!(u64).range(1..MODULUS)
    )]
    coset: Option<u64>,
    /// Order of the output values
    #[arg(long, value_enum, value_name = "NAME", default_value_t = ValueOrder::Natural)]
    order: ValueOrder,
}

/// [`Order`] with names for the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ValueOrder {
    Natural,
    BitReversed,
}

impl Ntt {
    fn transform(&self, domain: &GoldilocksDomain, values: &mut [Goldilocks]) {
        let shift = Goldilocks::new(self.coset.unwrap_or(1));
        let order = match self.order {
            ValueOrder::Natural => Order::Natural,
            ValueOrder::BitReversed => Order::BitReversed,
        };
        if !self.inverse {
            domain.coset_ntt(values, shift, order);
        } else if shift == Goldilocks::ONE {
            domain.intt(values, Order::Natural);
        } else {
            domain.coset_intt(values, shift);
        }
    }
}

impl MachineWork for Ntt {
    fn name(&self) -> &'static str {
        "ntt"
    }

    // The input may be replaced: it is read whole before the output is written.
    fn files(&self) -> CommandFiles<'_> {
        CommandFiles { outputs: vec![&self.out], ..CommandFiles::default() }
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        run(&self, machine)
    }
}

fn run(files: &Ntt, machine: &mut Machine) -> Result<Outcome, Failure> {
    if files.inverse && files.order == ValueOrder::BitReversed {
        let problem = "--inverse takes values in natural order and gives coefficients: leave --order bit-reversed out of both transforms";
        return Err(Failure::Input(problem.to_owned()));
    }
    machine.clock().expect(3);
    machine.run(|Run { progress, .. }| {
        progress.begin("read");
        let file = RowFile::open(&files.file, files.columns)?;
        let rows = file.rows()?.rows();
        let domain = GoldilocksDomain::new(rows.ilog2()).ok_or_else(|| {
            let most = 1_u64 << Goldilocks::TWO_ADICITY;
            Failure::about(&files.file, format!("expected at most {most} rows, found {rows}"))
        })?;
        let mut values = file.elements()?;
        drop(file);
        progress.begin("transform");
        files.transform(&domain, &mut values);
        progress.begin("write");
        write_elements(&files.out, &values)?;
        Ok(Outcome::done(json!({
            "output": files.out,
            "rows": rows,
            "columns": files.columns,
            "inverse": files.inverse,
            "coset": files.coset,
            "order": files.order.to_possible_value().map(|value| value.get_name().to_owned()),
        })))
    })
}
