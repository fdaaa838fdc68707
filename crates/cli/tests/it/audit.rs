//! `zkey audit`: forgeable keys and contracts are told from others, and keys of other circuits.

use crate::process::{Folder, section_of};
use proofmill::curve::{Affine, bn254::G2};
use proofmill_field::bn254::{Fq, Fq2};
use serde_json::Value;

const CIRCUIT: &str = "--r1cs circuit.r1cs --ptau pot8.ptau";

/// Asserts exit status 1, and these words on standard error and output.
#[track_caller]
fn rejected(folder: &Folder, command: &str, words: &str) {
    let run = folder.run(command);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stderr.starts_with("error: ") && run.stderr.lines().count() == 1, "{run:?}");
    assert!(run.stderr.contains(words) && run.stdout.contains(words), "{words}: {run:?}");
}

#[test]
fn keys_of_the_example_belong_to_their_circuit() {
    let folder = Folder::new();
    folder.run("plonk setup circuit.r1cs pot8.ptau turbo.key --arithmetisation turbo").succeeded();
    folder.run("zkey export verificationkey turbo.key turbo.vk.json").succeeded();
    for key in ["groth16", "plonk", "turbo"] {
        folder.run(&format!("zkey export solidityverifier {key}.vk.json {key}.sol")).succeeded();
        let proving_key = if key == "turbo" { "turbo.key".to_owned() } else { format!("{key}.zkey") };
        for file in [proving_key, format!("{key}.vk.json"), format!("{key}.sol")] {
            let run = folder.run(&format!("zkey audit {file} {CIRCUIT}")).succeeded();
            assert!(run.stdout.contains("no sign of an insecure one"), "{}", run.stdout);
            assert!(run.stdout.contains("circuit          circuit.r1cs"), "{}", run.stdout);
        }
    }
    let run = folder.run("zkey audit groth16.zkey --json").succeeded();
    let result = &serde_json::from_str::<Value>(&run.stdout).unwrap()["result"];
    assert_eq!(result["contributions"].as_array().unwrap().len(), 1);
    assert_eq!((&result["contributions_match"], &result["insecure"]), (&true.into(), &false.into()));
    assert_eq!(result["belongs_to_circuit"], Value::Null);
}

#[test]
fn forgeable_keys_and_contracts_are_rejected() {
    let folder = Folder::new();
    let allow = "--allow-insecure-setup";
    folder.run("groth16 setup circuit.r1cs pot8.ptau new.zkey -q").succeeded();
    folder.run(&format!("zkey export verificationkey new.zkey new.json {allow}")).warned();
    folder.run(&format!("zkey export solidityverifier new.zkey new.sol {allow}")).warned();
    for file in ["new.zkey", "new.json", "new.sol"] {
        rejected(&folder, &format!("zkey audit {file}"), "delta equals gamma");
    }
    let run = folder.run("zkey audit new.zkey");
    assert!(run.stdout.contains("contributions    0"), "{run:?}");
    folder.run("srs new --size 2^10 new.ptau -q").succeeded();
    folder.run("plonk setup circuit.r1cs new.ptau new.key --arithmetisation ultra -q").succeeded();
    rejected(&folder, "zkey audit new.key", "nobody contributed to its powers of tau");
}

/// A contract whose gamma is 2 delta, with which A = alpha, B = beta, C = -2 I is a proof for any signals, and others.
#[test]
fn every_point_of_a_contract_is_judged() {
    let folder = Folder::new();
    folder.run("zkey export solidityverifier groth16.vk.json verifier.sol").succeeded();
    let contract = folder.text("verifier.sol");
    let key: Value = serde_json::from_str(&folder.text("groth16.vk.json")).unwrap();
    let point = |name: &str| {
        let limbs =
            |coordinate: &Value| [1, 0].map(|at| coordinate[at].as_str().unwrap().parse::<Fq>().unwrap());
        let ([x1, x0], [y1, y0]) = (limbs(&key[name][0]), limbs(&key[name][1]));
        Affine::<G2> { x: Fq2 { c0: x0, c1: x1 }, y: Fq2 { c0: y0, c1: y1 } }
    };
    let (gamma, delta) = (point("vk_gamma_2"), point("vk_delta_2"));
    let words = |point: &Affine<G2>| {
        point.to_evm().chunks(32).map(|word| format!("0x{}", hex::encode(word))).collect::<Vec<_>>()
    };
    let other = |point: &Affine<G2>| {
        let [x1, x0, y1, y0] = <[String; 4]>::try_from(words(point)).unwrap();
        format!("    G2Point other = G2Point([{x1}, {x0}], [{y1}, {y0}]);\n    function verifyProof")
    };
    let with = |from: &Affine<G2>, to: &Affine<G2>| {
        let mut changed = contract.clone();
        // The signs of the equation are in some of the points.
        for sign in [*from, -*from] {
            let places = words(&sign);
            if places.iter().all(|word| changed.contains(word)) {
                for (old, new) in places.iter().zip(words(to)) {
                    changed = changed.replacen(old, &new, 1);
                }
                return changed;
            }
        }
        panic!("the contract has the point");
    };
    let multiple = |point: &Affine<G2>, factor: u64| point.mul_words_vartime(&[factor]).to_affine();
    let zkey = "--zkey groth16.zkey";
    folder.write("changed.sol", with(&gamma, &multiple(&delta, 2)));
    rejected(&folder, &format!("zkey audit changed.sol {CIRCUIT}"), "small multiple of the other");
    folder.write("changed.sol", with(&gamma, &Affine::INFINITY));
    rejected(&folder, &format!("zkey audit changed.sol {CIRCUIT}"), "infinity");
    // Multiples that nobody could guess.
    folder.write("changed.sol", with(&gamma, &multiple(&delta, 1_234_567_891)));
    folder.run("zkey audit changed.sol").succeeded();
    rejected(&folder, &format!("zkey audit changed.sol {CIRCUIT}"), "gamma");
    rejected(&folder, &format!("zkey audit changed.sol {zkey}"), "gamma");
    folder.write("changed.sol", with(&delta, &multiple(&gamma, 1_234_567_891)));
    let run = folder.run(&format!("zkey audit changed.sol {CIRCUIT}")).succeeded();
    assert!(run.stdout.contains("delta            not compared: give --zkey"), "{run:?}");
    rejected(&folder, &format!("zkey audit changed.sol {zkey}"), "delta");
    rejected(&folder, &format!("zkey audit changed.sol {CIRCUIT} {zkey}"), "delta");
    // The generator elsewhere is not gamma.
    let decoy =
        with(&gamma, &multiple(&delta, 1_234_567_891)).replace("    function verifyProof", &other(&gamma));
    folder.write("changed.sol", decoy);
    rejected(&folder, &format!("zkey audit changed.sol {CIRCUIT}"), "gamma");
    rejected(&folder, &format!("zkey audit changed.sol {zkey}"), "gamma");
    // Older templates begin with it, in a library, and again in a comment.
    let generator = words(&gamma).join(", ");
    let library =
        format!("library Pairing {{ function P2() {{ return G2Point({generator}); // {generator}\n }} }}\n");
    folder.write("changed.sol", format!("{library}{contract}"));
    for options in [String::new(), CIRCUIT.to_owned(), zkey.to_owned()] {
        folder.run(&format!("zkey audit changed.sol {options}")).succeeded();
    }
    // One point more than the key has.
    let more = other(&multiple(&gamma, 1_234_567_891));
    folder.write("changed.sol", contract.replace("    function verifyProof", &more));
    for options in [zkey.to_owned(), format!("{CIRCUIT} {zkey}"), CIRCUIT.to_owned()] {
        let run = folder.run(&format!("zkey audit changed.sol {options}")).succeeded();
        assert!(run.stdout.contains("other points     1, which"), "{run:?}");
    }
}

/// Public signals that change places, or a sign, are other signals.
#[test]
fn the_order_and_signs_of_public_signals_are_compared() {
    let folder = Folder::new();
    let mut key: Value = serde_json::from_str(&folder.text("groth16.vk.json")).unwrap();
    let points = key["IC"].as_array_mut().unwrap();
    points.swap(1, 2);
    folder.write("exchanged.json", key.to_string());
    folder.run("zkey export solidityverifier exchanged.json exchanged.sol").succeeded();
    key["IC"].as_array_mut().unwrap().swap(1, 2);
    let y: Fq = key["IC"][1][1].as_str().unwrap().parse().unwrap();
    key["IC"][1][1] = (-y).to_string().into();
    folder.write("negative.json", key.to_string());
    folder.run("zkey export solidityverifier negative.json negative.sol").succeeded();
    for file in ["exchanged", "negative"] {
        for options in [CIRCUIT, "--zkey groth16.zkey"] {
            rejected(
                &folder,
                &format!("zkey audit {file}.sol {options}"),
                "the order or the signs of the points",
            );
            rejected(
                &folder,
                &format!("zkey audit {file}.json {options}"),
                "the points of the public signals",
            );
        }
    }
}

/// Contracts that Proofmill itself writes for such keys, whose zeros have one digit.
#[test]
fn infinity_is_found_in_own_contracts() {
    let folder = Folder::new();
    let key: Value = serde_json::from_str(&folder.text("groth16.vk.json")).unwrap();
    for point in ["vk_gamma_2", "vk_delta_2"] {
        let mut key = key.clone();
        key[point] = serde_json::json!([["0", "0"], ["1", "0"], ["0", "0"]]);
        folder.write("infinite.json", key.to_string());
        folder.run("zkey export solidityverifier infinite.json infinite.sol --allow-insecure-setup").warned();
        rejected(&folder, "zkey audit infinite.json", "infinity");
        for options in ["", CIRCUIT, "--zkey groth16.zkey"] {
            rejected(&folder, &format!("zkey audit infinite.sol {options}"), "infinity");
        }
    }
}

/// A proving key of beacons only makes the contract that was written for it insecure.
#[test]
fn a_key_of_beacons_is_no_reference() {
    let folder = Folder::new();
    folder.run("groth16 setup circuit.r1cs pot8.ptau 0.zkey -q").succeeded();
    folder.run("zkey beacon 0.zkey 1.zkey 0102030405060708090a0b0c0d0e0f10 10").succeeded();
    folder.run("zkey export verificationkey 1.zkey 1.json --allow-insecure-setup").warned();
    folder.run("zkey export solidityverifier 1.json 1.sol").succeeded();
    for file in ["1.json", "1.sol"] {
        folder.run(&format!("zkey audit {file} {CIRCUIT}")).succeeded();
        rejected(&folder, &format!("zkey audit {file} --zkey 1.zkey"), "only beacons contributed");
    }
}

/// A contract of snarkjs's form whose delta is in a list of a library, as Semaphore's: in one file it is judged, in two it is not found.
#[test]
fn every_contract_of_a_file_is_judged() {
    let folder = Folder::new();
    let key: Value = serde_json::from_str(&folder.text("groth16.vk.json")).unwrap();
    let coordinate =
        |point: &str, index: usize, at: usize| key[point][index][at].as_str().unwrap().to_owned();
    let in_g2 =
        |point: &str| [(0, 1), (0, 0), (1, 1), (1, 0)].map(|(index, at)| coordinate(point, index, at));
    let constants = |name: &str, point: &str| {
        let suffixes = ["x1", "x2", "y1", "y2"].into_iter().zip(in_g2(point));
        suffixes
            .map(|(suffix, value)| format!("uint256 constant {name}{suffix} = {value};\n"))
            .collect::<String>()
    };
    let ic = key["IC"].as_array().unwrap().iter().enumerate().map(|(index, point)| {
        let [x, y] = [0, 1].map(|at| point[at].as_str().unwrap());
        format!("uint256 constant IC{index}x = {x}; uint256 constant IC{index}y = {y};\n")
    });
    let [x, y] = [0, 1].map(|at| key["vk_alpha_1"][at].as_str().unwrap());
    let alpha = format!("uint256 constant alphax = {x}; uint256 constant alphay = {y};\n");
    let points =
        alpha + &constants("beta", "vk_beta_2") + &constants("gamma", "vk_gamma_2") + &ic.collect::<String>();
    let verifier = |name: &str, delta: &str| format!("contract {name} {{ {points} {delta} }}\n");
    let of_library = verifier("Verifier", "uint256[4] delta = Keys.LIST[0];");
    let library = |point: &str| {
        let [x1, x0, y1, y0] = in_g2(point);
        format!(
            "library Keys {{ uint256[4][2] LIST = [[{x1}, {x0}, {y1}, {y0}], [{x1}, {x0}, {y1}, {y0}]]; }}\n"
        )
    };
    folder.write("alone.sol", &of_library);
    let run = folder.run("zkey audit alone.sol --zkey groth16.zkey");
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("alone.sol: contract Verifier: not found: delta"), "{run:?}");
    assert!(
        run.stdout.contains("not found        delta") && run.stdout.contains("proving key      not compared"),
        "{run:?}"
    );
    folder.write("flat.sol", library("vk_delta_2") + &of_library);
    for options in ["", CIRCUIT, "--zkey groth16.zkey"] {
        let run = folder.run(&format!("zkey audit flat.sol {options}")).succeeded();
        assert!(run.stdout.contains("keys             2"), "{run:?}");
    }
    folder.write("flat.sol", library("vk_gamma_2") + &of_library);
    rejected(&folder, "zkey audit flat.sol", "delta equals gamma");
    // The second of two contracts.
    let delta = constants("delta", "vk_delta_2");
    folder
        .write("two.sol", verifier("First", &delta) + &verifier("Second", &constants("delta", "vk_gamma_2")));
    rejected(&folder, "zkey audit two.sol", "delta equals gamma");
    let run = folder.run("zkey audit two.sol --json");
    let result = &serde_json::from_str::<Value>(&run.stdout).unwrap()["result"];
    let insecure =
        |index: usize| (&result["contracts"][index]["contract"], &result["contracts"][index]["insecure"]);
    assert_eq!(insecure(0), (&"First".into(), &false.into()));
    assert_eq!(insecure(1), (&"Second".into(), &true.into()));
    assert_eq!(result["contract"], "Second");
}

#[test]
fn keys_are_compared_with_their_proving_key() {
    let folder = Folder::new();
    folder.run("zkey contribute groth16.zkey next.zkey").succeeded();
    folder.run("zkey export verificationkey next.zkey next.json").succeeded();
    folder.run("zkey export solidityverifier next.zkey next.sol").succeeded();
    for file in ["next.zkey", "next.json", "next.sol"] {
        let run = folder.run(&format!("zkey audit {file} --zkey next.zkey --json")).succeeded();
        let result = &serde_json::from_str::<Value>(&run.stdout).unwrap()["result"];
        assert_eq!((&result["belongs_to_key"], &result["differs_from_key"]), (&true.into(), &Value::Null));
        rejected(&folder, &format!("zkey audit {file} --zkey groth16.zkey"), "delta");
    }
    let run = folder.run("zkey audit next.json").succeeded();
    assert!(run.stdout.contains("delta            not compared"), "{run:?}");
    for file in ["plonk.zkey", "plonk.vk.json"] {
        let error = folder.run(&format!("zkey audit {file} --zkey groth16.zkey")).failed(2);
        assert!(error.contains(file) && error.contains("not of Groth16"), "{error}");
    }
}

#[test]
fn keys_of_other_circuits_are_rejected() {
    let folder = Folder::new();
    // Another coefficient in the circuit's first constraint.
    let mut circuit = folder.read("circuit.r1cs");
    let zkey = folder.read("groth16.zkey");
    let coefficient = constraint_coefficient(&circuit);
    circuit[coefficient..coefficient + 32].fill(0);
    circuit[coefficient] = 3;
    folder.write("other.r1cs", &circuit);
    let other = "--r1cs other.r1cs --ptau pot8.ptau";
    for file in ["groth16.zkey", "plonk.zkey", "groth16.vk.json", "plonk.vk.json"] {
        let run = folder.run(&format!("zkey audit {file} {other}"));
        // The points of the public signals need not depend on the constraint.
        if file != "groth16.vk.json" {
            assert_eq!(run.status, Some(1), "{run:?}");
            assert!(run.stderr.contains("not the circuit's key"), "{run:?}");
        }
    }
    // A point of C, which contributions change: the generator in its place is on the curve, but wrong.
    for (section, part) in
        [(8, "the points C"), (9, "the points H"), (5, "the points A"), (3, "the public signals")]
    {
        let mut changed = zkey.clone();
        let (at, from) = (section_of(&changed, section), section_of(&changed, 5));
        let (first, second) = (at, if section == 5 { from + 64 * 9 } else { from + 64 * 5 });
        let point: Vec<u8> = changed[second..second + 64].to_vec();
        assert_ne!(changed[first..first + 64], point[..]);
        changed[first..first + 64].copy_from_slice(&point);
        folder.write("changed.zkey", &changed);
        rejected(&folder, &format!("zkey audit changed.zkey {CIRCUIT}"), part);
    }
}

#[test]
fn other_files_are_refused() {
    let folder = Folder::new();
    folder.write("empty.sol", "contract Empty {}");
    folder.write("page.zkey", "\n<!DOCTYPE html><html>");
    folder.write("packed.zkey", b"PK\x03\x04");
    folder.write("pointer.zkey", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
    for (file, words) in [
        ("empty.sol", "found no points of a verification key"),
        ("page.zkey", "expected a key, or the source of a contract, found HTML or XML"),
        ("packed.zkey", "found ZIP: unpack it"),
        ("pointer.zkey", "`git lfs pull`"),
        ("circuit.r1cs", "expected zkey"),
        ("public.json", "expected protocol groth16"),
        ("absent", "No such file"),
    ] {
        let error = folder.run(&format!("zkey audit {file}")).failed(2);
        assert!(error.contains(words) && error.contains(file), "{error}");
    }
    let run = folder.run("zkey audit groth16.zkey --r1cs circuit.r1cs");
    assert!(run.status == Some(2) && run.stderr.contains("--ptau"), "{run:?}");
}

/// Where the first coefficient of the first constraint's A begins in a `.r1cs`.
fn constraint_coefficient(circuit: &[u8]) -> usize {
    // The count of terms, then a wire, then the coefficient.
    section_of(circuit, 2) + 8
}
