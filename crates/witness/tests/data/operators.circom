pragma circom 2.0.0;

// Every operator of circom on two inputs. The results are hints: there is nothing to constrain.
template Operators() {
    signal input a;
    signal input b;
    signal output field[7];
    signal output comparison[6];
    signal output logic[4];
    signal output bits[5];
    signal output shifts[4];
    signal output integer[2];
    field[0] <-- a + b;
    field[1] <-- a - b;
    field[2] <-- a * b;
    field[3] <-- b == 0 ? 0 : a / b;
    field[4] <-- -a;
    field[5] <-- a ** b;
    field[6] <-- a / (b * b + 1);
    comparison[0] <-- a == b;
    comparison[1] <-- a != b;
    comparison[2] <-- a < b;
    comparison[3] <-- a <= b;
    comparison[4] <-- a > b;
    comparison[5] <-- a >= b;
    logic[0] <-- (a != 0) && (b != 0);
    logic[1] <-- (a != 0) || (b != 0);
    logic[2] <-- !(a == b);
    logic[3] <-- a < b ? a : b;
    bits[0] <-- a & b;
    bits[1] <-- a | b;
    bits[2] <-- a ^ b;
    bits[3] <-- ~a;
    bits[4] <-- (a >> 1) & 1;
    shifts[0] <-- a << b;
    shifts[1] <-- a >> b;
    shifts[2] <-- (a << 3) + (b >> 2);
    shifts[3] <-- (a * b) >> 100;
    integer[0] <-- b == 0 ? 0 : a \ b;
    integer[1] <-- b == 0 ? 0 : a % b;
}

// All pairs of a list of numbers.
template Pairs(n) {
    signal input x[n];
    signal output results[n][n][28];
    signal product[n];
    component pair[n][n];
    for (var i = 0; i < n; i++) {
        product[i] <== x[i] * x[i];
    }
    for (var i = 0; i < n; i++) {
        for (var j = 0; j < n; j++) {
            pair[i][j] = Operators();
            // A quotient and a product are in Montgomery form, an input is not.
            pair[i][j].a <-- x[i];
            pair[i][j].b <-- j % 2 == 0 ? x[j] : product[j] / (x[j] == 0 ? 1 : x[j]);
            for (var k = 0; k < 7; k++) results[i][j][k] <-- pair[i][j].field[k];
            for (var k = 0; k < 6; k++) results[i][j][7 + k] <-- pair[i][j].comparison[k];
            for (var k = 0; k < 4; k++) results[i][j][13 + k] <-- pair[i][j].logic[k];
            for (var k = 0; k < 5; k++) results[i][j][17 + k] <-- pair[i][j].bits[k];
            for (var k = 0; k < 4; k++) results[i][j][22 + k] <-- pair[i][j].shifts[k];
            for (var k = 0; k < 2; k++) results[i][j][26 + k] <-- pair[i][j].integer[k];
        }
    }
}

component main = Pairs(12);
