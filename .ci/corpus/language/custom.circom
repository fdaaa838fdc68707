pragma circom 2.1.0;
pragma custom_templates;

// out = a * b + c: a gate, which has no constraints in an R1CS.
template custom MultiplyAdd() {
    signal input a;
    signal input b;
    signal input c;
    signal output out;
    out <-- a * b + c;
}

template Custom() {
    signal input in[3];
    signal output out;
    component gate = MultiplyAdd();
    gate.a <== in[0];
    gate.b <== in[1];
    gate.c <== in[2] * in[2];
    out <== gate.out * gate.out;
}

component main = Custom();
