//! Files of the circom and snarkjs world: r1cs, wtns, zkey, ptau, JSON.
