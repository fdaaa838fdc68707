// The leaf of a secret is in a Merkle tree of depth 2, hashed by circomlib's Poseidon; a nullifier is the same for each use of the
// secret in one scope.
pragma circom 2.0.0;
include "poseidon.circom";
include "mux1.circom";

template Membership(depth) {
    signal input secret;
    signal input scope;
    signal input siblings[depth];
    signal input is_right[depth];
    signal output root;
    signal output nullifier;

    component leaf = Poseidon(1);
    leaf.inputs[0] <== secret;

    component order[depth];
    component parents[depth];
    for (var i = 0; i < depth; i++) {
        is_right[i] * (is_right[i] - 1) === 0;
        order[i] = MultiMux1(2);
        order[i].c[0][0] <== i == 0 ? leaf.out : parents[i - 1].out;
        order[i].c[0][1] <== siblings[i];
        order[i].c[1][0] <== siblings[i];
        order[i].c[1][1] <== i == 0 ? leaf.out : parents[i - 1].out;
        order[i].s <== is_right[i];
        parents[i] = Poseidon(2);
        parents[i].inputs[0] <== order[i].out[0];
        parents[i].inputs[1] <== order[i].out[1];
    }
    root <== parents[depth - 1].out;

    component nullify = Poseidon(2);
    nullify.inputs[0] <== secret;
    nullify.inputs[1] <== scope;
    nullifier <== nullify.out;
}

component main {public [scope]} = Membership(2);
