// A signature of circomlib's EdDSA with Poseidon. Its public key and message are public.
pragma circom 2.0.0;
include "eddsaposeidon.circom";

component main {public [enabled, Ax, Ay, M]} = EdDSAPoseidonVerifier();
