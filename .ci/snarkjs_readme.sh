# The command lines of snarkjs 0.7.6's README, in its order, with what it leaves out: its names are the same for the files of all three
# proof systems. `.ci/snarkjs.sh` compares them with the README, and executes them with a function `snarkjs`.

# keep SYSTEM FILE... and use SYSTEM: put a system's files aside, and back.
keep() { mkdir -p "$1" && cp "${@:2}" "$1"; }
use() { cp "$1"/* .; }

snarkjs --help
snarkjs groth16 prove --help
snarkjs g16p --help
snarkjs powersoftau new bn128 14 pot14_0000.ptau -v
snarkjs powersoftau contribute pot14_0000.ptau pot14_0001.ptau --name="First contribution" -v
snarkjs powersoftau contribute pot14_0001.ptau pot14_0002.ptau --name="Second contribution" -v -e="some random text"
snarkjs powersoftau export challenge pot14_0002.ptau challenge_0003
snarkjs powersoftau challenge contribute bn128 challenge_0003 response_0003 -e="some random text"
snarkjs powersoftau import response pot14_0002.ptau response_0003 pot14_0003.ptau -n="Third contribution name"
snarkjs powersoftau verify pot14_0003.ptau
snarkjs powersoftau beacon pot14_0003.ptau pot14_beacon.ptau 0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 10 -n="Final Beacon"
snarkjs powersoftau prepare phase2 pot14_beacon.ptau pot14_final.ptau -v
snarkjs powersoftau verify pot14_final.ptau
snarkjs r1cs info circuit.r1cs
snarkjs r1cs print circuit.r1cs circuit.sym
snarkjs r1cs export json circuit.r1cs circuit.r1cs.json
snarkjs wtns calculate circuit_js/circuit.wasm input.json witness.wtns
snarkjs wtns check circuit.r1cs witness.wtns
snarkjs plonk setup circuit.r1cs pot14_final.ptau circuit_final.zkey
"$proofmill" zkey export verificationkey circuit_final.zkey verification_key.json
keep plonk circuit_final.zkey verification_key.json
snarkjs fflonk setup circuit.r1cs pot14_final.ptau circuit.zkey
"$proofmill" zkey export verificationkey circuit.zkey verification_key.json
cp circuit.zkey circuit_final.zkey
keep fflonk circuit_final.zkey verification_key.json
snarkjs groth16 setup circuit.r1cs pot14_final.ptau circuit_0000.zkey
snarkjs zkey contribute circuit_0000.zkey circuit_0001.zkey --name="1st Contributor Name" -v
snarkjs zkey contribute circuit_0001.zkey circuit_0002.zkey --name="Second contribution Name" -v -e="Another random entropy"
snarkjs zkey export bellman circuit_0002.zkey  challenge_phase2_0003
snarkjs zkey bellman contribute bn128 challenge_phase2_0003 response_phase2_0003 -e="some random text"
snarkjs zkey import bellman circuit_0002.zkey response_phase2_0003 circuit_0003.zkey -n="Third contribution name"
snarkjs zkey verify circuit.r1cs pot14_final.ptau circuit_0003.zkey
snarkjs zkey beacon circuit_0003.zkey circuit_final.zkey 0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 10 -n="Final Beacon phase2"
snarkjs zkey verify circuit.r1cs pot14_final.ptau circuit_final.zkey
snarkjs zkey export verificationkey circuit_final.zkey verification_key.json
keep groth16 circuit_final.zkey verification_key.json
use plonk
snarkjs plonk prove circuit_final.zkey witness.wtns proof.json public.json
snarkjs fflonk prove circuit.zkey witness.wtns proof.json public.json
use groth16
snarkjs groth16 prove circuit_final.zkey witness.wtns proof.json public.json
cp circuit_js/circuit.wasm circuit.wasm
cp input.json witness.json
use plonk
snarkjs plonk fullprove witness.json circuit.wasm circuit_final.zkey proof.json public.json
keep plonk proof.json
use fflonk
snarkjs fflonk fullprove witness.json circuit.wasm circuit_final.zkey proof.json public.json
keep fflonk proof.json
use groth16
snarkjs groth16 fullprove input.json circuit.wasm circuit_final.zkey proof.json public.json
keep groth16 proof.json
use plonk
snarkjs plonk verify verification_key.json public.json proof.json
use fflonk
snarkjs fflonk verify verification_key.json public.json proof.json
use groth16
snarkjs groth16 verify verification_key.json public.json proof.json
snarkjs zkey export solidityverifier circuit_final.zkey verifier.sol
snarkjs zkey export soliditycalldata public.json proof.json
