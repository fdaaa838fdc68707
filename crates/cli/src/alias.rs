//! The short names of snarkjs's commands; each stands for the words of a command. An argument list is expanded before it is
//! parsed, so that no help text becomes longer.

use std::ffi::OsString;

/// Aliases of snarkjs 0.7.6 (`cli.js`), with their words. Aliases of commands that Proofmill lacks expand too: the error then
/// names the command.
pub(crate) const ALIASES: [(&str, &str); 55] = [
    ("ptn", "powersoftau new"),
    ("ptc", "powersoftau contribute"),
    ("ptec", "powersoftau export challenge"),
    ("ptcc", "powersoftau challenge contribute"),
    ("ptir", "powersoftau import response"),
    ("ptb", "powersoftau beacon"),
    ("pt2", "powersoftau prepare phase2"),
    ("ptcv", "powersoftau convert"),
    ("ptt", "powersoftau truncate"),
    ("ptv", "powersoftau verify"),
    ("ptej", "powersoftau export json"),
    ("ri", "r1cs info"),
    ("rp", "r1cs print"),
    ("print", "r1cs print"),
    ("rej", "r1cs export json"),
    ("wc", "wtns calculate"),
    ("calculatewitness", "wtns calculate"),
    ("wd", "wtns debug"),
    ("wej", "wtns export json"),
    ("wchk", "wtns check"),
    ("zkc", "zkey contribute"),
    ("zkeb", "zkey export bellman"),
    ("zkbc", "zkey bellman contribute"),
    ("zkib", "zkey import bellman"),
    ("zkb", "zkey beacon"),
    ("zkv", "zkey verify r1cs"),
    ("zkvr", "zkey verify r1cs"),
    ("zkvi", "zkey verify init"),
    ("zkev", "zkey export verificationkey"),
    ("zkej", "zkey export json"),
    ("zkesv", "zkey export solidityverifier"),
    ("generateverifier", "zkey export solidityverifier"),
    ("zkesc", "zkey export soliditycalldata"),
    ("generatecall", "zkey export soliditycalldata"),
    ("g16s", "groth16 setup"),
    ("zkn", "groth16 setup"),
    ("g16p", "groth16 prove"),
    ("zpw", "groth16 prove"),
    ("zksnark proof", "groth16 prove"),
    ("proof", "groth16 prove"),
    ("g16f", "groth16 fullprove"),
    ("g16i", "groth16 fullprove"),
    ("g16v", "groth16 verify"),
    ("verify", "groth16 verify"),
    ("pks", "plonk setup"),
    ("pkp", "plonk prove"),
    ("pkf", "plonk fullprove"),
    ("pkv", "plonk verify"),
    ("ffs", "fflonk setup"),
    ("ffp", "fflonk prove"),
    ("fff", "fflonk fullprove"),
    ("ffv", "fflonk verify"),
    ("fi", "info"),
    ("file info", "info"),
    ("zkey new", "groth16 setup"),
];

/// Options whose value is the next argument.
const WITH_VALUE: [&str; 2] = ["--level", "--threads"];

/// Long options that snarkjs takes, and its help writes, with one dash.
const WITH_ONE_DASH: [&str; 6] = ["-verbose", "-name", "-entropy", "-get", "-set", "-trigger"];

/// Replaces an alias, the first argument that is no option, by its words, and gives snarkjs's long options their second dash.
pub(crate) fn expand(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.into_iter().map(with_two_dashes).collect();
    let mut place = 1;
    while let Some(option) = arguments.get(place).filter(|option| option.as_encoded_bytes().starts_with(b"-"))
    {
        place += if WITH_VALUE.iter().any(|name| option == name) { 2 } else { 1 };
    }
    let rest = arguments.get(place..).unwrap_or_default();
    let found = ALIASES.iter().find_map(|(alias, words)| {
        let count = alias.split(' ').count();
        let matches =
            rest.len() >= count && alias.split(' ').zip(rest).all(|(word, argument)| argument == word);
        matches.then_some((count, words))
    });
    if let Some((count, words)) = found {
        arguments.splice(place..place + count, words.split(' ').map(OsString::from));
    }
    arguments
}

fn with_two_dashes(argument: OsString) -> OsString {
    let name = argument.as_encoded_bytes().split(|byte| *byte == b'=').next().unwrap_or_default();
    if !WITH_ONE_DASH.iter().any(|option| option.as_bytes() == name) {
        return argument;
    }
    let mut option = OsString::from("-");
    option.push(argument);
    option
}
