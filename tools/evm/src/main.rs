//! `evm COMPILED CALLDATA`: deploys a verifier in an EVM and calls it with a proof, which it must accept, and with each
//! word of the call changed in turn, which it must reject. Prints the cost of a call.
//!
//! COMPILED contains two words in hexadecimal: the selector of `verifyProof`, and the code that deploys the contract.
//! CALLDATA is the output of `zkey export soliditycalldata`.

use revm::{
    Context, ExecuteCommitEvm, ExecuteEvm, MainBuilder, MainContext, MainnetEvm,
    context::{TxEnv, result::ExecutionResult},
    database::InMemoryDB,
    handler::MainnetContext,
    primitives::{Address, Bytes, TxKind, U256, hex},
};
use std::{env, error::Error, fs};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The replacements of a word, given its value: adjacent values, numbers above both moduli, and infinity's coordinate.
const CHANGES: [fn(U256) -> U256; 5] = [
    |value| value ^ U256::ONE,
    |value| value ^ U256::ONE << 200,
    |value| value.wrapping_add(SCALAR_MODULUS),
    |value| value.wrapping_add(COORDINATE_MODULUS),
    |_| U256::ZERO,
];

/// r and q of BN254 (EIP-196).
const SCALAR_MODULUS: U256 = U256::from_limbs([
    0x43e1_f593_f000_0001,
    0x2833_e848_79b9_7091,
    0xb850_45b6_8181_585d,
    0x3064_4e72_e131_a029,
]);
const COORDINATE_MODULUS: U256 = U256::from_limbs([
    0x3c20_8c16_d87c_fd47,
    0x9781_6a91_6871_ca8d,
    0xb850_45b6_8181_585d,
    0x3064_4e72_e131_a029,
]);

/// A deployed verifier.
struct Verifier {
    evm: MainnetEvm<MainnetContext<InMemoryDB>>,
    address: Address,
    selector: Vec<u8>,
}

/// The result of a call.
struct Verdict {
    /// Whether the contract returned true.
    accepted: bool,
    /// The gas of the transaction, and of the contract's execution: without the transaction's base price and that of its
    /// data.
    gas: [u64; 2],
}

impl Verifier {
    fn deploy(selector: Vec<u8>, code: Vec<u8>) -> Result<Self> {
        let context = Context::mainnet().with_db(InMemoryDB::default());
        let mut evm = context.modify_cfg_chained(|cfg| cfg.disable_nonce_check = true).build_mainnet();
        let transaction = TxEnv::builder().kind(TxKind::Create).data(code.into()).build().map_err(debug)?;
        let result = evm.transact_commit(transaction)?;
        let address = result.created_address().ok_or_else(|| format!("not deployed: {result:?}"))?;
        Ok(Self { evm, address, selector })
    }

    fn call(&mut self, words: &[U256]) -> Result<Verdict> {
        let mut data = self.selector.clone();
        words.iter().for_each(|word| data.extend(word.to_be_bytes::<32>()));
        // The prices of EIP-2028.
        let of_data: u64 = data.iter().map(|byte| if *byte == 0 { 4 } else { 16 }).sum();
        let transaction =
            TxEnv::builder().call(self.address).data(Bytes::from(data)).build().map_err(debug)?;
        let result = self.evm.transact(transaction)?.result;
        let spent = result.gas().total_gas_spent();
        let accepted = match &result {
            ExecutionResult::Success { output, .. } => output.data()[..] == U256::ONE.to_be_bytes::<32>(),
            ExecutionResult::Revert { .. } | ExecutionResult::Halt { .. } => false,
        };
        Ok(Verdict { accepted, gas: [spent, spent - of_data - 21_000] })
    }
}

fn debug(error: impl std::fmt::Debug) -> String {
    format!("{error:?}")
}

fn main() -> Result<()> {
    let files: Vec<String> = env::args().skip(1).collect();
    let [compiled, calldata] = files.as_slice() else {
        return Err("usage: evm COMPILED CALLDATA".into());
    };
    let text = fs::read_to_string(compiled)?;
    let (selector, code) =
        text.trim().split_once(char::is_whitespace).ok_or("expected a selector and code")?;
    let mut verifier = Verifier::deploy(hex::decode(selector)?, hex::decode(code.trim())?)?;
    let words = words(&fs::read_to_string(calldata)?)?;

    let Verdict { accepted, gas: [all, execution] } = verifier.call(&words)?;
    if !accepted {
        return Err("the proof is refused".into());
    }
    let mut refused = 0;
    let mut most = 0;
    for index in 0..words.len() {
        for change in CHANGES {
            let mut changed = words.clone();
            changed[index] = change(words[index]);
            if changed == words {
                continue;
            }
            let Verdict { accepted, gas } = verifier.call(&changed)?;
            if accepted {
                return Err(format!("word {index} as {:#x}: accepted", changed[index]).into());
            }
            refused += 1;
            most = most.max(gas[1]);
        }
    }
    for count in [0, words.len() - 1] {
        if verifier.call(&words[..count])?.accepted {
            return Err(format!("{count} words: accepted").into());
        }
    }
    let bytes = code.trim().len() / 2;
    println!(
        "{execution} gas ({all} with the transaction's data), {bytes} bytes of code; accepted, and refused with {refused} \
         changes of {} words, for at most {most} gas",
        words.len()
    );
    Ok(())
}

/// The words of a call, in order.
fn words(calldata: &str) -> Result<Vec<U256>> {
    let mut words = Vec::new();
    for text in calldata.split(|c: char| !c.is_ascii_alphanumeric()).filter(|text| !text.is_empty()) {
        let digits = text.strip_prefix("0x").ok_or_else(|| format!("expected a word, found {text}"))?;
        words.push(U256::from_str_radix(digits, 16)?);
    }
    Ok(words)
}
